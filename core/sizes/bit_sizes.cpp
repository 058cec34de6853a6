// All sizes at once on bits; see sizes/bit_sizes.hpp.
#include "sizes/bit_sizes.hpp"

#include <algorithm>

#include "bits/tie_rule.hpp"

namespace provetree {

template <int Depth>
struct BitSizes::Search {
    static constexpr std::size_t kOfTree = kSizes<Depth>, kOfSide = kSizes<Depth - 1>;

    BitNode& node;
    const PerSize<kSizes<Depth>>& limits;
    std::size_t level;
    SizeAnswer<Depth>& answer;
    CountedPairs pairs{0, 0};
    std::size_t first_open = 1;          // smaller sizes are settled
    PerSize<kSizes<Depth>> cut{};        // trees below this are looked for; 0 where nothing is
    BitNodes::Floors floors[kOfSide]{};  // of the sides of every split, by size

    void refresh_cuts() {
        for (std::size_t s = first_open; s < kOfTree; ++s) cut[s] = std::min(limits[s], answer.upper[s]);
    }
    // Whether some pair of sizes can make a better tree.
    bool open(const Sides<Depth>& sides) const {
        for (std::size_t i = 0; i < kOfSide; ++i)
            for (std::size_t j = 0; j < kOfSide; ++j)
                if (sides.left.lower[i] + sides.right.lower[j] < cut[i + j + 1] && pairs(i, j)) return true;
        return false;
    }
    // What one side may cost at most, size by size, for some pair to make a better tree.
    PerSize<kSizes<Depth - 1>> limits_of(const SizeAnswer<Depth - 1>& other) const {
        PerSize<kSizes<Depth - 1>> most{};
        for (std::size_t i = kOfSide; i-- > 0;) {
            for (std::size_t j = 0; j < kOfSide; ++j)
                if (pairs(i, j)) most[i] = std::max(most[i], cut[i + j + 1] - other.lower[j]);
            if (i + 1 < kOfSide) most[i] = std::max(most[i], most[i + 1]);
        }
        return most;
    }
    void take_trees(std::uint32_t feature, const Sides<Depth>& sides, const BitRecursion& recursion) {
        bool better = false;
        for (std::size_t i = 0; i < kOfSide; ++i) {
            for (std::size_t j = 0; j < kOfSide; ++j) {
                const Cost cost = sides.left.upper[i] + sides.right.upper[j];
                if (cost >= answer.upper[i + j + 1]) continue;
                better = true;
                answer.offer(i + j + 1, cost,
                             recursion.plan_of_split(feature, sides.left.plan[i], sides.right.plan[j]));
            }
        }
        if (!better) return;
        answer.share_trees();
        refresh_cuts();
    }
};

BitSizes::BitSizes(Context& context, const BitKernel& kernel, const Loss& loss)
    : context_(context), loss_(loss), recursion_(context, kernel, loss),
      plans_of_two_{nullptr, stump_plan(), bottom_plan(2), bottom_plan(3)} {}

FlatTree BitSizes::finish(const PlanPtr& plan) { return BitTieRule(recursion_).finish(root(), plan, 0); }

void BitSizes::take(const ErrorsOfTwo& errors, SizeAnswer<2>& answer) const {
    for (std::size_t splits = 1; splits <= 3; ++splits)
        answer.offer(splits, loss_.leaf(errors.by_splits[splits - 1]), plans_of_two_[splits]);
    answer.share_trees();
    answer.lower = answer.upper;
}

template <int Depth>
void BitSizes::solve(BitNode& node, const PerSize<kSizes<Depth>>& limits, std::size_t level,
                     SizeAnswer<Depth>& answer) {
    const Cost leaf = loss_.leaf(node.leaf_error());
    answer.begin(leaf, leaf);
    if (leaf <= 0) return;
    if (*std::max_element(limits.begin() + 1, limits.end()) <= 0) return;
    Search<Depth> search{node, limits, level, answer};
    survey(search);
    search.refresh_cuts();
    BitNodes& nodes = recursion_.nodes();
    const bool raises =
        (nodes.any_leaf_size() || (context_.switches & kFloorsUnderLeastLeaves)) && !context_.off(kNoLipschitz);
    if (raises) std::fill(std::begin(search.floors), std::end(search.floors), nodes.no_floors(node));
    for (std::uint32_t feature : nodes.promising_order(node)) {
        const SplitErrors leaves = nodes.split_errors(node, feature);
        Sides<Depth> sides;
        sides.left.begin(loss_.leaf(leaves.left), 0);
        sides.right.begin(loss_.leaf(leaves.right), 0);
        if (raises) {
            for (std::size_t k = 1; k < search.kOfSide; ++k) {
                sides.left.lower[k] = search.floors[k].without[feature];
                sides.right.lower[k] = search.floors[k].with[feature];
            }
        }
        if (!search.open(sides)) continue;
        ++context_.counters.intervals;
        try_split(search, feature, sides);
        if (!raises) continue;
        for (std::size_t k = 1; k < search.kOfSide; ++k) {
            const SideCosts least{sides.left.lower[k], sides.right.lower[k]};
            if (least.sum() > 0) nodes.raise_floors(node, feature, least, loss_.slack(1), level, search.floors[k]);
        }
    }
    // All splits are closed: what is better than the limit is found.
    for (std::size_t s = search.first_open; s < search.kOfTree; ++s)
        answer.lower[s] = std::max(answer.lower[s], std::min(limits[s], answer.upper[s]));
    answer.share_bounds();
}

// The node's own rows with a level less. Trees of up to Depth leaves fit into it, and so do pairs of sides of at most
// Depth - 1 leaves. It is asked for all there is, so what it stands in for is settled whatever the limits are.
template <int Depth>
void BitSizes::survey(Search<Depth>& search) {
    if (context_.off(kNoSurvey)) return;
    if constexpr (Depth > 3)
        if (search.level > 0) return;
    SizeAnswer<Depth - 1> whole;
    const Cost leaf = search.answer.upper[0];
    if constexpr (Depth == 3) {
        whole.begin(leaf, leaf);
        take(recursion_.nodes().solve_bottom(search.node), whole);
    } else {
        PerSize<kSizes<Depth - 1>> all;
        all.fill(kInfinite);
        solve<Depth - 1>(search.node, all, search.level, whole);
    }
    for (std::size_t s = 1; s < whole.upper.size(); ++s) search.answer.offer(s, whole.upper[s], whole.plan[s]);
    search.answer.share_trees();
    for (std::size_t s = 1; s < Depth; ++s) search.answer.lower[s] = whole.lower[s];
    search.first_open = Depth;
    if (!context_.off(kNoSettledPairs)) search.pairs.settled = Depth - 1;
    if (context_.switches & kTooManySettled) search.pairs.settled = Depth;
}

template <int Depth>
void BitSizes::try_split(Search<Depth>& search, std::uint32_t feature, Sides<Depth>& sides) {
    try {
        solve_sides(search, feature, sides);
    } catch (const StopSearch&) {
        search.take_trees(feature, sides, recursion_);
        throw;
    }
    search.take_trees(feature, sides, recursion_);
}

void BitSizes::solve_sides(Search<3>& search, std::uint32_t feature, Sides<3>& sides) {
    Bottoms& bottoms = recursion_.bottoms();
    ConditionSet sets[2];
    bool known[2];
    ErrorsOfTwo errors[2];
    for (const bool right : {false, true}) {
        SizeAnswer<2>& side = sides.of(right);
        sets[right] = search.node.conditions.with(2 * feature + (right ? 1 : 0));
        bool exact = true;
        known[right] = side.upper[0] <= 0 || (bottoms.find(sets[right], errors[right], exact) && exact);
        if (side.upper[0] <= 0)
            side.lower = side.upper;
        else if (known[right])
            take(errors[right], side);
    }
    if ((known[0] && known[1]) || !search.open(sides)) return;
    recursion_.nodes().solve_bottoms(search.node, feature, !known[0], !known[1], search.level, errors[0], errors[1]);
    for (const bool right : {false, true}) {
        if (known[right]) continue;
        bottoms.put(sets[right], errors[right]);
        take(errors[right], sides.of(right));
    }
}

void BitSizes::solve_sides(Search<4>& search, std::uint32_t feature, Sides<4>& sides) {
    BitNodes& nodes = recursion_.nodes();
    const SplitErrors leaves = nodes.split_errors(search.node, feature);
    // The larger side first: its bounds are the likelier to settle the split alone.
    const bool first = leaves.size_right > leaves.size_left;
    for (const bool right : {first, !first}) {
        SizeAnswer<3>& side = sides.of(right);
        if (side.upper[0] <= 0) {
            side.lower = side.upper;
            continue;
        }
        const PerSize<kSizes<3>> limits = search.limits_of(sides.of(!right));
        bool any = false;
        for (std::size_t k = 1; k < limits.size(); ++k) any = any || limits[k] > side.lower[k];
        if (!any) continue;
        BitNode& child = nodes.child_at(search.level, right);
        recursion_.make_side(search.node, feature, right, search.level, child);
        ++context_.counters.nodes;
        const PerSize<kSizes<3>> floors = side.lower;
        solve<3>(child, limits, search.level + 1, side);
        for (std::size_t k = 0; k < floors.size(); ++k) side.lower[k] = std::max(side.lower[k], floors[k]);
    }
}

template void BitSizes::solve<3>(BitNode&, const PerSize<kSizes<3>>&, std::size_t, SizeAnswer<3>&);
template void BitSizes::solve<4>(BitNode&, const PerSize<kSizes<4>>&, std::size_t, SizeAnswer<4>&);

}  // namespace provetree
