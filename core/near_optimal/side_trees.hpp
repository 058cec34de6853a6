// The trees of a set of rows that cost at most a limit: the leaf, and those with splits, in all and by the columns they
// ask about. Trees of a split are pairs of trees of its sides.
#pragma once

#include <vector>

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

// Pairs of trees of two sides, within a limit.
class TreePairs {
  public:
    explicit TreePairs(const TreeRules& rules) : rules_(rules) {}

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
    TreeCounts left_, right_, without_, found_;
};

// The trees of a node, put together split by split.
class TreeSum {
  public:
    TreeSum(const TreeRules& rules, SideTrees& sum) : pairs_(rules), sum_(sum) {}
    // Whether the split has any trees within the limit.
    bool add(const Question& split, const SideTrees& left, const SideTrees& right, Cost limit);
    // Of the split added last: all of its trees, and the least cost of one that asks about each feature it can.
    const TreeCounts& last() const { return every_; }
    const std::vector<std::pair<Index, Cost>>& last_least_with() const { return least_with_; }

  private:
    void add_with(Index feature, const TreeCounts& trees);

    TreePairs pairs_;
    SideTrees& sum_;
    TreeCounts every_, some_, scratch_;
    std::vector<std::pair<Index, Cost>> least_with_;
};

}  // namespace provetree
