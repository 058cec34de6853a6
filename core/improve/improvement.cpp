// Turns between the proof and the search for better trees; see improve/improvement.hpp.
#include "improve/improvement.hpp"

#include <algorithm>
#include <cmath>

#include "improve/error_bounds.hpp"

namespace provetree {

namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr double kMostOfThread = 0.7;  // more than any share

// Steps that the proof has to itself: about two seconds at depth three, one at depth four and on bits, a tenth of one
// below.
std::uint64_t first_turn(const Context& context, Shape shape, bool by_bits) {
    if (context.eager_improvement()) return 1;
    if (shape.depth <= 3) return 400'000'000;
    return shape.depth == 4 || by_bits ? 200'000'000 : 20'000'000;
}

}  // namespace

Improvement::Improvement(Context& context, const Node* root, Shape shape, const Loss& loss, const Incumbent& start,
                         Policy policy, Listener listener, Proven proven)
    : context_(context),
      root_(root),
      shape_(shape),
      loss_(loss),
      start_(start),
      policy_(policy),
      listener_(std::move(listener)),
      proven_(std::move(proven)) {
    if (context.off(kNoImprovement) || shape.depth < 3 || start.upper <= 0) return;
    turns_.emplace(context_.monitor, first_turn(context, shape, policy.by_bits), [this] { return turn(); });
}

void Improvement::begin() {
    if (!root_) {
        NodeBuilder(context_.table, context_.kernel, context_.min_leaf).build_root(own_root_);
        root_ = &own_root_;
    }
    const Weight errors =
        std::max(errors_of_classes_without_leaf(context_.table, shape_), errors_of_equal_rows(context_));
    context_.found.bound = std::max(context_.found.bound, loss_.tree(errors, 0));
    listener_(start_.upper);
    improver_ = std::make_unique<Improver>(context_, *root_, shape_, loss_, start_,
                                           [this](Cost cost, const PlanPtr& plan, std::int64_t splits_left) {
                                               keep(cost, plan, left_budget(shape_, splits_left));
                                           });
}

// A better tree; `left_splits` is the budget of its left child as the search of the root divides it: the least that is
// enough.
void Improvement::keep(Cost cost, const PlanPtr& plan, std::int64_t left_splits) {
    if (!context_.found.offer({cost, plan, left_splits})) return;
    ++context_.counters.improvements;
    listener_(cost);
}

// The part of all steps that goes into better trees.
double Improvement::share() const {
    if (context_.eager_improvement()) return 0.5;
    // Proofs of depth three mostly end, and their own trees are soon the best: there better trees have little to gain.
    const double at_least = policy_.hopeless ? 0.3 : 0.05,
                 at_first = policy_.hopeless ? 0.6 : (shape_.depth <= 3 ? at_least : 0.3);
    return std::max(at_least, at_first * std::pow(0.93, static_cast<double>(improver_->rounds_in_vain())));
}

std::uint64_t Improvement::turn() {
    const Closings::Heard silence(context_.closings, nullptr);  // what it looks at is no part of the proof
    const Monitor& monitor = context_.monitor;
    std::uint64_t& steps = context_.counters.improvement_steps;
    if (!improver_ && !proven_()) begin();
    if (improver_ && context_.found.upper < start_.upper)
        improver_->go_on_from(context_.found.upper, context_.found.plan);
    const std::uint64_t before = steps, start = monitor.own_steps();
    while (!proven_()) {
        if (improver_->finished()) return kNever;
        improver_->step();
        steps = before + monitor.own_steps() - start;
        context_.counters.improvement_rounds = improver_->rounds();
        if (proven_()) break;
        // Of several threads it is one that takes the turns for all; it has its part in the proof nevertheless.
        const double part = static_cast<double>(steps), all = static_cast<double>(monitor.steps()),
                     own = static_cast<double>(monitor.own_steps());
        const double next = std::max(part / share(), all + part / kMostOfThread - own);
        if (next >= all) return static_cast<std::uint64_t>(next) + 1;
    }
    if (policy_.ends) throw StopSearch{StopReason::kTreeIsOptimal};
    return kNever;
}

}  // namespace provetree
