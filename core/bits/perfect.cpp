// Trees without errors in the bit search: the fewest splits one can have, and which one the tie rule prefers.
//
// A tree without errors has none on a sample of the rows either, so what a sample cannot have with so many splits the
// table cannot have. A tree that a sample can have is tried on all rows, and those that it gets wrong join the sample.
// Few rows are needed, where thousands would be counted otherwise.
#include <algorithm>
#include <stdexcept>

#include "bits/bit_search.hpp"
#include "tree/route.hpp"

namespace provetree {

namespace {

constexpr std::size_t kFewestRows = 1200;  // below this all rows are as fast
constexpr std::size_t kFirstRows = 128;
constexpr std::size_t kMostNewRows = 32;
constexpr int kLimbDepth = 3;  // subtrees of this depth are solved in no time

// The splits of a finished tree as a plan.
PlanPtr plan_of(const FlatTree& tree, std::int32_t from = 0) {
    const std::size_t at = static_cast<std::size_t>(from);
    if (tree.column[at] < 0) return nullptr;
    return split_plan(static_cast<Index>(tree.column[at]), static_cast<Index>(tree.rank_low[at]),
                      plan_of(tree, tree.left[at]), plan_of(tree, tree.right[at]));
}

}  // namespace

void BitSearch::begin_sample() {
    const std::size_t rows = static_cast<std::size_t>(nodes_.root().size());
    // A sample says nothing about the size of leaves.
    if (!nodes_.any_leaf_size() || (rows < kFewestRows && !context_.tiny_samples())) return;
    // What is known holds for all rows: less may be true of a sample.
    of_two_.clear();
    for (auto& proven : proven_) proven.clear();
    marked_.assign(context_.table.rows, 0);
    const std::size_t first = context_.tiny_samples() ? 2 : kFirstRows;
    for (std::size_t i = 0; i < first; ++i) marked_[nodes_.root().rows[i * rows / first]] = 1;
    ++sample_;
}

void BitSearch::mark(const std::vector<std::uint32_t>& wrong) {
    const std::size_t most = context_.tiny_samples() ? 1 : kMostNewRows, step = (wrong.size() + most - 1) / most;
    for (std::size_t i = 0; i < wrong.size(); i += step) marked_[wrong[i]] = 1;
    // Bounds of the sample hold for the larger one, its trees do not.
    ++sample_;
    for (auto& proven : proven_) proven.for_each([](Proven& one) { one = {one.lower, kInfinite, nullptr}; });
    ++context_.counters.samples;
}

std::vector<std::uint32_t> BitSearch::wrong_rows(const BitNode& all, const FlatTree& tree) const {
    std::vector<std::uint32_t> wrong;
    const Table& table = context_.table;
    for (std::size_t i = 0; i < static_cast<std::size_t>(all.size()); ++i) {
        const std::uint32_t row = all.rows[i];
        if (table.classes[row] != tree.label[leaf_of(tree, table, row)]) wrong.push_back(row);
    }
    context_.monitor.work(static_cast<std::size_t>(all.size()));
    return wrong;
}

BitSearch::Proven BitSearch::fewest_splits_of_sample(BitNode& sample, Shape shape, Cost most, Cost& least) {
    // Trees of few splits are soon ruled out, and leave bounds for those of more; where there are deep trees only, that
    // takes longer than it saves.
    const Cost first = shape.depth > kLimbDepth + 1 ? most : loss_.split_penalty + 1;
    for (Cost limit = std::max(least + 1, first);; limit = std::max(2 * limit, least + 1)) {
        limit = std::min(limit, most);
        const Proven proven = solve(sample, shape, limit, 0);
        least = std::max(least, std::min(proven.upper, std::max(proven.lower, limit)));
        if (proven.upper < limit || limit == most) return proven;
    }
}

PlanPtr BitSearch::with_smaller_limbs(BitNode& node, const Plan* plan, int depth, std::size_t level) {
    if (!plan || node.leaf_error() == 0) return nullptr;
    if (depth <= kLimbDepth) return solve(node, {depth, Shape::full(depth)}, kInfinite, level).plan;
    const std::uint32_t feature = nodes_.feature_at({plan->column, plan->rank});
    PlanPtr plans[2];
    for (int side = 0; side < 2; ++side) {
        BitNode& child = nodes_.child_at(level, side == 1);
        nodes_.make_child(node, feature, side == 1, child);
        child.conditions = node.conditions.with(2 * feature + static_cast<std::uint32_t>(side));
        plans[side] = with_smaller_limbs(child, side ? plan->right.get() : plan->left.get(), depth - 1, level + 1);
    }
    return split_plan(plan->column, plan->rank, plans[0], plans[1]);
}

void BitSearch::fewest_splits(Shape shape, Outcome& best, Cost& least) {
    BitNode& all = nodes_.root();
    begin_sample();
    // Smaller trees that are soon found: the effort left may not do for the smallest.
    if (shape.depth > kLimbDepth && shape.splits == Shape::full(shape.depth) && nodes_.any_leaf_size()) {
        if (marked_.empty()) {
            const PlanPtr plan = with_smaller_limbs(all, best.plan.get(), shape.depth, 0);
            const FlatTree tree = worked_out(all, plan, 0);
            if (tree.cost < best.upper) {
                best.upper = tree.cost;
                best.plan = plan;
            }
        }
        Cost least_of_shallow = 0;
        if (shape.depth > kLimbDepth + 1)
            fewest_splits_by_samples({shape.depth - 1, Shape::full(shape.depth - 1)}, best, least_of_shallow);
    }
    fewest_splits_by_samples(shape, best, least);
}

void BitSearch::fewest_splits_by_samples(Shape shape, Outcome& best, Cost& least) {
    BitNode& all = nodes_.root();
    BitNode chosen;
    for (;;) {
        if (!marked_.empty()) nodes_.choose(all, marked_, chosen);
        BitNode& sample = marked_.empty() ? all : chosen;
        const Proven proven = fewest_splits_of_sample(sample, shape, best.upper, least);
        if (proven.upper >= best.upper) return;  // no tree costs less
        FlatTree tree = worked_out(sample, proven.plan, 0);
        const std::vector<std::uint32_t> wrong = wrong_rows(all, tree);
        if (wrong.empty()) {
            best.upper = proven.upper;
            best.plan = plan_of(tree);
            return;
        }
        mark(wrong);
    }
}

PlanPtr BitSearch::canonical_without_errors(const BitNode& all, Shape shape, Cost cost, std::size_t level) {
    shape = shape.on(static_cast<Index>(all.size()));
    if (all.leaf_error() == 0) return nullptr;
    if (shape.depth == 1) return stump_plan();
    if (shape.depth == 2) return bottom_plan(static_cast<int>(shape.splits));
    BitNode sample;
    nodes_.choose(all, marked_, sample);
    for (const NodeSplit& split : splits_by_tie_rule(all)) {
        for (const Division& share : divisions(shape)) {
            for (;;) {
                Sides sides;
                const Proven tried = solve_split(sample, share, split.feature, sides, cost + 1, level);
                if (tried.upper > cost) break;
                // A tree of the sample has the split only where the sample has rows on both sides of it.
                const SplitErrors leaves = nodes_.split_errors(sample, split.feature);
                FlatTree tree;
                std::vector<std::uint32_t> news;
                if (leaves.size_left > 0 && leaves.size_right > 0) {
                    tree = worked_out(sample, tried.plan, level);
                    // To the sample several splits of the column may be one: it is this one that is asked for.
                    tree.rank_low[0] = static_cast<std::int32_t>(features_[split.feature].rank);
                    news = wrong_rows(all, tree);
                } else {
                    BitNode unseen;
                    nodes_.make_child(all, split.feature, leaves.size_right == 0, unseen);
                    news = {unseen.rows[0]};
                }
                if (!news.empty()) {
                    mark(news);
                    nodes_.choose(all, marked_, sample);
                    continue;
                }
                PlanPtr plans[2];
                const Cost costs[2] = {loss_.split_penalty * tree.splits_below(tree.left[0]),
                                       loss_.split_penalty * tree.splits_below(tree.right[0])};
                for (int side = 0; side < 2; ++side) {
                    BitNode child;
                    nodes_.make_child(all, split.feature, side == 1, child);
                    child.conditions = all.conditions.with(2 * split.feature + static_cast<std::uint32_t>(side));
                    plans[side] =
                        canonical_without_errors(child, side ? share.right : share.left, costs[side], level + 1);
                }
                return split_plan(features_[split.feature].column, features_[split.feature].rank, plans[0], plans[1]);
            }
        }
    }
    throw std::logic_error("provetree core: no split has the cost that was proven; please report this.");
}

}  // namespace provetree
