// The search on bits, as the driver sees it.
#pragma once

#include "bits/bit_search.hpp"
#include "search/method.hpp"

namespace provetree {

class ByBits final : public Method {
  public:
    ByBits(Context& context, const BitKernel& kernel, const Loss& loss)
        : context_(context), loss_(loss), search_(context, kernel, loss) {}

    Cost leaf_cost() const override { return search_.leaf_cost(); }
    void resume(const Checkpoint& checkpoint) override { search_.resume(checkpoint); }
    Incumbent start(Shape shape) override;
    RootAnswer prove(const RootRequest& request) override { return search_.solve_root(request); }
    FlatTree finish(const PlanPtr& plan) override { return search_.finish(plan); }
    const Node* root() const override { return nullptr; }
    PlanPtr preferred(Shape shape, const Outcome& best) override { return search_.canonical(shape, best.upper); }
    PlanPtr preferred(Shape shape, Outcome best, const Loss& refined, Cost factor, bool& complete) override;
    void describe(Counters& counters) const override { counters.sampled_rows = context_.table.rows; }

  private:
    Context& context_;
    Loss loss_;
    BitSearch search_;
};

}  // namespace provetree
