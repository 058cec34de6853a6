// A bound for trees that are too deep to prove much about on all rows: what is proven on some of the rows holds for all of them, and a few hundred
// rows that are hard to tell apart prove far more in the same time than all rows do.
//
// Hard rows are those that the best tree gets wrong, each with its nearest rows among those that the tree takes it for. No tree below a cost is looked for,
// and the cost is raised from search to search. Where the best tree of the rows is known, more rows join.
#pragma once

#include <cstdint>
#include <vector>

#include "context.hpp"
#include "interval_search.hpp"
#include "node.hpp"
#include "plan.hpp"

namespace provetree {

class HardRows {
  public:
    // `root` has all rows of the table.
    HardRows(Context& leader, const Node& root, Shape shape, const Objective& objective);

    // No tree of all rows costs less.
    Cost bound() const { return bound_; }
    // Whether there is nothing left that the rows could prove.
    bool finished() const { return finished_; }
    // Steps of the next search.
    std::uint64_t effort() const { return effort_; }
    // Searches the rows for that many steps; `best` is the best tree of all rows so far.
    void search(const PlanPtr& best);

  private:
    void choose(const PlanPtr& best);

    // The minimum leaf size is left out: without it trees are only better.
    Context context_;
    NodeBuilder builder_;
    TreeSearch search_;
    const Node& root_;
    Shape shape_;
    Node rows_;
    Outcome start_;  // a first tree of the rows
    Cost limit_ = 0;
    Cost bound_ = 0;
    Index wanted_;  // rows to choose
    std::uint64_t effort_;
    bool chosen_ = false, finished_ = false;
};

}  // namespace provetree
