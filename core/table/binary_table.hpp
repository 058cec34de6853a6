// Tables of yes and no, whose columns have at most two values and none missing: as bits, they are merged and ordered in
// a fraction of the time.
#pragma once

#include <optional>

#include "kernels/bit_kernel.hpp"
#include "table/columns.hpp"

namespace provetree {

struct BinaryTable {
    MergedRows rows;
    OrderedColumns columns;
};

// What rank_columns, merge_rows and order_columns make of such a table; the merged rows may come in another order,
// which depends on their content only, too. Nothing where a column has other values. Rows and columns are `row_step`
// and `column_step` numbers apart.
std::optional<BinaryTable> order_binary_table(const BitKernel& kernel, const double* table, std::size_t rows,
                                              std::size_t columns, std::ptrdiff_t row_step, std::ptrdiff_t column_step,
                                              const std::int32_t* classes, const std::int64_t* weights,
                                              const std::int64_t* counts, bool keep_duplicates);

}  // namespace provetree
