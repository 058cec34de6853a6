// The best single split of a node; see sweeps/depth_one.hpp.
#include "sweeps/depth_one.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace provetree {

Cost leaf_cost(const Context& context, const Node& node, const Loss& loss) {
    if (context.constrained() && node.count < context.min_leaf) return kInfinite;
    return loss.error_scale * node.leaf_error();
}

double margin(const Context& context, const NodeColumn& column, Index position) {
    const double* values = context.table.values[column.id];
    const double low = values[column.ranks[position - 1]], high = values[column.ranks[position]];
    const double gap = high - low;
    return std::isnan(gap) ? 0.0 : gap;
}

Stump best_stump(Context& context, const Node& node, const Loss& loss, bool canonical) {
    Stump best;
    best.cost = leaf_cost(context, node, loss);
    best.relaxed = loss.error_scale * node.leaf_error();
    const std::size_t n_classes = node.by_class.size();
    std::vector<Weight> seen(n_classes);
    std::vector<Weight> after(static_cast<std::size_t>(node.rows) +
                              1);  // largest class weight among the rows from i on
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
            const Cost cost = loss.error_scale * (node.weight - top - after[i]) + loss.split_penalty;
            best.relaxed = std::min(best.relaxed, cost);
            if (cost > best.cost ||
                (context.constrained() && (count < context.min_leaf || node.count - count < context.min_leaf)))
                continue;
            if (cost == best.cost) {
                // Columns and positions come in ascending order, so among equals only a wider margin of the same column
                // wins.
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

void column_stumps(Context& context, const Node& node, std::vector<Weight>& errors) {
    const Weight leaf = node.leaf_error();
    errors.assign(node.columns.size(), leaf);
    if (node.by_class.size() <= 2) {
        // The running sum is ones less zeros; its extremes lie at the checked positions.
        const Weight ones = node.by_class.size() == 2 ? node.by_class[1] : 0, zeros = node.weight - ones;
        for (std::size_t c = 0; c < node.columns.size(); ++c) {
            const std::uint32_t* order = node.columns[c].order;
            Weight sum = 0, highest = 0, lowest = 0;
            const auto sweep = [&](const auto& step) {
                for (Index i = 0; i < node.rows; ++i) {
                    sum += step(order[i]);
                    const bool check = (order[i] & entry::kCheck) != 0;
                    highest = std::max(highest, check ? sum : highest);
                    lowest = std::min(lowest, check ? sum : lowest);
                }
            };
            if (node.unit_weights)
                sweep([](std::uint32_t item) { return static_cast<Weight>(item >> entry::kClassShift) * 2 - 1; });
            else
                sweep([&](std::uint32_t item) { return node.steps[item & entry::kRowMask]; });
            errors[c] = std::min(leaf, node.weight - std::max(zeros + highest, ones - lowest));
            context.monitor.work(node.rows);
        }
        return;
    }
    std::vector<Weight> seen(node.by_class.size()), after(static_cast<std::size_t>(node.rows) + 1, 0);
    for (std::size_t c = 0; c < node.columns.size(); ++c) {
        const NodeColumn& column = node.columns[c];
        const auto count = [&](Index position) {
            const Index row = column.order[position] & entry::kRowMask;
            return seen[node.classes[row]] += node.weights[row];
        };
        std::fill(seen.begin(), seen.end(), 0);
        Weight top = 0;
        for (Index i = node.rows; i > 0; --i) after[i - 1] = top = std::max(top, count(i - 1));
        std::fill(seen.begin(), seen.end(), 0);
        top = 0;
        for (Index i = 1; i < node.rows; ++i) {
            top = std::max(top, count(i - 1));
            if (Node::is_split(column, i)) errors[c] = std::min(errors[c], node.weight - top - after[i]);
        }
        context.monitor.work(2 * std::uint64_t{node.rows});
    }
}

}  // namespace provetree
