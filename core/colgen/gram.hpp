// The matrix A D A' of an interior-point step: A sparse by columns, D diagonal, the result dense.
#pragma once

#include <cstddef>
#include <cstdint>

namespace provetree::colgen {

// Adds the lower triangle of A D A' to `out`, an m x m matrix stored column by column. Column k of A has the entries
// [starts[k], starts[k + 1]), their rows in rising order; D is given by `weights`.
inline void add_gram(const std::int64_t* starts, const std::int32_t* rows, const double* values, const double* weights,
                     std::size_t columns, std::size_t m, double* out) {
    for (std::size_t k = 0; k < columns; ++k) {
        const std::int64_t last = starts[k + 1];
        for (std::int64_t i = starts[k]; i < last; ++i) {
            double* column = out + rows[i] * m;
            const double factor = weights[k] * values[i];
            for (std::int64_t j = i; j < last; ++j) column[rows[j]] += factor * values[j];
        }
    }
}

}  // namespace provetree::colgen
