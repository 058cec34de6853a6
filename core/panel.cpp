// Evaluating a panel: mark each row with the lanes in which it goes left, sweep all columns, turn sums into errors.
#include "panel.hpp"

#include <algorithm>

namespace provetree {

namespace {

std::uint64_t lanes_from(int begin, int end) {
    const std::uint64_t below_end = end >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << end) - 1;
    return below_end & ~((std::uint64_t{1} << begin) - 1);
}

}  // namespace

void Panel::mark_left_rows(const Node& node, const Lane* lanes, int n_lanes) {
    // For each column either set the bits of the rows on the left, or start from "all left" and clear those of the rows on the right:
    // whichever touches fewer rows.
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
    if (left_masks_.size() < node.rows) left_masks_.resize(node.rows);
    std::fill_n(left_masks_.begin(), node.rows, all_left);
    std::uint64_t* const masks = left_masks_.data();
    for (int begin = 0, end; begin < n_lanes; begin = end) {
        end = group_end(begin);
        const std::uint32_t* order = node.columns[lanes[begin].column].order;
        if (clears(begin, end)) {
            for (int lane = begin; lane < end; ++lane) {
                const std::uint64_t keep = ~lanes_from(begin, lane + 1);
                const Index stop = lane + 1 < end ? lanes[lane + 1].position : node.rows;
                for (Index i = lanes[lane].position; i < stop; ++i) masks[order[i] & entry::kRowMask] &= keep;
            }
        } else {
            for (int lane = begin; lane < end; ++lane) {
                const std::uint64_t set = lanes_from(lane, end);
                for (Index i = lane == begin ? 0 : lanes[lane - 1].position; i < lanes[lane].position; ++i) masks[order[i] & entry::kRowMask] |= set;
            }
        }
    }
}

void Panel::evaluate(const Node& node, const Lane* lanes, int n_lanes, LaneResult* results) {
    ++context_.counters.panels;
    context_.counters.lanes += static_cast<std::uint64_t>(n_lanes);
    mark_left_rows(node, lanes, n_lanes);
    const auto sweep_column = [](const Node& n, const NodeColumn& c) { return SweepColumn{c.order, n.rows, c.checks, c.no_ties}; };
    const auto after_sweep = [&] {
        context_.counters.row_steps += node.rows;
        context_.monitor.work(node.rows);
    };
    const bool two_classes = node.by_class.size() <= 2 && !context_.constrained();
    if (two_classes) {
        TwoClassSums sums;
        for (auto* extremes : {sums.max_left, sums.min_left, sums.max_right, sums.min_right}) std::fill_n(extremes, kLanes, 0);
        const Weight largest = node.largest_weight;
        const LaneWidth width = largest <= 127 ? LaneWidth::k8 : (node.weight <= 32767 ? LaneWidth::k16 : LaneWidth::k32);
        for (const NodeColumn& column : node.columns) {
            if (node.steps.empty())
                context_.kernel.sweep_unit(sweep_column(node, column), left_masks_.data(), n_lanes, sums);
            else
                context_.kernel.sweep_weighted(sweep_column(node, column), left_masks_.data(), node.steps.data(), width, n_lanes, sums);
            after_sweep();
        }
        for (int lane = 0; lane < n_lanes; ++lane) {
            const Weight left = node.weight_left(node.columns[lanes[lane].column], lanes[lane].position);
            const auto side = [](Weight weight, std::int32_t total, std::int32_t highest, std::int32_t lowest) {
                // total = ones - zeros; a split with ones left of it gets zeros + (running sum) right, the other labelling ones - (running sum).
                const Weight ones = (weight + total) / 2, zeros = weight - ones;
                const Weight leaf = std::min(ones, zeros);
                const Weight stump = std::min(leaf, weight - std::max(zeros + highest, ones - lowest));
                return SideErrors{leaf, stump, stump, true};
            };
            results[lane].left = side(left, sums.total_left[lane], sums.max_left[lane], sums.min_left[lane]);
            results[lane].right = side(node.weight - left, sums.total_right[lane], sums.max_right[lane], sums.min_right[lane]);
        }
        return;
    }
    ManyClassSums sums;
    for (auto* best : {sums.best_left, sums.best_right}) std::fill_n(best, kLanes, 0);
    for (auto* feasible : {sums.feasible_left, sums.feasible_right}) std::fill_n(feasible, kLanes, kNoSplit);
    const std::int32_t min_leaf = static_cast<std::int32_t>(std::min<std::int64_t>(context_.min_leaf, 1 << 30));
    const bool narrow = node.weight <= 32767 && node.count <= 32767;
    const RowData rows{node.classes.data(), node.weights.data(), node.counts.data()};
    for (const NodeColumn& column : node.columns) {
        context_.kernel.sweep_classes(sweep_column(node, column), left_masks_.data(), rows, static_cast<int>(node.by_class.size()), min_leaf, narrow ? LaneWidth::k16 : LaneWidth::k32, n_lanes,
                                      scratch_, sums);
        after_sweep();
    }
    for (int lane = 0; lane < n_lanes; ++lane) {
        const Weight left = node.weight_left(node.columns[lanes[lane].column], lanes[lane].position), right = node.weight - left;
        const auto side = [&](Weight weight, std::int32_t leaf, std::int32_t best, std::int32_t feasible, std::int32_t count) {
            const Weight leaf_error = weight - leaf, stump_error = std::min(leaf_error, weight - best);
            if (!context_.constrained()) return SideErrors{leaf_error, stump_error, stump_error, true};
            return SideErrors{leaf_error, stump_error, feasible == kNoSplit ? -1 : weight - feasible, count >= min_leaf};
        };
        results[lane].left = side(left, sums.leaf_left[lane], sums.best_left[lane], sums.feasible_left[lane], sums.rows_left[lane]);
        results[lane].right = side(right, sums.leaf_right[lane], sums.best_right[lane], sums.feasible_right[lane], sums.rows_right[lane]);
    }
}

}  // namespace provetree
