// Threshold sampling: CART (Gini) on random parts of the table, for the candidate splits and start columns of column
// generation.
#pragma once

#include <cstdint>
#include <vector>

#include "table/table.hpp"

namespace provetree::colgen {

struct SamplerInput {
    const Table& table;  // rows are drawn as often as its counts say
    int depth = 0;
    double share = 1.0;  // of the table rows
};

// One tree after the other: column and rank by node in heap order; column -1 where the tree has no split.
struct SampledTrees {
    std::vector<std::int32_t> column, rank;
};

// Tree number i depends on seed and i only, so threads do not change it.
SampledTrees sample_trees(const SamplerInput& input, std::uint64_t seed, std::size_t first, std::size_t n_trees,
                          unsigned threads);

}  // namespace provetree::colgen
