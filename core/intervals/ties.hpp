// The choice among optimal trees: the tree that the tie rule prefers, split by split from the root down.
#pragma once

#include "intervals/node_solver.hpp"

namespace provetree {

// Among all optimal trees of cost `best.upper` or less, the one preferred. The relatives of the request bound the
// splits of this node; its limit says nothing.
PlanPtr preferred_tree(NodeSolver& solver, const Node& node, NodeRequest request, const Outcome& best);

// The rest of that tree, given the split it begins with: the outcome and choice of a search with ties.
PlanPtr preferred_below(NodeSolver& solver, const Node& node, Shape shape, const Outcome& best, const TieChoice& ties,
                        std::size_t level);

}  // namespace provetree
