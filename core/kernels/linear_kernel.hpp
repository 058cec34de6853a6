// The kernel of linear costs: best stumps on both sides of many splits of one column. Compiled once per instruction
// set, as the sweeps are; all versions give the same answers.
//
// Costs are small whole numbers: what a row costs under each action, rounded down to so coarse a unit that the sum over
// all rows fits in 32 bits. Sums of them are lower bounds on sums of the costs as they are, and the least over actions
// is one, too. What matters is swept once more in 64 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/types.hpp"

namespace provetree {

// Costs of a row are padded to a multiple of this by repeating the first action, which changes no minimum.
inline constexpr int kCostBlock = 4;

// A run of rows of a column that ends where a group of ties does.
struct RowBlock {
    Index end;
    bool one_tie;  // no split inside
};

// A column of a node in its order, cut into blocks.
struct LinearColumn {
    const std::uint32_t* order;
    const Index* ranks;
    const RowBlock* blocks;
    std::size_t n_blocks;
    bool no_ties;
};

// By lane, in coarse costs.
struct alignas(64) LaneCosts {
    std::int32_t left[kLanes];
    std::int32_t right[kLanes];
};

// Splits of one column. Arrays over actions and lanes have kLanes numbers for each action.
struct LinearLanes {
    int lanes;                    // a multiple of 16; lanes that only fill up have `best` at the least number there is
    int width;                    // actions, padded
    const std::int32_t* costs;    // rows x width
    const std::uint8_t* buckets;  // of each row: the first lane that sends it left; `lanes` where none does; of sweeps
    const std::int32_t* total_left;   // by action and lane
    const std::int32_t* total_right;  // likewise
    unsigned char* scratch;           // linear_scratch_bytes(width), at a cache line
};

// Memory of one sweep: buckets, sums by lane, and what they were a block ago.
inline std::size_t linear_scratch_bytes(int width) {
    return static_cast<std::size_t>(width) * sizeof(std::int32_t) * (4 * kLanes + 32) + 1024;
}

// A column cut into at most kLanes groups of rows.
struct RowGroups {
    const std::uint8_t* of_row;
    int groups;
    const std::int32_t* one_tie;  // of each group: -1 where no split is inside, otherwise 0; kLanes of them
};

// Two columns cut into groups. `table` has room for kLanes x kLanes x width sums.
struct LinearPair {
    Index rows;
    RowGroups one, other;
    std::int32_t* table;
};

// A side of a split, in the order of a column, with costs as they are.
struct ExactSide {
    const std::uint32_t* order;
    const Index* ranks;
    Index rows;
    const std::uint8_t* buckets;
    int lane;
    bool right;
    const std::int64_t* costs;  // of the rows of the table, a number for each action
    const Index* ids;           // which rows of the table these are
    int actions;
    const std::int64_t* total;   // of the side, by action
    const std::int32_t* counts;  // of each row; read under a minimum leaf size only
    std::int64_t count;          // of the side
    std::int64_t min_leaf;
    std::int64_t* scratch;  // a number for each action
};

// The best split of a side, with and without the minimum leaf size; kInfinite where there is none.
struct ExactStump {
    Cost any, feasible;
};

struct LinearKernel {
    // Sweeps a column: lowers `best` to the cost of the best stump, where the column has a better one, and sets
    // `lowest` to a lower bound on all stumps of the column. Returns how often a better one was met.
    std::uint64_t (*sweep)(const LinearColumn& column, const LinearLanes& lanes, LaneCosts& best, LaneCosts& lowest);
    // Splits after the groups of two columns: lowers `one` to a lower bound on what stumps of the other column cost on
    // their sides, and `other` to the same the other way round. The lanes are the other column's.
    void (*bound_pair)(const LinearPair& pair, const LinearLanes& lanes, LaneCosts& one, LaneCosts& other);
    // The best split of one side.
    ExactStump (*sweep_exactly)(const ExactSide& side);
};

// The kernel of that instruction set; see choose_kernel.
const LinearKernel& choose_linear_kernel(const std::string& name);

namespace kernels {
extern const LinearKernel linear_baseline;
#if defined(PROVETREE_X86_KERNELS)
extern const LinearKernel linear_avx2;
extern const LinearKernel linear_avx512;
#endif
}  // namespace kernels

}  // namespace provetree
