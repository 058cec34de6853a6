// What a search decides once, before it begins.
#pragma once

#include <limits>

#include "loss/loss.hpp"
#include "search/search.hpp"
#include "tree/plan.hpp"

namespace provetree {

struct SearchPlan {
    // `rows` as they are searched. `known_cost`: what an optimal tree costs, where an earlier search has proven it.
    SearchPlan(const SearchOptions& options, bool on_bits, Index rows, Cost known_cost)
        : by_bits(on_bits),
          allowed(Shape::of(options.max_depth, options.max_splits)),
          shape(allowed.on(rows)),
          deep(shape.depth > kDepthAtOnce && !on_bits),
          known(deep ? known_cost : 0),
          tie_rule(!(options.switches & kNoTieRule) && known <= 0),
          at_once(tie_rule && shape.depth <= kDepthAtOnce),
          limited(options.max_work > 0 || options.time_limit < std::numeric_limits<double>::infinity()),
          factor(allowed.splits + 1),
          users(options.loss),
          refined(users.counting_splits(factor)),
          loss(at_once ? refined : users),
          unit(at_once ? factor : 1),
          rebuilds(options.n_jobs > 1 && !options.max_work && options.checkpoint.empty() &&
                   !(options.switches & kNoTieRule)) {}

    // Whether there may be fewer splits than the depth allows.
    bool binding() const { return shape.splits < Shape::full(shape.depth); }

    // Up to this depth the cost and the fewest splits are proven in one search, which takes hardly longer. In deeper
    // trees the fewest splits can be far harder to prove than the cost, so the cost comes first.
    static constexpr int kDepthAtOnce = 4;

    bool by_bits;
    Shape allowed;  // by the user
    Shape shape;    // the same on so many rows
    bool deep;      // by sweeps, and deeper than what is proven at once
    Cost known;     // the optimal cost where it is known: the search ends with the first tree that has it; 0 otherwise
    bool tie_rule;  // among equally good trees, the one that the tie rule prefers
    bool at_once;   // the cost and the fewest splits are proven in one search
    bool limited;   // the search may end before its proof
    // Fewest splits among the cheapest trees: costs are multiplied by `factor`, so that a split counts as a unit, and
    // all splits of a tree together are less than one unit of the user's cost.
    Cost factor;
    Loss users, refined;
    Loss loss;      // of the proof
    Cost unit;      // of the proof's costs, in the user's
    bool rebuilds;  // the tree is found again by one thread where the tie rule does not settle it. Not for a proof that
                    // goes on from a file: it has met other trees on its way than one thread would.
};

}  // namespace provetree
