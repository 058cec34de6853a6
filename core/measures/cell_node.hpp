// A node of a table of few values: its cells, its columns with the values they still have, and its targets as whole
// numbers of so few bits that pair sums fit the kernel.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/raw_vector.hpp"
#include "kernels/cell_kernel.hpp"
#include "measures/cell_rows.hpp"
#include "sweeps/node.hpp"

namespace provetree {

// Sums over cells, one number after the other so that they are added at once: weight and target as the kernel takes
// them, squares in small whole steps, the key of the set, its rows with what they can add, and how many cells they are.
struct CellSums {
    std::int64_t packed = 0, squares = 0;
    CellKey key;
    std::int64_t extent = 0;  // rows times 2^32, and their reach
    std::int64_t cells = 0;

    void operator+=(const CellSums& other) {
        packed += other.packed;
        squares += other.squares;
        key += other.key;
        extent += other.extent;
        cells += other.cells;
    }
    CellSums operator-(const CellSums& other) const {
        return {packed - other.packed, squares - other.squares, key - other.key, extent - other.extent,
                cells - other.cells};
    }
    Index rows() const { return static_cast<Index>(extent >> 32); }
    Weight reach() const { return static_cast<Weight>(extent & 0xffffffff); }
};

class CellNode {
  public:
    // A threshold: rows up to a rank are below it.
    struct Split {
        int column;
        int value;  // the last one below it, counted over all columns
        Index rank;
        int feature = 0;         // whose rows are those on one side of it
        bool has_below = false;  // which is the side below it
    };

    // Lists the cells of a node. False where its rows are not whole cells.
    bool list_cells(const CellRows& rows, const Node& node);
    void list_cells(const CellRows& rows, std::vector<Index> cells);
    // The same set of cells has the same key.
    const CellKey& key() const { return key_; }
    const std::vector<Index>& cells() const { return cells_; }
    // Before the rest is taken: cells of fewer uncommon values come first.
    void sort_by_rare(const CellRows& rows);
    // All the rest, once the cells are listed.
    void take(const CellRows& rows);

    int columns() const { return static_cast<int>(column_count_); }
    // Column of the table.
    Index id(int column) const { return ids_[static_cast<std::size_t>(column)]; }
    // The place of a column of the table; -1 where it does not vary.
    int place_of(Index id) const;
    // As many splits as the kernel has features. Those of a column adjoin, in the order of its ranks.
    int splits() const { return static_cast<int>(splits_.size()); }
    int first_split(int column) const { return first_value_[static_cast<std::size_t>(column)] - column; }
    const Split& split(int number) const { return splits_[static_cast<std::size_t>(number)]; }
    const Split& split_of_feature(int feature) const {
        return splits_[split_of_feature_[static_cast<std::size_t>(feature)]];
    }
    // How many features of its run are before each one (see the kernel); padded.
    const std::int64_t* place_in_run() const { return place_in_run_.data(); }
    int first_value(int column) const { return first_value_[static_cast<std::size_t>(column)]; }
    const CellSums& of_value(int value) const { return of_value_[static_cast<std::size_t>(value)]; }

    Index size() const { return static_cast<Index>(cells_.size()); }
    // The number in the table of a cell.
    Index cell(Index at) const { return cells_[at]; }
    // The place of a value among those of the table.
    std::size_t place_of_value(int value) const { return place_of_value_[static_cast<std::size_t>(value)]; }
    std::int64_t packed(Index at) const { return sums_[at].packed; }
    const CellSums& sums(Index at) const { return sums_[at]; }
    // The features that begin to have the values of a cell, in rising order.
    std::span<const std::uint16_t> features(Index at) const {
        return {&features_[start_[at]], start_[at + 1] - start_[at]};
    }

    const CellSums& all() const { return all_; }
    // Squares as the kernel takes them, in one of the small steps.
    double square_step() const { return square_step_; }
    // How far what the kernel says of a sum of squares can be off, for any part of the node.
    double error() const { return error_; }
    // The measure's squares in one of the kernel's.
    double scale() const { return scale_; }

    // The cells in the order of a column: those of its value u are first[u] .. first[u + 1] - 1, counted from its
    // first.
    void sort_by(const CellRows& rows, int column, std::vector<Index>& order, std::vector<Index>& first);

    // Adds cells to the kernel's cells, or takes them off.
    void add(std::int64_t* to, const Index* from, const Index* end) const { change<1>(to, from, end); }
    void subtract(std::int64_t* to, const Index* from, const Index* end) const { change<-1>(to, from, end); }

  private:
    void take_targets(const CellRows& rows);
    void sum_values(const CellRows& rows);
    void list_columns(const CellRows& rows);
    void number_features(const CellRows& rows);
    void list_features(const CellRows& rows);
    template <int kSign>
    void change(std::int64_t* to, const Index* from, const Index* end) const;

    // What stands at a place of the table's ranks, in this node.
    struct Place {
        std::uint16_t value, feature;
        bool is_common;  // no feature begins to have it, or the column does not vary
    };
    // A column whose most common value is another one here than in the table: the places of the column, and that of the
    // value that is most common in the table.
    struct Flipped {
        std::size_t first, end;
        std::uint16_t common;
    };

    std::size_t column_count_ = 0;
    std::vector<Index> ids_;  // of the columns that vary
    std::vector<int> first_value_;
    std::vector<CellSums> at_place_;
    std::vector<Place> places_;
    std::vector<std::uint16_t> place_of_value_;
    std::vector<Split> splits_;
    std::vector<std::size_t> split_of_feature_;
    std::vector<std::int64_t> place_in_run_;
    std::vector<CellSums> of_value_;
    std::vector<Index> cells_, sorted_;
    std::vector<std::uint32_t> seen_;  // by cell of the table: when it was met last
    std::uint32_t now_ = 0;
    std::vector<Flipped> flipped_;
    RawVector<std::uint16_t> features_;  // that begin to have the values of a cell, those of each cell from start_ on
    RawVector<Index> start_;
    RawVector<CellSums> sums_;
    CellSums all_;
    CellKey key_;
    double square_step_ = 1, error_ = 0, scale_ = 1;
    std::vector<Index> next_;
};

}  // namespace provetree
