// The sweeps for squared error; see squared_kernel.hpp. Included by one source file per instruction set.
//
// Why a block may be passed by. Along the block a lane's (n, s), weight and weighted sum, goes from its start to its
// end, and each row adds a step between (1, lowest) and (1, highest) times its weight. So it stays in the parallelogram
// whose other corners are reached by going all the way up first, and all the way down first. What a split saves is
// convex in (n, s), so the largest of the four corners bounds it. Start and end are splits that have been looked at
// (blocks end where ties end, and a run of one class that goes on beyond them ends elsewhere). With a minimum leaf size
// they may be better than what is feasible inside, so then they count.
//
// Rounding. Sums are exact, packed or not; s and m n are rounded by 2^-53 of sums of |weight x target|, call their
// total A. The way up is a difference of such sums over (highest - lowest): the block's pad is more than its error, and
// both ways are made longer by it. Then the true corner lies on the edge from the start to the computed one, and by
// convexity it saves no more than they do. d is wrong by some 2^-51 A, and in a second walk by 2^-53 of itself for each
// row; with A^2 <= N Q (Q: squares of all rows, around their mean) that makes the saving wrong by at most 2^-49 Q
// sqrt(N / min(n, N - n)) and 2^-46 Q. A lane ignores what is better by less than 2^-46 of its best. With 2^44 units in
// the cost of all rows each of these is below a unit, unless one side is a tiny part of the rows.
#pragma once

#include "base/turns.hpp"
#include "kernels/entry.hpp"
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

// A vector of lanes on one side after some rows: n, d, and the count of rows behind them.
struct SquaredState {
    Doubles weight, distance, count;
};

// What is known of a side of a vector of lanes, and what has to be exceeded.
struct SquaredGoal {
    Doubles total, mean, count, bar, feasible_bar;
};

// The largest square / product so far, without a division until the end.
struct SquaredFraction {
    Doubles square, product;
    explicit SquaredFraction(Doubles start) : square(start), product(broadcast<double>(1)) {}
    void take(DoubleMask wanted, Doubles of_square, Doubles of_product) {
        const DoubleMask better = wanted & above(of_square * product, square * of_product * kBetterBy);
        square = choose(better, of_square, square);
        product = choose(better, of_product, product);
    }
};

// Sums of weights and of weighted targets that are added up together: side by side, or packed into one number.
template <bool kPacked>
struct SquaredSum {
    using Type = LongPair;
    static constexpr int kSets = 2;
};
template <>
struct SquaredSum<true> {
    using Type = std::int64_t;
    static constexpr int kSets = 4;
};

// A column is swept in strips of blocks. First all rows of a strip are added up, then the ends of its blocks are looked
// at, then bounds tell which blocks to walk: by then most lanes have come close to their best.
template <bool kSized, bool kPacked>
class SquaredSweep {
  public:
    SquaredSweep(const SquaredColumn& column, const SquaredRows& rows, int lanes, SquaredLanes& sides)
        : column_(column), rows_(rows), lanes_((lanes + kDoubles - 1) / kDoubles * kDoubles), sides_(sides),
          noise_(broadcast<double>(sides.noise)), min_leaf_(broadcast<double>(sides.min_leaf - 0.5)) {
        for (Sum(&set)[kLanes + 1] : buckets_)
            for (Sum& bucket : set) bucket = Sum{};
        for (int lane = 0; lane < lanes_; ++lane) sums_[0][lane] = Sum{};
        all_[0] = Sum{};
        if (!kSized) return;
        for (std::int64_t& bucket : count_buckets_) bucket = 0;
        for (int lane = 0; lane < lanes_; ++lane) counts_[0][lane] = 0;
        all_counts_[0] = 0;
    }

    std::uint64_t run() {
        for (std::size_t b = 0; b < column_.n_blocks; b += kStrip) {
            blocks_ = column_.blocks + b;
            n_blocks_ = static_cast<int>(smaller_of<std::size_t>(kStrip, column_.n_blocks - b));
            for (int i = 0; i < n_blocks_; ++i) {
                if (counted())
                    add_counted(i, column_.cells + (b + static_cast<std::size_t>(i)) * kSquaredCodes);
                else
                    add_block(i);
            }
            for (int at = 0; at < lanes_; at += kDoubles) {
                look<0>(at);
                look<1>(at);
            }
            begin_ = blocks_[n_blocks_ - 1].end;
            for (int lane = 0; lane < lanes_; ++lane) sums_[0][lane] = sums_[n_blocks_][lane];
            all_[0] = all_[n_blocks_];
            if (!kSized) continue;
            for (int lane = 0; lane < lanes_; ++lane) counts_[0][lane] = counts_[n_blocks_][lane];
            all_counts_[0] = all_counts_[n_blocks_];
        }
        return wins_;
    }

  private:
    using Sum = typename SquaredSum<kPacked>::Type;
    static constexpr int kStrip = 32;
    // Sets of buckets, filled in turns: a row need not wait for the one before it that has the same code.
    static constexpr int kSets = SquaredSum<kPacked>::kSets;

    Index begin_of(int block) const { return block ? blocks_[block - 1].end : begin_; }

    bool counted() const { return kPacked && !kSized && column_.cells; }

    // `add_block` of rows that have been counted.
    void add_counted(int block, const std::int64_t* cells) {
        if constexpr (kPacked) {
            std::int64_t* const buckets = buckets_[0];
            for (int lane = 0; lane < lanes_; ++lane) buckets[lane] += cells[lane];
            buckets[kLanes] += cells[kLanes];
            std::int64_t sum = 0;
            std::int64_t* const sums = sums_[block + 1];
            for (int lane = 0; lane < lanes_; lane += kDoubles) {
                const Longs upto = running_sums(load_vector<Longs>(buckets + lane)) + sum;
                store_vector(sums + lane, upto);
                sum = upto[kDoubles - 1];
            }
            all_[block + 1] = sum + buckets[kLanes];
        }
    }

    // Adds the rows of a block to their buckets, then sums up the left rows of each lane, and all rows. Buckets beyond
    // the lanes in use are empty but for the last one.
    [[gnu::noinline]] void add_block(int block) {
        const Index end = blocks_[block].end;
        const auto add = [&](Sum* buckets, Index at) {
            const std::uint32_t row = column_.entries[at] & entry::kRowMask;
            const std::uint8_t code = rows_.codes[row];
            if constexpr (kPacked)
                buckets[code] += rows_.packed[row];
            else
                buckets[code] += load_vector<LongPair>(rows_.rows + row);
            if (kSized) count_buckets_[code] += rows_.counts[row];
        };
        Index i = begin_of(block);
        for (; i + kSets <= end; i += kSets)
            for (int set = 0; set < kSets; ++set) add(buckets_[set], i + static_cast<Index>(set));
        for (; i < end; ++i) add(buckets_[0], i);
        const auto in_all_sets = [&](int code) {
            Sum sum = buckets_[0][code];
            for (int set = 1; set < kSets; ++set) sum += buckets_[set][code];
            return sum;
        };
        Sum sum{};
        Sum* const sums = sums_[block + 1];
        for (int lane = 0; lane < lanes_; ++lane) sums[lane] = sum += in_all_sets(lane);
        all_[block + 1] = sum + in_all_sets(kLanes);
        if (!kSized) return;
        std::int64_t count = 0;
        for (int lane = 0; lane < lanes_; ++lane) counts_[block + 1][lane] = count += count_buckets_[lane];
        all_counts_[block + 1] = count + count_buckets_[kLanes];
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

    // A vector of lanes before a block of the strip; what is not left is right.
    template <int side>
    SquaredState state_before(int block, int at, Doubles mean) const {
        SquaredState state{};
        if constexpr (kPacked) {
            // From half of 2^shift on, so that sums are not negative.
            const Longs from = broadcast<std::int64_t>(std::int64_t{1} << (rows_.shift - 1)),
                        left = load_vector<Longs>(sums_[block] + at), sums = from + (side ? all_[block] - left : left);
            state.weight = small_to_doubles((Longs)((UnsignedLongs)sums >> rows_.shift));
            state.distance = small_to_doubles(sums & (from + from - 1)) - to_doubles(from) - state.weight * mean;
        } else {
            SplitPairs sums = split_pairs(sums_[block] + at);
            if (side) sums = {all_[block][0] - sums.first, all_[block][1] - sums.second};
            state.weight = to_doubles(sums.first);
            state.distance = to_doubles(sums.second) - state.weight * mean;
        }
        if (kSized) {
            const Longs count = load_vector<Longs>(counts_[block] + at);
            state.count = to_doubles(side ? all_counts_[block] - count : count);
        }
        return state;
    }

    template <int side>
    void look(int at) {
        take_ends<side>(at);
        const SquaredGoal goal = goal_of<side>(at);
        std::uint32_t walks = 0;
        SquaredState after{};
        for (int i = 0, known = -1; i < n_blocks_; ++i) {
            if (blocks_[i].one_tie) continue;
            const SquaredState before = known == i ? after : state_before<side>(i, at, goal.mean);
            after = state_before<side>(known = i + 1, at, goal.mean);
            walks |= std::uint32_t{any(can_win(blocks_[i], goal, before, after))} << i;
        }
        for (; walks; walks &= walks - 1) walk<side>(__builtin_ctz(walks), at);
    }

    // The ends of blocks are ends of ties. Where all rows of a side are on it, d is 0 but for rounding. Most strips
    // have nothing better than what was found before them.
    template <int side>
    void take_ends(int at) {
        const SquaredGoal goal = goal_of<side>(at);
        std::uint32_t better = 0;
        for (int i = 0; i < n_blocks_; ++i) {
            const SquaredEnd end = end_of<side>(i, at, goal);
            DoubleMask wins = above(end.square, multiply_add(goal.bar, end.product, noise_));
            if (kSized) wins |= end.feasible & above(end.square, multiply_add(goal.feasible_bar, end.product, noise_));
            better |= std::uint32_t{any(wins)} << i;
        }
        if (!better) return;
        const Doubles start = load_vector<Doubles>(sides_.best[side] + at);
        const Doubles feasible_start = kSized ? load_vector<Doubles>(sides_.feasible[side] + at) : start;
        SquaredFraction best(start), feasible(feasible_start);
        for (; better; better &= better - 1) {
            const SquaredEnd end = end_of<side>(__builtin_ctz(better), at, goal);
            const DoubleMask split = above(end.square, noise_) & above(end.product, Doubles{});
            best.take(split, end.square, end.product);
            if (kSized) feasible.take(split & end.feasible, end.square, end.product);
        }
        keep(sides_.best[side] + at, best, start);
        if (kSized) keep(sides_.feasible[side] + at, feasible, feasible_start);
    }
    // A split at the end of a block, with d^2 and n (N - n).
    struct SquaredEnd {
        Doubles square, product;
        DoubleMask feasible;
    };
    template <int side>
    SquaredEnd end_of(int block, int at, const SquaredGoal& goal) const {
        const SquaredState state = state_before<side>(block + 1, at, goal.mean);
        SquaredEnd end{state.distance * state.distance, state.weight * (goal.total - state.weight), DoubleMask{}};
        if (kSized) end.feasible = above(state.count, min_leaf_) & above(goal.count - state.count, min_leaf_);
        return end;
    }
    void keep(double* found, const SquaredFraction& best, Doubles start) {
        const Doubles now = best.square / best.product;
        store_vector(found, now);
        wins_ += any(above(now, start));
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
        DoubleMask better = beats(before.weight + up, multiply_add(up, to_highest, before.distance)) |
                            beats(before.weight + down, before.distance - down * to_lowest);
        if (kSized) better |= beats(before.weight, before.distance) | beats(after.weight, after.distance);
        return above(more, Doubles{}) & better;
    }

    // A block once more, row by row, for one vector of lanes.
    template <int side>
    [[gnu::noinline]] void walk(int block, int at) {
        SquaredGoal goal = goal_of<side>(at);
        SquaredState state = state_before<side>(block, at, goal.mean);
        const Longs lane = lanes_from(at);
        const Index end = blocks_[block].end;
        for (Index i = begin_of(block); i < end; ++i) {
            const std::uint32_t item = column_.entries[i], row = item & entry::kRowMask;
            const SquaredTarget& one = rows_.targets[row];
            const DoubleMask left = at_least(lane, broadcast<std::int64_t>(kWideCodes.of[rows_.codes[row]]));
            const DoubleMask in = side ? inverted(left) : left;
            const Doubles weight = broadcast<double>(one.weight);
            state.weight = add_in(state.weight, in, weight);
            state.distance = add_in(state.distance, in, weight * (one.target - goal.mean));
            if (kSized) state.count = add_in(state.count, in, broadcast<double>(rows_.counts[row]));
            if (item & entry::kCheck) take<side>(at, state, goal);
        }
    }

    // Looks at the states of a vector of lanes after a whole group of ties.
    template <int side>
    void take(int at, const SquaredState& state, SquaredGoal& goal) {
        const Doubles product = state.weight * (goal.total - state.weight), square = state.distance * state.distance;
        const DoubleMask better = above(square, goal.bar * product);
        if (any(better)) improve(sides_.best[side] + at, better, square, product, goal.bar);
        if (!kSized) return;
        const DoubleMask feasible = above(square, goal.feasible_bar * product) & above(state.count, min_leaf_) &
                                    above(goal.count - state.count, min_leaf_);
        if (any(feasible)) improve(sides_.feasible[side] + at, feasible, square, product, goal.feasible_bar);
    }
    void improve(double* found, DoubleMask better, Doubles square, Doubles product, Doubles& bar) {
        better = better & above(square, noise_) & above(product, Doubles{});
        if (!any(better)) return;
        const Doubles best = choose(better, square / product, load_vector<Doubles>(found));
        store_vector(found, best);
        bar = best * kBetterBy;
        ++wins_;
    }

    const SquaredColumn& column_;
    const SquaredRows& rows_;
    const int lanes_;
    SquaredLanes& sides_;
    const Doubles noise_, min_leaf_;
    const SquaredBlock* blocks_ = nullptr;  // of the strip
    int n_blocks_ = 0;
    Index begin_ = 0;
    std::uint64_t wins_ = 0;
    alignas(64) Sum buckets_[kSets][kLanes + 1];
    // Before each block of the strip and after the last one: the left rows of each lane, and all rows.
    alignas(64) Sum sums_[kStrip + 1][kLanes];
    Sum all_[kStrip + 1];
    std::int64_t count_buckets_[kSized ? kLanes + 1 : 1], all_counts_[kSized ? kStrip + 1 : 1];
    std::int64_t counts_[kSized ? kStrip + 1 : 1][kLanes];
};

void clear_cells(const SquaredCount& column, int lanes) {
    for (std::size_t b = 0; b < column.n_blocks; ++b) {
        std::int64_t* const cells = column.cells + b * kSquaredCodes;
        for (int at = 0; at < lanes; at += kDoubles) store_vector(cells + at, Longs{});
        cells[kLanes] = 0;
    }
}

// Rows are taken as they lie in memory, which is faster than in the order of a column: everything but the cells is read
// from front to back.
void count_squared(const SquaredCount& one, const SquaredCount& other, const SquaredRows& rows, Index n_rows,
                   int lanes) {
    clear_cells(one, lanes);
    std::int64_t *const cells = one.cells, *const more = other.cells;
    const std::uint16_t *const places = one.places, *const others = other.places;
    const std::uint8_t* const codes = rows.codes;
    const std::int64_t* const packed = rows.packed;
    const auto add = [=](Index, std::size_t row) { cells[std::size_t{places[row]} + codes[row]] += packed[row]; };
    const auto add_both = [=](Index, std::size_t row) {
        const std::int64_t number = packed[row];
        const std::size_t code = codes[row];
        cells[places[row] + code] += number;
        more[others[row] + code] += number;
    };
    if (!others) return in_turns(n_rows, add);
    clear_cells(other, lanes);
    in_turns(n_rows, add_both);
}

template <bool kSized>
std::uint64_t sweep_squared(const SquaredColumn& column, const SquaredRows& rows, int lanes, SquaredLanes& sides) {
    return rows.packed ? SquaredSweep<kSized, true>(column, rows, lanes, sides).run()
                       : SquaredSweep<kSized, false>(column, rows, lanes, sides).run();
}

}  // namespace
}  // namespace provetree
