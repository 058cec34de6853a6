// Threshold sampling: CART (Gini) on random parts of the table, for the candidate splits and start columns of column
// generation.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.hpp"

namespace provetree::colgen {

struct SamplerInput {
    std::size_t rows = 0, columns = 0;
    const Index* ranks = nullptr;  // columns x rows
    std::vector<const double*> values;
    const std::int32_t* classes = nullptr;
    const std::int64_t* weights = nullptr;
    const std::int64_t* counts = nullptr;  // table rows behind each row: these are drawn
    int n_classes = 0;
    int depth = 0;
    double share = 1.0;  // of the table rows
};

// One tree: column and rank by node in heap order; column -1 where the tree has no split.
struct SampledTree {
    std::vector<std::int32_t> column, rank;
};

// Tree number i depends on seed and i only, so threads do not change it.
std::vector<SampledTree> sample_trees(const SamplerInput& input, std::uint64_t seed, std::size_t first,
                                      std::size_t n_trees, unsigned threads);

}  // namespace provetree::colgen
