// Ordered columns of a table that one number for each row tells all about: the categories of a feature, of which a row
// has one, and a number whose missing values come first in one column and last in another.
#pragma once

#include <vector>

#include "base/types.hpp"
#include "table/table.hpp"

namespace provetree {

struct ColumnFamily {
    enum class Kind { kOrdered, kMissing, kCategories };
    Kind kind;
    // Of the table, ascending. kMissing: missing first, then missing last. kCategories: no row has rank 0 in two of
    // them; at most `most` columns.
    std::vector<Index> columns;
};

// All columns, in their order, with at most so many categories in a family.
std::vector<ColumnFamily> column_families(const Table& table, std::size_t most_categories);

}  // namespace provetree
