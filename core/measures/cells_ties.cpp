// The choice among equally good trees of tables of few values; see measures/cells.hpp.
#include "measures/cells.hpp"
#include "sweeps/depth_one.hpp"

namespace provetree {

// While it lives, splits that cost as much as the best tree are looked at, too.
struct CellSolver::Choosing {
    explicit Choosing(CellSolver& of_solver) : solver(of_solver) { solver.ties_ = true; }
    ~Choosing() { solver.ties_ = false; }
    Choosing(const Choosing&) = delete;
    Choosing& operator=(const Choosing&) = delete;

    CellSolver& solver;
};

std::optional<PlanPtr> CellSolver::preferred(const Node& node, Shape shape, const Loss& loss) {
    if (!node.of_cells() && !fits(shape)) return std::nullopt;
    if (shape.depth == 0) return PlanPtr{};
    if (!find_cells(node, shape)) return std::nullopt;
    use(loss);
    const Choosing choosing(*this);
    if (shape.depth < 3) {
        begin_two();
        return best_two(order_, static_cast<int>(shape.splits)).plan;
    }
    NodeRequest request{.shape = shape};
    if (const Outcome* solved = outcomes_.find(key(), request)) request.limit = solved->upper + 1;
    begin_three();
    return solve_three(node, request).plan;
}

// By the values on both sides of a split that its rows have.
TieChoice CellSolver::choice_of(Index column, const Members sides[2], std::int64_t left_splits) const {
    const auto rank_of = [&](Index cell) { return Index{rows_->ranks(node_->cell(cell))[column]}; };
    Index low = 0, next = CellRows::kMostValues;
    for (Index cell : sides[kBelow]) low = std::max(low, rank_of(cell));
    for (Index cell : sides[kAbove]) next = std::min(next, rank_of(cell));
    return {true, column, margin_between(context_, column, low, next), low, left_splits};
}

// Takes a tree over that costs less than the best, or as much where the tie rule prefers its first split. A leaf
// stands.
void CellSolver::offer(const Incumbent& tree, Index column, const Members sides[2], Incumbent& best,
                       TieChoice& choice) const {
    if (tree.upper > best.upper || tree.upper >= kInfinite) return;
    const bool equal = tree.upper == best.upper;
    if (equal && (!ties_ || !best.plan)) return;
    if (ties_) {
        const TieChoice own = choice_of(column, sides, tree.left_splits);
        if (equal && !choice.prefers(own.column, own.margin, own.rank, own.left_splits)) return;
        choice = own;
    }
    best.take(tree);
}

}  // namespace provetree
