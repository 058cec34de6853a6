// Lazy rows; see intervals/lazy_rows.hpp.
#include "intervals/lazy_rows.hpp"

#include <algorithm>
#include <numeric>

namespace provetree {

namespace {

constexpr Index kFewestRows = 1500;  // below this the bookkeeping costs more than it saves
constexpr Index kFewestRowsIfWide = 400;
constexpr Index kFirstSample = 256;
// With many columns: so that a column that means nothing has as many errors on a side of the sample.
constexpr Index kRowsPerError = 16;
constexpr std::int64_t kMostNoise = 8;  // not where one row in so many is wrong
constexpr Cost kFirstErrors = 70;
constexpr Cost kLeastGrowth = 64;
constexpr Cost kGrowth = 3;  // times the errors that would have kept the tree from winning

// What the splits of a tree pay for the first time on their paths, in weights.
Cost prices_of(const Rules& rules, const FlatTree& tree) {
    Cost sum = 0;
    std::vector<std::uint64_t> paid(tree.column.size(), 0);  // parents come before their children
    for (std::size_t i = 0; i < tree.column.size(); ++i) {
        if (tree.column[i] < 0) continue;
        const Index column = static_cast<Index>(tree.column[i]);
        sum += rules.price(column, paid[i]);
        for (const std::int32_t child : {tree.left[i], tree.right[i]})
            paid[static_cast<std::size_t>(child)] = rules.paid_after(paid[i], column);
    }
    return sum;
}

}  // namespace

bool LazyRows::worthwhile(const Context& context, const Node& all, Weight errors) {
    // Every error of the optimum must be in the sample, with what makes it one: with much noise, most of the table.
    if (context.off(kNoLazyRows) || context.constrained() || all.measure) return false;
    const Index fewest = context.wide(all.columns.size()) ? kFewestRowsIfWide : kFewestRows;
    return context.tiny_samples() || (all.rows >= fewest && std::int64_t{errors} * kMostNoise < all.weight);
}

LazyRows::LazyRows(Context& context, NodeBuilder& builder, Levels& levels, const Node& all, const Loss& loss)
    : context_(context), builder_(builder), levels_(levels), all_(all), loss_(loss), marked_(all.rows, 0) {
    view_.rows = all.rows;
    view_.count = all.count;
    view_.by_class = all.by_class;
    view_.columns = all.columns;
    view_.classes = all.classes;
    view_.weights = all.weights;
    weight_before_.assign(all.columns.size(), std::vector<Weight>(static_cast<std::size_t>(all.rows) + 1));
    for (std::size_t c = 0; c < all.columns.size(); ++c) view_.columns[c].weight_before = weight_before_[c].data();
}

LazyRows::LazyRows(Context& context, NodeBuilder& builder, Levels& levels, const Node& all,
                   const std::vector<std::uint8_t>& marked, const Loss& loss)
    : LazyRows(context, builder, levels, all, loss) {
    for (Index row = 0; row < all.rows; ++row)
        if (marked[row]) add(row);
    rebuild();
}

LazyRows::LazyRows(Context& context, NodeBuilder& builder, Levels& levels, const Node& all, const PlanPtr& first,
                   Weight errors, const Loss& loss)
    : LazyRows(context, builder, levels, all, loss) {
    // The ends of every column are in the sample, so that each split of the table is one of the sample, too. With many
    // columns that would be many rows: then they join when a split of their column is tried.
    if (!context.wide(all.columns.size()) && !context.off(kNoColumnEnds)) {
        for (const NodeColumn& column : all.columns)
            for (Index end : {Index{0}, all.rows - 1}) add(column.order[end] & entry::kRowMask);
    }
    Index first_sample = context.tiny_samples() ? 2 : kFirstSample;
    if (context.wide(all.columns.size()) && !context.tiny_samples())
        first_sample = std::max(first_sample, kRowsPerError * static_cast<Index>(errors));
    const Index step = std::max<Index>(1, all.rows / first_sample);
    for (Index row = 0; row < all.rows; row += step) add(row);
    rebuild();
    try_on_all(first);
    if (!wrong_.empty()) grow(context_.tiny_samples() ? 1 : loss_.leaf(kFirstErrors));
}

void LazyRows::add(Index row) {
    marked_count_ += marked_[row] == 0;
    marked_[row] = 1;
}

void LazyRows::rebuild() {
    // Half of the rows, or more, may as well be all of them.
    if (context_.tiny_samples() ? marked_count_ == all_.rows : marked_count_ > all_.rows / 2) {
        complete_ = true;
        std::fill(marked_.begin(), marked_.end(), std::uint8_t{1});
        view_.columns = all_.columns;
        view_.weights = all_.weights;
        view_.weight = all_.weight;
        return;
    }
    builder_.choose(all_, marked_, sample_, weight_before_);
    for (Index row = 0; row < all_.rows; ++row) view_.weights[row] = marked_[row] ? all_.weights[row] : 0;
    view_.weight = sample_.weight;
    context_.monitor.work(std::uint64_t{all_.rows} * all_.columns.size());
}

// Split by split, many rows at once and without a branch.
void LazyRows::send_down(const FlatTree& tree, const std::vector<Index>& upto) {
    constexpr Index kAtOnce = 512;
    struct Step {
        const Index* ranks;
        Index upto;
        std::uint32_t here, left, right;
    };
    std::vector<Step> steps;  // parents come before their children
    for (std::size_t i = 0; i < tree.column.size(); ++i)
        if (tree.column[i] >= 0)
            steps.push_back({ranks_of(context_.table, static_cast<Index>(tree.column[i])), upto[i],
                             static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(tree.left[i]),
                             static_cast<std::uint32_t>(tree.right[i])});
    leaf_of_.resize(all_.rows);
    std::uint32_t at[kAtOnce];
    for (Index begin = 0; begin < all_.rows; begin += kAtOnce) {
        const Index n = std::min(kAtOnce, all_.rows - begin);
        std::fill_n(at, n, 0u);
        for (const auto [ranks, most, here, left, right] : steps) {
            const Index* const of_row = ranks + begin;
            const std::uint32_t to_left = here ^ left, turn = left ^ right;
            for (Index i = 0; i < n; ++i) {
                const std::uint32_t goes_right = 0u - std::uint32_t{of_row[i] > most},
                                    is_here = 0u - std::uint32_t{at[i] == here};
                at[i] ^= is_here & (to_left ^ (goes_right & turn));
            }
        }
        std::copy_n(at, n, leaf_of_.begin() + begin);
    }
}

LazyRows::Trial LazyRows::try_on_all(const PlanPtr& plan) {
    FlatTree tree = finish_plan(context_, builder_, levels_, sample(), plan, loss_);
    const std::size_t n_nodes = tree.column.size();
    // A split of the sample is several of the table: the middle one errs least. The first is as it was asked for.
    std::vector<Index> upto(n_nodes, 0);
    for (std::size_t i = 0; i < n_nodes; ++i)
        if (tree.column[i] >= 0)
            upto[i] = i == 0 && !plan->stump ? plan->rank
                                             : static_cast<Index>((tree.rank_low[i] + tree.rank_high[i] - 1) / 2);
    send_down(tree, upto);
    const std::size_t n_classes = all_.by_class.size();
    std::vector<Weight> weights(n_nodes * n_classes, 0);
    wrong_.clear();
    for (Index row = 0; row < all_.rows; ++row) {
        const std::size_t at = leaf_of_[row];
        const std::uint32_t cls = all_.classes[row];
        weights[at * n_classes + cls] += all_.weights[row];
        if (static_cast<std::int32_t>(cls) != tree.label[at] && !marked_[row]) wrong_.push_back(row);
    }
    context_.monitor.work(all_.rows);
    // Labels that keep directions stay: on all rows another class may be larger. Elsewhere leaves predict the largest.
    const bool labelled = context_.rules && context_.rules->directed();
    Cost errors = context_.rules ? prices_of(*context_.rules, tree) : 0;
    for (std::size_t i = 0; i < n_nodes; ++i) {
        const Weight *begin = weights.data() + i * n_classes, *end = begin + n_classes;
        errors +=
            std::accumulate(begin, end, Weight{0}) - (labelled ? begin[tree.label[i]] : *std::max_element(begin, end));
    }
    std::vector<PlanPtr> plans(n_nodes);  // children come after their parents
    for (std::size_t i = n_nodes; i-- > 0;) {
        if (tree.column[i] < 0) {
            if (labelled) plans[i] = leaf_plan(tree.label[i]);
            continue;
        }
        plans[i] =
            split_plan(static_cast<Index>(tree.column[i]), upto[i], plans[static_cast<std::size_t>(tree.left[i])],
                       plans[static_cast<std::size_t>(tree.right[i])]);
    }
    return {loss_.tree(errors, tree.splits), plans[0]};
}

Weight LazyRows::grow(Cost wanted) {
    mark_wrong(static_cast<std::size_t>(
        std::max<Cost>(context_.tiny_samples() ? 1 : kLeastGrowth, loss_.errors_for(kGrowth * wanted))));
    return join_marked();
}

void LazyRows::mark_wrong(std::size_t most) {
    // A tree of a small sample may be far off: then some of its errors are enough.
    const std::size_t step = (wrong_.size() + most - 1) / most;
    for (std::size_t i = 0; i < wrong_.size(); i += step) add(wrong_[i]);
}

Weight LazyRows::join_marked() {
    const Weight before = view_.weight;
    rebuild();
    ++context_.counters.samples;
    return view_.weight - before;
}

Weight LazyRows::include_ends(const NodeColumn& column) {
    const Weight before = view_.weight;
    const Index first = column.order[0] & entry::kRowMask, last = column.order[all_.rows - 1] & entry::kRowMask;
    if (complete_ || (marked_[first] && marked_[last])) return 0;
    add(first);
    add(last);
    rebuild();
    return view_.weight - before;
}

}  // namespace provetree
