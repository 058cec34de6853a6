// The sweeps for squared error; see squared_kernel.hpp. Included by one source file per instruction set.
//
// Why a block may be passed by. Along the block a lane's (n, s), weight and weighted sum, goes from its start to its
// end, and each row adds a step between (1, lowest) and (1, highest) times its weight. So it stays in the parallelogram
// whose other corners are reached by going all the way up first, and all the way down first. What a split saves is
// convex in (n, s), so the largest of the four corners bounds it; the start is a split that has been looked at (blocks
// end where ties end) or no rows at all.
//
// Rounding. Sums are exact; s and m n are rounded by 2^-53 of sums of |weight x target|, call their total A. The way up
// is a difference of such sums over (highest - lowest): the block's pad is more than its error, and both ways are made
// longer by it. Then the true corner lies on the edge from the start to the computed one, and by convexity it saves no
// more than they do. d is wrong by some 2^-51 A, which with A^2 <= N Q (Q: squares of all rows) and targets around
// their mean makes the saving wrong by at most 2^-49 Q sqrt(N / min(n, N - n)), and a lane ignores what is better by
// less than 2^-46 of its best: a quarter of a unit, unless a side is a tiny part of the rows.
#pragma once

#include "kernels/entry.hpp"
#include "kernels/simd_double.hpp"
#include "kernels/squared_kernel.hpp"

namespace provetree {
namespace {

constexpr double kBetterBy = 1 + 0x1p-46;

// States of a vector of lanes on one side: rows so far, and what they save.
struct SquaredState {
    Doubles weight, distance;
};

template <bool kSized>
class SquaredSweep {
  public:
    SquaredSweep(const SquaredColumn& column, const SquaredRows& rows, int lanes, SquaredLanes& sides)
        : column_(column), rows_(rows), vectors_((lanes + kDoubles - 1) / kDoubles), sides_(sides),
          noise_(broadcast<double>(sides.noise)), min_leaf_(broadcast<double>(sides.min_leaf - 0.5)) {}

    std::uint64_t run() {
        for (std::size_t b = 0; b < column_.n_blocks; ++b) {
            const SquaredBlock& block = column_.blocks[b];
            add_rows(block.end);
            sum_lanes();
            for (int vector = 0; vector < vectors_; ++vector) look(block, vector);
            from_ = block.end;
            before_ = now_;
            all_before_ = all_;
            now_ = 1 - now_;
        }
        return wins_;
    }

  private:
    struct alignas(64) LaneSums {
        std::int64_t weight[kLanes], sum[kLanes], count[kLanes];
    };

    void add_rows(Index end) {
        for (Index i = from_; i < end; ++i) {
            const std::uint32_t row = column_.order[i] & entry::kRowMask;
            SquaredRow& bucket = buckets_[rows_.codes[row]];
            const SquaredRow& one = rows_.rows[row];
            bucket.weight += one.weight;
            bucket.sum += one.sum;
            if (kSized) counts_[rows_.codes[row]] += rows_.counts[row];
        }
    }

    // Sums of the left rows of each lane, and of all rows.
    void sum_lanes() {
        LaneSums& now = sums_[now_];
        SquaredRow sum{0, 0};
        std::int64_t count = 0;
        const int lanes = vectors_ * kDoubles;
        for (int lane = 0; lane < kLanes; ++lane) {
            if (lane == lanes) break;
            sum.weight += buckets_[lane].weight;
            sum.sum += buckets_[lane].sum;
            now.weight[lane] = sum.weight;
            now.sum[lane] = sum.sum;
            if (kSized) now.count[lane] = count += counts_[lane];
        }
        // Buckets beyond the lanes in use are empty but for the last one.
        all_ = {sum.weight + buckets_[kLanes].weight, sum.sum + buckets_[kLanes].sum};
        if (kSized) all_count_ = count + counts_[kLanes];
    }

    void look(const SquaredBlock& block, int vector) {
        const int at = vector * kDoubles;
        const LaneSums& now = sums_[now_];
        const Doubles weight = to_doubles(load_vector<Longs>(now.weight + at)),
                      sum = to_doubles(load_vector<Longs>(now.sum + at));
        Doubles count{};
        if (kSized) count = to_doubles(load_vector<Longs>(now.count + at));
        look_at_side<0>(block, at, weight, sum, count);
        look_at_side<1>(block, at, static_cast<double>(all_.weight) - weight, static_cast<double>(all_.sum) - sum,
                        static_cast<double>(all_count_) - count);
    }

    template <int side>
    void look_at_side(const SquaredBlock& block, int at, Doubles weight, Doubles sum, Doubles count) {
        const Doubles mean = load_vector<Doubles>(sides_.mean[side] + at),
                      total = load_vector<Doubles>(sides_.weight[side] + at);
        const SquaredState before{load_vector<Doubles>(weight_before_[side] + at),
                                  load_vector<Doubles>(distance_before_[side] + at)};
        const SquaredState after{weight, sum - weight * mean};
        store_vector(weight_before_[side] + at, after.weight);
        store_vector(distance_before_[side] + at, after.distance);
        Doubles count_before{};
        if (kSized) {
            count_before = load_vector<Doubles>(count_before_[side] + at);
            store_vector(count_before_[side] + at, count);
        }
        const DoubleMask rows = above(after.weight, before.weight);
        if (!any(rows)) return;
        Doubles best = load_vector<Doubles>(sides_.best[side] + at), feasible = best;
        if (kSized) feasible = load_vector<Doubles>(sides_.feasible[side] + at);
        if (block.one_tie) {
            take<side>(at, after, count, total, best, feasible);
            return;
        }
        Doubles bar = best * kBetterBy;
        if (kSized) {
            // Nothing feasible lies in the block where it ends too early or begins too late.
            const Doubles rest = load_vector<Doubles>(sides_.count[side] + at) - count_before;
            bar = choose(above(count, min_leaf_) & above(rest, min_leaf_), feasible * kBetterBy, bar);
        }
        const Doubles to_highest = block.highest - mean, to_lowest = mean - block.lowest,
                      more = after.weight - before.weight;
        const Doubles up = (after.distance - before.distance + more * to_lowest) * block.inverse + block.pad,
                      down = more - up + 2 * block.pad;
        const auto beats = [&](const SquaredState& state) {
            const Doubles product = state.weight * at_least_zero(total - state.weight);
            return above(state.distance * state.distance, bar * product + noise_);
        };
        const DoubleMask better = beats(after) | beats({before.weight + up, before.distance + up * to_highest}) |
                                  beats({before.weight + down, before.distance - down * to_lowest});
        if (any(better & rows)) walk<side>(block.end, at, before.weight, count_before, total, mean, best, feasible);
    }

    // Looks at the states of a vector of lanes after a whole group of ties.
    template <int side>
    void take(int at, const SquaredState& state, Doubles count, Doubles total, Doubles& best, Doubles& feasible) {
        const Doubles product = state.weight * (total - state.weight), square = state.distance * state.distance;
        const DoubleMask better = above(square, best * kBetterBy * product + noise_);
        if (any(better)) {
            best = choose(better, square / product, best);
            store_vector(sides_.best[side] + at, best);
            ++wins_;
        }
        if (!kSized) return;
        const Doubles rest = load_vector<Doubles>(sides_.count[side] + at) - count;
        const DoubleMask also =
            above(square, feasible * kBetterBy * product + noise_) & above(count, min_leaf_) & above(rest, min_leaf_);
        if (!any(also)) return;
        feasible = choose(also, square / product, feasible);
        store_vector(sides_.feasible[side] + at, feasible);
        ++wins_;
    }

    // The block once more, row by row, for one vector of lanes.
    template <int side>
    void walk(Index end, int at, Doubles weight, Doubles count, Doubles total, Doubles mean, Doubles best,
              Doubles feasible) {
        Longs sum{};
        if (from_) {
            sum = load_vector<Longs>(sums_[before_].sum + at);
            if (side) sum = all_before_.sum - sum;
        }
        const Longs lane = lanes_from(at);
        for (Index i = from_; i < end; ++i) {
            const std::uint32_t row = column_.order[i] & entry::kRowMask;
            const SquaredRow& one = rows_.rows[row];
            const DoubleMask left = at_least(lane, broadcast<std::int64_t>(rows_.codes[row]));
            const DoubleMask in = side ? inverted(left) : left;
            weight = add_in(weight, in, broadcast<double>(static_cast<double>(one.weight)));
            sum = add_in(sum, in, broadcast<std::int64_t>(one.sum));
            if (kSized) count = add_in(count, in, broadcast<double>(rows_.counts[row]));
            if (column_.ranks[i] != column_.ranks[i + 1])
                take<side>(at, {weight, to_doubles(sum) - weight * mean}, count, total, best, feasible);
        }
    }

    const SquaredColumn& column_;
    const SquaredRows& rows_;
    const int vectors_;
    SquaredLanes& sides_;
    const Doubles noise_, min_leaf_;
    Index from_ = 0;  // of the block
    int now_ = 0, before_ = 0;
    std::uint64_t wins_ = 0;
    SquaredRow all_{0, 0}, all_before_{0, 0};
    std::int64_t all_count_ = 0;
    SquaredRow buckets_[kLanes + 1] = {};
    std::int64_t counts_[kLanes + 1] = {};
    LaneSums sums_[2];
    alignas(64) double weight_before_[2][kLanes] = {}, distance_before_[2][kLanes] = {}, count_before_[2][kLanes] = {};
};

template <bool kSized>
std::uint64_t sweep_squared(const SquaredColumn& column, const SquaredRows& rows, int lanes, SquaredLanes& sides) {
    return SquaredSweep<kSized>(column, rows, lanes, sides).run();
}

constexpr SquaredKernel make_squared_kernel() { return {&sweep_squared<false>, &sweep_squared<true>}; }

}  // namespace
}  // namespace provetree
