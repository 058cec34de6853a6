// The best single split of a node; see sweeps/depth_one.hpp.
#include "sweeps/depth_one.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/raw_vector.hpp"
#include "base/turns.hpp"
#include "loss/running.hpp"

namespace provetree {

namespace {

// Sweeps one column: `use(i, errors)` is told, for each split after i rows, the errors of its two leaves. Of splits
// that are worse than one before them only where `every` split is asked for.
class StumpSweep {
  public:
    StumpSweep(const Node& node, bool every)
        : node_(node), every_(every), seen_(node.by_class.size()), after_(node.rows + 1u, 0) {}

    template <class Use>
    void operator()(const NodeColumn& column, const Use& use) {
        if (seen_.size() <= 2)
            sweep_two_classes(column, use);
        else
            sweep_many_classes(column, use);
    }

  private:
    template <class Use>
    void sweep_two_classes(const NodeColumn& column, const Use& use) const {
        const Weight all_ones = seen_.size() == 2 ? node_.by_class[1] : 0;
        Weight before = 0, ones = 0, least = node_.weight;
        for (Index i = 1; i < node_.rows; ++i) {
            const Index row = column.order[i - 1] & entry::kRowMask;
            const Weight weight = node_.weights[row];
            before += weight;
            ones += weight * static_cast<Weight>(node_.classes[row]);
            const Weight rest = all_ones - ones;
            const Weight errors = std::min(ones, before - ones) + std::min(rest, node_.weight - before - rest);
            if (errors <= least) tell(column, i, errors, least, use);
        }
    }

    // The largest class weight among the rows from i on, then among those before.
    template <class Use>
    void sweep_many_classes(const NodeColumn& column, const Use& use) {
        std::fill(seen_.begin(), seen_.end(), 0);
        Weight largest = 0, least = node_.weight;
        for (Index i = node_.rows; i > 0; --i) after_[i - 1] = largest = std::max(largest, count(column, i - 1));
        std::fill(seen_.begin(), seen_.end(), 0);
        largest = 0;
        for (Index i = 1; i < node_.rows; ++i) {
            largest = std::max(largest, count(column, i - 1));
            const Weight errors = node_.weight - largest - after_[i];
            if (errors <= least) tell(column, i, errors, least, use);
        }
    }

    template <class Use>
    void tell(const NodeColumn& column, Index i, Weight errors, Weight& least, const Use& use) const {
        if (!Node::is_split(column, i)) return;
        if (!every_) least = errors;
        use(i, errors);
    }

    Weight count(const NodeColumn& column, Index position) {
        const Index row = column.order[position] & entry::kRowMask;
        return seen_[node_.classes[row]] += node_.weights[row];
    }

    const Node& node_;
    const bool every_;
    std::vector<Weight> seen_, after_;
};

// The same for a column with a direction: the side of the low values predicts the first class where it must rise.
template <class Use>
void sweep_directed(const Node& node, const NodeColumn& column, int direction, const Use& use) {
    const std::size_t low = direction > 0 ? 0 : 1;
    Weight errors = node.by_class[low];  // with no rows on the low side, all predict the other class
    for (Index i = 1; i < node.rows; ++i) {
        const Index row = column.order[i - 1] & entry::kRowMask;
        errors += node.classes[row] == low ? -node.weights[row] : node.weights[row];
        if (Node::is_split(column, i)) use(i, errors);
    }
}

bool squared_of_one(const Node& node) {
    return node.measure && node.measure->kind() == MeasureKind::kSquared && node.measure->width() == 1;
}

// Squared error of one output: what splits save in doubles first, then exact units of those that may be the best, with
// enough rows on both sides or without: the best of their column, or the best so far of all columns.
class SquaredStumps {
  public:
    SquaredStumps(const Node& node, bool of_each_column)
        : node_(node), measure_(*node.measure), of_each_column_(of_each_column), rows_(node.rows), saved_(node.rows) {
        for (Index row = 0; row < node.rows; ++row) {
            const std::int64_t target = measure_.targets(node.ids[row])[0], weight = measure_.weight(node.ids[row]);
            rows_[row] = {weight, target};
            all_.add(target, weight);
        }
        weight_ = static_cast<double>(all_.weight);
        mean_ = static_cast<double>(all_.sum) / weight_;
        // Doubles are wrong by less than this; so many units are what rounding up makes of two leaves.
        rounding_ = 0x1p-46 * static_cast<double>(all_.squares) * std::sqrt(weight_) + 4 / measure_.units_per_square();
    }

    template <class Use>
    void operator()(const NodeColumn& column, const Use& use) {
        if (of_each_column_) most_ = most_feasible_ = 0;
        const Index last = look(column);
        Sums left;
        for (Index i = 1; i <= last; ++i) {
            const Row& row = row_at(column, i - 1);
            left.add(row.target, row.weight);
            if (!Node::is_split(column, i) || !may_be_best(column, i)) continue;
            const Sums right{all_.weight - left.weight, all_.sum - left.sum, all_.squares - left.squares};
            use(i, left.units(measure_) + right.units(measure_));
        }
    }

    // Rows for sums by rank: weight and target in one number, where there is room. Targets are not below zero.
    void pack_rows() {
        shift_ = std::bit_width(static_cast<std::uint64_t>(all_.sum));
        if (shift_ + std::bit_width(static_cast<std::uint64_t>(all_.weight)) > 62) return;
        packed_.resize(node_.rows);
        for (Index row = 0; row < node_.rows; ++row)
            packed_[row] = rows_[row].weight * ((std::int64_t{1} << shift_) + rows_[row].target);
    }
    // Whether sums by rank are worth their room for a column with so many ranks.
    bool few_ranks(Index top) const { return !packed_.empty() && top < node_.rows / 8; }

    // The most that a split of a column saves, from sums of the rows by their rank in the table: nothing has to be in
    // order. Whatever the minimum leaf size.
    double look_by_rank(const Index* ranks, Index top) {
        sum_by_rank(ranks, top);
        std::int64_t upto = 0;
        double most = 0;
        for (Index rank = 0; rank <= top; ++rank) {
            upto += of_rank_[rank];
            const std::int64_t n = upto >> shift_, s = upto & ((std::int64_t{1} << shift_) - 1);
            saved_[rank] = n > 0 && n < all_.weight ? saved_by(n, s) : 0;
            most = std::max(most, saved_[rank]);
        }
        most_ = std::max(most_, most);
        return most;
    }
    bool may_be_best(double saved) const { return saved >= most_ - rounding_; }

    // `use(low, next, units)` is told the ranks on both sides of each split that may be the best of all.
    template <class Use>
    void by_rank(const Index* ranks, Index top, const Use& use) {
        look_by_rank(ranks, top);
        squares_of_rank_.assign(top + std::size_t{1}, 0);
        for (Index row = 0; row < node_.rows; ++row)
            squares_of_rank_[ranks[node_.ids[row]]] +=
                square_of(rows_[row].target) * static_cast<Wide>(rows_[row].weight);
        Sums left;
        Index low = 0;
        for (Index rank = 0; rank <= top; ++rank) {
            const std::int64_t here = of_rank_[rank];
            if (!here) continue;
            if (left.weight && may_be_best(saved_[low])) {
                const Sums right{all_.weight - left.weight, all_.sum - left.sum, all_.squares - left.squares};
                use(low, rank, left.units(measure_) + right.units(measure_));
            }
            left.weight += here >> shift_;
            left.sum += here & ((std::int64_t{1} << shift_) - 1);
            left.squares += squares_of_rank_[rank];
            low = rank;
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
    struct Row {
        std::int64_t weight, target;
    };
    const Row& row_at(const NodeColumn& column, Index i) const { return rows_[column.order[i] & entry::kRowMask]; }
    static bool feasible(const NodeColumn& column, Index i) {
        return i >= column.first_split && i <= column.last_split;
    }
    bool may_be_best(const NodeColumn& column, Index i) const {
        return saved_[i] >= (feasible(column, i) ? most_feasible_ : most_) - rounding_;
    }

    // What each split saves. Returns the last one that may be the best; 0: none.
    Index look(const NodeColumn& column) {
        std::int64_t n = 0, s = 0;
        for (Index i = 1; i < node_.rows; ++i) {
            const Row& row = row_at(column, i - 1);
            n += row.weight;
            s += row.target * row.weight;
            if (!Node::is_split(column, i)) continue;
            saved_[i] = saved_by(n, s);
            most_ = std::max(most_, saved_[i]);
            if (feasible(column, i)) most_feasible_ = std::max(most_feasible_, saved_[i]);
        }
        Index last = node_.rows - 1;
        while (last > 0 && !(Node::is_split(column, last) && may_be_best(column, last))) --last;
        return last;
    }

    void sum_by_rank(const Index* ranks, Index top) {
        of_rank_.assign((top + std::size_t{1}) * kTurns, 0);
        in_turns(node_.rows, [&](Index part, Index row) {
            of_rank_[std::size_t{ranks[node_.ids[row]]} * kTurns + part] += packed_[row];
        });
        for (Index rank = 0; rank <= top; ++rank) {
            const std::int64_t* const parts = of_rank_.data() + std::size_t{rank} * kTurns;
            of_rank_[rank] = std::accumulate(parts, parts + kTurns, std::int64_t{0});
        }
    }
    double saved_by(std::int64_t n, std::int64_t s) const {
        const double left = static_cast<double>(n), d = static_cast<double>(s) - mean_ * left;
        return d * d * weight_ / (left * (weight_ - left));
    }

    const Node& node_;
    const Measure& measure_;
    const bool of_each_column_;
    Sums all_;
    double weight_, mean_, rounding_;
    double most_ = 0, most_feasible_ = 0;  // that a split saves
    RawVector<Row> rows_;
    RawVector<double> saved_;
    RawVector<std::int64_t> packed_;  // empty where they do not fit
    int shift_ = 0;
    std::vector<std::int64_t> of_rank_;  // sums of packed rows: in parts, then altogether
    std::vector<Wide> squares_of_rank_;
};

// Sweeps the columns of a node under a measure: `use(c, i, units)` is told, for each split after i rows that may be the
// best, of its column or of all of them, the units of its two leaves; `done()` after each column.
template <class Use, class Done>
void sweep_measured(const Node& node, bool of_each_column, const Use& use, const Done& done) {
    if (squared_of_one(node)) {
        SquaredStumps stumps(node, of_each_column);
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

double margin_between(const Context& context, Index column, Index low, Index next) {
    const double* const values = context.table.values[column];
    const double gap = values[next] - values[low];
    return std::isnan(gap) ? 0.0 : gap;
}

double margin(const Context& context, const NodeColumn& column, Index position) {
    return margin_between(context, column.id, column.ranks[position - 1], column.ranks[position]);
}

namespace {

// The best stump of a node among all that it is told of: columns and positions ascend.
class StumpChoice {
  public:
    StumpChoice(const Context& context, const Node& node, const Loss& loss, bool canonical)
        : context_(context), canonical_(canonical), cost_(leaf_cost(context, node, loss)),
          relaxed_(leaf_cost_of(node, loss)) {}

    // Whether it is the best so far.
    bool take(const NodeColumn& column, Index i, Cost cost) {
        return take(column.id, column.ranks[i - 1], column.ranks[i], i >= column.first_split && i <= column.last_split,
                    cost);
    }
    // By the ranks on both sides of a split.
    bool take(Index column, Index low, Index next, bool feasible, Cost cost) {
        relaxed_ = std::min(relaxed_, cost);
        if (cost > cost_ || !feasible) return false;
        // Columns and positions ascend, so among equals only a wider margin of the same column wins.
        if (cost == cost_ && (!canonical_ || !found_ || id_ != column)) return false;
        if (canonical_) {
            const double gap = margin_between(context_, column, low, next);
            if (cost == cost_ && !(gap > margin_)) return false;
            margin_ = gap;
        }
        cost_ = cost;
        found_ = true;
        id_ = column;
        return true;
    }
    Cost cost() const { return cost_; }
    Cost relaxed() const { return relaxed_; }

  private:
    const Context& context_;
    const bool canonical_;
    Cost cost_, relaxed_;
    bool found_ = false;
    Index id_ = 0;
    double margin_ = 0;
};

}  // namespace

Stump best_stump(Context& context, const Node& node, const Loss& loss, bool canonical) {
    StumpChoice choice(context, node, loss, canonical);
    Stump best;
    const auto take = [&](const NodeColumn& column, Index i, Cost cost) {
        if (!choice.take(column, i, cost)) return;
        best.column = &column;
        best.position = i;
    };
    const auto swept = [&] { context.monitor.work(2 * std::uint64_t{node.rows}); };
    if (node.measure) {
        sweep_measured(
            node, false,
            [&](Index c, Index i, Cost units) { take(node.columns[c], i, loss.measured(units) + loss.split_penalty); },
            swept);
    } else {
        // The best split may leave too few rows for a leaf.
        StumpSweep sweep(node, context.constrained());
        for (const NodeColumn& column : node.columns) {
            swept();
            const Weight price = context.rules ? context.rules->price(column.id, node.paid) : 0;
            const auto use = [&](Index i, Weight errors) { take(column, i, loss.stump(Cost{errors} + price)); };
            if (const int direction = context.rules ? context.rules->direction(column.id) : 0)
                sweep_directed(node, column, direction, use);
            else
                sweep(column, use);
        }
    }
    best.cost = choice.cost();
    best.relaxed = choice.relaxed();
    return best;
}

bool finds_stumps_of_sides(const Node& node) { return squared_of_one(node); }

constexpr double kUnknown = -1;

std::array<FoundSplit, 2> best_stumps_of_sides(Context& context, NodeBuilder& builder, const Node& node,
                                               const NodeColumn& column, Index position,
                                               const std::array<bool, 2>& wanted, const Loss& loss, Node& left,
                                               Node& right) {
    builder.split_rows(node, column, position, left, right);
    const std::array<const Node*, 2> sides{&left, &right};
    std::array<StumpChoice, 2> choices{StumpChoice(context, left, loss, true), StumpChoice(context, right, loss, true)};
    std::array<SquaredStumps, 2> stumps{SquaredStumps(left, false), SquaredStumps(right, false)};
    std::array<FoundSplit, 2> found;
    // What columns of few values save is known for little: most columns need not be looked at any closer.
    std::array<std::vector<double>, 2> saved;  // of each column of the node, where it has few values
    for (std::size_t side = 0; side < 2; ++side) {
        if (!wanted[side] || context.constrained()) continue;
        stumps[side].pack_rows();
        for (const NodeColumn& of : node.columns) {
            const Index top = context.table.tops[of.id];
            const bool few = stumps[side].few_ranks(top);
            saved[side].push_back(few ? stumps[side].look_by_rank(ranks_of(context.table, of.id), top) : kUnknown);
        }
    }
    std::size_t c = 0;
    builder.split_one_by_one(node, left, right, [&](const NodeColumn& of, const auto& ordered) {
        for (std::size_t side = 0; side < 2; ++side) {
            if (!wanted[side]) continue;
            context.monitor.work(2 * std::uint64_t{sides[side]->rows});
            const auto take = [&](Index low, Index next, bool feasible, Cost units) {
                if (choices[side].take(of.id, low, next, feasible, loss.measured(units) + loss.split_penalty))
                    found[side] = {true, of.id, low, next};
            };
            const double most = saved[side].empty() ? kUnknown : saved[side][c];
            if (most != kUnknown) {
                if (stumps[side].may_be_best(most))
                    stumps[side].by_rank(ranks_of(context.table, of.id), context.table.tops[of.id],
                                         [&](Index low, Index next, Cost units) { take(low, next, true, units); });
            } else if (const NodeColumn* const in_order = ordered(side)) {
                stumps[side](*in_order, [&](Index i, Cost units) {
                    take(in_order->ranks[i - 1], in_order->ranks[i],
                         i >= in_order->first_split && i <= in_order->last_split, units);
                });
            }
        }
        ++c;
    });
    return found;
}

std::vector<ScoredSplit> best_measured_splits(Context& context, const Node& node) {
    std::vector<ScoredSplit> found;
    sweep_measured(
        node, true,
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
    StumpSweep sweep(node, false);
    for (std::size_t c = 0; c < node.columns.size(); ++c) {
        sweep(node.columns[c], [&](Index, Weight of_split) { errors[c] = std::min(errors[c], of_split); });
        context.monitor.work(2 * std::uint64_t{node.rows});
    }
}

}  // namespace provetree
