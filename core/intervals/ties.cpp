// The choice among optimal trees: the tree that the tie rule prefers, split by split from the root down.
#include <algorithm>

#include "intervals/frame.hpp"
#include "sweeps/depth_one.hpp"

namespace provetree {

PlanPtr TreeSearch::canonical(const Node& node, Shape shape, const Outcome& best, Relatives known, std::size_t level) {
    shape = shape.on(node.rows);
    if (leaf_cost(context_, node, loss) <= best.upper || shape.depth == 0) return nullptr;
    if (shape.depth == 1) {
        const Stump stump = best_stump(context_, node, loss, true);
        return stump.column ? split_plan(stump.column->id, stump.column->ranks[stump.position - 1], nullptr, nullptr)
                            : nullptr;
    }
    // Stumps are worked out by the tie rule when the tree is finished.
    TieChoice ties = choice_of(node, best);
    if (shape.depth == 2) {
        ties = {};
        return depth_two_.solve(node, {shape, best.upper + 1, known, false, level}, loss, &ties).plan;
    }
    const Outcome outcome =
        search(node, shape, best.upper + 1, known, false, level, best, nullptr, nullptr, &ties, nullptr);
    return canonical_below(node, shape, outcome, ties, level);
}

TieChoice TreeSearch::choice_of(const Node& node, const Outcome& best) const {
    if (!best.plan || best.plan->stump) return {};
    const NodeColumn& column = column_of(node, best.plan->column);
    const Index position = Node::rows_up_to(column, best.plan->rank, 0, node.rows);
    return {true, column.id, margin(context_, column, position), column.ranks[position - 1], best.left_splits};
}

PlanPtr TreeSearch::canonical_below(const Node& node, Shape shape, const Outcome& best, const TieChoice& ties,
                                    std::size_t level) {
    shape = shape.on(node.rows);
    // Depth one and two are settled by their own solvers; a leaf needs nothing more.
    if (!best.plan || shape.depth < 3) return shape.depth == 1 ? canonical(node, shape, best, {}, level) : best.plan;
    const NodeColumn& column = column_of(node, ties.column);
    Levels::Children& kids = levels.at(level);
    builder_.split(node, column, Node::rows_up_to(column, ties.rank, 0, node.rows), kids.left, kids.right);
    context_.counters.nodes += 2;
    const auto finish = [&](const Node& child, std::int64_t splits) {
        const Shape below = Shape::of(shape.depth - 1, splits).on(child.rows);
        if (below.depth == 2 && !child.columns.empty()) {
            // The cost and the tie rule in one go.
            TieChoice of_child;
            return depth_two_.solve(child, {below, kInfinite, {}, false, level + 1}, loss, &of_child).plan;
        }
        const Outcome solved = solve(child, below, kInfinite, {}, true, level + 1);
        return canonical(child, below, solved, {solved.profile.get(), solved.profile.get()}, level + 1);
    };
    PlanPtr left = finish(kids.left, ties.left_splits);
    PlanPtr right = finish(kids.right, shape.splits - 1 - ties.left_splits);
    return split_plan(ties.column, ties.rank, std::move(left), std::move(right));
}

}  // namespace provetree
