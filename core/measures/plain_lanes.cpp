// The plain way to sweep any measure; see measures/lanes.hpp.
#include <algorithm>
#include <vector>

#include "kernels/class_kernel.hpp"
#include "kernels/squared_kernel.hpp"
#include "loss/running.hpp"
#include "measures/lanes.hpp"

namespace provetree {

namespace {

template <class Running>
class PlainLanes final : public LanePanel {
  public:
    PlainLanes(Context& context, const Measure& measure) : context_(context), leaf_(measure) {}

    void start(const Node& node) override { left_.assign(node.rows, 0); }

    void evaluate(const Node& node, Index column, const Index* positions, int n, LaneUnits* results) override {
        const NodeColumn& by = node.columns[column];
        std::fill(left_.begin(), left_.end(), std::uint8_t{0});
        Index at = 0;
        for (int lane = 0; lane < n; ++lane) {
            for (; at < positions[lane]; ++at) left_[by.order[at] & entry::kRowMask] = 1;
            results[lane] = {side(node, 1), side(node, 0)};
        }
        const std::uint64_t work = 2 * std::uint64_t{node.rows} * node.columns.size() * static_cast<unsigned>(n);
        context_.counters.row_steps += work;
        context_.monitor.work(work);
    }

  private:
    SideUnits side(const Node& node, std::uint8_t which) {
        SideUnits units{0, kInfinite, kInfinite, false};
        std::int64_t count = 0;
        leaf_.clear();
        for (Index row = 0; row < node.rows; ++row) {
            if (left_[row] != which) continue;
            leaf_.add(node.ids[row]);
            count += node.counts[row];
        }
        units.leaf = units.stump = leaf_.units();
        units.feasible_leaf = count >= context_.min_leaf;
        for (const NodeColumn& column : node.columns) sweep(node, column, which, count, units);
        return units;
    }

    void sweep(const Node& node, const NodeColumn& column, std::uint8_t which, std::int64_t count, SideUnits& units) {
        rows_.clear();
        for (Index i = 0; i < node.rows; ++i)
            if (left_[column.order[i] & entry::kRowMask] == which)
                rows_.push_back({column.order[i] & entry::kRowMask, column.ranks[i]});
        if (rows_.size() < 2) return;
        after_.resize(rows_.size());
        leaf_.clear();
        for (std::size_t i = rows_.size(); i-- > 1;) {
            leaf_.add(node.ids[rows_[i].row]);
            if (rows_[i - 1].rank != rows_[i].rank) after_[i] = leaf_.units();
        }
        leaf_.clear();
        std::int64_t before = 0;
        for (std::size_t i = 1; i < rows_.size(); ++i) {
            leaf_.add(node.ids[rows_[i - 1].row]);
            before += node.counts[rows_[i - 1].row];
            if (rows_[i - 1].rank == rows_[i].rank) continue;
            const Cost cost = leaf_.units() + after_[i];
            units.stump = std::min(units.stump, cost);
            if (before >= context_.min_leaf && count - before >= context_.min_leaf)
                units.feasible_split = std::min(units.feasible_split, cost);
        }
    }

    struct Row {
        Index row, rank;
    };
    Context& context_;
    Running leaf_;
    std::vector<std::uint8_t> left_;
    std::vector<Row> rows_;
    std::vector<Cost> after_;
};

}  // namespace

std::unique_ptr<LanePanel> plain_lane_panel(Context& context, const Measure& measure) {
    return with_running(measure, [&](auto&& running) -> std::unique_ptr<LanePanel> {
        return std::make_unique<PlainLanes<std::decay_t<decltype(running)>>>(context, measure);
    });
}

std::unique_ptr<LanePanel> make_lane_panel(Context& context, const Measure& measure) {
    if (measure.kind() == MeasureKind::kSquared && measure.width() == 1) return squared_lane_panel(context, measure);
    if (measure.of_classes() && measure.width() > 1 && measure.classes() <= kMostLaneClasses)
        return class_lane_panel(context, measure);
    if (measure.kind() == MeasureKind::kSquared && measure.width() <= kMostOutputs)
        return output_lane_panel(context, measure);
    if (measure.kind() == MeasureKind::kLinear) return linear_lane_panel(context, measure);
    if (measure.kind() == MeasureKind::kAbsolute) return absolute_lane_panel(context, measure);
    return plain_lane_panel(context, measure);
}

}  // namespace provetree
