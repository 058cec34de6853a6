// Trees as the improvement works on them: every part knows its cost, so that a part can be exchanged without looking at
// the rest.
#pragma once

#include <memory>

#include "base/types.hpp"
#include "tree/plan.hpp"

namespace provetree {

struct Limb;
using LimbPtr = std::shared_ptr<const Limb>;

struct Limb {
    Cost cost = kInfinite;
    std::int64_t splits = 0;   // counted in full where the split budget binds, and not at all elsewhere
    bool exact = false;        // proven to be the best of its depth for its rows
    std::uint64_t effort = 0;  // steps that went into solving it without coming to an end
    bool split = false;
    Index column = 0;
    Index rank = 0;  // rank <= this goes left
    LimbPtr left;    // both or neither: without them the limb is what `bottom` says, a leaf where that is null
    LimbPtr right;
    PlanPtr bottom;

    bool branches() const { return left != nullptr; }
    PlanPtr plan() const { return branches() ? split_plan(column, rank, left->plan(), right->plan()) : bottom; }
};

// A limb with the upper splits of a plan: those above the last two levels of `depth`. Costs are not known yet.
inline LimbPtr outline(const PlanPtr& plan, int depth) {
    Limb limb;
    if (!plan || plan->stump || plan->bottom_splits || depth < 3) return std::make_shared<const Limb>(limb);
    limb.split = true;
    limb.column = plan->column;
    limb.rank = plan->rank;
    limb.left = outline(plan->left, depth - 1);
    limb.right = outline(plan->right, depth - 1);
    return std::make_shared<const Limb>(limb);
}

}  // namespace provetree
