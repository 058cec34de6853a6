// Lanes for squared error of several outputs; see measures/squared_lanes.cpp for those of one.
#include <algorithm>
#include <cmath>
#include <vector>

#include "measures/squared_columns.hpp"
#include "measures/squared_sides.hpp"

namespace provetree {

namespace {

class OutputLanePanel final : public LanePanel {
  public:
    OutputLanePanel(Context& context, const Measure& measure)
        : context_(context), measure_(measure), outputs_(static_cast<std::size_t>(measure.width())),
          kernel_(choose_squared_kernel(context.kernel.name)), columns_(context), sides_(context, measure) {
        for (std::vector<double>& means : means_) means.resize(outputs_ * kLanes);
    }

    void start(const Node& node) override {
        take_rows(node);
        columns_.start(node, nullptr, 0);
    }

    // Lanes cost far more than what they share.
    unsigned lanes_at_once(const Node&) const override { return 16; }

    void evaluate(const Node& node, Index column, const Index* positions, int n, LaneUnits* results) override {
        SquaredLanes& lanes = sides_.start(0x1p-44 * absolute_);
        take_lanes(node, node.columns[column], positions, n);
        const OutputRows rows{codes_.data(), sums_.data(), steps_.data(), squares_.data(), node.counts.data()};
        const double weight = static_cast<double>(all_.numbers[0]), squares = static_cast<double>(all_.squares);
        const OutputLanes sides{&lanes,
                                {means_[0].data(), means_[1].data()},
                                {side_squares_[0], side_squares_[1]},
                                {leaf_[0], leaf_[1]},
                                0x1p-49 * squares * (64 + node.rows + std::sqrt(weight))};
        const auto sweep = [&](const SquaredColumn& along) {
            return kernel_.sweep_outputs(along, rows, measure_.width(), n, sides);
        };
        constexpr const SquaredColumns::NoCount* kUncounted = nullptr;
        columns_.sweep(node, sweep, [](Index) { return true; }, kUncounted);
        for (int lane = 0; lane < n; ++lane) results[lane] = {sides_.units(0, lane), sides_.units(1, lane)};
        const std::uint64_t work = std::uint64_t{node.rows} * (node.columns.size() + 1) * outputs_;
        context_.counters.row_steps += work;
        context_.monitor.work(work);
    }

  private:
    // Exact sums over the rows of a side: weight, then weighted targets.
    struct Sums {
        std::int64_t numbers[kMostOutputs + 1] = {}, count = 0;
        Wide squares = 0;
    };

    // Targets of the node around their means.
    void take_rows(const Node& node) {
        Sums sums;
        for (Index id : node.ids) {
            sums.numbers[0] += measure_.weight(id);
            for (std::size_t k = 0; k < outputs_; ++k)
                sums.numbers[k + 1] += measure_.targets(id)[k] * measure_.weight(id);
        }
        const std::size_t numbers = outputs_ + 1;
        codes_.resize(node.rows);
        sums_.resize(node.rows * numbers);
        steps_.resize(node.rows * numbers);
        squares_.resize(node.rows);
        exact_squares_.resize(node.rows);
        all_ = {};
        absolute_ = 0;
        for (Index row = 0; row < node.rows; ++row) {
            const Index id = node.ids[row];
            std::int64_t* const of = &sums_[row * numbers];
            const std::int64_t times = of[0] = measure_.weight(id);
            Wide squares = 0;
            for (std::size_t k = 0; k < outputs_; ++k) {
                const std::int64_t target =
                    measure_.targets(id)[k] - nearest_mean(sums.numbers[k + 1], sums.numbers[0]);
                of[k + 1] = target * times;
                squares += square_of(target) * static_cast<Wide>(times);
                absolute_ += std::abs(static_cast<double>(of[k + 1]));
            }
            for (std::size_t k = 0; k < numbers; ++k) {
                all_.numbers[k] += of[k];
                steps_[row * numbers + k] = static_cast<double>(of[k]);
            }
            exact_squares_[row] = squares;
            squares_[row] = static_cast<double>(squares);
            all_.squares += squares;
            all_.count += node.counts[row];
        }
    }

    void take_lanes(const Node& node, const NodeColumn& by, const Index* positions, int n) {
        const std::size_t numbers = outputs_ + 1;
        Sums left, right;
        Index at = 0;
        for (int lane = 0; lane < n; ++lane) {
            for (; at < positions[lane]; ++at) {
                const Index row = by.order[at] & entry::kRowMask;
                codes_[row] = static_cast<std::uint8_t>(lane);
                for (std::size_t k = 0; k < numbers; ++k) left.numbers[k] += sums_[row * numbers + k];
                left.squares += exact_squares_[row];
                left.count += node.counts[row];
            }
            for (std::size_t k = 0; k < numbers; ++k) right.numbers[k] = all_.numbers[k] - left.numbers[k];
            right.squares = all_.squares - left.squares;
            right.count = all_.count - left.count;
            take_side(0, lane, left);
            take_side(1, lane, right);
        }
        for (; at < node.rows; ++at) codes_[by.order[at] & entry::kRowMask] = kLanes;
        sides_.fill_up(n);
        for (int side = 0; side < 2; ++side)
            for (int lane = n; lane < kLanes; ++lane) {
                leaf_[side][lane] = leaf_[side][n - 1];
                side_squares_[side][lane] = side_squares_[side][n - 1];
                for (std::size_t k = 0; k < outputs_; ++k) mean(side, k, lane) = mean(side, k, n - 1);
            }
    }

    void take_side(int side, int lane, const Sums& sums) {
        const double weight = static_cast<double>(sums.numbers[0]);
        double squares = static_cast<double>(sums.squares);
        side_squares_[side][lane] = squares;
        for (std::size_t k = 0; k < outputs_; ++k) {
            const double sum = static_cast<double>(sums.numbers[k + 1]);
            mean(side, k, lane) = sum / weight;
            squares -= sum * sum / weight;
        }
        leaf_[side][lane] = squares;
        sides_.take(side, lane, weight, squares, sums.count);
    }
    double& mean(int side, std::size_t output, int lane) {
        return means_[side][output * kLanes + static_cast<std::size_t>(lane)];
    }

    Context& context_;
    const Measure& measure_;
    const std::size_t outputs_;
    const SquaredKernel& kernel_;
    SquaredColumns columns_;
    SquaredSides sides_;
    double absolute_ = 0;  // the sum of |weight x target|
    Sums all_;
    std::vector<std::uint8_t> codes_;
    std::vector<std::int64_t> sums_;  // of each row: weight, then weighted targets
    std::vector<double> steps_, squares_;
    std::vector<Wide> exact_squares_;
    std::vector<double> means_[2];
    double leaf_[2][kLanes], side_squares_[2][kLanes];
};

}  // namespace

std::unique_ptr<LanePanel> output_lane_panel(Context& context, const Measure& measure) {
    return std::make_unique<OutputLanePanel>(context, measure);
}

}  // namespace provetree
