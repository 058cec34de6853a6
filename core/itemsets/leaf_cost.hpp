// What a leaf costs. The cost of a tree is the sum over its leaves, and no leaf costs less than zero: that is all DL8
// and DL8.5 need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace provetree::itemsets {

// Costs are doubles. Where they count weight they are whole numbers far below 2^53, so sums and differences are exact.
struct Leaf {
    double cost = 0.0;
    std::int32_t label = 0;
};

class LeafCost {
  public:
    virtual ~LeafCost() = default;
    // The cost of a leaf with these class totals, and the class it predicts. `rows` are the table's row numbers where
    // `needs_rows`, else empty. May throw StopSearch when a user's function is interrupted.
    virtual Leaf of(const std::int64_t* totals, const std::vector<std::int64_t>& rows) = 0;
    virtual bool needs_rows() const { return false; }
    // Whether all costs are whole numbers: then a better tree is better by one.
    virtual bool whole() const { return true; }
    // Row steps that a call takes, for the monitor.
    virtual std::uint64_t effort() const { return 1; }
};

inline std::int32_t heaviest_class(const std::int64_t* totals, int classes) {
    std::int32_t best = 0;
    for (int c = 1; c < classes; ++c)
        if (totals[c] > totals[best]) best = c;
    return best;
}

// Equation 1 of the paper: the weight outside the heaviest class.
class ErrorCost final : public LeafCost {
  public:
    explicit ErrorCost(int classes) : classes_(classes) {}

    Leaf of(const std::int64_t* totals, const std::vector<std::int64_t>&) override {
        std::int64_t sum = totals[0];
        std::int32_t best = 0;
        for (int c = 1; c < classes_; ++c) {
            sum += totals[c];
            if (totals[c] > totals[best]) best = c;
        }
        return {static_cast<double>(sum - totals[best]), best};
    }

  private:
    int classes_;
};

// Cost-sensitive errors: matrix[true class][predicted class], per unit of weight. The first of the cheapest classes is
// predicted.
class MatrixCost final : public LeafCost {
  public:
    MatrixCost(std::vector<double> matrix, int classes, bool whole)
        : matrix_(std::move(matrix)), classes_(classes), whole_(whole) {}

    Leaf of(const std::int64_t* totals, const std::vector<std::int64_t>&) override {
        Leaf best{std::numeric_limits<double>::infinity(), 0};
        for (int predicted = 0; predicted < classes_; ++predicted) {
            double cost = 0.0;
            for (int c = 0; c < classes_; ++c)
                cost += static_cast<double>(totals[c]) * matrix_[c * classes_ + predicted];
            if (cost < best.cost) best = {cost, predicted};
        }
        return best;
    }
    bool whole() const override { return whole_; }

  private:
    std::vector<double> matrix_;
    int classes_;
    bool whole_;
};

}  // namespace provetree::itemsets
