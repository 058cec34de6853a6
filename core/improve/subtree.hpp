// Trees as the improvement works on them: every part knows its cost, so that a part can be exchanged without looking at
// the rest.
#pragma once

#include <memory>

#include "base/types.hpp"
#include "tree/plan.hpp"

namespace provetree {

struct Subtree;
using SubtreePtr = std::shared_ptr<const Subtree>;

struct Subtree {
    Cost cost = kInfinite;
    std::int64_t splits = 0;   // counted in full where the split budget binds, and not at all elsewhere
    bool exact = false;        // proven to be the best of its depth for its rows
    std::uint64_t effort = 0;  // steps that went into solving it without coming to an end
    bool split = false;
    Index column = 0;
    Index rank = 0;   // rank <= this goes left
    SubtreePtr left;  // both or neither: without them the subtree is what `bottom` says, a leaf where that is null
    SubtreePtr right;
    PlanPtr bottom;

    bool branches() const { return left != nullptr; }
    PlanPtr plan() const { return branches() ? split_plan(column, rank, left->plan(), right->plan()) : bottom; }
};

// A subtree that the exact search has found, with at most `splits` splits.
inline Subtree found_subtree(Cost cost, std::int64_t splits, const PlanPtr& plan) {
    Subtree subtree;
    subtree.cost = cost;
    subtree.splits = splits;
    subtree.bottom = plan;
    subtree.split = plan && !plan->stump;
    if (subtree.split) {
        subtree.column = plan->column;
        subtree.rank = plan->rank;
    }
    return subtree;
}

// A split with these two subtrees below it.
inline Subtree joined_subtree(Index column, Index rank, const SubtreePtr& left, const SubtreePtr& right) {
    Subtree subtree;
    subtree.split = true;
    subtree.column = column;
    subtree.rank = rank;
    subtree.left = left;
    subtree.right = right;
    return subtree;
}

// The upper splits of a plan, those above the last two levels of `depth`. Costs are not known yet.
inline SubtreePtr outline(const PlanPtr& plan, int depth) {
    if (!plan || plan->stump || plan->bottom_splits || depth < 3) return std::make_shared<const Subtree>();
    return std::make_shared<const Subtree>(
        joined_subtree(plan->column, plan->rank, outline(plan->left, depth - 1), outline(plan->right, depth - 1)));
}

}  // namespace provetree
