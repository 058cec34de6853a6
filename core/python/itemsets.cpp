// Registers the itemset search (DL8 and DL8.5) with Python, and leaf costs that are the user's own functions, in Python
// or compiled.
#include <cmath>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "itemsets/itemset_search.hpp"
#include "python/bindings.hpp"

namespace provetree {

namespace {

using itemsets::Leaf;
using itemsets::LeafCost;

// A function of the user's own: of the weights of the classes, or of row numbers.
class UserCost : public LeafCost {
  public:
    bool needs_rows() const override { return of_rows_; }
    bool whole() const override { return false; }

  protected:
    UserCost(bool of_rows, int classes, double numerator, double denominator)
        : of_rows_(of_rows), classes_(classes), numerator_(numerator), denominator_(denominator), weights_(classes) {}

    // The user's weights, exact for whole numbers and short decimals.
    const std::vector<double>& weights_of(const std::int64_t* totals) {
        for (int c = 0; c < classes_; ++c) weights_[c] = static_cast<double>(totals[c]) * denominator_ / numerator_;
        return weights_;
    }

    Leaf checked(double cost, std::int64_t label, const std::int64_t* totals) const {
        if (!(cost >= 0.0 && std::isfinite(cost)))
            throw std::invalid_argument("The 'leaf_cost' function must return a finite cost >= 0. Got " +
                                        std::to_string(cost) + " instead.");
        if (label < -1 || label >= classes_)
            throw std::invalid_argument("The 'leaf_cost' function must give a class in the range [0, " +
                                        std::to_string(classes_) + "), or -1 for the heaviest. Got " +
                                        std::to_string(label) + " instead.");
        return {cost, label < 0 ? itemsets::heaviest_class(totals, classes_) : static_cast<std::int32_t>(label)};
    }

    bool of_rows_;
    int classes_;
    double numerator_, denominator_;
    std::vector<double> weights_;
};

// A C function: double f(const double* weights, int64 classes, int64* label, void* data), or of row numbers with const
// int64* rows, int64 n_rows.
class CompiledCost final : public UserCost {
  public:
    CompiledCost(std::uintptr_t function, std::uintptr_t data, bool of_rows, int classes, double numerator,
                 double denominator)
        : UserCost(of_rows, classes, numerator, denominator), function_(function),
          data_(reinterpret_cast<void*>(data)) {}

    Leaf of(const std::int64_t* totals, const std::vector<std::int64_t>& rows) override {
        const auto call = [&](const auto& given, std::int64_t* label) {
            using Function = double (*)(decltype(given.data()), std::int64_t, std::int64_t*, void*);
            const auto size = static_cast<std::int64_t>(given.size());
            return reinterpret_cast<Function>(function_)(given.data(), size, label, data_);
        };
        std::int64_t label = -1;
        const double cost = of_rows_ ? call(rows, &label) : call(weights_of(totals), &label);
        return checked(cost, label, totals);
    }

  private:
    std::uintptr_t function_;
    void* data_;
};

// A Python callable. Leaves with the same class totals cost the same, so its answers are kept.
class PythonCost final : public UserCost {
  public:
    PythonCost(nb::object function, bool of_rows, int classes, double numerator, double denominator)
        : UserCost(of_rows, classes, numerator, denominator), function_(std::move(function)) {}

    Leaf of(const std::int64_t* totals, const std::vector<std::int64_t>& rows) override {
        if (of_rows_) return call(totals, rows);
        const std::vector<std::int64_t> key(totals, totals + classes_);
        if (const auto known = known_.find(key); known != known_.end()) return known->second;
        if (known_.size() >= kMostKnown) known_.clear();
        const Leaf leaf = call(totals, rows);
        known_.emplace(key, leaf);
        return leaf;
    }
    // Enough for the monitor to look at the clock on every call.
    std::uint64_t effort() const override { return 50'000; }

    // Thrown through the search, with the Python exception.
    struct CallFailed {
        std::exception_ptr failure;
    };

  private:
    static constexpr std::size_t kMostKnown = 100'000;

    Leaf call(const std::int64_t* totals, const std::vector<std::int64_t>& rows) {
        nb::gil_scoped_acquire acquire;
        try {
            nb::object answer = of_rows_ ? function_(to_numpy(std::vector<std::int64_t>(rows)))
                                         : function_(to_numpy(std::vector<double>(weights_of(totals))));
            std::int64_t label = -1;
            if (nb::isinstance<nb::tuple>(answer) && nb::len(answer) == 2) {
                label = nb::cast<std::int64_t>(nb::object(answer[1].attr("__index__")()));
                answer = answer[0];
            }
            const double cost = PyFloat_AsDouble(answer.ptr());
            if (cost == -1.0 && PyErr_Occurred()) throw nb::python_error();
            return checked(cost, label, totals);
        } catch (nb::python_error& error) {
            if (error.matches(PyExc_KeyboardInterrupt)) throw StopSearch{StopReason::kInterrupted};
            throw CallFailed{std::current_exception()};
        }
    }

    nb::object function_;
    std::map<std::vector<std::int64_t>, Leaf> known_;
};

itemsets::Algorithm algorithm_named(const std::string& name) {
    if (name == "dl8") return itemsets::Algorithm::kDL8;
    if (name == "dl8.5") return itemsets::Algorithm::kDL85;
    throw std::invalid_argument("itemset_search knows the algorithms 'dl8' and 'dl8.5'.");
}

itemsets::Branching branching_named(const std::string& name) {
    if (name == "information_gain") return itemsets::Branching::kInformationGain;
    if (name == "information_gain_ascending") return itemsets::Branching::kInformationGainAscending;
    if (name == "data_order") return itemsets::Branching::kDataOrder;
    throw std::invalid_argument(
        "itemset_search knows the orders 'information_gain', 'information_gain_ascending' and 'data_order'.");
}

nb::dict to_dict(itemsets::Result&& result, bool count_itemsets) {
    nb::list history;
    for (const itemsets::Progress& point : result.history)
        history.append(nb::make_tuple(point.seconds, point.cost, point.bound));
    const itemsets::Counters& of = result.counters;
    nb::dict counters = dict_of("calls"_a = of.calls, "searched"_a = of.searched, "cache_hits"_a = of.cache_hits,
                                "cached"_a = of.cached, "evicted"_a = of.evicted, "memory_peak"_a = of.memory_peak);
    if (count_itemsets) counters["itemsets_visited"] = of.itemsets_visited;
    return dict_of("attribute"_a = to_numpy(std::move(result.attribute)), "label"_a = to_numpy(std::move(result.label)),
                   "cost"_a = result.cost, "lower_bound"_a = result.lower_bound,
                   "status"_a = status_name(result.status), "history"_a = history, "counters"_a = counters);
}

void check_table(const Array2<const std::uint8_t>& values, const Array1<const std::int32_t>& classes,
                 const Array1<const std::int64_t>& weights, int n_classes) {
    const std::size_t rows = classes.shape(0);
    must(rows > 0 && values.shape(1) == rows && weights.shape(0) == rows && n_classes >= 1,
         "itemset_search needs arrays over the same rows, at least one row and one class.");
    std::int64_t total = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        must(classes(row) >= 0 && classes(row) < n_classes,
             "itemset_search needs classes in the range [0, n_classes).");
        must(weights(row) >= 1 && weights(row) <= kMaxTotalWeight,
             "itemset_search needs weights in the range [1, 2**30].");
        total += weights(row);
        must(total <= kMaxTotalWeight, "itemset_search needs a total weight of at most 2**30.");
    }
}

// A function of the user's own, compiled or in Python; a cost for each pair of classes; or the weight of the errors.
std::unique_ptr<LeafCost> leaf_cost(int n_classes, double numerator, double denominator,
                                    const std::optional<Array2<const double>>& cost_matrix, bool whole_costs,
                                    nb::object function, std::uintptr_t function_address, std::uintptr_t function_data,
                                    bool of_rows) {
    if (!function.is_none())
        return std::make_unique<PythonCost>(std::move(function), of_rows, n_classes, numerator, denominator);
    if (function_address != 0)
        return std::make_unique<CompiledCost>(function_address, function_data, of_rows, n_classes, numerator,
                                              denominator);
    if (!cost_matrix) return std::make_unique<itemsets::ErrorCost>(n_classes);
    const std::size_t size = n_classes;
    must(cost_matrix->shape(0) == size && cost_matrix->shape(1) == size,
         "itemset_search needs a cost for each pair of classes.");
    const double* first = cost_matrix->data();
    return std::make_unique<itemsets::MatrixCost>(std::vector<double>(first, first + size * size), n_classes,
                                                  whole_costs);
}

nb::dict itemset_search(const Array2<const std::uint8_t>& values, const Array1<const std::int32_t>& classes,
                        const Array1<const std::int64_t>& weights, int n_classes, int max_depth,
                        std::int64_t min_support, const std::string& algorithm, const std::string& branching,
                        bool cache_partial_results, bool count_itemsets, double time_limit, std::uint64_t memory_limit,
                        double lower_bound, const Array1<const std::int64_t>& row_numbers,
                        std::optional<Array2<const double>> cost_matrix, bool whole_costs, nb::object function,
                        std::uintptr_t function_address, std::uintptr_t function_data, bool of_rows,
                        double weight_numerator, double weight_denominator, nb::object on_progress) {
    check_table(values, classes, weights, n_classes);
    must(row_numbers.shape(0) == classes.shape(0), "itemset_search needs a number for each row.");
    must(max_depth >= 0 && min_support >= 1, "itemset_search needs max_depth >= 0 and min_support >= 1.");
    const itemsets::Options options{.algorithm = algorithm_named(algorithm),
                                    .branching = branching_named(branching),
                                    .cache_partial_results = cache_partial_results,
                                    .count_itemsets = count_itemsets,
                                    .max_depth = max_depth,
                                    .min_support = min_support,
                                    .time_limit = time_limit,
                                    .memory_limit = memory_limit,
                                    .lower_bound = lower_bound};
    const std::unique_ptr<LeafCost> cost =
        leaf_cost(n_classes, weight_numerator, weight_denominator, cost_matrix, whole_costs, std::move(function),
                  function_address, function_data, of_rows);
    Signals signals;
    const auto tick = [&](const itemsets::Progress& at) {
        return signals.report(on_progress, at.seconds, at.cost, at.bound, true);
    };
    std::optional<itemsets::Result> result;
    bool interrupted_at_once = false;
    without_gil([&] {
        const itemsets::Transactions transactions(values.data(), values.shape(0), values.shape(1), classes.data(),
                                                  weights.data(), row_numbers.data(), n_classes);
        try {
            result.emplace(itemsets::search_itemsets(transactions, *cost, options, tick));
        } catch (const PythonCost::CallFailed& call) {
            signals.fail(call.failure);
        } catch (const StopSearch&) {
            interrupted_at_once = true;
        }
    });
    signals.rethrow();
    if (interrupted_at_once) raise_keyboard_interrupt();
    return to_dict(std::move(*result), count_itemsets);
}

}  // namespace

void register_itemsets(nb::module_& module) {
    module.def("itemset_search", &itemset_search, "values"_a, "classes"_a, "weights"_a, "n_classes"_a, "max_depth"_a,
               "min_support"_a, "algorithm"_a, "branching"_a, "cache_partial_results"_a, "count_itemsets"_a,
               "time_limit"_a, "memory_limit"_a, "lower_bound"_a, "row_numbers"_a, "cost_matrix"_a.none() = nb::none(),
               "whole_costs"_a = true, "function"_a.none() = nb::none(), "function_address"_a = std::uintptr_t{0},
               "function_data"_a = std::uintptr_t{0}, "of_rows"_a = false, "weight_numerator"_a = 1.0,
               "weight_denominator"_a = 1.0, "on_progress"_a.none() = nb::none());
}

}  // namespace provetree
