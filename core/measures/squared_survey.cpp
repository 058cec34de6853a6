// Surveys under squared error; see measures/squared_survey.hpp.
//
// Targets are rounded to coarse steps, so that a weight and a sum fit in one number. With N the weight of a side, n and
// d as in kernels/pair_kernel.hpp, and rows off by at most half a step, d is off by at most n (N - n) / N, so the
// root of what a split saves, N d^2 / (n (N - n)), is off by sqrt(n (N - n) / N) <= sqrt(N) / 2 steps. Rounding in the
// kernel makes d wrong by less than `smallest_`, which changes that root by at most twice as much, and what is not told
// from rounding, up to `smallest_`, is as much again.
#include "measures/squared_survey.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace provetree {

namespace {

constexpr Index kLeastSurveyed = 128;
constexpr int kMostGroups = 60, kLeastGroups = 12;
constexpr std::size_t kMostCategories = 62;
constexpr int kAbsoluteBits = kPairSumBits - 2, kWeightBits = 63 - kPairSumBits;

}  // namespace

void SquaredSurvey::find_families(const Node& node) {
    if (!know_families_) families_ = column_families(context_.table, kMostCategories);
    know_families_ = true;
    present_.resize(families_.size());
    n_present_ = 0;
    Index at = 0;
    for (const ColumnFamily& family : families_) {
        Present& present = present_[n_present_];
        present.kind = family.kind;
        present.columns.clear();
        for (Index id : family.columns)
            if (at < node.columns.size() && node.columns[at].id == id) present.columns.push_back(at++);
        n_present_ += !present.columns.empty();
    }
}

// So many that the bounds of a pair take about as long as counting its rows.
int SquaredSurvey::groups_of(const Node& node) const {
    return std::clamp(static_cast<int>(std::sqrt(static_cast<double>(node.rows))), kLeastGroups, kMostGroups);
}

bool SquaredSurvey::pays(const Node& node, std::size_t open_columns) {
    if (context_.off(kNoWide)) return false;
    if (context_.switches & kAlwaysWide) return true;
    if (node.rows < kLeastSurveyed) return false;
    find_families(node);
    const std::size_t lanes = 2 * static_cast<std::size_t>(groups_of(node)) + 8;  // of a family, at most
    if (n_present_ * n_present_ * lanes * 2 * sizeof(double) > context_.memory_limit / 8) return false;
    // A pair takes about as long as a sweep, and some panels are left to be swept.
    const std::size_t open = std::min(open_columns, n_present_);
    const std::size_t pairs = open * n_present_ - open * open / 2;
    return 5 * pairs < 2 * open_columns * node.columns.size();
}

bool SquaredSurvey::take_rows(const Node& node, const SquaredRow* rows, const SquaredTarget* targets) {
    double absolute = 0;
    all_ = {};
    squares_.resize(node.rows);
    for (Index row = 0; row < node.rows; ++row) {
        const double weighted = targets[row].weight * targets[row].target;
        squares_[row] = weighted * targets[row].target;
        all_ += {rows[row].weight, rows[row].sum, squares_[row]};
        absolute += std::abs(weighted);
    }
    if (all_.weight >> kWeightBits) return false;
    rounding_ = 0x1p-50 * static_cast<double>(node.rows) * all_.squares;
    shift_ = std::max(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(absolute))) - kAbsoluteBits);
    const double step = std::ldexp(1.0, shift_);
    smallest_ = 0x1p-48 * (absolute / step + static_cast<double>(all_.weight));
    packed_.resize(node.rows);
    coarse_.resize(node.rows);
    weights_of_.resize(node.rows);
    for (Index row = 0; row < node.rows; ++row) {
        weights_of_[row] = targets[row].weight;
        coarse_[row] = std::round(targets[row].target / step);
        packed_[row] = rows[row].weight * ((std::int64_t{1} << kPairSumBits) + static_cast<std::int64_t>(coarse_[row]));
    }
    return true;
}

// Where groups are due to end. Those at either end are small: there a few rows can save much.
void SquaredSurvey::spread_groups(Index rows) {
    due_.clear();
    const std::uint64_t each = static_cast<unsigned>(groups_ - 4);
    const auto add = [&](std::uint64_t end) {
        if (end > (due_.empty() ? 0 : due_.back())) due_.push_back(static_cast<Index>(end));
    };
    add(rows / (16 * each));
    add(rows / (4 * each));
    for (std::uint64_t k = 1; k < each; ++k) add(k * rows / each);
    add(rows - rows / (4 * each));
    add(rows - rows / (16 * each));
    add(rows);
}

void SquaredSurvey::cut_into_groups(const NodeColumn& column, Index rows, Family& family) {
    const bool each_value = column.groups <= static_cast<Index>(groups_);
    if (!each_value) spread_groups(rows);
    cut_.clear();
    Index begin = 0, tie = 0;
    std::size_t next = 0;
    PairBlock sums{};
    double sum = 0, squares = 0;
    for (Index i = 0; i < rows; ++i) {
        const Index row = column.order[i] & entry::kRowMask;
        const double target = coarse_[row], weight = weights_of_[row];
        family.of_row[row] = static_cast<std::uint8_t>(cut_.size());
        sums.weight += weight;
        sums.distances += weight * std::abs(target);
        sums.farthest = std::max(sums.farthest, std::abs(target));
        sum += weight * target;
        squares += weight * target * target;
        if (i + 1 < rows && column.ranks[i] == column.ranks[i + 1]) continue;
        sums.inside = tie != begin;
        tie = i + 1;
        if (i + 1 < rows && !each_value && i + 1 < due_[next]) continue;
        while (!each_value && next < due_.size() && due_[next] <= i + 1) ++next;
        sums.mean = sum / sums.weight;
        sums.squares = std::max(0.0, squares - sum * sums.mean) + 0x1p-45 * squares;
        cut_.push_back({i + 1, sums});
        begin = i + 1;
        sums = {};
        sum = squares = 0;
    }
}

void SquaredSurvey::add_lane(Family& family, bool follows, int code, const PairBlock& block) {
    family.follows.push_back(follows ? -1 : 0);
    family.code.push_back(code);
    family.blocks.push_back(block);
}

void SquaredSurvey::take_categories(const Node& node, const std::vector<Index>& columns, Family& family) {
    const std::size_t rest = columns.size();
    std::fill(family.of_row.begin(), family.of_row.end(), static_cast<std::uint8_t>(rest));
    for (std::size_t i = 0; i < rest; ++i) {
        const NodeColumn& column = node.columns[columns[i]];
        const Index position = Node::rows_up_to(column, column.ranks[0], 0, node.rows);
        for (Index at = 0; at < position; ++at)
            family.of_row[column.order[at] & entry::kRowMask] = static_cast<std::uint8_t>(i);
        add_lane(family, false, static_cast<int>(i), {});
        places_[columns[i]].push_back({position, static_cast<int>(i)});
    }
    family.codes = static_cast<int>(rest) + 1;
}

void SquaredSurvey::take_ordered(const Node& node, Index column, Family& family) {
    cut_into_groups(node.columns[column], node.rows, family);
    const int groups = static_cast<int>(cut_.size());
    family.codes = groups + 1;
    add_lane(family, false, groups, {});
    for (int i = 0; i < groups; ++i) {
        const Group& group = cut_[static_cast<std::size_t>(i)];
        add_lane(family, true, i, group.block);
        if (group.end < node.rows) places_[column].push_back({group.end, i + 1});
    }
}

// Two chains of lanes, one that ends with the missing values and one that begins with them.
void SquaredSurvey::take_missing(const Node& node, Index first, Index last, Family& family) {
    const NodeColumn& column = node.columns[last];
    const Index top = context_.table.tops[column.id], present = Node::rows_up_to(column, top - 1, 0, node.rows);
    cut_into_groups(column, present, family);
    const int missing = static_cast<int>(cut_.size());
    family.codes = missing + 2;
    add_lane(family, false, missing + 1, {});
    for (int i = 0; i < missing; ++i) {
        const Group& group = cut_[static_cast<std::size_t>(i)];
        add_lane(family, true, i, group.block);
        if (group.end == node.rows) continue;
        places_[last].push_back({group.end, i + 1});
        if (present == node.rows) places_[first].push_back({group.end, i + 1});
    }
    if (present == node.rows) return;
    for (Index at = present; at < node.rows; ++at)
        family.of_row[column.order[at] & entry::kRowMask] = static_cast<std::uint8_t>(missing);
    add_lane(family, true, missing, {});
    add_lane(family, false, missing, {});
    const Index n_missing = node.rows - present;
    for (int i = 0, lane = missing + 2; i < missing; ++i, ++lane) {
        const Index before = n_missing + (i ? cut_[static_cast<std::size_t>(i) - 1].end : 0);
        places_[first].push_back({before, lane});
        add_lane(family, true, i, cut_[static_cast<std::size_t>(i)].block);
    }
}

void SquaredSurvey::sum_lanes(const Node& node, const SquaredRow* rows, Family& family) const {
    family.of_code.assign(static_cast<std::size_t>(family.codes), {});
    for (Index row = 0; row < node.rows; ++row)
        family.of_code[family.of_row[row]] += {rows[row].weight, rows[row].sum, squares_[row]};
    std::vector<std::int64_t> coarse(static_cast<std::size_t>(family.codes), 0);
    std::int64_t coarse_of_all = 0;
    for (Index row = 0; row < node.rows; ++row) coarse[family.of_row[row]] += packed_[row];
    const std::size_t lanes = family.code.size(), padded = (lanes + 7) / 8 * 8;
    family.of_lane.assign(lanes, {});
    std::vector<std::int64_t> coarse_lanes(padded, 0);
    for (std::int64_t of : coarse) coarse_of_all += of;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        if (family.follows[lane]) {
            family.of_lane[lane] = family.of_lane[lane - 1];
            coarse_lanes[lane] = coarse_lanes[lane - 1];
        }
        family.of_lane[lane] += family.of_code[static_cast<std::size_t>(family.code[lane])];
        coarse_lanes[lane] += coarse[static_cast<std::size_t>(family.code[lane])];
    }
    for (LineVector<double>* of : {&family.total_weight, &family.total_target, &family.weight[0], &family.weight[1],
                                   &family.mean[0], &family.mean[1]})
        of->resize(padded);
    family.stride = padded;
    for (LineVector<double>& of : family.found) of.assign(padded, 0);
    for (LineVector<double>& of : family.best) of.assign(padded * n_present_, 0);
    family.promise = 0;
    for (std::size_t lane = 0; lane < padded; ++lane)
        for (int side = 0; side < 2; ++side) {
            const std::int64_t of = side ? coarse_of_all - coarse_lanes[lane] : coarse_lanes[lane];
            const std::int64_t sum = of << (64 - kPairSumBits) >> (64 - kPairSumBits);
            const double weight = static_cast<double>((of - sum) >> kPairSumBits), target = static_cast<double>(sum);
            family.weight[side][lane] = weight;
            family.mean[side][lane] = weight > 0 ? target / weight : 0;
            if (side) continue;
            family.total_weight[lane] = weight;
            family.total_target[lane] = target;
        }
    const double mean = static_cast<double>(all_.sum) / static_cast<double>(all_.weight) / std::ldexp(1.0, shift_);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double n = family.weight[0][lane], product = n * family.weight[1][lane];
        const double distance = family.total_target[lane] - n * mean;
        if (product > 0) family.promise = std::max(family.promise, distance * distance / product);
    }
}

const SquaredSurvey::Points* SquaredSurvey::look(const Node& node, const std::vector<std::uint8_t>& wanted,
                                                 const SquaredRow* rows, const SquaredTarget* targets) {
    if (!take_rows(node, rows, targets)) return nullptr;
    find_families(node);
    groups_ = groups_of(node);
    cells_.resize(2 * kPairCodes * kPairStride);
    weights_.resize(kPairLanes * kPairLanes);
    targets_.resize(kPairLanes * kPairLanes);
    if (surveyed_.size() < n_present_) surveyed_.resize(n_present_);
    places_.resize(node.columns.size());
    for (std::vector<Place>& places : places_) places.clear();
    family_of_.resize(node.columns.size());
    for (std::size_t f = 0; f < n_present_; ++f) {
        const Present& present = present_[f];
        Family& family = surveyed_[f];
        family.wanted = false;
        for (Index column : present.columns) {
            family_of_[column] = f;
            family.wanted |= wanted[column] != 0;
        }
        family.of_row.resize(node.rows);
        family.follows.clear();
        family.code.clear();
        family.blocks.clear();
        if (present.kind == ColumnFamily::Kind::kCategories)
            take_categories(node, present.columns, family);
        else if (present.columns.size() == 2)
            take_missing(node, present.columns[0], present.columns[1], family);
        else
            take_ordered(node, present.columns[0], family);
        sum_lanes(node, rows, family);
    }
    bound_pairs(node);
    make_bounds();
    take_points(node);
    looked_ = true;
    return &points_;
}

// The most promising families first: what they save leaves less to look at in the others.
void SquaredSurvey::bound_pairs(const Node& node) {
    by_promise_.resize(n_present_);
    std::iota(by_promise_.begin(), by_promise_.end(), std::size_t{0});
    std::stable_sort(by_promise_.begin(), by_promise_.end(),
                     [&](std::size_t a, std::size_t b) { return surveyed_[a].promise > surveyed_[b].promise; });
    const PairRows rows{node.rows, packed_.data(), smallest_ * smallest_};
    const PairScratch scratch{cells_.data(), weights_.data(), targets_.data()};
    for (std::size_t i = 0; i < n_present_; ++i) {
        const std::size_t f = by_promise_[i];
        std::uint64_t pairs = 1;
        const PairFamily own = surveyed_[f].below(f);
        if (own.wanted) kernel_.bound(rows, own, own, scratch);
        for (std::size_t j = i + 1; j < n_present_; ++j) {
            const std::size_t g = by_promise_[j];
            if (!own.wanted && !surveyed_[g].wanted) continue;
            kernel_.bound(rows, surveyed_[f].below(g), surveyed_[g].below(f), scratch);
            ++pairs;
        }
        context_.counters.row_steps += node.rows * pairs;
        context_.monitor.work(node.rows * pairs);
    }
}

double SquaredSurvey::leaf_units(const Sums& sums) const {
    if (!sums.weight) return 0;
    const double sum = static_cast<double>(sums.sum), weight = static_cast<double>(sums.weight);
    const double squares = sums.squares - sum * sum / weight - rounding_;
    return std::max(0.0, squares * measure_.units_per_square());
}

double SquaredSurvey::stump_units(const Sums& sums, double best) const {
    const double weight = static_cast<double>(sums.weight), step = std::ldexp(1.0, shift_);
    const double root = std::sqrt(best * weight) + std::sqrt(weight) / 2 + 4 * smallest_;
    const double saved = step * step * root * root;
    return std::max(0.0, leaf_units(sums) - saved * measure_.units_per_square() - 1);
}

// Turns what stumps on each family save below each lane into what they cost at least, in units.
void SquaredSurvey::make_bounds() {
    for (std::size_t f = 0; f < n_present_; ++f) {
        Family& family = surveyed_[f];
        if (!family.wanted) continue;
        for (std::size_t lane = 0; lane < family.of_lane.size(); ++lane)
            for (int side = 0; side < 2; ++side) {
                const Sums& left = family.of_lane[lane];
                const Sums rows =
                    side ? Sums{all_.weight - left.weight, all_.sum - left.sum, all_.squares - left.squares} : left;
                for (std::size_t g = 0; g < n_present_; ++g) {
                    double& best = family.best[side][g * family.stride + lane];
                    best = stump_units(rows, best);
                }
            }
    }
}

double SquaredSurvey::best_of(const Family& family, int side, int lane) const {
    double least = INFINITY;
    for (std::size_t g = 0; g < n_present_; ++g)
        least = std::min(least, family.best[side][g * family.stride + static_cast<std::size_t>(lane)]);
    return least;
}

void SquaredSurvey::take_points(const Node& node) {
    points_.resize(node.columns.size());
    for (Index c = 0; c < node.columns.size(); ++c) {
        const NodeColumn& column = node.columns[c];
        const Family& family = surveyed_[family_of_[c]];
        points_[c].clear();
        if (!family.wanted) continue;
        for (const Place& place : places_[c]) {
            const Sums& left = family.of_lane[static_cast<std::size_t>(place.lane)];
            const Sums right{all_.weight - left.weight, all_.sum - left.sum, all_.squares - left.squares};
            points_[c].push_back(
                {column.ranks[place.position - 1], place.position, node.weight_left(column, place.position),
                 static_cast<Cost>(leaf_units(left)), static_cast<Cost>(leaf_units(right)),
                 static_cast<Cost>(best_of(family, 0, place.lane)), static_cast<Cost>(best_of(family, 1, place.lane))});
        }
    }
}

// More rows never cost less: a side costs what it does at the nearest split before it that has fewer rows on it.
void SquaredSurvey::take_lanes(Index column, const Index* positions, int n) {
    const std::vector<Place>& places = places_[column];
    const Family& family = surveyed_[family_of_[column]];
    bounds_.assign(n_present_ * 2 * kLanes, 0);
    std::size_t next = 0;  // the first place at the lane or after it
    for (int lane = 0; lane < n; ++lane) {
        while (next < places.size() && places[next].position < positions[lane]) ++next;
        const bool same = next < places.size() && places[next].position == positions[lane];
        const std::size_t before = same ? next + 1 : next;
        for (std::size_t g = 0; g < n_present_; ++g) {
            double* const to = bounds_.data() + g * 2 * kLanes + lane;
            const double* const left = family.best[0].data() + g * family.stride;
            const double* const right = family.best[1].data() + g * family.stride;
            if (before) to[0] = left[places[before - 1].lane];
            if (next < places.size()) to[kLanes] = right[places[next].lane];
        }
    }
}

}  // namespace provetree
