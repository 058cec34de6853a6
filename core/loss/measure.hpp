// A loss other than errors: what leaves cost, in whole units, from sums over their rows.
//
// Costs are whole numbers of a small unit, so that the search above depth two is the same for every loss. Targets
// become whole steps, sums over rows are exact, and the cost of a leaf is rounded up to units. So more rows never cost
// less, to the unit: the exact cost does not fall when rows are added, and rounding up keeps the order. What a tree
// costs in units exceeds its exact cost by less than one unit for each leaf.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/types.hpp"
#include "base/wide.hpp"

namespace provetree {

enum class MeasureKind : std::uint8_t {
    kSquared,      // squared distances from the mean, of one or several outputs; Gini is that of the class indicators
    kEntropy,      // of the classes, in nats
    kPessimistic,  // C4.5's errors with its allowance for chance
    kLinear,       // a cost for each row and action: the cheapest action
    kAbsolute,     // distances from the median
};

// The loss by its name, and the rows it is about. The arrays belong to the caller.
struct MeasureInput {
    std::string loss;
    Index rows = 0;
    const std::int64_t* weights = nullptr;
    const std::int32_t* classes = nullptr;
    int n_classes = 1;
    const double* targets = nullptr;  // rows x width; null where the loss is about classes
    int width = 0;
    int cost_bits = 44;  // of the cost of all rows in one leaf
};

class Measure {
  public:
    // Throws std::invalid_argument where the loss is not known or the targets do not fit.
    explicit Measure(const MeasureInput& input);

    MeasureKind kind() const { return kind_; }
    const std::string& name() const { return name_; }
    bool of_classes() const { return of_classes_; }
    // Numbers of a row: outputs, actions, or classes. Squared error of two classes has one output.
    int width() const { return width_; }
    int classes() const { return n_classes_; }
    // The user's cost of one unit, and what is added to the cost of every tree.
    double unit() const { return unit_; }
    double constant() const { return constant_; }

    Index rows() const { return static_cast<Index>(weights_.size()); }
    Weight weight(Index row) const { return weights_[row]; }
    std::int32_t class_of(Index row) const { return classes_[row]; }
    // Of squared and absolute error: whole steps, without the weight. Of linear costs: units, times the weight.
    const std::int64_t* targets(Index row) const { return &targets_[std::size_t{row} * static_cast<unsigned>(width_)]; }
    Weight total_weight() const { return total_weight_; }

    // The most that a row can add to the cost of any tree it joins, in multiples of so many units, rounded up. These
    // are the weights that the bounds between splits go by.
    const std::vector<std::int64_t>& reach() const { return reach_; }
    Cost units_per_reach() const { return units_per_reach_; }

    // Units of a leaf. Squared error: of rows with this weight, sum of weighted squares, and sum of the squares of the
    // weighted sums; all in steps.
    Cost squared(Weight weight, Wide squares, Wide squared_sums) const;
    double units_per_square() const { return units_per_square_; }
    double units_per_step() const { return units_per_step_; }
    // Entropy and pessimistic errors: of a leaf with these weights of the classes.
    Cost of_class_weights(const Weight* by_class, Weight weight) const;
    // Logarithms of small weights, for entropy.
    const std::vector<double>& logs() const { return logs_; }

    // Any loss: of these rows of the table, and what a leaf of them predicts: the class, the action, or 0.
    Cost leaf(const Index* rows, Index n) const;
    std::int32_t label(const Index* rows, Index n) const;

    // Whether costs are whole units by themselves, so that nothing is rounded.
    bool is_exact() const { return exact_; }

    // Of all that costs depend on.
    std::uint64_t fingerprint(std::uint64_t sum) const;

  private:
    void take_classes(const MeasureInput& input);
    void take_outputs(const MeasureInput& input);
    void take_costs(const MeasureInput& input);
    void set_unit(double root_cost, std::vector<double>& reach, double largest, int cost_bits, int more_bits = 0);
    void set_reach(const std::vector<double>& most);
    static double steps_of(const std::vector<double>& distances, double widest, double most);
    Cost rounded_up(double cost) const;
    double entropy(const Weight* by_class, Weight weight) const;
    Cost absolute_leaf(const Index* rows, Index n) const;
    long double squared_steps(const Index* rows, Index n) const;
    // Squared steps from the mean; 0 without rows.
    static long double squared_steps(Weight weight, Wide squares, Wide squared_sums) {
        const Wide all = squares * static_cast<Wide>(weight);
        return all > squared_sums ? static_cast<long double>(all - squared_sums) / static_cast<long double>(weight) : 0;
    }

    MeasureKind kind_ = MeasureKind::kSquared;
    std::string name_;
    bool of_classes_ = false;
    bool exact_ = false;  // costs are whole units by themselves
    bool small_ = false;  // one output whose squares of all rows, times their weights, sum up to 64 bits
    int width_ = 1, n_classes_ = 1;
    double unit_ = 1, constant_ = 0, units_per_square_ = 1, units_per_step_ = 1;
    Weight total_weight_ = 0;
    std::vector<Weight> weights_;
    std::vector<std::int32_t> classes_;
    std::vector<std::int64_t> targets_, reach_;
    Cost units_per_reach_ = 1;
    std::vector<double> logs_;  // of small whole numbers
};

// C4.5's allowance for chance at its usual confidence of a quarter: what it adds to `errors` of a leaf of that weight.
double added_errors(double weight, double errors);

}  // namespace provetree
