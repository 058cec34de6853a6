// The search on bits as the driver sees it; see search/by_bits.hpp.
#include "search/by_bits.hpp"

#include "search/by_sweeps.hpp"

namespace provetree {

Incumbent ByBits::start(Shape shape) {
    if (context_.off(kNoStart)) return {leaf_cost(), nullptr, 0};
    // Sharing a split budget out is left to the greedy trees of the other search.
    if (shape.splits < Shape::full(shape.depth)) return BySweeps(context_, loss_, false, false).start(shape);
    const Monitor::NoStops whole(context_.monitor);  // it takes milliseconds, and a search needs a tree to end with
    return search_.grow(shape);
}

PlanPtr ByBits::preferred(Shape shape, Outcome best, const Loss& refined, Cost factor, bool& complete) {
    search_.refine_loss(refined, factor);
    const RootAnswer fewest = prove({shape, best, Role::kProof});  // a proof of its own, which all threads work at
    if (fewest.stopped) return fewest.outcome.plan;
    try {
        const PlanPtr plan = search_.canonical(shape, fewest.outcome.upper);
        complete = true;
        return plan;
    } catch (const StopSearch&) {
        return fewest.outcome.plan;
    }
}

}  // namespace provetree
