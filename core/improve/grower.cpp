// Growing trees along a guide; see improve/grower.hpp.
#include "improve/grower.hpp"

#include <algorithm>
#include <optional>

#include "sweeps/depth_one.hpp"
#include "sweeps/split_purity.hpp"

namespace provetree {

namespace {

// Tables of options are kept up to this many splits; a larger budget is treated as if it did not bind further.
constexpr std::size_t kLargestTable = 255;

// How many of `total` splits, one of them above both sides, go left in the best division of the others. None where no
// division makes the two sides cost less than `limit`.
std::optional<std::size_t> best_division(const std::vector<SubtreePtr>& left, const std::vector<SubtreePtr>& right,
                                         std::size_t total, Cost limit) {
    std::optional<std::size_t> best;
    const std::size_t first = total > right.size() ? total - right.size() : 0;
    for (std::size_t a = first; a < std::min(left.size(), total); ++a) {
        const Cost cost_left = left[a]->cost, cost_right = right[total - 1 - a]->cost;
        if (cost_left >= kInfinite || cost_right >= kInfinite || cost_left + cost_right >= limit) continue;
        limit = cost_left + cost_right;
        best = a;
    }
    return best;
}

// Differences of squares round otherwise than products do once squares exceed 2^53. Which trees are tried, and so which
// is found in a given number of steps, depends on it.
struct GiniByDifferences : Gini {
    static double change(double before, double by) { return part(before + by) - part(before); }
};

template <class Measure>
std::vector<Candidate> best_split_of_each_column(Context& context, const Node& node) {
    std::vector<Candidate> found;
    const auto take = [&](Index column, Index position, double score) {
        if (found.empty() || found.back().column != column)
            found.push_back({score, column, position});
        else if (score > found.back().score)
            found.back() = {score, column, position};
    };
    score_splits<Measure>(node, take, [&] { context.monitor.work(node.rows); });
    return found;
}

}  // namespace

std::vector<Candidate> ranked_splits(Context& context, const Node& node, Purity purity) {
    std::vector<Candidate> ranked;
    if (node.measure)
        for (const ScoredSplit& split : best_measured_splits(context, node))
            ranked.push_back({-static_cast<double>(split.units), split.column, split.position});
    else
        ranked = purity == Purity::kGini ? best_split_of_each_column<GiniByDifferences>(context, node)
                                         : best_split_of_each_column<Entropy>(context, node);
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
    return ranked;
}

Candidate placed(const Node& node, Index column, Index rank) {
    for (Index c = 0; c < node.columns.size(); ++c) {
        const NodeColumn& one = node.columns[c];
        if (one.id != column) continue;
        const Index position = Node::rows_up_to(one, rank, 0, node.rows);
        if (position == 0 || position == node.rows || position < one.first_split || position > one.last_split) break;
        return {0, c, position};
    }
    return {0, 0, 0};
}

SubtreePtr Grower::leaf(const Node& node) const {
    return std::make_shared<const Subtree>(Subtree{.cost = leaf_cost(context_, node, solver_.loss())});
}

SubtreePtr Grower::best_of(const Options& options, Cost limit) {
    if (options.empty()) return nullptr;
    const SubtreePtr& best = *std::min_element(
        options.begin(), options.end(), [](const SubtreePtr& a, const SubtreePtr& b) { return a->cost < b->cost; });
    return best->cost < limit ? best : nullptr;
}

Grower::Options Grower::bottom_options(const Node& node, Shape shape, std::size_t level) {
    Options table{leaf(node)};
    const std::int64_t least = binding_ ? 1 : shape.splits;
    for (std::int64_t splits = least; splits <= shape.splits && splits > 0; ++splits) {
        const Outcome outcome =
            solver_.solve(node, {Shape::of(shape.depth, splits), table.back()->cost, {}, false, level});
        if (outcome.upper < table.back()->cost) {
            Subtree best = found_subtree(outcome.upper, binding_ ? splits : 0, outcome.plan);
            best.exact = true;
            table.push_back(std::make_shared<const Subtree>(best));
        } else {
            table.push_back(table.back());
        }
        if (!binding_) table.erase(table.begin());
    }
    return table;
}

Grower::Options Grower::options_below(const Node& node, Shape shape, const Candidate& split, const Subtree* guide,
                                      const BranchingPreference& preference, Cost limit, std::size_t level,
                                      std::uint64_t path) {
    const NodeColumn& column = node.columns[split.column];
    const Index id = column.id, rank = column.ranks[split.position - 1];
    Levels::Children& kids = solver_.levels().at(level);
    solver_.builder().split(node, column, split.position, kids.left, kids.right);
    context_.counters.nodes += 2;
    context_.monitor.work(std::uint64_t{node.rows} * (node.columns.size() + 1) / 2);
    const Cost penalty = solver_.loss().split_penalty;
    const Shape below = Shape::of(shape.depth - 1, shape.splits - 1);
    const std::uint64_t next = path >> 62 ? path : 2 * path;  // deeper than any path can name: then no discrepancies
    const Options left =
        options(kids.left, below, guide ? guide->left.get() : nullptr, preference, limit - penalty, level + 1, next);
    const SubtreePtr best_left = best_of(left, limit - penalty);
    if (!best_left) return {};
    const Options right = options(kids.right, below, guide ? guide->right.get() : nullptr, preference,
                                  limit - penalty - best_left->cost, level + 1, next + (next != path));
    if (!best_of(right, limit - penalty - best_left->cost)) return {};
    const auto joined = [&](const SubtreePtr& a, const SubtreePtr& b) {
        Subtree subtree = joined_subtree(id, rank, a, b);
        subtree.cost = a->cost + b->cost + penalty;
        subtree.splits = a->splits + b->splits + 1;
        return std::make_shared<const Subtree>(subtree);
    };
    if (!binding_) return {joined(left.back(), right.back())};
    const std::size_t most =
        std::min({static_cast<std::size_t>(shape.splits), left.size() + right.size() - 1, kLargestTable});
    Options table{leaf(node)};
    for (std::size_t total = 1; total <= most; ++total) {
        const std::optional<std::size_t> on_left = best_division(left, right, total, table.back()->cost - penalty);
        table.push_back(on_left ? joined(left[*on_left], right[total - 1 - *on_left]) : table.back());
    }
    return table;
}

Grower::Options Grower::options(const Node& node, Shape shape, const Subtree* guide,
                                const BranchingPreference& preference, Cost limit, std::size_t level,
                                std::uint64_t path) {
    shape = shape.on(node.rows);
    if (shape.depth == 0 || node.columns.empty() || node.leaf_amount() == 0) return {leaf(node)};
    if (shape.depth <= 2) return bottom_options(node, shape, level);
    Candidate split{0, 0, 0};
    if (guide && guide->split) split = placed(node, guide->column, guide->rank);
    const bool guided = split.position > 0;
    if (!guided) {
        const std::vector<Candidate> ranked = ranked_splits(context_, node, preference.purity);
        if (ranked.empty()) return {leaf(node)};
        split = ranked[std::min(preference.place(path), ranked.size() - 1)];
    }
    Options table = options_below(node, shape, split, guided ? guide : nullptr, preference, limit, level, path);
    if (binding_) return table;
    const SubtreePtr alone = leaf(node);
    return table.empty() || alone->cost <= table[0]->cost ? Options{alone} : table;
}

}  // namespace provetree
