// The columns of a node as the sweeps for squared error want them: blocks, and an order of sweeping.
#pragma once

#include <cstdint>
#include <vector>

#include "base/raw_vector.hpp"
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

    using NoCount = void (*)(const SquaredCount&, const SquaredCount&);

    // Sweeps all columns: sweep(column) tells how often it found something better. Columns that gave the best stumps
    // lately come first: the better the stumps at hand, the more is passed by.
    // `wanted(c)`: whether the column of the node could have something better. `count(one, other)` counts rows for one
    // or two columns before their sweep, where they are packed.
    template <class Sweep, class Wanted, class Count>
    void sweep(const Node& node, const Sweep& sweep, const Wanted& wanted, const Count* count) {
        std::uint64_t most = 0;
        std::size_t winner = 0;
        for (std::size_t i = 0; i < order_.size(); ++i) {
            if (!wanted(order_[i])) continue;
            SquaredColumn& column = columns_[order_[i]];
            if (count && !column.cells && counts(node, order_[i])) {
                std::size_t next = i + 1;
                while (next < order_.size() && !(counts(node, order_[next]) && wanted(order_[next]))) ++next;
                const bool both = next < order_.size();
                (*count)(counted(order_[i], 0), both ? counted(order_[next], 1) : SquaredCount{});
            }
            const std::uint64_t wins = sweep(column);
            swept_[order_[i]] = 1;
            column.cells = nullptr;
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

    // Whether rows are counted for the sweep of a column.
    bool counts(const Node& node, Index c);
    SquaredCount counted(Index c, std::size_t room);
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
    // Of each column of the node: whether it was swept, whether its rows have places for the kernel's count, and these.
    std::vector<std::uint8_t> swept_, placed_;
    std::vector<RawVector<std::uint16_t>> places_;
    LineVector<std::int64_t> cells_[2];
    std::vector<Index> order_;        // columns of the node in the order of sweeping
    std::vector<std::uint64_t> won_;  // of each column of the table: when it last gave the most
    std::uint64_t clock_ = 0;
};

}  // namespace provetree
