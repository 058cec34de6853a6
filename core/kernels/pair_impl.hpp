// Bounds on stumps below the splits of two families of columns; see pair_kernel.hpp. Included by one source file per
// instruction set.
//
// Inside a block. Let d be d0 before it and d1 after it, and let rows T of it lie before a split. The distances of T
// from the mean m sum up to at most those of all rows of the block above m, which is half of (d1 - d0) and of their
// absolute sum; likewise from below. So |d| <= (|d0 + d1| + the sum of |t - m|) / 2, and n (N - n) is concave, at least
// what it is at one of the ends. Nor does a split inside a block save more than leaves of the rows before it and of the
// rows after it do, with nothing left to pay for the rows in it: that is less near the ends of a column.
#pragma once

#include "kernels/pair_kernel.hpp"
#include "kernels/simd_double.hpp"

namespace provetree {
namespace {

// Counts rows by the codes of both families; two rows may not wait for each other, so small tables have copies.
void count_pairs(const PairRows& rows, const PairFamily& one, const PairFamily& other, std::int64_t* cells) {
    const int size = one.codes * kPairStride;
    const std::uint8_t *const first = one.of_row, *const second = other.of_row;
    const auto cell = [&](Index row) { return first[row] * kPairStride + second[row]; };
    std::memset(cells, 0, sizeof *cells * static_cast<std::size_t>(2 * size));
    std::int64_t* const copy = cells + size;
    Index row = 0;
    for (; row + 1 < rows.rows; row += 2) {
        cells[cell(row)] += rows.packed[row];
        copy[cell(row + 1)] += rows.packed[row + 1];
    }
    if (row < rows.rows) cells[cell(row)] += rows.packed[row];
    for (int i = 0; i < size; ++i) cells[i] += copy[i];
}

// From cells [code of the family whose lanes are rows][code of the one whose lanes are columns] to the sums of all
// pairs of lanes, as weights and as targets.
void sum_lanes(const std::int64_t* cells, const PairFamily& down, const PairFamily& across,
               const PairScratch& scratch) {
    const int codes = (across.codes + kDoubles - 1) / kDoubles * kDoubles;
    alignas(64) std::int64_t sums[kPairStride] = {}, lanes[kPairLanes];
    for (int i = across.lanes; i < kPairLanes; ++i) lanes[i] = 0;
    for (int r = 0; r < down.lanes; ++r) {
        const Longs follows = broadcast<std::int64_t>(down.follows[r]);
        const std::int64_t* const more = cells + down.code[r] * kPairStride;
        for (int i = 0; i < codes; i += kDoubles)
            store_vector(sums + i, (load_vector<Longs>(sums + i) & follows) + load_vector<Longs>(more + i));
        std::int64_t sum = 0;
        for (int lane = 0; lane < across.lanes; ++lane)
            lanes[lane] = sum = (sum & across.follows[lane]) + sums[across.code[lane]];
        for (int at = 0; at < across.lanes; at += kDoubles) {
            const Longs packed = load_vector<Longs>(lanes + at);
            const Longs targets = packed << (64 - kPairSumBits) >> (64 - kPairSumBits);
            store_vector(scratch.weights + r * kPairLanes + at, to_doubles((packed - targets) >> kPairSumBits));
            store_vector(scratch.targets + r * kPairLanes + at, to_doubles(targets));
        }
    }
}

inline Doubles size_of(Doubles a) { return (Doubles)((Longs)a & 0x7fffffffffffffffLL); }
inline Doubles least_of(Doubles a, Doubles b) { return choose(above(a, b), b, a); }

// What stumps on the inner family can save below the lanes of the outer one.
class PairBounds {
  public:
    PairBounds(const PairFamily& outer, const PairFamily& inner, const PairScratch& scratch, double noise)
        : outer_(outer), inner_(inner), scratch_(scratch), noise_(broadcast<double>(noise)) {}

    void run() {
        for (int at = 0; at < outer_.lanes; at += kDoubles) {
            look<0>(at);
            look<1>(at);
        }
    }

  private:
    struct State {
        Doubles weight, distance, product;  // n, d, and n (N - n)
    };

    template <int side>
    void look(int at) {
        total_ = load_vector<Doubles>(outer_.weight[side] + at);
        mean_ = load_vector<Doubles>(outer_.mean[side] + at);
        size_of_mean_ = size_of(mean_);
        found_ = load_vector<Doubles>(outer_.found[side] + at);
        most_ = found_ * 0.5;
        State before{};
        for (int r = 0; r < inner_.lanes; ++r) {
            State after{load_vector<Doubles>(scratch_.weights + r * kPairLanes + at),
                        load_vector<Doubles>(scratch_.targets + r * kPairLanes + at), Doubles{}};
            if (side) {
                after.weight = inner_.total_weight[r] - after.weight;
                after.distance = inner_.total_target[r] - after.distance;
            }
            after.distance = after.distance - after.weight * mean_;
            after.product = after.weight * (total_ - after.weight);
            const Doubles square = after.distance * after.distance;
            const DoubleMask better = above(square, most_ * after.product + noise_);
            if (any(better)) find(better, square / after.product);
            if (inner_.blocks[r].inside) look_inside(inner_.blocks[r], before, after);
            before = after;
        }
        store_vector(outer_.found[side] + at, found_);
        store_vector(outer_.most[side] + at, most_);
    }

    void find(DoubleMask better, Doubles saved) {
        most_ = choose(better, saved, most_);
        found_ = choose(better & above(saved, found_), saved, found_);
    }

    void look_inside(const PairBlock& block, const State& before, const State& after) {
        const Doubles more = after.weight - before.weight;
        const Doubles reach =
            least_of(block.distances + block.weight * size_of_mean_, more * (block.farthest + size_of_mean_));
        const Doubles twice = size_of(before.distance + after.distance) + reach;
        const Doubles square = twice * twice * 0.25, product = least_of(before.product, after.product);
        const DoubleMask open = above(square, most_ * product + noise_) & above(more, Doubles{});
        if (any(open)) bound_inside(block, before, after, open, square, product);
    }

    [[gnu::noinline]] void bound_inside(const PairBlock& block, const State& before, const State& after,
                                        DoubleMask open, Doubles square, Doubles product) {
        const Doubles from_mean = mean_ - block.mean, farthest = block.farthest + size_of_mean_,
                      squares = least_of(block.squares + block.weight * (from_mean * from_mean),
                                         (after.weight - before.weight) * (farthest * farthest));
        const Doubles saved = quotient(before.distance * before.distance, before.weight, 0) +
                              quotient(after.distance * after.distance, total_ - after.weight, 0) + squares;
        const Doubles of_leaves = quotient(saved * (1 + 0x1p-40), total_, 0);
        const Doubles bound = least_of(of_leaves, quotient(square, product, 1e300));
        most_ = choose(open & above(bound, most_), bound, most_);
    }
    static Doubles quotient(Doubles a, Doubles b, double where_zero) {
        const DoubleMask positive = above(b, Doubles{});
        return choose(positive, a / choose(positive, b, broadcast<double>(1)), broadcast<double>(where_zero));
    }

    const PairFamily &outer_, &inner_;
    const PairScratch& scratch_;
    const Doubles noise_;
    Doubles total_, mean_, size_of_mean_, found_, most_;
};

void bound_pair(const PairRows& rows, const PairFamily& one, const PairFamily& other, const PairScratch& scratch) {
    count_pairs(rows, one, other, scratch.cells);
    if (other.wanted) {
        sum_lanes(scratch.cells, one, other, scratch);
        PairBounds(other, one, scratch, rows.noise).run();
    }
    if (&one == &other || !one.wanted) return;
    std::int64_t* const turned = scratch.cells + one.codes * kPairStride;
    for (int i = 0; i < one.codes; ++i)
        for (int j = 0; j < other.codes; ++j) turned[j * kPairStride + i] = scratch.cells[i * kPairStride + j];
    sum_lanes(turned, other, one, scratch);
    PairBounds(one, other, scratch, rows.noise).run();
}

}  // namespace
}  // namespace provetree
