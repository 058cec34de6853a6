// The ranks of a table row by row, in 16 bits: all that a panel asks about a row lies together.
#pragma once

#include <cstdint>

#include "base/raw_vector.hpp"
#include "table/table.hpp"

namespace provetree {

class RankRows {
  public:
    static constexpr Index kMostColumns = 32, kMostRank = 0xffff;

    explicit RankRows(const Table& table);

    // Rows of 8, 16 or 32 ranks; 0: the table has more columns or higher ranks, and nothing is kept.
    int width() const { return width_; }
    const std::uint16_t* data() const { return ranks_.data(); }

  private:
    int width_ = 0;
    LineVector<std::uint16_t> ranks_;
};

}  // namespace provetree
