// The sweep for squared error of several outputs; see squared_kernel.hpp. Included by one source file per instruction
// set.
//
// A block is passed by where the rows before it and the rows after it cost so much as two leaves that no split inside
// can be better: a split inside has them in its leaves, and more rows never cost less.
#pragma once

#include "kernels/entry.hpp"
#include "kernels/simd_double.hpp"
#include "kernels/squared_kernel.hpp"

namespace provetree {
namespace {

class OutputsSweep {
  public:
    OutputsSweep(const SquaredColumn& column, const OutputRows& rows, int outputs, int lanes, const OutputLanes& sides)
        : column_(column), rows_(rows), outputs_(outputs), numbers_(outputs + 1),
          lanes_((lanes + kDoubles - 1) / kDoubles * kDoubles), all_sides_(sides), sides_(*sides.sides),
          sized_(sides.sides->min_leaf > 1), noise_(broadcast<double>(sides_.noise)),
          min_leaf_(broadcast<double>(sides_.min_leaf - 0.5)) {
        __builtin_memset(buckets_, 0, sizeof buckets_);
        __builtin_memset(square_buckets_, 0, sizeof square_buckets_);
        __builtin_memset(count_buckets_, 0, sizeof count_buckets_);
        __builtin_memset(&sums_[1], 0, sizeof sums_[1]);
    }

    std::uint64_t run() {
        for (std::size_t b = 0; b < column_.n_blocks; ++b) {
            end_ = column_.blocks[b].end;
            add_rows();
            sum_lanes();
            for (int at = 0; at < lanes_; at += kDoubles) {
                look<0>(at);
                look<1>(at);
            }
            begin_ = end_;
            now_ = 1 - now_;
        }
        return wins_;
    }

  private:
    // Of the left rows of each lane, and of all rows: weight and weighted targets, squares, rows behind them.
    struct alignas(64) Sums {
        std::int64_t of[kMostOutputs + 1][kLanes], all[kMostOutputs + 1];
        double squares[kLanes], all_squares;
        std::int64_t counts[kLanes], all_counts;
    };
    // One side of a vector of lanes after some rows.
    struct State {
        Doubles weight, count, sum[kMostOutputs];  // or distances from the mean in place of sums
    };

    void add_rows() {
        for (Index i = begin_; i < end_; ++i) {
            const std::uint32_t row = column_.entries[i] & entry::kRowMask;
            const std::uint8_t code = rows_.codes[row];
            const std::int64_t* const sums =
                rows_.sums + static_cast<std::size_t>(row) * static_cast<unsigned>(numbers_);
            for (int k = 0; k < numbers_; ++k) buckets_[code][k] += sums[k];
            square_buckets_[code] += rows_.squares[row];
            if (sized_) count_buckets_[code] += rows_.counts[row];
        }
    }

    void sum_lanes() {
        Sums& now = sums_[now_];
        for (int k = 0; k < numbers_; ++k) {
            std::int64_t sum = 0;
            for (int lane = 0; lane < lanes_; ++lane) now.of[k][lane] = sum += buckets_[lane][k];
            now.all[k] = sum + buckets_[kLanes][k];
        }
        double squares = 0;
        std::int64_t count = 0;
        for (int lane = 0; lane < lanes_; ++lane) {
            now.squares[lane] = squares += square_buckets_[lane];
            now.counts[lane] = count += count_buckets_[lane];
        }
        now.all_squares = squares + square_buckets_[kLanes];
        now.all_counts = count + count_buckets_[kLanes];
    }

    template <int side>
    State state_of(const Sums& sums, int at) const {
        const auto of_side = [&](const std::int64_t* left, std::int64_t all) {
            const Longs sum = load_vector<Longs>(left + at);
            return to_doubles(side ? all - sum : sum);
        };
        State state{of_side(sums.of[0], sums.all[0]), of_side(sums.counts, sums.all_counts), {}};
        for (int k = 0; k < outputs_; ++k) state.sum[k] = of_side(sums.of[k + 1], sums.all[k + 1]);
        return state;
    }
    template <int side>
    Doubles squares_of(const Sums& sums, int at) const {
        const Doubles left = load_vector<Doubles>(sums.squares + at);
        return side ? sums.all_squares - left : left;
    }

    template <int side>
    void look(int at) {
        const State before = state_of<side>(sums_[1 - now_], at), after = state_of<side>(sums_[now_], at);
        const DoubleMask rows = above(after.weight, before.weight);
        if (any(rows & can_win<side>(at, before, after))) walk<side>(at, before);
    }

    template <int side>
    DoubleMask can_win(int at, const State& before, const State& after) const {
        const Doubles total = load_vector<Doubles>(sides_.weight[side] + at);
        const double* const means = all_sides_.means[side] + at;
        // Sums of no rows are 0: dividing them by next to nothing leaves 0.
        const Doubles least = broadcast<double>(0x1p-20), rest = total - after.weight;
        Doubles of_before{}, of_rest{};
        for (int k = 0; k < outputs_; ++k) {
            const Doubles after_this = load_vector<Doubles>(means + k * kLanes) * total - after.sum[k];
            of_before += before.sum[k] * before.sum[k];
            of_rest += after_this * after_this;
        }
        of_before = of_before / (before.weight > least ? before.weight : least);
        of_rest = rest > least ? of_rest / (rest > least ? rest : least) : Doubles{};
        const Doubles between = squares_of<side>(sums_[now_], at) - squares_of<side>(sums_[1 - now_], at);
        // Costs of both leaves: all squares but those of the block, less what the means take off.
        const Doubles costs = load_vector<Doubles>(all_sides_.squares[side] + at) - between - of_before - of_rest;
        const Doubles saved = load_vector<Doubles>(all_sides_.leaf[side] + at) - costs + all_sides_.rounding;
        Doubles bar = load_vector<Doubles>(sides_.best[side] + at);
        if (sized_) {
            const Doubles count = load_vector<Doubles>(sides_.count[side] + at) - before.count;
            bar = choose(above(after.count, min_leaf_) & above(count, min_leaf_),
                         load_vector<Doubles>(sides_.feasible[side] + at), bar);
        }
        return above(saved, bar * total);
    }

    // The block once more, row by row, for one vector of lanes.
    template <int side>
    void walk(int at, State state) {
        const double* const means = all_sides_.means[side] + at;
        const Doubles total = load_vector<Doubles>(sides_.weight[side] + at),
                      all = load_vector<Doubles>(sides_.count[side] + at);
        for (int k = 0; k < outputs_; ++k) state.sum[k] -= state.weight * load_vector<Doubles>(means + k * kLanes);
        const Longs lane = lanes_from(at);
        for (Index i = begin_; i < end_; ++i) {
            const std::uint32_t item = column_.entries[i], row = item & entry::kRowMask;
            const double* const steps = rows_.steps + static_cast<std::size_t>(row) * static_cast<unsigned>(numbers_);
            const DoubleMask left = at_least(lane, broadcast<std::int64_t>(rows_.codes[row]));
            const DoubleMask in = side ? inverted(left) : left;
            const Doubles weight = broadcast<double>(steps[0]);
            state.weight = add_in(state.weight, in, weight);
            if (sized_) state.count = add_in(state.count, in, broadcast<double>(rows_.counts[row]));
            for (int k = 0; k < outputs_; ++k)
                state.sum[k] =
                    add_in(state.sum[k], in, steps[k + 1] - weight * load_vector<Doubles>(means + k * kLanes));
            if (!(item & entry::kCheck)) continue;
            Doubles square{};
            for (int k = 0; k < outputs_; ++k) square += state.sum[k] * state.sum[k];
            const Doubles product = state.weight * (total - state.weight);
            const DoubleMask split = above(square, noise_) & above(product, Doubles{});
            take(sides_.best[side] + at, split, square, product);
            if (sized_)
                take(sides_.feasible[side] + at,
                     split & above(state.count, min_leaf_) & above(all - state.count, min_leaf_), square, product);
        }
    }
    void take(double* found, DoubleMask split, Doubles square, Doubles product) {
        const Doubles best = load_vector<Doubles>(found);
        const DoubleMask better = split & above(square, best * product);
        if (!any(better)) return;
        store_vector(found, choose(better, square / product, best));
        ++wins_;
    }

    const SquaredColumn& column_;
    const OutputRows& rows_;
    const int outputs_, numbers_, lanes_;
    const OutputLanes& all_sides_;
    SquaredLanes& sides_;
    const bool sized_;
    const Doubles noise_, min_leaf_;
    Index begin_ = 0, end_ = 0;  // of the block
    int now_ = 0;
    std::uint64_t wins_ = 0;
    std::int64_t buckets_[kLanes + 1][kMostOutputs + 1];
    double square_buckets_[kLanes + 1];
    std::int64_t count_buckets_[kLanes + 1];
    Sums sums_[2];  // after this block and before it, in turns
};

std::uint64_t sweep_outputs(const SquaredColumn& column, const OutputRows& rows, int outputs, int lanes,
                            const OutputLanes& sides) {
    return OutputsSweep(column, rows, outputs, lanes, sides).run();
}

}  // namespace
}  // namespace provetree
