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
    request.keep_profile = request.shape.depth > 4;  // of sides that are not told at once
    const Outcome outcome = solver.solve_with_ties(node, request, best, ties);
    return preferred_below(solver, node, request.shape, outcome, ties, request.level);
}

namespace {

// What is known of the sides of the split that a tree begins with; null where nothing is.
const DeepPoint* point_of(const Profile* profile, const TieChoice& split) {
    if (!profile) return nullptr;
    for (const DeepFamily& family : profile->deep) {
        if (family.id != split.column || family.left_splits != split.left_splits) continue;
        for (const DeepPoint& point : family.points)
            if (point.rank == split.rank) return &point;
    }
    return nullptr;
}

}  // namespace

PlanPtr preferred_below(NodeSolver& solver, const Node& node, Shape shape, const Outcome& best, const TieChoice& ties,
                        std::size_t level) {
    shape = shape.on(node.rows);
    if (shape.depth == 1) return preferred_tree(solver, node, {.shape = shape, .level = level}, best);
    // Depth two is settled by its own solver; a leaf needs nothing more.
    if (!best.plan || shape.depth < 3) return best.plan;
    solver.begin_sides(node, shape, level);
    solver.divide_next(node, {ties.column, ties.left_splits, ties.rank}, level);
    solver.context().counters.nodes += 2;
    const DeepPoint* const known = point_of(best.profile.get(), ties);
    const auto finish = [&](const Node& child, std::int64_t splits, Relatives relatives) {
        NodeRequest below{.shape = Shape::of(shape.depth - 1, splits).on(child.rows), .level = level + 1};
        if (const std::optional<PlanPtr> plan = solver.preferred_by_cells(child, below.shape)) return *plan;
        if (below.shape.depth == 2 && !child.columns.empty()) {
            // The cost and the tie rule in one go.
            TieChoice of_child;
            return solver.solve_with_ties(child, below, {}, of_child).plan;
        }
        below.keep_profile = true;
        below.relatives = relatives;
        const Outcome solved = solver.solve(child, below);
        below.relatives = {solved.profile.get(), solved.profile.get()};
        below.keep_profile = false;
        return preferred_tree(solver, child, below, solved);
    };
    const Levels::Children& kids = solver.levels().at(level);
    const Relatives of_left = known ? Relatives{known->inner_left.get(), known->outer_left.get()} : Relatives{},
                    of_right = known ? Relatives{known->inner_right.get(), known->outer_right.get()} : Relatives{};
    PlanPtr left = finish(kids.left, ties.left_splits, of_left);
    PlanPtr right = finish(kids.right, shape.splits - 1 - ties.left_splits, of_right);
    return split_plan(ties.column, ties.rank, std::move(left), std::move(right));
}

}  // namespace provetree
