// The matrix of an interior-point step; see colgen/gram.hpp.
#include "colgen/gram.hpp"

namespace provetree::colgen {

void add_gram(const SparseColumns& matrix, const double* weights, std::size_t m, double* out) {
    for (std::size_t k = 0; k < matrix.columns; ++k) {
        const std::int64_t last = matrix.starts[k + 1];
        for (std::int64_t i = matrix.starts[k]; i < last; ++i) {
            double* column = out + matrix.rows[i] * m;
            const double factor = weights[k] * matrix.values[i];
            for (std::int64_t j = i; j < last; ++j) column[matrix.rows[j]] += factor * matrix.values[j];
        }
    }
}

}  // namespace provetree::colgen
