// The cell kernel: depth two on tables of few values, from sums over the cells of pairs of columns.
//
// A feature is a threshold of a column, and has the rows on that side of it where the column's most common value is
// not. So the features of a column are two runs, one from either end of its values: each has one value more than the
// one before it, and the sums of the rows that have two features follow from the cells of less common values. Every
// pair of features is a lane. Lanes are single floats: their answers are bounds to within an error that the caller
// knows. Compiled once per instruction set, as the sweeps are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace provetree {

// Numbers after the last feature of a row of lanes that may be read.
inline constexpr int kCellPadding = 16;

// A weight and a weighted target in one number: sums of both are sums of these. Targets stay below 2^31 in size.
[[gnu::always_inline]] inline std::int64_t packed_cell(std::int64_t weight, std::int64_t target) {
    return weight * (std::int64_t{1} << 32) + target;
}
[[gnu::always_inline]] inline std::int32_t cell_target(std::int64_t cell) { return static_cast<std::int32_t>(cell); }
[[gnu::always_inline]] inline std::int32_t cell_weight(std::int64_t cell) {
    return static_cast<std::int32_t>((cell - cell_target(cell)) >> 32);
}

// The weights and targets of rows that have both of two features: row i from lane i + 1 on, `stride` apart.
struct PairSums {
    float* weights;
    float* targets;
};

// One side of a split: the rows counted in `pairs`, or where `whole` is given those of the whole node less these.
struct CellSide {
    PairSums pairs, whole;
    const float* weights;  // of the rows that have each feature, padded
    const float* targets;
    float weight, target;  // of all rows of the side
    float penalty;         // of a split
    float min_leaf;        // what a leaf has to weigh; 0 where it may weigh anything
};

// What the best second split keeps of the sum of squares, among the rows that have a feature and among the others: the
// sum of target^2 / weight over the leaves. Padded.
struct CellStumps {
    float* with;
    float* without;
    float* leaf_with;  // of the rows as a leaf
    float* leaf_without;
    // The same with leaves that weigh enough, leaf or split; kNotKept where there are none. Only with a minimum.
    float* sized_with;
    float* sized_without;
};

// What trees of depth two with at most one, two and three splits keep of the sum of squares, less penalties.
struct CellKept {
    float any[3], sized[3];  // whatever the leaves weigh, and with leaves that weigh enough
};
inline constexpr float kNotKept = -__builtin_inff();

// Cells of pairs of features are rows of falling length: that of i and j >= i is at this place and j.
[[gnu::always_inline]] inline std::ptrdiff_t cell_row(std::ptrdiff_t i, std::ptrdiff_t features) {
    return (i * (2 * features - 1 - i)) >> 1;
}

struct CellKernel {
    // Pair sums from cells: that of i and j, i <= j, sums the rows with the value that feature i has more than the one
    // before it, and with that of j. place[i]: how many features of its run are before feature i. Cells, places (0) and
    // `row` are padded.
    void (*sum_pairs)(const std::int64_t* cells, const std::int64_t* place, int features, std::ptrdiff_t stride,
                      std::int64_t* row, PairSums pairs);

    void (*best_two)(const CellSide& side, int features, std::ptrdiff_t stride, const CellStumps& stumps,
                     CellKept& kept);
};

// The cell kernel that goes with the sweeps of that name (see choose_kernel).
const CellKernel& choose_cell_kernel(const std::string& name);

namespace kernels {
extern const CellKernel cells_baseline;
#if defined(PROVETREE_X86_KERNELS)
extern const CellKernel cells_avx2;
extern const CellKernel cells_avx512;
#endif
}  // namespace kernels

}  // namespace provetree
