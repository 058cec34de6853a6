// Nodes of any depth and both sides of a split; see intervals/node_solver.hpp.
#include "intervals/node_solver.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "intervals/pair_bounds.hpp"
#include "intervals/resume_stack.hpp"
#include "sweeps/depth_one.hpp"

namespace provetree {

namespace {

// Blocks: rows of a node that is worth them and of a block, and how often a column is halved at most.
constexpr Index kRowsForBlocks = 10'000, kRowsOfBlock = 200;
constexpr int kMostHalvings = 6;

}  // namespace

// While it lives, the search of a side of a split of the root heeds the cut. `limit`: of that side, by the cut that the
// task was given out with.
struct NodeSolver::Heeding {
    Heeding(NodeSolver& of_solver, const SplitTask& of_task, Cost of_side)
        : solver(of_solver), task(of_task), limit(of_side) {
        solver.heeding_ = this;
    }
    ~Heeding() { solver.heeding_ = nullptr; }
    Heeding(const Heeding&) = delete;
    Heeding& operator=(const Heeding&) = delete;

    NodeSolver& solver;
    const SplitTask& task;
    Cost limit;
};

Outcome NodeSolver::solve(const Node& node, const NodeRequest& request) {
    Begun begun = begin(node, request);
    if (begun.outcome) return *std::move(begun.outcome);
    const Outcome outcome = search(node, begun.request, begun.leaf, nullptr);
    conclude(node, request, begun.request, outcome);
    return outcome;
}

NodeSolver::Begun NodeSolver::begin(const Node& node, const NodeRequest& request) {
    Begun begun{request, {}, {}};
    NodeRequest& on_rows = begun.request;
    on_rows.shape = request.shape.on(node.rows);
    const auto closed = [&](Cost bound, Reason reason, const Outcome& outcome) {
        context_.closings.close([&] { return Region::all_splits(request.level, request.shape); }, bound, reason);
        begun.outcome = outcome;
        return begun;
    };
    Outcome& leaf = begun.leaf;
    leaf.upper = leaf_cost(context_, node, loss_);
    leaf.relaxed = leaf_cost_of(node, loss_);
    leaf.lower = leaf.upper;
    // No split can pay where the leaf costs no more than one split does (without the minimum leaf size, too).
    const bool leaf_pays = leaf.relaxed <= loss_.split_penalty && leaf.upper < kInfinite;
    const bool one_group = node.columns.empty() && node.cell_count() <= 1;
    if (on_rows.shape.depth == 0 || leaf_pays || one_group) {
        // Rows that no column tells apart stay together below any split.
        const Cost split = loss_.split_penalty + (one_group ? leaf.relaxed : 0);
        return closed(request.shape.depth == 0 ? kInfinite : split, Reason::kLeaf, leaf);
    }
    if (context_.constrained() && node.count < 2 * context_.min_leaf) {
        // Only the leaf is feasible, but the relaxed problem may still split: it is bounded by no errors at all.
        leaf.relaxed = std::min(leaf.relaxed, loss_.split_penalty);
        return closed(kInfinite, Reason::kTooFewRows, leaf);
    }
    if (request.limit <= 0) {
        leaf.lower = leaf.relaxed = 0;
        return closed(0, Reason::kNoBudget, leaf);
    }
    Outcome outcome;
    if (remembers(node, on_rows) && solved_.find(node, on_rows, outcome))
        return closed(outcome.lower, Reason::kKnown, outcome);
    begun.outcome = cells_.solve(node, on_rows, loss_);
    if (!begun.outcome && on_rows.shape.depth < 3) begun.outcome = solve_shallow(node, on_rows);
    if (begun.outcome) conclude(node, request, on_rows, *begun.outcome);
    return begun;
}

void NodeSolver::conclude(const Node& node, const NodeRequest& request, const NodeRequest& on_rows,
                          const Outcome& outcome) {
    if (remembers(node, on_rows)) solved_.keep(node, on_rows, outcome);
    context_.closings.close([&] { return Region::all_splits(request.level, request.shape); }, outcome.lower,
                            Reason::kSolved);
}

Outcome NodeSolver::solve_shallow(const Node& node, const NodeRequest& request) {
    if (request.shape.depth == 2) return solve_two(node, request, nullptr);
    const Stump stump = best_stump(context_, node, loss_, false);
    Outcome outcome;
    outcome.upper = outcome.lower = stump.cost;
    outcome.relaxed = stump.relaxed;
    if (stump.column)
        outcome.plan = split_plan(stump.column->id, stump.column->ranks[stump.position - 1], nullptr, nullptr);
    return outcome;
}

Outcome NodeSolver::solve_with_ties(const Node& node, const NodeRequest& request, const Incumbent& start,
                                    TieChoice& ties) {
    if (request.shape.depth == 2) return solve_two(node, request, &ties);
    return search(node, request, start, &ties);
}

Outcome NodeSolver::search(const Node& node, const NodeRequest& request, const Incumbent& start, TieChoice* ties) {
    Frontier frontier(context_, loss_, node, request, start, ties);
    const std::unique_ptr<PairBounds> pairs = pairs_below(node, request.shape);
    try {
        frontier.open(survey(node.columns, node, request));
        begin_sides(node, request.shape, request.level);
        if (resume_) resume_->enter(frontier);
        const auto heed = [&] {
            // The cut falls by so much, and with it what trees of a side may cost. A lower limit asks for less.
            if (heeding_ && request.level == 1) frontier.lower_limit(heeding_->limit - lowered(heeding_->task, 0));
            return true;
        };
        std::uint64_t tried = 0;
        for (Frontier::Attempt attempt; heed() && frontier.next(attempt); ++tried) {
            add_blocks(frontier, node, tried);
            const SplitTask task = frontier.task_of(attempt);
            divide_next(node, task.split, request.level);
            const SplitAnswer answer = solve_sides(task, node.columns.size(), request.level, pairs.get());
            if (request.pairs) keep_pairs(request, task.split, answer);
            frontier.settle(attempt, answer, true);
            ++context_.counters.intervals;
        }
    } catch (...) {
        if (resume_) resume_->unwind(frontier);
        if (request.level == handed_back_ + 1) unfinished_ = frontier.make_profile();
        throw;
    }
    if (resume_) resume_->leave(request.level);
    return frontier.finished(request.keep_profile);
}

// All blocks of all columns take about as long as a split of each column. So they wait until two of each were tried,
// and for nodes of so many rows that a block of them has errors left: mostly these are tables with much noise. A
// minimum leaf size may forbid the trees of a block, rules those of a path, and certificates have no such bounds.
void NodeSolver::add_blocks(Frontier& frontier, const Node& node, std::uint64_t tried) {
    const bool tiny = (context_.switches & kTinyBlocks) != 0;
    if (tried != (tiny ? 1 : 2 * node.columns.size()) || frontier.shape().depth != 3 || context_.off(kNoBlocks)) return;
    if (node.measure || context_.rules || context_.constrained() || context_.certifies) return;
    if (node.rows < kRowsForBlocks && !tiny) return;
    const Index least = tiny ? 2 : kRowsOfBlock;
    int halvings = 0;
    while (halvings < kMostHalvings && node.rows >> (halvings + 1) >= least) ++halvings;
    const Closings::Heard silence(context_.closings);
    std::vector<BlockEnd> ends;
    for (Index c = 0; c < node.columns.size(); ++c) {
        ends.assign(1, {0, 0});
        list_blocks(node, node.columns[c].id, halvings, frontier.level(), ends);
        frontier.take_blocks(c, ends);
    }
}

void NodeSolver::list_blocks(const Node& rows, Index id, int halvings, std::size_t level, std::vector<BlockEnd>& ends) {
    const NodeColumn* const column = halvings ? find_column(rows, id) : nullptr;
    const Index position = column ? nearest_split(*column, rows.rows / 2, {1, rows.rows - 1}) : 0;
    if (position) {
        Levels::Children& kids = levels_.at(level);
        builder_.split(rows, *column, position, kids.left, kids.right);
        context_.monitor.work(std::uint64_t{rows.rows} * rows.columns.size());
        list_blocks(kids.left, id, halvings - 1, level + 1, ends);
        list_blocks(kids.right, id, halvings - 1, level + 1, ends);
        return;
    }
    Cost cost = loss_.leaf(rows.leaf_error());
    if (cost > 0 && !rows.columns.empty()) {
        const Loss errors_alone{loss_.error_scale, 0, 0};
        const NodeRequest request{.shape = Shape::of(2, 3), .limit = cost, .level = level};
        cost = std::min(cost, depth_two_.solve(rows, request, errors_alone, nullptr).lower);
    }
    ends.push_back({ends.back().position + rows.rows, ends.back().sum + cost});
}

void NodeSolver::divide(const Node& node, const SplitName& split, std::size_t level) {
    const NodeColumn& column = column_of(node, split.column);
    Levels::Children& kids = levels_.at(level);
    builder_.split(node, column, Node::rows_up_to(column, split.rank, 0, node.rows), kids.left, kids.right);
}

void NodeSolver::begin_sides(const Node& node, Shape shape, std::size_t level) {
    cells_.list(node, shape, levels_.at(level));
}

void NodeSolver::divide_next(const Node& node, const SplitName& split, std::size_t level) {
    Levels::Children& kids = levels_.at(level);
    if (kids.cells.empty()) return divide(node, split, level);
    cells_.divide(node, split.column, split.rank, kids);
}

// Only where trees are bounded by their depth alone: then what rows cost depends on nothing but the rows, neither on a
// budget nor on what the path has asked about (directions, groups and prices of columns). A minimum leaf size breaks
// monotonicity, and certificates know bounds along one column only. Many columns make more pairs than are met twice.
std::unique_ptr<PairBounds> NodeSolver::pairs_below(const Node& node, Shape shape, const PairBounds* known) const {
    if (context_.off(kNoSplitPairs) || context_.rules || context_.constrained()) return nullptr;
    if (shape.depth < 4 || shape.splits != Shape::full(shape.depth)) return nullptr;
    if (context_.certifies || context_.table.columns > kManyColumns) return nullptr;
    return known ? std::make_unique<PairBounds>(context_, *known) : std::make_unique<PairBounds>(context_);
}

// What was proven of the sides of a split of a node, which is itself one side of a split.
void NodeSolver::keep_pairs(const NodeRequest& request, const SplitName& split, const SplitAnswer& answer) {
    const Levels::Children& kids = levels_.at(request.level);
    request.pairs->keep(request.side, {split.column, split.rank, false}, answer.least_left, kids.left.weight);
    request.pairs->keep(request.side, {split.column, split.rank, true}, answer.least_right, kids.right.weight);
}

SplitAnswer NodeSolver::solve_sides(const SplitTask& task, std::size_t columns, std::size_t level, PairBounds* pairs) {
    const Levels::Children& kids = levels_.at(level);
    if (pairs) pairs->on_rows(kids.left.weight + kids.right.weight);
    if (resume_) resume_->begin(level, task.split);
    context_.counters.nodes += 2;
    SplitAnswer answer;
    answer.least_left = task.least_left;
    answer.least_right = task.least_right;
    // Beside a split with a direction one side is a leaf, which is known at once.
    const int direction = context_.rules ? context_.rules->direction(task.split.column) : 0;
    const auto solve_side = [&](const Node& rows, bool right, Cost limit, bool bounds_only = false) {
        if (resume_) resume_->go(level, right);
        context_.closings.descend(level, {task.split.column, task.split.rank, right});
        std::optional<Heeding> heeding;
        if (cut_now_ && level == 0) heeding.emplace(*this, task, std::min(limit, task.cut));
        // A column that means nothing is closed as a whole once both sides of one split of it cost as much as the best
        // tree does: proving more than the cut would be wasted.
        const NodeRequest request{.shape = right ? task.right : task.left,
                                  .limit = std::min({limit, (right ? task.most_right : task.most_left) + 1, task.cut}),
                                  .relatives = right ? Relatives{task.inner_right.get(), task.outer_right.get()}
                                                     : Relatives{task.inner_left.get(), task.outer_left.get()},
                                  .keep_profile = true,
                                  .level = level + 1,
                                  .pairs = pairs,
                                  .side = {task.split.column, task.split.rank, right},
                                  .above = leaf_above(task),
                                  .bounds_only = bounds_only};
        Outcome& outcome = right ? answer.right : answer.left;
        Cost& least = right ? answer.least_right : answer.least_left;
        const bool is_leaf = direction && request.shape.depth == 0;
        outcome = is_leaf ? labelled_leaf(rows, label_of(direction, right)) : solve(rows, request);
        least = std::max(least, outcome.relaxed);
        if (resume_) resume_->side_done(level, outcome, request.shape, rows.rows);
        return outcome.lower;
    };
    // The larger child first: its bound is the likelier to settle the split alone.
    // Cells tell all splits of a side from bounds alone: raised budgets would only make them prove more, here and a
    // level above.
    const bool by_cells = cells_.fits(task.left) && cells_.fits(task.right);
    const bool above_cells = cells_.fits_below(task.left) && cells_.fits_below(task.right);
    const Cost own = loss_.split_penalty + task.price;
    const Cost budget = task.cut - own + (by_cells || above_cells ? 0 : task.slack);
    const bool left_first = direction ? task.left.depth == 0 : kids.left.rows >= kids.right.rows;
    const Node &first = left_first ? kids.left : kids.right, &second = left_first ? kids.right : kids.left;
    const Cost known = left_first ? task.least_right : task.least_left;
    bool first_open = true, second_open = true;
    try {
        context_.monitor.work((std::uint64_t{kids.left.rows} + kids.right.rows) * (columns + 1) / 2);
        // Bounds of cells alone close most splits. What is handed back or written to disk counts as solved, though.
        const bool bounds_first = by_cells && !resume_ && level != handed_back_;
        Cost rest = budget - solve_side(first, !left_first, budget - known, bounds_first);
        first_open = false;
        second_open = rest - lowered(task, level) > known;
        if (second_open) {
            rest -= solve_side(second, left_first, rest);
            second_open = false;
            const Outcome& of_first = left_first ? answer.left : answer.right;
            first_open = bounds_first && rest > 0 && of_first.lower < of_first.upper;
            if (first_open) solve_side(first, !left_first, rest + of_first.lower);
        }
        first_open = second_open = false;
    } catch (const StopSearch& stop) {
        if (stop.reason != StopReason::kHandedBack || level != handed_back_) throw;
        answer.left_open = left_first ? first_open : second_open;
        answer.right_open = left_first ? second_open : first_open;
        const bool left_unfinished = first_open == left_first;
        (left_unfinished ? answer.left : answer.right).profile = std::exchange(unfinished_, nullptr);
        return answer;
    }
    if (resume_) resume_->split_done(level);
    if (answer.left.upper < kInfinite && answer.right.upper < kInfinite)
        answer.best = {std::min(kInfinite, answer.left.upper + answer.right.upper + own),
                       split_plan(task.split.column, task.split.rank, answer.left.plan, answer.right.plan),
                       task.split.left_splits};
    return answer;
}

// The split as its sides see it. With a minimum leaf size the order of splits matters, and what is known of rows
// without their path, or told of them, is about all trees.
LeafAbove NodeSolver::leaf_above(const SplitTask& task) const {
    const int direction = context_.rules ? context_.rules->direction(task.split.column) : 0;
    if (!direction || context_.constrained() || context_.remembers_sets || context_.closings.heard()) return {};
    if (context_.off(kNoSplitOrder)) return {};
    const bool leaf_on_right = task.right.depth == 0;
    if ((leaf_on_right ? task.left : task.right).depth != 2) return {};
    return {task.split.column, label_of(direction, leaf_on_right)};
}

// A side that a direction makes a leaf of one class.
Outcome NodeSolver::labelled_leaf(const Node& side, int label) const {
    Outcome outcome;
    outcome.relaxed = labelled_cost(side, loss_, label);
    outcome.upper = outcome.lower = side.count < context_.min_leaf ? kInfinite : outcome.relaxed;
    outcome.plan = leaf_plan(label);
    return outcome;
}

// At either end of a column one side has all rows, so its cost bounds the splits near both ends of every column, and
// all splits of a column whose smaller side never has many rows.
Survey NodeSolver::survey(const std::vector<NodeColumn>& columns, const Node& rows, const NodeRequest& request) {
    Survey known;
    if (request.shape.depth != 3 || !context_.wide(columns.size())) return known;
    known.whole = solve(rows, {.shape = Shape::of(2, request.shape.splits - 1), .level = request.level}).relaxed;
    if (rows.measure) return known;
    // The columns by the best depth-two tree that begins with them.
    const std::vector<Cost>& costs = depth_two_.column_costs();
    if (costs.size() != rows.columns.size()) return known;
    const auto cost_of = [&](Index c) {
        const NodeColumn* same = find_column(rows, columns[c].id);
        return same ? costs[static_cast<std::size_t>(same - rows.columns.data())] : kInfinite;
    };
    std::vector<std::pair<Cost, Index>> sorted;
    for (Index c = 0; c < columns.size(); ++c) sorted.emplace_back(cost_of(c), c);
    std::sort(sorted.begin(), sorted.end());
    known.order.resize(sorted.size());
    for (std::uint32_t i = 0; i < sorted.size(); ++i) known.order[sorted[i].second] = i;
    return known;
}

}  // namespace provetree
