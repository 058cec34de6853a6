// The cell kernel: depth two on tables of few values, from sums over the cells of pairs of columns.
//
// A feature is a threshold of a column, and has the rows on that side of it where the column's most common value is
// not. So the sums of the rows that have two features follow from the cells of less common values of their columns.
// Every pair of features is a lane. Lanes are single floats: their answers are bounds to within an error that the
// caller knows. Compiled once per instruction set, as the sweeps are.
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

// The columns of a node: column c has the values first_value[c] .. first_value[c + 1] - 1, and a feature after each of
// them but the last: feature u - c has the values up to u where u is below common[c], and those above u otherwise.
struct CellColumns {
    int columns;
    const int* first_value;
    const int* common;
    [[gnu::always_inline]] int first_feature(int column) const { return first_value[column] - column; }
    [[gnu::always_inline]] int values() const { return first_value[columns]; }
    [[gnu::always_inline]] int features() const { return first_value[columns] - columns; }
};

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
};

// What the best second split keeps of the sum of squares, among the rows that have a feature and among the others: the
// sum of target^2 / weight over the leaves. Padded.
struct CellStumps {
    float* with;
    float* without;
    float* leaf_with;  // of the rows as a leaf
    float* leaf_without;
};

struct CellKernel {
    // Pair sums from cells: cells[u * values + v] sums the rows with value u of one column and v of a later one, and
    // cells[u * values + u] those with value u. Those of common values are not looked at. `row` has room for twice the
    // features.
    void (*sum_pairs)(const CellColumns& columns, const std::int64_t* cells, std::ptrdiff_t stride, std::int64_t* row,
                      PairSums pairs);

    // What trees of depth two with at most one, two and three splits keep of the sum of squares, less penalties.
    void (*best_two)(const CellSide& side, int features, std::ptrdiff_t stride, const CellStumps& stumps,
                     float kept[3]);
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
