// The best tree for a partition when a cluster counts as right unless all of its rows end in one leaf of another class.
// No tree costs more this way than on the rows themselves, nor than in model (DP') of Ales, Huré and Lambert (2024), so
// the optimum is a lower bound on both; and a tree that leaves all clusters whole costs the same in all three. A
// cluster that a split cuts counts as right at once, which is what makes the cost a sum over subtrees.
#pragma once

#include <cstdint>
#include <vector>

#include "base/limits.hpp"

namespace provetree::partitions {

struct ClusterTable {
    std::size_t columns = 0, rows = 0, clusters = 0;
    const std::uint32_t* ranks = nullptr;   // columns x rows
    const std::int32_t* cluster = nullptr;  // of each row
    const std::int32_t* label = nullptr;    // of each cluster
    const std::int64_t* weight = nullptr;   // of each cluster
    int n_classes = 0;
    int max_depth = 0;
    int max_splits = 0;
};

struct ClusterTree {
    bool found = false;                // whether a tree below the cutoff exists (as far as the search came)
    std::int64_t cost = 0;             // (max_splits + 1) * weight of the wrong clusters + splits
    std::int64_t lower_bound = 0;      // no tree costs less
    bool complete = true;              // false: stopped before the end
    std::vector<std::int32_t> column;  // in preorder, -1 for a leaf
    std::vector<std::int32_t> rank;    // rows of at most this rank go left
    std::uint64_t nodes = 0;
};

// Finds the cheapest tree below `cutoff`, or proves that there is none.
ClusterTree search_clusters(const ClusterTable& table, std::int64_t cutoff, Monitor& monitor);

}  // namespace provetree::partitions
