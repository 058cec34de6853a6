// The matrix A D A' of an interior-point step: A sparse by columns, D diagonal, the result dense.
#pragma once

#include <cstddef>
#include <cstdint>

namespace provetree::colgen {

// A matrix by columns: the entries of column k are [starts[k], starts[k + 1]), their rows in rising order.
struct SparseColumns {
    const std::int64_t* starts;
    const std::int32_t* rows;
    const double* values;
    std::size_t columns;
};

// Adds the lower triangle of A D A' to `out`, an m x m matrix stored column by column; D is given by `weights`, one per
// column of A.
void add_gram(const SparseColumns& matrix, const double* weights, std::size_t m, double* out);

}  // namespace provetree::colgen
