// What a tree costs: the only place that knows how errors and splits become costs.
//
// The search asks three things of a loss. What does a leaf cost? What does a stump cost? And how much can the optimal
// cost of a set of rows change when rows of a given weight join it or leave it (the slack)? Every lower bound follows
// from these: more rows never cost less, and never more than their slack.
#pragma once

#include <cstdint>

#include "base/types.hpp"

namespace provetree {

// cost = error_scale * (weight of the misclassified rows) + split_penalty * (number of splits)
struct Loss {
    Cost error_scale = 1;
    Cost split_penalty = 0;

    // A leaf that misclassifies rows of weight `errors`.
    Cost leaf(Cost errors) const { return error_scale * errors; }
    // One split whose two leaves misclassify rows of weight `errors`.
    Cost stump(Cost errors) const { return error_scale * errors + split_penalty; }
    // A whole tree.
    Cost tree(Cost errors, std::int64_t splits) const { return error_scale * errors + split_penalty * splits; }
    // The most that rows of weight `moved` can change: whatever tree they join may misclassify all of them.
    Cost slack(Cost moved) const { return error_scale * moved; }
    // The least weight whose slack exceeds a cost, and the greatest whose slack is below it; the cost may be negative.
    Cost weight_above(Cost cost) const { return error_scale == 1 ? cost + 1 : floor_divide(cost, error_scale) + 1; }
    Cost weight_below(Cost cost) const { return error_scale == 1 ? cost - 1 : -floor_divide(-cost, error_scale) - 1; }
    // The weight of errors that a cost pays for.
    Cost errors_for(Cost cost) const { return cost / error_scale; }
    // The errors of a tree of that cost and so many splits.
    Cost errors_of(Cost cost, std::int64_t splits) const { return (cost - split_penalty * splits) / error_scale; }
    // The same loss times `factor`, with one more for each split: among trees of equal cost, fewer splits cost less.
    Loss counting_splits(Cost factor) const { return {error_scale * factor, split_penalty * factor + 1}; }

  private:
    static Cost floor_divide(Cost a, Cost b) { return a / b - (a % b != 0 && a < 0); }
};

}  // namespace provetree
