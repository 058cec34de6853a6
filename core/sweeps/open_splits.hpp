// Which splits of a column are open between bounded ones: the bounds of the interval search and of depth two.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "loss/loss.hpp"
#include "run/closing.hpp"
#include "sweeps/node.hpp"

namespace provetree {

// Which splits x between two splits a < x < b can still cost less than `cut`, penalty of the split included in neither:
// with D = slack(weight between a and x),
//     left(x)  >= max(left(a),  left(b) - (total - D))      right(x) >= max(right(b), right(a) - D).
struct OpenRange {
    bool open;
    Cost bound;         // least cost any split between can have
    Weight from, upto;  // weights (rows before the split) that are still open, inclusive
};

// What the two sides of a split cost at least.
struct SideBounds {
    Cost left, right;
    Weight weight;  // of the rows going left
};

inline OpenRange open_range(const SideBounds& a, const SideBounds& b, Cost cut, const Loss& loss, bool lipschitz) {
    const Cost base = a.left + b.right;
    const Cost room = cut - base;
    if (room <= 0) return {false, base, 0, 0};
    if (!lipschitz) return {true, base, a.weight, b.weight};
    // Beyond this distance from a the left side is known to cost more, and up to that distance the right side is.
    const Cost rise_left = loss.slack(b.weight - a.weight) - std::max<Cost>(0, b.left - a.left);
    const Cost fall_right = std::max<Cost>(0, a.right - b.right);
    const Cost overlap = std::max<Cost>(0, fall_right - rise_left);
    if (overlap >= room) return {false, base + overlap, 0, 0};
    // open where fall_right - room < D < rise_left + room
    const Cost above = fall_right - room, below = rise_left + room;
    const Cost from = loss.weight_above(above), upto = loss.weight_below(below);
    // Splits between may weigh as much as an end does: on a sample, neighbours can differ by rows outside it only.
    if (upto < 0 || from > b.weight - a.weight) return {false, base + overlap, 0, 0};
    return {true, base + overlap, static_cast<Weight>(a.weight + std::max<Cost>(from, 0)),
            static_cast<Weight>(a.weight + std::min<Cost>(upto, b.weight - a.weight))};
}

// Positions strictly between a and b whose weight lies in [from, upto], as an inclusive range.
struct Positions {
    Index first, last;
    bool empty() const { return first > last; }
    Index size() const { return empty() ? 0 : last - first + 1; }
    Index middle() const { return first + (last - first) / 2; }
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

// The split nearest to `position` within the range, off a group of ties; 0 where the range lies inside one group.
inline Index nearest_split(const NodeColumn& column, Index position, Positions range) {
    if (column.no_ties || Node::is_split(column, position)) return position;
    const Index rank = column.ranks[position];
    const Index* first = column.ranks + range.first - 1;
    const Index begin = static_cast<Index>(
        std::lower_bound(first, static_cast<const Index*>(column.ranks) + position, rank) - column.ranks);
    const Index end = Node::rows_up_to(column, rank, position, range.last + 1);
    const bool begin_fits = begin >= range.first, end_fits = end <= range.last;
    if (begin_fits && (!end_fits || position - begin <= end - position)) return begin;
    return end_fits ? end : 0;
}

// The splits of a column at these positions, as a region to be closed: up to the next rank, so that it holds for more
// rows than the node has. Positions inside a group of ties are no splits: then the region is empty.
inline Region region_of(const NodeColumn& column, Positions at, Shape shape, std::size_t level) {
    const bool any = !at.empty() && column.ranks[at.first - 1] != column.ranks[at.last];
    return {.level = level,
            .column = column.id,
            .first_rank = any ? column.ranks[at.first - 1] : 1,
            .last_rank = any ? column.ranks[at.last] - 1 : 0,
            .shape = shape};
}

// Joins open ranges of one column that adjoin, and hands each stretch on that holds a split. Ranges come in ascending
// order, each with the numbers of the points around it.
template <class Use>
class StretchJoiner {
  public:
    StretchJoiner(const NodeColumn& column, const Use& use) : column_(column), use_(use) {}

    void add(Positions open, Cost bound, std::size_t from, std::size_t to) {
        if (any_ && open_.last + 1 >= open.first) {
            open_.last = open.last;
            bound_ = std::min(bound_, bound);
        } else {
            finish();
            any_ = true;
            open_ = open;
            bound_ = bound;
            from_ = from;
        }
        to_ = to;
    }
    void finish() {
        // A stretch inside one group of ties holds no split.
        if (any_ && nearest_split(column_, open_.middle(), open_) != 0) use_(open_, bound_, from_, to_);
        any_ = false;
    }

  private:
    const NodeColumn& column_;
    const Use& use_;
    bool any_ = false;
    Positions open_{};
    Cost bound_ = 0;
    std::size_t from_ = 0, to_ = 0;
};

// The bounds that a point has for its left and for its right side.
template <class Point>
inline constexpr auto kSides = Point::sides();

// Raises the bounds of all points from their neighbours': more rows never cost less, and never more than their slack.
template <class Point, class Slack>
void tighten(std::vector<Point>& points, const Slack& slack) {
    for (std::size_t i = 1; i < points.size(); ++i) {
        const auto between = slack(points[i].weight - points[i - 1].weight);
        for (const auto& [left, right] : kSides<Point>) {
            points[i].*left = std::max(points[i].*left, points[i - 1].*left);
            points[i].*right = std::max(points[i].*right, points[i - 1].*right - between);
        }
    }
    for (std::size_t i = points.size(); i-- > 1;) {
        const auto between = slack(points[i].weight - points[i - 1].weight);
        for (const auto& [left, right] : kSides<Point>) {
            points[i - 1].*left = std::max(points[i - 1].*left, points[i].*left - between);
            points[i - 1].*right = std::max(points[i - 1].*right, points[i].*right);
        }
    }
}

// Makes points of one position, which come one after the other, one point.
template <class Point>
void merge_equal(std::vector<Point>& points) {
    std::size_t kept = 0;
    for (const Point& point : points) {
        if (!kept || points[kept - 1].position != point.position) {
            points[kept++] = point;
            continue;
        }
        Point& same = points[kept - 1];
        for (const auto& [left, right] : kSides<Point>) {
            same.*left = std::max(same.*left, point.*left);
            same.*right = std::max(same.*right, point.*right);
        }
        same.evaluated |= point.evaluated;
    }
    points.resize(kept);
}

// Drops points between the ends that say nothing their neighbours do not, unless they are to be kept.
template <class Point, class Slack, class Keep>
void drop_implied(std::vector<Point>& points, const Slack& slack, const Keep& keep) {
    if (points.size() < 3) return;
    std::size_t kept = 1;
    for (std::size_t i = 1; i + 1 < points.size(); ++i) {
        const Point &before = points[kept - 1], &here = points[i], &after = points[i + 1];
        const auto from_before = slack(here.weight - before.weight), to_after = slack(after.weight - here.weight);
        bool implied = !keep(here);
        for (const auto& [left, right] : kSides<Point>)
            implied = implied && here.*left <= std::max(before.*left, after.*left - to_after) &&
                      here.*right <= std::max(after.*right, before.*right - from_before);
        if (implied) continue;
        if (kept != i) points[kept] = std::move(points[i]);
        ++kept;
    }
    if (kept != points.size() - 1) points[kept] = std::move(points.back());
    points.resize(kept + 1);
}

// Splits that leave a side too small for a leaf are never looked at, but trees without a minimum leaf size may use
// them: their bound is part of the relaxed one. The small side may cost nothing; the large one contains that side of
// every split further in.
class SmallSides {
  public:
    explicit SmallSides(const NodeColumn& column) : column_(column) {}
    // Bounds of the sides of a split without the minimum leaf size.
    void look(Index position, Cost left, Cost right) {
        if (position + 1 >= column_.first_split) right_ = std::max(right_, right);
        if (position <= column_.last_split + 1) left_ = std::max(left_, left);
    }
    Cost bound(Index rows, const Loss& loss) const {
        Cost least = kInfinite;
        // A group of ties that goes on beyond them leaves no such split.
        const Index* const ranks = column_.ranks;
        const bool before = column_.first_split <= rows && ranks[0] != ranks[column_.first_split - 1],
                   after = column_.last_split < rows && ranks[column_.last_split] != ranks[rows - 1];
        if (before) least = std::min(least, loss.split_penalty + right_);
        if (after) least = std::min(least, loss.split_penalty + left_);
        return least;
    }

  private:
    const NodeColumn& column_;
    Cost left_ = 0, right_ = 0;  // of the large side, beyond the last and before the first feasible split
};

}  // namespace provetree
