// What every solver of depth two has, whether costs are errors or units of a measure: the best tree so far, which
// splits can still win, how they are bounded from both sides, and how they are closed.
#pragma once

#include <algorithm>
#include <vector>

#include "loss/loss.hpp"
#include "run/context.hpp"
#include "sweeps/depth_one.hpp"
#include "sweeps/labelled_sides.hpp"
#include "sweeps/open_splits.hpp"
#include "sweeps/profile.hpp"
#include "tree/outcome.hpp"

namespace provetree {

// The best trees of a node of depth two by the number of their leaves, and what is proven of each.
struct TwoSizes {
    Bounded two, three, four;
    ProfilePtr profile;
};
// Up to what cost each of them is to be exact.
struct TwoLimits {
    Cost two, three, four;
};

class TwoLevels {
  public:
    // Where a solve that was stopped stood: the best tree so far, and a bound.
    const Outcome& standing() const { return standing_; }

  protected:
    explicit TwoLevels(Context& context) : context_(context) {}

    void begin(const Node& node, const NodeRequest& request, const Loss& loss, TieChoice* ties) {
        ++context_.counters.depth_two_solves;
        loss_ = loss;
        splits_ = request.shape.splits;
        limit_ = request.limit;
        level_ = request.level;
        ties_ = ties;
        paid_ = node.paid;
        above_ = request.above;
        outcome_ = {};
        outcome_.upper = leaf_cost(context_, node, loss);
        relaxed_ = whole_leaf_ = leaf_cost_of(node, loss);
        keep_profile_ = request.keep_profile && !context_.off(kNoInheritance);
        standing_ = {};
        by_sizes_ = false;
    }
    // Looks for the best tree of three leaves beside that of four; without a penalty and without ties.
    void begin_sizes(Cost limit_of_three) {
        by_sizes_ = true;
        limit_of_three_ = limit_of_three;
        three_ = outcome_;
        relaxed_of_three_ = relaxed_;
    }

    // Trees below this are looked for. With ties, those equal to the best are wanted too.
    Cost cut() const {
        return std::min(limit_, ties_ && outcome_.upper < kInfinite ? outcome_.upper + 1 : outcome_.upper);
    }
    // What a split itself costs: the penalty, and the price of its column where the path has not paid it.
    Cost own_cost(const NodeColumn& column) const {
        return loss_.split_penalty + (context_.rules ? loss_.leaf(context_.rules->price(column.id, paid_)) : 0);
    }
    // The same for the sides of a split of a column, without what the split itself costs. Columns after the preferred
    // one cannot win a tie, only a lower cost.
    Cost room(const NodeColumn& column) const {
        return cut() - own_cost(column) - (ties_ && ties_->any && column.id > ties_->column ? 1 : 0);
    }

    // Trees of three leaves below this are looked for.
    Cost cut_of_three() const { return std::min(limit_of_three_, three_.upper); }
    // By sizes, what three leaves cost is told less this: then one comparison with the room of four is enough for both.
    Cost shift_of_three() const { return cut_of_three() - cut(); }

    // Errors, or units.
    Cost cost_of_leaf(Weight errors) const { return loss_.leaf(errors); }
    Cost cost_of_leaf(Cost units) const { return loss_.measured(units); }
    template <class Amount>
    Cost side_cost(Amount leaf, Amount stump, bool split) const {
        const Cost as_leaf = cost_of_leaf(leaf);
        return split ? std::min(as_leaf, cost_of_leaf(stump) + loss_.split_penalty) : as_leaf;
    }
    template <class Amount>
    SideBounds side_bounds(const TwoSides<Amount>& point, bool split_left, bool split_right) const {
        return {side_cost(point.leaf_left, point.stump_left, split_left),
                side_cost(point.leaf_right, point.stump_right, split_right), point.weight};
    }
    // A split with a direction has a leaf on one side, of the class that the direction says: for such a column, the
    // leaves of points are leaves of that class. The other side may be a leaf as well, of the other class: of the same
    // class the split would say nothing, and cost no less than a leaf of the whole node does.
    int direction_of(const NodeColumn& column) const {
        return context_.rules ? context_.rules->direction(column.id) : 0;
    }
    bool one_side_is_leaf(const NodeColumn& column) const { return splits_ < 3 || direction_of(column) != 0; }
    // What trees that begin with a split cost at least, its own penalty not counted.
    template <class Amount>
    Cost point_bound(const TwoSides<Amount>& point, bool one_leaf) const {
        const auto cost = [&](bool split_left, bool split_right) {
            const SideBounds sides = side_bounds(point, split_left, split_right);
            return sides.left + sides.right;
        };
        if (by_sizes_)
            return std::min(cost(true, true), std::min(cost(true, false), cost(false, true)) - shift_of_three());
        return one_leaf ? std::min(cost(true, false), cost(false, true)) : cost(true, true);
    }
    // Which splits between two points are open, where one of the sides may have to be a leaf.
    template <class Amount>
    OpenRange range_of_either_side(const TwoSides<Amount>& a, const TwoSides<Amount>& b, Cost room) const {
        const auto range = [&](bool split_left, bool split_right, Cost of_cut) {
            return open_range(side_bounds(a, split_left, split_right), side_bounds(b, split_left, split_right), of_cut,
                              loss_, !context_.off(kNoLipschitz));
        };
        const auto either = [](const OpenRange& one, const OpenRange& other) -> OpenRange {
            if (!one.open || !other.open) return one.open ? one : other;
            return {true, std::min(one.bound, other.bound), std::min(one.from, other.from),
                    std::max(one.upto, other.upto)};
        };
        if (by_sizes_) {
            const Cost shift = shift_of_three();
            OpenRange three = either(range(true, false, room + shift), range(false, true, room + shift));
            three.bound -= shift;
            return either(range(true, true, room), three);
        }
        return either(range(true, false, room), range(false, true, room));
    }

    // What the side costs that is no leaf, beside a split with a direction.
    template <class Amount>
    Cost other_side(const TwoSides<Amount>& point, bool leaf_on_right) const {
        return leaf_on_right ? side_cost(point.leaf_left, point.stump_left, true)
                             : side_cost(point.leaf_right, point.stump_right, true);
    }
    // What trees that begin with a split with a direction cost at least, where its leaves are counted.
    template <class Amount>
    Cost labelled_bound(const TwoSides<Amount>& point) const {
        const auto cost = [&](bool on_right) {
            if (is_said_above(on_right)) return kInfinite;
            return loss_.leaf(labelled_->errors(on_right, point.position)) + other_side(point, on_right);
        };
        return std::min(cost(false), cost(true));
    }
    // Whether splits of the column at hand with their leaf on this side are looked for in another order.
    bool is_said_above(bool leaf_on_right) const {
        return above_.comes_later(labelled_->column(), labelled_->label(leaf_on_right));
    }
    // Which of them are open between two points.
    template <class Amount>
    OpenSplits labelled_range(const NodeColumn& column, const TwoSides<Amount>& a, const TwoSides<Amount>& b,
                              Cost room) const {
        const auto range = [&](bool on_right) {
            if (is_said_above(on_right)) return OpenSplits{};
            const BoundedEnds ends{a.position, b.position, other_side(a, on_right), other_side(b, on_right)};
            return open_beside_leaf(*labelled_, on_right, column, ends, room, loss_, !context_.off(kNoLipschitz));
        };
        const OpenSplits one = range(false), other = range(true);
        if (one.open.empty() || other.open.empty()) return one.open.empty() ? other : one;
        return {{std::min(one.open.first, other.open.first), std::max(one.open.last, other.open.last)},
                std::min(one.bound, other.bound)};
    }

    // Hands the stretches of a column that are open between its points, or at them, to `keep`. `closing`: the others
    // are closed.
    template <class Amount, class Keep>
    void find_stretches(const NodeColumn& column, const std::vector<TwoSides<Amount>>& points, bool closing,
                        const Keep& keep) {
        find_stretches(column, points, room(column), closing, keep);
    }
    template <class Amount, class Keep>
    void find_stretches(const NodeColumn& column, const std::vector<TwoSides<Amount>>& points, Cost room, bool closing,
                        const Keep& keep) {
        StretchJoiner stretches(column, keep);
        const bool one_leaf = one_side_is_leaf(column), either_side = one_leaf || by_sizes_;
        const bool lipschitz = !context_.off(kNoLipschitz);
        // What both sides of a point cost at least, where both may be split: for most searches all there is to know.
        const auto both_split = [&](const TwoSides<Amount>& point) {
            return either_side ? SideBounds{} : side_bounds(point, true, true);
        };
        if (points.empty()) return;
        SideBounds here = both_split(points.front());
        for (std::size_t i = 0; i < points.size(); ++i) {
            const TwoSides<Amount>& a = points[i];
            if (!a.evaluated && a.position >= column.first_split && a.position <= column.last_split) {
                const Cost bound = labelled_     ? labelled_bound(a)
                                   : either_side ? point_bound(a, one_leaf)
                                                 : here.left + here.right;
                if (bound < room)
                    stretches.add({a.position, a.position}, bound, i, i);
                else if (closing)
                    close(column, {a.position, a.position}, bound + own_cost(column), Reason::kSplitBound);
            }
            if (i + 1 == points.size()) break;
            const TwoSides<Amount>& b = points[i + 1];
            const SideBounds before = std::exchange(here, both_split(b));
            if (b.position - a.position < 2) continue;
            if (labelled_) {
                const OpenSplits found = labelled_range(column, a, b, room);
                if (!found.open.empty()) stretches.add(found.open, found.bound, i, i + 1);
                if (closing && context_.closings.heard())
                    close_around(column, a.position, b.position, found.open, room);
                continue;
            }
            const OpenRange range =
                either_side ? range_of_either_side(a, b, room) : open_range(before, here, room, loss_, lipschitz);
            const Positions open =
                range.open ? positions_of(column, a.position, b.position, range.from, range.upto) : Positions{1, 0};
            if (!open.empty()) stretches.add(open, range.bound, i, i + 1);
            if (closing && context_.closings.heard()) close_around(column, a.position, b.position, open, room);
        }
        stretches.finish();
    }

    // Splits of a column that cost at least `bound` are closed; `at` may hold positions that are no splits.
    void close(const NodeColumn& column, Positions at, Cost bound, Reason reason) {
        if (at.empty()) return;
        // Splits with a direction that say nothing are looked at as a leaf of the whole node.
        if (direction_of(column)) bound = std::min(bound, whole_leaf_ + loss_.split_penalty);
        context_.closings.close([&] { return region_of(column, at, {2, splits_}, level_); }, bound, reason);
    }
    // Of the splits between two points, all but the open ones cost as much as there is room for.
    void close_around(const NodeColumn& column, Index a, Index b, Positions open, Cost room) {
        const Cost bound = room + own_cost(column);
        if (open.empty()) open = {b, b - 1};
        close(column, {a + 1, open.first - 1}, bound, Reason::kBetweenSplits);
        close(column, {open.last + 1, b - 1}, bound, Reason::kBetweenSplits);
    }

    // Calls use(split_left, split_right) for the ways that the split budget allows.
    template <class Use>
    void share_splits(const NodeColumn& column, const Use& use) const {
        const bool one_leaf = one_side_is_leaf(column);
        if (!one_leaf) use(true, true);
        if (!one_leaf && !by_sizes_) return;
        use(false, true);  // the tie rule wants the fewest splits on the left
        use(true, false);
    }

    // What one side of a split costs in a tree with the minimum leaf size, and as a leaf; kInfinite: too few rows.
    struct SideCost {
        Cost leaf, best;
    };
    // Takes a tree over that costs less than the best, or as much where the tie rule prefers it.
    void offer(const NodeColumn& column, Index position, SideCost left, SideCost right) {
        const Cost total = std::min(kInfinite, own_cost(column) + left.best + right.best);
        if (by_sizes_) return offer_size(column, position, left, right, total);
        if (total > outcome_.upper || total >= kInfinite || (ties_ && total >= limit_)) return;
        const Index rank = column.ranks[position - 1];
        // A leaf, or a split found earlier, stands unless the tie rule prefers this one.
        if (total == outcome_.upper &&
            (!ties_ || !outcome_.plan || !ties_->prefers(column.id, margin(context_, column, position), rank, 0)))
            return;
        outcome_.upper = total;
        outcome_.plan = split_plan(column.id, rank, left.best < left.leaf ? stump_plan() : nullptr,
                                   right.best < right.leaf ? stump_plan() : nullptr);
        if (ties_) *ties_ = {true, column.id, margin(context_, column, position), rank, 0};
    }

    // The same for the size of the tree; a tree of three leaves is one of four, too.
    void offer_size(const NodeColumn& column, Index position, SideCost left, SideCost right, Cost total) {
        const bool split_left = left.best < left.leaf, split_right = right.best < right.leaf;
        Incumbent& best = split_left && split_right ? outcome_ : three_;
        if (total >= best.upper) return;
        best.upper = total;
        best.plan = split_plan(column.id, column.ranks[position - 1], split_left ? stump_plan() : nullptr,
                               split_right ? stump_plan() : nullptr);
        outcome_.offer(three_);
    }

    // What is proven once nothing is open; `small`: what splits too near an end for the minimum leaf size cost.
    template <class Small>
    void settle(const Small& small) {
        if (by_sizes_) {
            // A split between four leaves that costs no less than three is one too many.
            if (three_.upper <= outcome_.upper) outcome_.take(three_);
            three_.lower = cut_of_three();
            three_.relaxed = three_.lower;
            if (context_.constrained()) three_.relaxed = std::min({three_.lower, relaxed_of_three_, small()});
            relaxed_ = std::min(relaxed_, relaxed_of_three_);
        }
        outcome_.lower = std::min(limit_, outcome_.upper);
        const Cost of_small = context_.constrained() ? small() : kInfinite;  // first: it may lower relaxed_
        outcome_.relaxed = context_.constrained() ? std::min({outcome_.lower, relaxed_, of_small}) : outcome_.lower;
    }

    Context& context_;
    Loss loss_;
    std::int64_t splits_ = 3;
    std::uint64_t paid_ = 0;  // by the path to the node
    LeafAbove above_;
    Cost limit_ = kInfinite;
    std::size_t level_ = 0;
    TieChoice* ties_ = nullptr;
    bool keep_profile_ = false;
    Outcome outcome_, standing_;
    bool by_sizes_ = false;
    Cost limit_of_three_ = 0;
    Bounded three_;
    Cost relaxed_of_three_ = kInfinite;
    const LabelledSides* labelled_ = nullptr;  // of the column at hand, where it has a direction and they are counted
    Cost whole_leaf_ = 0;                      // what the node costs as a leaf, whatever the minimum leaf size
    Cost relaxed_ = kInfinite;                 // what the splits evaluated cost at least without the minimum leaf size
};

}  // namespace provetree
