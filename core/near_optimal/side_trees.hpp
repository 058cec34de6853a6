// The trees of a set of rows that cost at most a limit: the leaf, and those with splits, in all and by the columns they
// ask about. Trees of a split are pairs of trees of its sides.
#pragma once

#include <vector>

#include "base/limits.hpp"
#include "near_optimal/tree_counts.hpp"

namespace provetree {

struct FeatureTrees {
    Index feature;
    TreeCounts trees;
};

struct SideTrees {
    Cost leaf = kInfinite;           // what the leaf costs; kInfinite where it has too few rows
    int label = 0;                   // the lowest class of largest weight
    TreeCounts grown;                // trees with at least one split
    std::vector<FeatureTrees> with;  // by rising feature: of the grown trees those that ask about it

    void clear(Cost leaf_cost, int leaf_label) {
        leaf = leaf_cost;
        label = leaf_label;
        grown.clear();
        with.clear();
    }
};

// A split: rows of at most the rank go left. The rank is the highest among these rows.
struct Question {
    Index column, rank, feature;
    double margin;  // the gap between the values next to it, as a share of the column's spread
};

// What counts as a tree.
struct TreeRules {
    Cost split_penalty = 0;
    // Whether a split may have two leaves of the same class.
    bool redundant = false;
};

// A sum of trees did not fit in the memory that it may take.
struct OutOfMemory {};

// What limits the work on sums of trees: with weights of many digits nearly every tree has a cost of its own.
struct SumLimits {
    Monitor& monitor;
    std::uint64_t most_entries;

    void check(std::uint64_t entries) const {
        if (entries > most_entries) throw OutOfMemory{};
    }
};

// Pairs of trees of two sides, within a limit.
class TreePairs {
  public:
    TreePairs(const TreeRules& rules, SumLimits limits) : rules_(rules), limits_(limits) {}

    // The trees of a split, of at most the limit.
    void all(const Question& split, const SideTrees& left, const SideTrees& right, Cost limit, TreeCounts& out);
    // Those that ask about a feature which is not that of the split; `every` are all of them.
    void with(Index feature, const SideTrees& left, const SideTrees& right, Cost limit, const TreeCounts& every,
              TreeCounts& out);

  private:
    void pairs(const SideTrees& left, const TreeCounts& left_grown, const SideTrees& right,
               const TreeCounts& right_grown, double margin, Cost limit, TreeCounts& out);
    static void without(const SideTrees& side, Index feature, TreeCounts& out);

    TreeRules rules_;
    SumLimits limits_;
    TreeCounts left_, right_, without_;
};

// The trees of a node, put together split by split.
class TreeSum {
  public:
    TreeSum(const TreeRules& rules, SumLimits limits) : pairs_(rules, limits), limits_(limits) {}
    // Whether the split has any trees within the limit.
    bool add(const Question& split, const SideTrees& left, const SideTrees& right, Cost limit);
    // The least cost of a tree of the split added last that asks about each feature it can.
    const std::vector<std::pair<Index, Cost>>& last_least_with() const { return least_with_; }
    // Entries held by now.
    std::uint64_t entries() const { return entries_; }
    // Hands over the trees that were added.
    void settle(SideTrees& to);

  private:
    struct FeatureTally {
        Index feature;
        TreeTally trees;
    };
    void add_with(Index feature, const TreeCounts& trees);

    TreePairs pairs_;
    SumLimits limits_;
    TreeTally grown_;
    std::vector<FeatureTally> with_;  // by rising feature
    std::uint64_t entries_ = 0;
    TreeCounts every_;
    std::vector<FeatureTrees> some_;
    std::vector<std::pair<Index, Cost>> least_with_;
};

}  // namespace provetree
