// The search by sweeps over sorted columns, as the driver sees it: greedy start, sample of rows, targets, proof.
#pragma once

#include <memory>
#include <optional>

#include "intervals/lazy_rows.hpp"
#include "intervals/node_solver.hpp"
#include "search/method.hpp"

namespace provetree {

class BySweeps final : public Method {
  public:
    // `with_ties`: the proof finds the split that the tie rule prefers, too. `limited`: the search may end before its
    // proof, so that a bound matters early.
    BySweeps(Context& context, const Loss& loss, bool with_ties, bool limited);

    Cost leaf_cost() const override;
    void resume(const Checkpoint& checkpoint) override;
    Incumbent start(Shape shape) override;
    RootAnswer prove(const RootRequest& request) override;
    FlatTree finish(const PlanPtr& plan) override;
    const Node* root() const override { return &root_; }
    PlanPtr preferred(Shape shape, const Outcome& best) override;
    PlanPtr preferred(Shape shape, Outcome best, const Loss& refined, Cost factor, bool& complete) override;
    void describe(Counters& counters) const override { counters.sampled_rows = sampled_rows_; }

  private:
    void choose_sample(const Incumbent& start);
    RootAnswer prove_by_targets(const RootRequest& request);

    Context& context_;
    NodeBuilder builder_;
    NodeSolver solver_;
    Node root_;
    bool with_ties_, limited_;
    std::optional<Checkpoint> earlier_;  // what an earlier process has proven
    TieChoice ties_;
    // The sample of rows is used by whichever thread has a tree to try, so it shares nothing with any of them.
    Monitor unwatched_{std::numeric_limits<double>::infinity(), nullptr};
    Context sampling_;
    NodeBuilder sampling_builder_;
    Levels sampling_levels_;
    std::unique_ptr<LazyRows> lazy_;
    std::uint64_t sampled_rows_ = 0;
};

}  // namespace provetree
