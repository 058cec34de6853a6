// The class kernel: the best stumps on both sides of up to 64 candidate splits, for losses of the class weights of
// leaves. Compiled once per instruction set, as the sweeps are; all versions give the same answers.
//
// Rows are counted in cells, one for each class and stretch between neighbouring candidates, so that a row costs the
// same for one lane and for all of them. Lanes are looked at only after a block of rows: a bound tells whether a better
// split can lie inside the block, and only then is the block walked again, for that lane alone. Costs are estimated in
// single precision; what may be the best is settled in whole units.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/types.hpp"

namespace provetree {

// Where a row is counted: its class, times the stride, plus the number of candidate splits that it is right of; kLanes
// where that is all of them.
using Slot = std::uint16_t;
inline constexpr int kSlotShift = 7;
inline constexpr int kSlotStride = 1 << kSlotShift;
inline constexpr int kMostLaneClasses = 1 << (16 - kSlotShift);

// Rows between two splits of a column. The last group of ties of a block has no split after any but its last row.
struct ClassBlock {
    Index end;         // one after its last row
    Index last_group;  // where its last group of ties begins
    bool unit;         // whether all of its rows have weight one
};
// Rows of a block before its last group.
inline constexpr Index kMostBlockRows = 64;

// Before a block: what the rows of a side up to there cost at least, those after the block, and a split at its end. No
// leaf of a split is empty.
struct alignas(64) ClassCosts {
    float left[2][kLanes], right[2][kLanes];
    float split[2][kLanes];  // kNoEstimate where there is none to be looked at
};
struct ClassCounts {
    std::int64_t of[kLanes + 1];  // rows of each stretch between candidates
};
// Sums of the rows before the first of some neighbouring blocks and after each of them.
struct ClassSums {
    std::int32_t* left = nullptr;  // left rows: for each block kLanes numbers for each class
    std::int32_t* all = nullptr;   // all rows: for each block a number for each class
    ClassCosts* costs = nullptr;
    ClassCounts* counts = nullptr;
};

// A column is looked at twice. First between large blocks, whose sums are kept: then much is known of the best stumps
// of all columns, and only large blocks that could hold a better one are looked into, block by block.
struct ClassColumn {
    const std::uint32_t* order;
    const Index* ranks;
    const ClassBlock* blocks;
    std::size_t n_blocks;
    const ClassBlock* large;  // of so many blocks each, but for the last one
    std::size_t n_large, blocks_each;
    ClassSums sums;  // of the large blocks
    // Rows of each large block by class and code: kSlotStride numbers for each class. Null where they have not been
    // counted.
    const std::int32_t* cells;
};

// A column whose rows are to be counted by large block, class and code.
struct ClassCount {
    const std::uint16_t* places;  // of each row, by row number: where the cells of its large block begin
    std::size_t n_blocks;
    std::int32_t* cells;
};
inline constexpr std::size_t kMostClassCells = UINT16_MAX;

// Blocks that are looked at together: splits between them first, as the better the stumps at hand, the fewer blocks are
// walked again.
inline constexpr int kMostChunkBlocks = 32;
// In place of an estimate, and more than any of them.
inline constexpr float kNoEstimate = 1e30f;

// Parabolas below the entropy of two shares; see entropy_parabolas.
inline constexpr int kParabolas = 32;

// The lanes of a panel. Sides are 0 for left and 1 for right. Lanes up to a multiple of 16 repeat the last one.
struct alignas(64) ClassLanes {
    // What the caller says.
    int lanes = 0, classes = 0;
    bool all_blocks = false;                // without bounds: every block is walked
    const Slot* slots = nullptr;            // of each row
    const std::int32_t* weights = nullptr;  // of each row; null where all are one
    const std::int32_t* counts = nullptr;   // of each row; null without a minimum leaf size
    std::int64_t min_leaf = 0;
    const std::int32_t* whole[2] = {};  // class weights of both sides: kLanes numbers for each class
    double unit = 1;                    // cost of a unit
    // Entropy: x (ln x - centre) of all weights up to the node's, or null where they are too many. Costs do not depend
    // on the centre, and numbers are small beside it.
    const float* xlogx = nullptr;
    float centre = 0;
    const float* parabolas = nullptr;  // first their slopes at 0, then what is taken off for the square
    void* measure = nullptr;
    Cost (*units)(void* measure, const std::int32_t* by_class) = nullptr;  // of a leaf of these class weights
    // For a chunk of blocks.
    int chunk_blocks = 1;
    ClassSums chunk;
    // For the rows of so many blocks by class and code.
    int cell_blocks = 1;
    std::int32_t* cells = nullptr;
    std::int32_t *left_leaf = nullptr, *right_leaf = nullptr;  // a number for each class

    // Both sides of each lane, and the best so far; the caller starts the best with the units of a leaf.
    std::int64_t count[2][kLanes];
    Cost best[2][kLanes], feasible[2][kLanes];
    // Estimates below this may be better than the best so far.
    float below[2][kLanes], feasible_below[2][kLanes];
    float allowance[2][kLanes];  // more than estimates can be wrong by
    // Two classes without a minimum leaf size: the split that seems to be the best, which is not among the best so far,
    // by the left leaf and its estimate. The caller starts without one, and settles it in the end.
    struct TwoClasses {
        std::int32_t zeros, ones;
    };
    float held[2][kLanes];
    TwoClasses held_left[2][kLanes];
    std::uint64_t improved = 0;  // how often a best one was improved on
};

// Both looks at a column; the second one after any number of first ones.
struct ClassLooks {
    void (*between)(ClassLanes& lanes, const ClassColumn& column);
    void (*inside)(ClassLanes& lanes, const ClassColumn& column);
};
struct ClassKernel {
    ClassLooks gini, entropy, pessimistic;
    // Counts rows for one column or for two at once: the second one has no places then.
    void (*count)(const ClassCount& one, const ClassCount& other, const ClassLanes& lanes, Index n_rows);
};

// The class kernel that goes with the sweeps of that name (see choose_kernel).
const ClassKernel& choose_class_kernel(const std::string& name);

namespace kernels {
extern const ClassKernel classes_baseline;
#if defined(PROVETREE_X86_KERNELS)
extern const ClassKernel classes_avx2;
extern const ClassKernel classes_avx512;
#endif
}  // namespace kernels

}  // namespace provetree
