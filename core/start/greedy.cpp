// The greedy start; see start/greedy.hpp.
#include "start/greedy.hpp"

#include <algorithm>

#include "sweeps/depth_one.hpp"
#include "sweeps/split_purity.hpp"

namespace provetree {

namespace {

// Tables of one entry per split are kept only up to this budget; a larger one cannot bind in a greedy tree that is
// worth pruning to it.
constexpr std::int64_t kLargestTable = 255;

// Growing heeds the time limit from this level on, and in nodes of this size; anything smaller takes milliseconds.
constexpr std::size_t kDeep = 12;
constexpr std::uint64_t kManyCells = 10'000'000;
// Medians of leaves that grow row by row take far longer: from so many cells on such a node heeds all stops.
constexpr std::uint64_t kManyCellsOfMedians = 40'000;

// The split of the purest sides, or the best one by the measure.
const NodeColumn* best_split(Context& context, const Node& node, Index& best_position) {
    const NodeColumn* best = nullptr;
    if (node.measure) {
        Cost least = kInfinite;
        for (const ScoredSplit& split : best_measured_splits(context, node)) {
            if (split.units >= least) continue;
            least = split.units;
            best = &node.columns[split.column];
            best_position = split.position;
        }
        return best;
    }
    double best_score = -1;
    score_splits<Gini>(
        node,
        [&](Index column, Index position, double score) {
            if (score <= best_score) return;
            best_score = score;
            best = &node.columns[column];
            best_position = position;
        },
        [&] { context.monitor.work(node.rows); });
    return best;
}

// The first split of the best tree of two levels, or of one where that would take long: purity knows nothing of
// directions, which may forbid what is purest.
const NodeColumn* best_directed_split(NodeSolver& solver, const Node& node, std::size_t level, Index& best_position) {
    if (std::uint64_t{node.rows} * node.columns.size() > kManyCells / 100) {
        const Stump one = best_stump(solver.context(), node, solver.loss(), false);
        best_position = one.position;
        return one.column;
    }
    const Outcome two = solver.solve(node, {.shape = Shape::of(2, 3), .level = level});
    if (!two.plan || two.plan->stump) return nullptr;
    const NodeColumn* column = find_column(node, two.plan->column);
    best_position = Node::rows_up_to(*column, two.plan->rank, 0, node.rows);
    return column;
}

// A side of a split with a direction, as a leaf of the class that it asks for: the tree of no splits.
std::vector<Incumbent> labelled_side(const Context& context, const Node& side, const Loss& loss, int label) {
    const bool feasible = !context.constrained() || side.count >= context.min_leaf;
    return {{feasible ? labelled_cost(side, loss, label) : kInfinite, leaf_plan(label), 0}};
}

// The trees of both sides of a split joined, where they are better than what the table has.
struct Joining {
    Cost own;  // of the split
    Index column, rank;
    std::int64_t most;  // splits

    void operator()(const std::vector<Incumbent>& left, const std::vector<Incumbent>& right,
                    std::vector<Incumbent>& table) const {
        for (std::size_t a = 0; a < left.size(); ++a) {
            for (std::size_t b = 0; b < right.size() && static_cast<std::int64_t>(a + b) + 1 <= most; ++b) {
                Incumbent& option = table[a + b + 1];
                if (left[a].upper >= kInfinite || right[b].upper >= kInfinite) continue;
                const Cost cost = left[a].upper + right[b].upper + own;
                if (cost < option.upper)
                    option = {cost, split_plan(column, rank, left[a].plan, right[b].plan),
                              static_cast<std::int64_t>(a)};
            }
        }
    }
};

std::vector<Incumbent> grown_options(NodeSolver& solver, const Node& node, Shape shape, std::size_t level,
                                     bool exact_bottoms);

// options[b]: the best tree found with at most b splits. A node of many medians is a leaf where it meets a stop; others
// are grown whatever happens, unless all of it is given up by a stop (`exact_bottoms`).
std::vector<Incumbent> options(NodeSolver& solver, const Node& node, Shape shape, std::size_t level,
                               bool exact_bottoms) {
    if (exact_bottoms) return grown_options(solver, node, shape, level, true);
    Context& context = solver.context();
    const std::uint64_t cells = std::uint64_t{node.rows} * node.columns.size();
    const bool medians = node.measure && node.measure->kind() == MeasureKind::kAbsolute;
    if (!medians || cells < kManyCellsOfMedians) {
        const Monitor::NoStops whole(context.monitor);
        return grown_options(solver, node, shape, level, false);
    }
    if (!context.monitor.late()) {
        try {
            return grown_options(solver, node, shape, level, false);
        } catch (const StopSearch&) {
            // The search that follows meets the same stop at once.
        }
    }
    std::vector<Incumbent> table(1);
    table[0].upper = leaf_cost(context, node, solver.loss());
    return table;
}

std::vector<Incumbent> grown_options(NodeSolver& solver, const Node& node, Shape shape, std::size_t level,
                                     bool exact_bottoms) {
    Context& context = solver.context();
    std::vector<Incumbent> table(1);
    table[0].upper = leaf_cost(context, node, solver.loss());
    if (shape.depth == 0 || node.columns.empty() || node.leaf_amount() == 0) return table;
    // A table so large, or a tree so deep, that even growing takes long: then a leaf must do once the time is over.
    const std::uint64_t cells = std::uint64_t{node.rows} * node.columns.size();
    if (context.monitor.late() && (level >= kDeep || cells > kManyCells)) return table;
    const bool full = shape.splits == Shape::full(shape.depth);
    if (shape.depth == 1 || (exact_bottoms && shape.depth == 2 && full)) {
        // The whole optimum of the last level, or of the last two; fewer splits than it uses are left to the leaf.
        const Outcome outcome = solver.solve(node, {shape, table[0].upper, {}, false, level});
        if (outcome.upper < table[0].upper) {
            table.resize(static_cast<std::size_t>(shape.splits) + 1, table[0]);
            table.back() = {outcome.upper, outcome.plan, 0};
        }
        return table;
    }
    Index position = 0;
    const bool directed = context.rules && context.rules->directed();
    const NodeColumn* column =
        directed ? best_directed_split(solver, node, level, position) : best_split(context, node, position);
    if (!column) return table;
    Levels::Children& kids = solver.levels().at(level);
    solver.builder().split(node, *column, position, kids.left, kids.right);
    context.counters.nodes += 2;
    const Index rank = column->ranks[position - 1], id = column->id;
    const int direction = directed ? context.rules->direction(id) : 0;
    const Cost own =
        solver.loss().split_penalty + (context.rules ? solver.loss().leaf(context.rules->price(id, node.paid)) : 0);
    const std::int64_t below = std::min(Shape::full(shape.depth - 1), shape.splits - 1);
    const std::vector<Incumbent> left =
        options(solver, kids.left, Shape::of(shape.depth - 1, below), level + 1, exact_bottoms);
    const std::vector<Incumbent> right =
        options(solver, kids.right, Shape::of(shape.depth - 1, below), level + 1, exact_bottoms);
    const std::int64_t most =
        std::min<std::int64_t>(shape.splits, static_cast<std::int64_t>(left.size() + right.size()) - 1);
    if (most > kLargestTable && full && !direction) {
        const Cost cost = left.back().upper + right.back().upper + own;
        table.resize(2, table[0]);
        if (cost < table[0].upper)
            table[1] = {cost, split_plan(id, rank, left.back().plan, right.back().plan), Shape::full(shape.depth - 1)};
        return table;
    }
    table.resize(static_cast<std::size_t>(most) + 1, table[0]);
    const Joining join{own, id, rank, most};
    if (direction) {
        join(labelled_side(context, kids.left, solver.loss(), label_of(direction, false)), right, table);
        join(left, labelled_side(context, kids.right, solver.loss(), label_of(direction, true)), table);
    } else {
        join(left, right, table);
    }
    for (std::size_t b = 1; b < table.size(); ++b)
        if (table[b - 1].upper < table[b].upper) table[b] = table[b - 1];
    return table;
}

Incumbent best_of(const std::vector<Incumbent>& table, Shape shape) {
    Incumbent best = *std::min_element(table.begin(), table.end(),
                                       [](const Incumbent& a, const Incumbent& b) { return a.upper < b.upper; });
    if (shape.depth > 0 && shape.splits == Shape::full(shape.depth)) best.left_splits = Shape::full(shape.depth - 1);
    return best;
}

}  // namespace

Incumbent grow_greedily(NodeSolver& solver, const Node& node, Shape shape) {
    const Closings::Heard silence(solver.context().closings);
    return best_of(options(solver, node, shape, 0, false), shape);
}

std::vector<Incumbent> grow_by_size(NodeSolver& solver, const Node& node, Shape shape) {
    const Closings::Heard silence(solver.context().closings);
    return options(solver, node, shape, 0, false);
}

Incumbent grow_with_exact_bottoms(NodeSolver& solver, const Node& node, Shape shape, const Incumbent& plain) {
    const Closings::Heard silence(solver.context().closings);
    Incumbent best = plain;
    try {
        best.offer(best_of(options(solver, node, shape, 0, true), shape));
    } catch (const StopSearch&) {
        // The search that follows meets the same stop at once.
    }
    return best;
}

}  // namespace provetree
