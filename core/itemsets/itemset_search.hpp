// DL8 and DL8.5 (Aglin, Nijssen and Schaus 2020, Algorithms 1 and 2): the paths of a tree are itemsets, and the best
// tree of each itemset is found once and cached. DL8.5 adds upper bounds, and caches also that no tree was found for a
// bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/limits.hpp"
#include "itemsets/cache.hpp"
#include "itemsets/leaf_cost.hpp"
#include "itemsets/transactions.hpp"
#include "itemsets/tree_pool.hpp"

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

class ItemsetSearch {
  public:
    // `tick` is called now and then; it returns false to interrupt the search.
    ItemsetSearch(const Transactions& transactions, LeafCost& leaf_cost, const Options& options,
                  std::function<bool(const Progress&)> tick);

    Result run();

  private:
    struct Answer {
        double cost = 0.0;
        TreeHandle tree;  // kNoTree: none within the bound
    };
    // What one depth of the recursion works with; kept between calls.
    struct Frame {
        Cover cover;
        std::vector<std::int64_t> totals;      // by class
        std::vector<std::int64_t> with;        // totals of the rows that have each attribute, attribute-major
        std::vector<std::int64_t> without;     // totals of one attribute's other rows
        std::vector<std::int64_t> scores;      // what attributes are ordered by
        std::vector<std::int32_t> attributes;  // with enough support on both sides, in the order of branching
    };

    Answer recurse_dl8(std::size_t depth, const std::int64_t* totals);
    Answer recurse_dl85(std::size_t depth, double upper_bound, const std::int64_t* totals);
    // The child of the frame at `depth` that adds an item of the attribute.
    Answer child(std::size_t depth, std::int32_t attribute, bool positive, double upper_bound);

    Leaf leaf_of(std::size_t depth, const std::int64_t* totals);
    void enter(std::size_t depth);
    void open(std::size_t depth, const std::int64_t* totals);
    void order(Frame& frame);
    double entropy(const std::int64_t* totals) const;
    Answer leaf_answer(double cost) { return {cost, TreeHandle(pool_, kLeafTree)}; }
    Answer no_tree() { return {std::numeric_limits<double>::infinity(), TreeHandle(pool_, kNoTree)}; }
    Answer from_cache(const CacheEntry& entry);
    Itemset key();
    Frame& frame(std::size_t depth);
    bool stopped(std::uint64_t row_steps);
    bool hurried() const;
    void improved(std::size_t depth, double cost);
    void store(const Answer& answer, double bound);
    // The largest bound a tree that is better than `cost` keeps.
    double below(double cost) const;
    // What is left of a bound after a branch of this cost.
    double rest(double bound, double cost) const;
    // Writes the tree in preorder and returns what it costs, worked out from its leaves.
    double write(TreeId id, std::size_t depth, Result& result);

    const Transactions& transactions_;
    LeafCost& leaf_cost_;
    Options options_;
    std::function<bool(const Progress&)> tick_;
    Monitor monitor_;
    TreePool pool_;
    ItemsetCache cache_;
    std::vector<std::unique_ptr<Frame>> frames_;
    std::vector<Item> path_;  // in the order of the path
    std::vector<Item> key_;   // the same items in rising order
    std::vector<ItemsetTable> visited_;
    std::vector<std::int64_t> row_numbers_;
    std::vector<double> terms_;  // n * log2(n)
    std::optional<StopReason> stop_;
    double best_cost_ = 0.0;
    std::vector<Progress> history_;
    Counters counters_;
};

}  // namespace provetree::itemsets
