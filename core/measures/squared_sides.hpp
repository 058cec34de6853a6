// The two sides of the lanes of squared error: what the sweeps are told of them, and units of what they found.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/squared_kernel.hpp"
#include "measures/lanes.hpp"

namespace provetree {

// The whole step nearest to the mean of whole targets, none below zero. The squares around it are at most twice those
// around the mean, which is as far from every target as from a whole step: so doubles lose nothing that matters.
inline std::int64_t nearest_mean(std::int64_t sum, std::int64_t weight) {
    return weight ? sum / weight + (2 * (sum % weight) >= weight) : 0;
}

class SquaredSides {
  public:
    SquaredSides(const Context& context, const Measure& measure) : context_(context), measure_(measure) {}

    // What the sweeps read and write. Rounding can make a d of up to `smallest` of 0.
    SquaredLanes& start(double smallest) {
        lanes.noise = smallest * smallest;
        lanes.min_leaf = static_cast<double>(context_.min_leaf);
        return lanes;
    }

    // `leaf`: what the side costs as one leaf, in squares.
    void take(int side, int lane, double weight, double leaf, std::int64_t count) {
        lanes.weight[side][lane] = weight;
        lanes.count[side][lane] = static_cast<double>(count);
        leaf_[side][lane] = leaf * measure_.units_per_square();
        // A stump saves no more than the leaf costs; what saves next to nothing is not looked for.
        least_[side][lane] = kRounding / (weight * measure_.units_per_square());
        const double from = leaf_[side][lane] > kRounding ? least_[side][lane] : kSettledLane;
        lanes.best[side][lane] = lanes.feasible[side][lane] = from;
    }

    // Copies of the last of n lanes fill up the vectors, and look for nothing.
    void fill_up(int n) {
        for (int side = 0; side < 2; ++side)
            for (int lane = n; lane < kLanes; ++lane) {
                lanes.weight[side][lane] = lanes.weight[side][n - 1];
                lanes.mean[side][lane] = lanes.mean[side][n - 1];
                lanes.count[side][lane] = lanes.count[side][n - 1];
                lanes.best[side][lane] = lanes.feasible[side][lane] = kSettledLane;
            }
    }

    SideUnits units(int side, int lane) const {
        const double leaf = leaf_[side][lane], per = lanes.weight[side][lane] * measure_.units_per_square();
        const auto with = [&](double best) { return rounded_up(leaf - best * per); };
        const auto found = [&](double best) { return best > least_[side][lane] && best < kSettledLane; };
        const double best = lanes.best[side][lane];
        const double feasible = context_.constrained() ? lanes.feasible[side][lane] : best;
        const Cost as_leaf = rounded_up(leaf);
        return {as_leaf, found(best) ? with(best) : as_leaf, found(feasible) ? with(feasible) : kInfinite,
                !context_.constrained() || lanes.count[side][lane] >= static_cast<double>(context_.min_leaf)};
    }

    // What the best stump found so far costs, in units; with a minimum leaf size, the best feasible one. 0 where none
    // is looked for.
    double cost_so_far(int side, int lane) const {
        const double best = context_.constrained() ? lanes.feasible[side][lane] : lanes.best[side][lane];
        return best < kSettledLane ? leaf_[side][lane] - best * lanes.weight[side][lane] * measure_.units_per_square()
                                   : 0;
    }

    SquaredLanes lanes;

  private:
    // What is above a whole number of units by no more than this is rounding.
    static constexpr double kRounding = 1.0 / 64;
    static Cost rounded_up(double amount) { return static_cast<Cost>(std::ceil(std::max(0.0, amount - kRounding))); }

    const Context& context_;
    const Measure& measure_;
    double leaf_[2][kLanes], least_[2][kLanes];  // in units, and as the sweeps have it
};

}  // namespace provetree
