// A node of the search: a set of rows, renumbered from 0, and their order by each column that still varies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/raw_vector.hpp"
#include "base/types.hpp"
#include "kernels/entry.hpp"
#include "kernels/kernel.hpp"
#include "loss/loss.hpp"
#include "loss/measure.hpp"
#include "run/rules.hpp"
#include "table/table.hpp"

namespace provetree {

// One ordered column within a node, in the node's storage; ranks[-1], ranks[rows], ranks[rows + 1] are sentinels.
struct NodeColumn {
    Index id;  // column of the table
    std::uint32_t* order;
    Index* ranks;
    Weight* weight_before;  // weight of the first i rows, i = 0 .. rows; nullptr where all weights are one
    Index checks;
    Index groups;  // distinct values
    bool no_ties;
    Index first_split, last_split;  // positions outside leave a side with fewer rows than a leaf needs
};

// Which side of a split of a frame a node is (measures/cell_frame.hpp); frame 0: of none.
struct FrameSide {
    std::uint64_t frame = 0;
    int feature = 0;
    bool has = false;  // the feature of the split
    Index cells = 0;   // how many there are
};

class Node {
  public:
    Index rows = 0;
    Weight weight = 0;          // of all rows
    std::int64_t count = 0;     // original rows behind them
    Weight largest_weight = 0;  // of one row
    bool unit_weights = true;
    // Which rows of the table these are, a bit each: in tables of at most 64 rows, and 0 in all others.
    std::uint64_t members = 0;
    std::vector<Weight> by_class;  // weight of each class
    std::vector<NodeColumn> columns;
    std::vector<std::uint32_t> classes;
    std::vector<Weight> weights;  // all one where unit_weights
    std::vector<std::int32_t> counts;
    std::vector<std::int32_t> steps;  // two classes with weights only: +weight for class 1, -weight for class 0
    std::vector<Index> ids;           // which rows of the table these are
    const Measure* measure = nullptr;
    Cost leaf_units = 0;  // under a measure only: what the rows cost as one leaf
    // Of a node that only cells will look at (measures/cells.hpp): the cells of its rows. Such a node has no columns,
    // and its rows are not listed.
    std::vector<Index> cells;
    FrameSide in_frame;  // or this instead of a list
    bool of_cells() const { return in_frame.frame || !cells.empty(); }
    std::size_t cell_count() const { return in_frame.frame ? in_frame.cells : cells.size(); }
    PathGroups path_groups;  // under rules with groups: those of the path to here; other columns are left out
    std::uint64_t paid = 0;  // under rules with prices: what the path to here has paid for

    Weight leaf_error() const;
    // The same in errors or in units, whatever the loss is about.
    Cost leaf_amount() const { return measure ? leaf_units : leaf_error(); }
    // What a leaf predicts: the lowest class of largest weight, or what the measure says.
    int label() const;
    Weight weight_left(const NodeColumn& column, Index position) const {
        return column.weight_before ? column.weight_before[position] : static_cast<Weight>(position);
    }
    // Whether a split after the first `position` rows separates distinct values.
    static bool is_split(const NodeColumn& column, Index position) {
        return column.ranks[position - 1] != column.ranks[position];
    }
    // Rows with rank at most `rank`, known to lie between low and high.
    static Index rows_up_to(const NodeColumn& column, Index rank, Index low, Index high);

  private:
    friend class NodeBuilder;
    RawVector<std::uint32_t> storage_;
    RawVector<Weight> weight_storage_;
    void make_rows(Index rows);
    void lay_out(Index rows, std::size_t columns);
};

// What the rows cost as one leaf, however few they are.
inline Cost leaf_cost_of(const Node& node, const Loss& loss) {
    return node.measure ? loss.measured(node.leaf_units) : loss.leaf(node.leaf_error());
}

// Null where the column does not vary within the node.
inline const NodeColumn* find_column(const Node& node, Index id) {
    const auto at = std::lower_bound(node.columns.begin(), node.columns.end(), id,
                                     [](const NodeColumn& column, Index wanted) { return column.id < wanted; });
    return at != node.columns.end() && at->id == id ? &*at : nullptr;
}

inline const NodeColumn& column_of(const Node& node, Index id) { return *find_column(node, id); }

// Children of the node at each level of a search, reused from split to split.
class Levels {
  public:
    struct Children {
        Node left, right;
        std::vector<Index> cells;  // of the node that is divided, where its children are made of cells; empty elsewhere
        std::uint64_t frame = 0;   // of these cells; 0: they have none
    };
    Children& at(std::size_t level) {
        while (levels_.size() <= level) levels_.push_back(std::make_unique<Children>());
        return *levels_[level];
    }

  private:
    std::vector<std::unique_ptr<Children>> levels_;
};

// Room around the arrays of a column: sentinels around the ranks, and slack for the vector stores of the kernels.
inline constexpr std::size_t kRoomBefore = 1;
inline constexpr std::size_t kRoomAfter = 19;

// Writes the sentinels of an order of `rows` entries and sets its check flags.
void seal_order(const Kernel& kernel, std::uint32_t* order, Index* ranks, Index rows, bool every_end, Index& checks,
                Index& groups);

// Positions of a column in order that leave both sides of a split enough rows for a leaf.
void limit_sides(const Node& node, std::int64_t min_leaf, NodeColumn& column);

// Builds nodes; holds the scratch memory of splitting, so one builder serves one search.
class NodeBuilder {
  public:
    NodeBuilder(const Table& table, const Kernel& kernel, std::int64_t min_leaf, const Rules* rules = nullptr);

    void build_root(Node& root) const;
    // The first `position` rows of a column go left, the others right.
    void split(const Node& parent, const NodeColumn& column, Index position, Node& left, Node& right);
    // The same without any columns: for leaves. Under a measure, without rules and a minimum leaf size, the sides are
    // lists of rows and what these cost, and nothing else of them is set.
    void split_rows(const Node& parent, const NodeColumn& column, Index position, Node& left, Node& right);
    // The same by a column of the table, under a measure: rows up to a rank go left.
    void split_rows(const Node& parent, Index column, Index rank, Node& left, Node& right);
    // After `split_rows`: each column of the parent in turn. `use` is told the column and how to have it in the order
    // of one side, 0 or 1: as the only column there, or null where it does not vary. Nothing of it is kept, and it has
    // no sums of weights.
    template <class Use>
    void split_one_by_one(const Node& parent, Node& left, Node& right, const Use& use) {
        left.lay_out(left.rows, 1);
        right.lay_out(right.rows, 1);
        for (const NodeColumn& column : parent.columns) {
            NodeColumn &to_left = left.columns[0], &to_right = right.columns[0];
            to_left.id = to_right.id = column.id;
            bool parted = false;
            use(column, [&](std::size_t side) -> const NodeColumn* {
                if (!parted)
                    kernel_.partition(column.order, column.ranks, parent.rows, new_rows_.data(), to_left.order,
                                      to_left.ranks, to_right.order, to_right.ranks);
                parted = true;
                return keep_column(side ? right : left, side ? to_right : to_left) ? (side ? &to_right : &to_left)
                                                                                   : nullptr;
            });
        }
        left.columns.clear();
        right.columns.clear();
    }
    // The marked rows as a node of their own; weight_before[c][i]: marked weight of the first i rows of column c.
    void choose(const Node& parent, const std::vector<std::uint8_t>& marked, Node& chosen,
                std::vector<std::vector<Weight>>& weight_before);

  private:
    void make_room();
    void mark_rows(const Node& parent, const NodeColumn& by, Index position);
    void follow_path(const Node& parent, const NodeColumn& by, Node& left, Node& right) const;
    void list_rows(const Node& parent, Index position, Node& left, Node& right);
    void move_rows(const Node& parent, Index position, Node& left, Node& right);
    void divide_members(const Node& parent, Node& left, Node& right) const;
    void sum_rows(Node& node) const;
    bool keep_column(Node& node, NodeColumn& column) const;
    void add_weight_sums(Node& node) const;
    void weigh(const NodeColumn& column, Index positions, const Node& chosen, Weight* before);

    const Table& table_;
    const Kernel& kernel_;
    std::int64_t min_leaf_;
    const Rules* rules_;  // null where rules do not follow paths
    bool unit_weights_;
    std::vector<Weight> sums_;
    RawVector<std::uint32_t> new_rows_;  // as many as there are rows, once something is split
};

}  // namespace provetree
