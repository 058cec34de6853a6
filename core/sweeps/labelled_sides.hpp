// Splits on a column with a direction: one side is a leaf of a known class. What that leaf gets wrong is known at every
// position, so between two splits only the other side has to be bounded.
#pragma once

#include <algorithm>

#include "base/raw_vector.hpp"
#include "loss/loss.hpp"
#include "run/rules.hpp"
#include "sweeps/node.hpp"
#include "sweeps/open_splits.hpp"

namespace provetree {

// What the leaf gets wrong on either side of all splits of a column with a direction.
class LabelledSides {
  public:
    void count(const Node& node, const NodeColumn& column, int direction) {
        const std::uint32_t of_left = static_cast<std::uint32_t>(label_of(direction, false));
        column_ = &column;
        direction_ = direction;
        rows_ = node.rows;
        others_.resize(node.rows + std::size_t{1});
        Weight others = others_[0] = 0;
        if (column.weight_before) {
            for (Index i = 0; i < rows_; ++i) {
                const Index row = column.order[i] & entry::kRowMask;
                others_[i + 1] = others += node.classes[row] != of_left ? node.weights[row] : 0;
            }
        } else {
            for (Index i = 0; i < rows_; ++i)
                others_[i + 1] = others += static_cast<Weight>((column.order[i] >> entry::kClassShift) != of_left);
        }
    }

    Index column() const { return column_->id; }
    // The class of the leaf.
    int label(bool on_right) const { return label_of(direction_, on_right); }
    // Of a leaf on one side of the split after so many rows: all that is not of its class.
    Weight errors(bool on_right, Index position) const {
        if (!on_right) return others_[position];
        return weight(rows_) - weight(position) - (others_[rows_] - others_[position]);
    }
    Weight weight(Index position) const {
        return column_->weight_before ? column_->weight_before[position] : static_cast<Weight>(position);
    }

  private:
    const NodeColumn* column_ = nullptr;
    int direction_ = 0;
    Index rows_ = 0;
    RawVector<Weight> others_;  // weight of what is not of the left leaf's class among the first rows
};

// Splits that are open, and the least that one of them can cost.
struct OpenSplits {
    Positions open{1, 0};
    Cost bound = kInfinite;
};

// A stretch of positions whose other side is bounded at both ends: after `a` rows and after `b` rows.
struct BoundedEnds {
    Index a, b;
    Cost at_a, at_b;
};

// Which splits strictly between two can cost less than `cut`, the leaf being on one side, the penalty not counted. With
// D = slack(weight between), a leaf on the left, and more rows never costing less, nor more than their slack:
//     cost(x) >= leaf(x) + other(b), which never falls with x, because the leaf gets more rows;
//     cost(x) >= leaf(x) + other(a) - D(a, x), which never rises: the leaf gets no more wrong than all of them.
// With the leaf on the right it is the other way round.
inline OpenSplits open_beside_leaf(const LabelledSides& sides, bool leaf_on_right, const NodeColumn& column,
                                   const BoundedEnds& ends, Cost cut, const Loss& loss, bool lipschitz) {
    const auto leaf = [&](Index x) { return loss.leaf(sides.errors(leaf_on_right, x)); };
    const auto rising = [&](Index x) {
        if (!leaf_on_right) return leaf(x) + ends.at_b;
        return lipschitz ? leaf(x) + ends.at_b - loss.slack(sides.weight(ends.b) - sides.weight(x)) : 0;
    };
    const auto falling = [&](Index x) {
        if (leaf_on_right) return leaf(x) + ends.at_a;
        return lipschitz ? leaf(x) + ends.at_a - loss.slack(sides.weight(x) - sides.weight(ends.a)) : 0;
    };
    // The first position of a range for which something holds that holds from there on; one past the range: none.
    const auto first_of = [](Index first, Index last, const auto& holds) {
        for (Index end = last + 1; first < end;) {
            const Index middle = first + (end - first) / 2;
            if (holds(middle))
                end = middle;
            else
                first = middle + 1;
        }
        return first;
    };
    Index first = std::max(ends.a + 1, column.first_split), last = std::min(ends.b - 1, column.last_split);
    if (first > last) return {};
    first = first_of(first, last, [&](Index x) { return falling(x) < cut; });
    if (first > last) return {};
    last = first_of(first, last, [&](Index x) { return rising(x) >= cut; }) - 1;
    if (first > last) return {};
    // The larger of the two is least where they meet.
    const Index meet = first_of(first, last, [&](Index x) { return rising(x) >= falling(x); });
    OpenSplits found{{first, last}, kInfinite};
    if (meet <= last) found.bound = rising(meet);
    if (meet > first) found.bound = std::min(found.bound, falling(meet - 1));
    return found;
}

// The split moved past rows of the leaf's class: then the leaf costs no more, and the other side has fewer rows. Stays
// between `first` and `last`.
inline Index past_rows_of_leaf(const Node& node, const NodeColumn& column, Index position, Positions within,
                               std::uint32_t label, bool leaf_on_right) {
    const auto is_of_leaf = [&](Index i) { return node.classes[column.order[i] & entry::kRowMask] == label; };
    Index moved = position;
    if (leaf_on_right) {
        while (moved > within.first && is_of_leaf(moved - 1)) --moved;
        while (moved < position && !Node::is_split(column, moved)) ++moved;
    } else {
        while (moved < within.last && is_of_leaf(moved)) ++moved;
        while (moved > position && !Node::is_split(column, moved)) --moved;
    }
    return moved;
}

}  // namespace provetree
