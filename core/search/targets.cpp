// Proofs by targets; see search/targets.hpp.
#include "search/targets.hpp"

#include <algorithm>
#include <cmath>

#include "intervals/root_search.hpp"
#include "measures/cell_rows.hpp"
#include "start/greedy.hpp"
#include "sweeps/finisher.hpp"
#include "tree/route.hpp"

namespace provetree {

namespace {

constexpr double kLongPass = 5e8;  // steps: where all rows take more, some of them come first
// Where they take less, the whole proof is near.
constexpr double kShortPass = 1e5, kShortPassOfFour = 1e7;
constexpr Index kFewestRows = 300;
constexpr Index kMoreRows = 4;  // times as many rows once the first ones have shown what they can
constexpr std::uint64_t kCheap = 10'000'000, kStepOfMeasure = 8;
constexpr std::size_t kFewFeatures = 80;  // cells prove noise of so many thresholds at depth five in a few seconds
constexpr Index kNoRow = ~Index{0};

// Steps of a search where two children close each column: there are (2 p)^(d - 2) problems of depth two, each with one
// row in 2^(d - 2).
double steps_of_pass(const Table& table, Shape shape) {
    return 2 * static_cast<double>(table.rows) * std::pow(static_cast<double>(table.columns), shape.depth - 1);
}

bool proven_by_cells(const Context& context) { return !context.off(kNoBits) && CellRows::fit(context.table); }

// Cells prove all but the first levels at once, so no target takes much less than a proof of depth four, nor, with few
// features, than one of depth five.
bool cells_end_soon(const Context& context, Shape shape) {
    return proven_by_cells(context) &&
           (shape.depth == 4 || (shape.depth == 5 && CellRows::features(context.table) <= kFewFeatures));
}

// What two children of each column can show: on the lowest level each problem has one row in 2^(d - 2), and it is not
// the worst of them.
Cost first_target(Cost cost, Shape shape) { return std::max<Cost>(1, cost >> (shape.depth - 1)); }

// The row nearest to `from` that is of the class and not marked yet, by the sum over the columns of the share of all
// ranks that lie between.
Index nearest_row(const Table& table, const std::vector<double>& scale, Index from, std::int32_t wanted,
                  const std::vector<std::uint8_t>& marked) {
    Index nearest = kNoRow;
    double least = 0;
    for (Index row = 0; row < table.rows; ++row) {
        if (marked[row] || table.classes[row] != wanted) continue;
        double distance = 0;
        for (Index c = 0; c < table.columns && (nearest == kNoRow || distance < least); ++c) {
            const Index* ranks = ranks_of(table, c);
            distance +=
                scale[c] * static_cast<double>(std::max(ranks[row], ranks[from]) - std::min(ranks[row], ranks[from]));
        }
        if (nearest != kNoRow && distance >= least) continue;
        nearest = row;
        least = distance;
    }
    return nearest;
}

// Of all rows, those that are hardest to tell apart.
std::vector<std::uint8_t> hard_rows(NodeSolver& solver, const Node& root, const Outcome& best, Index wanted) {
    Context& context = solver.context();
    const Table& table = context.table;
    const FlatTree tree = finish_plan(context, solver.builder(), solver.levels(), root, best.plan, solver.loss());
    std::vector<Index> wrong;
    std::vector<std::int32_t> taken_for;
    for (Index row = 0; row < table.rows; ++row) {
        const std::int32_t label = tree.label[leaf_of(tree, table, row)];
        if (label == table.classes[row]) continue;
        wrong.push_back(row);
        taken_for.push_back(label);
    }
    std::vector<double> scale;
    for (Index top : table.tops) scale.push_back(1.0 / (1.0 + top));
    std::vector<std::uint8_t> marked(table.rows, 0);
    Index count = 0;
    const auto add = [&](Index row) {
        marked[row] = 1;
        ++count;
    };
    const std::size_t step = std::max<std::size_t>(1, 2 * wrong.size() / wanted);
    for (std::size_t i = 0; i < wrong.size() && count < wanted; i += step) add(wrong[i]);
    for (bool any = true; any && count < wanted;) {
        any = false;
        for (std::size_t i = 0; i < wrong.size() && count < wanted; i += step) {
            const Index row = nearest_row(table, scale, wrong[i], taken_for[i], marked);
            context.monitor.work(std::uint64_t{table.rows} * table.columns);
            if (row == kNoRow) continue;
            add(row);
            any = true;
        }
    }
    return marked;
}

// A bound that some of the rows give. Without the minimum leaf size, which would not carry over: without it trees are
// only better.
Cost bound_of_hard_rows(NodeSolver& whole, const Node& root, Shape shape, const Outcome& best, Index wanted) {
    Context context(whole.context(), whole.context().monitor);
    context.min_leaf = 1;
    NodeBuilder builder(context.table, context.kernel, 1);
    NodeSolver solver(context, builder, whole.loss());
    std::vector<std::vector<Weight>> unused(root.columns.size(),
                                            std::vector<Weight>(static_cast<std::size_t>(root.rows) + 1));
    Node rows;
    builder.choose(root, hard_rows(whole, root, best, wanted), rows, unused);
    context.monitor.work(std::uint64_t{root.rows} * root.columns.size());
    if (rows.columns.empty()) return 0;
    const Incumbent start = grow_with_exact_bottoms(solver, rows, shape, grow_greedily(solver, rows, shape));
    const RootRequest request{.shape = shape, .start = start, .limit = first_target(start.upper, shape)};
    const RootAnswer answer = search_root(solver, rows, request, {});
    whole.context().counters.add(context.counters);
    ++whole.context().counters.targets;
    if (answer.stopped) throw StopSearch{*answer.stopped};
    const Cost proven = answer.outcome.lower;
    whole.context().closings.close([&] { return Region::all_splits(0, shape); }, proven, Reason::kSample);
    return proven;
}

}  // namespace

bool targets_pay(const Context& context, Shape shape) {
    if (context.eager_improvement()) return shape.depth > 2;
    if (cells_end_soon(context, shape)) return false;
    // A step of a measure takes longer than one that counts errors, and so does the whole proof.
    const bool short_proof = shape.depth == 4 && !context.table.measure;
    return shape.depth > 3 && steps_of_pass(context.table, shape) >= (short_proof ? kShortPassOfFour : kShortPass);
}

RootAnswer prove_by_targets(NodeSolver& solver, const Node& root, const RootRequest& request, std::uint64_t enough) {
    Context& context = solver.context();
    const Shape shape = request.shape;
    RootAnswer answer;
    Outcome& best = answer.outcome;
    best.take(request.start);
    best.lower = context.found.bound;
    const std::uint64_t begin = context.monitor.steps();
    // Where a step takes longer the steps are fewer, but one target is tried wherever all rows are passed in `enough`.
    // Where cells are near the end of the proof, it is the only one.
    const bool one = proven_by_cells(context) && shape.depth == 5;
    const std::uint64_t most = one ? 1 : context.table.measure ? enough / kStepOfMeasure : enough;
    const auto go_on = [&] {
        return !answer.stopped && best.lower < best.upper && context.monitor.steps() - begin < most;
    };
    const auto keep_bound = [&](Cost bound) {
        context.found.bound = best.lower = best.relaxed = std::max({bound, best.lower, context.found.bound});
    };
    const double pass = steps_of_pass(context.table, shape), share = kLongPass / pass;
    Index rows = share >= 1 ? root.rows : std::max(kFewestRows, static_cast<Index>(share * root.rows));
    if (context.eager_improvement()) rows = 4;
    if (context.table.measure) rows = root.rows;  // hard rows are chosen by their classes
    for (; rows < root.rows / 2 && go_on(); rows *= kMoreRows) {
        best.offer(context.found);
        try {
            keep_bound(bound_of_hard_rows(solver, root, shape, best, rows));
        } catch (const StopSearch& stop) {
            answer.stopped = stop.reason;
        }
        request.listener(best.upper, best.lower);
    }
    Cost target = std::max(best.lower + 1, first_target(best.upper, shape));
    while (go_on() && pass < static_cast<double>(enough)) {
        // The last step is not worth another search.
        if (target > best.upper / 3 * 2) target = kInfinite;
        const std::uint64_t before = context.monitor.steps();
        // Nothing is taken over from lower targets. It would be in the way: splits between those known would be tried,
        // although those known are the ones to try again.
        const Cost bound = best.lower;
        RootRequest below = request;
        below.start = best;
        below.limit = target;
        answer = search_root(solver, root, below, {});
        ++context.counters.targets;
        keep_bound(bound);
        best.offer(context.found);
        const std::uint64_t steps = context.monitor.steps() - before;
        if (target < kInfinite)
            target += std::max<Cost>(1, steps < kCheap || steps < (before - begin) / 8 ? target : target / 2);
    }
    return answer;
}

}  // namespace provetree
