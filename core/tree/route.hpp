// Sends the rows of a table down a tree of column and rank splits and tells what arrives at each node.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.hpp"
#include "table/table.hpp"
#include "tree/plan.hpp"

namespace provetree {

// The rows of the table in the order of the leaves that they end in, those of a leaf in the order of the table. Each
// node has those from `begin` to before `end`.
struct NodeRows {
    std::vector<std::int64_t> rows, begin, end;
};

struct Routed {
    std::vector<std::int64_t> weights;       // of each class, node by node
    std::vector<std::int64_t> counts;        // rows
    std::vector<std::int32_t> left, right;   // children, -1 for leaves
    std::vector<std::int32_t> depth;         // splits above
    std::vector<std::int32_t> label;         // the class that weighs most, the first of them on a tie
    std::vector<std::uint8_t> heavier_left;  // of splits: the left child weighs at least as much as the right one
    // Ranks of the rows at a split: the last that goes left, the first that goes right, the ends; -1: none.
    std::vector<std::int64_t> last_left, first_right, lowest, highest;
    NodeRows reached;  // where they are wanted
};

// Nodes in preorder, column -1 for a leaf, rank <= `rank` goes left. Throws std::invalid_argument where the nodes are
// no tree or name a column that does not exist.
Routed route_rows(const Table& table, const std::vector<std::int64_t>& column, const std::vector<std::int64_t>& rank,
                  bool keep_rows = false);

// The leaf that a row of the table ends in; at each split it goes left up to the lower of the two ranks.
inline std::size_t leaf_of(const FlatTree& tree, const Table& table, Index row) {
    std::size_t at = 0;
    while (tree.column[at] >= 0) {
        const Index rank = table.ranks[static_cast<std::size_t>(tree.column[at]) * table.rows + row];
        at = static_cast<std::size_t>(rank <= static_cast<Index>(tree.rank_low[at]) ? tree.left[at] : tree.right[at]);
    }
    return at;
}

}  // namespace provetree
