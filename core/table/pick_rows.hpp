// A table of some rows of another one, in any order and any number of times: the same columns and ranks, so that a
// split means the same in both.
#pragma once

#include <cstdint>
#include <vector>

#include "table/table.hpp"

namespace provetree {

// From now on the table has these of its rows. Their ranks and classes are kept in `ranks` and `classes`; what they
// weigh is left to the caller. Not of a measure, which knows the rows by their numbers.
inline void pick_rows(Table& table, const std::vector<Index>& rows, std::vector<Index>& ranks,
                      std::vector<std::int32_t>& classes) {
    ranks.resize(rows.size() * table.columns);
    for (std::size_t c = 0; c < table.columns; ++c)
        for (std::size_t i = 0; i < rows.size(); ++i)
            ranks[c * rows.size() + i] = table.ranks[c * table.rows + rows[i]];
    classes.clear();
    for (const Index row : rows) classes.push_back(table.classes[row]);
    table.rows = static_cast<Index>(rows.size());
    table.ranks = ranks.data();
    table.classes = classes.data();
}

}  // namespace provetree
