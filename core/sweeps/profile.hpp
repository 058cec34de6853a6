// What a solved node leaves behind for its relatives: lower bounds on the two sides of splits, by column and rank.
//
// More rows never cost less, and adding rows of weight w never costs more than w more. So what was proven for a split
// of one row set bounds the same split of a set that contains it ("inner") or is contained in it ("outer").
// Neighbouring thresholds give nested children, so almost everything proven for one child can be handed to the next.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "base/byte_count.hpp"
#include "base/types.hpp"
#include "sweeps/node.hpp"
#include "tree/outcome.hpp"

namespace provetree {

// Bounds at one split of a depth-two node, in errors (weights), so that they hold under any penalty: for each side as a
// leaf and with one split.
struct PanelPoint {
    Index rank;
    Index position;
    Weight weight;  // of the rows going left
    Weight leaf_left, leaf_right, stump_left, stump_right;
    bool evaluated = false;  // in the node at hand: then the split itself is settled, not only bounded
};

struct PanelColumn {
    Index id;
    std::vector<PanelPoint> points;  // by position
};

// Bounds at one split of a deeper node, in costs, and what its children left behind. A child's profile is kept apart as
// the profile of a subset (inner) and of a superset (outer) of that child's rows; at a split evaluated in this very
// node both are the child's own.
struct DeepPoint {
    Index rank;
    Index position;
    Weight weight;
    Cost left, right;
    ProfilePtr inner_left, outer_left, inner_right, outer_right;
    Cost left_upper = kInfinite,
         right_upper = kInfinite;  // costs of real trees of the children, in the node at hand only
};

struct DeepFamily {
    Index id;                  // column
    std::int64_t left_splits;  // split budget of the left child
    std::vector<DeepPoint> points;
};

struct Profile {
    Profile(ByteCount& held, Shape s, Index n, Weight w) : shape(s), rows(n), weight(w), held_(held) {}
    ~Profile() { held_ -= bytes_; }
    Profile(const Profile&) = delete;
    Profile& operator=(const Profile&) = delete;

    Shape shape;
    Index rows;
    Weight weight;
    std::vector<PanelColumn> panel;  // shape.depth == 2
    std::vector<DeepFamily> deep;    // shape.depth >= 3

    // Adds what this profile holds to the running total of its search.
    void account() {
        bytes_ = sizeof(Profile);
        for (const PanelColumn& column : panel) bytes_ += sizeof column + column.points.capacity() * sizeof(PanelPoint);
        for (const DeepFamily& family : deep) bytes_ += sizeof family + family.points.capacity() * sizeof(DeepPoint);
        held_ += bytes_;
    }

  private:
    ByteCount& held_;
    std::uint64_t bytes_ = 0;
};

// Profiles of a subset and of a superset of a node's rows; either may be missing.
struct Relatives {
    const Profile* inner = nullptr;
    const Profile* outer = nullptr;
};

// Where a split that a relative knows lies in a node, and the weight of the relative's rows that the node lacks on
// either side of it.
struct Carried {
    Index position;
    Weight weight;  // of the node's rows going left
    Weight gone_left = 0, gone_right = 0;
};

// The node has all rows of the relative and more: bounds hold as they are.
template <class Point>
Carried carry_from_subset(const Node& node, const NodeColumn& column, const Point& point, const Profile& inner) {
    const Index more = node.rows - inner.rows;
    const Index position =
        Node::rows_up_to(column, point.rank, point.position, std::min(node.rows, point.position + more));
    return {position, node.weight_left(column, position)};
}

// The relative has all rows of the node and more: each side's bound falls by the weight that is gone from it.
template <class Point>
Carried carry_from_superset(const Node& node, const NodeColumn& column, const Point& point, const Profile& outer) {
    const Index fewer = outer.rows - node.rows;
    const Index position = Node::rows_up_to(column, point.rank, point.position > fewer ? point.position - fewer : 0,
                                            std::min(node.rows, point.position));
    const Weight weight = node.weight_left(column, position), gone_left = point.weight - weight;
    return {position, weight, gone_left, outer.weight - node.weight - gone_left};
}

// Which splits x between two splits a < x < b can still cost less than `cut`, penalty of the split included in neither:
// with D = error_scale * (weight between a and x),
//     left(x)  >= max(left(a),  left(b) - (total - D))      right(x) >= max(right(b), right(a) - D).
struct OpenRange {
    bool open;
    Cost bound;         // least cost any split between can have
    Weight from, upto;  // weights (rows before the split) that are still open, inclusive
};

inline Cost floor_divide(Cost a, Cost b) { return a / b - (a % b != 0 && a < 0); }

inline OpenRange open_range(Cost left_a, Cost right_a, Weight weight_a, Cost left_b, Cost right_b, Weight weight_b,
                            Cost cut, Cost scale, bool lipschitz) {
    const Cost base = left_a + right_b;
    const Cost room = cut - base;
    if (room <= 0) return {false, base, 0, 0};
    if (!lipschitz) return {true, base, weight_a, weight_b};
    const Cost total = scale * (weight_b - weight_a);
    const Cost rise_left =
        total - std::max<Cost>(0, left_b - left_a);  // beyond this distance from a the left side is known to cost more
    const Cost fall_right = std::max<Cost>(0, right_a - right_b);  // up to this distance the right side is
    const Cost overlap = std::max<Cost>(0, fall_right - rise_left);
    if (overlap >= room) return {false, base + overlap, 0, 0};
    // open where fall_right - room < D < rise_left + room
    const Cost above = fall_right - room, below = rise_left + room;
    const Cost from = scale == 1 ? above + 1 : floor_divide(above, scale) + 1;
    const Cost upto = scale == 1 ? below - 1 : -floor_divide(-below, scale) - 1;
    // Splits between may weigh as much as an end does: on a sample, neighbours can differ by rows outside it only.
    if (upto < 0 || from > weight_b - weight_a) return {false, base + overlap, 0, 0};
    return {true, base + overlap, static_cast<Weight>(weight_a + std::max<Cost>(from, 0)),
            static_cast<Weight>(weight_a + std::min<Cost>(upto, weight_b - weight_a))};
}

// Positions strictly between a and b whose weight lies in [from, upto], as an inclusive range.
struct Positions {
    Index first, last;
    bool empty() const { return first > last; }
    Index size() const { return empty() ? 0 : last - first + 1; }
};

inline Positions positions_of(const NodeColumn& column, Index a, Index b, Weight from, Weight upto) {
    Index first = std::max(a + 1, column.first_split), last = std::min(b - 1, column.last_split);
    if (column.weight_before) {
        first = std::max(first,
                         static_cast<Index>(std::lower_bound(column.weight_before + a, column.weight_before + b, from) -
                                            column.weight_before));
        last = std::min(last,
                        static_cast<Index>(std::upper_bound(column.weight_before + a, column.weight_before + b, upto) -
                                           column.weight_before) -
                            1);
    } else {
        first = std::max(first, static_cast<Index>(from));
        last = std::min(last, static_cast<Index>(upto));
    }
    return {first, last};
}

// The split nearest to `position` within the range, moving off a group of ties; 0 where the whole range lies inside one
// group.
inline Index nearest_split(const NodeColumn& column, Index position, Positions range) {
    if (column.no_ties || Node::is_split(column, position)) return position;
    const Index rank = column.ranks[position];
    const Index* first = column.ranks + range.first - 1;
    const Index begin = static_cast<Index>(
        std::lower_bound(first, static_cast<const Index*>(column.ranks) + position, rank) - column.ranks);
    const Index end =
        static_cast<Index>(std::upper_bound(static_cast<const Index*>(column.ranks) + position,
                                            static_cast<const Index*>(column.ranks) + range.last + 1, rank) -
                           column.ranks);
    const bool begin_fits = begin >= range.first, end_fits = end <= range.last;
    if (begin_fits && (!end_fits || position - begin <= end - position)) return begin;
    return end_fits ? end : 0;
}

}  // namespace provetree
