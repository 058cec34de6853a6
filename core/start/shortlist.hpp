// A better first tree for tables with many columns: the search on a few of them, those that are best by themselves in
// the nodes of a greedy tree. Nearly all columns of such tables mean nothing, but proving that takes a good tree.
#pragma once

#include <vector>

#include "intervals/node_solver.hpp"

namespace provetree {

class Shortlist {
  public:
    Shortlist(Context& context, NodeBuilder& builder, NodeSolver& solver)
        : context_(context), builder_(builder), solver_(solver) {}

    // The best tree of the shortlist's columns, or `first` where that is no worse. Cut short after a number of steps
    // that depends on the table only.
    Outcome search(const Node& root, Shape shape, const Outcome& first);

  private:
    void collect(const Node& node, const Plan* plan, int depth, std::size_t level);

    Context& context_;
    NodeBuilder& builder_;
    NodeSolver& solver_;
    std::vector<Index> ids_;
};

}  // namespace provetree
