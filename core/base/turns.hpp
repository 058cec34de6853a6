// Going over many rows in four parts that take turns.
//
// Neighbours of a table are often alike. Where each row adds to a number of its kind, such as how many rows have its
// value, a row like the one before it would wait until that has been stored.
#pragma once

#include "base/types.hpp"

namespace provetree {

inline constexpr Index kTurns = 4;

// Calls use(part, row) for all rows: those of a part in ascending order, parts one after the other in the table.
template <class Use>
void in_turns(Index rows, const Use& use) {
    const Index step = rows / kTurns;
    for (Index i = 0; i < step; ++i) {
        use(Index{0}, i);
        use(Index{1}, i + step);
        use(Index{2}, i + 2 * step);
        use(Index{3}, i + 3 * step);
    }
    for (Index row = kTurns * step; row < rows; ++row) use(Index{3}, row);
}

}  // namespace provetree
