// Evaluating a panel: mark each row with the lanes in which it goes left, sweep all columns, turn sums into errors.
#include "sweeps/panel.hpp"

#include <algorithm>

namespace provetree {

namespace {

std::uint64_t lanes_from(int begin, int end) {
    const std::uint64_t below_end = end >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << end) - 1;
    return below_end & ~((std::uint64_t{1} << begin) - 1);
}

}  // namespace

// Row by row, by their ranks in the columns of all lanes at once, where the processor can; the time does not depend on
// how many columns there are.
bool Panel::mark_row_by_row(const Node& node, const Lane* lanes, int n_lanes) {
    if (!context_.kernel.mark_rows) return false;
    const RankRows& rank_rows = context_.rank_rows();
    if (!rank_rows.width()) return false;
    LaneRanks ranks;
    for (int lane = 0; lane < n_lanes; ++lane) {
        const NodeColumn& column = node.columns[lanes[lane].column];
        ranks.column[lane] = static_cast<std::uint16_t>(column.id);
        ranks.rank[lane] = static_cast<std::uint16_t>(column.ranks[lanes[lane].position - 1]);
    }
    ranks.lanes = n_lanes;
    context_.kernel.mark_rows(rank_rows.data(), rank_rows.width(), node.ids.data(), node.rows, ranks,
                              left_masks_.data());
    return true;
}

void Panel::mark_left_rows(const Node& node, const Lane* lanes, int n_lanes) {
    if (left_masks_.size() < node.rows) left_masks_.resize(node.rows);
    if (mark_row_by_row(node, lanes, n_lanes)) return;
    // Set the bits of the rows on the left, or start from "all left" and clear the others: whichever touches fewer.
    const auto group_end = [&](int begin) {
        int end = begin + 1;
        while (end < n_lanes && lanes[end].column == lanes[begin].column) ++end;
        return end;
    };
    const auto clears = [&](int begin, int end) { return node.rows - lanes[begin].position < lanes[end - 1].position; };
    std::uint64_t all_left = 0;
    for (int begin = 0, end; begin < n_lanes; begin = end) {
        end = group_end(begin);
        if (clears(begin, end)) all_left |= lanes_from(begin, end);
    }
    std::fill_n(left_masks_.begin(), node.rows, all_left);
    std::uint64_t* const masks = left_masks_.data();
    for (int begin = 0, end; begin < n_lanes; begin = end) {
        end = group_end(begin);
        const std::uint32_t* order = node.columns[lanes[begin].column].order;
        if (clears(begin, end)) {
            for (int lane = begin; lane < end; ++lane) {
                const std::uint64_t keep = ~lanes_from(begin, lane + 1);
                const Index stop = lane + 1 < end ? lanes[lane + 1].position : node.rows;
#pragma GCC unroll 8
                for (Index i = lanes[lane].position; i < stop; ++i) masks[order[i] & entry::kRowMask] &= keep;
            }
        } else {
            for (int lane = begin; lane < end; ++lane) {
                const std::uint64_t set = lanes_from(lane, end);
#pragma GCC unroll 8
                for (Index i = lane == begin ? 0 : lanes[lane - 1].position; i < lanes[lane].position; ++i)
                    masks[order[i] & entry::kRowMask] |= set;
            }
        }
    }
}

void Panel::evaluate(const Node& node, const Lane* lanes, int n_lanes, Weight of_interest, LaneResult* results) {
    ++context_.counters.panels;
    context_.counters.lanes += static_cast<std::uint64_t>(n_lanes);
    mark_left_rows(node, lanes, n_lanes);
    if (context_.rules) return evaluate_ruled(node, lanes, n_lanes, results);
    if (context_.constrained()) return evaluate_many_classes(node, lanes, n_lanes, results);
    if (node.by_class.size() <= 2) return evaluate_two_classes(node, lanes, n_lanes, results);
    if (!node.unit_weights || !evaluate_pairs(node, lanes, n_lanes, of_interest, results))
        evaluate_many_classes(node, lanes, n_lanes, results);
}

namespace {

// The long run of ties of an order, if any: longer than an eighth of the rows, it holds one of eight even rows.
void find_run(const Index* ranks, Index rows, SweepColumn& column) {
    constexpr Index kParts = 8;
    if (rows < 8 * kParts) return;
    Index end = 0;
    for (Index part = 0; part < kParts; ++part) {
        const Index at = static_cast<Index>((std::uint64_t{rows} * (2 * part + 1)) / (2 * kParts));
        if (at < end || ranks[at - 1] != ranks[at + 1]) continue;
        const Index begin = static_cast<Index>(std::lower_bound(ranks + end, ranks + at, ranks[at]) - ranks);
        end = static_cast<Index>(std::upper_bound(ranks + at, ranks + rows, ranks[at]) - ranks);
        if (end - begin > std::max(rows / kParts, column.run_end - column.run_begin)) {
            column.run_begin = begin;
            column.run_end = end;
        }
    }
}

// The first column is swept whole, for totals by which the others pass their runs: that of the shortest run.
void totals_first(std::vector<SweepColumn>& columns) {
    const auto run = [](const SweepColumn& column) { return column.run_end - column.run_begin; };
    const auto first = std::min_element(columns.begin(), columns.end(),
                                        [&](const SweepColumn& a, const SweepColumn& b) { return run(a) < run(b); });
    if (first == columns.end()) return;
    std::iter_swap(columns.begin(), first);
    columns.front().run_begin = columns.front().run_end = 0;
}

void reset_extremes(TwoClassSums& sums) {
    for (auto* extremes : {sums.max_left, sums.min_left, sums.max_right, sums.min_right})
        std::fill_n(extremes, kLanes, 0);
}

}  // namespace

void Panel::evaluate_two_classes(const Node& node, const Lane* lanes, int n_lanes, LaneResult* results) {
    TwoClassSums sums;
    reset_extremes(sums);
    const LaneWidth width =
        node.largest_weight <= 127 ? LaneWidth::k8 : (node.weight <= 32767 ? LaneWidth::k16 : LaneWidth::k32);
    for (const SweepColumn& column : all_columns(node)) {
        if (node.unit_weights)
            context_.kernel.sweep_unit(column, left_masks_.data(), 1, 0, n_lanes, sums);
        else
            context_.kernel.sweep_weighted(column, left_masks_.data(), node.steps.data(), width, n_lanes, sums);
        swept(column.rows - (column.run_end - column.run_begin));
    }
    for (int lane = 0; lane < n_lanes; ++lane) {
        const Weight left = node.weight_left(node.columns[lanes[lane].column], lanes[lane].position);
        const auto side = [](Weight weight, std::int32_t total, std::int32_t highest, std::int32_t lowest) {
            // total = ones - zeros; a split with ones left of it gets zeros + (running sum) right, the other labelling
            // ones - (running sum).
            const Weight ones = (weight + total) / 2, zeros = weight - ones;
            const Weight leaf = std::min(ones, zeros);
            const Weight stump = std::min(leaf, weight - std::max(zeros + highest, ones - lowest));
            return SideErrors{leaf, stump, stump, true};
        };
        results[lane].left = side(left, sums.total_left[lane], sums.max_left[lane], sums.min_left[lane]);
        results[lane].right =
            side(node.weight - left, sums.total_right[lane], sums.max_right[lane], sums.min_right[lane]);
    }
}

const std::vector<SweepColumn>& Panel::all_columns(const Node& node) {
    if (columns_.empty()) {
        for (const NodeColumn& column : node.columns) {
            columns_.push_back({column.order, node.rows, column.checks, column.no_ties});
            if (!column.no_ties) find_run(column.ranks, node.rows, columns_.back());
        }
        totals_first(columns_);
    }
    return columns_;
}

const std::vector<SweepColumn>& Panel::pair_columns(const Node& node, int up, int down, Weight rows) {
    for (std::size_t p = 0; p < n_pairs_; ++p)
        if (pairs_[p].up == up && pairs_[p].down == down) return pairs_[p].columns;
    if (pairs_.size() == n_pairs_) pairs_.emplace_back();
    PairColumns& pair = pairs_[n_pairs_++];
    pair.up = up;
    pair.down = down;
    pair.columns.clear();
    // Where nearly all rows belong to the pair, sorting them out costs more than it saves.
    if (rows * 5 > node.weight * 3) {
        pair.columns = all_columns(node);
        return pair.columns;
    }
    const std::size_t stride = kRoomBefore + static_cast<std::size_t>(rows) + kRoomAfter;
    if (pair.storage.size() < 2 * stride * node.columns.size()) pair.storage.resize(2 * stride * node.columns.size());
    for (std::size_t c = 0; c < node.columns.size(); ++c) {
        const NodeColumn& column = node.columns[c];
        std::uint32_t* order = pair.storage.data() + 2 * stride * c + kRoomBefore;
        Index* ranks = order + stride;
        SweepColumn kept{order, 0, 0, false};
        kept.rows = context_.kernel.keep_classes(column.order, column.ranks, node.rows, up, down, order, ranks);
        Index groups = 0;
        seal_order(context_.kernel, order, ranks, kept.rows, false, kept.checks, groups);
        kept.every_row_valid = groups == kept.rows;
        if (!kept.every_row_valid) find_run(ranks, kept.rows, kept);
        context_.monitor.work(node.rows);
        pair.columns.push_back(kept);
    }
    totals_first(pair.columns);
    return pair.columns;
}

namespace {

// The classes on both sides of every lane of a panel over rows of weight one: side 0 is the left one, side 1 the right.
struct SideClasses {
    static constexpr int kMostClasses = static_cast<int>(entry::kSharedCode);
    int n_classes, n_lanes;
    Weight of_class[2][kMostClasses][kLanes];
    Weight leaf[2][kLanes];           // of the largest class
    Weight most_correct[2][kLanes];   // of the two largest classes: no stump classifies more correctly
    Weight least_correct[2][kLanes];  // up to this of no interest: the best other side leaves too many errors
    Weight correct[2][kLanes];        // the most that a leaf or a stump is known to classify correctly

    void count(const Kernel& kernel, const Node& node, const Lane* lanes);
    void bound(const Node& node, const Lane* lanes, Weight of_interest);

    // Whether a stump with these two labels could be of interest in any lane.
    bool useful(int up, int down) const {
        for (int side = 0; side < 2; ++side)
            for (int lane = 0; lane < n_lanes; ++lane)
                if (of_class[side][up][lane] + of_class[side][down][lane] >
                    std::max(correct[side][lane], least_correct[side][lane]))
                    return true;
        return false;
    }

    // The best stumps with these two labels, as a sweep has found them.
    void take(int up, int down, const TwoClassSums& sums) {
        for (int lane = 0; lane < n_lanes; ++lane) {
            correct[0][lane] = std::max({correct[0][lane], of_class[0][down][lane] + sums.max_left[lane],
                                         of_class[0][up][lane] - sums.min_left[lane]});
            correct[1][lane] = std::max({correct[1][lane], of_class[1][down][lane] + sums.max_right[lane],
                                         of_class[1][up][lane] - sums.min_right[lane]});
        }
    }

    SideErrors errors(int side, int lane, Weight weight) const {
        // Pairs of no interest reach at most least_correct, and never more than the two largest classes.
        const Weight bound =
            std::max(correct[side][lane], std::min(least_correct[side][lane], most_correct[side][lane]));
        return {weight - leaf[side][lane], weight - bound, weight - correct[side][lane], true};
    }
};

void SideClasses::count(const Kernel& kernel, const Node& node, const Lane* lanes) {
    for (int begin = 0, lane = 0; lane < n_lanes; begin = lane) {
        Weight seen[8] = {};
        Index row = 0;
        const std::uint32_t* order = node.columns[lanes[begin].column].order;
        for (; lane < n_lanes && lanes[lane].column == lanes[begin].column; ++lane) {
            kernel.count_codes(order + row, lanes[lane].position - row, n_classes, seen);
            row = lanes[lane].position;
            for (int cls = 0; cls < n_classes; ++cls) {
                of_class[0][cls][lane] = seen[cls];
                of_class[1][cls][lane] = node.by_class[static_cast<std::size_t>(cls)] - seen[cls];
            }
        }
    }
}

void SideClasses::bound(const Node& node, const Lane* lanes, Weight of_interest) {
    for (int side = 0; side < 2; ++side) {
        for (int lane = 0; lane < n_lanes; ++lane) {
            Weight most = 0, second = 0;
            for (int cls = 0; cls < n_classes; ++cls) {
                const Weight weight = of_class[side][cls][lane];
                second = std::max(second, std::min(most, weight));
                most = std::max(most, weight);
            }
            leaf[side][lane] = correct[side][lane] = most;
            most_correct[side][lane] = most + second;
        }
    }
    for (int lane = 0; lane < n_lanes; ++lane)
        for (int side = 0; side < 2; ++side)
            least_correct[side][lane] = node.weight - most_correct[1 - side][lane] - of_interest - lanes[lane].reach;
}

}  // namespace

// Many classes with weights one, as two-class problems: a stump's two labels are a pair of classes, and for a pair only
// its own rows count. A pair that cannot beat what is already reached in any lane is not swept, which on most data
// leaves one to three pairs. False where too many remain.
bool Panel::evaluate_pairs(const Node& node, const Lane* lanes, int n_lanes, Weight of_interest, LaneResult* results) {
    constexpr int kMostPairs = 12;  // beyond this the forward and backward passes are cheaper
    SideClasses sides;
    sides.n_classes = static_cast<int>(node.by_class.size());
    sides.n_lanes = n_lanes;
    if (sides.n_classes > SideClasses::kMostClasses) return false;
    sides.count(context_.kernel, node, lanes);
    sides.bound(node, lanes, of_interest);
    struct Pair {
        int up, down;
        Weight rows;
    };
    Pair pairs[SideClasses::kMostClasses * SideClasses::kMostClasses];
    int n_pairs = 0;
    const auto rows_of = [&](int cls) { return node.by_class[static_cast<std::size_t>(cls)]; };
    for (int up = 0; up < sides.n_classes; ++up)
        for (int down = up + 1; down < sides.n_classes; ++down)
            if (sides.useful(up, down)) pairs[n_pairs++] = {up, down, rows_of(up) + rows_of(down)};
    std::sort(pairs, pairs + n_pairs, [](const Pair& a, const Pair& b) { return a.rows > b.rows; });
    int swept_pairs = 0;
    for (int p = 0; p < n_pairs; ++p) {
        const auto [up, down, rows] = pairs[p];
        if (!sides.useful(up, down)) continue;
        if (++swept_pairs > kMostPairs) return false;
        TwoClassSums sums;
        reset_extremes(sums);
        for (const SweepColumn& column : pair_columns(node, up, down, rows)) {
            context_.kernel.sweep_unit(column, left_masks_.data(), up, down, n_lanes, sums);
            swept(column.rows - (column.run_end - column.run_begin));
        }
        sides.take(up, down, sums);
    }
    for (int lane = 0; lane < n_lanes; ++lane) {
        const Weight left = static_cast<Weight>(lanes[lane].position);
        results[lane].left = sides.errors(0, lane, left);
        results[lane].right = sides.errors(1, lane, node.weight - left);
    }
    return true;
}

void Panel::evaluate_many_classes(const Node& node, const Lane* lanes, int n_lanes, LaneResult* results) {
    every_.clear();
    for (const NodeColumn& column : node.columns) every_.push_back(&column);
    evaluate_columns(node, every_, lanes, n_lanes, results);
}

void Panel::evaluate_columns(const Node& node, const std::vector<const NodeColumn*>& columns, const Lane* lanes,
                             int n_lanes, LaneResult* results) {
    ManyClassSums sums;
    for (auto* best : {sums.best_left, sums.best_right}) std::fill_n(best, kLanes, 0);
    for (auto* feasible : {sums.feasible_left, sums.feasible_right}) std::fill_n(feasible, kLanes, kNoSplit);
    const std::int32_t min_leaf = static_cast<std::int32_t>(std::min<std::int64_t>(context_.min_leaf, 1 << 30));
    const LaneWidth width = node.weight <= 32767 && node.count <= 32767 ? LaneWidth::k16 : LaneWidth::k32;
    const RowData rows{node.classes.data(), node.weights.data(), node.counts.data()};
    for (const NodeColumn* column : columns) {
        const std::size_t bytes = sweep_scratch_bytes(node.by_class.size(), column->checks);
        if (scratch_.size() < bytes) scratch_.resize(bytes);
        context_.kernel.sweep_classes({column->order, node.rows, column->checks, column->no_ties}, left_masks_.data(),
                                      rows, static_cast<int>(node.by_class.size()), min_leaf, width, n_lanes,
                                      scratch_.data(), sums);
        swept(node.rows);
    }
    for (int lane = 0; lane < n_lanes; ++lane) {
        const Weight left = node.weight_left(node.columns[lanes[lane].column], lanes[lane].position),
                     right = node.weight - left;
        const auto side = [&](Weight weight, std::int32_t leaf, std::int32_t best, std::int32_t feasible,
                              std::int32_t count) {
            const Weight leaf_error = weight - leaf, stump_error = std::min(leaf_error, weight - best);
            if (!context_.constrained()) return SideErrors{leaf_error, stump_error, stump_error, true};
            return SideErrors{leaf_error, stump_error, feasible == kNoSplit ? -1 : weight - feasible,
                              count >= min_leaf};
        };
        results[lane].left =
            side(left, sums.leaf_left[lane], sums.best_left[lane], sums.feasible_left[lane], sums.rows_left[lane]);
        results[lane].right =
            side(right, sums.leaf_right[lane], sums.best_right[lane], sums.feasible_right[lane], sums.rows_right[lane]);
    }
}

}  // namespace provetree
