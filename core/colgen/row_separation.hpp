// Separation model (8) by a search of its own: the unlabelled row whose constraint (1c) a fractional solution violates
// most. A row is a place among the thresholds of each column. Letting it decide anew at every node gives a bound (see
// routes.hpp); where such decisions contradict each other on a column, the search branches on the place of the row
// there.
#pragma once

#include <cstdint>
#include <vector>

#include "base/limits.hpp"
#include "colgen/instance.hpp"
#include "colgen/routes.hpp"

namespace provetree::colgen {

struct FoundRow {
    double value;
    std::vector<std::int32_t> place;  // by column: the row is right of so many of its thresholds
};

struct SeparationResult {
    std::vector<FoundRow> rows;  // largest value first
    double bound = 0;            // no row has a larger value
    std::uint64_t nodes = 0;
};

struct SeparationInput {
    const std::int32_t* column;     // of each candidate of the tree
    const std::int32_t* threshold;  // of each candidate: its place among all thresholds of the column
    const std::vector<std::int32_t>& thresholds_per_column;
    double least;
    std::size_t most_rows;
    std::uint64_t most_nodes;
};

SeparationResult separate_rows(const Instance& instance, const PathList& paths, const SeparationInput& input,
                               Monitor& monitor);

}  // namespace provetree::colgen
