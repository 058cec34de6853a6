// A node of a table of few values: its cells, its columns with the values they still have, and its targets as whole
// numbers of so few bits that pair sums fit the kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "base/raw_vector.hpp"
#include "kernels/cell_kernel.hpp"
#include "measures/cell_rows.hpp"
#include "sweeps/node.hpp"

namespace provetree {

// Cells with those of their values that are not the most common of their column.
struct CellList {
    RawVector<Index> start;  // of the values of each cell
    RawVector<std::uint16_t> values;
    RawVector<std::int64_t> packed;

    // Cells and values are written without a branch: there is room for one value more.
    void make_room(std::size_t cells, std::size_t most_values) {
        start.resize(cells + 1);
        packed.resize(cells);
        values.resize(most_values + 1);
        start[0] = 0;
    }
};

class CellNode {
  public:
    // A value of a column.
    struct Value {
        Index rank;
        Index position;   // rows of the node up to it
        Index cells = 0;  // cells with it
        std::int64_t packed = 0;
        double squares = 0;
        CellKey key{};
    };

    // False where the rows are not whole cells.
    bool take(const CellRows& rows, const Node& node);

    const CellColumns& columns() const { return columns_; }
    int features() const { return columns_.features(); }
    int column_of(int feature) const { return column_of_[static_cast<std::size_t>(feature)]; }
    // The last value below a feature.
    int value_below(int feature) const { return feature + column_of(feature); }
    const Value& value(int number) const { return values_[static_cast<std::size_t>(number)]; }
    Index size() const { return static_cast<Index>(cells_.size()); }
    // Numbers in the table of its cells, in the order of this node.
    Index cell(Index at) const { return cells_[at]; }
    // The values of a cell, by column.
    const std::uint16_t* values_of(Index at) const { return &values_of_[std::size_t{at} * column_count_]; }

    // Sums of all cells: packed as the kernel takes them, and of squares.
    std::int64_t packed() const { return packed_sum_; }
    std::int64_t packed(Index at) const { return list_.packed[at]; }
    double squares() const { return squares_; }
    CellKey key() const { return key_; }
    // How far what the kernel says of a sum of squares can be off, for any part of the node.
    double error() const { return error_; }
    // The measure's squares in one of the kernel's.
    double scale() const { return scale_; }

    const CellList& cells() const { return list_; }
    // The cells in the order of a column, without its values: those of its value u are first[u] .. first[u + 1] - 1,
    // counted from its first value.
    void sort_by(int column, CellList& sorted, std::vector<Index>& first);

    // Adds some cells of a list to sums over pairs of values, or takes them off.
    void add(std::int64_t* sums, const CellList& list, Index from, Index to) const { change<1>(sums, list, from, to); }
    void subtract(std::int64_t* sums, const CellList& list, Index from, Index to) const {
        change<-1>(sums, list, from, to);
    }

  private:
    void list_columns(const Node& node);
    void take_targets(const CellRows& rows);
    void find_common();
    template <int kSign>
    void change(std::int64_t* sums, const CellList& list, Index from, Index to) const;

    std::size_t column_count_ = 0;
    CellColumns columns_{};
    std::vector<int> first_value_, common_, column_of_;
    std::vector<std::uint16_t> value_of_rank_;  // by column and rank
    std::vector<Value> values_;
    std::vector<Index> cells_;
    std::vector<std::uint32_t> seen_;  // by cell of the table: when it was met last
    std::uint32_t now_ = 0;
    std::vector<std::uint16_t> values_of_;
    CellList list_;
    std::vector<Index> order_, next_;
    std::int64_t packed_sum_ = 0;
    double squares_ = 0, error_ = 0, scale_ = 1;
    CellKey key_;
};

}  // namespace provetree
