// Lanes for squared error of one output, Gini of two classes among them: the buckets of kernels/squared_kernel.hpp.
//
// Totals of the lanes are exact whole numbers. Costs are worked out in doubles from targets around the node's mean,
// which is exact to a small part of a unit, and rounded up once for each side.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "measures/squared_columns.hpp"
#include "measures/squared_sides.hpp"
#include "measures/squared_survey.hpp"

namespace provetree {

namespace {

// On so few rows a vector of lanes costs more than the walk that all lanes share.
constexpr Index kFewRows = 400;
// Sums of squares below this fit in 64 bits.
constexpr double kMostSquares = 0x1p62;

class SquaredLanePanel final : public LanePanel {
  public:
    SquaredLanePanel(Context& context, const Measure& measure)
        : context_(context), measure_(measure), kernel_(choose_squared_kernel(context.kernel.name)), columns_(context),
          sides_(context, measure), survey_(context, measure) {}

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
        if (rows_.empty()) list_rows(node);
        return survey_.look(node, wanted, rows_.data(), targets_.data());
    }

    void evaluate(const Node& node, Index column, const Index* positions, int n, LaneUnits* results) override {
        SquaredLanes& lanes = sides_.start(0x1p-44 * absolute_);
        take_lanes(node, node.columns[column], positions, n);
        const SquaredRows rows{codes_.data(), rows_.data(),    packed_.empty() ? nullptr : packed_.data(),
                               shift_,        targets_.data(), node.counts.data()};
        const auto sweep = context_.constrained() ? kernel_.sweep_sized : kernel_.sweep;
        if (survey_.looked()) survey_.take_lanes(column, positions, n);
        std::size_t swept = 0;
        const auto sweep_column = [&](const SquaredColumn& along) {
            ++swept;
            return sweep(along, rows, n, lanes);
        };
        const auto count = [&](const SquaredCount& one, const SquaredCount& other) {
            kernel_.count(one, other, rows, node.rows, n);
        };
        const bool counts = rows.packed && !context_.constrained();
        columns_.sweep(node, sweep_column, [&](Index c) { return can_win(c, n); }, counts ? &count : nullptr);
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
        std::int64_t weight = 0, sum = 0, lowest = INT64_MAX, highest = 0;
        for (Index id : node.ids) {
            const std::int64_t target = measure_.targets(id)[0];
            weight += measure_.weight(id);
            sum += target * measure_.weight(id);
            lowest = std::min(lowest, target);
            highest = std::max(highest, target);
        }
        centre_ = nearest_mean(sum, weight);
        const double farthest = static_cast<double>(std::max(centre_ - lowest, highest - centre_));
        small_ = farthest * farthest * static_cast<double>(weight) < kMostSquares;
        codes_.resize(node.rows);
        targets_.resize(node.rows);
        squares_.resize(small_ ? 0 : node.rows);
        all_ = {};
        absolute_ = 0;
        for (Index row = 0; row < node.rows; ++row) {
            const Index id = node.ids[row];
            const std::int64_t target = measure_.targets(id)[0] - centre_, times = measure_.weight(id);
            targets_[row] = {static_cast<double>(times), static_cast<double>(target)};
            if (!small_) all_.squares += squares_[row] = square_of(target) * static_cast<Wide>(times);
            all_.weight += times;
            all_.sum += target * times;
            if (context_.constrained()) all_.count += node.counts[row];
            absolute_ += std::abs(targets_[row].target) * targets_[row].weight;
        }
        largest_sum_ = absolute_ + farthest * static_cast<double>(all_.weight);
        pack_rows(node);
        if (small_) {
            std::int64_t squares = 0;
            for (Index row = 0; row < node.rows; ++row) squares += small_square(row);
            all_.squares = static_cast<Wide>(squares);
        }
        in_one_ = small_ && !packed_.empty() && all_.weight == static_cast<std::int64_t>(node.rows);
        rows_.clear();
        if (!in_one_) list_rows(node);
    }

    // Of targets that doubles hold without rounding: small ones, and those that are packed.
    SquaredRow row_of(Index row) const {
        const std::int64_t weight = static_cast<std::int64_t>(targets_[row].weight);
        return {weight, weight * static_cast<std::int64_t>(targets_[row].target)};
    }
    void list_rows(const Node& node) {
        rows_.resize(node.rows);
        for (Index row = 0; row < node.rows; ++row) {
            const std::int64_t times = measure_.weight(node.ids[row]);
            rows_[row] = {times, (measure_.targets(node.ids[row])[0] - centre_) * times};
        }
    }

    // Weight and sum in one number, where there is room for the sums of all rows.
    void pack_rows(const Node& node) {
        shift_ = std::ilogb(absolute_ + 1) + 3;
        const bool fits = shift_ <= kMostShift && std::ilogb(static_cast<double>(all_.weight)) + shift_ < kPackedBits;
        packed_.resize(fits ? node.rows : 0);
        for (Index row = 0; row < packed_.size(); ++row) {
            const SquaredRow of = row_of(row);
            packed_[row] = of.weight * (std::int64_t{1} << shift_) + of.sum;
        }
    }

    // Weight times square where the squares of all rows fit in 64 bits.
    std::int64_t small_square(Index row) const {
        return row_of(row).sum * static_cast<std::int64_t>(targets_[row].target);
    }

    void take_lanes(const Node& node, const NodeColumn& by, const Index* positions, int n) {
        Sums left;
        Index at = 0;
        for (int lane = 0; lane < n; ++lane) {
            const Index begin = std::exchange(at, positions[lane]);
            const std::uint8_t code = static_cast<std::uint8_t>(lane);
            if (in_one_)
                add_packed(by, begin, at, code, left);
            else
                add_rows(by, begin, at, code, left);
            for (Index i = begin; context_.constrained() && i < at; ++i)
                left.count += node.counts[by.order[i] & entry::kRowMask];
            const Sums right{all_.weight - left.weight, all_.sum - left.sum, all_.count - left.count,
                             all_.squares - left.squares};
            take_side(0, lane, left);
            take_side(1, lane, right);
        }
        for (; at < node.rows; ++at) codes_[by.order[at] & entry::kRowMask] = kLanes;
        sides_.fill_up(n);
    }

    void add_rows(const NodeColumn& by, Index begin, Index end, std::uint8_t code, Sums& sums) {
        std::int64_t squares = 0;
        for (Index i = begin; i < end; ++i) {
            const Index row = by.order[i] & entry::kRowMask;
            codes_[row] = code;
            sums.weight += rows_[row].weight;
            sums.sum += rows_[row].sum;
            if (small_)
                squares += small_square(row);
            else
                sums.squares += squares_[row];
        }
        sums.squares += static_cast<Wide>(squares);
    }
    // The same for rows of weight one: a packed number is 2^shift and the target.
    void add_packed(const NodeColumn& by, Index begin, Index end, std::uint8_t code, Sums& sums) {
        const std::int64_t one = std::int64_t{1} << shift_;
        std::int64_t sum = 0, squares = 0;
        std::uint8_t* const codes = codes_.data();
        const std::int64_t* const packed = packed_.data();
        for (Index i = begin; i < end; ++i) {
            const Index row = by.order[i] & entry::kRowMask;
            codes[row] = code;
            const std::int64_t target = packed[row] - one;
            sum += target;
            squares += target * target;
        }
        sums.weight += end - begin;
        sums.sum += sum;
        sums.squares += static_cast<Wide>(squares);
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
    std::int64_t centre_ = 0;
    bool small_ = false;      // the sum of the squares fits in 64 bits
    bool in_one_ = false;     // packed numbers tell all there is to rows of weight one
    double absolute_ = 0;     // the sum of |weight x target|
    double largest_sum_ = 0;  // what the sums of a bound stay below
    Sums all_;
    std::vector<SquaredRow> rows_;  // empty where nobody needs them
    std::vector<SquaredTarget> targets_;
    std::vector<std::int64_t> packed_;  // empty where they do not fit; see SquaredRows
    int shift_ = 0;
    std::vector<Wide> squares_;  // weight times square; empty where small_
    std::vector<std::uint8_t> codes_;
};

}  // namespace

std::unique_ptr<LanePanel> squared_lane_panel(Context& context, const Measure& measure) {
    return std::make_unique<SquaredLanePanel>(context, measure);
}

}  // namespace provetree
