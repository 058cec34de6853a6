// All sizes of a table; see sizes/search_sizes.hpp.
#include "sizes/search_sizes.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "sizes/bit_sizes.hpp"
#include "sizes/size_solver.hpp"
#include "start/greedy.hpp"
#include "sweeps/depth_one.hpp"
#include "sweeps/finisher.hpp"
#include "table/unmerged.hpp"

namespace provetree {

namespace {

// A bug, and never the user's: no wrong tree may leave the core.
[[noreturn]] void defect(const char* what) {
    throw std::logic_error(std::string("Internal error in the search of all sizes: ") + what + ".");
}

// The last look before a tree leaves: it costs what the search claims, and is no larger than it may be.
void check(const SizedTree& sized, Cost upper, std::size_t leaves, int max_depth) {
    if (sized.tree.cost > upper) defect("a tree costs more than the search claims");
    if (sized.tree.cost < sized.lower_bound) defect("a tree costs less than its bound");
    if (sized.tree.splits >= static_cast<std::int64_t>(leaves) || sized.tree.depth() > max_depth)
        defect("a tree is larger than it may be");
}

// A search that was not stopped has proven all sizes; one that was may have.
void conclude(SizesResult& result) {
    const auto open = [](const SizedTree& sized) { return sized.lower_bound < sized.tree.cost; };
    const bool any_open = std::any_of(result.sizes.begin(), result.sizes.end(), open);
    if (result.status == Status::kOptimal && any_open) defect("it ended without its proof");
    if (!any_open) result.status = Status::kOptimal;
}

// How many sizes a table of so many rows has, and the depth that trees of so many leaves need.
struct Extent {
    std::size_t leaves;
    int depth;

    Extent(const SizeOptions& options, std::int64_t rows) {
        const int deepest = std::min(options.max_depth, 30);
        leaves = static_cast<std::size_t>(
            std::max<std::int64_t>(1, std::min({options.max_leaves, std::int64_t{1} << deepest, rows})));
        depth = static_cast<int>(std::min<std::int64_t>(deepest, static_cast<std::int64_t>(leaves) - 1));
        if (depth > kDeepestBySizes) throw std::invalid_argument("All sizes at once are searched up to depth 4.");
    }
};

template <int Depth>
PerSize<kSizes<Depth>> all_limits(std::size_t leaves) {
    PerSize<kSizes<Depth>> limits{};
    for (std::size_t s = 0; s < leaves && s < limits.size(); ++s) limits[s] = kInfinite;
    return limits;
}

class AllSizes {
  public:
    AllSizes(const Table& table, const SizeOptions& options, const std::function<bool()>& tick)
        : options_(options), monitor_(options.time_limit, tick),
          context_(table, choose_kernel(options.kernel), options.min_leaf, options.switches, options.memory_limit,
                   monitor_),
          builder_(table, context_.kernel, options.min_leaf), solver_(context_, builder_, options.loss),
          unwatched_(std::numeric_limits<double>::infinity(), nullptr),
          sampling_(table, context_.kernel, options.min_leaf, options.switches, options.memory_limit, unwatched_),
          sampling_builder_(table, context_.kernel, options.min_leaf) {
        builder_.build_root(root_);
    }

    // `rows`: those of the table that differ, of which there are no more leaves.
    SizesResult run(std::int64_t rows) {
        if (leaf_cost(context_, root_, options_.loss) >= kInfinite)
            throw std::invalid_argument("The table has fewer rows than one leaf needs.");
        const Extent extent(options_, rows);
        leaves_ = extent.leaves;
        if (extent.depth <= 2) return search<2>();
        return extent.depth == 3 ? search<3>() : search<4>();
    }

  private:
    template <int Depth>
    SizesResult search();
    template <int Depth>
    void start(SizeAnswer<Depth>& answer);

    const SizeOptions& options_;
    Monitor monitor_;
    Context context_;
    NodeBuilder builder_;
    SizeSolver solver_;
    Node root_;
    std::size_t leaves_ = 1;
    // The sample of rows shares nothing with the search: a tree is tried on all rows while sides are being solved.
    Monitor unwatched_;
    Context sampling_;
    NodeBuilder sampling_builder_;
    Levels levels_;
    std::unique_ptr<LazyRows> lazy_;
};

// Greedy trees of every size, and a sample of the rows where it pays.
template <int Depth>
void AllSizes::start(SizeAnswer<Depth>& answer) {
    answer.begin(leaf_cost(context_, root_, options_.loss), leaf_cost_of(root_, options_.loss));
    if (context_.off(kNoStart)) return;
    NodeSolver grower(context_, builder_, options_.loss);
    const std::vector<Incumbent> grown = grow_by_size(grower, root_, Shape::of(Depth, Shape::full(Depth)));
    for (std::size_t s = 0; s < grown.size(); ++s) answer.offer(s, grown[s].upper, grown[s].plan);
    answer.share_trees();
    const Weight errors = static_cast<Weight>(options_.loss.errors_for(answer.upper.back()));
    // With many columns their ends alone would be a large part of the rows.
    if (Depth > 2 && !context_.wide(root_.columns.size()) && LazyRows::worthwhile(context_, root_, errors))
        lazy_ = std::make_unique<LazyRows>(sampling_, sampling_builder_, levels_, root_, answer.plan.back(), errors,
                                           options_.loss);
}

template <int Depth>
SizesResult AllSizes::search() {
    SizesResult result;
    SizeAnswer<Depth> answer;
    SizeRequest<Depth> request;
    request.limits = all_limits<Depth>(leaves_);
    try {
        SizeAnswer<Depth> first;
        start(first);
        request.start = &first;
        solver_.solve<Depth>(root_, request, answer, lazy_.get());
    } catch (const StopSearch& stop) {
        result.status = status_of(stop.reason);
    }
    const Monitor::NoStops whole(monitor_);
    for (std::size_t s = 0; s < leaves_; ++s) {
        result.sizes.push_back(
            {finish_plan(context_, builder_, levels_, root_, answer.plan[s], options_.loss), answer.lower[s]});
        check(result.sizes.back(), answer.upper[s], s + 1, options_.max_depth);
    }
    conclude(result);
    context_.counters.sampled_rows = lazy_ ? lazy_->sample().rows : root_.rows;
    context_.counters.add(sampling_.counters);
    result.counters = context_.counters;
    return result;
}

template <int Depth>
SizesResult search_on_bits(Context& context, const SizeOptions& options, std::size_t leaves) {
    BitSizes search(context, choose_bit_kernel(options.kernel), options.loss);
    SizesResult result;
    SizeAnswer<Depth> answer;
    try {
        search.solve<Depth>(search.root(), all_limits<Depth>(leaves), 0, answer);
    } catch (const StopSearch& stop) {
        result.status = status_of(stop.reason);
        answer.share_bounds();
    }
    const Monitor::NoStops whole(context.monitor);
    for (std::size_t s = 0; s < leaves; ++s) {
        result.sizes.push_back({search.finish(answer.plan[s]), answer.lower[s]});
        check(result.sizes.back(), answer.upper[s], s + 1, options.max_depth);
    }
    conclude(result);
    context.counters.sampled_rows = context.table.rows;
    result.counters = context.counters;
    return result;
}

}  // namespace

SizesResult search_sizes(const Table& table, const SizeOptions& options, const std::function<bool()>& tick) {
    const std::int64_t rows = std::accumulate(table.counts, table.counts + table.rows, std::int64_t{0});
    if (options.on_bits && rows >= options.min_leaf) {
        const Extent extent(options, table.rows);
        Monitor monitor(options.time_limit, tick);
        Context context(table, choose_kernel(options.kernel), options.min_leaf, options.switches, options.memory_limit,
                        monitor);
        if (extent.depth > 2)
            return extent.depth == 3 ? search_on_bits<3>(context, options, extent.leaves)
                                     : search_on_bits<4>(context, options, extent.leaves);
    }
    const Unmerged unmerged(table);
    return AllSizes(unmerged.table, options, tick).run(table.rows);
}

}  // namespace provetree
