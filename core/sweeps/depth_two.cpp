// The depth-two solver; see sweeps/depth_two.hpp.
#include "sweeps/depth_two.hpp"

#include <algorithm>
#include <utility>

namespace provetree {

namespace {

bool before(const PanelPoint& a, const PanelPoint& b) { return a.position < b.position; }

// Merges a bound into a point of the same position.
void raise(PanelPoint& point, const PanelPoint& other) {
    for (const auto& [left, right] : kSides<PanelPoint>) {
        point.*left = std::max(point.*left, other.*left);
        point.*right = std::max(point.*right, other.*right);
    }
}

// Errors have a slack of one for each unit of weight.
Weight in_errors(Weight weight) { return weight; }

// Tightens all points from their neighbours and drops those not evaluated that say nothing more than these.
void tidy(std::vector<PanelPoint>& points) {
    tighten(points, in_errors);
    drop_implied(points, in_errors, [](const PanelPoint& point) { return point.evaluated; });
}

// Whole panels, at least two lanes for each column: small rounds, because each sharpens what the next looks at.
std::size_t lanes_per_round(std::size_t columns) {
    return std::max<std::size_t>(1, (columns * 2 + kLanes - 1) / kLanes) * kLanes;
}

bool few_values(const Node& node, const NodeColumn& column) { return column.groups < node.rows / 8; }

// Handing bounds on saves about a sixth of the sweeps of a relative (a third with many classes) and costs some
// microseconds per column: small nodes are solved faster from scratch.
bool worth_keeping(const Node& node) { return node.rows >= (node.by_class.size() > 2 ? 1000u : 6000u); }

}  // namespace

void DepthTwo::inherit(const Node& node, const NodeColumn& column, Relatives relatives,
                       std::vector<PanelPoint>& points) const {
    const auto add = [&](PanelPoint point, const Carried& at) {
        point.position = at.position;
        point.weight = at.weight;
        point.evaluated = false;
        points.push_back(point);
    };
    const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(points.size());
    if (const auto* inner = relatives.inner ? find_points(relatives.inner->panel, column.id) : nullptr)
        for (const PanelPoint& point : *inner) add(point, carry_from_subset(node, column, point, *relatives.inner));
    const std::ptrdiff_t from_inner = static_cast<std::ptrdiff_t>(points.size());
    if (const auto* outer = relatives.outer ? find_points(relatives.outer->panel, column.id) : nullptr) {
        for (PanelPoint point : *outer) {
            const Carried at = carry_from_superset(node, column, point, *relatives.outer);
            point.leaf_left = std::max(0, point.leaf_left - at.gone_left);
            point.stump_left = std::max(0, point.stump_left - at.gone_left);
            point.leaf_right = std::max(0, point.leaf_right - at.gone_right);
            point.stump_right = std::max(0, point.stump_right - at.gone_right);
            add(point, at);
        }
    }
    std::inplace_merge(points.begin() + first, points.begin() + from_inner, points.end(), before);
}

// A stump gets all but two classes wrong: with three or more, counting classes bounds splits before any sweep.
void DepthTwo::count_classes(const Node& node, const NodeColumn& column, std::vector<PanelPoint>& points) {
    // A point for every so many rows: together they cost about a sixteenth of a panel.
    const Index step = std::clamp<Index>(node.rows / 96, 64, 1024);
    const std::size_t n_classes = node.by_class.size();
    const bool by_code = node.unit_weights && n_classes <= entry::kSharedCode;
    seen_.assign(std::max<std::size_t>(n_classes, 8), 0);
    Index counted = 0;
    for (Index target = step; target < node.rows; target = counted + step) {
        // The end of the group of ties that the target lies in.
        const Index rank = column.ranks[target - 1];
        const Index position = column.no_ties ? target : Node::rows_up_to(column, rank, target, node.rows);
        if (position >= node.rows) break;
        if (by_code) {
            context_.kernel.count_codes(column.order + counted, position - counted, static_cast<int>(n_classes),
                                        seen_.data());
        } else {
            for (Index i = counted; i < position; ++i)
                seen_[node.classes[column.order[i] & entry::kRowMask]] +=
                    node.weights[column.order[i] & entry::kRowMask];
        }
        counted = position;
        Weight left[2] = {0, 0}, right[2] = {0, 0};  // the two largest classes of either side
        const auto add = [](Weight* largest, Weight weight) {
            largest[1] = std::max(largest[1], std::min(largest[0], weight));
            largest[0] = std::max(largest[0], weight);
        };
        for (std::size_t cls = 0; cls < n_classes; ++cls) {
            add(left, seen_[cls]);
            add(right, node.by_class[cls] - seen_[cls]);
        }
        const Weight weight_left = node.weight_left(column, position), weight_right = node.weight - weight_left;
        points.push_back({0, position, weight_left, weight_left - left[0], weight_right - right[0],
                          weight_left - left[0] - left[1], weight_right - right[0] - right[1], false});
    }
    context_.monitor.work(node.rows);
}

// What is known of a column's splits before any is evaluated.
void DepthTwo::know_column(const Node& node, std::size_t c, Relatives relatives, const PanelPoint& begin,
                           const PanelPoint& end) {
    std::vector<PanelPoint>& points = known_[c];
    points.clear();
    points.push_back(begin);
    if (relatives.inner || relatives.outer) {
        inherit(node, node.columns[c], relatives, points);
        merge_equal(points);
    }
    if (points.back().position == node.rows) {
        raise(points.back(), end);
        points.back().evaluated = true;
    } else {
        points.push_back(end);
    }
    if (points.size() > 2) tidy(points);
}

void DepthTwo::start(const Node& node, Relatives relatives) {
    next_points_.clear();
    next_regions_.clear();
    evaluated_.clear();
    if (known_.size() < node.columns.size()) known_.resize(node.columns.size());
    PanelPoint begin{0, 0, 0, 0, 0, 0, 0, true}, end{0, node.rows, node.weight, 0, 0, 0, 0, true};
    if (by_sizes_) begin.leaf_right = end.leaf_left = node.leaf_error();
    if (wide_) {
        // At either end of a column one side has all rows: splits near the ends cost about what no split does.
        column_stumps(context_, node, stumps_);
        best_stump_ = *std::min_element(stumps_.begin(), stumps_.end());
        column_costs_.assign(node.columns.size(), kInfinite);
        begin.leaf_right = end.leaf_left = node.leaf_error();
        begin.stump_right = end.stump_left = best_stump_;
    }
    const bool counts = node.by_class.size() > 2 && !context_.off(kNoClassCounts);
    if (context_.rules && labelled_sides_.size() < node.columns.size()) labelled_sides_.resize(node.columns.size());
    for (std::size_t c = 0; c < node.columns.size(); ++c) {
        know_column(node, c, relatives, begin, end);
        if (const int direction = direction_of(node.columns[c]); direction && !context_.off(kNoClassCounts)) {
            labelled_sides_[c].count(node, node.columns[c], direction);
            context_.monitor.work(node.rows);
        }
        if (counts) {
            // Not part of what is kept: relatives count for themselves.
            merged_ = known_[c];
            count_classes(node, node.columns[c], merged_);
            std::inplace_merge(merged_.begin(), merged_.begin() + static_cast<std::ptrdiff_t>(known_[c].size()),
                               merged_.end(), before);
            merge_equal(merged_);
            tidy(merged_);
        }
        find_open(node, static_cast<Index>(c), counts ? merged_ : known_[c]);
    }
    points_.swap(next_points_);
    regions_.swap(next_regions_);
}

// Adds the open regions of a column, given its points or a stretch of them.
void DepthTwo::find_open(const Node& node, Index c, const std::vector<PanelPoint>& points) {
    const NodeColumn& column = node.columns[c];
    labelled_ = direction_of(column) && !context_.off(kNoClassCounts) ? &labelled_sides_[c] : nullptr;
    const auto keep = [&](Positions open, Cost bound, std::size_t first, std::size_t last) {
        const std::uint32_t begin = static_cast<std::uint32_t>(next_points_.size());
        next_points_.insert(next_points_.end(), points.begin() + static_cast<std::ptrdiff_t>(first),
                            points.begin() + static_cast<std::ptrdiff_t>(last) + 1);
        // The points around it only bound it: whether they are open themselves is another region's business.
        for (PanelPoint* around : {&next_points_[begin], &next_points_.back()})
            if (around->position < open.first || around->position > open.last) around->evaluated = true;
        next_regions_.push_back({c, open, bound, begin, static_cast<std::uint32_t>(next_points_.size())});
    };
    find_stretches(column, points, true, keep);
}

DepthTwo::Portion DepthTwo::portion_of(const Node& node, int round) const {
    if (!wide_) {
        const std::size_t lanes = lanes_per_round(node.columns.size());
        return {lanes, lanes, false};
    }
    // Many columns: a good tree first, from the columns that are best by themselves, then a few columns at a time.
    constexpr std::size_t kFirstColumns = 16, kMostLanes = 16 * kLanes;
    constexpr int kFirstRounds = 4;
    constexpr Cost kMostForOne = 4;
    if (outcome_.upper <= limit_ && round < kFirstRounds) return {kFirstColumns, kLanes, true};
    // Below a split on a column that means nothing, errors fall to either side as rows do. Then w evenly spread splits
    // leave at least w / (w + 1) of the errors of the best stump between any two of them: so many lanes close such a
    // column.
    const Cost allowed = loss_.errors_for(cut()), spare = best_stump_ - allowed;
    const Cost lanes_each = spare > 0 ? std::clamp<Cost>((allowed + spare - 1) / spare, 1, kMostForOne) : kMostForOne;
    const std::size_t each = static_cast<std::size_t>(lanes_each),
                      regions = std::min(regions_.size(), kMostLanes / each);
    return {regions, (regions * each + kLanes - 1) / kLanes * kLanes, false};
}

void DepthTwo::choose_lanes(const Node& node, Portion portion) {
    lanes_.clear();
    lane_regions_.clear();
    chosen_.resize(regions_.size());
    for (std::size_t r = 0; r < chosen_.size(); ++r) chosen_[r] = static_cast<std::uint32_t>(r);
    // More regions than lanes: the most promising ones now, the others when the incumbent has improved.
    if (chosen_.size() > portion.regions) {
        std::nth_element(chosen_.begin(), chosen_.begin() + static_cast<std::ptrdiff_t>(portion.regions), chosen_.end(),
                         [&](std::uint32_t a, std::uint32_t b) {
                             const Region &one = regions_[a], &other = regions_[b];
                             if (portion.best_first && column_costs_[one.column] != column_costs_[other.column])
                                 return column_costs_[one.column] < column_costs_[other.column];
                             if (one.bound != other.bound) return one.bound < other.bound;
                             if (wide_ && stumps_[one.column] != stumps_[other.column])
                                 return stumps_[one.column] < stumps_[other.column];
                             return a < b;
                         });
        chosen_.resize(portion.regions);
        std::sort(chosen_.begin(), chosen_.end());
    }
    share_lanes(node, portion.lanes);
    for (std::size_t k = 0; k < chosen_.size(); ++k) {
        const Region& region = regions_[chosen_[k]];
        const NodeColumn& column = node.columns[region.column];
        const auto [wanted, splits, listed] = shares_[k];
        if (wanted == 0) continue;
        const bool all = splits > 0 && wanted == splits;
        const std::uint64_t half_step = (std::uint64_t{region.open.size()} << 31) / wanted;  // in parts of 2^32 rows
        const Weight reach = static_cast<Weight>(half_step >> 31);
        Index last = 0;
        for (std::uint64_t i = 0; i < wanted; ++i) {
            // Spaced by rows, which is what the bounds go by; where all splits get a lane, one after the other.
            const Index target = region.open.first + static_cast<Index>(((2 * i + 1) * half_step) >> 32);
            const Index position = all ? splits_found_[listed + i] : nearest_split(column, target, region.open);
            if (position <= last) continue;
            lanes_.push_back({region.column, position, reach});
            lane_regions_.push_back(chosen_[k]);
            last = position;
        }
    }
}

// One lane for each chosen region, the rest by size; what a region with few splits cannot use goes to the others.
void DepthTwo::share_lanes(const Node& node, std::size_t wanted_lanes) {
    splits_found_.clear();
    shares_.clear();
    std::uint64_t rows = 0;
    for (std::uint32_t r : chosen_) {
        const Region& region = regions_[r];
        const NodeColumn& column = node.columns[region.column];
        Share share{1, region.open.size(), splits_found_.size()};
        if (few_values(node, column)) {
            for (Index position = region.open.first; position <= region.open.last;) {
                if (Node::is_split(column, position)) splits_found_.push_back(position);
                position = Node::rows_up_to(column, column.ranks[position], position, region.open.last + 1);
            }
            share.splits = splits_found_.size() - share.listed;
            share.lanes = std::min<std::uint64_t>(1, share.splits);
        } else {
            share.listed = SIZE_MAX;  // every position, or nearly, is a split: none are listed
        }
        shares_.push_back(share);
        rows += region.open.size();
    }
    std::uint64_t left = wanted_lanes - chosen_.size();
    for (int pass = 0; pass < 3 && left > 0 && rows > 0; ++pass) {
        std::uint64_t seen = 0, given = 0, still_open = 0, used = 0;
        const std::uint64_t lanes_a_row = (left << 32) / rows;  // in parts of 2^32
        for (std::size_t k = 0; k < chosen_.size(); ++k) {
            Share& share = shares_[k];
            const std::uint64_t size = regions_[chosen_[k]].open.size();
            if (share.lanes >= share.splits) continue;
            seen += size;
            const std::uint64_t upto = seen == rows ? left : seen * lanes_a_row >> 32;
            const std::uint64_t more = std::min(upto - given, share.splits - share.lanes);
            given = upto;
            share.lanes += more;
            used += more;
            if (share.lanes < share.splits) still_open += size;
        }
        left -= used;
        rows = still_open;
    }
    for (Share& share : shares_)
        if (share.listed == SIZE_MAX) share.splits = 0;
}

void DepthTwo::evaluate_lanes(const Node& node) {
    results_.resize(lanes_.size());
    // Errors that both sides together may have while a split can still win.
    Cost most = cut();
    if (by_sizes_) most = std::max({most, cut_of_three(), std::min(limit_of_two_, two_.upper)});
    const Weight of_interest = static_cast<Weight>(std::min<Cost>(loss_.errors_for(most) + 1, node.weight));
    const bool pack = !context_.off(kNoPacking);
    for (std::size_t begin = 0, end; begin < lanes_.size(); begin = end) {
        end = std::min(lanes_.size(), begin + kLanes);
        if (!pack)
            for (std::size_t i = begin; i < end; ++i)
                if (lanes_[i].column != lanes_[begin].column) end = i;
        panel_.evaluate(node, lanes_.data() + begin, static_cast<int>(end - begin), of_interest,
                        results_.data() + begin);
    }
}

void DepthTwo::refine(const Node& node) {
    next_points_.clear();
    next_regions_.clear();
    std::size_t lane = 0;
    const bool same_cut = std::exchange(refined_cut_, cut()) == cut() && !by_sizes_ && !context_.closings.heard();
    for (std::uint32_t r = 0; r < regions_.size(); ++r) {
        const Region& region = regions_[r];
        const PanelPoint* old = points_.data() + region.begin;
        const PanelPoint* const old_end = points_.data() + region.end;
        if (same_cut && (lane == lanes_.size() || lane_regions_[lane] != r)) {
            // Nothing new is known of it.
            const std::uint32_t begin = static_cast<std::uint32_t>(next_points_.size());
            next_points_.insert(next_points_.end(), old, old_end);
            next_regions_.push_back(
                {region.column, region.open, region.bound, begin, static_cast<std::uint32_t>(next_points_.size())});
            continue;
        }
        merged_.clear();
        const bool touched = lane < lanes_.size() && lane_regions_[lane] == r;
        for (; lane < lanes_.size() && lane_regions_[lane] == r; ++lane) {
            while (old != old_end && old->position < lanes_[lane].position) merged_.push_back(*old++);
            if (old != old_end && old->position == lanes_[lane].position)
                ++old;  // only bounded so far: now it is settled
            const LaneResult& result = results_[lane];
            merged_.push_back({0, lanes_[lane].position,
                               node.weight_left(node.columns[region.column], lanes_[lane].position), result.left.leaf,
                               result.right.leaf, result.left.stump, result.right.stump, true});
            if (keep_profile_ || context_.constrained()) evaluated_.push_back({region.column, merged_.back()});
        }
        merged_.insert(merged_.end(), old, old_end);
        if (by_sizes_) {
            // At either end of a column one side has all rows.
            if (merged_.front().position == 0)
                merged_.front().stump_right = std::max(merged_.front().stump_right, whole_stump_);
            if (merged_.back().position == node.rows)
                merged_.back().stump_left = std::max(merged_.back().stump_left, whole_stump_);
        }
        if (touched && merged_.size() > 1 && !exact_) tidy(merged_);
        find_open(node, region.column, merged_);
    }
    points_.swap(next_points_);
    regions_.swap(next_regions_);
}

Cost DepthTwo::bound_of_small_sides(const Node& node) const {
    Cost least = kInfinite;
    for (std::size_t c = 0; c < node.columns.size(); ++c) {
        SmallSides small(node.columns[c]);
        const auto look = [&](const PanelPoint& point) {
            const SideBounds bounds = side_bounds(point, true, true);
            small.look(point.position, bounds.left, bounds.right);
        };
        for (const PanelPoint& point : known_[c]) look(point);
        for (const Evaluated& one : evaluated_)
            if (one.column == c) look(one.point);
        least = std::min(least, small.bound(node.rows, loss_));
    }
    return least;
}

ProfilePtr DepthTwo::make_profile(const Node& node) {
    auto profile = new_profile(context_, Shape{2, splits_}, node);
    if (!profile) return nullptr;
    profile->panel.resize(node.columns.size());
    std::sort(evaluated_.begin(), evaluated_.end(), [](const Evaluated& a, const Evaluated& b) {
        return a.column != b.column ? a.column < b.column : a.point.position < b.point.position;
    });
    std::size_t next = 0;
    for (std::size_t c = 0; c < node.columns.size(); ++c) {
        const NodeColumn& column = node.columns[c];
        profile->panel[c].id = column.id;
        std::vector<PanelPoint>& points = profile->panel[c].points;
        const std::vector<PanelPoint>& known = known_[c];
        std::size_t old = 0;
        points.reserve(known.size() + 16);
        for (; next < evaluated_.size() && evaluated_[next].column == c; ++next) {
            const PanelPoint& point = evaluated_[next].point;
            while (known[old].position < point.position) points.push_back(known[old++]);
            if (known[old].position == point.position) ++old;
            points.push_back(point);
            points.back().evaluated = false;
        }
        points.insert(points.end(), known.begin() + static_cast<std::ptrdiff_t>(old), known.end());
        tidy(points);
        // The empty left side has no rank; what it says of the whole node the other end says, too.
        points.erase(points.begin());
        for (PanelPoint& point : points) point.rank = column.ranks[point.position - 1];
    }
    return counted(context_, std::move(profile));
}

void DepthTwo::begin(const Node& node, const NodeRequest& request, const Loss& loss, TieChoice* ties) {
    TwoLevels::begin(node, request, loss, ties);
    keep_profile_ = keep_profile_ && worth_keeping(node);
    panel_.start();
    wide_ = context_.wide(node.columns.size());
    refined_cut_ = -1;
    // Costs that are no bounds but exact are what their neighbours say already.
    exact_ = node.by_class.size() <= 2 && !wide_ && !request.relatives.inner && !request.relatives.outer;
    plain_ = splits_ >= 3 && !context_.constrained() && !context_.rules && !context_.closings.heard();
    gaps_ = plain_ && exact_ && !keep_profile_;
}

Outcome DepthTwo::solve(const Node& node, const NodeRequest& request, const Loss& loss, TieChoice* ties) {
    begin(node, request, loss, ties);
    search(node, request.relatives);
    return std::exchange(outcome_, {});
}

TwoSizes DepthTwo::solve_sizes(const Node& node, const NodeRequest& request, const TwoLimits& limits,
                               const Loss& loss) {
    NodeRequest largest = request;
    largest.shape = Shape{2, 3};
    largest.limit = limits.four;
    begin(node, largest, loss, nullptr);
    begin_sizes(limits.three);
    limit_of_two_ = limits.two;
    two_ = {};
    two_.take(outcome_);
    whole_stump_ = 0;
    plain_ = gaps_ = false;
    search(node, request.relatives);
    if (two_.upper <= three_.upper) three_.take(two_);
    if (three_.upper <= outcome_.upper) outcome_.take(three_);
    TwoSizes found{two_, three_, outcome_, outcome_.profile};
    outcome_ = {};
    return found;
}

// The whole node as one side: its best stump is the best tree of two leaves, and a bound at the ends of every column.
void DepthTwo::add_whole_lane(const Node& node) {
    lanes_.push_back({static_cast<Index>(node.columns.size()) - 1, node.rows, 0});
    lane_regions_.push_back(~std::uint32_t{0});
}

void DepthTwo::take_whole_lane(const SideErrors& whole) {
    const SideCost cost = side_cost_of(whole, true);
    whole_stump_ = whole.stump;
    two_.relaxed = loss_.leaf(std::min(whole.leaf, whole.stump));
    if (cost.best < two_.upper) {
        two_.upper = cost.best;
        two_.plan = stump_plan();
        three_.offer(two_);
        outcome_.offer(two_);
    }
    two_.lower = context_.constrained() ? two_.upper : two_.relaxed;
}

void DepthTwo::search(const Node& node, Relatives relatives) {
    if (gaps_)
        start_exact(node);
    else
        start(node, context_.off(kNoInheritance) ? Relatives{} : relatives);
    for (int round = 0;; ++round) {
        Portion portion = portion_of(node, round);
        const bool whole = by_sizes_ && round == 0;
        if (whole && portion.lanes > 0) portion.regions = std::min(portion.regions, --portion.lanes);
        choose_lanes(node, portion);
        if (whole) add_whole_lane(node);
        if (lanes_.empty()) break;
        evaluate_lanes(node);
        if (whole) take_whole_lane(results_.back().left);
        if (gaps_) {
            refine_exact(node);
        } else {
            for (std::size_t i = 0; i + whole < lanes_.size(); ++i)
                label_leaves(node.columns[lanes_[i].column], results_[i]);
            for (std::size_t i = 0; i + whole < lanes_.size(); ++i) consider(node, lanes_[i], results_[i]);
            refine(node);
        }
        standing_.take(outcome_);
        standing_.lower = std::min(limit_, outcome_.upper);
        for (const Region& region : regions_)
            standing_.lower = std::min(standing_.lower, region.bound + loss_.split_penalty);
    }
    settle([&] { return bound_of_small_sides(node); });
    if (keep_profile_) outcome_.profile = make_profile(node);
}

// The sides of a split on a column with a direction, as leaves of the classes that it says.
void DepthTwo::label_leaves(const NodeColumn& column, LaneResult& result) const {
    const int direction = direction_of(column);
    if (!direction) return;
    const int of_left = label_of(direction, false);
    result.left.leaf = result.left.labelled[of_left];
    result.right.leaf = result.right.labelled[1 - of_left];
}

// A split with its sides as leaves or stumps, as the split budget allows.
void DepthTwo::consider(const Node& node, const Lane& lane, const LaneResult& result) {
    if (wide_) {
        Cost& least = column_costs_[lane.column];
        least = std::min<Cost>(least, Cost{result.left.stump} + result.right.stump);
    }
    const NodeColumn& column = node.columns[lane.column];
    if (plain_) {
        const SideCost left = side_cost_of(result.left, true), right = side_cost_of(result.right, true);
        if (left.best + right.best + loss_.split_penalty <= outcome_.upper) offer(column, lane.position, left, right);
        return;
    }
    const int direction = direction_of(column);
    const Cost own = own_cost(column);
    Cost bound = kInfinite;
    share_splits(column, [&](bool split_left, bool split_right) {
        const Cost relaxed = own + side_cost(result.left.leaf, result.left.stump, split_left) +
                             side_cost(result.right.leaf, result.right.stump, split_right);
        const SideCost left = side_cost_of(result.left, split_left), right = side_cost_of(result.right, split_right);
        Cost& least = by_sizes_ && !(split_left && split_right) ? relaxed_of_three_ : relaxed_;
        least = std::min(least, relaxed);
        bound = std::min(bound, context_.constrained() ? std::min(kInfinite, own + left.best + right.best) : relaxed);
        if (direction)
            offer_labelled(column, lane.position, direction, left, right);
        else
            offer(column, lane.position, left, right);
    });
    close(column, {lane.position, lane.position}, bound, Reason::kTried);
}

// The same as `offer`, with leaves that predict what the direction says.
void DepthTwo::offer_labelled(const NodeColumn& column, Index position, int direction, SideCost left, SideCost right) {
    const Cost total = std::min(kInfinite, left.best + right.best + own_cost(column));
    if (total >= outcome_.upper) return;
    outcome_.upper = total;
    const auto plan_of = [&](SideCost side, bool is_right) {
        return side.best < side.leaf ? stump_plan() : leaf_plan(label_of(direction, is_right));
    };
    outcome_.plan = split_plan(column.id, column.ranks[position - 1], plan_of(left, false), plan_of(right, true));
}

DepthTwo::SideCost DepthTwo::side_cost_of(const SideErrors& side, bool split) const {
    const Cost leaf = side.feasible_leaf ? loss_.leaf(side.leaf) : kInfinite;
    return {leaf, split && side.feasible_split >= 0 ? std::min(leaf, loss_.stump(side.feasible_split)) : leaf};
}

}  // namespace provetree
