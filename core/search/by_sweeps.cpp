// The search by sweeps as the driver sees it; see search/by_sweeps.hpp.
#include "search/by_sweeps.hpp"

#include <utility>

#include "intervals/root_search.hpp"
#include "intervals/ties.hpp"
#include "search/targets.hpp"
#include "start/greedy.hpp"
#include "start/shortlist.hpp"
#include "sweeps/depth_one.hpp"
#include "sweeps/finisher.hpp"

namespace provetree {

namespace {

// Steps for a first bound of a proof that may not end before its limit.
constexpr std::uint64_t kStepsOfFirstBound = 75'000'000, kStepsBesideFile = 1'000'000'000;

// The root's bounds in an loss multiplied by `factor`: what was proven stays proven.
ProfilePtr scaled(Context& context, const ProfilePtr& profile, Cost factor) {
    if (!profile || profile->shape.depth == 2) return profile;
    auto copy = std::make_shared<Profile>(context.profile_bytes, profile->shape, profile->rows, profile->weight);
    copy->deep = profile->deep;
    for (DeepFamily& family : copy->deep) {
        for (DeepPoint& point : family.points) {
            point.left *= factor;
            point.right *= factor;
        }
    }
    copy->account();
    return copy;
}

}  // namespace

BySweeps::BySweeps(Context& context, const Loss& loss, bool with_ties, bool limited)
    : context_(context),
      builder_(context.table, context.kernel, context.min_leaf),
      solver_(context, builder_, loss),
      with_ties_(with_ties),
      limited_(limited),
      sampling_(context.table, context.kernel, context.min_leaf, context.switches, context.memory_limit, unwatched_),
      sampling_builder_(context.table, context.kernel, context.min_leaf) {
    builder_.build_root(root_);
}

Cost BySweeps::leaf_cost() const { return provetree::leaf_cost(context_, root_, solver_.loss()); }

void BySweeps::resume(const Checkpoint& checkpoint) { earlier_ = checkpoint; }

Incumbent BySweeps::start(Shape shape) {
    Outcome start;
    start.upper = leaf_cost();
    if (shape.depth < 3) return start;
    Greedy greedy(context_, builder_, solver_);
    const bool grows = !context_.off(kNoStart);
    if (grows) start = greedy.grow(root_, shape);
    // Deeper, the exact search of a shortlist rarely ends, and better trees are found beside the proof. A proof that
    // goes on has its tree.
    if (grows && shape.depth == 3 && context_.wide(root_.columns.size()) && !(earlier_ && earlier_->root.best.plan))
        start = Shortlist(context_, builder_, solver_).search(root_, shape, start);
    choose_sample(start);
    // Subtrees that are optimal for their rows help less than they take where the search itself works on a sample.
    if (grows && !lazy_) start = greedy.grow_with_exact_bottoms(root_, shape, start);
    return start;
}

void BySweeps::choose_sample(const Incumbent& start) {
    const Weight errors = static_cast<Weight>(solver_.loss().errors_for(start.upper));
    // What is known already was proven with other weights between splits than those of a new sample.
    if (earlier_ && !earlier_->sample.empty())
        lazy_ = std::make_unique<LazyRows>(sampling_, sampling_builder_, sampling_levels_, root_, earlier_->sample,
                                           solver_.loss());
    else if (with_ties_ && !(earlier_ && !earlier_->root.points.empty()) &&
             LazyRows::worthwhile(context_, root_, errors))
        lazy_ = std::make_unique<LazyRows>(sampling_, sampling_builder_, sampling_levels_, root_, start.plan, errors,
                                           solver_.loss());
}

// A file is about one search: the targets leave it alone but for the tree and the bound they end with.
RootAnswer BySweeps::prove_by_targets(const RootRequest& request) {
    CheckpointFile* file = std::exchange(context_.checkpoint, nullptr);
    const std::uint64_t enough = with_ties_ ? kStepsOfFirstBound : file ? kStepsBesideFile : ~std::uint64_t{0};
    const RootAnswer answer = Targets(context_, builder_, solver_, root_).prove(request, enough);
    context_.checkpoint = file;
    if (file) {
        Checkpoint known = checkpoint_of(context_);
        known.root.best.take(answer.outcome);
        file->write(known);
    }
    return answer;
}

RootAnswer BySweeps::prove(const RootRequest& request) {
    RootAnswer answer;
    answer.outcome.take(request.start);
    // Proofs up to depth four are best left alone once there is some bound, and so are those that are kept on disk.
    if (limited_ && request.role == Role::kProof && !lazy_ && !earlier_ && Targets::worthwhile(context_, request.shape))
        answer = prove_by_targets(request);
    Outcome& outcome = answer.outcome;
    if (!answer.stopped && (with_ties_ || outcome.lower < outcome.upper)) {
        RootRequest whole = request;
        whole.start = outcome;
        answer = search_root(
            solver_, root_, whole,
            {.ties = with_ties_ ? &ties_ : nullptr, .lazy = lazy_.get(), .earlier = earlier_ ? &*earlier_ : nullptr});
    }
    sampled_rows_ = lazy_ ? lazy_->sample().rows : root_.rows;
    context_.counters.add(sampling_.counters);
    lazy_.reset();
    return answer;
}

FlatTree BySweeps::finish(const PlanPtr& plan) {
    return Finisher(context_, builder_, solver_.levels()).finish(root_, plan, solver_.loss());
}

PlanPtr BySweeps::preferred(Shape shape, const Outcome& best) {
    const Closings::Silence aside(context_.closings);
    return preferred_below(solver_, root_, shape, best, ties_, 0);
}

PlanPtr BySweeps::preferred(Shape shape, Outcome best, const Loss& refined, Cost factor, bool& complete) {
    const Closings::Silence aside(context_.closings);
    solver_.use(refined);
    const ProfilePtr known = scaled(context_, std::exchange(best.profile, nullptr), factor);
    try {
        const NodeRequest request{.shape = shape, .relatives = {known.get(), known.get()}};
        const PlanPtr plan = preferred_tree(solver_, root_, request, best);
        complete = true;
        return plan;
    } catch (const StopSearch&) {
        return best.plan;
    }
}

}  // namespace provetree
