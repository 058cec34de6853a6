// A way to search: by sweeps over sorted columns, or on bits. What the driver needs of both.
#pragma once

#include <memory>

#include "certify/claims.hpp"
#include "certify/interval_claims.hpp"
#include "kernels/bit_kernel.hpp"
#include "proof/checkpoint.hpp"
#include "run/context.hpp"
#include "run/request.hpp"
#include "sweeps/node.hpp"
#include "tree/outcome.hpp"

namespace provetree {

// What is to be shown of a search that has come to its end, or was stopped.
struct CertifyRequest {
    Shape shape;
    Cost bound;         // no tree of the shape costs less, under this loss
    Loss loss;          // of the user
    KnownSplits known;  // what the search of the root knows of its splits
    bool proven;        // the search came to its end; otherwise what it did not solve is not solved now
};

class Method {
  public:
    virtual ~Method() = default;
    // Of the root as a leaf; kInfinite where it has fewer rows than a leaf needs.
    virtual Cost leaf_cost() const = 0;
    // Takes up what an earlier search has proven; called before `start`.
    virtual void resume(const Checkpoint& checkpoint) = 0;
    // A first tree, in milliseconds. Only trees below the limit will be looked for.
    virtual Incumbent start(Shape shape, Cost limit) = 0;
    virtual RootAnswer prove(const RootRequest& request) = 0;
    // A plan worked out on the rows.
    virtual FlatTree finish(const PlanPtr& plan) = 0;
    // All rows as a node, where there is one.
    virtual const Node* root() const = 0;
    // Among the trees that cost as little as the one proven, the one that the tie rule prefers; the loss of the proof
    // counts splits already.
    virtual PlanPtr preferred(Shape shape, const Outcome& best) = 0;
    // The same after a proof whose loss did not. `refined` is `factor` times that loss and counts splits; `best` has
    // its cost under it. A stop is no failure: `complete` says whether the tree is the one preferred, or only one that
    // is no worse than the one given.
    virtual PlanPtr preferred(Shape shape, Outcome best, const Loss& refined, Cost factor, bool& complete) = 0;
    // Claims from which anyone can see what is proven; the last thing that is asked.
    virtual Certified certify(const CertifyRequest& request) = 0;
};

// By sweeps over sorted columns: greedy start, sample of rows, targets, proof. `with_ties`: the proof finds the split
// that the tie rule prefers, too. `limited`: the search may end before its proof, so that a bound matters early.
std::unique_ptr<Method> by_sweeps(Context& context, const Loss& loss, bool with_ties, bool limited);

// The same under rules with directions, without the rows that every better tree than the first one gets wrong.
std::unique_ptr<Method> by_undecided_rows(Context& context, const Loss& loss, std::unique_ptr<Method> whole);

// On bits. The weights of the rows are their counts: such a row is as many rows.
std::unique_ptr<Method> by_bits(Context& context, const BitKernel& kernel, const Loss& loss);
// Whether all columns have so few values, and the table so few rows, that this search is the one to use.
bool bits_fit(const Table& table, int max_depth, unsigned switches);

}  // namespace provetree
