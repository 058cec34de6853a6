// The whole search of one problem; see search/search.hpp.
#include "search/search.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "bits/bit_search.hpp"
#include "improve/improvement.hpp"
#include "intervals/interval_search.hpp"
#include "intervals/lazy_rows.hpp"
#include "proof/checkpoint.hpp"
#include "search/targets.hpp"
#include "start/greedy.hpp"
#include "start/shortlist.hpp"
#include "sweeps/depth_one.hpp"
#include "sweeps/finisher.hpp"
#include "tree/route.hpp"

namespace provetree {

namespace {

// The tie rule may take this much effort (row steps) on its own, and beyond that as much as the proof took.
// Deterministic, unlike a time.
constexpr std::uint64_t kTieRuleSteps = 30'000'000;
constexpr std::uint64_t kTieRuleStepsOfBits =
    1'000'000;  // a step on bits takes longer: this is some three milliseconds

// Up to this depth the cost and the fewest splits are proven in one search.
constexpr int kDepthAtOnce = 4;

// Steps for a first bound of a proof that may not end before its limit.
constexpr std::uint64_t kStepsOfFirstBound = 75'000'000, kStepsBesideFile = 1'000'000'000;

// Trees of so many splits are looked for by themselves in tables of so few rows where no errors are left: that takes
// milliseconds.
constexpr std::int64_t kFewSplits = 3;
constexpr Index kFewRows = 1500;

// The root's bounds in an objective multiplied by `factor`: what was proven stays proven.
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

// A table whose merged rows mostly stand for one row each is faster to search with each of them apart: rows of weight
// one have the fastest kernel.
class Unmerged {
  public:
    explicit Unmerged(const Table& merged) : table(merged) {
        std::int64_t total = 0;
        for (Index i = 0; i < merged.rows; ++i) {
            if (merged.weights[i] != merged.counts[i]) return;
            total += merged.weights[i];
        }
        if (total == merged.rows || total * 4 > std::int64_t{merged.rows} * 5) return;
        const std::size_t n = static_cast<std::size_t>(total);
        std::vector<Index> rows;
        rows.reserve(n);
        for (Index i = 0; i < merged.rows; ++i) rows.insert(rows.end(), static_cast<std::size_t>(merged.weights[i]), i);
        ones_.assign(n, 1);
        ranks_.resize(n * merged.columns);
        for (std::size_t c = 0; c < merged.columns; ++c)
            for (std::size_t i = 0; i < n; ++i) ranks_[c * n + i] = merged.ranks[c * merged.rows + rows[i]];
        for (Index row : rows) classes_.push_back(merged.classes[row]);
        table.rows = static_cast<Index>(n);
        table.ranks = ranks_.data();
        table.classes = classes_.data();
        table.weights = table.counts = ones_.data();
    }
    Table table;

  private:
    std::vector<Index> ranks_;
    std::vector<std::int32_t> classes_;
    std::vector<std::int64_t> ones_;
};

// A way to search: what the two have in common.
class Method {
  public:
    virtual ~Method() = default;
    virtual Cost leaf_cost() = 0;
    virtual Outcome start(Shape shape) = 0;
    // Takes up what an earlier search has proven; called before `start`.
    virtual void resume(const Checkpoint&) {}
    virtual Outcome prove(Shape shape, const Outcome& start, const TreeSearch::Listener& listener,
                          std::unique_ptr<StopSearch>& stopped) = 0;
    virtual FlatTree finish(const PlanPtr& plan) = 0;
    virtual const Node* root() const { return nullptr; }  // all rows as a node, where there is one
    // Among the trees that cost as little as the one proven, the one that the tie rule prefers. The objective is that
    // of the proof already, or is given and multiplies it by `factor`: then `best` has the cost under it.
    virtual PlanPtr preferred(Shape shape, Outcome& best) = 0;
    // Here a stop is no failure: `complete` says whether the tree is the one preferred, or only one that is not worse
    // than the one given.
    virtual PlanPtr preferred(Shape shape, Outcome& best, const Objective& refined, Cost factor, bool& complete) = 0;
    virtual void describe(Counters& counters) const = 0;
};

class BySweeps final : public Method {
  public:
    // With a limit, a bound matters before the proof is complete.
    BySweeps(Context& context, const Objective& objective, bool with_ties, bool limited)
        : context_(context),
          builder_(context.table, context.kernel, context.min_leaf),
          search_(context, builder_),
          with_ties_(with_ties),
          limited_(limited),
          sampling_{context.table,    context.kernel,       context.min_leaf,
                    context.switches, context.memory_limit, unwatched_},
          sampling_builder_(context.table, context.kernel, context.min_leaf) {
        search_.objective = objective;
        builder_.build_root(root_);
    }

    Cost leaf_cost() override { return provetree::leaf_cost(context_, root_, search_.objective); }

    void resume(const Checkpoint& checkpoint) override {
        search_.known_proof = checkpoint;
        resumed_ = true;
    }

    Outcome start(Shape shape) override {
        Outcome start;
        start.upper = leaf_cost();
        if (shape.depth < 3) return start;
        Greedy greedy(context_, builder_, search_);
        if (!context_.off(kNoStart)) start = greedy.grow(root_, shape);
        // Deeper, the exact search of a shortlist rarely ends, and better trees are found beside the proof. A proof
        // that goes on has its tree.
        const Checkpoint& known = search_.known_proof;
        if (!context_.off(kNoStart) && shape.depth == 3 && context_.wide(root_.columns.size()) && !known.root.plan)
            start = Shortlist(context_, builder_, search_).search(root_, shape, start);
        const Weight errors = static_cast<Weight>(start.upper / search_.objective.error_scale);
        // What is known already was proven with other weights between splits than those of a new sample.
        if (!known.sample.empty()) {
            lazy_ = std::make_unique<LazyRows>(sampling_, sampling_builder_, sampling_levels_, root_, known.sample,
                                               search_.objective);
        } else if (with_ties_ && known.root.points.empty() && LazyRows::worthwhile(context_, root_, errors)) {
            lazy_ = std::make_unique<LazyRows>(sampling_, sampling_builder_, sampling_levels_, root_, start.plan,
                                               errors, search_.objective);
        }
        // Subtrees that are optimal for their rows help less than they take where the search itself works on a sample.
        if (!context_.off(kNoStart) && !lazy_) start = greedy.grow_with_exact_bottoms(root_, shape, start);
        return start;
    }

    Outcome prove(Shape shape, const Outcome& start, const TreeSearch::Listener& listener,
                  std::unique_ptr<StopSearch>& stopped) override {
        Outcome outcome = start;
        // Proofs up to depth four are best left alone once there is some bound, and so are those that are kept on disk:
        // a file is about one search.
        if (limited_ && listener && !lazy_ && !resumed_ && Targets::worthwhile(context_, shape)) {
            CheckpointFile* file = std::exchange(context_.checkpoint, nullptr);
            const std::uint64_t enough = with_ties_ ? kStepsOfFirstBound : file ? kStepsBesideFile : ~std::uint64_t{0};
            outcome = Targets(context_, builder_, search_, root_).prove(shape, start, listener, stopped, enough);
            context_.checkpoint = file;
            if (file) {
                Checkpoint known = checkpoint_of(context_);
                known.root.upper = outcome.upper;
                known.root.plan = outcome.plan;
                known.root.left_splits = outcome.left_splits;
                file->write(known);
            }
        }
        if (!stopped && (with_ties_ || outcome.lower < outcome.upper))
            outcome = search_.solve_root(root_, shape, outcome, listener, stopped, with_ties_ ? &ties_ : nullptr,
                                         lazy_.get());
        sampled_rows_ = lazy_ ? lazy_->sample().rows : root_.rows;
        context_.counters.add(sampling_.counters);
        lazy_.reset();
        return outcome;
    }

    FlatTree finish(const PlanPtr& plan) override {
        return Finisher(context_, builder_, search_.levels).finish(root_, plan, search_.objective);
    }

    PlanPtr preferred(Shape shape, Outcome& best) override {
        return search_.canonical_below(root_, shape, best, ties_, 0);
    }

    PlanPtr preferred(Shape shape, Outcome& best, const Objective& refined, Cost factor, bool& complete) override {
        search_.objective = refined;
        const ProfilePtr known = scaled(context_, best.profile, factor);
        best.profile = nullptr;
        const PlanPtr given = best.plan;
        try {
            const PlanPtr plan = search_.canonical(root_, shape, best, {known.get(), known.get()}, 0);
            complete = true;
            return plan;
        } catch (const StopSearch&) {
            return given;
        }
    }

    const Node* root() const override { return &root_; }

    void describe(Counters& counters) const override { counters.sampled_rows = sampled_rows_; }

  private:
    Context& context_;
    NodeBuilder builder_;
    TreeSearch search_;
    Node root_;
    bool with_ties_, limited_, resumed_ = false;
    TieChoice ties_;
    // The sample of rows is used by whichever thread has a tree to try, so it shares nothing with any of them.
    Monitor unwatched_{std::numeric_limits<double>::infinity(), nullptr};
    Context sampling_;
    NodeBuilder sampling_builder_;
    Levels sampling_levels_;
    std::unique_ptr<LazyRows> lazy_;
    std::uint64_t sampled_rows_ = 0;
};

class ByBits final : public Method {
  public:
    ByBits(Context& context, const BitKernel& kernel, const Objective& objective)
        : context_(context), objective_(objective), search_(context, kernel, objective) {}

    Cost leaf_cost() override { return search_.leaf_cost(); }

    void resume(const Checkpoint& checkpoint) override { search_.resume(checkpoint); }

    Outcome start(Shape shape) override {
        Outcome start;
        start.upper = leaf_cost();
        if (context_.off(kNoStart)) return start;
        // Sharing a split budget out is left to the greedy trees of the other search.
        if (shape.splits < Shape::full(shape.depth)) return BySweeps(context_, objective_, false, false).start(shape);
        context_.monitor.ignore_stops();  // growing takes milliseconds, and a search needs a tree to end with
        start = search_.grow(shape);
        context_.monitor.heed_stops();
        return start;
    }

    Outcome prove(Shape shape, const Outcome& start, const TreeSearch::Listener& listener,
                  std::unique_ptr<StopSearch>& stopped) override {
        return search_.solve_root(shape, start, listener, stopped);
    }

    FlatTree finish(const PlanPtr& plan) override { return search_.finish(plan); }

    PlanPtr preferred(Shape shape, Outcome& best) override { return search_.canonical(shape, best.upper); }

    PlanPtr preferred(Shape shape, Outcome& best, const Objective& refined, Cost factor, bool& complete) override {
        search_.refine_objective(refined, factor);
        std::unique_ptr<StopSearch> stopped;
        const Outcome fewest = search_.solve_root(shape, best, nullptr, stopped);
        if (stopped) return fewest.plan;
        try {
            const PlanPtr plan = search_.canonical(shape, fewest.upper);
            complete = true;
            return plan;
        } catch (const StopSearch&) {
            return fewest.plan;
        }
    }

    void describe(Counters& counters) const override { counters.sampled_rows = context_.table.rows; }

  private:
    Context& context_;
    Objective objective_;
    BitSearch search_;
};

// Throws where a tree is deeper, or has more splits or smaller leaves, than it may.
void check_limits(const FlatTree& tree, Shape allowed, std::int64_t min_leaf, const Table& table) {
    bool within = tree.splits <= allowed.splits && tree.depth() <= allowed.depth;
    if (within && min_leaf > 1) {
        std::vector<std::int64_t> counts(tree.column.size(), 0);
        for (Index row = 0; row < table.rows; ++row) counts[leaf_of(tree, table, row)] += table.counts[row];
        for (std::size_t at = 0; at < counts.size(); ++at) within &= tree.column[at] >= 0 || counts[at] >= min_leaf;
    }
    if (!within) throw std::logic_error("provetree core: a tree exceeds its limits; please report this.");
}

// Whether the tree is found again by one thread where the tie rule does not settle it. A proof that goes on from a file
// has met other trees on its way than one thread would.
bool rebuilds(const SearchOptions& options) {
    return options.n_jobs > 1 && !options.max_work && options.checkpoint.empty() && !(options.switches & kNoTieRule);
}

// One search from beginning to end. A deep one without bits ends as soon as there is a tree of the cost that is `known`
// to be the least, which is then taken as it is: its tie rule leaves a tree alone that it cannot settle. Others go on
// from what the proof knows.
SearchResult search_once(const Table& merged, const SearchOptions& options,
                         const std::function<bool(const ProgressPoint&)>& tick, Cost known) {
    const Shape allowed = Shape::of(options.max_depth, options.max_splits);
    const bool by_bits = BitSearch::fits(merged, options) && allowed.on(merged.rows).depth >= 3;
    std::optional<Unmerged> unmerged;
    if (!by_bits) unmerged.emplace(merged);
    const Table& table = by_bits ? merged : unmerged->table;
    SearchResult result;
    ProgressPoint latest{0, kInfinite, 0};
    std::optional<CheckpointFile> file;
    Monitor monitor(options.time_limit, [&] {
        if (file) file->look();
        return !tick || tick(latest);
    });
    if (options.max_work) monitor.limit_work(options.max_work);
    Context context{table,  choose_kernel(options.kernel), options.min_leaf, options.switches, options.memory_limit,
                    monitor};
    // A limit on work is there to give the same tree every time, which threads cannot.
    context.n_jobs = options.max_work ? 1 : std::max(1, options.n_jobs);
    const Shape shape = allowed.on(table.rows);
    const bool deep = shape.depth > kDepthAtOnce && !by_bits;
    if (!deep) known = 0;

    // Fewest splits among the cheapest trees: costs are multiplied so that one split counts as a unit that all splits
    // together cannot raise to one unit of cost. In shallow trees both are proven at once, which takes hardly longer;
    // in deep ones the fewest splits can be far harder to prove than the cost, so the cost comes first.
    const bool tie_rule = !context.off(kNoTieRule) && known <= 0;
    const Cost factor = allowed.splits + 1;
    const Objective refined{options.objective.error_scale * factor, options.objective.split_penalty * factor + 1};
    const bool at_once = tie_rule && shape.depth <= kDepthAtOnce;
    Objective objective = at_once ? refined : options.objective;
    const Cost unit = at_once ? factor : 1;
    const bool limited = options.max_work > 0 || options.time_limit < std::numeric_limits<double>::infinity();
    std::unique_ptr<Method> method;
    monitor.ignore_stops();
    if (by_bits)
        method = std::make_unique<ByBits>(context, choose_bit_kernel(options.kernel), objective);
    else
        method = std::make_unique<BySweeps>(context, objective, at_once, limited);
    monitor.heed_stops();
    if (method->leaf_cost() >= kInfinite)
        throw std::invalid_argument("The table has fewer rows than the minimum leaf size.");

    const auto limit_tie_rule = [&] {
        const std::uint64_t own = by_bits ? kTieRuleStepsOfBits : kTieRuleSteps;
        if (!monitor.effort_capped()) monitor.cap_effort(monitor.steps() + std::max(own, context.all_steps()));
    };
    const auto listener = [&](Cost upper, Cost lower) {
        upper = std::min(upper, context.found.cost);
        lower = std::max(lower, context.found.bound);
        // A tree has fewer splits than a unit, so whole units are the cost itself, and bounds round down.
        // Proof and improvement tell of their own best trees: what was told before stands.
        const Cost cost = std::min(latest.cost, upper / unit), bound = std::max(latest.bound, lower / unit);
        if (bound >= cost && at_once) limit_tie_rule();
        if (cost == latest.cost && bound == latest.bound) return;
        latest = {monitor.seconds(), cost, bound};
        if (result.history.size() >= 4096) {  // thin out: a long search keeps a bounded, evenly coarser history
            std::size_t kept = 0;
            for (std::size_t i = 0; i < result.history.size(); i += 2) result.history[kept++] = result.history[i];
            result.history.resize(kept);
        }
        result.history.push_back(latest);
    };
    // The tree of a plan, with its cost as the user counts it.
    const auto finish = [&](const PlanPtr& plan) {
        monitor.ignore_stops();
        FlatTree tree = method->finish(plan);
        monitor.heed_stops();
        return tree;
    };
    // The initial tree, where it is better than the one grown.
    const auto take_initial = [&](Outcome& start, const PlanPtr& plan) {
        const FlatTree tree = finish(plan);
        check_limits(tree, allowed, context.min_leaf, table);
        if (tree.cost >= start.upper || tree.column[0] < 0) return;
        start.upper = tree.cost;
        start.plan = plan;
        start.left_splits = left_budget(shape, tree.splits_below(tree.left[0]));
    };
    const auto user_cost = [&](const FlatTree& tree) {
        const Cost errors = (tree.cost - objective.split_penalty * tree.splits) / objective.error_scale;
        return options.objective.error_scale * errors + options.objective.split_penalty * tree.splits;
    };

    std::optional<Checkpoint> earlier;
    if (!options.checkpoint.empty()) {
        file.emplace(options.checkpoint,
                     fingerprint_of(merged, options.max_depth, options.max_splits, options.min_leaf, objective),
                     options.checkpoint_seconds);
        earlier = file->read(context.profile_bytes);
        if (earlier && !earlier->sample.empty() && earlier->sample.size() != table.rows) throw file->damaged();
        if (!earlier) file->write({});  // a file that cannot be written is told of at once
        context.checkpoint = &*file;
        if (earlier && shape.depth >= 3) method->resume(*earlier);
        if (earlier) {
            context.found.bound = earlier->bound;
            context.earlier_steps = earlier->steps;
        }
    }
    Outcome start = method->start(shape);
    if (earlier && earlier->root.plan) take_initial(start, earlier->root.plan);
    if (options.initial) take_initial(start, options.initial);
    listener(start.upper, 0);
    std::unique_ptr<StopSearch> stopped;
    Outcome outcome = start;
    Shape searched = shape;
    bool done = false;
    // Where a tree without errors is at hand, whatever is better has fewer splits: one more at a time, as long as they
    // are few.
    if (at_once && !by_bits && start.upper <= objective.error_scale && table.rows < kFewRows && !file) {
        for (std::int64_t k = 1; k <= kFewSplits && k < shape.splits && !done && !stopped; ++k) {
            searched = Shape::of(shape.depth, k);
            outcome = method->prove(searched, start, nullptr, stopped);
            done = outcome.upper <= objective.split_penalty * k;
        }
        if (stopped) {
            outcome = start;
            outcome.lower = 0;
        }
    }
    if (!done && !stopped) {
        searched = shape;
        Cost proven = known;
        // A tree as good as the bound ends a deep proof, which may be far from the end of the split that it is at. A
        // proof with ties has to go on.
        const Improvement::Policy policy{limited && deep, by_bits, deep && !file};
        const auto end_where_known = [&](Cost upper) {
            if (known > 0 && upper <= known) throw StopSearch{Status::kOptimal};
        };
        Improvement improvement(
            context, method->root(), shape, objective, start, policy, [&](Cost cost) { listener(cost, proven); },
            [&] { return std::max(proven, context.found.bound) >= std::min(start.upper, context.found.cost); });
        outcome.lower = 0;
        try {
            end_where_known(start.upper);
            outcome = method->prove(
                shape, start,
                [&](Cost upper, Cost lower) {
                    proven = std::max(proven, lower);
                    listener(upper, lower);
                    end_where_known(upper);
                },
                stopped);
        } catch (const StopSearch& stop) {
            stopped = std::make_unique<StopSearch>(stop);
        }
    }
    if (stopped) outcome.lower = std::max({outcome.lower, context.found.bound, known});
    if (!stopped && context.found.bound > outcome.upper)
        throw std::logic_error("provetree core: a bound exceeds the proven optimum; please report this.");
    if (context.found.cost < outcome.upper) {
        if (!stopped)
            throw std::logic_error("provetree core: a tree costs less than the proven optimum; please report this.");
        outcome.upper = context.found.cost;
        outcome.plan = context.found.plan;
        outcome.left_splits = context.found.left_splits;
    }
    if (stopped && stopped->reason == Status::kOptimal && !at_once && outcome.lower >= outcome.upper) stopped = nullptr;
    method->describe(context.counters);
    if (!stopped && tie_rule) limit_tie_rule();
    if (!stopped && at_once) {
        listener(outcome.upper, outcome.upper);
        try {
            outcome.plan = method->preferred(searched, outcome);
            result.tie_rule_complete = true;
        } catch (const StopSearch&) {
            // The proof stands; only the choice among equally good trees was cut short.
        }
    }
    result.tree = finish(outcome.plan);
    if (result.tree.cost > outcome.upper || (!stopped && result.tree.cost < outcome.upper))
        throw std::logic_error("provetree core: a tree does not cost what the search claims; please report this.");
    check_limits(result.tree, allowed, context.min_leaf, table);
    result.tree.cost = user_cost(result.tree);
    result.lower_bound = std::min(result.tree.cost, (stopped ? outcome.lower : outcome.upper) / unit);
    result.status = !stopped || result.lower_bound >= result.tree.cost ? Status::kOptimal : stopped->reason;
    if (result.status == Status::kOptimal && result.lower_bound < result.tree.cost)
        throw std::logic_error("provetree core: a search ended without its proof; please report this.");
    listener(result.tree.cost * unit, result.lower_bound * unit);
    if (file && result.status == Status::kOptimal) file->remove();

    // Whether a tree without errors has the fewest splits can hardly be settled. One thread tries, where there are
    // several.
    const bool left_to_one = rebuilds(options) && deep && outcome.upper <= 0 && result.tree.splits > 0;
    if (!stopped && tie_rule && !at_once && !left_to_one) {
        const Cost errors =
            (result.tree.cost - options.objective.split_penalty * result.tree.splits) / options.objective.error_scale;
        outcome.upper = refined.error_scale * errors + refined.split_penalty * result.tree.splits;
        const PlanPtr plan = method->preferred(shape, outcome, refined, factor, result.tie_rule_complete);
        objective = refined;
        FlatTree tree = finish(plan);
        tree.cost = user_cost(tree);
        if (tree.cost != result.lower_bound)
            throw std::logic_error(
                "provetree core: the tree chosen by the tie rule is not optimal; please report this.");
        result.tree = std::move(tree);
    }
    result.counters = context.counters;
    return result;
}

// The tree that one thread finds. Where the tie rule was not completed, several threads end with whichever of the best
// trees was found first.
void rebuild_by_one(SearchResult& result, const Table& table, SearchOptions options, double seconds,
                    const std::function<bool(const ProgressPoint&)>& tick) {
    options.n_jobs = 1;
    options.time_limit -= seconds;
    if (options.time_limit <= 0) return;
    const ProgressPoint done{seconds, result.tree.cost, result.lower_bound};
    SearchResult alone =
        search_once(table, options, [&](const ProgressPoint&) { return !tick || tick(done); }, result.tree.cost);
    result.counters.add(alone.counters);
    if (alone.status != Status::kOptimal) return;
    if (alone.tree.cost != result.tree.cost)
        throw std::logic_error("provetree core: one thread finds another optimum than several; please report this.");
    result.tree = std::move(alone.tree);
    result.tie_rule_complete = alone.tie_rule_complete;
}

}  // namespace

SearchResult run_search(const Table& table, const SearchOptions& options,
                        const std::function<bool(const ProgressPoint&)>& tick) {
    const auto begin = Monitor::Clock::now();
    SearchResult result = search_once(table, options, tick, 0);
    if (rebuilds(options) && result.status == Status::kOptimal && !result.tie_rule_complete && result.tree.splits > 0)
        rebuild_by_one(result, table, options, std::chrono::duration<double>(Monitor::Clock::now() - begin).count(),
                       tick);
    return result;
}

}  // namespace provetree
