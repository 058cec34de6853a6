// The trees of a table that cost at most so much, counted by cost.
#pragma once

#include <functional>

#include "near_optimal/column_rules.hpp"
#include "near_optimal/level.hpp"

namespace provetree {

// The deepest trees that are counted.
inline constexpr int kDeepestCounted = 3;

// Counts the trees of a node: what the request says of it. Stopped by a limit, it has counted the trees of some of the
// splits: there are at least so many. `tick` is called about every 20 ms and returns false to interrupt.
Level count_near_optimal(const Table& table, const std::int32_t* features, const std::uint8_t* kinds,
                         const LevelRequest& request, const std::function<bool()>& tick);

// How many of these trees predict each class for each row of the table, row by row. None where a limit ended the
// count.
struct VotesResult {
    std::vector<double> votes;
    LevelStatus status = LevelStatus::kComplete;
};
VotesResult count_votes(const Table& table, const std::int32_t* features, const std::uint8_t* kinds,
                        const LevelRequest& request, const std::function<bool()>& tick);

}  // namespace provetree
