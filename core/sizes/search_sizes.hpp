// The best tree of every number of leaves, from the table to finished trees.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/limits.hpp"
#include "loss/loss.hpp"
#include "run/context.hpp"
#include "table/table.hpp"
#include "tree/plan.hpp"

namespace provetree {

// Deeper trees have too many sizes to be searched at once.
inline constexpr int kDeepestBySizes = 4;

struct SizeOptions {
    int max_depth = 3;
    std::int64_t max_leaves = 8;
    std::int64_t min_leaf = 1;
    Loss loss;
    double time_limit = 0;
    std::uint64_t memory_limit = 0;
    unsigned switches = 0;
    std::string kernel = "auto";
    bool on_bits = false;  // all columns have few values; the weights of rows are their counts
};

// The best tree of at most so many leaves; its cost is proven where the bound is no less.
struct SizedTree {
    FlatTree tree;
    Cost lower_bound = 0;
};

struct SizesResult {
    std::vector<SizedTree> sizes;  // of 1, 2, ... leaves, as many as the depth allows
    Status status = Status::kOptimal;
    Counters counters;
};

// `tick` is called about every 20 ms and returns false to interrupt. Throws std::invalid_argument where the options
// cannot be met: fewer rows than one leaf needs, or trees that are deeper than kDeepestBySizes and need it.
SizesResult search_sizes(const Table& table, const SizeOptions& options, const std::function<bool()>& tick);

}  // namespace provetree
