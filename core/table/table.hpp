// The table of a problem as the core sees it: ranks of the ordered columns, classes and weights of the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/types.hpp"

namespace provetree {

class Measure;

// The problem as the core sees it; the arrays belong to the caller. ranks[c * rows + i] is the dense rank of row i in
// column c.
struct Table {
    Index rows = 0;
    Index columns = 0;
    int n_classes = 1;
    const Index* ranks = nullptr;
    const std::int32_t* classes = nullptr;
    const std::int64_t* weights = nullptr;
    const std::int64_t* counts = nullptr;
    std::vector<const double*> values;  // values[c][rank], NaN where the rank stands for "missing"
    std::vector<Index> tops;            // the highest rank in each column
    const Measure* measure = nullptr;   // what leaves cost; null: errors. With one, weights are what rows can add
};

inline const Index* ranks_of(const Table& table, Index column) {
    return table.ranks + std::size_t{column} * table.rows;
}

}  // namespace provetree
