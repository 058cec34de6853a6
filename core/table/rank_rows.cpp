// The ranks of a table row by row; see table/rank_rows.hpp.
#include "table/rank_rows.hpp"

#include <algorithm>

namespace provetree {

RankRows::RankRows(const Table& table) {
    if (table.columns > kMostColumns) return;
    for (const Index top : table.tops)
        if (top > kMostRank) return;
    width_ = table.columns <= 8 ? 8 : table.columns <= 16 ? 16 : 32;
    const std::size_t width = static_cast<std::size_t>(width_);
    ranks_.assign(width * table.rows, 0);
    // Some rows at a time, so that what is written stays near.
    constexpr Index kRowsAtOnce = 256;
    for (Index first = 0; first < table.rows; first += kRowsAtOnce) {
        const Index end = std::min(table.rows, first + kRowsAtOnce);
        for (Index c = 0; c < table.columns; ++c) {
            const Index* const of_row = ranks_of(table, c);
            for (Index row = first; row < end; ++row) ranks_[row * width + c] = static_cast<std::uint16_t>(of_row[row]);
        }
    }
}

}  // namespace provetree
