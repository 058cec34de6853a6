// Lanes for squared error of one output, Gini of two classes among them: the buckets of kernels/squared_kernel.hpp.
//
// Totals of the lanes are exact whole numbers. Costs are worked out in doubles from targets around the node's mean,
// which is exact to a small part of a unit, and rounded up once for each side.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/squared_kernel.hpp"
#include "measures/lanes.hpp"

namespace provetree {

namespace {

// What is above a whole number of units by no more than this is rounding.
constexpr double kRounding = 1.0 / 64;

class SquaredLanePanel final : public LanePanel {
  public:
    SquaredLanePanel(Context& context, const Measure& measure)
        : context_(context), measure_(measure), kernel_(choose_squared_kernel(context.kernel.name)),
          unit_(measure.total_weight() == static_cast<Weight>(measure.rows())) {}

    void start(const Node& node) override {
        take_rows(node);
        blocks_.clear();
        first_block_.clear();
        columns_.clear();
        if (entries_.size() < node.columns.size() * node.rows) entries_.resize(node.columns.size() * node.rows);
        for (const NodeColumn& column : node.columns) add_blocks(node, column);
        for (std::size_t c = 0; c < columns_.size(); ++c) columns_[c].blocks = blocks_.data() + first_block_[c];
        order_columns(node);
    }

    unsigned lanes_at_once(const Node& node) const override {
        return std::clamp<unsigned>(node.rows / 1024 * 16, 16, kLanes);
    }

    void evaluate(const Node& node, Index column, const Index* positions, int n, Cost, LaneUnits* results) override {
        take_lanes(node, node.columns[column], positions, n);
        const SquaredRows rows{codes_.data(), rows_.data(), targets_.data(), node.counts.data()};
        const auto sweep = context_.constrained() ? kernel_.sweep_sized : kernel_.sweep;
        std::uint64_t most = 0;
        std::size_t winner = 0;
        for (std::size_t i = 0; i < sweeps_.size(); ++i) {
            const std::uint64_t wins = sweep(columns_[sweeps_[i]], rows, n, sides_);
            if (wins <= most) continue;
            most = wins;
            winner = i;
        }
        if (most) {
            won_[node.columns[sweeps_[winner]].id] = ++clock_;
            std::rotate(sweeps_.begin(), sweeps_.begin() + static_cast<std::ptrdiff_t>(winner),
                        sweeps_.begin() + static_cast<std::ptrdiff_t>(winner) + 1);
        }
        for (int lane = 0; lane < n; ++lane) results[lane] = {side_units(0, lane), side_units(1, lane)};
        const std::uint64_t work = std::uint64_t{node.rows} * (node.columns.size() + 1);
        context_.counters.row_steps += work;
        context_.monitor.work(work);
    }

  private:
    // Exact sums over the rows of a side.
    struct Sums {
        std::int64_t weight = 0, sum = 0, count = 0;  // counts only under a minimum leaf size
        Wide squares = 0;
    };

    // Targets of the node around their mean.
    void take_rows(const Node& node) {
        std::int64_t weight = 0, sum = 0;
        for (Index id : node.ids) {
            weight += measure_.weight(id);
            sum += measure_.targets(id)[0] * measure_.weight(id);
        }
        const std::int64_t centre = weight ? sum / weight : 0;
        rows_.resize(node.rows);
        codes_.resize(node.rows);
        targets_.resize(node.rows);
        squares_.resize(unit_ ? 0 : node.rows);
        all_ = {};
        absolute_ = 0;
        double farthest = 0;
        for (Index row = 0; row < node.rows; ++row) {
            const Index id = node.ids[row];
            const std::int64_t target = measure_.targets(id)[0] - centre, times = measure_.weight(id);
            const Wide square = square_of(target) * static_cast<Wide>(times);
            rows_[row] = {times, target * times};
            targets_[row] = {static_cast<double>(times), static_cast<double>(target)};
            if (!unit_) squares_[row] = square;
            all_.weight += times;
            all_.sum += target * times;
            if (context_.constrained()) all_.count += node.counts[row];
            all_.squares += square;
            const double distance = std::abs(targets_[row].target);
            absolute_ += distance * targets_[row].weight;
            farthest = std::max(farthest, distance);
        }
        largest_sum_ = absolute_ + farthest * static_cast<double>(all_.weight);
        block_rows_ = std::clamp<Index>(node.rows / 24, 16, 64);
    }

    // Cuts a column into blocks of about block_rows_ rows that end where ties end. Long groups of ties make blocks of
    // their own, which never need a second walk.
    void add_blocks(const Node& node, const NodeColumn& column) {
        const std::size_t first = blocks_.size();
        std::uint32_t* const entries = entries_.data() + columns_.size() * node.rows;
        // Of classes, the node's own checks leave out what lies inside runs of one class.
        if (measure_.of_classes())
            for (Index i = 0; i < node.rows; ++i)
                entries[i] = (column.order[i] & entry::kRowMask) | (column.order[i] & entry::kCheck ? kLookBit : 0);
        else
            for (Index i = 0; i < node.rows; ++i)
                entries[i] =
                    (column.order[i] & entry::kRowMask) | (column.ranks[i] != column.ranks[i + 1] ? kLookBit : 0);
        if (column.no_ties)
            for (Index i = 0; i < node.rows; i += block_rows_)
                add_block({i, std::min(node.rows, i + block_rows_), 2}, entries);
        else
            add_blocks_of_ties(node, column.ranks, entries);
        first_block_.push_back(first);
        columns_.push_back({entries, nullptr, blocks_.size() - first});
    }

    // Adjoining rows of a column, from one end of ties to another.
    struct Stretch {
        Index begin, end, groups;
        Index rows() const { return end - begin; }
    };

    void add_blocks_of_ties(const Node& node, const Index* ranks, const std::uint32_t* entries) {
        Stretch pending{0, 0, 0};
        for (Index i = 0; i < node.rows;) {
            const Index begin = i++;
            while (ranks[i - 1] == ranks[i]) ++i;
            if (i - begin >= block_rows_ / 2 && pending.groups) {
                add_block(pending, entries);
                pending = {begin, begin, 0};
            }
            pending = {pending.begin, i, pending.groups + 1};
            if (pending.rows() < (pending.groups == 1 ? block_rows_ / 4 : block_rows_) && i < node.rows) continue;
            add_block(pending, entries);
            pending = {i, i, 0};
        }
    }

    void add_block(const Stretch& rows, const std::uint32_t* entries) {
        double lowest = INFINITY, highest = -INFINITY;
        if (rows.groups > 1)
            for (Index i = rows.begin; i < rows.end; ++i) {
                const double target = targets_[entries[i] & ~kLookBit].target;
                lowest = std::min(lowest, target);
                highest = std::max(highest, target);
            }
        const double inverse = highest > lowest ? 1 / (highest - lowest) : 0;
        blocks_.push_back({rows.end, rows.groups == 1, lowest, highest, inverse, 0x1p-48 * largest_sum_ * inverse});
    }

    // Columns that gave the best stumps lately come first: the better the stumps at hand, the more is passed by.
    void order_columns(const Node& node) {
        won_.resize(std::max<std::size_t>(won_.size(), context_.table.columns), 0);
        sweeps_.resize(node.columns.size());
        for (std::size_t c = 0; c < sweeps_.size(); ++c) sweeps_[c] = static_cast<Index>(c);
        std::stable_sort(sweeps_.begin(), sweeps_.end(),
                         [&](Index a, Index b) { return won_[node.columns[a].id] > won_[node.columns[b].id]; });
    }

    void take_lanes(const Node& node, const NodeColumn& by, const Index* positions, int n) {
        Sums left;
        Index at = 0;
        for (int lane = 0; lane < n; ++lane) {
            for (; at < positions[lane]; ++at) {
                const Index row = by.order[at] & entry::kRowMask;
                codes_[row] = static_cast<std::uint8_t>(lane);
                left.weight += rows_[row].weight;
                left.sum += rows_[row].sum;
                left.squares += unit_ ? square_of(rows_[row].sum) : squares_[row];
                if (context_.constrained()) left.count += node.counts[row];
            }
            const Sums right{all_.weight - left.weight, all_.sum - left.sum, all_.count - left.count,
                             all_.squares - left.squares};
            take_side(0, lane, left);
            take_side(1, lane, right);
        }
        for (; at < node.rows; ++at) codes_[by.order[at] & entry::kRowMask] = kLanes;
        for (int side = 0; side < 2; ++side)
            for (int lane = n; lane < kLanes; ++lane) {
                sides_.weight[side][lane] = sides_.weight[side][n - 1];
                sides_.mean[side][lane] = sides_.mean[side][n - 1];
                sides_.count[side][lane] = sides_.count[side][n - 1];
                sides_.best[side][lane] = sides_.feasible[side][lane] = kSettledLane;
            }
        const double smallest = 0x1p-44 * absolute_;
        sides_.noise = smallest * smallest;
        sides_.min_leaf = static_cast<double>(context_.min_leaf);
    }

    void take_side(int side, int lane, const Sums& sums) {
        const double weight = static_cast<double>(sums.weight), sum = static_cast<double>(sums.sum);
        sides_.weight[side][lane] = weight;
        sides_.mean[side][lane] = weight > 0 ? sum / weight : 0;
        sides_.count[side][lane] = static_cast<double>(sums.count);
        const double leaf = weight > 0 ? static_cast<double>(sums.squares) - sum * sum / weight : 0;
        leaf_[side][lane] = leaf * measure_.units_per_square();
        // A stump saves no more than the leaf costs; what saves next to nothing is not looked for.
        least_[side][lane] = kRounding / (weight * measure_.units_per_square());
        const double from = leaf_[side][lane] > kRounding ? least_[side][lane] : kSettledLane;
        sides_.best[side][lane] = sides_.feasible[side][lane] = from;
    }

    SideUnits side_units(int side, int lane) const {
        const double leaf = leaf_[side][lane], per = sides_.weight[side][lane] * measure_.units_per_square();
        const auto with = [&](double best) { return units(leaf - best * per); };
        const auto found = [&](double best) { return best > least_[side][lane] && best < kSettledLane; };
        const double best = sides_.best[side][lane];
        const double feasible = context_.constrained() ? sides_.feasible[side][lane] : best;
        const Cost as_leaf = units(leaf);
        return {as_leaf, found(best) ? with(best) : as_leaf, found(feasible) ? with(feasible) : kInfinite,
                !context_.constrained() || sides_.count[side][lane] >= static_cast<double>(context_.min_leaf)};
    }

    static Cost units(double amount) { return static_cast<Cost>(std::ceil(std::max(0.0, amount - kRounding))); }

    Context& context_;
    const Measure& measure_;
    const SquaredKernel& kernel_;
    Index block_rows_ = 8;
    double absolute_ = 0;     // the sum of |weight x target|
    double largest_sum_ = 0;  // what the sums of a bound stay below
    Sums all_;
    std::vector<SquaredRow> rows_;
    std::vector<std::uint8_t> codes_;
    std::vector<SquaredTarget> targets_;
    std::vector<std::uint32_t> entries_;
    const bool unit_;            // all weights are one
    std::vector<Wide> squares_;  // weight times square; empty where all weights are one
    std::vector<SquaredBlock> blocks_;
    std::vector<std::size_t> first_block_;
    std::vector<SquaredColumn> columns_;
    std::vector<Index> sweeps_;       // columns of the node in the order of sweeping
    std::vector<std::uint64_t> won_;  // of each column of the table: when it last gave the most
    std::uint64_t clock_ = 0;
    SquaredLanes sides_;
    double leaf_[2][kLanes], least_[2][kLanes];
};

}  // namespace

std::unique_ptr<LanePanel> squared_lane_panel(Context& context, const Measure& measure) {
    return std::make_unique<SquaredLanePanel>(context, measure);
}

}  // namespace provetree
