// How many of the counted trees predict each class for each row.
//
// A tree of one side of a split is part of as many trees as there are trees of the other side to go with it, and so on
// up to the root. So each tree of the last level is worth a number, and a walk through the column of its split hands
// that to the rows. Numbers are doubles: a sum is zero only where every part is, so that "all trees agree" is exact.
#pragma once

#include <vector>

#include "near_optimal/sweep_counter.hpp"

namespace provetree {

class RowVotes : private SweepCounter {
  public:
    // The path of the request must be empty.
    RowVotes(Context& context, const ColumnRules& rules, const LevelRequest& request);
    // Votes by row of the table and class. `splits` are those of the root, as counted.
    std::vector<double> vote(const std::vector<LevelSplit>& splits);

  private:
    // In how many trees of the root a leaf, and each of the other trees of a node by cost, takes part.
    struct Worth {
        double leaf = 0;
        std::vector<double> grown;
    };
    // Of one side of a split; worth(cost) is that of a tree of the split.
    template <class Of>
    Worth worth_of(const SideTrees& side, const SideTrees& other, const Of& worth) const;
    static double worth_at(const SideTrees& trees, const Worth& worth, Cost cost);
    void vote_leaf(const std::vector<Index>& ids, int label, double worth);
    void vote_side(const Node& node, const std::vector<Index>& ids, int side, const SideTrees& trees,
                   const Worth& worth);
    void vote_column(const Node& node, const std::vector<Index>& ids, int side, const StumpFound* first,
                     const StumpFound* last, const SideTrees& trees, const Worth& worth);
    void vote_two(const Node& node, const std::vector<Index>& ids, const SideTrees& trees, const Worth& worth);
    void vote_three(const std::vector<LevelSplit>& splits);

    std::size_t n_classes_;
    std::vector<double> votes_, sums_;
    std::vector<StumpFound> sorted_;
    std::vector<Index> ids_, left_ids_, right_ids_;
};

}  // namespace provetree
