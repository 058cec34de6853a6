// The search by sweeps over sorted columns as the driver sees it: greedy start, sample of rows, targets, proof.
#include <optional>
#include <utility>

#include "intervals/lazy_rows.hpp"
#include "intervals/root_search.hpp"
#include "measures/cell_frame.hpp"
#include "measures/cell_rows.hpp"
#include "search/method.hpp"
#include "search/targets.hpp"
#include "start/greedy.hpp"
#include "sweeps/depth_one.hpp"
#include "sweeps/finisher.hpp"

namespace provetree {

namespace {

// Samples of rows do not pay in deeper trees.
constexpr int kDeepestOnSamples = 4;

// Cells of so few rows prove trees of this depth in milliseconds.
constexpr int kDeepestByCells = 5;
constexpr Index kFewRows = 2000;

// Steps for a first bound of a proof that may not end before its limit.
constexpr std::uint64_t kStepsOfFirstBound = 75'000'000, kStepsBesideFile = 1'000'000'000;

// A node's bounds in an loss multiplied by `factor`: what was proven stays proven. So do bounds of the sides of its
// splits that are left as they are; they are multiplied, too, where a tree that begins so may cost as little as `most`.
ProfilePtr scaled(Context& context, const ProfilePtr& profile, Cost factor, Cost most) {
    constexpr Cost kNoneOfSides = -1;
    if (!profile || profile->shape.depth == 2) return profile;
    const auto scale_side = [&](ProfilePtr& inner, ProfilePtr& outer) {
        if (context.profile_bytes >= context.memory_limit) return;
        const bool same = inner == outer;
        inner = scaled(context, inner, factor, kNoneOfSides);
        outer = same ? inner : scaled(context, outer, factor, kNoneOfSides);
    };
    auto copy = std::make_shared<Profile>(context.profile_bytes, profile->shape, profile->rows, profile->weight);
    copy->deep = profile->deep;
    for (DeepFamily& family : copy->deep) {
        for (DeepPoint& point : family.points) {
            if (point.left + point.right <= most) {
                scale_side(point.inner_left, point.outer_left);
                scale_side(point.inner_right, point.outer_right);
            }
            point.left *= factor;
            point.right *= factor;
        }
    }
    copy->cells = profile->cells;
    for (CellPoint& point : copy->cells) {
        point.left *= factor;
        point.right *= factor;
    }
    copy->account();
    return copy;
}

class BySweeps final : public Method {
  public:
    BySweeps(Context& context, const Loss& loss, bool with_ties, bool limited)
        : context_(context), builder_(context.table, context.kernel, context.min_leaf, context.rules),
          solver_(context, builder_, loss), with_ties_(with_ties), limited_(limited),
          sampling_(context.table, context.kernel, context.min_leaf, context.switches, context.memory_limit,
                    unwatched_),
          sampling_builder_(context.table, context.kernel, context.min_leaf, context.rules) {
        sampling_.rules = context.rules;
        builder_.build_root(root_);
    }

    Cost leaf_cost() const override { return provetree::leaf_cost(context_, root_, solver_.loss()); }
    void resume(const Checkpoint& checkpoint) override { earlier_ = checkpoint; }
    Incumbent start(Shape shape, Cost limit) override;
    RootAnswer prove(const RootRequest& request) override;
    FlatTree finish(const PlanPtr& plan) override {
        return finish_plan(context_, builder_, solver_.levels(), root_, plan, solver_.loss());
    }
    const Node* root() const override { return &root_; }
    PlanPtr preferred(Shape shape, const Outcome& best) override {
        const Closings::Heard silence(context_.closings);
        return preferred_below(solver_, root_, shape, best, ties_, 0);
    }
    PlanPtr preferred(Shape shape, Outcome best, const Loss& refined, Cost factor, bool& complete) override;
    Certified certify(const CertifyRequest& request) override;

  private:
    Cost claim(const CertifyRequest& request, const Node& rows, bool solves, Certified& certified);
    bool begins_at_once(Shape shape) const;
    void choose_sample(Shape shape, const Incumbent& start, Cost limit);
    RootAnswer prove_first_bound(const RootRequest& request);

    Context& context_;
    NodeBuilder builder_;
    NodeSolver solver_;
    Node root_;
    bool with_ties_, limited_;
    std::optional<Checkpoint> earlier_;  // what an earlier process has proven
    TieChoice ties_;
    // The sample of rows is used by whichever thread has a tree to try, so it shares nothing with any of them.
    Monitor unwatched_{std::numeric_limits<double>::infinity(), nullptr};
    Context sampling_;
    NodeBuilder sampling_builder_;
    Levels sampling_levels_;
    std::unique_ptr<LazyRows> lazy_;
    std::vector<std::uint8_t> sampled_;  // rows that the proof was made on, for its certificate; empty: all
};

Incumbent BySweeps::start(Shape shape, Cost limit) {
    Incumbent start{leaf_cost(), nullptr, 0};
    if (shape.depth < 3) return start;
    // Where trees below a limit are looked for beside bounds of more columns, a tree above it serves nobody.
    const bool grows = !context_.off(kNoStart) && !begins_at_once(shape) && !(earlier_ && limit < kInfinite);
    if (grows) start = grow_greedily(solver_, root_, shape);
    // Deeper, the exact search of a shortlist rarely ends, and better trees are found beside the proof. A proof that
    // goes on has its tree.
    if (grows && shape.depth == 3 && context_.wide(root_.columns.size()) && !(earlier_ && earlier_->root.best.plan))
        start = search_shortlist(solver_, root_, shape, start);
    choose_sample(shape, start, limit);
    // Subtrees that are optimal for their rows help less than they take where the search itself works on a sample, and
    // where cells prove all but the first level at once.
    const bool by_cells = shape.depth <= 4 && CellRows::fit(context_.table);
    if (grows && !lazy_ && !by_cells) start = grow_with_exact_bottoms(solver_, root_, shape, start);
    return start;
}

// Whether the first splits that the proof tries give a better tree in less time than it takes to grow one.
bool BySweeps::begins_at_once(Shape shape) const {
    return shape.depth >= 4 && shape.depth <= kDeepestByCells && context_.table.rows <= kFewRows &&
           CellRows::fit(context_.table) && CellRows::features(context_.table) <= CellFrame::kMostFeatures;
}

void BySweeps::choose_sample(Shape shape, const Incumbent& start, Cost limit) {
    const Weight errors = static_cast<Weight>(solver_.loss().errors_for(std::min(start.upper, limit)));
    // Where ties are looked for at once, trees are that deep at most. Rules know no ties.
    const bool at_once = with_ties_ || (context_.rules && shape.depth <= kDeepestOnSamples);
    // What is known already was proven with other weights between splits than those of a new sample.
    if (earlier_ && !earlier_->sample.empty())
        lazy_ = std::make_unique<LazyRows>(sampling_, sampling_builder_, sampling_levels_, root_, earlier_->sample,
                                           solver_.loss());
    else if (at_once && !(earlier_ && !earlier_->root.points.empty()) && LazyRows::worthwhile(context_, root_, errors))
        lazy_ = std::make_unique<LazyRows>(sampling_, sampling_builder_, sampling_levels_, root_, start.plan, errors,
                                           solver_.loss());
}

// A file is about one search: the targets leave it alone but for the tree and the bound they end with.
RootAnswer BySweeps::prove_first_bound(const RootRequest& request) {
    CheckpointFile* file = std::exchange(context_.checkpoint, nullptr);
    const std::uint64_t enough = with_ties_ ? kStepsOfFirstBound : file ? kStepsBesideFile : ~std::uint64_t{0};
    const RootAnswer answer = prove_by_targets(solver_, root_, request, enough);
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
    if (limited_ && !context_.rules && request.role == Role::kProof && !lazy_ && !earlier_ &&
        targets_pay(context_, request.shape))
        answer = prove_first_bound(request);
    Outcome& outcome = answer.outcome;
    if (!answer.stopped && (with_ties_ || outcome.lower < outcome.upper)) {
        RootRequest whole = request;
        whole.start = outcome;
        answer = search_root(
            solver_, root_, whole,
            {.ties = with_ties_ ? &ties_ : nullptr, .lazy = lazy_.get(), .earlier = earlier_ ? &*earlier_ : nullptr});
    }
    context_.counters.sampled_rows = lazy_ ? lazy_->sample().rows : root_.rows;
    context_.counters.add(sampling_.counters);
    sampled_.clear();
    if (context_.certifies && lazy_ && !lazy_->complete()) sampled_ = lazy_->marked();
    lazy_.reset();
    return answer;
}

PlanPtr BySweeps::preferred(Shape shape, Outcome best, const Loss& refined, Cost factor, bool& complete) {
    const Closings::Heard silence(context_.closings);
    solver_.use(refined);
    // Columns of few values have few splits to be copied.
    const Cost most = CellRows::fit(context_.table) ? best.upper / factor : -1;
    const ProfilePtr known = scaled(context_, std::exchange(best.profile, nullptr), factor, most);
    const Relatives relatives{known.get(), known.get()};
    try {
        PlanPtr plan;
        // Where costs are rounded, what is known tells equal trees apart, and threads change what is known.
        const bool by_several = context_.n_jobs > 1 && !context_.table.measure;
        if (by_several && shape.on(root_.rows).depth >= 3 && leaf_cost() > best.upper) {
            RootRequest request{.shape = shape, .start = best, .role = Role::kChoice, .limit = best.upper + 1};
            TieChoice ties;
            const RootAnswer answer = search_root(solver_, root_, request, {.ties = &ties, .known = relatives});
            if (answer.stopped) return best.plan;
            plan = preferred_below(solver_, root_, shape, answer.outcome, ties, 0);
        } else {
            plan = preferred_tree(solver_, root_, {.shape = shape, .relatives = relatives}, best);
        }
        complete = true;
        return plan;
    } catch (const StopSearch&) {
        return best.plan;
    }
}

// Returns what could be shown.
Cost BySweeps::claim(const CertifyRequest& request, const Node& rows, bool solves, Certified& certified) {
    ClaimLog log;
    ClaimNumber number = 0;
    // A sample of the rows says nothing of leaf sizes.
    const bool relaxed = &rows != &root_ || !context_.constrained();
    const ClaimBounds found =
        IntervalClaims(solver_, log, solves)
            .claim(rows, {}, request.shape, {relaxed ? request.bound : 0, request.bound}, request.known, 0, number);
    certified.claims = log.size();
    certified.text = log.take_text();
    return relaxed ? found.relaxed : found.lower;
}

Certified BySweeps::certify(const CertifyRequest& request) {
    const Closings::Heard silence(context_.closings);
    solver_.use(request.loss);
    Certified certified;
    if (request.bound <= 0) return certified;
    Node sample;
    const Node* rows = &root_;
    if (!sampled_.empty() && !context_.constrained()) {
        std::vector<std::vector<Weight>> weights(root_.columns.size(),
                                                 std::vector<Weight>(root_.rows + std::size_t{1}));
        builder_.choose(root_, sampled_, sample, weights);
        if (leaf_cost_of(sample, request.loss) >= request.bound) rows = &sample;
    }
    try {
        certified.bound = claim(request, *rows, request.proven, certified);
    } catch (const StopSearch&) {
        certified.bound = claim(request, *rows, false, certified);
    }
    if (rows == &sample) {
        certified.weights.resize(context_.table.rows, 0);
        for (Index row = 0; row < context_.table.rows; ++row)
            if (sampled_[row]) certified.weights[row] = context_.table.weights[row];
    }
    return certified;
}

}  // namespace

std::unique_ptr<Method> by_sweeps(Context& context, const Loss& loss, bool with_ties, bool limited) {
    return std::make_unique<BySweeps>(context, loss, with_ties, limited);
}

}  // namespace provetree
