// The whole search of one problem; see search.hpp.
#include "search.hpp"

#include <algorithm>
#include <stdexcept>

#include "depth_one.hpp"
#include "finisher.hpp"
#include "greedy.hpp"
#include "interval_search.hpp"
#include "lazy_rows.hpp"

namespace provetree {

namespace {

// The tie rule may take this much effort (row steps) on its own, and beyond that as much as the proof took. Deterministic, unlike a time.
constexpr std::uint64_t kTieRuleSteps = 30'000'000;

// Up to this depth the cost and the fewest splits are proven in one search.
constexpr int kDepthAtOnce = 4;

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

// A table whose merged rows mostly stand for one row each is faster to search with each of them apart: rows of weight one have the fastest
// kernel.
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

}  // namespace

SearchResult run_search(const Table& merged, const SearchOptions& options, const std::function<bool(const ProgressPoint&)>& tick) {
    const Unmerged unmerged(merged);
    const Table& table = unmerged.table;
    const Kernel& kernel = choose_kernel(options.kernel);
    SearchResult result;
    ProgressPoint latest{0, kInfinite, 0};
    Monitor monitor(options.time_limit, [&] { return !tick || tick(latest); });
    Context context{table, kernel, options.min_leaf, options.switches, options.memory_limit, monitor};
    NodeBuilder builder(table, kernel, options.min_leaf);
    TreeSearch search(context, builder);
    Node root;
    builder.build_root(root);
    const Shape allowed = Shape::of(options.max_depth, options.max_splits), shape = allowed.on(root.rows);

    // Fewest splits among the cheapest trees: costs are multiplied so that one split counts as a unit that all splits together cannot raise to one
    // unit of cost. In shallow trees both are proven at once, which takes hardly longer; in deep ones the fewest splits can be far harder to prove
    // than the cost, so the cost comes first.
    const bool tie_rule = !context.off(kNoTieRule);
    const Cost factor = allowed.splits + 1;
    const Objective refined{options.objective.error_scale * factor, options.objective.split_penalty * factor + 1};
    const bool at_once = tie_rule && shape.depth <= kDepthAtOnce;
    search.objective = at_once ? refined : options.objective;
    const Cost unit = at_once ? factor : 1;
    const auto user_cost = [&](const FlatTree& tree) {
        const Cost errors = (tree.cost - search.objective.split_penalty * tree.splits) / search.objective.error_scale;
        return options.objective.error_scale * errors + options.objective.split_penalty * tree.splits;
    };
    if (leaf_cost(context, root, search.objective) >= kInfinite) throw std::invalid_argument("The table has fewer rows than the minimum leaf size.");

    const auto limit_tie_rule = [&] {
        if (!monitor.effort_capped()) monitor.cap_effort(monitor.steps() + std::max(kTieRuleSteps, monitor.steps()));
    };
    const auto listener = [&](Cost upper, Cost lower) {
        // A tree has fewer splits than a unit, so whole units are the cost itself, and bounds round down.
        const Cost cost = upper / unit, bound = lower / unit;
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

    Outcome start;
    start.upper = leaf_cost(context, root, search.objective);
    Greedy greedy(context, builder, search);
    if (!context.off(kNoStart) && shape.depth >= 3) start = greedy.grow(root, shape);
    const bool sampled = at_once && shape.depth >= 3 && LazyRows::worthwhile(context, root, static_cast<Weight>(start.upper / search.objective.error_scale));
    // Subtrees that are optimal for their rows help less than they take where the search itself works on a sample.
    if (!context.off(kNoStart) && shape.depth >= 3 && !sampled) start = greedy.grow_with_exact_bottoms(root, shape, start);
    listener(start.upper, 0);

    std::unique_ptr<StopSearch> stopped;
    TieChoice ties;
    std::unique_ptr<LazyRows> lazy;
    if (sampled) lazy = std::make_unique<LazyRows>(context, builder, search.levels, root, start.plan, search.objective);
    Outcome outcome = search.solve_root(root, shape, start, listener, stopped, at_once ? &ties : nullptr, lazy.get());
    context.counters.sampled_rows = lazy ? lazy->sample().rows : root.rows;
    lazy.reset();
    Finisher finisher(context, builder, search.levels);
    const auto finish = [&](const PlanPtr& plan) {
        monitor.ignore_stops();
        FlatTree tree = finisher.finish(root, plan, search.objective);
        monitor.heed_stops();
        return tree;
    };
    result.tree = finish(outcome.plan);
    if (result.tree.cost > outcome.upper || (!stopped && result.tree.cost < outcome.upper))
        throw std::logic_error("provetree core: a tree does not cost what the search claims; please report this.");
    result.tree.cost = user_cost(result.tree);
    result.lower_bound = std::min(result.tree.cost, (stopped ? outcome.lower : outcome.upper) / unit);
    result.status = !stopped || result.lower_bound >= result.tree.cost ? Status::kOptimal : stopped->reason;
    listener(result.tree.cost * unit, result.lower_bound * unit);

    if (!stopped && tie_rule) {
        limit_tie_rule();
        const auto preferred = [&] {
            if (at_once) return search.canonical_below(root, shape, outcome, ties, 0);
            const Cost errors = (result.tree.cost - options.objective.split_penalty * result.tree.splits) / options.objective.error_scale;
            search.objective = refined;
            Outcome best = outcome;
            best.upper = refined.error_scale * errors + refined.split_penalty * result.tree.splits;
            const ProfilePtr known = scaled(context, best.profile, factor);
            outcome.profile = best.profile = nullptr;
            return search.canonical(root, shape, best, {known.get(), known.get()}, 0);
        };
        try {
            FlatTree tree = finish(preferred());
            tree.cost = user_cost(tree);
            if (tree.cost != result.lower_bound) throw std::logic_error("provetree core: the tree chosen by the tie rule is not optimal; please report this.");
            result.tree = std::move(tree);
            result.tie_rule_complete = true;
        } catch (const StopSearch&) {
            // The proof stands; only the choice among equally good trees was cut short.
        }
    }
    result.counters = context.counters;
    return result;
}

}  // namespace provetree
