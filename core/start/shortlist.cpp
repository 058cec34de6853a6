// The shortlist of columns; see start/greedy.hpp.
#include <algorithm>
#include <limits>
#include <numeric>

#include "intervals/root_search.hpp"
#include "start/greedy.hpp"
#include "sweeps/depth_one.hpp"

namespace provetree {

namespace {

// Columns taken from a node at each level of the greedy tree.
constexpr std::size_t kTaken[] = {16, 10, 6};

// The search may take as many row steps as a thousand panels of the table do, and no more than some seconds.
constexpr std::uint64_t kPanels = 1000, kMostSteps = 3'000'000'000;

// The node with some of its columns; their arrays stay those of the node.
Node with_columns(const Node& node, const std::vector<Index>& ids) {
    Node few;
    few.rows = node.rows;
    few.weight = node.weight;
    few.count = node.count;
    few.largest_weight = node.largest_weight;
    few.unit_weights = node.unit_weights;
    few.by_class = node.by_class;
    few.classes = node.classes;
    few.weights = node.weights;
    few.counts = node.counts;
    few.steps = node.steps;
    few.measure = node.measure;
    few.ids = node.ids;
    few.leaf_units = node.leaf_units;
    for (const NodeColumn& column : node.columns)
        if (std::binary_search(ids.begin(), ids.end(), column.id)) few.columns.push_back(column);
    return few;
}

// Adds the best columns of the nodes of a plan.
void collect(NodeSolver& solver, const Node& node, const Plan* plan, int depth, std::size_t level,
             std::vector<Index>& ids) {
    if (node.columns.empty() || node.leaf_amount() == 0) return;
    std::vector<Weight> errors;
    column_stumps(solver.context(), node, errors);
    std::vector<Index> best(node.columns.size());
    std::iota(best.begin(), best.end(), Index{0});
    const std::size_t taken = std::min(best.size(), kTaken[std::min(level, std::size(kTaken) - 1)]);
    std::partial_sort(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(taken), best.end(),
                      [&](Index a, Index b) { return errors[a] != errors[b] ? errors[a] < errors[b] : a < b; });
    for (std::size_t i = 0; i < taken; ++i) ids.push_back(node.columns[best[i]].id);
    if (depth <= 1 || level + 1 >= std::size(kTaken) || !plan || plan->stump || plan->bottom_splits) return;
    const NodeColumn* column = find_column(node, plan->column);
    if (!column) return;
    ids.push_back(column->id);
    Levels::Children& kids = solver.levels().at(level);
    solver.builder().split(node, *column, Node::rows_up_to(*column, plan->rank, 0, node.rows), kids.left, kids.right);
    solver.context().counters.nodes += 2;
    collect(solver, kids.left, plan->left.get(), depth - 1, level + 1, ids);
    collect(solver, kids.right, plan->right.get(), depth - 1, level + 1, ids);
}

}  // namespace

Incumbent search_shortlist(NodeSolver& solver, const Node& root, Shape shape, const Incumbent& first) {
    std::vector<Index> ids;
    try {
        collect(solver, root, first.plan.get(), shape.depth, 0, ids);
    } catch (const StopSearch&) {
        return first;  // the search that follows meets the same stop at once
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    if (ids.size() >= root.columns.size()) return first;
    const Node few = with_columns(root, ids);
    const std::uint64_t cells = std::uint64_t{root.rows} * root.columns.size();
    const Monitor::EffortCap cap(solver.context().monitor, std::min(kMostSteps, kPanels * cells));
    Incumbent best = first;
    best.offer(search_root(solver, few, {.shape = shape, .start = first}, {}).outcome);
    return best;
}

}  // namespace provetree
