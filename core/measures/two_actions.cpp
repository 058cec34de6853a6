// Lanes of two actions; see measures/two_actions.hpp.
#include "measures/two_actions.hpp"

#include <algorithm>
#include <cstdlib>

namespace provetree {

namespace {

// Narrow lanes are widened so often that they pay only where steps are small on average.
constexpr std::int64_t kMostNarrowStep = 127, kMostMeanStep = 8, kMostMiddleSum = 32767;

// What the two leaves of the better of two stumps cost, those where the running sum is largest and least.
std::int32_t best_of(std::int32_t first, std::int32_t second, std::int32_t highest, std::int32_t lowest) {
    const std::int32_t more = second - first;
    const auto worth = [&](std::int32_t before) {
        return std::min<std::int32_t>(0, before) + std::min<std::int32_t>(0, more - before);
    };
    return first + std::min(worth(highest), worth(lowest));
}

}  // namespace

void TwoActions::start(const Node& node, const std::int32_t* costs, int width) {
    steps_.resize(node.rows);
    left_masks_.resize(node.rows);
    std::int64_t sum = 0, largest = 0;
    for (Index row = 0; row < node.rows; ++row) {
        const std::int32_t* const of = costs + std::size_t{row} * static_cast<unsigned>(width);
        steps_[row] = of[1] - of[0];
        const std::int64_t size = std::abs(static_cast<std::int64_t>(steps_[row]));
        sum += size;
        largest = std::max(largest, size);
    }
    const bool narrow = largest <= kMostNarrowStep && sum <= kMostMeanStep * node.rows;
    width_ = narrow ? LaneWidth::k8 : sum <= kMostMiddleSum ? LaneWidth::k16 : LaneWidth::k32;
    const std::size_t stride = node.rows + kRoomAfter;
    if (orders_.size() < stride * node.columns.size()) orders_.resize(stride * node.columns.size());
    columns_.clear();
    for (std::size_t c = 0; c < node.columns.size(); ++c) {
        const NodeColumn& column = node.columns[c];
        std::uint32_t* const order = orders_.data() + stride * c;
        for (Index i = 0; i < node.rows; ++i) {
            const std::uint32_t row = column.order[i] & entry::kRowMask;
            order[i] = row | static_cast<std::uint32_t>(steps_[row] > 0) << entry::kClassShift;
        }
        order[node.rows] = 0;
        // Between untied rows of one sign the running sum is monotone: as between rows of one class.
        Index checks = 0, groups = 0;
        context_.kernel.flag(order, column.ranks, node.rows, false, checks, groups);
        columns_.push_back({order, node.rows, checks, column.no_ties});
    }
}

void TwoActions::take_lanes(const LinearLanes& lanes, int n) {
    for (std::size_t row = 0; row < left_masks_.size(); ++row)
        left_masks_[row] = lanes.buckets[row] < n ? ~std::uint64_t{0} << lanes.buckets[row] : 0;
    lanes_ = n;
    total_left_ = lanes.total_left;
    total_right_ = lanes.total_right;
}

void TwoActions::sweep(Index column, LaneCosts& lowest) const {
    TwoClassSums sums;
    for (auto* extremes : {sums.max_left, sums.min_left, sums.max_right, sums.min_right})
        std::fill_n(extremes, kLanes, 0);
    context_.kernel.sweep_weighted(columns_[column], left_masks_.data(), steps_.data(), width_, lanes_, sums);
    for (int lane = 0; lane < lanes_; ++lane) {
        lowest.left[lane] =
            best_of(total_left_[lane], total_left_[kLanes + lane], sums.max_left[lane], sums.min_left[lane]);
        lowest.right[lane] =
            best_of(total_right_[lane], total_right_[kLanes + lane], sums.max_right[lane], sums.min_right[lane]);
    }
}

}  // namespace provetree
