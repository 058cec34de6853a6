// All stumps of both sides of a split that cost at most a limit: two lists from one walk through the sorted columns.
#pragma once

#include <array>
#include <vector>

#include "loss/loss.hpp"
#include "near_optimal/column_rules.hpp"
#include "near_optimal/side_trees.hpp"
#include "sweeps/node.hpp"

namespace provetree {

struct StumpFound {
    Question question;
    Cost cost;
    int left_label, right_label;
};

// A leaf and stumps as trees; the stumps are put in another order.
void trees_of_stumps(Cost leaf, int label, std::vector<StumpFound>& found, SideTrees& trees);

class StumpLists {
  public:
    // `redundant`: whether both leaves may be of the same class.
    StumpLists(const ColumnRules& rules, const Loss& loss, std::int64_t min_leaf, bool redundant)
        : rules_(rules), loss_(loss), min_leaf_(min_leaf), redundant_(redundant) {}

    // The first `position` rows of the column are the left side, the others the right one; a null column: all rows are.
    void divide(const Node& node, const NodeColumn* column, Index position);
    // Stumps of at most these costs, penalty included.
    void collect(const Node& node, Cost left_limit, Cost right_limit);

    Cost leaf(int side) const { return loss_.leaf(leaf_errors(total_[side])); }
    int label(int side) const;
    const std::vector<StumpFound>& stumps(int side) const { return stumps_[side]; }
    bool on_side(Index row, int side) const { return side_[row] == side; }
    // The side as trees of at most one split.
    void make_trees(int side, SideTrees& trees) { trees_of_stumps(leaf(side), label(side), stumps_[side], trees); }

  private:
    static Weight leaf_errors(const std::vector<Weight>& by_class);
    void walk_two_classes(const Node& node, const NodeColumn& column);
    void walk_classes(const Node& node, const NodeColumn& column);
    void look_at_category(const Node& node, const NodeColumn& column);
    void keep(const NodeColumn& column, int side, Index last_rank, Index rank, Weight errors, std::int64_t count,
              const Weight* seen);
    bool may_ask(const Node& node, const NodeColumn& column, int side) const;

    const ColumnRules& rules_;
    const Loss& loss_;
    std::int64_t min_leaf_;
    bool redundant_;
    std::vector<std::uint8_t> side_;
    std::array<std::vector<Weight>, 2> total_, seen_;
    std::array<Index, 2> rows_{};
    std::array<std::int64_t, 2> counts_{};
    std::array<Weight, 2> most_errors_{};  // of stumps within the limit of each side; -1: none are asked for
    std::array<CategoriesSeen, 2> categories_;
    // Of the column at hand: whether it repeats another, and then its rank of missing values.
    bool repeats_ = false;
    Index top_ = 0;
    std::array<std::vector<StumpFound>, 2> stumps_;
};

}  // namespace provetree
