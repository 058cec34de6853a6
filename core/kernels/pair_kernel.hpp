// The kernel for pairs of families of columns under squared error: bounds on stumps below every split of both of them.
//
// A row has one code for all columns of a family (see measures/column_families.hpp), and each split of them is a lane,
// the rows of some codes. From the sums of all pairs of codes follow those of all pairs of lanes, and from these what a
// stump on one family saves below any split of the other: exactly at lanes, and as bounds inside the groups of rows
// that a code stands for. With n and d as in squared_kernel.hpp, that is N d^2 / (n (N - n)). Compiled once per
// instruction set, as the sweeps are; all give the same bounds.
#pragma once

#include <cstdint>
#include <string>

#include "base/types.hpp"

namespace provetree {

inline constexpr int kPairCodes = 64;                   // of a family, at most
inline constexpr int kPairLanes = 2 * kPairCodes + 16;  // the same of lanes, and of a row of numbers by lane
inline constexpr int kPairStride = kPairCodes;          // of a row of numbers by code
inline constexpr int kPairSumBits = 40;                 // of a packed sum of targets; the weight is above it

// Rows of a code that lie between two lanes, where there are splits among them.
struct PairBlock {
    bool inside;
    double weight, mean, squares;  // of all rows of the code; squares around their mean
    double distances, farthest;    // the sum of |weight x target|, and the largest |target|
};

struct PairFamily {
    const std::uint8_t* of_row;  // codes
    int codes, lanes;
    // A lane has the rows of a code, and those of the lane before it where `follows` is -1; else that is 0. There may
    // be a code that no row has.
    const std::int64_t* follows;
    const int* code;
    const PairBlock* blocks;                    // between a lane and the one before it
    const double *total_weight, *total_target;  // of the rows of each lane
    const double *weight[2], *mean[2];          // of the left and the right side of the lanes, padded
    // The largest d^2 / (n (N - n)), padded: found at lanes of any family so far, and what a stump on the other family
    // can have at most, but for what is below half of the former.
    double *found[2], *most[2];
    bool wanted;  // whether bounds below the lanes of this family are
};

struct PairRows {
    Index rows;
    const std::int64_t* packed;  // weight times 2^kPairSumBits, plus weighted target
    double noise;                // squares of d up to this are nothing but rounding
};

struct PairScratch {
    std::int64_t* cells;        // 2 x kPairCodes x kPairStride
    double *weights, *targets;  // kPairLanes x kPairLanes
};

struct PairKernel {
    // What either family can save below the splits of the other one; both may be the same object.
    void (*bound)(const PairRows& rows, const PairFamily& one, const PairFamily& other, const PairScratch& scratch);
};

// For the kernel of that name; see choose_kernel.
const PairKernel& choose_pair_kernel(const std::string& name);

namespace kernels {
extern const PairKernel pairs_baseline;
#if defined(PROVETREE_X86_KERNELS)
extern const PairKernel pairs_avx2;
extern const PairKernel pairs_avx512;
#endif
}  // namespace kernels

}  // namespace provetree
