// Trees without errors on samples of the rows; see bits/perfect_trees.hpp.
#include "bits/perfect_trees.hpp"

#include <algorithm>
#include <stdexcept>

#include "bits/bit_root.hpp"
#include "tree/route.hpp"

namespace provetree {

namespace {

constexpr std::size_t kFewestRows = 1200;  // below this all rows are as fast
constexpr std::size_t kFirstRows = 128;
constexpr std::size_t kMostNewRows = 32;
constexpr int kEasyDepth = 3;  // subtrees of this depth are solved in no time

// The splits of a finished tree as a plan.
PlanPtr plan_of(const FlatTree& tree, std::int32_t from = 0) {
    const std::size_t at = static_cast<std::size_t>(from);
    if (tree.column[at] < 0) return nullptr;
    return split_plan(static_cast<Index>(tree.column[at]), static_cast<Index>(tree.rank_low[at]),
                      plan_of(tree, tree.left[at]), plan_of(tree, tree.right[at]));
}

}  // namespace

void PerfectTrees::begin_sample() {
    const std::size_t rows = static_cast<std::size_t>(nodes_.root().size());
    // A sample says nothing about the size of leaves.
    if (!nodes_.any_leaf_size() || (rows < kFewestRows && !context_.tiny_samples())) return;
    recursion_.begin_sample();
    marked_.assign(context_.table.rows, 0);
    const std::size_t first = context_.tiny_samples() ? 2 : kFirstRows;
    for (std::size_t i = 0; i < first; ++i) marked_[nodes_.root().rows[i * rows / first]] = 1;
}

void PerfectTrees::mark(const std::vector<std::uint32_t>& wrong) {
    const std::size_t most = context_.tiny_samples() ? 1 : kMostNewRows, step = (wrong.size() + most - 1) / most;
    for (std::size_t i = 0; i < wrong.size(); i += step) marked_[wrong[i]] = 1;
    recursion_.grow_sample();
    ++context_.counters.samples;
}

std::vector<std::uint32_t> PerfectTrees::wrong_rows(const BitNode& all, const FlatTree& tree) const {
    std::vector<std::uint32_t> wrong;
    const Table& table = context_.table;
    for (std::size_t i = 0; i < static_cast<std::size_t>(all.size()); ++i) {
        const std::uint32_t row = all.rows[i];
        if (table.classes[row] != tree.label[leaf_of(tree, table, row)]) wrong.push_back(row);
    }
    context_.monitor.work(static_cast<std::size_t>(all.size()));
    return wrong;
}

void PerfectTrees::fewest_splits(Shape shape, Incumbent& best, Cost& least) {
    begin_sample();
    // Smaller trees that are soon found: the effort left may not do for the smallest.
    if (shape.depth > kEasyDepth && shape.splits == Shape::full(shape.depth) && nodes_.any_leaf_size()) {
        if (!sampled()) {
            const PlanPtr plan = with_smaller_subtrees(nodes_.root(), best.plan.get(), shape.depth, 0);
            best.offer({tie_rule_.finish(nodes_.root(), plan, 0).cost, plan, 0});
        }
        Cost least_of_shallow = 0;
        if (shape.depth > kEasyDepth + 1)
            search_samples({shape.depth - 1, Shape::full(shape.depth - 1)}, best, least_of_shallow);
    }
    search_samples(shape, best, least);
}

PlanPtr PerfectTrees::with_smaller_subtrees(BitNode& node, const Plan* plan, int depth, std::size_t level) {
    if (!plan || node.leaf_error() == 0) return nullptr;
    if (depth <= kEasyDepth) return recursion_.solve(node, {depth, Shape::full(depth)}, kInfinite, level).plan;
    const std::uint32_t feature = nodes_.feature_at({plan->column, plan->rank});
    PlanPtr plans[2];
    for (int side = 0; side < 2; ++side) {
        BitNode& child = nodes_.child_at(level, side == 1);
        recursion_.make_side(node, feature, side == 1, level, child);
        plans[side] = with_smaller_subtrees(child, side ? plan->right.get() : plan->left.get(), depth - 1, level + 1);
    }
    return split_plan(plan->column, plan->rank, plans[0], plans[1]);
}

void PerfectTrees::search_samples(Shape shape, Incumbent& best, Cost& least) {
    BitNode& all = nodes_.root();
    BitNode chosen;
    Incumbent found;  // on all rows, before the search of them has ended
    try {
        for (;;) {
            if (sampled()) nodes_.choose(all, marked_, chosen);
            BitNode& sample = sampled() ? chosen : all;
            const Proven proven = search_sample(sample, shape, found, best.upper, least);
            if (proven.upper >= best.upper) return;  // no tree costs less
            const FlatTree tree = tie_rule_.finish(sample, proven.plan, 0);
            const std::vector<std::uint32_t> wrong = wrong_rows(all, tree);
            if (wrong.empty()) {
                best = {proven.upper, plan_of(tree), 0};
                return;
            }
            mark(wrong);
        }
    } catch (const StopSearch&) {
        best.offer(found);
        throw;
    }
}

Proven PerfectTrees::search_sample(BitNode& sample, Shape shape, Incumbent& found, Cost most, Cost& least) {
    // Trees of few splits are soon ruled out, and leave bounds for those of more; where there are deep trees only, that
    // takes longer than it saves.
    const Cost first = shape.depth > kEasyDepth + 1 ? most : recursion_.loss().tree(0, 1) + 1;
    for (Cost limit = std::max(least + 1, first);; limit = std::max(2 * limit, least + 1)) {
        limit = std::min(limit, most);
        const Proven proven =
            sampled() ? recursion_.solve(sample, shape, limit, 0) : BitRoot(recursion_, shape, limit, found).solve();
        least = std::max(least, std::min(proven.upper, std::max(proven.lower, limit)));
        if (proven.upper < limit || limit == most) return proven;
    }
}

PlanPtr PerfectTrees::choose(BitNode& all, Shape shape, Cost cost, std::size_t level) {
    shape = shape.on(static_cast<Index>(all.size()));
    if (all.leaf_error() == 0) return nullptr;
    if (shape.depth == 1) return stump_plan();
    if (shape.depth == 2) return bottom_plan(static_cast<int>(shape.splits));
    BitNode sample;
    nodes_.choose(all, marked_, sample);
    for (const BitTieRule::Split& split : tie_rule_.splits(all)) {
        for (const Division& share : divisions(shape)) {
            const FlatTree tree = tree_with_split(all, sample, share, split.feature, cost, level);
            if (tree.column.empty()) continue;
            PlanPtr plans[2];
            for (int side = 0; side < 2; ++side) {
                BitNode child;
                recursion_.make_side(all, split.feature, side == 1, level, child);
                const Cost below = recursion_.loss().tree(0, tree.splits_below(side ? tree.right[0] : tree.left[0]));
                plans[side] = choose(child, side ? share.right : share.left, below, level + 1);
            }
            return recursion_.plan_of_split(split.feature, plans[0], plans[1]);
        }
    }
    throw std::logic_error("provetree core: no split has the cost that was proven; please report this.");
}

// A tree of that cost that begins with the split and is right on all rows; an empty one where there is none. The sample
// grows until that is known.
FlatTree PerfectTrees::tree_with_split(BitNode& all, BitNode& sample, const Division& share, std::uint32_t feature,
                                       Cost cost, std::size_t level) {
    for (;;) {
        SideCosts sides;
        const Incumbent found = recursion_.solve_split(sample, share, feature, sides, cost + 1, level);
        if (found.upper > cost) return {};
        // A tree of the sample has the split only where the sample has rows on both sides of it.
        const SplitErrors leaves = nodes_.split_errors(sample, feature);
        FlatTree tree;
        std::vector<std::uint32_t> wrong;
        if (leaves.size_left > 0 && leaves.size_right > 0) {
            tree = tie_rule_.finish(sample, found.plan, level);
            // To the sample several splits of the column may be one: it is this one that is asked for.
            tree.rank_low[0] = static_cast<std::int32_t>(nodes_.features()[feature].rank);
            wrong = wrong_rows(all, tree);
        } else {
            BitNode unseen;
            nodes_.make_child(all, feature, leaves.size_right == 0, unseen);
            wrong = {unseen.rows[0]};
        }
        if (wrong.empty()) return tree;
        mark(wrong);
        nodes_.choose(all, marked_, sample);
    }
}

}  // namespace provetree
