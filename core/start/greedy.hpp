// A first tree in milliseconds: CART (Gini) from the root down, exact depth-two subtrees at the bottom, then the best
// pruning within the split budget and penalty.
#pragma once

#include <vector>

#include "intervals/node_solver.hpp"

namespace provetree {

class Greedy {
  public:
    Greedy(Context& context, NodeBuilder& builder, NodeSolver& solver)
        : context_(context), builder_(builder), solver_(solver) {}

    // The best greedy tree of this shape; its upper cost is kInfinite where not even a leaf is feasible. Growing is
    // never cut short: it takes about as long as sorting the table.
    Outcome grow(const Node& node, Shape shape);

    // The better of `plain` and a greedy tree whose last two levels are optimal for their rows; `plain` where the
    // search is to stop meanwhile.
    Outcome grow_with_exact_bottoms(const Node& node, Shape shape, const Outcome& plain);

  private:
    struct Option {
        Cost cost = kInfinite;
        PlanPtr plan;
        std::int64_t left_splits = 0;
    };
    // options[b]: the best tree found with at most b splits.
    std::vector<Option> options(const Node& node, Shape shape, std::size_t level, bool exact_bottoms);
    Outcome best_of(const std::vector<Option>& table, Shape shape) const;
    const NodeColumn* best_gini_split(const Node& node, Index& position);

    Context& context_;
    NodeBuilder& builder_;
    NodeSolver& solver_;
};

}  // namespace provetree
