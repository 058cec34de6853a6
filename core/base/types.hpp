// Number types of the core, named once, each with its reason.
#pragma once

#include <cstdint>
#include <limits>

namespace provetree {

// A position in a node's sorted order, a row number inside a node, or a dense rank of a column.
using Index = std::uint32_t;

// Sums of row weights. The Python side scales weights so that their total is at most 2^30: sums and differences fit in
// 32 bits, which is what lets the kernels use narrow lanes.
using Weight = std::int32_t;

// error_scale * weight + split_penalty * splits. 64 bits because error_scale may be large (an exact ratio for alpha).
using Cost = std::int64_t;

// "No tree": larger than any real cost, and two of them can be added without overflow.
inline constexpr Cost kInfinite = std::numeric_limits<Cost>::max() / 8;

// Total integer weight of a problem; above it the kernels' 32-bit sums could overflow.
inline constexpr std::int64_t kMaxTotalWeight = std::int64_t{1} << 30;

// Splits evaluated side by side by one panel.
inline constexpr int kLanes = 64;

}  // namespace provetree
