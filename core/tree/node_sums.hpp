// Sums over the rows that reach each node of a tree, rounded once: means with the squares around them, and totals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/route.hpp"

namespace provetree {

// A weighted mean, and the sum of squares around it.
struct MeanSquares {
    double mean = 0, squares = 0;
};

// Weights are whole numbers. There is at least one.
MeanSquares mean_and_squares(const double* targets, const double* weights, std::size_t n);

// The numbers of a table with a row of `width` numbers for each of its rows, and the weights of these.
struct RowNumbers {
    const double* numbers;
    std::size_t width;
    const std::int64_t* weights;
};

// Of each node, one after the other: the mean and squares of each number over its rows.
std::vector<MeanSquares> node_means(const RowNumbers& of, const NodeRows& reached);
// The weighted sum of each number over its rows.
std::vector<double> node_totals(const RowNumbers& of, const NodeRows& reached);

}  // namespace provetree
