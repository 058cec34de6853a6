// Sums over the rows of nodes; see tree/node_sums.hpp.
#include "tree/node_sums.hpp"

#include <algorithm>

#include "base/exact_sum.hpp"

namespace provetree {

namespace {

// The rows of a node, one number of each.
struct Gathered {
    std::vector<double> numbers, weights;
};

// Calls `use` for each node and number.
template <class Use>
void for_each_sum(const RowNumbers& of, const NodeRows& reached, const Use& use) {
    Gathered here;
    for (std::size_t node = 0; node < reached.begin.size(); ++node) {
        const std::size_t first = static_cast<std::size_t>(reached.begin[node]),
                          n = static_cast<std::size_t>(reached.end[node]) - first;
        here.numbers.resize(n);
        here.weights.resize(n);
        const auto row = [&](std::size_t i) { return static_cast<std::size_t>(reached.rows[first + i]); };
        for (std::size_t i = 0; i < n; ++i) here.weights[i] = static_cast<double>(of.weights[row(i)]);
        for (std::size_t number = 0; number < of.width; ++number) {
            for (std::size_t i = 0; i < n; ++i) here.numbers[i] = of.numbers[row(i) * of.width + number];
            use(here);
        }
    }
}

}  // namespace

MeanSquares mean_and_squares(const double* targets, const double* weights, std::size_t n) {
    double total = 0;  // of whole numbers
    ExactSum sum, rounding, squares;
    std::vector<double> distances(n), terms(n);
    for (std::size_t i = 0; i < n; ++i) total += weights[i];
    for (std::size_t i = 0; i < n; ++i) terms[i] = weights[i] * targets[i];
    sum.add(terms);
    const double mean = sum.rounded() / total;
    for (std::size_t i = 0; i < n; ++i) {
        const double apart = targets[i] - mean;
        distances[i] = weights[i] * apart;
        terms[i] = distances[i] * apart;
    }
    rounding.add(distances);
    squares.add(terms);
    // The mean is rounded to its last digit; what that adds to the squares is taken off again.
    const double off = rounding.rounded();
    return {mean, std::max(squares.rounded() - off * off / total, 0.0)};
}

std::vector<MeanSquares> node_means(const RowNumbers& of, const NodeRows& reached) {
    std::vector<MeanSquares> means;
    means.reserve(reached.begin.size() * of.width);
    for_each_sum(of, reached, [&](const Gathered& here) {
        means.push_back(mean_and_squares(here.numbers.data(), here.weights.data(), here.numbers.size()));
    });
    return means;
}

std::vector<double> node_totals(const RowNumbers& of, const NodeRows& reached) {
    std::vector<double> totals;
    totals.reserve(reached.begin.size() * of.width);
    for_each_sum(of, reached, [&](Gathered& here) {
        for (std::size_t i = 0; i < here.numbers.size(); ++i) here.numbers[i] *= here.weights[i];
        ExactSum sum;
        sum.add(here.numbers);
        totals.push_back(sum.rounded());
    });
    return totals;
}

}  // namespace provetree
