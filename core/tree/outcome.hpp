// What a search of a node works with and gives: the best tree so far, bounds, and the choice among equally good splits.
#pragma once

#include <memory>

#include "base/types.hpp"
#include "tree/plan.hpp"

namespace provetree {

struct Profile;
using ProfilePtr = std::shared_ptr<const Profile>;

// The best tree so far.
struct Incumbent {
    Cost upper = kInfinite;        // what it costs
    PlanPtr plan;                  // null: a leaf
    std::int64_t left_splits = 0;  // split budget of its left child (depth three and more)

    // Takes over a tree that costs less; says whether it did.
    bool offer(const Incumbent& other) {
        if (other.upper >= upper) return false;
        take(other);
        return true;
    }
    void take(const Incumbent& other) {
        upper = other.upper;
        plan = other.plan;
        left_splits = other.left_splits;
    }
};

// What is proven of a node. Exact where lower == upper; otherwise lower is at least the limit that was asked for,
// unless bounds alone were.
struct Bounded : Incumbent {
    Cost lower = 0;    // no tree of this shape (minimum leaf size respected) costs less
    Cost relaxed = 0;  // the same without the minimum leaf size: what neighbouring row sets may use
};

// What solving a node gives.
struct Outcome : Bounded {
    ProfilePtr profile;
};

// The best of equals by the tie rule: lowest column, widest margin, lowest threshold, fewest splits on the left.
struct TieChoice {
    bool any = false;
    Index column = 0;
    double margin = 0;
    Index rank = 0;
    std::int64_t left_splits = 0;  // how the split budget was divided there (depth three and more)

    bool prefers(Index other_column, double other_margin, Index other_rank, std::int64_t other_left_splits) const {
        if (!any || other_column != column) return !any || other_column < column;
        if (other_margin != margin) return other_margin > margin;
        return other_rank != rank ? other_rank < rank : other_left_splits < left_splits;
    }
};

}  // namespace provetree
