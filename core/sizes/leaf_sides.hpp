// Splits of which one side is a leaf: the leaf's cost is known at every one of them, and few matter.
//
// If the next group of ties is all of the leaf's label, the split can be moved past it: the leaf costs no more, and the
// other side has fewer rows, which never cost more. So a leaf beside a subtree needs only the splits that cannot be
// moved. A minimum leaf size could forbid the smaller side: then this does not hold.
#pragma once

#include <vector>

#include "sweeps/node.hpp"

namespace provetree {

struct LeafSplit {
    Index position;
    Weight leaf;  // errors of the leaf
};

struct LeafSides {
    std::vector<LeafSplit> left, right;  // with the leaf on that side, by position
};

// Those of every column of a node whose costs are errors.
void list_leaf_sides(const Node& node, std::vector<LeafSides>& columns);

}  // namespace provetree
