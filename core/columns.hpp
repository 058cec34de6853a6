// From raw values to what the search works on: dense ranks of a column, and rows equal in every column and in class merged into one.
#pragma once

#include <cstdint>
#include <vector>

#include "types.hpp"

namespace provetree {

// ranks[i] is the number of distinct values below x[i]; the distinct values come back in order. No NaN; -0.0 equals 0.0.
std::vector<double> dense_ranks(const double* x, std::size_t n, Index* ranks);

struct MergedRows {
    std::vector<std::int64_t> first;  // one of the original rows behind each merged row
    std::vector<std::int64_t> weights, counts;
};

// The order of the merged rows depends on their content only, never on the order in which rows came.
MergedRows merge_rows(const Index* ranks, std::size_t columns, std::size_t n, const std::int32_t* classes, const std::int64_t* weights,
                      const std::int64_t* counts);

}  // namespace provetree
