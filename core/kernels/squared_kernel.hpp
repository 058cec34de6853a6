// Sweeps for squared error, compiled once per instruction set and chosen at run time as the others are.
//
// Lanes are candidate splits of one column. A row has a code: the first lane that sends it left. Along another column
// rows are added to the bucket of their code, one addition each whatever the number of lanes. Only at the end of a
// block of rows are buckets summed up to lanes, and a bound tells whether a better stump can lie inside the block; if
// so, the block is walked again for those lanes.
//
// With n the weight of the rows so far on a side of weight N and mean m, and d the sum of their weighted distances from
// m, a split here saves N d^2 / (n (N - n)). All versions give the same answers but for rounding; see squared_impl.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/types.hpp"

namespace provetree {

// Rows in a column's order up to `end`, where a group of ties ends.
struct SquaredBlock {
    Index end;
    bool one_tie;            // then no split lies inside
    double lowest, highest;  // of the targets
    double inverse;          // of highest less lowest; 0 where they are equal
    double pad;              // see squared_impl.hpp
};

// Entries are those of a node's order (kernels/entry.hpp). Splits are looked at where they say so: at ends of ties, but
// not inside a run of one class, because what a split saves is convex along it, so that its ends are enough.
struct SquaredColumn {
    const std::uint32_t* entries;
    const SquaredBlock* blocks;
    std::size_t n_blocks;
    // Sums of packed rows, where they have been counted: kSquaredCodes for each block. Null elsewhere.
    const std::int64_t* cells;
};

// By row number. Targets are in steps from a centre that the caller chooses.
struct alignas(16) SquaredRow {
    std::int64_t weight, sum;  // the sum is weight times target
};
struct alignas(16) SquaredTarget {
    double weight, target;
};
struct SquaredRows {
    const std::uint8_t* codes;  // kLanes where no lane sends the row left
    const SquaredRow* rows;
    // Weight and sum in one number, weight 2^shift + sum; null where no shift has room for both. Any sum over rows is
    // less than 2^(shift - 1) from zero, the shift is at most kMostShift, and the weight of all rows fits above it.
    const std::int64_t* packed;
    int shift;
    const SquaredTarget* targets;
    const std::int32_t* counts;
};

// Cells of a block, one for each code: whole cache lines.
inline constexpr std::size_t kSquaredCodes = kLanes + 8, kMostCountedBlocks = UINT16_MAX / kSquaredCodes;

// A column whose rows are to be counted by block and code.
struct SquaredCount {
    const std::uint16_t* places;  // kSquaredCodes times the block of each row, by row number
    std::size_t n_blocks;         // at most kMostCountedBlocks
    std::int64_t* cells;
};

inline constexpr int kMostShift = 51, kPackedBits = 62;

inline constexpr double kSettledLane = 1e200;

// The left side of each lane, then its right side. Lanes that only fill up a vector are copies of the last one.
struct alignas(64) SquaredLanes {
    double weight[2][kLanes], mean[2][kLanes];
    double count[2][kLanes];  // of the rows behind, for the minimum leaf size
    // The largest d^2 / (n (N - n)) so far, whatever the leaf sizes and with leaves large enough: what is no more than
    // the caller starts with does not count. kSettledLane where nothing is looked for.
    double best[2][kLanes], feasible[2][kLanes];
    double noise;     // the square of what rounding can make of d = 0
    double min_leaf;  // for sweep_sized alone
};

// Several outputs at once: what a split saves is the sum over them.
inline constexpr int kMostOutputs = 16;

// By row number; of each row 1 + outputs numbers: its weight, then its weight times each target.
struct OutputRows {
    const std::uint8_t* codes;
    const std::int64_t* sums;
    const double* steps;    // the same as doubles
    const double* squares;  // weight times the sum of the squares
    const std::int32_t* counts;
};

struct OutputLanes {
    SquaredLanes* sides;       // the means in there are not used
    const double* means[2];    // outputs x kLanes
    const double* squares[2];  // sums of the squares of each side
    const double* leaf[2];     // what each side costs as a leaf, in squares
    double rounding;           // more than what rounding makes of a bound
};

struct SquaredKernel {
    // Counts packed rows for so many lanes, for one column or for two at once: the second one has no places then.
    void (*count)(const SquaredCount& one, const SquaredCount& other, const SquaredRows& rows, Index n_rows, int lanes);
    // Sweeps one column; tells how often a lane found something better.
    std::uint64_t (*sweep)(const SquaredColumn& column, const SquaredRows& rows, int lanes, SquaredLanes& sides);
    // The same with a minimum leaf size.
    std::uint64_t (*sweep_sized)(const SquaredColumn& column, const SquaredRows& rows, int lanes, SquaredLanes& sides);
    // Of several outputs, with a minimum leaf size or none.
    std::uint64_t (*sweep_outputs)(const SquaredColumn& column, const OutputRows& rows, int outputs, int lanes,
                                   const OutputLanes& sides);
};

// For the kernel of that name; see choose_kernel.
const SquaredKernel& choose_squared_kernel(const std::string& name);

namespace kernels {
extern const SquaredKernel squared_baseline;
#if defined(PROVETREE_X86_KERNELS)
extern const SquaredKernel squared_avx2;
extern const SquaredKernel squared_avx512;
#endif
}  // namespace kernels

}  // namespace provetree
