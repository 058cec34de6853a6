// Lanes of linear costs: coarse costs for all lanes at once, costs as they are for the lanes that matter.
#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "base/raw_vector.hpp"
#include "kernels/linear_kernel.hpp"
#include "measures/lanes.hpp"
#include "measures/two_actions.hpp"

namespace provetree {

namespace {

constexpr Index kSmallestBlock = 12, kLargestBlock = 128, kBlocksOfNode = 300;
constexpr int kLanesTogether = 16;    // of the widest kernel
constexpr Index kRowsOfLanes = 2048;  // so many rows more, and another vector of lanes is worth it
constexpr int kCoarseBits = 31;
// A survey cuts columns into groups: so many that sorting rows into pairs of groups takes about as long as the bounds
// of the pairs do, and that the sums of a pair stay near the processor.
constexpr Index kLeastSurveyed = 128;
constexpr std::size_t kMostTableCells = std::size_t{1} << 17;

// A column cut into groups of rows that end where ties do.
struct SurveyedColumn {
    std::vector<std::uint8_t> of_row;
    std::vector<Index> ends;
    LineVector<std::int32_t> one_tie, total_left, total_right;
    LaneCosts lowest;
};

class LinearLanePanel final : public LanePanel {
  public:
    LinearLanePanel(Context& context, const Measure& measure)
        : context_(context), measure_(measure), kernel_(choose_linear_kernel(context.kernel.name)),
          actions_(measure.width()), width_((actions_ + kCostBlock - 1) / kCostBlock * kCostBlock),
          wins_(context.table.columns, 0), scratch_(linear_scratch_bytes(width_)),
          sums_(static_cast<std::size_t>(actions_)), two_(context) {}

    void start(const Node& node) override;
    unsigned lanes_at_once(const Node& node) const override {
        if (actions_ == 2) return two_.lanes_at_once();
        return std::clamp<unsigned>(kLanesTogether * (1 + node.rows / kRowsOfLanes), kLanesTogether, kLanes);
    }
    const std::vector<std::vector<MeasuredPoint>>* survey(const Node& node, const std::vector<std::uint8_t>&) override;
    void evaluate(const Node& node, Index column, const Index* positions, int n, LaneUnits* results) override;
    void refine(const Node& node, int lane, LaneUnits& units) override;

  private:
    void make_costs(const Node& node);
    void make_blocks(const Node& node);
    int groups_of(const Node& node) const;
    void cut_into_groups(const Node& node, const NodeColumn& column, int groups, SurveyedColumn& to) const;
    void take_points(const Node& node);
    void place_rows(const Node& node, const NodeColumn& column, const Index* positions, int n);
    void sum_lanes(const Node& node, const NodeColumn& column, const Index* positions, int n, LaneUnits* results);
    void sweep_columns(const Node& node, int n);
    void refine_side(const Node& node, int lane, bool right, SideUnits& units);
    void swept(const Node& node) {
        context_.counters.row_steps += node.rows;
        context_.monitor.work(std::uint64_t{node.rows} * static_cast<unsigned>(width_));
    }
    Cost in_units(std::int32_t coarse) const { return static_cast<Cost>(coarse) << shift_; }
    std::int32_t leaf_of(const LineVector<std::int32_t>& totals, int lane) const {
        std::int32_t least = std::numeric_limits<std::int32_t>::max();
        for (int a = 0; a < width_; ++a) least = std::min(least, totals[static_cast<std::size_t>(a * kLanes + lane)]);
        return least;
    }

    Context& context_;
    const Measure& measure_;
    const LinearKernel& kernel_;
    const int actions_, width_;
    // Of the node.
    int shift_ = 0;  // coarse costs are units divided by this power of two
    LineVector<std::int32_t> costs_;
    std::vector<std::int64_t> exact_total_;
    std::vector<std::vector<RowBlock>> blocks_;
    // Of the lanes.
    std::vector<std::uint8_t> buckets_;
    int padded_ = 0;
    LineVector<std::int32_t> total_left_, total_right_;
    std::vector<std::int64_t> exact_left_;  // by lane and action
    std::vector<std::int64_t> count_left_;
    LaneCosts best_{};
    std::vector<LaneCosts> lowest_;  // of each column
    // Of the survey.
    std::vector<SurveyedColumn> surveyed_;
    std::vector<std::vector<MeasuredPoint>> points_;
    LineVector<std::int32_t> table_;
    // Columns that gave better stumps lately are swept first, so that others are passed by sooner.
    std::vector<std::uint64_t> wins_;
    std::vector<Index> sweep_order_, by_bound_;
    LineVector<unsigned char> scratch_;
    std::vector<std::int64_t> sums_;
    TwoActions two_;
};

void LinearLanePanel::start(const Node& node) {
    make_costs(node);
    if (actions_ == 2)
        two_.start(node, costs_.data(), width_);
    else
        make_blocks(node);
    buckets_.resize(node.rows);
    const std::size_t cells = static_cast<std::size_t>(width_) * kLanes;
    total_left_.resize(cells);
    total_right_.resize(cells);
    exact_left_.resize(static_cast<std::size_t>(actions_) * kLanes);
    count_left_.resize(kLanes);
    lowest_.resize(node.columns.size());
    sweep_order_.resize(node.columns.size());
}

// Rounded down, so that sums of coarse costs never exceed sums of costs: what is a bound in them is one.
void LinearLanePanel::make_costs(const Node& node) {
    exact_total_.assign(static_cast<std::size_t>(actions_), 0);
    std::uint64_t most = 0;
    for (Index row = 0; row < node.rows; ++row) {
        const std::int64_t* const of = measure_.targets(node.ids[row]);
        std::int64_t largest = 0;
        for (int a = 0; a < actions_; ++a) {
            largest = std::max(largest, of[a]);
            exact_total_[static_cast<std::size_t>(a)] += of[a];
        }
        most += static_cast<std::uint64_t>(largest);
    }
    shift_ = std::max(0, static_cast<int>(std::bit_width(most)) - kCoarseBits);
    const std::size_t width = static_cast<std::size_t>(width_);
    costs_.resize(node.rows * width);
    for (Index row = 0; row < node.rows; ++row) {
        const std::int64_t* const of = measure_.targets(node.ids[row]);
        std::int32_t* const to = costs_.data() + row * width;
        for (int a = 0; a < actions_; ++a) to[a] = static_cast<std::int32_t>(of[a] >> shift_);
        for (int a = actions_; a < width_; ++a) to[a] = to[0];
    }
}

void LinearLanePanel::make_blocks(const Node& node) {
    const Index size = std::clamp(node.rows / kBlocksOfNode, kSmallestBlock, kLargestBlock);
    if (blocks_.size() < node.columns.size()) blocks_.resize(node.columns.size());
    for (std::size_t c = 0; c < node.columns.size(); ++c) {
        const NodeColumn& column = node.columns[c];
        std::vector<RowBlock>& blocks = blocks_[c];
        blocks.clear();
        Index begin = 0, tie = 0;  // of the block, and of its last group of ties
        for (Index i = 0; i < node.rows; ++i) {
            if (!column.no_ties && column.ranks[i] == column.ranks[i + 1]) continue;
            const bool one_tie = tie == begin;
            tie = i + 1;
            if (i + 1 - begin < (one_tie ? size / 4 : size) && i + 1 < node.rows) continue;
            blocks.push_back({i + 1, one_tie});
            begin = i + 1;
        }
    }
}

int LinearLanePanel::groups_of(const Node& node) const {
    int groups = 16;
    while (groups < kLanes && Index(groups) * Index(groups) * 4 < node.rows &&
           static_cast<std::size_t>((groups + 16) * kLanes * width_) <= kMostTableCells)
        groups += 16;
    return groups;
}

void LinearLanePanel::cut_into_groups(const Node& node, const NodeColumn& column, int groups,
                                      SurveyedColumn& to) const {
    const std::size_t width = static_cast<std::size_t>(width_), cells = width * kLanes;
    to.of_row.resize(node.rows);
    to.ends.clear();
    to.one_tie.assign(kLanes, 0);
    to.total_left.resize(cells);
    to.total_right.resize(cells);
    std::vector<std::int32_t> sums(width, 0);
    const bool each_value = column.groups <= static_cast<Index>(groups);
    Index begin = 0, tie = 0;
    for (Index i = 0; i < node.rows; ++i) {
        const Index row = column.order[i] & entry::kRowMask;
        to.of_row[row] = static_cast<std::uint8_t>(to.ends.size());
        for (std::size_t a = 0; a < width; ++a) sums[a] += costs_[row * width + a];
        if (i + 1 < node.rows && column.ranks[i] == column.ranks[i + 1]) continue;
        const bool one_tie = tie == begin;
        tie = i + 1;
        const std::uint64_t due = (to.ends.size() + 1) * std::uint64_t{node.rows} / static_cast<unsigned>(groups);
        if (i + 1 < node.rows && !each_value && i + 1 < due) continue;
        to.one_tie[to.ends.size()] = one_tie ? -1 : 0;
        for (std::size_t a = 0; a < width; ++a) to.total_left[a * kLanes + to.ends.size()] = sums[a];
        to.ends.push_back(i + 1);
        begin = i + 1;
    }
    for (std::size_t a = 0; a < width; ++a)
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const std::size_t at = a * kLanes + lane;
            if (lane >= to.ends.size()) to.total_left[at] = sums[a];
            to.total_right[at] = sums[a] - to.total_left[at];
        }
    for (int lane = 0; lane < kLanes; ++lane)
        to.lowest.left[lane] = to.lowest.right[lane] = std::numeric_limits<std::int32_t>::max();
}

const std::vector<std::vector<MeasuredPoint>>* LinearLanePanel::survey(const Node& node,
                                                                       const std::vector<std::uint8_t>&) {
    if (node.rows < kLeastSurveyed || actions_ == 2) return nullptr;
    const int groups = groups_of(node);
    const std::size_t columns = node.columns.size();
    if (surveyed_.size() < columns) surveyed_.resize(columns);
    table_.resize(static_cast<std::size_t>(groups * kLanes * width_));
    for (std::size_t c = 0; c < columns; ++c) {
        cut_into_groups(node, node.columns[c], groups, surveyed_[c]);
        swept(node);
    }
    const auto groups_in = [](const SurveyedColumn& column) {
        return RowGroups{column.of_row.data(), static_cast<int>(column.ends.size()), column.one_tie.data()};
    };
    for (std::size_t c = 0; c < columns; ++c)
        for (std::size_t d = c; d < columns; ++d) {
            SurveyedColumn &one = surveyed_[c], &other = surveyed_[d];
            const int lanes = static_cast<int>(other.ends.size());
            kernel_.bound_pair({node.rows, groups_in(one), groups_in(other), table_.data()},
                               {(lanes + kLanesTogether - 1) / kLanesTogether * kLanesTogether, width_, costs_.data(),
                                nullptr, other.total_left.data(), other.total_right.data(), scratch_.data()},
                               one.lowest, other.lowest);
            swept(node);
        }
    take_points(node);
    return &points_;
}

void LinearLanePanel::take_points(const Node& node) {
    points_.resize(node.columns.size());
    for (std::size_t c = 0; c < node.columns.size(); ++c) {
        const NodeColumn& column = node.columns[c];
        const SurveyedColumn& known = surveyed_[c];
        points_[c].clear();
        for (std::size_t i = 0; i + 1 < known.ends.size(); ++i) {
            const int lane = static_cast<int>(i);
            const Index position = known.ends[i];
            points_[c].push_back({column.ranks[position - 1], position, node.weight_left(column, position),
                                  in_units(leaf_of(known.total_left, lane)), in_units(leaf_of(known.total_right, lane)),
                                  in_units(known.lowest.left[i]), in_units(known.lowest.right[i])});
        }
    }
}

void LinearLanePanel::place_rows(const Node& node, const NodeColumn& column, const Index* positions, int n) {
    padded_ = (n + kLanesTogether - 1) / kLanesTogether * kLanesTogether;
    Index at = 0;
    for (int lane = 0; lane < n; ++lane)
        for (; at < positions[lane]; ++at)
            buckets_[column.order[at] & entry::kRowMask] = static_cast<std::uint8_t>(lane);
    for (; at < node.rows; ++at) buckets_[column.order[at] & entry::kRowMask] = static_cast<std::uint8_t>(padded_);
}

// Sums of both sides of each lane, coarse and exact.
void LinearLanePanel::sum_lanes(const Node& node, const NodeColumn& column, const Index* positions, int n,
                                LaneUnits* results) {
    std::fill(total_left_.begin(), total_left_.end(), 0);
    std::fill(total_right_.begin(), total_right_.end(), 0);
    std::vector<std::int32_t> coarse(static_cast<std::size_t>(width_), 0);
    std::vector<std::int64_t>& exact = sums_;
    std::fill(exact.begin(), exact.end(), 0);
    const auto add_rows = [&](Index from, Index upto, std::int64_t& count) {
        for (Index i = from; i < upto; ++i) {
            const Index row = column.order[i] & entry::kRowMask;
            const std::int32_t* const rounded = costs_.data() + std::size_t{row} * static_cast<unsigned>(width_);
            const std::int64_t* const costs = measure_.targets(node.ids[row]);
            for (int a = 0; a < width_; ++a) coarse[static_cast<std::size_t>(a)] += rounded[a];
            for (int a = 0; a < actions_; ++a) exact[static_cast<std::size_t>(a)] += costs[a];
            if (context_.constrained()) count += node.counts[row];
        }
    };
    std::int64_t count = 0;
    for (int lane = 0; lane < n; ++lane) {
        add_rows(lane ? positions[lane - 1] : 0, positions[lane], count);
        Cost leaf_left = kInfinite, leaf_right = kInfinite;
        for (int a = 0; a < actions_; ++a) {
            const std::size_t action = static_cast<std::size_t>(a);
            exact_left_[static_cast<std::size_t>(lane * actions_ + a)] = exact[action];
            leaf_left = std::min(leaf_left, exact[action]);
            leaf_right = std::min(leaf_right, exact_total_[action] - exact[action]);
        }
        for (int a = 0; a < width_; ++a)
            total_left_[static_cast<std::size_t>(a * kLanes + lane)] = coarse[static_cast<std::size_t>(a)];
        count_left_[static_cast<std::size_t>(lane)] = count;
        const bool any = !context_.constrained();
        results[lane] = {{leaf_left, 0, kInfinite, any || count >= context_.min_leaf},
                         {leaf_right, 0, kInfinite, any || node.count - count >= context_.min_leaf},
                         false};
    }
    add_rows(positions[n - 1], node.rows, count);
    for (int lane = 0; lane < n; ++lane)
        for (int a = 0; a < width_; ++a) {
            const std::size_t at = static_cast<std::size_t>(a * kLanes + lane);
            total_right_[at] = coarse[static_cast<std::size_t>(a)] - total_left_[at];
        }
}

void LinearLanePanel::sweep_columns(const Node& node, int n) {
    const LinearLanes lanes{
        padded_, width_, costs_.data(), buckets_.data(), total_left_.data(), total_right_.data(), scratch_.data()};
    if (actions_ == 2) two_.take_lanes(lanes, n);
    for (Index c = 0; c < node.columns.size(); ++c) sweep_order_[c] = c;
    std::stable_sort(sweep_order_.begin(), sweep_order_.end(),
                     [&](Index a, Index b) { return wins_[node.columns[a].id] > wins_[node.columns[b].id]; });
    for (Index c : sweep_order_) {
        const NodeColumn& column = node.columns[c];
        if (actions_ == 2) {
            two_.sweep(c, lowest_[c]);
            for (int lane = 0; lane < n; ++lane) {
                best_.left[lane] = std::min(best_.left[lane], lowest_[c].left[lane]);
                best_.right[lane] = std::min(best_.right[lane], lowest_[c].right[lane]);
            }
        } else {
            const LinearColumn blocks{column.order, column.ranks, blocks_[c].data(), blocks_[c].size(), column.no_ties};
            wins_[column.id] = wins_[column.id] / 2 + kernel_.sweep(blocks, lanes, best_, lowest_[c]);
        }
        swept(node);
    }
}

void LinearLanePanel::evaluate(const Node& node, Index c, const Index* positions, int n, LaneUnits* results) {
    const NodeColumn& column = node.columns[c];
    place_rows(node, column, positions, n);
    sum_lanes(node, column, positions, n, results);
    for (int lane = 0; lane < kLanes; ++lane) {
        best_.left[lane] = lane < n ? leaf_of(total_left_, lane) : std::numeric_limits<std::int32_t>::min();
        best_.right[lane] = lane < n ? leaf_of(total_right_, lane) : std::numeric_limits<std::int32_t>::min();
    }
    sweep_columns(node, n);
    // Costs that need no rounding have stumps that need no second sweep.
    const bool exact = shift_ == 0 && !context_.constrained();
    const auto take = [&](SideUnits& side, std::int32_t best) {
        side.stump = in_units(best);
        if (exact && side.stump < side.leaf) side.feasible_split = side.stump;
    };
    for (int lane = 0; lane < n; ++lane) {
        take(results[lane].left, best_.left[lane]);
        take(results[lane].right, best_.right[lane]);
        results[lane].exact = exact;
    }
}

void LinearLanePanel::refine(const Node& node, int lane, LaneUnits& units) {
    refine_side(node, lane, false, units.left);
    refine_side(node, lane, true, units.right);
    units.exact = true;
}

// Sweeps the columns with costs as they are, the most promising first, until the others cannot do better.
void LinearLanePanel::refine_side(const Node& node, int lane, bool right, SideUnits& units) {
    std::vector<std::int64_t> total(exact_left_.begin() + lane * actions_, exact_left_.begin() + (lane + 1) * actions_);
    for (std::size_t a = 0; right && a < total.size(); ++a) total[a] = exact_total_[a] - total[a];
    const std::int64_t left_count = count_left_[static_cast<std::size_t>(lane)];
    units.stump = units.leaf;
    units.feasible_split = kInfinite;
    by_bound_.resize(node.columns.size());
    const auto bound = [&](Index c) { return (right ? lowest_[c].right : lowest_[c].left)[lane]; };
    for (Index c = 0; c < by_bound_.size(); ++c) by_bound_[c] = c;
    std::stable_sort(by_bound_.begin(), by_bound_.end(), [&](Index a, Index b) { return bound(a) < bound(b); });
    // How many columns are swept depends on the kernel, whose vectors are walked together; the steps must not.
    swept(node);
    for (Index c : by_bound_) {
        if (in_units(bound(c)) >= std::min(units.leaf, units.feasible_split)) break;
        const NodeColumn& column = node.columns[c];
        const ExactStump stump =
            kernel_.sweep_exactly({column.order, column.ranks, node.rows, buckets_.data(), lane, right,
                                   measure_.targets(0), node.ids.data(), actions_, total.data(), node.counts.data(),
                                   right ? node.count - left_count : left_count, context_.min_leaf, sums_.data()});
        units.stump = std::min(units.stump, stump.any);
        units.feasible_split = std::min(units.feasible_split, stump.feasible);
    }
    if (units.feasible_split >= units.leaf) units.feasible_split = kInfinite;
}

}  // namespace

std::unique_ptr<LanePanel> linear_lane_panel(Context& context, const Measure& measure) {
    return std::make_unique<LinearLanePanel>(context, measure);
}

}  // namespace provetree
