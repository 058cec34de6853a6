// DL8 and DL8.5 (Aglin, Nijssen and Schaus 2020, Algorithms 1 and 2): the paths of a tree are itemsets, and the best
// tree of each itemset is found once and cached. DL8.5 adds upper bounds, and caches also that no tree was found for a
// bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/limits.hpp"
#include "itemsets/leaf_cost.hpp"
#include "itemsets/transactions.hpp"

namespace provetree::itemsets {

enum class Algorithm { kDL8, kDL85 };
enum class Branching { kInformationGain, kInformationGainAscending, kDataOrder };

struct Options {
    Algorithm algorithm = Algorithm::kDL85;
    Branching branching = Branching::kInformationGain;
    bool cache_partial_results = true;
    bool count_itemsets = false;  // count distinct itemsets, which takes a set of all of them
    int max_depth = 3;
    std::int64_t min_support = 1;
    double time_limit = 0.0;
    std::size_t memory_limit = 0;
    double lower_bound = 0.0;  // of any tree, known beforehand
};

struct Progress {
    double seconds;
    double cost;
    double bound;
};

struct Counters {
    std::uint64_t calls = 0;             // of the recursive procedure
    std::uint64_t searched = 0;          // calls that went through the attributes
    std::uint64_t cache_hits = 0;        // calls answered from the cache
    std::uint64_t cached = 0;            // itemsets in the cache at the end
    std::uint64_t evicted = 0;           // entries dropped for want of memory
    std::uint64_t memory_peak = 0;       // bytes of cache and trees
    std::uint64_t itemsets_visited = 0;  // distinct itemsets among the calls, where counted
};

struct Result {
    std::vector<std::int32_t> attribute;  // in preorder, -1 for a leaf; the rows without the attribute come first
    std::vector<std::int32_t> label;      // the class a leaf predicts, -1 for a split
    double cost = 0.0;
    double lower_bound = 0.0;
    Status status = Status::kOptimal;
    std::vector<Progress> history;
    Counters counters;
};

// `tick` is called now and then; it returns false to interrupt the search.
Result search_itemsets(const Transactions& transactions, LeafCost& leaf_cost, const Options& options,
                       const std::function<bool(const Progress&)>& tick);

}  // namespace provetree::itemsets
