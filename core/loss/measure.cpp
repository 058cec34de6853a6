// Losses other than errors; see loss/measure.hpp.
#include "loss/measure.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace provetree {

namespace {

// Sums of squares of targets of so many bits, times a weight of 30 bits, fit in 128 bits twice over.
constexpr int kMostTargetBits = 46, kMostSumBits = 61;
// Slack may exceed the cost of one leaf by so many bits.
constexpr int kSlackBits = 9;
// The sweeps compute with numbers of 53 bits: a unit is more than what they lose of the largest number they meet.
constexpr int kRoundingBits = 51;
// Costs of actions are rounded row by row, so that their units are smaller.
constexpr int kBitsPerRow = 4;
// Of the dearest cost of all rows, where one action is the best for every row: only to tell which one.
constexpr int kBitsWhereNothingIsPaid = 58;
// Reach is rounded up by so many units more than it is: rounding up the cost of each leaf of a tree stays below that.
constexpr double kRoundingUnits = 1024;
constexpr double kMostReach = 0x1p29;
constexpr int kDecimals = 6;
constexpr std::size_t kLargestTable = std::size_t{1} << 20;
// Sums of squares below this fit in 64 bits.
constexpr double kMostSmallSquares = 0x1p62;

struct Outputs {
    double lowest, highest;
};

}  // namespace

// With W the weight, e the errors, m = e + 1/2 and z the quantile, a leaf costs
//     c(W, e) = W / (W + z^2) A(W, e),  A(W, e) = m + z^2/2 + z sqrt(m - m^2/W + z^2/4),  and  c(W, 0) = W (1 -
//     4^(-1/W)).
// Weights are whole numbers, so that errors between 0 and 1 do not occur, nor e + 1/2 >= W: a leaf has a largest class.
//
// More rows never cost less. Rows that join a leaf raise W, and do not lower e: the largest class grows by at most what
// joins it, and another one that overtakes it was no larger before. And c rises in W: both factors do, and with t =
// ln 4 / W, c(W, 0) has the slope 1 - e^-t (1 + t) >= 0. It rises in e: the slope of A is 1 + z (1 - 2m/W) / (2
// sqrt(..)), which is positive, as sqrt(..) > 0.77 where 2m > W + 1, and c(W, 0) < ln 4 < 1.79 = c(2, 1) <= c(W, 1).
//
// Rows of weight w cost at most 1.5 w more. Along W and e together, at e >= 1, the slope of c is at most W / (W + z^2)
// (1 + z (1 - q)^2 / (2 sqrt(m (1 - q) + z^2/4))) + z^2 / (W + z^2) c / W with q = m / W, and both parts are weights
// times numbers below 1.27 and 1. From e = 0 to d > 0: c(W + w, d) <= c(W + w - d + 1, 1) + 1.27 (d - 1), and c(W + 1,
// 1) - c(W, 0) < 1.24 while c(W + 2, 1) - c(W, 0) < 2.6 - 0.75 < 3. From nothing: c(w, 0) <= 0.75 w.
double added_errors(double weight, double errors) {
    constexpr double z = 0.6744897501960817, square = z * z, confidence = 0.25;
    if (weight <= 0) return 0;
    const auto none = [&] { return -weight * std::expm1(std::log(confidence) / weight); };
    if (errors < 1e-6) return none();
    if (errors < 0.9999) return none() + errors * (added_errors(weight, 1.0) - none());
    if (errors + 0.5 >= weight) return 0.67 * (weight - errors);
    const double more = errors + 0.5;
    // weight * rate - errors, in a form that does not take large numbers from each other.
    const double spread = std::sqrt(square * (more * (1 - more / weight) + square / 4));
    return (weight * (0.5 + square / 2 + spread) - errors * square) / (weight + square);
}

Measure::Measure(const MeasureInput& input) : name_(input.loss), n_classes_(input.n_classes) {
    weights_.resize(input.rows);
    for (Index i = 0; i < input.rows; ++i) weights_[i] = static_cast<Weight>(input.weights[i]);
    total_weight_ = std::accumulate(weights_.begin(), weights_.end(), Weight{0});
    classes_.assign(input.classes, input.classes + input.rows);
    of_classes_ = name_ == "gini" || name_ == "entropy" || name_ == "pessimistic";
    const bool known = of_classes_ || name_ == "squared_error" || name_ == "absolute_error" || name_ == "linear";
    if (!known) throw std::invalid_argument("A table does not know the loss '" + name_ + "'.");
    if (of_classes_ != (input.targets == nullptr) || (!of_classes_ && input.width < 1))
        throw std::invalid_argument("A table of the loss '" + name_ +
                                    (of_classes_ ? "' takes classes, not targets." : "' needs targets."));
    if (of_classes_)
        take_classes(input);
    else if (name_ == "linear")
        take_costs(input);
    else
        take_outputs(input);
}

// ---- units ----

// The unit is so small that the cost of all rows in one leaf has `cost_bits`, and so large that neither slack can
// overflow nor rounding matter beside it. `reach`: what each row can add at most, in the user's cost. No rows add more
// to a tree than all of them cost in one leaf, for any tree can be that leaf: so no reach has to exceed that.
void Measure::set_unit(double root_cost, std::vector<double>& reach, double largest, int cost_bits, int more_bits) {
    double total = 0;
    for (double& one : reach) total += one = std::min(one, root_cost * (1 + 1e-9));
    unit_ = std::max({std::ldexp(root_cost, -(cost_bits + more_bits)), std::ldexp(total, -(cost_bits + kSlackBits)),
                      std::ldexp(largest, -kRoundingBits)});
    if (!(unit_ > 0)) unit_ = 1;
}

void Measure::set_reach(const std::vector<double>& most) {
    double total = 0;
    for (double one : most) total += one / unit_;
    units_per_reach_ = std::max<Cost>(1, static_cast<Cost>(std::ceil(total / kMostReach)));
    const double per = static_cast<double>(units_per_reach_), more = exact_ ? 0 : kRoundingUnits;
    reach_.resize(most.size());
    for (std::size_t i = 0; i < most.size(); ++i)
        reach_[i] = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil((most[i] / unit_ + more) / per)));
}

Cost Measure::rounded_up(double cost) const { return static_cast<Cost>(std::ceil(std::max(0.0, cost / unit_))); }

// ---- classes ----

void Measure::take_classes(const MeasureInput& input) {
    std::vector<Weight> by_class(static_cast<std::size_t>(n_classes_), 0);
    for (Index i = 0; i < input.rows; ++i) by_class[static_cast<std::size_t>(classes_[i])] += weights_[i];
    const double total = total_weight_;
    double root = 0, per_weight = 0, largest = total;
    if (name_ == "gini") {
        // W (1 - sum of squared shares) is the squared error of the class indicators; of two classes, twice that of
        // one of them. A row adds at most its squared distance from the shares of its leaf: 2.
        kind_ = MeasureKind::kSquared;
        width_ = n_classes_ <= 2 ? 1 : n_classes_;
        small_ = width_ == 1;
        double squares = 0;
        for (Weight one : by_class) squares += static_cast<double>(one) * one;
        root = total - squares / total;
        per_weight = 2;
        targets_.assign(std::size_t{input.rows} * static_cast<unsigned>(width_), 0);
        for (Index i = 0; i < input.rows; ++i) {
            if (width_ == 1)
                targets_[i] = classes_[i];
            else
                targets_[std::size_t{i} * static_cast<unsigned>(width_) + static_cast<unsigned>(classes_[i])] = 1;
        }
    } else {
        width_ = n_classes_;
        kind_ = name_ == "entropy" ? MeasureKind::kEntropy : MeasureKind::kPessimistic;
        if (kind_ == MeasureKind::kEntropy) {
            const std::size_t n = std::min<std::size_t>(kLargestTable, static_cast<std::size_t>(total_weight_) + 1);
            logs_.resize(n);
            for (std::size_t i = 1; i < n; ++i) logs_[i] = std::log(static_cast<double>(i));
            root = entropy(by_class.data(), total_weight_);
            // The sum over classes of x ln x does not fall, and W ln W rises by at most ln W + 1 for each unit.
            per_weight = std::log(total) + 1;
            largest = root;
        } else {
            const double errors = total - *std::max_element(by_class.begin(), by_class.end());
            root = errors + added_errors(total, errors);
            largest = root;
            per_weight = 1.5;  // checked in tests: no unit of weight adds more than 1.24
        }
    }
    std::vector<double> reach(input.rows);
    for (Index i = 0; i < input.rows; ++i) reach[i] = per_weight * weights_[i];
    set_unit(root, reach, largest, input.cost_bits);
    units_per_square_ = (width_ == 1 ? 2 : 1) / unit_;
    set_reach(reach);
}

Cost Measure::of_class_weights(const Weight* by_class, Weight weight) const {
    if (kind_ == MeasureKind::kEntropy) return rounded_up(entropy(by_class, weight));
    const double errors = weight - *std::max_element(by_class, by_class + n_classes_);
    return rounded_up(errors + added_errors(weight, errors));
}

// The sum of x ln(W / x) over the classes, whose terms are never negative, so that nothing cancels. A class of less
// than half the weight has ln W - ln x > 0.69, of logarithms below 21: it is right to 62 roundings of 2^-53. A larger
// one is taken by what it lacks. With fewer than 400 classes that is less than a unit, which is 2^-44 of the root's
// cost, and no leaf costs more than the root.
double Measure::entropy(const Weight* by_class, Weight weight) const {
    const auto log = [&](Weight x) {
        const auto at = static_cast<std::size_t>(x);
        return at < logs_.size() ? logs_[at] : std::log(static_cast<double>(x));
    };
    double cost = 0;
    for (int c = 0; c < n_classes_; ++c) {
        const Weight x = by_class[c];
        if (x == 0 || x == weight) continue;
        cost += x < weight - x ? x * (log(weight) - log(x)) : x * std::log1p(static_cast<double>(weight - x) / x);
    }
    return cost;
}

// ---- outputs ----

// Steps for one unit of the user's targets: a power of ten that makes all distances whole but for rounding, or as many
// as fit.
double Measure::steps_of(const std::vector<double>& distances, double widest, double most) {
    double scale = 1;
    for (int k = 0; k <= kDecimals && widest * scale <= most; ++k, scale *= 10) {
        const double nothing = 1e-12 * widest * scale;
        if (std::all_of(distances.begin(), distances.end(),
                        [&](double one) { return std::abs(one * scale - std::nearbyint(one * scale)) <= nothing; }))
            return scale;
    }
    return widest > 0 ? most / widest : 1;
}

void Measure::take_outputs(const MeasureInput& input) {
    kind_ = name_ == "squared_error" ? MeasureKind::kSquared : MeasureKind::kAbsolute;
    width_ = input.width;
    const std::size_t width = static_cast<std::size_t>(width_), cells = input.rows * width;
    std::vector<Outputs> range(width, {INFINITY, -INFINITY});
    for (std::size_t i = 0; i < cells; ++i) {
        if (!std::isfinite(input.targets[i])) throw std::invalid_argument("A table needs targets that are finite.");
        Outputs& of = range[i % width];
        of.lowest = std::min(of.lowest, input.targets[i]);
        of.highest = std::max(of.highest, input.targets[i]);
    }
    double widest = 0;
    for (const Outputs& of : range) widest = std::max(widest, of.highest - of.lowest);
    const int weight_bits = static_cast<int>(std::ceil(std::log2(static_cast<double>(total_weight_) + 1)));
    const double most = std::ldexp(1, std::min(kMostTargetBits, kMostSumBits - weight_bits));
    // From the lowest target of each output: differences of neighbouring numbers are exact, so a large offset is lost
    // without a trace.
    std::vector<double> distances(cells);
    for (std::size_t i = 0; i < cells; ++i) distances[i] = input.targets[i] - range[i % width].lowest;
    const double steps = steps_of(distances, widest, most);
    targets_.resize(cells);
    for (std::size_t i = 0; i < cells; ++i) targets_[i] = std::llround(distances[i] * steps);
    const double farthest = std::nearbyint(widest * steps);
    small_ = width_ == 1 && farthest * farthest * total_weight_ < kMostSmallSquares;
    std::vector<Index> all(input.rows);
    std::iota(all.begin(), all.end(), Index{0});
    const bool squared = kind_ == MeasureKind::kSquared;
    // What a row can add: its distance from the farthest leaf value there can be.
    std::vector<double> reach(input.rows, 0);
    for (Index i = 0; i < input.rows; ++i)
        for (std::size_t k = 0; k < width; ++k) {
            const double at = static_cast<double>(targets_[i * width + k]) / steps,
                         far = std::max(at, range[k].highest - range[k].lowest - at) * (1 + 1e-12);
            reach[i] += (squared ? far * far : far) * weights_[i];
        }
    double root = 0;
    if (squared) {
        root = static_cast<double>(squared_steps(all.data(), input.rows)) / steps / steps;
    } else {
        exact_ = true;  // so that a leaf has its steps
        root = static_cast<double>(absolute_leaf(all.data(), input.rows)) / steps;
    }
    // What a split saves is wrong by 4 Q sqrt(W / w) in its last bit (kernels/squared_impl.hpp): Q is at most the cost
    // of all rows, and w, the weight of a side, at least one.
    set_unit(root, reach, squared ? 4 * root * std::sqrt(total_weight_) : 0, input.cost_bits);
    if (!squared && unit_ <= 1 / steps) unit_ = 1 / steps;  // whole by itself
    exact_ = !squared && unit_ == 1 / steps;
    units_per_square_ = 1 / (steps * steps * unit_);
    units_per_step_ = exact_ ? 1 : 1 / (steps * unit_);
    set_reach(reach);
}

// The next whole number. Rounding to the nearest one needs no change of how the processor rounds, which std::ceil does
// and which takes longer than all the rest of a leaf.
static Cost whole_above(long double number) {
    const Cost nearest = std::llrint(number);
    return nearest + (static_cast<long double>(nearest) < number ? 1 : 0);
}

Cost Measure::squared(Weight weight, Wide squares, Wide squared_sums) const {
    const long double cost = squared_steps(weight, squares, squared_sums);
    return whole_above(cost * static_cast<long double>(units_per_square_));
}

long double Measure::squared_steps(const Index* rows, Index n) const {
    if (small_) {
        std::int64_t weight = 0, sum = 0, squares = 0;
        for (Index i = 0; i < n; ++i) {
            const std::int64_t target = targets_[rows[i]], weighted = target * weights_[rows[i]];
            weight += weights_[rows[i]];
            sum += weighted;
            squares += weighted * target;
        }
        return squared_steps(static_cast<Weight>(weight), static_cast<Wide>(squares), square_of(sum));
    }
    std::vector<std::int64_t> sums(static_cast<std::size_t>(width_), 0);
    Wide squares = 0, squared_sums = 0;
    Weight weight = 0;
    for (Index i = 0; i < n; ++i) {
        const std::int64_t* const of = targets(rows[i]);
        weight += weights_[rows[i]];
        for (std::size_t k = 0; k < sums.size(); ++k) {
            sums[k] += of[k] * weights_[rows[i]];
            squares += square_of(of[k]) * static_cast<Wide>(weights_[rows[i]]);
        }
    }
    for (std::int64_t sum : sums) squared_sums += square_of(sum);
    return squared_steps(weight, squares, squared_sums);
}

// Sums of distances from the weighted median of each output.
Cost Measure::absolute_leaf(const Index* rows, Index n) const {
    double cost = 0;
    Cost whole = 0;
    std::vector<std::pair<std::int64_t, Weight>> sorted(n);
    for (int k = 0; k < width_; ++k) {
        std::int64_t total = 0;
        for (Index i = 0; i < n; ++i) {
            sorted[i] = {targets(rows[i])[k], weights_[rows[i]]};
            total += weights_[rows[i]];
        }
        std::sort(sorted.begin(), sorted.end());
        std::int64_t seen = 0, median = 0, steps = 0;
        for (const auto& [at, weight] : sorted) {
            seen += weight;
            median = at;
            if (2 * seen >= total) break;
        }
        for (const auto& [at, weight] : sorted) steps += std::abs(at - median) * weight;
        if (exact_)
            whole += steps;
        else
            cost += static_cast<double>(steps) * units_per_step_;
    }
    return exact_ ? whole : static_cast<Cost>(std::ceil(cost));
}

// ---- costs of actions ----

void Measure::take_costs(const MeasureInput& input) {
    kind_ = MeasureKind::kLinear;
    width_ = input.width;
    const std::size_t width = static_cast<std::size_t>(width_), cells = input.rows * width;
    for (std::size_t i = 0; i < cells; ++i)
        if (!std::isfinite(input.targets[i])) throw std::invalid_argument("A table needs costs that are finite.");
    // The least cost of a row is paid by every tree: without it, costs are nonnegative and bounds are tight.
    std::vector<double> more(cells), reach(input.rows), sums(width, 0);
    double compensation = 0;
    for (Index i = 0; i < input.rows; ++i) {
        const double* of = input.targets + i * width;
        const double least = *std::min_element(of, of + width);
        const double paid = least * weights_[i] - compensation, sum = constant_ + paid;
        compensation = (sum - constant_) - paid;
        constant_ = sum;
        for (std::size_t k = 0; k < width; ++k) {
            more[i * width + k] = (of[k] - least) * weights_[i];
            sums[k] += more[i * width + k];
            reach[i] = std::max(reach[i], more[i * width + k]);
        }
    }
    // A tree with a leaf that pays more than the best leaf of all rows is worse than that leaf, by however much.
    const double root = *std::min_element(sums.begin(), sums.end());
    const double dearest = *std::max_element(more.begin(), more.end());
    if (root > 0)
        for (double& one : more) one = std::min(one, 2 * root);
    set_unit(root, reach, 0, input.cost_bits, kBitsPerRow);
    if (root <= 0 && dearest > 0) unit_ = std::ldexp(dearest * input.rows, -kBitsWhereNothingIsPaid);
    // Whole numbers, and those of few decimals, stay what they are.
    double scale = 1;
    for (int k = 0; k <= kDecimals && 1 / scale >= unit_; ++k, scale *= 10) {
        if (std::all_of(more.begin(), more.end(), [&](double one) {
                return std::abs(one * scale - std::nearbyint(one * scale)) <= 1e-12 * one * scale;
            })) {
            unit_ = 1 / scale;
            break;
        }
    }
    exact_ = true;
    targets_.resize(cells);
    std::fill(reach.begin(), reach.end(), 0.0);
    for (std::size_t i = 0; i < cells; ++i) {
        targets_[i] = std::llround(more[i] / unit_);
        reach[i / width] = std::max(reach[i / width], static_cast<double>(targets_[i]) * unit_);
    }
    for (double& one : reach) one = std::min(one, root + unit_ * input.rows);
    set_reach(reach);
}

// ---- any loss ----

Cost Measure::leaf(const Index* rows, Index n) const {
    if (n == 0) return 0;
    if (kind_ == MeasureKind::kAbsolute) return absolute_leaf(rows, n);
    if (kind_ == MeasureKind::kSquared)
        return whole_above(squared_steps(rows, n) * static_cast<long double>(units_per_square_));
    const std::size_t width = static_cast<std::size_t>(width_);
    if (kind_ == MeasureKind::kLinear) {
        std::vector<std::int64_t> sums(width, 0);
        for (Index i = 0; i < n; ++i)
            for (std::size_t k = 0; k < width; ++k) sums[k] += targets(rows[i])[k];
        return *std::min_element(sums.begin(), sums.end());
    }
    std::vector<Weight> by_class(width, 0);
    Weight weight = 0;
    for (Index i = 0; i < n; ++i) {
        weight += weights_[rows[i]];
        by_class[static_cast<std::size_t>(classes_[rows[i]])] += weights_[rows[i]];
    }
    return of_class_weights(by_class.data(), weight);
}

std::int32_t Measure::label(const Index* rows, Index n) const {
    const bool linear = kind_ == MeasureKind::kLinear;
    if (!linear && !of_classes_) return 0;
    const std::size_t width = static_cast<std::size_t>(linear ? width_ : n_classes_);
    std::vector<std::int64_t> sums(width, 0);
    for (Index i = 0; i < n; ++i) {
        if (!linear) sums[static_cast<std::size_t>(classes_[rows[i]])] -= weights_[rows[i]];
        for (std::size_t k = 0; linear && k < width; ++k) sums[k] += targets(rows[i])[k];
    }
    return static_cast<std::int32_t>(std::min_element(sums.begin(), sums.end()) - sums.begin());
}

std::uint64_t Measure::fingerprint(std::uint64_t sum) const {
    const auto mix = [&](std::uint64_t number) { sum = (sum ^ number) * 0x9e3779b97f4a7c15ull, sum ^= sum >> 29; };
    for (char letter : name_) mix(static_cast<unsigned char>(letter));
    mix(static_cast<std::uint64_t>(width_));
    for (Weight weight : weights_) mix(static_cast<std::uint64_t>(weight));
    for (std::int64_t target : targets_) mix(static_cast<std::uint64_t>(target));
    return sum;
}

}  // namespace provetree
