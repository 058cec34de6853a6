// Branch and bound over sets of conditions; see bits/bit_recursion.hpp.
#include "bits/bit_recursion.hpp"

#include <algorithm>

namespace provetree {

SplitLoop::SplitLoop(Context& context, BitNodes& nodes, const Loss& loss, BitNode& node, Shape shape, std::size_t level,
                     std::vector<std::uint32_t> order, Cost cut)
    : context_(context), nodes_(nodes), loss_(loss), node_(node), shape_(shape), level_(level),
      penalty_(loss.split_penalty), order_(std::move(order)), shares_(divisions(shape)), floors_(nodes.no_floors(node)),
      costs_are_small_(loss.tree(BitNodes::kMostRows, Shape::full(ProvenSets::kMostDepth)) < INT32_MAX / 4),
      raises_(costs_are_small_ && nodes.any_leaf_size() && shares_.size() == 1) {
    set_floors(cut);
}

// What both sides of each split cost at least, from the splits that they need to have no errors: none where they are
// pure, one where a stump is right everywhere, two otherwise. Worth its price only where errors cost more than is left.
void SplitLoop::set_floors(Cost cut) {
    if (cut > 5 * penalty_ || !costs_are_small_) return;
    bool open = false;
    const auto set = [&](std::uint32_t f, Cost left, Cost right) {
        floors_.without[f] = static_cast<std::int32_t>(left);
        floors_.with[f] = static_cast<std::int32_t>(right);
        open = open || left + right + penalty_ < cut;
    };
    for (std::uint32_t f : order_) {
        const SplitErrors leaves = nodes_.split_errors(node_, f);
        set(f, std::min(loss_.leaf(leaves.left), penalty_), std::min(loss_.leaf(leaves.right), penalty_));
    }
    if (!open) return;
    nodes_.solve_bottom(node_);
    const BitStumps stumps = nodes_.stumps();
    const auto floor = [&](Weight leaf_error, Weight stump_error) {
        return std::min({loss_.leaf(leaf_error), loss_.stump(stump_error), loss_.tree(0, 2)});
    };
    for (std::uint32_t f : order_) {
        const SplitErrors leaves = nodes_.split_errors(node_, f);
        set(f, floor(leaves.left, leaves.size_left - stumps.without[f]),
            floor(leaves.right, leaves.size_right - stumps.with[f]));
    }
}

BitRecursion::BitRecursion(Context& context, const BitKernel& kernel, const Loss& loss)
    : context_(context), loss_(loss), nodes_(context, kernel), bottoms_(context.memory_limit / 2),
      proven_(context.memory_limit / 16), siblings_(ProvenSets::kMostDepth, Siblings(nodes_)),
      bottom_plans_{nullptr, stump_plan(), bottom_plan(2), bottom_plan(3)} {}

Proven BitRecursion::solve(BitNode& node, Shape shape, Cost limit, std::size_t level) {
    return context_.closings.heard() ? solve_as<Telling::kAloud>(node, shape, limit, level)
                                     : solve_as<Telling::kSilent>(node, shape, limit, level);
}

template <Telling telling>
Proven BitRecursion::solve_as(BitNode& node, Shape shape, Cost limit, std::size_t level) {
    shape = shape.on(static_cast<Index>(node.size()));
    if (std::optional<Proven> answer = answer_at_hand<telling>(node, shape, limit, level)) return *std::move(answer);
    Incumbent best{loss_.leaf(node.leaf_error()), nullptr, 0};
    SplitLoop splits = splits_of(node, shape, std::min(limit, best.upper), level);
    const bool has_siblings = level > 0 && !context_.off(kNoSplitPairs);
    if (has_siblings) splits.raise_by(siblings_[level]);
    for (Cost cut; splits.next<telling>(cut = std::min(limit, best.upper));) {
        if (shape.depth == 3 && bottoms_.far())
            splits.look_ahead(cut, [&](std::uint32_t feature) {
                bottoms_.fetch(node.conditions.with(2 * feature));
                bottoms_.fetch(node.conditions.with(2 * feature + 1));
            });
        SideCosts sides = splits.sides();
        const Incumbent found = solve_split_as<telling>(node, splits.share(), splits.feature(), sides, cut, level);
        if (sides.sum() > 0) splits.raise(splits.feature(), sides);
        splits.tried<telling>(splits.feature(), splits.share().left_splits, sides);
        best.offer(found);
    }
    if (has_siblings) splits.keep_for(siblings_[level]);
    return conclude<telling>(node, shape, limit, best, splits.least(), level);
}

template <Telling telling>
std::optional<Proven> BitRecursion::answer_at_hand(BitNode& node, Shape shape, Cost limit, std::size_t level) {
    const Cost leaf = loss_.leaf(node.leaf_error());
    if (shape.depth == 0 || leaf <= loss_.split_penalty) {
        close_node<telling>(level, shape, leaf, Reason::kLeaf);
        return Proven{leaf, leaf, nullptr};
    }
    if (limit <= 0) {
        close_node<telling>(level, shape, 0, Reason::kNoBudget);
        return Proven{0, leaf, nullptr};
    }
    if (shape.depth <= 2) {
        const Proven bottom = solve_bottom(node, shape);
        close_node<telling>(level, shape, bottom.lower, Reason::kSolved);
        return bottom;
    }
    const Proven* const known = proven_.find(node.conditions, shape);
    if (!known || (known->lower < limit && !known->solved())) return std::nullopt;
    close_node<telling>(level, shape, known->lower, Reason::kKnown);
    return *known;
}

template <Telling telling>
Proven BitRecursion::conclude(const BitNode& node, Shape shape, Cost limit, const Incumbent& best, Cost least,
                              std::size_t level) {
    const Proven proven{best.upper < limit ? best.upper : std::min(least, best.upper), best.upper, best.plan};
    proven_.put(node.conditions, shape, proven);
    close_node<telling>(level, shape, proven.lower, Reason::kSolved);
    return proven;
}

Cost BitRecursion::cost_of_bottom(const ErrorsOfTwo& errors, Weight leaf_error, Shape shape) const {
    Cost cost = loss_.leaf(leaf_error);
    for (std::int64_t k = 1; k <= std::min<std::int64_t>(shape.splits, 3); ++k)
        cost = std::min(cost, loss_.tree(errors.by_splits[k - 1], k));
    return cost;
}

PlanPtr BitRecursion::plan_of_bottom(Cost cost, Weight leaf_error, Shape shape) const {
    if (cost >= loss_.leaf(leaf_error)) return nullptr;
    return bottom_plans_[shape.splits];
}

template <Telling telling>
void BitRecursion::make_side(BitNode& node, std::uint32_t feature, bool right, std::size_t level, BitNode& child) {
    nodes_.make_child(node, feature, right, child);
    child.conditions = node.conditions.with(2 * feature + (right ? 1 : 0));
    descend<telling>(level, feature, right);
}

Incumbent BitRecursion::solve_split(BitNode& node, const Division& share, std::uint32_t feature, SideCosts& sides,
                                    Cost cut, std::size_t level) {
    return context_.closings.heard() ? solve_split_as<Telling::kAloud>(node, share, feature, sides, cut, level)
                                     : solve_split_as<Telling::kSilent>(node, share, feature, sides, cut, level);
}

template <Telling telling>
Incumbent BitRecursion::solve_split_as(BitNode& node, const Division& share, std::uint32_t feature, SideCosts& sides,
                                       Cost cut, std::size_t level) {
    const bool above_bottoms = std::max(share.left.depth, share.right.depth) <= 2;
    return above_bottoms ? solve_pair_of_bottoms<telling>(node, share, feature, sides, cut, level)
                         : solve_children<telling>(node, share, feature, sides, cut, level);
}

// A side of depth two or less.
struct BitRecursion::BottomSide {
    ConditionSet set;
    Weight leaf_error;
    Shape shape;
    ErrorsOfTwo errors{{0, 0, 0}};
    bool known = false;
};

// Whether a side is known. What was counted on a smaller sample is a bound only. Sides that are pure need no counting.
void BitRecursion::look_up(BottomSide& side, Cost& floor) {
    bool exact = true;
    if (!bottoms_.find(side.set, side.errors, exact) && side.leaf_error > 0) return;
    const Cost cost = cost_of_bottom(side.errors, side.leaf_error, side.shape);
    side.known = exact || side.leaf_error == 0;
    floor = side.known ? cost : std::max(floor, cost);
}

template <Telling telling>
Incumbent BitRecursion::solve_pair_of_bottoms(BitNode& node, const Division& share, std::uint32_t feature,
                                              SideCosts& sides, Cost cut, std::size_t level) {
    const SplitErrors leaves = nodes_.split_errors(node, feature);
    BottomSide left{node.conditions.with(2 * feature), leaves.left,
                    share.left.on(static_cast<Index>(leaves.size_left))},
        right{node.conditions.with(2 * feature + 1), leaves.right,
              share.right.on(static_cast<Index>(leaves.size_right))};
    look_up(left, sides.left);
    look_up(right, sides.right);
    const auto close = [&](bool known, Reason reason) {
        if (telling == Telling::kSilent) return;
        for (const bool of_right : {false, true}) {
            const BottomSide& side = of_right ? right : left;
            if (side.known != known) continue;
            descend<telling>(level, feature, of_right);
            close_node<telling>(level + 1, side.shape, of_right ? sides.right : sides.left, reason);
        }
    };
    close(true, Reason::kKnown);
    const Cost penalty = loss_.split_penalty;
    if (sides.sum() + penalty >= cut) return {};
    if (!left.known || !right.known) {
        nodes_.solve_bottoms(node, feature, !left.known, !right.known, level, left.errors, right.errors);
        if (!left.known) bottoms_.put(left.set, left.errors);
        if (!right.known) bottoms_.put(right.set, right.errors);
    }
    sides = {cost_of_bottom(left.errors, left.leaf_error, left.shape),
             cost_of_bottom(right.errors, right.leaf_error, right.shape)};
    close(false, Reason::kSolved);
    if (sides.sum() + penalty >= cut) return {};
    return {sides.sum() + penalty,
            plan_of_split(feature, plan_of_bottom(sides.left, left.leaf_error, left.shape),
                          plan_of_bottom(sides.right, right.leaf_error, right.shape)),
            share.left_splits};
}

template <Telling telling>
Incumbent BitRecursion::solve_children(BitNode& node, const Division& share, std::uint32_t feature, SideCosts& known,
                                       Cost cut, std::size_t level) {
    const Shape shapes[2] = {share.left, share.right};
    const SplitErrors leaves = nodes_.split_errors(node, feature);
    const Weight sizes[2] = {leaves.size_left, leaves.size_right};
    Proven sides[2];
    sides[0].lower = known.left;
    sides[1].lower = known.right;
    for (int side = 0; side < 2; ++side) {
        const Shape shape = shapes[side].on(static_cast<Index>(sizes[side]));
        if (shape.depth < 3) continue;
        const Proven* before =
            proven_.find(node.conditions.with(2 * feature + static_cast<std::uint32_t>(side)), shape);
        if (!before || before->lower < sides[side].lower) continue;
        sides[side] = *before;
        descend<telling>(level, feature, side == 1);
        close_node<telling>(level + 1, shape, before->lower, Reason::kKnown);
    }
    const Cost penalty = loss_.split_penalty;
    // The larger side first: its bound is the likelier to settle the split alone.
    const int first = sizes[1] > sizes[0] ? 1 : 0;
    for (int side : {first, 1 - first}) {
        if (sides[0].lower + sides[1].lower + penalty >= cut) break;
        if (sides[side].solved()) continue;
        BitNode& child = nodes_.child_at(level, side == 1);
        make_side<telling>(node, feature, side == 1, level, child);
        ++context_.counters.nodes;
        sides[side] = solve_as<telling>(child, shapes[side], cut - penalty - sides[1 - side].lower, level + 1);
    }
    known = {sides[0].lower, sides[1].lower};
    const Cost total = sides[0].upper + sides[1].upper + penalty;
    if (total >= cut) return {};
    return {total, plan_of_split(feature, sides[0].plan, sides[1].plan), share.left_splits};
}

template std::optional<Proven> BitRecursion::answer_at_hand<Telling::kAloud>(BitNode&, Shape, Cost, std::size_t);
template Proven BitRecursion::conclude<Telling::kAloud>(const BitNode&, Shape, Cost, const Incumbent&, Cost,
                                                        std::size_t);
template void BitRecursion::make_side<Telling::kAloud>(BitNode&, std::uint32_t, bool, std::size_t, BitNode&);

}  // namespace provetree
