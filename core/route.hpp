// Sends the rows of a table down a tree of column and rank splits and tells what arrives at each node.
#pragma once

#include <cstdint>
#include <vector>

#include "types.hpp"

namespace provetree {

struct Routed {
    std::vector<std::int64_t> weights;  // of each class, node by node; zero for splits
    std::vector<std::int64_t> counts;   // rows; zero for splits
    // Of the rows that arrive at a split, ranks in its column: the last that goes left, the first that goes right, and the ends.
    // -1 where there is none.
    std::vector<std::int64_t> last_left, first_right, lowest, highest;
};

// Rows of a column-major table of ranks; nodes in preorder, column -1 for a leaf, rank <= `rank` goes left. Throws std::invalid_argument where the
// nodes are no tree or name a column that does not exist.
Routed route_rows(const Index* ranks, std::size_t columns, std::size_t rows, const std::int32_t* classes, const std::int64_t* weights,
                  const std::int64_t* counts, std::size_t n_classes, const std::vector<std::int64_t>& column, const std::vector<std::int64_t>& rank);

}  // namespace provetree
