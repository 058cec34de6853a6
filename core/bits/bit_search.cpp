// The face of the search on bits; see bits/bit_search.hpp.
#include "bits/bit_search.hpp"

#include <algorithm>

#include "bits/bit_root.hpp"

namespace provetree {

namespace {

constexpr std::size_t kMostFeatures = 640;
constexpr std::size_t kMostPerColumn = 12;  // thresholds, on average: beyond it a sweep answers more of them at once

}  // namespace

bool BitSearch::fits(const Table& table, int max_depth, unsigned switches) {
    const bool deep = max_depth >= 3 && max_depth <= ProvenSets::kMostDepth;
    if ((switches & kNoBits) || !deep || table.n_classes > kMostBitClasses) return false;
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

Cost BitSearch::leaf_cost() const {
    const BitNode& root = recursion_.nodes().root();
    return root.size() < context_.min_leaf ? kInfinite : recursion_.loss().leaf(root.leaf_error());
}

void BitSearch::refine_loss(const Loss& loss, Cost factor) {
    context_.checkpoint = nullptr;  // is for the cost alone
    proof_.clear();
    recursion_.refine_loss(loss, factor);
}

RootAnswer BitSearch::solve_root(const RootRequest& request) {
    RootAnswer answer;
    Outcome& outcome = answer.outcome;
    outcome.take(request.start);
    Cost least = 0;
    bool on_samples = false;  // what is proven then holds for samples of the rows
    try {
        if (!recursion_.leaves_no_errors(outcome.upper)) prove(request, outcome);
        on_samples = recursion_.leaves_no_errors(outcome.upper);
        if (on_samples) perfect_.fewest_splits(request.shape, outcome, least);
        outcome.lower = outcome.relaxed = outcome.upper;
        if (request.listener) request.listener(outcome.upper, outcome.lower);
    } catch (const StopSearch& stop) {
        answer.stopped = stop.reason;
        outcome.lower = outcome.relaxed = least;
        if (request.role == Role::kProof) proof_.save(outcome, !on_samples);
    }
    return answer;
}

// Only what costs less than the tree at hand is looked for. Trees without errors are left to `perfect_`, which finds
// those with fewer splits.
void BitSearch::prove(const RootRequest& request, Incumbent& best) {
    BitRoot root(recursion_, request.shape, best.upper, best);
    root.end_without_errors();
    const bool proof = request.role == Role::kProof;
    if (proof) root.prove(proof_, request.listener);
    const Proven proven = proof ? root.solve_by_threads(proof_) : root.solve();
    best.offer({proven.upper, proven.plan, 0});
}

PlanPtr BitSearch::canonical(Shape shape, Cost cost) {
    // A leaf with one error was not found on a sample.
    if (perfect_.sampled() && cost < recursion_.loss().leaf(1)) return perfect_.choose(shape, cost);
    return BitTieRule(recursion_).choose(recursion_.nodes().root(), shape, cost, 0);
}

Incumbent BitSearch::grow(BitNode& node, int depth, std::size_t level) {
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

}  // namespace provetree
