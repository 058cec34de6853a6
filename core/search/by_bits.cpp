// The search on bits as the driver sees it, for tables whose columns all have few values. A feature is one threshold of
// one column; a node is the set of conditions that lead to it.
#include <algorithm>

#include "bits/bit_root.hpp"
#include "bits/perfect_trees.hpp"
#include "certify/bit_claims.hpp"
#include "search/method.hpp"

namespace provetree {

namespace {

constexpr std::size_t kMostFeatures = 640;
constexpr std::size_t kMostPerColumn = 12;  // thresholds, on average: beyond it a sweep answers more of them at once

class ByBits final : public Method {
  public:
    ByBits(Context& context, const BitKernel& kernel, const Loss& loss)
        : context_(context), recursion_(context, kernel, loss), proof_(recursion_), perfect_(recursion_) {
        context.counters.sampled_rows = context.table.rows;
    }

    Cost leaf_cost() const override {
        return all_.size() < context_.min_leaf ? kInfinite : recursion_.loss().leaf(all_.leaf_error());
    }
    void resume(const Checkpoint& checkpoint) override { proof_.resume(checkpoint); }
    Incumbent start(Shape shape, Cost limit) override;
    RootAnswer prove(const RootRequest& request) override;
    FlatTree finish(const PlanPtr& plan) override { return BitTieRule(recursion_).finish(all_, plan, 0); }
    const Node* root() const override { return nullptr; }
    PlanPtr preferred(Shape shape, const Outcome& best) override;
    PlanPtr preferred(Shape shape, Outcome best, const Loss& refined, Cost factor, bool& complete) override;
    Certified certify(const CertifyRequest& request) override;

  private:
    Incumbent grow(BitNode& node, int depth, std::size_t level);

    Context& context_;
    BitRecursion recursion_;
    BitNode& all_ = recursion_.nodes().root();
    BitProof proof_;
    PerfectTrees perfect_;
};

Incumbent ByBits::start(Shape shape, Cost limit) {
    if (context_.off(kNoStart)) return {leaf_cost(), nullptr, 0};
    // Sharing a split budget out is left to the greedy trees of the other search.
    if (shape.splits < Shape::full(shape.depth))
        return by_sweeps(context_, recursion_.loss(), false, false)->start(shape, limit);
    const Monitor::NoStops whole(context_.monitor);  // it takes milliseconds, and a search needs a tree to end with
    return grow(all_, shape.depth, 0);
}

// The purest split of every node, down to the depth.
Incumbent ByBits::grow(BitNode& node, int depth, std::size_t level) {
    BitNodes& nodes = recursion_.nodes();
    Incumbent best{recursion_.loss().leaf(node.leaf_error()), nullptr, 0};
    if (depth == 0 || node.leaf_error() == 0) return best;
    const std::vector<std::uint32_t> order = nodes.promising_order(node);
    if (order.empty()) return best;
    if (depth <= 2) {
        // The whole optimum of the last levels costs hardly more than one greedy split.
        const Proven bottom = recursion_.solve_bottom(node, {depth, Shape::full(depth)});
        return {bottom.upper, bottom.plan, 0};
    }
    Incumbent sides[2];
    for (int side = 0; side < 2; ++side) {
        BitNode& child = nodes.child_at(level, side == 1);
        nodes.make_child(node, order[0], side == 1, child);
        sides[side] = grow(child, depth - 1, level + 1);
    }
    best.offer({sides[0].upper + sides[1].upper + recursion_.loss().split_penalty,
                recursion_.plan_of_split(order[0], sides[0].plan, sides[1].plan), 0});
    return best;
}

RootAnswer ByBits::prove(const RootRequest& request) {
    RootAnswer answer;
    Outcome& outcome = answer.outcome;
    outcome.take(request.start);
    Cost least = 0;
    bool on_samples = false;  // what is proven then holds for samples of the rows
    try {
        // Only what costs less than the tree at hand is looked for. Trees without errors are left to `perfect_`, which
        // finds those with fewer splits.
        if (!recursion_.leaves_no_errors(outcome.upper)) {
            const Proven proven = BitRoot(recursion_, request.shape, outcome, proof_, request.listener).solve();
            outcome.offer({proven.upper, proven.plan, 0});
        }
        on_samples = recursion_.leaves_no_errors(outcome.upper);
        if (on_samples) perfect_.fewest_splits(request.shape, outcome, least);
        outcome.lower = outcome.relaxed = outcome.upper;
        if (request.listener) request.listener(outcome.upper, outcome.lower);
    } catch (const StopSearch& stop) {
        answer.stopped = stop.reason;
        outcome.lower = outcome.relaxed = least;
        proof_.save(outcome, !on_samples);
    }
    return answer;
}

PlanPtr ByBits::preferred(Shape shape, const Outcome& best) {
    // A leaf with one error was not found on a sample.
    if (perfect_.sampled() && best.upper < recursion_.loss().leaf(1)) return perfect_.choose(shape, best.upper);
    return BitTieRule(recursion_).choose(all_, shape, best.upper, 0);
}

PlanPtr ByBits::preferred(Shape shape, Outcome best, const Loss& refined, Cost factor, bool& complete) {
    context_.checkpoint = nullptr;  // is for the cost alone
    proof_.clear();
    recursion_.refine_loss(refined, factor);
    const RootAnswer fewest = prove({shape, best, Role::kProof});  // a proof of its own, which all threads work at
    if (fewest.stopped) return fewest.outcome.plan;
    try {
        const PlanPtr plan = preferred(shape, fewest.outcome);
        complete = true;
        return plan;
    } catch (const StopSearch&) {
        return fewest.outcome.plan;
    }
}

// A search that was stopped knows nothing of the splits it did not come to.
Certified ByBits::certify(const CertifyRequest& request) {
    Certified certified;
    if (request.bound <= 0 || !request.proven) return certified;
    const Closings::Heard silence(context_.closings);
    ClaimLog log;
    const auto claim = [&](BitRecursion& recursion) {
        BitClaims(recursion, log).claim(recursion.nodes().root(), {}, request.shape, request.bound, 0);
    };
    try {
        if (perfect_.sampled()) {  // what is known holds for samples
            BitRecursion again(context_, recursion_.nodes().kernel(), request.loss);
            claim(again);
        } else {
            recursion_.use(request.loss);
            claim(recursion_);
        }
    } catch (const StopSearch&) {
        return certified;
    }
    certified.bound = request.bound;
    certified.claims = log.size();
    certified.text = log.take_text();
    return certified;
}

}  // namespace

bool bits_fit(const Table& table, int max_depth, unsigned switches) {
    const bool deep = max_depth >= 3 && max_depth <= ProvenSets::kMostDepth;
    if ((switches & kNoBits) || !deep || table.measure || table.n_classes > kMostBitClasses) return false;
    std::int64_t total = 0;
    for (Index i = 0; i < table.rows && total <= BitNodes::kMostRows; ++i) {
        if (table.weights[i] != table.counts[i]) return false;
        total += table.weights[i];
    }
    if (total > BitNodes::kMostRows) return false;
    std::size_t features = 0;
    for (Index top : table.tops) features += top;
    return features <= std::min(kMostFeatures, kMostPerColumn * table.columns);
}

std::unique_ptr<Method> by_bits(Context& context, const BitKernel& kernel, const Loss& loss) {
    return std::make_unique<ByBits>(context, kernel, loss);
}

}  // namespace provetree
