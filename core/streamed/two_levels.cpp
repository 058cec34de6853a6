// Rounds of splits over columns that are not kept; see streamed/two_levels.hpp.
#include "streamed/two_levels.hpp"

#include <algorithm>
#include <limits>

#include "sweeps/open_splits.hpp"

namespace provetree {

namespace {

constexpr Weight kNoStump = std::numeric_limits<Weight>::max() / 2;
// Marks of a round take up to so much memory, in panels of eight bytes for each row.
constexpr std::size_t kMostMarks = std::size_t{16} << 20, kMostPanels = 16;
// A round orders columns that are not kept, which takes about as long as so many panels.
constexpr std::size_t kPanelsForOrdering = 4;
constexpr Cost kMostForOne = 4;

Weight in_errors(Weight weight) { return weight; }

std::uint64_t lanes_from(std::size_t begin, std::size_t end) {
    const std::uint64_t below_end = end >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << end) - 1;
    return below_end & ~((std::uint64_t{1} << begin) - 1);
}

}  // namespace

StreamedTwo::StreamedTwo(Context& context, const Node& root, const SumColumns& sums, const Loss& loss,
                         std::int64_t splits, std::size_t room)
    : context_(context), root_(root), sums_(sums), loss_(loss), splits_(splits), room_(room),
      two_classes_(root.by_class.size() <= 2 && !context.constrained()),
      width_two_(root.largest_weight <= 127 ? LaneWidth::k8
                 : root.weight <= 32767     ? LaneWidth::k16
                                            : LaneWidth::k32),
      width_many_(root.weight <= 32767 && root.count <= 32767 ? LaneWidth::k16 : LaneWidth::k32), kept_(sums.size()),
      constant_(sums.size(), 0) {}

const NodeColumn* StreamedTwo::load(std::size_t c) {
    if (c < root_.columns.size()) return &root_.columns[c];
    const std::size_t sum = c - root_.columns.size();
    if (constant_[sum]) return nullptr;
    const KeptOrder& kept = kept_[sum];
    answer_.ordered += kept.order.empty();
    context_.monitor.work(root_.rows);
    if (!sums_.load(sum, loaded_, kept.order.empty() ? nullptr : kept.order.data())) {
        constant_[sum] = 1;
        return nullptr;
    }
    return &loaded_.column;
}

// All columns as sweeps see them; orders are kept as long as there is room.
template <class Use>
void StreamedTwo::each_order(const Use& use) {
    for (std::size_t c = 0; c < n_columns(); ++c) {
        KeptOrder* const kept = c < root_.columns.size() ? nullptr : &kept_[c - root_.columns.size()];
        if (kept && !kept->order.empty()) {
            use(c, SweepColumn{kept->order.data(), root_.rows, kept->checks, kept->no_ties});
            continue;
        }
        const NodeColumn* const column = load(c);
        if (!column) continue;
        const std::size_t bytes = (root_.rows + kRoomAfter) * sizeof(std::uint32_t);
        keeps_all_ &= !kept || bytes <= room_;
        if (kept && bytes <= room_) {
            room_ -= bytes;
            kept->order.resize(root_.rows + kRoomAfter);
            std::copy(column->order, column->order + root_.rows + 1, kept->order.begin());
            kept->checks = column->checks;
            kept->no_ties = column->no_ties;
        }
        use(c, SweepColumn{column->order, root_.rows, column->checks, column->no_ties});
    }
}

ColumnStump StreamedTwo::stump_of(const NodeColumn& column) {
    const auto count = [&](Index position) {
        const Index row = column.order[position] & entry::kRowMask;
        return seen_[root_.classes[row]] += root_.weights[row];
    };
    // The largest class weight among the rows from i on, then among those before.
    seen_.assign(root_.by_class.size(), 0);
    after_.assign(root_.rows + std::size_t{1}, 0);
    Weight largest = 0;
    for (Index i = root_.rows; i > 0; --i) after_[i - 1] = largest = std::max(largest, count(i - 1));
    std::fill(seen_.begin(), seen_.end(), 0);
    largest = 0;
    ColumnStump best{kNoStump, kNoStump};
    for (Index i = 1; i < root_.rows; ++i) {
        largest = std::max(largest, count(i - 1));
        if (!Node::is_split(column, i)) continue;
        const Weight errors = root_.weight - largest - after_[i];
        best.relaxed = std::min(best.relaxed, errors);
        if (i >= column.first_split && i <= column.last_split) best.feasible = std::min(best.feasible, errors);
    }
    context_.monitor.work(2 * std::uint64_t{root_.rows});
    return best;
}

std::vector<ColumnStump> StreamedTwo::stumps() {
    std::vector<ColumnStump> found(n_columns(), {kNoStump, kNoStump});
    for (std::size_t c = 0; c < n_columns(); ++c)
        if (const NodeColumn* const column = load(c)) found[c] = stump_of(*column);
    return found;
}

Cost StreamedTwo::side_cost(Weight leaf, Weight stump, bool split) const {
    const Cost as_leaf = loss_.leaf(leaf);
    return split ? std::min(as_leaf, loss_.stump(stump)) : as_leaf;
}

// What is open between two points: weights on the left, and what splits there cost at least. False: nothing.
bool StreamedTwo::range_between(const Point& a, const Point& b, Region& region) const {
    const Cost cut = upper_ - loss_.split_penalty;
    bool open = false;
    const auto look = [&](bool split_left, bool split_right) {
        const auto bounds = [&](const Point& point) {
            return SideBounds{side_cost(point.leaf_left, point.stump_left, split_left),
                              side_cost(point.leaf_right, point.stump_right, split_right), point.weight};
        };
        const OpenRange range = open_range(bounds(a), bounds(b), cut, loss_, !context_.off(kNoLipschitz));
        const Weight from = std::max(range.from, a.weight + 1), upto = std::min(range.upto, b.weight - 1);
        if (!range.open || from > upto) return;
        region.from = open ? std::min(region.from, from) : from;
        region.upto = open ? std::max(region.upto, upto) : upto;
        region.bound = open ? std::min(region.bound, range.bound) : range.bound;
        open = true;
    };
    if (splits_ >= 3) {
        look(true, true);
    } else {
        look(false, true);
        look(true, false);
    }
    return open;
}

void StreamedTwo::find_regions() {
    regions_.clear();
    for (std::size_t c = 0; c < points_.size(); ++c) {
        for (std::size_t i = 0; i + 1 < points_[c].size(); ++i) {
            Region region{c, i, 0, 0, 0};
            if (!points_[c][i].nothing_after && range_between(points_[c][i], points_[c][i + 1], region))
                regions_.push_back(region);
        }
    }
}

// The most promising regions, as many as the panels of a round hold, and how many splits of each are looked at.
void StreamedTwo::choose_regions(std::size_t& each) {
    const std::size_t marks = root_.rows * sizeof(std::uint64_t);
    const std::size_t most_panels = std::clamp<std::size_t>(kMostMarks / marks, 1, kMostPanels);
    // Below a split on a column that means nothing, errors fall to either side as rows do: so many splits close it.
    const Cost allowed = loss_.errors_for(upper_), spare = best_stump_ - allowed;
    each = static_cast<std::size_t>(spare > 0 ? std::clamp<Cost>((allowed + spare - 1) / spare, 1, kMostForOne)
                                              : kMostForOne);
    const std::size_t most = std::max<std::size_t>(1, most_panels * kLanes / each);
    chosen_.resize(regions_.size());
    for (std::size_t r = 0; r < chosen_.size(); ++r) chosen_[r] = static_cast<std::uint32_t>(r);
    if (chosen_.size() > most) {
        std::nth_element(chosen_.begin(), chosen_.begin() + static_cast<std::ptrdiff_t>(most), chosen_.end(),
                         [&](std::uint32_t a, std::uint32_t b) {
                             const Region &one = regions_[a], &other = regions_[b];
                             if (one.bound != other.bound) return one.bound < other.bound;
                             if (stump_[one.column] != stump_[other.column])
                                 return stump_[one.column] < stump_[other.column];
                             return a < b;
                         });
        chosen_.resize(most);
        std::sort(chosen_.begin(), chosen_.end());
    }
    // A few regions get more splits each: the round costs about the same.
    const std::size_t panels = std::min(most_panels, keeps_all_ ? std::size_t{1} : kPanelsForOrdering);
    each = std::max(each, panels * kLanes / chosen_.size());
}

void StreamedTwo::mark_splits(std::size_t each) {
    n_panels_ = 0;
    for (std::size_t k = 0; k < chosen_.size();) {
        const std::size_t c = regions_[chosen_[k]].column;
        const NodeColumn* const column = load(c);
        std::size_t first_panel = n_panels_ ? n_panels_ - 1 : 0;
        std::size_t first_split = n_panels_ ? panels_[first_panel].splits.size() : 0;
        for (; k < chosen_.size() && regions_[chosen_[k]].column == c; ++k) {
            if (column)
                add_splits(regions_[chosen_[k]], *column, each);
            else
                points_[c][regions_[chosen_[k]].point].nothing_after = true;
        }
        for (std::size_t p = first_panel; p < n_panels_; ++p, first_split = 0)
            if (panels_[p].splits.size() > first_split) mark(*column, panels_[p], first_split);
    }
}

// Up to so many splits of a region, evenly spread over its rows.
void StreamedTwo::add_splits(const Region& region, const NodeColumn& column, std::size_t wanted) {
    Positions open{static_cast<Index>(region.from), static_cast<Index>(region.upto)};
    if (column.weight_before) {
        const Weight *begin = column.weight_before, *end = begin + root_.rows + 1;
        open.first = static_cast<Index>(std::lower_bound(begin, end, region.from) - begin);
        open.last = static_cast<Index>(std::upper_bound(begin, end, region.upto) - begin) - 1;
    }
    open.first = std::max(open.first, column.first_split);
    open.last = std::min(open.last, column.last_split);
    Index last = 0;
    for (std::uint64_t i = 0; i < wanted && !open.empty(); ++i) {
        const Index target = open.first + static_cast<Index>((2 * i + 1) * open.size() / (2 * wanted));
        const Index position = nearest_split(column, target, open);
        if (position <= last) continue;
        last = position;
        if (n_panels_ == 0 || panels_[n_panels_ - 1].splits.size() == static_cast<std::size_t>(kLanes)) {
            if (panels_.size() == n_panels_) panels_.emplace_back();
            Marked& fresh = panels_[n_panels_++];
            fresh.splits.clear();
            fresh.masks.assign(root_.rows, 0);
        }
        panels_[n_panels_ - 1].splits.push_back({region.column, root_.weight_left(column, position)});
    }
    // What is open only shrinks from round to round, so that nothing is here for good.
    if (last == 0) points_[region.column][region.point].nothing_after = true;
}

// Marks the rows on the left of the splits of a panel from `begin` on, all of one column, by rising weight.
void StreamedTwo::mark(const NodeColumn& column, Marked& panel, std::size_t begin) {
    const std::size_t end = panel.splits.size();
    Index position = 0;
    for (std::size_t lane = begin; lane < end; ++lane) {
        const std::uint64_t set = lanes_from(lane, end);
        for (; root_.weight_left(column, position) < panel.splits[lane].weight; ++position)
            panel.masks[column.order[position] & entry::kRowMask] |= set;
    }
    context_.monitor.work(position);
}

void StreamedTwo::start_sums() {
    for (std::size_t p = 0; p < n_panels_; ++p) {
        TwoClassSums& two = panels_[p].two;
        for (auto* extremes : {two.max_left, two.min_left, two.max_right, two.min_right})
            std::fill_n(extremes, kLanes, 0);
        ManyClassSums& many = panels_[p].many;
        for (auto* best : {many.best_left, many.best_right}) std::fill_n(best, kLanes, 0);
        for (auto* feasible : {many.feasible_left, many.feasible_right}) std::fill_n(feasible, kLanes, kNoSplit);
    }
}

void StreamedTwo::sweep(const SweepColumn& column, Marked& panel) {
    const int lanes = static_cast<int>(panel.splits.size());
    if (two_classes_ && root_.unit_weights) {
        context_.kernel.sweep_unit(column, panel.masks.data(), 1, 0, lanes, panel.two);
    } else if (two_classes_) {
        context_.kernel.sweep_weighted(column, panel.masks.data(), root_.steps.data(), width_two_, lanes, panel.two);
    } else {
        const std::size_t bytes = sweep_scratch_bytes(root_.by_class.size(), column.checks);
        if (scratch_.size() < bytes) scratch_.resize(bytes);
        const RowData rows{root_.classes.data(), root_.weights.data(), root_.counts.data()};
        const std::int32_t least = static_cast<std::int32_t>(std::min<std::int64_t>(context_.min_leaf, 1 << 30));
        context_.kernel.sweep_classes(column, panel.masks.data(), rows, static_cast<int>(root_.by_class.size()), least,
                                      width_many_, lanes, scratch_.data(), panel.many);
    }
    context_.counters.row_steps += column.rows;
    context_.monitor.work(column.rows);
}

LaneResult StreamedTwo::result_of(const Marked& panel, int lane) const {
    const Weight left = panel.splits[static_cast<std::size_t>(lane)].weight, right = root_.weight - left;
    if (two_classes_) {
        const auto side = [](Weight weight, std::int32_t total, std::int32_t highest, std::int32_t lowest) {
            // As in sweeps/panel.cpp: the running sum is ones less zeros.
            const Weight ones = (weight + total) / 2, zeros = weight - ones;
            const Weight leaf = std::min(ones, zeros);
            const Weight stump = std::min(leaf, weight - std::max(zeros + highest, ones - lowest));
            return SideErrors{leaf, stump, stump, true};
        };
        const TwoClassSums& sums = panel.two;
        return {side(left, sums.total_left[lane], sums.max_left[lane], sums.min_left[lane]),
                side(right, sums.total_right[lane], sums.max_right[lane], sums.min_right[lane])};
    }
    const auto side = [&](Weight weight, std::int32_t leaf, std::int32_t best, std::int32_t feasible,
                          std::int32_t count) {
        const Weight leaf_error = weight - leaf, stump_error = std::min(leaf_error, weight - best);
        if (!context_.constrained()) return SideErrors{leaf_error, stump_error, stump_error, true};
        return SideErrors{leaf_error, stump_error, feasible == kNoSplit ? -1 : weight - feasible,
                          count >= context_.min_leaf};
    };
    const ManyClassSums& sums = panel.many;
    return {
        side(left, sums.leaf_left[lane], sums.best_left[lane], sums.feasible_left[lane], sums.rows_left[lane]),
        side(right, sums.leaf_right[lane], sums.best_right[lane], sums.feasible_right[lane], sums.rows_right[lane])};
}

void StreamedTwo::take_results() {
    for (std::size_t p = 0; p < n_panels_; ++p) {
        const Marked& panel = panels_[p];
        ++context_.counters.panels;
        context_.counters.lanes += panel.splits.size();
        for (std::size_t lane = 0; lane < panel.splits.size(); ++lane) {
            const Split& split = panel.splits[lane];
            const LaneResult result = result_of(panel, static_cast<int>(lane));
            consider(split, result);
            std::vector<Point>& points = points_[split.column];
            const auto after =
                std::upper_bound(points.begin(), points.end(), split.weight,
                                 [](Weight weight, const Point& point) { return weight < point.weight; });
            points.insert(after, {split.weight, result.left.leaf, result.right.leaf, result.left.stump,
                                  result.right.stump, false});
        }
    }
    std::size_t last = n_columns();
    for (const std::uint32_t r : chosen_)
        if (const std::size_t c = regions_[r].column; c != last) tighten(points_[last = c], in_errors);
}

// What a side costs in a tree with the minimum leaf size; kInfinite: too few rows.
Cost StreamedTwo::side_of_tree(const SideErrors& side, bool split) const {
    const Cost leaf = side.feasible_leaf ? loss_.leaf(side.leaf) : kInfinite;
    return split && side.feasible_split >= 0 ? std::min(leaf, loss_.stump(side.feasible_split)) : leaf;
}

void StreamedTwo::consider(const Split& split, const LaneResult& result) {
    const auto offer = [&](bool split_left, bool split_right) {
        const Cost left = side_of_tree(result.left, split_left), right = side_of_tree(result.right, split_right);
        const Cost total = std::min(kInfinite, left + right + loss_.split_penalty);
        if (total >= upper_) return;
        upper_ = total;
        best_ = {split, left < side_of_tree(result.left, false), right < side_of_tree(result.right, false), true};
    };
    if (splits_ >= 3) {
        offer(true, true);
    } else {
        offer(false, true);
        offer(true, false);
    }
}

// The first columns that the best tree can be made of: that of its root, and on each side the one of its stump, which
// takes a look at all of them. Where the search was stopped, there is no time for that.
std::vector<std::size_t> StreamedTwo::sums_of_best() {
    std::vector<std::size_t> columns{best_.split.column};
    if (answer_.complete) find_columns_below(columns);
    std::vector<std::size_t> sums;
    for (const std::size_t c : columns)
        if (c >= root_.columns.size()) sums.push_back(sums_.sum_of(c - root_.columns.size()));
    return sums;
}

void StreamedTwo::find_columns_below(std::vector<std::size_t>& columns) {
    panels_.resize(std::max<std::size_t>(1, panels_.size()));
    n_panels_ = 1;
    Marked& panel = panels_[0];
    panel.splits.assign(1, best_.split);
    panel.masks.assign(root_.rows, 0);
    mark(*load(best_.split.column), panel, 0);
    Cost left = kInfinite, right = kInfinite;
    std::size_t of_left = 0, of_right = 0;
    each_order([&](std::size_t c, const SweepColumn& column) {
        start_sums();
        sweep(column, panel);
        const LaneResult result = result_of(panel, 0);
        const Cost now_left = side_of_tree(result.left, true), now_right = side_of_tree(result.right, true);
        if (now_left < left) of_left = c;
        if (now_right < right) of_right = c;
        left = std::min(left, now_left);
        right = std::min(right, now_right);
    });
    if (best_.split_left) columns.push_back(of_left);
    if (best_.split_right) columns.push_back(of_right);
}

StreamedAnswer StreamedTwo::prove(Cost known, const std::vector<ColumnStump>& stumps) {
    answer_ = {};
    upper_ = known;
    best_ = {};
    stump_.clear();
    best_stump_ = root_.leaf_error();
    for (const ColumnStump& stump : stumps) {
        stump_.push_back(stump.relaxed);
        best_stump_ = std::min(best_stump_, stump.relaxed);
    }
    // At either end of a column one side has all rows.
    const Weight leaf = root_.leaf_error();
    points_.assign(n_columns(), {{0, 0, leaf, 0, best_stump_, false}, {root_.weight, leaf, 0, best_stump_, 0, false}});
    lower_ = 0;
    try {
        for (find_regions(); !regions_.empty(); find_regions()) {
            Cost least = upper_;
            for (const Region& region : regions_) least = std::min(least, region.bound + loss_.split_penalty);
            lower_ = std::max(lower_, least);
            std::size_t each = 1;
            choose_regions(each);
            mark_splits(each);
            if (n_panels_ == 0) continue;
            start_sums();
            each_order([&](std::size_t, const SweepColumn& column) {
                for (std::size_t p = 0; p < n_panels_; ++p) sweep(column, panels_[p]);
            });
            take_results();
            ++answer_.rounds;
        }
        lower_ = upper_;
        answer_.complete = true;
    } catch (const StopSearch& stop) {
        answer_.reason = stop.reason;
    }
    const Monitor::NoStops whole(context_.monitor);
    if (best_.any) answer_.sums = sums_of_best();
    answer_.upper = upper();
    answer_.lower = lower();
    return answer_;
}

}  // namespace provetree
