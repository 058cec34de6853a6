// The proof of trees that are too deep to prove optimal soon, by targets: that no tree costs less than a target, far
// below the best tree, is shown long before more is known, because both sides of one split of a column mostly cost as
// much as the target does, which closes the whole column. The target is raised from search to search until it is the
// cost of the best tree. So there is a bound early, and it rises.
//
// What is proven on some of the rows holds for all of them. Where all rows take long even once, the first searches have
// those that are hardest to tell apart: the rows that the best tree gets wrong, each with its nearest rows among those
// that the tree takes it for. That is for errors; other losses have all rows from the first target on.
#pragma once

#include "intervals/node_solver.hpp"
#include "run/request.hpp"

namespace provetree {

// Whether the first targets are shown so soon, compared with the whole proof, that it pays to begin with them.
bool targets_pay(const Context& context, Shape shape);

// As the search of the root, but no target is tried once so many steps are done: then there is a bound, and perhaps a
// better tree than the first one.
RootAnswer prove_by_targets(NodeSolver& solver, const Node& root, const RootRequest& request, std::uint64_t enough);

}  // namespace provetree
