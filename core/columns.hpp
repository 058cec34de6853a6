// From raw values to what the search works on: dense ranks of a column, and rows equal in every column and in class merged into one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "types.hpp"

namespace provetree {

// The columns of a table, each ranked: column by column. Missing values (NaN) have the rank after the last.
struct RankedColumns {
    std::vector<Index> ranks;
    std::vector<double> values;             // distinct present values of all columns, one column after the other
    std::vector<std::int64_t> value_ends;   // of each column
    std::vector<std::uint8_t> has_missing;  // of each column
};

// Rows and columns are `row_step` and `column_step` numbers apart.
RankedColumns rank_columns(const double* table, std::size_t rows, std::size_t columns, std::ptrdiff_t row_step, std::ptrdiff_t column_step);

// The columns that do not order the rows as an earlier one does, forwards or backwards. Ranks of a column go from 0 to its top.
std::vector<std::int64_t> distinct_columns(const Index* ranks, std::size_t columns, std::size_t rows, const Index* tops);

struct MergedRows {
    std::vector<std::int64_t> first;  // one of the original rows behind each merged row
    std::vector<std::int64_t> weights, counts;
};

// The order of the merged rows depends on their content only, never on the order in which rows came.
MergedRows merge_rows(const Index* ranks, std::size_t columns, std::size_t n, const std::int32_t* classes, const std::int64_t* weights,
                      const std::int64_t* counts);

}  // namespace provetree
