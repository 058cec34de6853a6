// The choice among optimal trees: the tree that the tie rule prefers, split by split from the root down.
#include <utility>

#include "intervals/node_solver.hpp"
#include "sweeps/depth_one.hpp"

namespace provetree {

PlanPtr preferred_tree(NodeSolver& solver, const Node& node, NodeRequest request, const Outcome& best) {
    Context& context = solver.context();
    request.shape = request.shape.on(node.rows);
    if (leaf_cost(context, node, solver.loss()) <= best.upper || request.shape.depth == 0) return nullptr;
    if (request.shape.depth == 1) {
        const Stump stump = best_stump(context, node, solver.loss(), true);
        return stump.column ? split_plan(stump.column->id, stump.column->ranks[stump.position - 1], nullptr, nullptr)
                            : nullptr;
    }
    // Stumps are worked out by the tie rule when the tree is finished.
    TieChoice ties = request.shape.depth == 2 ? TieChoice{} : choice_of(context, node, best);
    request.limit = best.upper + 1;
    const Outcome outcome = solver.solve_with_ties(node, request, best, ties);
    return preferred_below(solver, node, request.shape, outcome, ties, request.level);
}

PlanPtr preferred_below(NodeSolver& solver, const Node& node, Shape shape, const Outcome& best, const TieChoice& ties,
                        std::size_t level) {
    shape = shape.on(node.rows);
    if (shape.depth == 1) return preferred_tree(solver, node, {.shape = shape, .level = level}, best);
    // Depth two is settled by its own solver; a leaf needs nothing more.
    if (!best.plan || shape.depth < 3) return best.plan;
    solver.divide(node, {ties.column, ties.left_splits, ties.rank}, level);
    solver.context().counters.nodes += 2;
    const auto finish = [&](const Node& child, std::int64_t splits) {
        NodeRequest below{.shape = Shape::of(shape.depth - 1, splits).on(child.rows), .level = level + 1};
        if (below.shape.depth == 2 && !child.columns.empty()) {
            // The cost and the tie rule in one go.
            TieChoice of_child;
            return solver.solve_with_ties(child, below, {}, of_child).plan;
        }
        below.keep_profile = true;
        const Outcome solved = solver.solve(child, below);
        below.relatives = {solved.profile.get(), solved.profile.get()};
        below.keep_profile = false;
        return preferred_tree(solver, child, below, solved);
    };
    const Levels::Children& kids = solver.levels().at(level);
    PlanPtr left = finish(kids.left, ties.left_splits);
    PlanPtr right = finish(kids.right, shape.splits - 1 - ties.left_splits);
    return split_plan(ties.column, ties.rank, std::move(left), std::move(right));
}

}  // namespace provetree
