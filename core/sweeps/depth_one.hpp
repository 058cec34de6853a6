// Depth one: the best single split of a node, by plain code: where a panel would be too much, and to finish trees.
#pragma once

#include <array>
#include <vector>

#include "loss/loss.hpp"
#include "run/context.hpp"
#include "sweeps/node.hpp"

namespace provetree {

struct Stump {
    // The best tree with at most one split that respects the minimum leaf size; kInfinite where there is none.
    Cost cost = kInfinite;
    Cost relaxed = kInfinite;            // the same without the minimum leaf size
    const NodeColumn* column = nullptr;  // null: the leaf is best
    Index position = 0;
};

// Cost of the node as a leaf; kInfinite where it has too few rows.
Cost leaf_cost(const Context& context, const Node& node, const Loss& loss);

// Cost of the node as a leaf of some class, as a direction asks for it, whatever its size.
inline Cost labelled_cost(const Node& node, const Loss& loss, int label) {
    return loss.leaf(node.weight - node.by_class[static_cast<std::size_t>(label)]);
}

// The best stump. With `canonical`, by the tie rule: leaf first, lowest column, widest margin, lowest threshold.
Stump best_stump(Context& context, const Node& node, const Loss& loss, bool canonical);

// The best stump of a side whose columns are gone.
struct FoundSplit {
    bool found = false;  // not: the leaf is best
    Index column = 0;    // of the table
    Index rank = 0, next = 0;
};
// Whether such stumps can be found.
bool finds_stumps_of_sides(const Node& node);
// The best stumps of the wanted sides of a split, by the tie rule. The sides are made without columns, which are looked
// at one after the other, which takes less time and memory.
std::array<FoundSplit, 2> best_stumps_of_sides(Context& context, NodeBuilder& builder, const Node& node,
                                               const NodeColumn& column, Index position,
                                               const std::array<bool, 2>& wanted, const Loss& loss, Node& left,
                                               Node& right);

// A split that leaves two leaves of so many units.
struct ScoredSplit {
    Index column;  // index into the node's columns
    Index position;
    Cost units;
};

// Under a measure: the best split of each column that leaves both sides enough rows.
std::vector<ScoredSplit> best_measured_splits(Context& context, const Node& node);

// The least errors (weights) of a tree with at most one split on each column by itself, whatever the leaf sizes.
void column_stumps(Context& context, const Node& node, std::vector<Weight>& errors);

// Distance between the two values that a split after `position` rows separates; 0 where one of them is "missing".
double margin(const Context& context, const NodeColumn& column, Index position);
// The same between two ranks of a column.
double margin_between(const Context& context, Index column, Index low, Index next);

}  // namespace provetree
