// Lanes for squared error of one output, Gini of two classes among them: the buckets of kernels/squared_kernel.hpp.
//
// Totals of the lanes are exact whole numbers. Costs are worked out in doubles from targets around the node's mean,
// which is exact to a small part of a unit, and rounded up once for each side.
#include <algorithm>
#include <cmath>
#include <vector>

#include "measures/squared_columns.hpp"
#include "measures/squared_sides.hpp"
#include "measures/squared_survey.hpp"

namespace provetree {

namespace {

// On so few rows a vector of lanes costs more than the walk that all lanes share.
constexpr Index kFewRows = 400;

class SquaredLanePanel final : public LanePanel {
  public:
    SquaredLanePanel(Context& context, const Measure& measure)
        : context_(context), measure_(measure), kernel_(choose_squared_kernel(context.kernel.name)), columns_(context),
          sides_(context, measure), survey_(context, measure),
          unit_(measure.total_weight() == static_cast<Weight>(measure.rows())) {}

    void start(const Node& node) override {
        take_rows(node);
        survey_.start();
        columns_.start(node, targets_.data(), largest_sum_);
    }

    unsigned lanes_at_once(const Node& node) const override {
        return node.rows < kFewRows ? 8 : std::clamp<unsigned>(node.rows / 1024 * 16, 16, kLanes);
    }

    bool survey_pays(const Node& node, std::size_t open_columns, bool) override {
        return survey_.pays(node, open_columns);
    }
    const std::vector<std::vector<MeasuredPoint>>* survey(const Node& node,
                                                          const std::vector<std::uint8_t>& wanted) override {
        return survey_.look(node, wanted, rows_.data(), targets_.data());
    }

    void evaluate(const Node& node, Index column, const Index* positions, int n, LaneUnits* results) override {
        SquaredLanes& lanes = sides_.start(0x1p-44 * absolute_);
        take_lanes(node, node.columns[column], positions, n);
        const SquaredRows rows{codes_.data(), rows_.data(), targets_.data(), node.counts.data()};
        const auto sweep = context_.constrained() ? kernel_.sweep_sized : kernel_.sweep;
        if (survey_.looked()) survey_.take_lanes(column, positions, n);
        std::size_t swept = 0;
        const auto sweep_column = [&](const SquaredColumn& along) {
            ++swept;
            return sweep(along, rows, n, lanes);
        };
        columns_.sweep(node, sweep_column, [&](Index c) { return can_win(c, n); });
        for (int lane = 0; lane < n; ++lane) results[lane] = {sides_.units(0, lane), sides_.units(1, lane)};
        const std::uint64_t work = std::uint64_t{node.rows} * (swept + 1);
        context_.counters.row_steps += work;
        context_.monitor.work(work);
    }

  private:
    // Exact sums over the rows of a side.
    struct Sums {
        std::int64_t weight = 0, sum = 0, count = 0;  // counts only under a minimum leaf size
        Wide squares = 0;
    };

    // Whether a survey leaves a better stump on a column possible for any lane.
    bool can_win(Index column, int n) const {
        if (!survey_.looked()) return true;
        const std::size_t family = survey_.family_of(column);
        for (int side = 0; side < 2; ++side)
            for (int lane = 0; lane < n; ++lane)
                if (survey_.stump_bound(family, side, lane) < sides_.cost_so_far(side, lane)) return true;
        return false;
    }

    // Targets of the node around their mean.
    void take_rows(const Node& node) {
        std::int64_t weight = 0, sum = 0;
        for (Index id : node.ids) {
            weight += measure_.weight(id);
            sum += measure_.targets(id)[0] * measure_.weight(id);
        }
        const std::int64_t centre = nearest_mean(sum, weight);
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
        sides_.fill_up(n);
    }

    void take_side(int side, int lane, const Sums& sums) {
        const double weight = static_cast<double>(sums.weight), sum = static_cast<double>(sums.sum);
        sides_.lanes.mean[side][lane] = sum / weight;
        sides_.take(side, lane, weight, static_cast<double>(sums.squares) - sum * sum / weight, sums.count);
    }

    Context& context_;
    const Measure& measure_;
    const SquaredKernel& kernel_;
    SquaredColumns columns_;
    SquaredSides sides_;
    SquaredSurvey survey_;
    const bool unit_;         // all weights are one
    double absolute_ = 0;     // the sum of |weight x target|
    double largest_sum_ = 0;  // what the sums of a bound stay below
    Sums all_;
    std::vector<SquaredRow> rows_;
    std::vector<SquaredTarget> targets_;
    std::vector<Wide> squares_;  // weight times square; empty where all weights are one
    std::vector<std::uint8_t> codes_;
};

}  // namespace

std::unique_ptr<LanePanel> squared_lane_panel(Context& context, const Measure& measure) {
    return std::make_unique<SquaredLanePanel>(context, measure);
}

}  // namespace provetree
