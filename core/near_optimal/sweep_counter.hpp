// Counts trees by sweeps, on raw thresholds.
//
// A panel gives the best stump of both sides of every split of a node, and so the least cost of trees that begin with
// it. Where two levels fit the limit, all stumps of both sides are listed. A level above, splits of a column that are
// not tried are closed by those that are: along a column more rows never cost less, and never more than their weight.
#pragma once

#include <functional>
#include <vector>

#include "near_optimal/level.hpp"
#include "near_optimal/stump_lists.hpp"
#include "sweeps/panel.hpp"

namespace provetree {

class SweepCounter {
  public:
    SweepCounter(Context& context, const ColumnRules& rules, const LevelRequest& request);
    // Counts; what is stopped on its way has counted some of the splits.
    void count();
    Level take() {
        sum_.settle(level_);
        return std::move(level_);
    }

  protected:
    // A split of a node and what its sides cost at least with one level more.
    struct Candidate {
        Index column, position;  // index into the node's columns
        Cost left, right;
    };
    // The candidates of a node and the least cost of its trees of two levels.
    struct Candidates {
        std::vector<Candidate> splits;
        Cost lower = 0;
    };
    struct Tried {
        Index position;
        Cost left, right;
    };
    // The sides of a split with all that is known of them, for one level above two.
    struct Sides {
        Node left, right;
        Candidates of_left, of_right;
        SideTrees left_trees, right_trees;
    };

    void follow_path();
    bool leaf_fits(const Node& node) const { return node.count >= request_.min_leaf; }
    template <class Use>
    void for_each_split(const Node& node, const Use& use);
    Question question(const Node& node, const NodeColumn& column, Index position) const;
    void find_candidates(const Node& node, Cost limit, Candidates& out);
    void count_leaf_pairs(const Node& node, Cost limit);
    // The trees of a node with a split that cost at most the limit: take(split) finds its sides in left_ and right_.
    void count_two(const Node& node, const Candidates& candidates, Cost limit,
                   const std::function<void(const Question&)>& take);
    void count_side(const Node& node, const Candidates& candidates, Cost limit, SideTrees& out);
    void count_three(const Node& node);
    Tried try_split(const Node& node, const NodeColumn& column, Index position);
    void search_between(const Node& node, const NodeColumn& column, const std::vector<Index>& splits, Tried low,
                        Tried high);

    Context& context_;
    const ColumnRules& rules_;
    const LevelRequest& request_;
    Loss loss_;
    NodeBuilder builder_;
    Panel panel_;
    StumpLists stumps_;
    Node root_, next_, other_;
    Sides sides_;
    SideTrees left_, right_;
    std::vector<Lane> lanes_;
    std::vector<LaneResult> results_;
    LevelSum sum_;
    Level level_;
};

}  // namespace provetree
