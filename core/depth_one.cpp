// The best single split of a node; see depth_one.hpp.
#include "depth_one.hpp"

#include <cmath>
#include <vector>

namespace provetree {

Cost leaf_cost(const Context& context, const Node& node, const Objective& objective) {
    if (context.constrained() && node.count < context.min_leaf) return kInfinite;
    return objective.error_scale * node.leaf_error();
}

double margin(const Context& context, const NodeColumn& column, Index position) {
    const double* values = context.table.values[column.id];
    const double low = values[column.ranks[position - 1]], high = values[column.ranks[position]];
    const double gap = high - low;
    return std::isnan(gap) ? 0.0 : gap;
}

Stump best_stump(Context& context, const Node& node, const Objective& objective, bool canonical) {
    Stump best;
    best.cost = leaf_cost(context, node, objective);
    best.relaxed = objective.error_scale * node.leaf_error();
    const std::size_t n_classes = node.by_class.size();
    std::vector<Weight> seen(n_classes);
    std::vector<Weight> after(static_cast<std::size_t>(node.rows) + 1);  // largest class weight among the rows from i on
    double best_margin = 0;
    for (const NodeColumn& column : node.columns) {
        context.monitor.work(2 * std::uint64_t{node.rows});
        std::fill(seen.begin(), seen.end(), 0);
        Weight top = 0;
        after[node.rows] = 0;
        for (Index i = node.rows; i > 0; --i) {
            const Index row = column.order[i - 1] & entry::kRowMask;
            top = std::max(top, seen[node.classes[row]] += node.weights[row]);
            after[i - 1] = top;
        }
        std::fill(seen.begin(), seen.end(), 0);
        top = 0;
        std::int64_t count = 0;
        for (Index i = 1; i < node.rows; ++i) {
            const Index row = column.order[i - 1] & entry::kRowMask;
            top = std::max(top, seen[node.classes[row]] += node.weights[row]);
            count += node.counts[row];
            if (!Node::is_split(column, i)) continue;
            const Cost cost = objective.error_scale * (node.weight - top - after[i]) + objective.split_penalty;
            best.relaxed = std::min(best.relaxed, cost);
            if (cost > best.cost || (context.constrained() && (count < context.min_leaf || node.count - count < context.min_leaf))) continue;
            if (cost == best.cost) {
                // Columns and positions come in ascending order, so among equals only a wider margin of the same column wins.
                if (!canonical || best.column != &column) continue;
                const double gap = margin(context, column, i);
                if (!(gap > best_margin)) continue;
                best_margin = gap;
            } else if (canonical) {
                best_margin = margin(context, column, i);
            }
            best.cost = cost;
            best.column = &column;
            best.position = i;
        }
    }
    return best;
}

}  // namespace provetree
