// First trees. In milliseconds: CART (Gini) from the root down, exact depth-two subtrees at the bottom, then the best
// pruning within the split budget and penalty. A better one for tables with many columns: the search on a few of them.
#pragma once

#include "intervals/node_solver.hpp"

namespace provetree {

// The best greedy tree of this shape; its upper cost is kInfinite where not even a leaf is feasible. It takes about as
// long as sorting the table, so it is hardly ever cut short: only large tables, deep trees and medians of many rows end
// in leaves once the time is over.
Incumbent grow_greedily(NodeSolver& solver, const Node& node, Shape shape);

// Greedy trees by size: entry k has at most k splits. At most 255 splits.
std::vector<Incumbent> grow_by_size(NodeSolver& solver, const Node& node, Shape shape);

// The better of `plain` and a greedy tree whose last two levels are optimal for their rows; `plain` where the search is
// to stop meanwhile.
Incumbent grow_with_exact_bottoms(NodeSolver& solver, const Node& node, Shape shape, const Incumbent& plain);

// The best tree of the columns that are best by themselves in the nodes of the tree `first`; that one where it is no
// worse. Nearly all columns of wide tables mean nothing, but proving that takes a good tree. Cut short after a number
// of steps that depends on the table only.
Incumbent search_shortlist(NodeSolver& solver, const Node& root, Shape shape, const Incumbent& first);

}  // namespace provetree
