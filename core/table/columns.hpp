// From raw values to what the search works on: dense ranks of a column, and rows equal in every column and in class
// merged into one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/raw_vector.hpp"
#include "base/types.hpp"

namespace provetree {

// The columns of a table, each ranked: column by column. Missing values (NaN) have the rank after the last.
struct RankedColumns {
    RawVector<Index> ranks;
    std::vector<double> values;             // distinct present values of all columns, one column after the other
    std::vector<std::int64_t> value_ends;   // of each column
    std::vector<std::uint8_t> has_missing;  // of each column
};

// Rows and columns are `row_step` and `column_step` numbers apart.
RankedColumns rank_columns(const double* table, std::size_t rows, std::size_t columns, std::ptrdiff_t row_step,
                           std::ptrdiff_t column_step);

struct MergedRows {
    std::vector<std::int64_t> first;  // one of the original rows behind each merged row
    std::vector<std::int64_t> weights, counts;
};

// The order of the merged rows depends on their content only, never on the order in which rows came.
MergedRows merge_rows(const Index* ranks, std::size_t columns, std::size_t n, const std::int32_t* classes,
                      const std::int64_t* weights, const std::int64_t* counts);

enum class ColumnKind : std::uint8_t { kNumeric, kMissingFirst, kMissingLast, kCategory };

// Ordered columns: the one form in which the search sees every kind of feature.
struct OrderedColumns {
    RawVector<Index> ranks;                // column by column
    std::vector<std::int32_t> features;    // of each column
    std::vector<std::uint8_t> kinds;       // of each column
    std::vector<std::int32_t> categories;  // the category of rank 0, -1 for numbers
    std::vector<double> values;  // behind the ranks of all columns, one column after the other; NaN for missing values
    std::vector<std::int64_t> value_ends;  // of each column

    // All of a column but its ranks.
    template <class Values>
    void add(std::size_t feature, ColumnKind kind, std::int32_t category, const Values& of_column) {
        features.push_back(static_cast<std::int32_t>(feature));
        kinds.push_back(static_cast<std::uint8_t>(kind));
        categories.push_back(category);
        values.insert(values.end(), of_column.begin(), of_column.end());
        value_ends.push_back(static_cast<std::int64_t>(values.size()));
    }
};

// Ranked features and what they are: a number is one column, a number with missing values two (missing first, missing
// last), a category feature one column per category. Columns that are constant, those that order the rows as an earlier
// one does, forwards or backwards, and those of two values that are one of the splits of an earlier one of up to 32 are
// left out; all but the first stay with `keep_duplicates`. `n_categories` of a feature is -1 for numbers; `rows` are
// the rows to take.
struct RankedFeatures {
    const Index* ranks;
    std::size_t features, rows;
    const double* values;
    const std::int64_t* value_ends;
    const std::uint8_t* has_missing;
    const std::int64_t* n_categories;
};
OrderedColumns order_columns(const RankedFeatures& ranked, const std::vector<std::int64_t>& rows, bool keep_duplicates);

}  // namespace provetree
