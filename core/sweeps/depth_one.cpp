// The best single split of a node; see sweeps/depth_one.hpp.
#include "sweeps/depth_one.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "loss/running.hpp"

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

// Squared error of one output: what splits save in doubles first, then exact units of those that may be the best of
// their column, with enough rows on both sides or without.
class SquaredStumps {
  public:
    explicit SquaredStumps(const Node& node) : node_(node), measure_(*node.measure), saved_(node.rows) {
        for (Index id : node.ids) all_.add(measure_.targets(id)[0], measure_.weight(id));
    }

    template <class Use>
    void operator()(const NodeColumn& column, const Use& use) {
        const double weight = static_cast<double>(all_.weight), mean = static_cast<double>(all_.sum) / weight;
        double most = 0, most_feasible = 0;
        std::int64_t n = 0, s = 0;
        for (Index i = 1; i < node_.rows; ++i) {
            const Index id = row_at(column, i - 1);
            n += measure_.weight(id);
            s += measure_.targets(id)[0] * measure_.weight(id);
            if (!Node::is_split(column, i)) continue;
            const double left = static_cast<double>(n), d = static_cast<double>(s) - mean * left;
            saved_[i] = d * d * weight / (left * (weight - left));
            most = std::max(most, saved_[i]);
            if (i >= column.first_split && i <= column.last_split) most_feasible = std::max(most_feasible, saved_[i]);
        }
        // Doubles are wrong by less than this; so many units are what rounding up makes of two leaves.
        const double rounding =
            0x1p-46 * static_cast<double>(all_.squares) * std::sqrt(weight) + 4 / measure_.units_per_square();
        Sums left;
        for (Index i = 1; i < node_.rows; ++i) {
            const Index id = row_at(column, i - 1);
            left.add(measure_.targets(id)[0], measure_.weight(id));
            if (!Node::is_split(column, i)) continue;
            const bool feasible = i >= column.first_split && i <= column.last_split;
            if (saved_[i] < (feasible ? most_feasible : most) - rounding) continue;
            const Sums right{all_.weight - left.weight, all_.sum - left.sum, all_.squares - left.squares};
            use(i, left.units(measure_) + right.units(measure_));
        }
    }

  private:
    struct Sums {
        std::int64_t weight = 0, sum = 0;
        Wide squares = 0;
        void add(std::int64_t target, std::int64_t times) {
            weight += times;
            sum += target * times;
            squares += square_of(target) * static_cast<Wide>(times);
        }
        Cost units(const Measure& measure) const {
            return measure.squared(static_cast<Weight>(weight), squares, square_of(sum));
        }
    };
    Index row_at(const NodeColumn& column, Index i) const { return node_.ids[column.order[i] & entry::kRowMask]; }

    const Node& node_;
    const Measure& measure_;
    Sums all_;
    std::vector<double> saved_;
};

// Sweeps the columns of a node under a measure: `use(c, i, units)` is told, for each split after i rows of a column
// that may be its best, the units of its two leaves; `done()` after each column.
template <class Use, class Done>
void sweep_measured(const Node& node, const Use& use, const Done& done) {
    if (node.measure->kind() == MeasureKind::kSquared && node.measure->width() == 1) {
        SquaredStumps stumps(node);
        for (Index c = 0; c < node.columns.size(); ++c) {
            stumps(node.columns[c], [&](Index i, Cost units) { use(c, i, units); });
            done();
        }
        return;
    }
    with_running(*node.measure, [&](auto&& leaf) {
        std::vector<Cost> after(node.rows + 1u, 0);
        for (Index c = 0; c < node.columns.size(); ++c) {
            const NodeColumn& column = node.columns[c];
            const auto add = [&](Index i) { leaf.add(node.ids[column.order[i] & entry::kRowMask]); };
            leaf.clear();
            for (Index i = node.rows; i-- > 1;) {
                add(i);
                if (Node::is_split(column, i)) after[i] = leaf.units();
            }
            leaf.clear();
            for (Index i = 1; i < node.rows; ++i) {
                add(i - 1);
                if (Node::is_split(column, i)) use(c, i, leaf.units() + after[i]);
            }
            done();
        }
    });
}

}  // namespace

Cost leaf_cost(const Context& context, const Node& node, const Loss& loss) {
    return context.constrained() && node.count < context.min_leaf ? kInfinite : leaf_cost_of(node, loss);
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
    best.relaxed = leaf_cost_of(node, loss);
    double best_margin = 0;
    const auto take = [&](const NodeColumn& column, Index i, Cost cost) {
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
    };
    const auto swept = [&] { context.monitor.work(2 * std::uint64_t{node.rows}); };
    if (node.measure) {
        sweep_measured(
            node,
            [&](Index c, Index i, Cost units) { take(node.columns[c], i, loss.measured(units) + loss.split_penalty); },
            swept);
        return best;
    }
    StumpSweep sweep(node);
    for (const NodeColumn& column : node.columns) {
        swept();
        sweep(column, [&](Index i, Weight errors) { take(column, i, loss.stump(errors)); });
    }
    return best;
}

std::vector<ScoredSplit> best_measured_splits(Context& context, const Node& node) {
    std::vector<ScoredSplit> found;
    sweep_measured(
        node,
        [&](Index c, Index i, Cost units) {
            const NodeColumn& column = node.columns[c];
            if (i < column.first_split || i > column.last_split) return;
            if (found.empty() || found.back().column != c)
                found.push_back({c, i, units});
            else if (units < found.back().units)
                found.back() = {c, i, units};
        },
        [&] { context.monitor.work(2 * std::uint64_t{node.rows}); });
    return found;
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
