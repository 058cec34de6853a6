// The sweeps for squared error; see squared_kernel.hpp. Included by one source file per instruction set.
//
// Why a block may be passed by. Along the block a lane's (n, s), weight and weighted sum, goes from its start to its
// end, and each row adds a step between (1, lowest) and (1, highest) times its weight. So it stays in the parallelogram
// whose other corners are reached by going all the way up first, and all the way down first. What a split saves is
// convex in (n, s), so the largest of the four corners bounds it. The start is left out: of all states of the column
// that save the most, the first one lies in a block whose start saves less, since blocks end where ties end.
//
// Rounding. Sums are exact; s and m n are rounded by 2^-53 of sums of |weight x target|, call their total A. The way up
// is a difference of such sums over (highest - lowest): the block's pad is more than its error, and both ways are made
// longer by it. Then the true corner lies on the edge from the start to the computed one, and by convexity it saves no
// more than they do. d is wrong by some 2^-51 A, and in a second walk by 2^-53 of itself for each row; with
// A^2 <= N Q (Q: squares of all rows, around their mean) that makes the saving wrong by at most
// 2^-49 Q sqrt(N / min(n, N - n)) and 2^-46 Q. A lane ignores what is better by less than 2^-46 of its best. With 2^44
// units in the cost of all rows each of these is below a unit, unless one side is a tiny part of the rows.
#pragma once

#include "kernels/simd_double.hpp"
#include "kernels/squared_kernel.hpp"

namespace provetree {
namespace {

constexpr double kBetterBy = 1 + 0x1p-46;

// Codes as whole numbers of 64 bits, to be compared with the lanes of a vector.
struct WideCodes {
    std::int64_t of[kLanes + 1];
    constexpr WideCodes() : of{} {
        for (int code = 0; code <= kLanes; ++code) of[code] = code;
    }
};
constexpr WideCodes kWideCodes{};

// A vector of lanes on one side after some rows: n, d (or s), and the count of rows behind them.
struct SquaredState {
    Doubles weight, distance, count;
};

// What a vector of lanes has found so far, and what is known of its sides.
struct SquaredGoal {
    Doubles total, mean, count;
    Doubles bar, feasible_bar;  // what has to be exceeded
};

template <bool kSized>
class SquaredSweep {
  public:
    SquaredSweep(const SquaredColumn& column, const SquaredRows& rows, int lanes, SquaredLanes& sides)
        : column_(column), rows_(rows), lanes_((lanes + kDoubles - 1) / kDoubles * kDoubles), sides_(sides),
          noise_(broadcast<double>(sides.noise)), min_leaf_(broadcast<double>(sides.min_leaf - 0.5)) {}

    std::uint64_t run() {
        for (std::size_t b = 0; b < column_.n_blocks; ++b) {
            const SquaredBlock& block = column_.blocks[b];
            add_rows(block.end);
            sum_lanes();
            if (block.one_tie)
                take_ends();
            else
                look_inside(block);
            from_ = block.end;
            all_before_ = all_;
            all_count_before_ = all_count_;
            now_ = 1 - now_;
        }
        return wins_;
    }

  private:
    [[gnu::noinline]] void add_rows(Index end) {
        for (Index i = from_; i < end; ++i) {
            const std::uint32_t row = column_.entries[i] & ~kLookBit;
            const std::uint8_t code = rows_.codes[row];
            buckets_[code] += load_vector<LongPair>(rows_.rows + row);
            if (kSized) counts_[code] += rows_.counts[row];
        }
    }

    // Sums of the left rows of each lane, and of all rows. Buckets beyond the lanes in use are empty but for the last.
    void sum_lanes() {
        LongPair sum{};
        LongPair* const sums = sums_[now_];
        for (int lane = 0; lane < lanes_; ++lane) sums[lane] = sum += buckets_[lane];
        all_ = sum + buckets_[kLanes];
        if (!kSized) return;
        std::int64_t count = 0;
        for (int lane = 0; lane < lanes_; ++lane) count_sums_[now_][lane] = count += counts_[lane];
        all_count_ = count + counts_[kLanes];
    }

    // The left side of a vector of lanes after the block.
    SquaredState left_after(int at) const {
        const SplitPairs sums = split_pairs(sums_[now_] + at);
        Doubles count{};
        if (kSized) count = to_doubles(load_vector<Longs>(count_sums_[now_] + at));
        return {to_doubles(sums.first), to_doubles(sums.second), count};
    }
    // What is not left is right.
    SquaredState right_after(const SquaredState& left) const {
        return {static_cast<double>(all_[0]) - left.weight, static_cast<double>(all_[1]) - left.distance,
                static_cast<double>(all_count_) - left.count};
    }

    // A block of one group of ties: the only split is at its end.
    void take_ends() {
        for (int at = 0; at < lanes_; at += kDoubles) {
            const SquaredState left = left_after(at);
            take_end<0>(at, left);
            take_end<1>(at, right_after(left));
        }
    }
    template <int side>
    void take_end(int at, SquaredState sums) {
        SquaredGoal goal = goal_of<side>(at);
        take<side>(at, moved<side>(at, sums, goal), goal);
    }

    // Other blocks: first all bounds, then the walks, so that walks are the only branches that nobody can foresee.
    void look_inside(const SquaredBlock& block) {
        std::uint64_t walks[2] = {0, 0};
        for (int at = 0; at < lanes_; at += kDoubles) {
            const SquaredState left = left_after(at);
            walks[0] |= std::uint64_t{look_at_side<0>(block, at, left)} << at;
            walks[1] |= std::uint64_t{look_at_side<1>(block, at, right_after(left))} << at;
        }
        for (; walks[0]; walks[0] &= walks[0] - 1) walk<0>(block.end, __builtin_ctzll(walks[0]));
        for (; walks[1]; walks[1] &= walks[1] - 1) walk<1>(block.end, __builtin_ctzll(walks[1]));
    }

    template <int side>
    bool look_at_side(const SquaredBlock& block, int at, const SquaredState& sums) {
        const SquaredGoal goal = goal_of<side>(at);
        const SquaredState before = before_[side].at(at), after = moved<side>(at, sums, goal);
        return any(above(after.weight, before.weight) & can_win(block, goal, before, after));
    }

    // Takes the state after the block, with d in place of s, as the one before the next block.
    template <int side>
    SquaredState moved(int at, SquaredState sums, const SquaredGoal& goal) {
        sums.distance -= sums.weight * goal.mean;
        store_vector(before_[side].weight + at, sums.weight);
        store_vector(before_[side].distance + at, sums.distance);
        if (kSized) store_vector(before_[side].count + at, sums.count);
        return sums;
    }

    template <int side>
    SquaredGoal goal_of(int at) const {
        SquaredGoal goal{load_vector<Doubles>(sides_.weight[side] + at), load_vector<Doubles>(sides_.mean[side] + at),
                         Doubles{}, load_vector<Doubles>(sides_.best[side] + at) * kBetterBy, Doubles{}};
        if (kSized) {
            goal.count = load_vector<Doubles>(sides_.count[side] + at);
            goal.feasible_bar = load_vector<Doubles>(sides_.feasible[side] + at) * kBetterBy;
        }
        return goal;
    }

    // The lanes that may find something better between two states.
    DoubleMask can_win(const SquaredBlock& block, const SquaredGoal& goal, const SquaredState& before,
                       const SquaredState& after) const {
        Doubles bar = goal.bar;
        // Nothing feasible lies in the block where it ends too early or begins too late.
        if (kSized)
            bar = choose(above(after.count, min_leaf_) & above(goal.count - before.count, min_leaf_), goal.feasible_bar,
                         bar);
        const Doubles to_highest = block.highest - goal.mean, to_lowest = goal.mean - block.lowest,
                      more = after.weight - before.weight;
        const Doubles pad = broadcast<double>(block.pad);
        const Doubles up = multiply_add(multiply_add(more, to_lowest, after.distance - before.distance),
                                        broadcast<double>(block.inverse), pad),
                      down = more - up + (pad + pad);
        const auto beats = [&](Doubles weight, Doubles distance) {
            const Doubles product = weight * at_least_zero(goal.total - weight);
            return above(distance * distance, multiply_add(bar, product, noise_));
        };
        return beats(after.weight, after.distance) |
               beats(before.weight + up, multiply_add(up, to_highest, before.distance)) |
               beats(before.weight + down, before.distance - down * to_lowest);
    }

    // Looks at the states of a vector of lanes after a whole group of ties.
    template <int side>
    void take(int at, const SquaredState& state, SquaredGoal& goal) {
        const Doubles product = state.weight * (goal.total - state.weight), square = state.distance * state.distance;
        const DoubleMask better = above(square, goal.bar * product);
        if (any(better)) keep(sides_.best[side] + at, better, square, product, goal.bar);
        if (!kSized) return;
        const DoubleMask feasible = above(square, goal.feasible_bar * product) & above(state.count, min_leaf_) &
                                    above(goal.count - state.count, min_leaf_);
        if (any(feasible)) keep(sides_.feasible[side] + at, feasible, square, product, goal.feasible_bar);
    }

    // Where all rows of a side are on it, d is 0 but for rounding.
    void keep(double* found, DoubleMask better, Doubles square, Doubles product, Doubles& bar) {
        better = better & above(square, noise_) & above(product, Doubles{});
        if (!any(better)) return;
        const Doubles best = choose(better, square / product, load_vector<Doubles>(found));
        store_vector(found, best);
        bar = best * kBetterBy;
        ++wins_;
    }

    // The block once more, row by row, for one vector of lanes.
    template <int side>
    [[gnu::noinline]] void walk(Index end, int at) {
        SquaredGoal goal = goal_of<side>(at);
        SquaredState state{};
        if (from_) {
            SplitPairs sums = split_pairs(sums_[1 - now_] + at);
            if (side) sums = {all_before_[0] - sums.first, all_before_[1] - sums.second};
            state.weight = to_doubles(sums.first);
            state.distance = to_doubles(sums.second) - state.weight * goal.mean;
            if (kSized) {
                const Longs count = load_vector<Longs>(count_sums_[1 - now_] + at);
                state.count = to_doubles(side ? all_count_before_ - count : count);
            }
        }
        const Longs lane = lanes_from(at);
        for (Index i = from_; i < end; ++i) {
            const std::uint32_t entry = column_.entries[i], row = entry & ~kLookBit;
            const SquaredTarget& one = rows_.targets[row];
            const DoubleMask left = at_least(lane, broadcast<std::int64_t>(kWideCodes.of[rows_.codes[row]]));
            const DoubleMask in = side ? inverted(left) : left;
            const Doubles weight = broadcast<double>(one.weight);
            state.weight = add_in(state.weight, in, weight);
            state.distance = add_in(state.distance, in, weight * (one.target - goal.mean));
            if (kSized) state.count = add_in(state.count, in, broadcast<double>(rows_.counts[row]));
            if (entry & kLookBit) take<side>(at, state, goal);
        }
    }

    const SquaredColumn& column_;
    const SquaredRows& rows_;
    const int lanes_;
    SquaredLanes& sides_;
    const Doubles noise_, min_leaf_;
    Index from_ = 0;  // of the block
    int now_ = 0;
    std::uint64_t wins_ = 0;
    LongPair all_{}, all_before_{};
    std::int64_t all_count_ = 0, all_count_before_ = 0;
    alignas(64) LongPair buckets_[kLanes + 1] = {};
    alignas(64) LongPair sums_[2][kLanes];  // after this block and the one before, in turns
    std::int64_t counts_[kLanes + 1] = {}, count_sums_[2][kLanes];
    // Both sides before the block.
    struct alignas(64) States {
        double weight[kLanes] = {}, distance[kLanes] = {}, count[kLanes] = {};
        SquaredState at(int lane) const {
            return {load_vector<Doubles>(weight + lane), load_vector<Doubles>(distance + lane),
                    kSized ? load_vector<Doubles>(count + lane) : Doubles{}};
        }
    };
    States before_[2];
};

template <bool kSized>
std::uint64_t sweep_squared(const SquaredColumn& column, const SquaredRows& rows, int lanes, SquaredLanes& sides) {
    return SquaredSweep<kSized>(column, rows, lanes, sides).run();
}

constexpr SquaredKernel make_squared_kernel() { return {&sweep_squared<false>, &sweep_squared<true>}; }

}  // namespace
}  // namespace provetree
