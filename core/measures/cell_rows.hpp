// The rows of a table of few values, merged where all columns agree: one cell each, with the sums that squared errors
// need. A split never divides such rows, so every node consists of whole cells.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/types.hpp"
#include "base/wide.hpp"
#include "loss/measure.hpp"
#include "table/table.hpp"

namespace provetree {

// Names a set of cells: the sum of a random number of 128 bits for each.
struct CellKey {
    std::uint64_t high = 0, low = 0;
    void operator+=(const CellKey& other) {
        high += other.high;
        low += other.low;
    }
    CellKey operator-(const CellKey& other) const { return {high - other.high, low - other.low}; }
    bool operator==(const CellKey&) const = default;
};

class CellRows {
  public:
    static constexpr Index kMostValues = 128;  // of a column
    static constexpr std::size_t kMostFeatures = 512;
    static constexpr std::size_t kMostPerColumn = 64;  // features, on average
    static constexpr Weight kMostWeight = 1 << 24;     // single floats hold all whole numbers up to here

    // What every node asks for fills one line of the cache.
    struct alignas(64) Cell {
        std::int64_t weight = 0, target = 0;  // of all rows, weighted
        double approximate_squares = 0, inverse_weight = 0;
        CellKey key;
        Index rows = 0;
        Weight reach = 0;        // what they can add at most
        std::int64_t count = 0;  // original rows behind them
        Wide squares = 0;

        // Sums of cells: without a key.
        void operator+=(const Cell& other) {
            weight += other.weight;
            target += other.target;
            rows += other.rows;
            reach += other.reach;
            count += other.count;
            squares += other.squares;
        }
        void operator-=(const Cell& other) {
            weight -= other.weight;
            target -= other.target;
            rows -= other.rows;
            reach -= other.reach;
            count -= other.count;
            squares -= other.squares;
        }
    };

    static bool fit(const Table& table);
    static std::size_t features(const Table& table);  // thresholds of all columns
    explicit CellRows(const Table& table);

    const Measure& measure() const { return measure_; }
    // Whether rows weigh what they count, so that weights tell whether a leaf has enough rows.
    bool weights_count() const { return weights_count_; }
    std::size_t size() const { return cells_.size(); }
    std::size_t columns() const { return columns_; }
    Index cell_of(Index row) const { return cell_of_[row]; }
    const Cell& cell(Index number) const { return cells_[number]; }
    // The ranks of a cell, by column.
    const std::uint8_t* ranks(Index number) const { return &ranks_[std::size_t{number} * columns_]; }
    // The ranks of all columns are one row of places: those of a column begin at first_place, and `places` has that of
    // each rank of a cell, by column.
    std::size_t first_place(std::size_t column) const { return first_place_[column]; }
    const std::uint16_t* places(Index number) const { return &places_[std::size_t{number} * columns_]; }
    // The places of a cell that are not those of the most common value of their column, by column.
    struct Rare {
        const std::uint16_t *first, *last;
        const std::uint16_t* begin() const { return first; }
        const std::uint16_t* end() const { return last; }
        std::ptrdiff_t size() const { return last - first; }
    };
    Rare rare(Index number) const { return {&rare_[rare_start_[number]], &rare_[rare_start_[number + 1]]}; }
    std::size_t common_place(std::size_t column) const { return common_place_[column]; }

  private:
    void list_places(const Table& table);

    const Measure& measure_;
    std::size_t columns_;
    bool weights_count_ = true;
    std::vector<Index> cell_of_;
    std::vector<Cell> cells_;
    std::vector<std::uint8_t> ranks_;
    std::vector<std::size_t> first_place_;  // of each column, and after the last one
    std::vector<std::uint16_t> places_, rare_;
    std::vector<std::size_t> rare_start_, common_place_;
};

}  // namespace provetree
