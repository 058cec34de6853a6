// Lanes of losses of class weights: many-class Gini, entropy, pessimistic errors; see kernels/class_kernel.hpp.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "measures/class_columns.hpp"
#include "measures/lanes.hpp"

namespace provetree {

namespace {

// Estimates of a leaf are wrong by less than its weight times this, and so much more for each class
// (kernels/class_costs_impl.hpp); rounding up moves a stump by less than so many units.
constexpr double kWrong = 1e-5, kWrongPerClass = 5e-7, kRoundedUnits = 4;
// Numbers that a chunk of blocks may take, and cells of some of them.
constexpr std::size_t kChunkRoom = std::size_t{1} << 15, kCellRoom = std::size_t{1} << 13;

// Parabolas a p - b p^2 that are nowhere above the entropy h(p) = -p ln p - (1 - p) ln(1 - p) of shares 0 < p <= 1/2,
// each of them touching it in the middle t of one of as many equal parts.
//
// Proof. h(p) / p has the slope s(p) = ln(1 - p) / p^2, so that b = -s(t) and a = h(t) / t + b t make a - b p its
// tangent at t. That is not above it, as h(p) / p is convex: p^3 s'(p) = -2 ln(1 - p) - p / (1 - p) is 0 at 0 and has
// the slope (1 - 2 p) / (1 - p)^2 >= 0.
std::vector<float> entropy_parabolas() {
    std::vector<float> numbers(2 * kParabolas);
    for (int i = 0; i < kParabolas; ++i) {
        const double t = (i + 0.5) / (2 * kParabolas), rest = std::log1p(-t), b = -rest / (t * t);
        numbers[static_cast<std::size_t>(i)] = static_cast<float>(-std::log(t) - (1 - t) / t * rest + b * t);
        numbers[static_cast<std::size_t>(kParabolas + i)] = static_cast<float>(b);
    }
    return numbers;
}

class ClassLanePanel final : public LanePanel {
  public:
    ClassLanePanel(Context& context, const Measure& measure)
        : context_(context), measure_(measure), kernel_(choose_class_kernel(context.kernel.name)), columns_(context),
          numbers_(static_cast<std::size_t>(measure.classes()), 0),
          by_class_(static_cast<std::size_t>(measure.classes()), 0), parabolas_(entropy_parabolas()) {
        lanes_.parabolas = parabolas_.data();
        lanes_.unit = measure.unit();
        lanes_.measure = this;
        lanes_.units = [](void* panel, const std::int32_t* by_class) {
            return static_cast<ClassLanePanel*>(panel)->units(by_class);
        };
    }

    void start(const Node& node) override {
        number_classes(node);
        columns_.start(node, unit_weights_ ? nullptr : weights_.data(), lanes_.classes);
    }

    // Lanes cost more than the walk that they share, until columns get long.
    unsigned lanes_at_once(const Node& node) const override { return std::clamp<unsigned>(node.rows / 256, 16, 32); }

    void evaluate(const Node& node, Index column, const Index* positions, int n, LaneUnits* results) override {
        place_lanes(node, node.columns[column], positions, n);
        columns_.sweep(node, looks(), kernel_, lanes_);
        settle_held();
        for (int lane = 0; lane < n; ++lane) results[lane] = {result(lane, 0), result(lane, 1)};
        const std::uint64_t work = std::uint64_t{node.rows} * node.columns.size();
        context_.counters.row_steps += work;
        context_.monitor.work(work);
    }

  private:
    // Numbers for the classes that the node has, in their order.
    void number_classes(const Node& node) {
        std::fill(numbers_.begin(), numbers_.end(), 0);
        for (Index row = 0; row < node.rows; ++row) numbers_[class_of(node, row)] = 1;
        classes_.clear();
        for (std::size_t c = 0; c < numbers_.size(); ++c) {
            if (!numbers_[c]) continue;
            numbers_[c] = static_cast<Slot>(classes_.size());
            classes_.push_back(c);
        }
        lanes_.classes = static_cast<int>(classes_.size());
        slots_.resize(node.rows);
        weights_.resize(node.rows);
        unit_weights_ = true;
        for (Index row = 0; row < node.rows; ++row) {
            slots_[row] = static_cast<Slot>(numbers_[class_of(node, row)] << kSlotShift);
            weights_[row] = measure_.weight(node.ids[row]);
            unit_weights_ &= weights_[row] == 1;
        }
        make_room();
        if (measure_.kind() == MeasureKind::kEntropy) make_table();
    }

    void make_room() {
        const std::size_t classes = classes_.size(), lanes = classes * kLanes;
        const std::size_t blocks = std::clamp<std::size_t>(kChunkRoom / lanes, 1, kMostChunkBlocks);
        lanes_.chunk_blocks = static_cast<int>(blocks);
        const std::size_t cell_blocks = std::clamp<std::size_t>(kCellRoom / (classes * kSlotStride), 1, blocks);
        lanes_.cell_blocks = static_cast<int>(cell_blocks);
        room_.resize(cell_blocks * classes * kSlotStride + (blocks + 3) * lanes + (blocks + 3) * classes);
        std::int32_t* at = room_.data();
        const auto take = [&](std::size_t n) { return std::exchange(at, at + n); };
        lanes_.cells = take(cell_blocks * classes * kSlotStride);
        lanes_.chunk.left = take((blocks + 1) * lanes);
        whole_[0] = take(lanes);
        whole_[1] = take(lanes);
        lanes_.chunk.all = take((blocks + 1) * classes);
        lanes_.left_leaf = take(classes);
        lanes_.right_leaf = take(classes);
        costs_.resize(std::max(costs_.size(), blocks + 1));
        counts_.resize(std::max(counts_.size(), blocks + 1));
        lanes_.chunk.costs = costs_.data();
        lanes_.chunk.counts = counts_.data();
    }

    // Numbers are around half the node's weight, where x ln x of its larger parts is small.
    void make_table() {
        const std::vector<double>& logs = measure_.logs();
        const std::size_t size =
            static_cast<std::size_t>(std::accumulate(weights_.begin(), weights_.end(), std::int64_t{0}) + 1);
        const double centre = std::log(static_cast<double>(size) / 2);
        lanes_.centre = static_cast<float>(centre);
        lanes_.xlogx = nullptr;
        if (size > logs.size()) return;
        xlogx_.resize(size);
        for (std::size_t x = 0; x < size; ++x)
            xlogx_[x] = static_cast<float>(static_cast<double>(x) * (logs[x] - centre));
        lanes_.xlogx = xlogx_.data();
    }

    std::size_t class_of(const Node& node, Index row) const {
        return static_cast<std::size_t>(measure_.class_of(node.ids[row]));
    }

    void place_lanes(const Node& node, const NodeColumn& by, const Index* positions, int n) {
        lanes_.lanes = n;
        lanes_.all_blocks = context_.off(kNoBlocks);
        lanes_.slots = slots_.data();
        lanes_.weights = unit_weights_ ? nullptr : weights_.data();
        lanes_.counts = context_.constrained() ? node.counts.data() : nullptr;
        lanes_.min_leaf = context_.min_leaf;
        std::vector<std::int32_t>& sums = by_dense_class_;
        sums.assign(classes_.size(), 0);
        std::int64_t count = 0;
        Index at = 0;
        const auto pass = [&](Index end, int code) {
            for (; at < end; ++at) {
                const Index row = by.order[at] & entry::kRowMask;
                Slot& slot = slots_[row];
                slot = static_cast<Slot>((slot >> kSlotShift << kSlotShift) | code);
                sums[slot >> kSlotShift] += weights_[row];
                count += node.counts[row];
            }
        };
        for (int lane = 0; lane < n; ++lane) {
            pass(positions[lane], lane);
            for (std::size_t c = 0; c < sums.size(); ++c) whole_[0][c * kLanes + static_cast<unsigned>(lane)] = sums[c];
            lanes_.count[0][lane] = count;
        }
        pass(node.rows, kLanes);
        for (int lane = 0; lane < n; ++lane) {
            for (std::size_t c = 0; c < sums.size(); ++c) {
                const std::size_t i = c * kLanes + static_cast<unsigned>(lane);
                whole_[1][i] = sums[c] - whole_[0][i];
            }
            lanes_.count[1][lane] = count - lanes_.count[0][lane];
        }
        for (int side = 0; side < 2; ++side)
            for (std::size_t c = 0; c < sums.size(); ++c)
                std::fill(whole_[side] + c * kLanes + n, whole_[side] + (c + 1) * kLanes,
                          whole_[side][c * kLanes + static_cast<unsigned>(n) - 1]);
        start_lanes();
    }

    // Each side as a leaf.
    void start_lanes() {
        for (int side = 0; side < 2; ++side) {
            lanes_.whole[side] = whole_[side];
            for (int lane = 0; lane < kLanes; ++lane) {
                lanes_.below[side][lane] = lanes_.feasible_below[side][lane] = -1;
                lanes_.held[side][lane] = kNoEstimate;
                if (lane >= lanes_.lanes) continue;
                Weight weight = 0;
                for (std::size_t c = 0; c < classes_.size(); ++c)
                    weight += lanes_.left_leaf[c] = whole_[side][c * kLanes + static_cast<unsigned>(lane)];
                const Cost leaf = units(lanes_.left_leaf);
                const double allowance =
                    (kWrong + kWrongPerClass * lanes_.classes) * weight + kRoundedUnits * lanes_.unit;
                leaf_[side][lane] = lanes_.best[side][lane] = lanes_.feasible[side][lane] = leaf;
                lanes_.allowance[side][lane] = static_cast<float>(allowance);
                if (!leaf) continue;
                lanes_.below[side][lane] = lanes_.feasible_below[side][lane] =
                    static_cast<float>(static_cast<double>(leaf) * lanes_.unit + allowance);
            }
        }
    }

    const ClassLooks& looks() const {
        if (measure_.kind() == MeasureKind::kSquared) return kernel_.gini;
        return measure_.kind() == MeasureKind::kEntropy ? kernel_.entropy : kernel_.pessimistic;
    }

    // The splits that are still estimates.
    void settle_held() {
        for (int side = 0; side < 2; ++side)
            for (int lane = 0; lane < lanes_.lanes; ++lane) {
                if (lanes_.held[side][lane] >= kNoEstimate) continue;
                const ClassLanes::TwoClasses of = lanes_.held_left[side][lane];
                const std::int32_t* const whole = whole_[side] + lane;
                const std::int32_t left[2] = {of.zeros, of.ones},
                                   right[2] = {whole[0] - of.zeros, whole[kLanes] - of.ones};
                lanes_.best[side][lane] = std::min(lanes_.best[side][lane], units(left) + units(right));
            }
        if (context_.constrained()) return;
        for (int side = 0; side < 2; ++side) std::copy_n(lanes_.best[side], lanes_.lanes, lanes_.feasible[side]);
    }

    SideUnits result(int lane, int side) const {
        const Cost leaf = leaf_[side][lane], feasible = lanes_.feasible[side][lane];
        return {leaf, lanes_.best[side][lane], feasible < leaf ? feasible : kInfinite,
                lanes_.count[side][lane] >= context_.min_leaf};
    }

    // Of a leaf of these weights of the node's classes.
    Cost units(const std::int32_t* by_class) {
        Weight weight = 0;
        Wide squares = 0;
        for (std::size_t c = 0; c < classes_.size(); ++c) {
            weight += by_class[c];
            squares += square_of(by_class[c]);
            by_class_[classes_[c]] = by_class[c];
        }
        if (measure_.kind() == MeasureKind::kSquared)
            return measure_.squared(weight, static_cast<Wide>(weight), squares);
        const Cost units = measure_.of_class_weights(by_class_.data(), weight);
        for (std::size_t c : classes_) by_class_[c] = 0;
        return units;
    }

    Context& context_;
    const Measure& measure_;
    const ClassKernel& kernel_;
    ClassColumns columns_;
    ClassLanes lanes_;
    Cost leaf_[2][kLanes];
    bool unit_weights_ = true;
    std::vector<Slot> numbers_;         // of each class among those of the node
    std::vector<std::size_t> classes_;  // of the node
    std::vector<Weight> by_class_, by_dense_class_;
    std::vector<Slot> slots_;
    std::vector<std::int32_t> weights_, room_;
    std::vector<float> xlogx_, parabolas_;
    std::int32_t* whole_[2] = {};
    LineVector<ClassCosts> costs_;  // of a chunk of blocks
    RawVector<ClassCounts> counts_;
};

}  // namespace

std::unique_ptr<LanePanel> class_lane_panel(Context& context, const Measure& measure) {
    return std::make_unique<ClassLanePanel>(context, measure);
}

}  // namespace provetree
