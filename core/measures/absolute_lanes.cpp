// Lanes of absolute error: what leaves cost around their medians, by taking rows out of a list.
//
// The rows of a side stand in a doubly linked list in the order of their targets. Taking one out moves the median by a
// step or so; so the costs of all first rows of a column come from taking out its rows from the last one on, and those
// of all last rows from taking out its rows from the first one on. All sums are whole steps, which is exact.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "measures/lanes.hpp"

namespace provetree {

namespace {

// Rows of a side by one output, in the order of their targets.
class SortedRows {
  public:
    void clear() {
        targets_.clear();
        weights_.clear();
    }
    Index add(std::int64_t target, std::int64_t weight) {
        targets_.push_back(target);
        weights_.push_back(weight);
        return static_cast<Index>(targets_.size() - 1);
    }
    // All rows are in the list again.
    void fill() {
        const std::size_t rows = targets_.size();
        next_.resize(rows);
        previous_.resize(rows);
        std::iota(next_.begin(), next_.end(), Index{1});
        std::iota(previous_.begin(), previous_.end(), ~Index{0});  // the row before the first is none: all bits
        all_ = {};
        for (std::size_t i = 0; i < rows; ++i) all_.add(targets_[i], weights_[i]);
        below_ = {};
        median_ = 0;
        settle();
    }
    void take_out(Index row) {
        const Index before = previous_[row], after = next_[row];
        if (before != kNone) next_[before] = after;
        if (after != end()) previous_[after] = before;
        all_.add(targets_[row], -weights_[row]);
        if (row < median_) {
            below_.add(targets_[row], -weights_[row]);
        } else if (row == median_) {
            median_ = after;
            if (median_ == end() && before != kNone) step_back(before);
        }
        settle();
    }
    // Steps from the median.
    std::int64_t cost() const {
        return all_.weight ? targets_[median_] * (2 * below_.weight - all_.weight) + all_.sum - 2 * below_.sum : 0;
    }

  private:
    struct Sums {
        std::int64_t weight = 0, sum = 0;
        void add(std::int64_t target, std::int64_t times) {
            weight += times;
            sum += target * times;
        }
    };
    static constexpr Index kNone = ~Index{0};
    Index end() const { return static_cast<Index>(targets_.size()); }
    void step_back(Index before) {
        median_ = before;
        below_.add(targets_[before], -weights_[before]);
    }
    // The median is the first row that half of the weight does not exceed.
    void settle() {
        if (!all_.weight) return;
        while (2 * (below_.weight + weights_[median_]) < all_.weight) {
            below_.add(targets_[median_], weights_[median_]);
            median_ = next_[median_];
        }
        while (2 * below_.weight >= all_.weight) step_back(previous_[median_]);
    }

    std::vector<std::int64_t> targets_, weights_;
    std::vector<Index> next_, previous_;
    Sums all_, below_;  // of the rows in the list, and of those before the median
    Index median_ = 0;
};

class AbsoluteLanePanel final : public LanePanel {
  public:
    AbsoluteLanePanel(Context& context, const Measure& measure)
        : context_(context), measure_(measure), outputs_(static_cast<std::size_t>(measure.width())) {}

    void start(const Node& node) override {
        left_.assign(node.rows, 0);
        for (std::size_t k = 0; k < outputs_.size(); ++k) {
            Output& output = outputs_[k];
            output.order.resize(node.rows);
            output.place.resize(node.rows);
            std::iota(output.order.begin(), output.order.end(), Index{0});
            std::sort(output.order.begin(), output.order.end(), [&](Index a, Index b) {
                return measure_.targets(node.ids[a])[k] < measure_.targets(node.ids[b])[k];
            });
        }
    }

    unsigned lanes_at_once(const Node&) const override { return 4; }

    void evaluate(const Node& node, Index column, const Index* positions, int n, LaneUnits* results) override {
        const NodeColumn& by = node.columns[column];
        std::fill(left_.begin(), left_.end(), std::uint8_t{0});
        Index at = 0;
        for (int lane = 0; lane < n; ++lane) {
            for (; at < positions[lane]; ++at) left_[by.order[at] & entry::kRowMask] = 1;
            results[lane] = {side(node, 1), side(node, 0)};
        }
        const std::uint64_t work = std::uint64_t{node.rows} * node.columns.size() * static_cast<unsigned>(n);
        context_.counters.row_steps += work;
        context_.monitor.work(work);
    }

  private:
    // The rows of a node by one output.
    struct Output {
        std::vector<Index> order;  // by target
        std::vector<Index> place;  // of each row among those of the side
        SortedRows rows;
    };
    struct Row {
        Index row, rank;
    };

    SideUnits side(const Node& node, std::uint8_t which) {
        std::int64_t count = 0;
        for (Index row = 0; row < node.rows; ++row) count += left_[row] == which ? node.counts[row] : 0;
        double leaf = 0;
        for (std::size_t k = 0; k < outputs_.size(); ++k) {
            Output& output = outputs_[k];
            output.rows.clear();
            for (Index row : output.order)
                if (left_[row] == which)
                    output.place[row] =
                        output.rows.add(measure_.targets(node.ids[row])[k], measure_.weight(node.ids[row]));
            output.rows.fill();
            leaf += in_units(output.rows.cost());
        }
        SideUnits units{rounded_up(leaf), rounded_up(leaf), kInfinite, count >= context_.min_leaf};
        for (const NodeColumn& column : node.columns) sweep(node, column, which, count, units);
        return units;
    }

    void sweep(const Node& node, const NodeColumn& column, std::uint8_t which, std::int64_t count, SideUnits& units) {
        rows_.clear();
        for (Index i = 0; i < node.rows; ++i)
            if (left_[column.order[i] & entry::kRowMask] == which)
                rows_.push_back({column.order[i] & entry::kRowMask, column.ranks[i]});
        if (rows_.size() < 2 || rows_.front().rank == rows_.back().rank) return;
        before_.assign(rows_.size(), 0);
        after_.assign(rows_.size(), 0);
        for (Output& output : outputs_) {
            output.rows.fill();
            for (std::size_t i = rows_.size(); i-- > 1;) {
                output.rows.take_out(output.place[rows_[i].row]);
                before_[i] += in_units(output.rows.cost());
            }
            output.rows.fill();
            for (std::size_t i = 1; i < rows_.size(); ++i) {
                output.rows.take_out(output.place[rows_[i - 1].row]);
                after_[i] += in_units(output.rows.cost());
            }
        }
        look_at_splits(node, count, units);
    }

    void look_at_splits(const Node& node, std::int64_t count, SideUnits& units) const {
        std::int64_t before = 0;
        for (std::size_t i = 1; i < rows_.size(); ++i) {
            before += node.counts[rows_[i - 1].row];
            if (rows_[i - 1].rank == rows_[i].rank) continue;
            // Rounding up only adds.
            if (before_[i] + after_[i] >=
                static_cast<double>(std::max(units.stump, std::min(units.leaf, units.feasible_split))))
                continue;
            const Cost cost = rounded_up(before_[i]) + rounded_up(after_[i]);
            units.stump = std::min(units.stump, cost);
            if (before >= context_.min_leaf && count - before >= context_.min_leaf && cost < units.leaf)
                units.feasible_split = std::min(units.feasible_split, cost);
        }
    }

    double in_units(std::int64_t steps) const { return static_cast<double>(steps) * measure_.units_per_step(); }
    static Cost rounded_up(double units) { return static_cast<Cost>(std::ceil(units)); }

    Context& context_;
    const Measure& measure_;
    std::vector<Output> outputs_;
    std::vector<std::uint8_t> left_;
    std::vector<Row> rows_;
    std::vector<double> before_, after_;  // units of the first i rows of a column, and of the others
};

}  // namespace

std::unique_ptr<LanePanel> absolute_lane_panel(Context& context, const Measure& measure) {
    return std::make_unique<AbsoluteLanePanel>(context, measure);
}

}  // namespace provetree
