// The best single split of a node; see sweeps/depth_one.hpp.
#include "sweeps/depth_one.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace provetree {

namespace {

// Sweeps one column: `use(i, errors)` is told, for each split after i rows, the errors of its two leaves.
class StumpSweep {
  public:
    explicit StumpSweep(const Node& node) : node_(node), seen_(node.by_class.size()), after_(node.rows + 1u, 0) {}

    template <class Use>
    void operator()(const NodeColumn& column, const Use& use) {
        // The largest class weight among the rows from i on, then among those before.
        std::fill(seen_.begin(), seen_.end(), 0);
        Weight largest = 0;
        for (Index i = node_.rows; i > 0; --i) after_[i - 1] = largest = std::max(largest, count(column, i - 1));
        std::fill(seen_.begin(), seen_.end(), 0);
        largest = 0;
        for (Index i = 1; i < node_.rows; ++i) {
            largest = std::max(largest, count(column, i - 1));
            if (Node::is_split(column, i)) use(i, node_.weight - largest - after_[i]);
        }
    }

  private:
    Weight count(const NodeColumn& column, Index position) {
        const Index row = column.order[position] & entry::kRowMask;
        return seen_[node_.classes[row]] += node_.weights[row];
    }

    const Node& node_;
    std::vector<Weight> seen_, after_;
};

}  // namespace

Cost leaf_cost(const Context& context, const Node& node, const Loss& loss) {
    return context.constrained() && node.count < context.min_leaf ? kInfinite : loss.leaf(node.leaf_error());
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
    best.relaxed = loss.leaf(node.leaf_error());
    StumpSweep sweep(node);
    double best_margin = 0;
    for (const NodeColumn& column : node.columns) {
        context.monitor.work(2 * std::uint64_t{node.rows});
        sweep(column, [&](Index i, Weight errors) {
            const Cost cost = loss.stump(errors);
            best.relaxed = std::min(best.relaxed, cost);
            if (cost > best.cost || i < column.first_split || i > column.last_split) return;
            // Columns and positions ascend, so among equals only a wider margin of the same column wins.
            if (cost == best.cost && (!canonical || best.column != &column)) return;
            if (canonical) {
                const double gap = margin(context, column, i);
                if (cost == best.cost && !(gap > best_margin)) return;
                best_margin = gap;
            }
            best.cost = cost;
            best.column = &column;
            best.position = i;
        });
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
    StumpSweep sweep(node);
    for (std::size_t c = 0; c < node.columns.size(); ++c) {
        sweep(node.columns[c], [&](Index, Weight of_split) { errors[c] = std::min(errors[c], of_split); });
        context.monitor.work(2 * std::uint64_t{node.rows});
    }
}

}  // namespace provetree
