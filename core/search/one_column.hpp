// Trees on a single ordered column: runs of its values, each with a class.
#pragma once

#include "loss/loss.hpp"
#include "table/table.hpp"
#include "tree/plan.hpp"

namespace provetree {

// What trees of the shape cost at least on a table of one column, which is what the best of them costs where leaves may
// be small; 0 where the table has more columns, or would take long. A tree of so many splits cuts the values into one
// run more, and any runs are those of a tree of least depth. So it is enough to go through the values once, with the
// least errors so far for each number of cuts and each class of the last run.
Cost least_of_one_column(const Table& table, Shape shape, const Loss& loss);

}  // namespace provetree
