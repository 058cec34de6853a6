// Claims from profiles; see certify/interval_claims.hpp.
#include "certify/interval_claims.hpp"

#include <algorithm>
#include <utility>

#include "sweeps/depth_one.hpp"

namespace provetree {

namespace {

// A bound in units, as a whole number of the certificate's costs: a tree of so many splits costs `unit` times its cost
// and at most one more for each split.
Cost in_costs(Cost bound, std::int64_t splits, Cost unit) {
    if (unit == 1) return bound;
    return bound <= splits ? 0 : (bound - splits + unit - 1) / unit;
}

std::vector<Index> ends_of(const NodeColumn& column, Index rows) {
    std::vector<Index> ends{0};
    for (Index position = 1; position < rows; ++position)
        if (Node::is_split(column, position)) ends.push_back(position);
    ends.push_back(rows);
    return ends;
}

}  // namespace

void IntervalClaims::take_known(const Task& task, Family& family, const KnownSplits& known) const {
    if (!known.profile) return;
    for (const DeepFamily& deep : known.profile->deep) {
        if (deep.id != family.column->id || deep.left_splits != family.share.left_splits) continue;
        // A search that allowed fewer splits bounds smaller trees of the right side.
        if (known.profile->shape.splits - 1 - deep.left_splits < family.share.right.splits) continue;
        for (const DeepPoint& point : deep.points) {
            const Index position = Node::rows_up_to(*family.column, point.rank, 0, task.node.rows);
            if (position == 0 || position == task.node.rows) continue;
            const std::size_t at = static_cast<std::size_t>(
                std::lower_bound(family.ends->begin(), family.ends->end(), position) - family.ends->begin());
            const Cost left = in_costs(point.left, family.share.left.splits, known.unit),
                       right = in_costs(point.right, family.share.right.splits, known.unit);
            if (family.points.empty() || family.points.back().at < at) family.points.push_back({at});
            Point& here = family.points.back();
            const auto raise = [&](Side& side, Cost bound, const ProfilePtr& profile) {
                side.relaxed = std::max(side.relaxed, bound);
                if (profile) side.known = {profile, known.unit};
            };
            raise(here.left, left, point.inner_left);
            raise(here.right, right, point.inner_right);
        }
    }
}

IntervalClaims::Bounds IntervalClaims::bounds_of(const Task& task, const Family& family) const {
    const std::size_t n = family.ends->size();
    const Loss& loss = solver_.loss();
    Bounds found{std::vector<Cost>(n, 0), std::vector<Cost>(n, 0)};
    found.left.back() = found.right.front() = task.whole;
    for (const Point& point : family.points) {
        found.left[point.at] = std::max(found.left[point.at], point.left.relaxed);
        found.right[point.at] = std::max(found.right[point.at], point.right.relaxed);
    }
    for (std::size_t i = 1; i < n; ++i) {
        const Cost between = loss.slack(weight(task, family, i) - weight(task, family, i - 1));
        found.left[i] = std::max(found.left[i], found.left[i - 1]);
        found.right[i] = std::max(found.right[i], found.right[i - 1] - between);
    }
    for (std::size_t i = n; i-- > 1;) {
        const Cost between = loss.slack(weight(task, family, i) - weight(task, family, i - 1));
        found.left[i - 1] = std::max(found.left[i - 1], found.left[i] - between);
        found.right[i - 1] = std::max(found.right[i - 1], found.right[i]);
    }
    return found;
}

bool IntervalClaims::is_closed(const Task& task, const Family& family, const Bounds& bounds, std::size_t at,
                               const Point* point) const {
    const Cost penalty = solver_.loss().split_penalty, cost = bounds.left[at] + bounds.right[at] + penalty;
    if (cost < task.wanted.relaxed) return false;
    if (cost >= task.wanted.lower || !fits(family, at)) return true;
    return point && point->left.bounds().lower + point->right.bounds().lower + penalty >= task.wanted.lower;
}

// Solves splits until all are closed. Where a split stays open although it was solved, less is wanted from now on.
void IntervalClaims::close(Task& task, Family& family) {
    for (;;) {
        const Bounds bounds = bounds_of(task, family);
        // The widest stretch that is open, between two points.
        std::size_t first = 0, last = 0, begin = 0;
        std::size_t next = 0;
        const auto end_stretch = [&](std::size_t end) {
            if (begin && end - begin > last - first) first = begin, last = end;
            begin = 0;
        };
        for (std::size_t at = 1; at + 1 < family.ends->size(); ++at) {
            while (next < family.points.size() && family.points[next].at < at) ++next;
            const Point* point =
                next < family.points.size() && family.points[next].at == at ? &family.points[next] : nullptr;
            if (point) end_stretch(at);
            if (is_closed(task, family, bounds, at, point))
                end_stretch(at);
            else if (point && point->solved) {
                const Cost penalty = solver_.loss().split_penalty, cost = bounds.left[at] + bounds.right[at] + penalty;
                task.wanted.relaxed = std::min(task.wanted.relaxed, cost);
                if (fits(family, at))
                    task.wanted.lower =
                        std::min(task.wanted.lower,
                                 std::max(cost, point->left.bounds().lower + point->right.bounds().lower + penalty));
            } else if (!begin)
                begin = at;
            if (point) end_stretch(at + 1);
        }
        end_stretch(family.ends->size() - 1);
        if (first == 0) return;
        if (!solves_) {
            task.wanted = reached(task, family);
            return;
        }
        solve_at(task, family, bounds, first + (last - first) / 2);
    }
}

void IntervalClaims::solve_at(const Task& task, Family& family, const Bounds& bounds, std::size_t at) {
    auto place = std::lower_bound(family.points.begin(), family.points.end(), at,
                                  [](const Point& point, std::size_t wanted) { return point.at < wanted; });
    if (place == family.points.end() || place->at != at) place = family.points.insert(place, Point{at});
    Point& point = *place;
    point.solved = true;
    point.left.claimed = point.right.claimed = false;
    const Loss& loss = solver_.loss();
    // As in the search: budgets are raised so that bounds say more of the neighbours.
    const Cost here = weight(task, family, at),
               before = place == family.points.begin() ? 0 : weight(task, family, (place - 1)->at),
               after = place + 1 == family.points.end() ? task.node.weight : weight(task, family, (place + 1)->at);
    const Cost budget = task.wanted.lower - loss.split_penalty + loss.slack(std::min(here - before, after - here)) / 2;
    Levels::Children& kids = levels_.at(task.level);
    solver_.builder().split(task.node, *family.column, (*family.ends)[at], kids.left, kids.right);
    const bool feasible = fits(family, at);
    const auto solve = [&](bool right, Cost limit) {
        const Node& rows = right ? kids.right : kids.left;
        const Shape shape = right ? family.share.right : family.share.left;
        Outcome outcome =
            solver_.solve(rows, {.shape = shape, .limit = limit, .keep_profile = true, .level = task.level + 1});
        Side& side = right ? point.right : point.left;
        side.relaxed = std::max({side.relaxed, outcome.relaxed, right ? bounds.right[at] : bounds.left[at]});
        side.lower = std::max(side.relaxed, feasible ? outcome.lower : 0);
        if (outcome.profile) side.known = {outcome.profile, 1};
        return side.bounds().lower;
    };
    const bool right_first = kids.right.rows > kids.left.rows;
    const Cost known = right_first ? bounds.left[at] : bounds.right[at];
    const Cost rest = budget - solve(right_first, budget - known);
    if (rest > known || !feasible) return void(solve(!right_first, std::max<Cost>(1, rest)));
    // What is known of the other side is enough, and becomes a claim about just its rows.
    Side& other = right_first ? point.left : point.right;
    other.relaxed = std::max(other.relaxed, known);
    other.lower = std::max(other.lower, other.relaxed);
}

// What all splits of a family cost at least, as far as it matters.
ClaimBounds IntervalClaims::reached(const Task& task, const Family& family) const {
    const Bounds bounds = bounds_of(task, family);
    ClaimBounds least = task.wanted;
    std::size_t next = 0;
    for (std::size_t at = 1; at + 1 < family.ends->size(); ++at) {
        while (next < family.points.size() && family.points[next].at < at) ++next;
        Cost cost = bounds.left[at] + bounds.right[at] + solver_.loss().split_penalty;
        least.relaxed = std::min(least.relaxed, cost);
        if (!fits(family, at)) continue;
        if (next < family.points.size() && family.points[next].at == at)
            cost = std::max(cost, family.points[next].left.bounds().lower + family.points[next].right.bounds().lower +
                                      solver_.loss().split_penalty);
        least.lower = std::min(least.lower, cost);
    }
    return least;
}

// The bound that one side of a point needs, given all others. Bounds between two points come from these two here, which
// is no more than the rules give.
Cost IntervalClaims::needed(const Task& task, const Family& family, std::size_t number, bool right) const {
    const std::vector<Point>& points = family.points;
    const Loss& loss = solver_.loss();
    const auto bound = [&](std::size_t i, bool of_right) {
        return of_right ? points[i].right.relaxed : points[i].left.relaxed;
    };
    std::size_t low = number, high = number;  // the neighbours that bound the same side
    while (low-- > 0 && bound(low, right) <= 0) {
    }
    while (++high < points.size() && bound(high, right) <= 0) {
    }
    const bool any_low = low < points.size(), any_high = high < points.size();
    const std::size_t from = any_low ? points[low].at + 1 : 1,
                      upto = any_high ? points[high].at : family.ends->size() - 1;
    const auto value = [&](bool known, std::size_t i, bool of_right) { return known ? bound(i, of_right) : 0; };
    const Cost own = weight(task, family, points[number].at), all = task.node.weight;
    Cost most = 0;
    std::size_t next = 0;  // the first point at or after the split that bounds the other side
    std::size_t last = points.size();
    const auto pass = [&](std::size_t at) {
        while (next < points.size() && (points[next].at < at || bound(next, !right) <= 0)) {
            if (bound(next, !right) > 0) last = next;
            ++next;
        }
    };
    for (std::size_t at = from; at < upto; ++at) {
        pass(at);
        const Cost here = weight(task, family, at);
        const auto from_left = [&](bool known, std::size_t i, Cost end, Cost end_bound) {
            return known ? bound(i, true) - loss.slack(here - weight(task, family, points[i].at))
                         : end_bound - loss.slack(here - end);
        };
        const auto from_right = [&](bool known, std::size_t i, Cost end, Cost end_bound) {
            return known ? bound(i, false) - loss.slack(weight(task, family, points[i].at) - here)
                         : end_bound - loss.slack(end - here);
        };
        Cost same, other;
        if (right) {
            same = std::max(value(any_high, high, true), from_left(any_low, low, 0, task.whole));
            other = std::max(value(last < points.size(), last, false),
                             from_right(next < points.size(), next, all, task.whole));
        } else {
            same = std::max(value(any_low, low, false), from_right(any_high, high, all, task.whole));
            other =
                std::max(value(next < points.size(), next, true), from_left(last < points.size(), last, 0, task.whole));
        }
        const Cost wanted = task.wanted.lower - loss.split_penalty - std::max<Cost>(0, other);
        if (same >= wanted) continue;
        const bool before = at < points[number].at;
        const Cost moved = right ? (before ? 0 : here - own) : (before ? own - here : 0);
        most = std::max(most, wanted + loss.slack(moved));
    }
    return most;
}

// With a minimum leaf size, points have bounds of two kinds: they go as a whole.
void IntervalClaims::thin_points(const Task& task, Family& family) const {
    const auto closed = [&] {
        const Bounds bounds = bounds_of(task, family);
        std::size_t next = 0;
        for (std::size_t at = 1; at + 1 < family.ends->size(); ++at) {
            while (next < family.points.size() && family.points[next].at < at) ++next;
            const bool own = next < family.points.size() && family.points[next].at == at;
            if (!is_closed(task, family, bounds, at, own ? &family.points[next] : nullptr)) return false;
        }
        return true;
    };
    for (std::size_t i = family.points.size(); i-- > 0;) {
        Point gone = std::move(family.points[i]);
        const auto place = family.points.erase(family.points.begin() + static_cast<std::ptrdiff_t>(i));
        if (!closed()) family.points.insert(place, std::move(gone));
    }
}

// Drops and lowers bounds that the proof does not need.
void IntervalClaims::thin(const Task& task, Family& family) const {
    if (solver_.context().constrained()) return thin_points(task, family);
    const Bounds bounds = bounds_of(task, family);
    for (Point& point : family.points) {
        point.left.relaxed = bounds.left[point.at];
        point.right.relaxed = bounds.right[point.at];
    }
    for (std::size_t i = 0; i < family.points.size(); ++i) {
        for (const bool right : {false, true}) {
            Side& side = right ? family.points[i].right : family.points[i].left;
            if (side.relaxed > 0) side.relaxed = std::min(side.relaxed, needed(task, family, i, right));
        }
    }
    for (Point& point : family.points) {
        point.left.lower = point.left.relaxed;
        point.right.lower = point.right.relaxed;
    }
    std::erase_if(family.points,
                  [](const Point& point) { return point.left.relaxed <= 0 && point.right.relaxed <= 0; });
}

ClaimNumber IntervalClaims::claim_side(const Task& task, const Family& family, const Point& point, bool right,
                                       Side& side) {
    const ClaimBounds bounds = side.bounds();
    if (bounds.lower <= 0) return 0;
    const Index position = (*family.ends)[point.at], rank = family.column->ranks[position - 1];
    const Shape shape = right ? family.share.right : family.share.left;
    const Where where =
        side_of(task.where, family.column->id, rank, right, solver_.context().table.tops[family.column->id]);
    if (const ClaimNumber known = log_.find(where, shape, bounds)) return known;
    if (shape.on(right ? task.node.rows - position : position).depth <= 2) return log_.add(where, shape, bounds);
    Levels::Children& kids = levels_.at(task.level);
    solver_.builder().split(task.node, *family.column, position, kids.left, kids.right);
    ClaimNumber number = 0;
    const ClaimBounds found =
        claim(right ? kids.right : kids.left, where, shape, bounds, side.known, task.level + 1, number);
    side.relaxed = found.relaxed;
    side.lower = found.lower;
    return number;
}

void IntervalClaims::claim_sides(const Task& task, Family& family) {
    for (Point& point : family.points) {
        for (const bool right : {false, true}) {
            Side& side = right ? point.right : point.left;
            if (!std::exchange(side.claimed, true)) side.claim = claim_side(task, family, point, right, side);
        }
    }
}

ClaimBounds IntervalClaims::claim(const Node& node, const Where& where, Shape shape, ClaimBounds wanted,
                                  const KnownSplits& known, std::size_t level, ClaimNumber& number) {
    const Shape own = shape.on(node.rows);
    const Cost leaf = leaf_cost_of(node, solver_.loss());
    wanted = {std::min(wanted.relaxed, leaf), std::min(wanted.lower, leaf)};
    wanted.relaxed = std::min(wanted.relaxed, wanted.lower);
    if (own.depth <= 2) {
        number = log_.add(where, shape, wanted);
        return wanted;
    }
    Task task{node, where, wanted, 0, level};
    ClaimLog::Cover cover{own, {}};
    ClaimNumber whole = 0;
    if (solves_ && own.depth == 3 && solver_.context().wide(node.columns.size())) {
        // At either end of a column one side has nearly all rows.
        const Shape less = Shape::of(2, own.splits - 1);
        task.whole = std::min(solver_.solve(node, {.shape = less, .level = level + 1}).relaxed, wanted.lower);
        if (task.whole > 0) whole = log_.add(where, less, {task.whole, task.whole});
    }
    std::vector<std::vector<Index>> ends;
    for (const NodeColumn& column : node.columns) ends.push_back(ends_of(column, node.rows));
    std::vector<Family> families;
    for (std::size_t c = 0; c < node.columns.size(); ++c)
        for (const Division& share : divisions(own)) families.push_back({&node.columns[c], share, &ends[c], {}});
    for (Family& family : families) {
        take_known(task, family, known);
        close(task, family);
    }
    for (Family& family : families) {
        thin(task, family);
        claim_sides(task, family);
        // With a minimum leaf size, less may have been claimed for a side than its neighbours need.
        if (!solves_ || !solver_.context().constrained()) continue;
        for (std::size_t points = 0; points != family.points.size();) {
            points = family.points.size();
            close(task, family);
            claim_sides(task, family);
        }
    }
    for (const Family& family : families) {
        task.wanted = reached(task, family);
        const auto add = [&](std::size_t at, ClaimNumber left, ClaimNumber right) {
            const Index rank = family.column->ranks[(*family.ends)[at] - 1];
            if (left || right) cover.points.push_back({family.column->id, family.share.left_splits, rank, left, right});
        };
        for (const Point& point : family.points) add(point.at, point.left.claim, point.right.claim);
        if (family.ends->size() > 2) {
            add(1, 0, whole);
            add(family.ends->size() - 2, whole, 0);
        }
    }
    task.wanted.relaxed = std::min(task.wanted.relaxed, task.wanted.lower);
    number = log_.add(where, shape, task.wanted, cover);
    return task.wanted;
}

}  // namespace provetree
