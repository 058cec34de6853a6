// Exact search on binary features, for tables whose columns all have few values. A feature is one threshold of one
// column; a node is the set of conditions that lead to it. This is its face: a first tree, the proof, the choice among
// equally good trees.
#pragma once

#include "bits/bit_proof.hpp"
#include "bits/bit_recursion.hpp"
#include "bits/perfect_trees.hpp"
#include "run/request.hpp"

namespace provetree {

class BitSearch {
  public:
    // Whether all columns have so few values, and the table so few rows, that this search is the one to use.
    static bool fits(const Table& table, int max_depth, unsigned switches);

    // The weights of the rows are their counts: such a row is as many rows.
    BitSearch(Context& context, const BitKernel& kernel, const Loss& loss)
        : context_(context), recursion_(context, kernel, loss), proof_(recursion_), perfect_(recursion_) {}

    Cost leaf_cost() const;

    // A first tree: the purest split of every node, down to the depth. Only for shapes without a binding split budget.
    Incumbent grow(Shape shape) { return grow(recursion_.nodes().root(), shape.depth, 0); }

    // Takes up what an earlier search has proven.
    void resume(const Checkpoint& checkpoint) { proof_.resume(checkpoint); }

    // The optimum, or the best so far and a valid bound where the search was stopped.
    RootAnswer solve_root(const RootRequest& request);

    // A plan of this search worked out on the rows.
    FlatTree finish(const PlanPtr& plan) { return BitTieRule(recursion_).finish(recursion_.nodes().root(), plan, 0); }

    // Among the trees of that cost, which must be the optimum, the one that the tie rule prefers.
    PlanPtr canonical(Shape shape, Cost cost);

    // From now on costs are at least `factor` times what they were: bounds that are proven stay so.
    void refine_loss(const Loss& loss, Cost factor);

  private:
    Incumbent grow(BitNode& node, int depth, std::size_t level);
    void prove(const RootRequest& request, Incumbent& best);

    Context& context_;
    BitRecursion recursion_;
    BitProof proof_;
    PerfectTrees perfect_;
};

}  // namespace provetree
