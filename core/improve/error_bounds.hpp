// Lower bounds on the weight of the errors of any tree that take one pass over the table.
#pragma once

#include "run/context.hpp"
#include "tree/plan.hpp"

namespace provetree {

// A tree with k splits predicts at most k + 1 classes: the rows of all other classes are errors.
Weight errors_of_classes_without_leaf(const Table& table, Shape shape);

// Rows that are equal in every column end in one leaf: all but those of their heaviest class are errors.
Weight errors_of_equal_rows(Context& context);

}  // namespace provetree
