// The columns of a node as the sweeps for squared error want them: blocks, and an order of sweeping.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/squared_kernel.hpp"
#include "run/context.hpp"
#include "sweeps/node.hpp"

namespace provetree {

class SquaredColumns {
  public:
    explicit SquaredColumns(const Context& context) : context_(context) {}

    // `targets`: of the rows of the node, for the bounds of blocks; null where they go without. `largest_sum`: what the
    // sums in such a bound stay below.
    void start(const Node& node, const SquaredTarget* targets, double largest_sum);

    // Sweeps all columns: sweep(column) tells how often it found something better. Columns that gave the best stumps
    // lately come first: the better the stumps at hand, the more is passed by.
    // `wanted(c)`: whether the column of the node could have something better.
    template <class Sweep, class Wanted>
    void sweep(const Node& node, const Sweep& sweep, const Wanted& wanted) {
        std::uint64_t most = 0;
        std::size_t winner = 0;
        for (std::size_t i = 0; i < order_.size(); ++i) {
            if (!wanted(order_[i])) continue;
            const std::uint64_t wins = sweep(columns_[order_[i]]);
            if (wins <= most) continue;
            most = wins;
            winner = i;
        }
        if (most) put_first(node, winner);
    }

  private:
    // Adjoining rows of a column, from one end of ties to another.
    struct Stretch {
        Index begin, end, groups;
        Index rows() const { return end - begin; }
    };

    void add_column(const Node& node, const NodeColumn& column);
    void add_blocks_of_ties(const Node& node, const NodeColumn& column);
    void add_block(const Stretch& rows, const std::uint32_t* entries);
    void put_first(const Node& node, std::size_t place);

    const Context& context_;
    const SquaredTarget* targets_ = nullptr;
    double largest_sum_ = 0;
    Index block_rows_ = 0;
    std::vector<SquaredBlock> blocks_;
    std::vector<std::size_t> first_block_;
    std::vector<SquaredColumn> columns_;
    std::vector<Index> order_;        // columns of the node in the order of sweeping
    std::vector<std::uint64_t> won_;  // of each column of the table: when it last gave the most
    std::uint64_t clock_ = 0;
};

}  // namespace provetree
