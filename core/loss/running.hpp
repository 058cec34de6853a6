// Leaves that grow row by row under a measure: what they cost after each row.
//
// Plain and slow beside the panels of a measure, which have to agree with it.
#pragma once

#include <algorithm>
#include <cmath>
#include <queue>
#include <vector>

#include "loss/measure.hpp"

namespace provetree {

class RunningSquared {
  public:
    explicit RunningSquared(const Measure& measure) : measure_(measure), sums_(measure.width()) { clear(); }
    void clear() {
        std::fill(sums_.begin(), sums_.end(), 0);
        weight_ = 0;
        squares_ = 0;
    }
    void add(Index row) {
        const std::int64_t weight = measure_.weight(row);
        const std::int64_t* const of = measure_.targets(row);
        weight_ += static_cast<Weight>(weight);
        for (std::size_t k = 0; k < sums_.size(); ++k) {
            sums_[k] += of[k] * weight;
            squares_ += square_of(of[k]) * static_cast<Wide>(weight);
        }
    }
    Cost units() const {
        Wide squared_sums = 0;
        for (std::int64_t sum : sums_) squared_sums += square_of(sum);
        return measure_.squared(weight_, squares_, squared_sums);
    }

  private:
    const Measure& measure_;
    std::vector<std::int64_t> sums_;
    Weight weight_ = 0;
    Wide squares_ = 0;
};

class RunningClasses {
  public:
    explicit RunningClasses(const Measure& measure) : measure_(measure), by_class_(measure.width()) {}
    void clear() {
        std::fill(by_class_.begin(), by_class_.end(), 0);
        weight_ = 0;
    }
    void add(Index row) {
        by_class_[static_cast<std::size_t>(measure_.class_of(row))] += measure_.weight(row);
        weight_ += measure_.weight(row);
    }
    Cost units() const { return measure_.of_class_weights(by_class_.data(), weight_); }

  private:
    const Measure& measure_;
    std::vector<Weight> by_class_;
    Weight weight_ = 0;
};

class RunningLinear {
  public:
    explicit RunningLinear(const Measure& measure) : measure_(measure), sums_(measure.width()) {}
    void clear() { std::fill(sums_.begin(), sums_.end(), 0); }
    void add(Index row) {
        const std::int64_t* const of = measure_.targets(row);
        for (std::size_t k = 0; k < sums_.size(); ++k) sums_[k] += of[k];
    }
    Cost units() const { return *std::min_element(sums_.begin(), sums_.end()); }

  private:
    const Measure& measure_;
    std::vector<std::int64_t> sums_;
};

// Two heaps for each output: the rows up to the median, and those above it.
class RunningAbsolute {
  public:
    explicit RunningAbsolute(const Measure& measure) : measure_(measure), outputs_(measure.width()) {}
    void clear() {
        for (Output& output : outputs_) output = {};
    }
    void add(Index row) {
        const std::int64_t* const of = measure_.targets(row);
        for (std::size_t k = 0; k < outputs_.size(); ++k) outputs_[k].add({of[k], measure_.weight(row)});
    }
    Cost units() const {
        double cost = 0;
        for (const Output& output : outputs_) cost += static_cast<double>(output.steps()) * measure_.units_per_step();
        return static_cast<Cost>(std::ceil(cost));
    }

  private:
    using Item = std::pair<std::int64_t, Weight>;
    struct Output {
        std::priority_queue<Item> low;
        std::priority_queue<Item, std::vector<Item>, std::greater<Item>> high;
        std::int64_t weight_low = 0, weight_high = 0, sum_low = 0, sum_high = 0;

        void put_low(const Item& item) {
            low.push(item);
            weight_low += item.second;
            sum_low += item.first * item.second;
        }
        void put_high(const Item& item) {
            high.push(item);
            weight_high += item.second;
            sum_high += item.first * item.second;
        }
        Item take_low() {
            const Item item = low.top();
            low.pop();
            weight_low -= item.second;
            sum_low -= item.first * item.second;
            return item;
        }
        Item take_high() {
            const Item item = high.top();
            high.pop();
            weight_high -= item.second;
            sum_high -= item.first * item.second;
            return item;
        }
        // The median is the top of the low heap: the least target that half of the weight does not exceed.
        void add(const Item& item) {
            if (low.empty() || item.first <= low.top().first)
                put_low(item);
            else
                put_high(item);
            while (2 * (weight_low - low.top().second) >= weight_low + weight_high) put_high(take_low());
            while (2 * weight_low < weight_low + weight_high) put_low(take_high());
        }
        std::int64_t steps() const {
            if (low.empty()) return 0;
            const std::int64_t median = low.top().first;
            return median * weight_low - sum_low + sum_high - median * weight_high;
        }
    };

    const Measure& measure_;
    std::vector<Output> outputs_;
};

// Calls use(running) with the growing leaf of the measure.
template <class Use>
decltype(auto) with_running(const Measure& measure, const Use& use) {
    if (measure.kind() == MeasureKind::kSquared) return use(RunningSquared(measure));
    if (measure.kind() == MeasureKind::kLinear) return use(RunningLinear(measure));
    if (measure.kind() == MeasureKind::kAbsolute) return use(RunningAbsolute(measure));
    return use(RunningClasses(measure));
}

}  // namespace provetree
