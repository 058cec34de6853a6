// Counting near-optimal trees; see near_optimal/near_optimal.hpp.
#include "near_optimal/near_optimal.hpp"

#include <algorithm>
#include <tuple>

#include "near_optimal/bit_counter.hpp"
#include "near_optimal/row_votes.hpp"
#include "near_optimal/sweep_counter.hpp"
#include "table/unmerged.hpp"

namespace provetree {

namespace {

LevelStatus status_of_stop(StopReason reason) {
    return reason == StopReason::kTimeLimit ? LevelStatus::kTimeLimit : LevelStatus::kInterrupted;
}

// What the counter has by the time it ends or is stopped.
template <class Counter>
Level counted(Counter& counter) {
    LevelStatus status = LevelStatus::kComplete;
    try {
        counter.count();
    } catch (const StopSearch& stop) {
        status = status_of_stop(stop.reason);
    } catch (const OutOfMemory&) {
        status = LevelStatus::kMemoryLimit;
    } catch (const TooManyTrees&) {
        status = LevelStatus::kTooMany;
    }
    Level level;
    try {
        level = counter.take();
    } catch (const TooManyTrees&) {
        status = LevelStatus::kTooMany;
    }
    level.status = status;
    std::sort(level.splits.begin(), level.splits.end(), [](const LevelSplit& a, const LevelSplit& b) {
        return std::tie(a.question.column, a.question.rank) < std::tie(b.question.column, b.question.rank);
    });
    return level;
}

}  // namespace

Level count_near_optimal(const Table& table, const std::int32_t* features, const std::uint8_t* kinds,
                         const LevelRequest& request, const std::function<bool()>& tick) {
    Monitor monitor(request.time_limit, tick);
    const bool on_bits = BitCounter::fits(table, request);
    const Unmerged unmerged(table);
    const Table& used = on_bits ? table : unmerged.table;
    Context context(used, choose_kernel(request.kernel), request.min_leaf, request.switches, request.memory_limit,
                    monitor);
    const ColumnRules rules(used, features, kinds);
    if (on_bits) {
        BitCounter counter(context, rules, request);
        return counted(counter);
    }
    SweepCounter counter(context, rules, request);
    return counted(counter);
}

VotesResult count_votes(const Table& table, const std::int32_t* features, const std::uint8_t* kinds,
                        const LevelRequest& request, const std::function<bool()>& tick) {
    Monitor monitor(request.time_limit, tick);
    Level level;
    if (request.depth == 3) level = count_near_optimal(table, features, kinds, request, tick);
    if (level.status != LevelStatus::kComplete) return {{}, level.status};
    Context context(table, choose_kernel(request.kernel), request.min_leaf, request.switches, request.memory_limit,
                    monitor);
    const ColumnRules rules(table, features, kinds);
    try {
        return {RowVotes(context, rules, request).vote(level.splits), LevelStatus::kComplete};
    } catch (const StopSearch& stop) {
        return {{}, status_of_stop(stop.reason)};
    }
}

}  // namespace provetree
