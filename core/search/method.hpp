// A way to search: by sweeps over sorted columns, or on bits. What the driver needs of both.
#pragma once

#include "proof/checkpoint.hpp"
#include "run/context.hpp"
#include "run/request.hpp"
#include "sweeps/node.hpp"
#include "tree/outcome.hpp"

namespace provetree {

class Method {
  public:
    virtual ~Method() = default;
    // Of the root as a leaf; kInfinite where it has fewer rows than a leaf needs.
    virtual Cost leaf_cost() const = 0;
    // Takes up what an earlier search has proven; called before `start`.
    virtual void resume(const Checkpoint& checkpoint) = 0;
    // A first tree, in milliseconds.
    virtual Incumbent start(Shape shape) = 0;
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
    virtual void describe(Counters& counters) const = 0;
};

}  // namespace provetree
