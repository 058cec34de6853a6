// The depth-two solver of measures; see measures/depth_two.hpp.
#include "measures/depth_two.hpp"

#include <algorithm>
#include <utility>

namespace provetree {

namespace {

// Of a column, for splits that the minimum leaf size forbids.
constexpr int kPanelsOfSmallSides = 2;

bool before(const MeasuredPoint& a, const MeasuredPoint& b) { return a.position < b.position; }

}  // namespace

// More rows never cost less, and never more than their reach.
void MeasuredDepthTwo::tidy(Points& points) const {
    const auto in_units = [&](Weight weight) { return measure_->units_per_reach() * weight; };
    if (!context_.off(kNoLipschitz)) {
        tighten(points, in_units);
        drop_implied(points, in_units, [](const MeasuredPoint& point) { return point.evaluated; });
        return;
    }
    for (std::size_t i = 1; i < points.size(); ++i)
        for (const auto& [left, right] : kSides<MeasuredPoint>)
            points[i].*left = std::max(points[i].*left, points[i - 1].*left);
    for (std::size_t i = points.size(); i-- > 1;)
        for (const auto& [left, right] : kSides<MeasuredPoint>)
            points[i - 1].*right = std::max(points[i - 1].*right, points[i].*right);
}

// What relatives and a survey know of a column's splits.
void MeasuredDepthTwo::know_column(const Node& node, Index c, Relatives relatives, const Points* surveyed) {
    const NodeColumn& column = node.columns[c];
    Points& points = points_[c];
    points.clear();
    points.push_back({0, 0, 0, 0, 0, 0, 0, true});
    const auto add = [&](MeasuredPoint point, const Carried& at) {
        point.position = at.position;
        point.weight = at.weight;
        point.evaluated = at.position == 0 || at.position == node.rows;
        points.push_back(point);
    };
    if (const Points* inner = relatives.inner ? find_points(relatives.inner->measured, column.id) : nullptr)
        for (const MeasuredPoint& point : *inner) add(point, carry_from_subset(node, column, point, *relatives.inner));
    if (const Points* outer = relatives.outer ? find_points(relatives.outer->measured, column.id) : nullptr) {
        for (MeasuredPoint point : *outer) {
            const Carried at = carry_from_superset(node, column, point, *relatives.outer);
            const Cost left = measure_->units_per_reach() * at.gone_left,
                       right = measure_->units_per_reach() * at.gone_right;
            point.leaf_left = std::max<Cost>(0, point.leaf_left - left);
            point.stump_left = std::max<Cost>(0, point.stump_left - left);
            point.leaf_right = std::max<Cost>(0, point.leaf_right - right);
            point.stump_right = std::max<Cost>(0, point.stump_right - right);
            add(point, at);
        }
    }
    if (surveyed) points.insert(points.end(), surveyed->begin(), surveyed->end());
    points.push_back({0, node.rows, node.weight, node.leaf_units, 0, 0, 0, true});
    points.front().leaf_right = node.leaf_units;
    if (points.size() == 2) return;
    std::stable_sort(points.begin(), points.end(), before);
    merge_equal(points);
    tidy(points);
}

Cost MeasuredDepthTwo::find_open(const NodeColumn& column, const Points& points, Cost room, bool closing) {
    Cost least = kInfinite;
    open_.clear();
    find_stretches(column, points, room, closing, [&](Positions open, Cost bound, std::size_t, std::size_t) {
        open_.push_back({open, bound});
        least = std::min(least, bound);
    });
    return least;
}

// Lanes spread over the open splits of a column, by rows; all of them where there is a lane for each.
void MeasuredDepthTwo::choose_lanes(const Node& node, const NodeColumn& column) {
    lanes_.clear();
    if (column.groups <= panel_->lanes_at_once(node)) {
        for (const Stretch& stretch : open_) {
            const auto next = [&](Index at) { return Node::rows_up_to(column, column.ranks[at], at, node.rows); };
            Index at = stretch.open.first;
            if (!Node::is_split(column, at)) at = next(at);
            for (; at <= stretch.open.last; at = next(at)) lanes_.push_back(at);
        }
        return;
    }
    std::uint64_t rows = 0;
    for (const Stretch& stretch : open_) rows += stretch.open.size();
    const std::uint64_t wanted = std::min<std::uint64_t>(panel_->lanes_at_once(node), rows);
    std::uint64_t seen = 0;
    std::size_t next = 0;
    for (const Stretch& stretch : open_) {
        const std::uint64_t size = stretch.open.size();
        for (; next < wanted; ++next) {
            const std::uint64_t at = (2 * next + 1) * rows / (2 * wanted);
            if (at >= seen + size) break;
            const Index target = stretch.open.first + static_cast<Index>(at - seen);
            const Index position = nearest_split(column, target, stretch.open);
            if (position && (lanes_.empty() || position > lanes_.back())) lanes_.push_back(position);
        }
        seen += size;
    }
    if (!lanes_.empty()) return;
    // Every lane fell into a group of ties that ends elsewhere: the middle of a stretch is always near a split.
    lanes_.push_back(nearest_split(column, open_.front().open.middle(), open_.front().open));
}

void MeasuredDepthTwo::add_points(const Node& node, Index c) {
    const NodeColumn& column = node.columns[c];
    Points& points = points_[c];
    merged_.clear();
    std::size_t old = 0;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        while (points[old].position < lanes_[i]) merged_.push_back(points[old++]);
        if (points[old].position == lanes_[i]) ++old;
        const LaneUnits& units = results_[i];
        merged_.push_back({column.ranks[lanes_[i] - 1], lanes_[i], node.weight_left(column, lanes_[i]), units.left.leaf,
                           units.right.leaf, units.left.stump, units.right.stump, true});
    }
    merged_.insert(merged_.end(), points.begin() + static_cast<std::ptrdiff_t>(old), points.end());
    points.swap(merged_);
    tidy(points);
}

void MeasuredDepthTwo::settle_column(const Node& node, Index c) {
    const NodeColumn& column = node.columns[c];
    while (find_open(column, points_[c], room(column), true) < kInfinite) evaluate_open(node, c, column);
}

void MeasuredDepthTwo::evaluate_open(const Node& node, Index c, const NodeColumn& column) {
    choose_lanes(node, column);
    results_.resize(lanes_.size());
    panel_->evaluate(node, c, lanes_.data(), static_cast<int>(lanes_.size()), results_.data());
    ++context_.counters.panels;
    context_.counters.lanes += lanes_.size();
    consider_lanes(node, column);
    add_points(node, c);
}

// The most promising lanes first, so that the others need not be exact.
void MeasuredDepthTwo::consider_lanes(const Node& node, const NodeColumn& column) {
    const auto bound = [&](std::size_t i) {
        const LaneUnits& units = results_[i];
        return point_bound(
            MeasuredPoint{0, lanes_[i], 0, units.left.leaf, units.right.leaf, units.left.stump, units.right.stump},
            one_side_is_leaf(column));
    };
    by_bound_.clear();
    for (std::size_t i = 0; i < lanes_.size(); ++i) by_bound_.push_back({bound(i), static_cast<Index>(i)});
    std::sort(by_bound_.begin(), by_bound_.end());
    for (const auto& [least, i] : by_bound_) {
        LaneUnits& units = results_[i];
        if (!units.exact && least < room(column)) panel_->refine(node, static_cast<int>(i), units);
        if (units.exact)
            consider(column, lanes_[i], units);
        else
            close(column, {lanes_[i], lanes_[i]}, least + loss_.split_penalty, Reason::kSplitBound);
    }
}

void MeasuredDepthTwo::begin(const Node& node, const NodeRequest& request, const Loss& loss, TieChoice* ties) {
    TwoLevels::begin(node, request, loss, ties);
    if (measure_ != node.measure) {
        measure_ = node.measure;
        panel_ = make_lane_panel(context_, *measure_);
    }
    standing_.take(outcome_);
    panel_->start(node);
}

Outcome MeasuredDepthTwo::solve(const Node& node, const NodeRequest& request, const Loss& loss, TieChoice* ties) {
    begin(node, request, loss, ties);
    if (points_.size() < node.columns.size()) points_.resize(node.columns.size());
    waiting_.clear();
    const Relatives relatives = context_.off(kNoInheritance) ? Relatives{} : request.relatives;
    for (Index c = 0; c < node.columns.size(); ++c) {
        know_column(node, c, relatives, nullptr);
        waiting_.push_back({open_bound(node, c), c});
    }
    look_around(node, relatives);
    std::sort(waiting_.begin(), waiting_.end());
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
        standing_.lower = std::min({limit_, outcome_.upper, waiting_[i].bound + loss_.split_penalty});
        settle_column(node, waiting_[i].column);
        standing_.take(outcome_);
    }
    settle([&] { return bound_of_small_sides(node); });
    if (keep_profile_) outcome_.profile = make_profile(node);
    return std::exchange(outcome_, {});
}

// Lets a survey tell more of the columns that are open.
void MeasuredDepthTwo::look_around(const Node& node, Relatives relatives) {
    std::size_t open = 0;
    wanted_.assign(node.columns.size(), 0);
    for (const Waiting& waiting : waiting_) open += wanted_[waiting.column] = waiting.bound < kInfinite;
    if (!panel_->survey_pays(node, open, relatives.inner || relatives.outer)) return;
    const std::vector<Points>* const surveyed = panel_->survey(node, wanted_);
    if (!surveyed) return;
    for (Waiting& waiting : waiting_) {
        if (!wanted_[waiting.column]) continue;
        know_column(node, waiting.column, relatives, &(*surveyed)[waiting.column]);
        waiting.bound = open_bound(node, waiting.column);
    }
}

// A split with its sides as leaves or stumps, as the split budget allows.
void MeasuredDepthTwo::consider(const NodeColumn& column, Index position, const LaneUnits& units) {
    Cost bound = kInfinite;
    share_splits(column, [&](bool split_left, bool split_right) {
        const Cost relaxed = loss_.split_penalty + side_cost(units.left.leaf, units.left.stump, split_left) +
                             side_cost(units.right.leaf, units.right.stump, split_right);
        relaxed_ = std::min(relaxed_, relaxed);
        bound = std::min(bound, relaxed);
        offer(column, position, side_cost_of(units.left, split_left), side_cost_of(units.right, split_right));
    });
    close(column, {position, position}, bound, Reason::kTried);
}

MeasuredDepthTwo::SideCost MeasuredDepthTwo::side_cost_of(const SideUnits& side, bool split) const {
    const Cost leaf = side.feasible_leaf ? loss_.measured(side.leaf) : kInfinite;
    if (!split || side.feasible_split >= kInfinite) return {leaf, leaf};
    return {leaf, std::min(leaf, loss_.measured(side.feasible_split) + loss_.split_penalty)};
}

// Splits too near an end are no part of the search, but they are one of what bounds neighbours: a few panels raise that
// to what the search has proven.
Cost MeasuredDepthTwo::bound_of_small_sides(const Node& node) {
    Cost least = kInfinite;
    for (Index c = 0; c < node.columns.size(); ++c) {
        NodeColumn column = node.columns[c];
        column.first_split = 1;
        column.last_split = node.rows - 1;
        for (int panels = 0;; ++panels) {
            const Cost room = std::min(outcome_.lower, relaxed_) - loss_.split_penalty;
            const Cost open = find_open(column, points_[c], room, false);
            if (open < kInfinite && panels < kPanelsOfSmallSides) {
                evaluate_open(node, c, column);
                continue;
            }
            least = std::min(least, open + loss_.split_penalty);
            break;
        }
    }
    return least;
}

ProfilePtr MeasuredDepthTwo::make_profile(const Node& node) {
    auto profile = new_profile(context_, Shape{2, splits_}, node);
    if (!profile) return nullptr;
    profile->measured.resize(node.columns.size());
    for (std::size_t c = 0; c < node.columns.size(); ++c) {
        const NodeColumn& column = node.columns[c];
        profile->measured[c].id = column.id;
        Points& points = profile->measured[c].points;
        // The empty left side has no rank; what it says of the whole node the other end says, too.
        points.assign(points_[c].begin() + 1, points_[c].end());
        for (MeasuredPoint& point : points) {
            point.rank = column.ranks[point.position - 1];
            point.evaluated = false;
        }
    }
    return counted(context_, std::move(profile));
}

}  // namespace provetree
