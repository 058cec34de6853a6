// All sizes of a table; see sizes/search_sizes.hpp.
#include "sizes/search_sizes.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>

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

    SizesResult run() {
        if (leaf_cost(context_, root_, options_.loss) >= kInfinite)
            throw std::invalid_argument("The table has fewer rows than one leaf needs.");
        const int deepest = std::min(options_.max_depth, 30);
        leaves_ = static_cast<std::size_t>(std::max<std::int64_t>(
            1, std::min({options_.max_leaves, std::int64_t{1} << deepest, static_cast<std::int64_t>(root_.rows)})));
        // Trees of so many leaves are no deeper than that.
        const int depth = static_cast<int>(std::min<std::int64_t>(deepest, static_cast<std::int64_t>(leaves_) - 1));
        if (depth > kDeepestBySizes) throw std::invalid_argument("All sizes at once are searched up to depth 4.");
        if (depth <= 2) return search<2>();
        return depth == 3 ? search<3>() : search<4>();
    }

  private:
    template <int Depth>
    SizesResult search();
    template <int Depth>
    void start(SizeAnswer<Depth>& answer);
    SizedTree finish(const PlanPtr& plan, Cost upper, Cost lower, std::size_t leaves);

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
    for (std::size_t s = 0; s < leaves_ && s < request.limits.size(); ++s) request.limits[s] = kInfinite;
    try {
        SizeAnswer<Depth> first;
        start(first);
        request.start = &first;
        solver_.solve<Depth>(root_, request, answer, lazy_.get());
    } catch (const StopSearch& stop) {
        result.status = status_of(stop.reason);
    }
    const Monitor::NoStops whole(monitor_);
    for (std::size_t s = 0; s < leaves_; ++s)
        result.sizes.push_back(finish(answer.plan[s], answer.upper[s], answer.lower[s], s + 1));
    const auto open = [](const SizedTree& sized) { return sized.lower_bound < sized.tree.cost; };
    const bool any_open = std::any_of(result.sizes.begin(), result.sizes.end(), open);
    if (result.status == Status::kOptimal && any_open) defect("it ended without its proof");
    if (!any_open) result.status = Status::kOptimal;
    context_.counters.sampled_rows = lazy_ ? lazy_->sample().rows : root_.rows;
    context_.counters.add(sampling_.counters);
    result.counters = context_.counters;
    return result;
}

// The last look before a tree leaves: it is worked out on the rows, and costs what the search claims.
SizedTree AllSizes::finish(const PlanPtr& plan, Cost upper, Cost lower, std::size_t leaves) {
    SizedTree sized{finish_plan(context_, builder_, levels_, root_, plan, options_.loss), lower};
    if (sized.tree.cost > upper) defect("a tree costs more than the search claims");
    if (sized.tree.cost < lower) defect("a tree costs less than its bound");
    if (sized.tree.splits >= static_cast<std::int64_t>(leaves) || sized.tree.depth() > options_.max_depth)
        defect("a tree is larger than it may be");
    return sized;
}

}  // namespace

SizesResult search_sizes(const Table& table, const SizeOptions& options, const std::function<bool()>& tick) {
    const Unmerged unmerged(table);
    return AllSizes(unmerged.table, options, tick).run();
}

}  // namespace provetree
