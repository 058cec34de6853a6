// What a tree costs: the only place that knows how errors and splits become costs.
//
// The search asks three things of a loss. What does a leaf cost? What does a stump cost? And how much can the optimal
// cost of a set of rows change when rows of a given weight join it or leave it (the slack)? Every lower bound follows
// from these: more rows never cost less, and never more than their slack.
#pragma once

#include <bit>
#include <cstdint>

#include "base/types.hpp"

namespace provetree {

// Of errors: cost = error_scale * (weight of the misclassified rows) + split_penalty * (number of splits).
// Of a measure (loss/measure.hpp): cost = unit_scale * (units of its leaves) + split_penalty * (number of splits). Then
// the weights are what rows can add at most, and error_scale is the cost of one such weight.
struct Loss {
    Cost error_scale = 1;
    Cost split_penalty = 0;
    Cost unit_scale = 0;  // 0: costs are errors

    // A leaf that misclassifies rows of weight `errors`.
    Cost leaf(Cost errors) const { return error_scale * errors; }
    // One split whose two leaves misclassify rows of weight `errors`.
    Cost stump(Cost errors) const { return error_scale * errors + split_penalty; }
    // A leaf of so many units, under a measure.
    Cost measured(Cost units) const { return unit_scale * units; }
    // A whole tree, of so many errors or units.
    Cost tree(Cost amount, std::int64_t splits) const { return amount_scale() * amount + split_penalty * splits; }
    // The most that rows of weight `moved` can change: whatever tree they join may misclassify all of them.
    Cost slack(Cost moved) const { return error_scale * moved; }
    // The least weight whose slack exceeds a cost, and the greatest whose slack is below it; the cost may be negative.
    Cost weight_above(Cost cost) const { return error_scale == 1 ? cost + 1 : floor_divide(cost, error_scale) + 1; }
    Cost weight_below(Cost cost) const { return error_scale == 1 ? cost - 1 : -floor_divide(-cost, error_scale) - 1; }
    // The weight of errors that a cost pays for.
    Cost errors_for(Cost cost) const { return cost / error_scale; }
    // The errors or units of a tree of that cost and so many splits.
    Cost amount_of(Cost cost, std::int64_t splits) const { return (cost - split_penalty * splits) / amount_scale(); }
    // The same loss times `factor`, with one more for each split: among trees of equal cost, fewer splits cost less.
    Loss counting_splits(Cost factor) const {
        return {error_scale * factor, split_penalty * factor + 1, unit_scale * factor};
    }
    bool operator==(const Loss&) const = default;

  private:
    Cost amount_scale() const { return unit_scale ? unit_scale : error_scale; }
    static Cost floor_divide(Cost a, Cost b) {
        // Mostly a power of two, so that splits can be counted: a shift takes far less time than a division.
        const std::uint64_t bits = static_cast<std::uint64_t>(b);
        if (std::has_single_bit(bits)) return a >> std::countr_zero(bits);
        return a / b - (a % b != 0 && a < 0);
    }
};

}  // namespace provetree
