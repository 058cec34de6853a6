// Lanes of two actions, by the sweeps of two classes.
//
// With d what the second action costs more than the first, rows S cost as a leaf what the first action costs on all of
// them, plus min(0, sum of d). So a stump is worth min(0, P) + min(0, D - P), where P is the running sum of d and D its
// total. That is concave in P: the best stump of a column lies where P is largest or least.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/linear_kernel.hpp"
#include "run/context.hpp"
#include "sweeps/node.hpp"

namespace provetree {

class TwoActions {
  public:
    explicit TwoActions(Context& context) : context_(context) {}

    // Narrow lanes take no longer for many than for few.
    unsigned lanes_at_once() const { return width_ == LaneWidth::k32 ? kLanes / 2 : kLanes; }
    // `costs`: so many for each row, of which the first two count.
    void start(const Node& node, const std::int32_t* costs, int width);
    // The lanes, by the bucket of each row and the sums of both sides; see LinearLanes.
    void take_lanes(const LinearLanes& lanes, int n);
    // The best stumps of a column.
    void sweep(Index column, LaneCosts& lowest) const;

  private:
    Context& context_;
    LaneWidth width_ = LaneWidth::k32;
    std::vector<std::int32_t> steps_;    // of each row: d
    std::vector<std::uint32_t> orders_;  // of the columns, with the sign of d in place of the class
    std::vector<SweepColumn> columns_;
    std::vector<std::uint64_t> left_masks_;
    int lanes_ = 0;
    const std::int32_t *total_left_ = nullptr, *total_right_ = nullptr;
};

}  // namespace provetree
