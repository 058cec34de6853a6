// The kernel of linear costs, for the instruction set this file is compiled for; see kernels/linear_kernel.hpp.
//
// Rows are added to buckets, one for each lane, so that the work for a row does not grow with the lanes. At the end of
// a block, sums over buckets give the sums of each lane, turned so that a vector holds one action of many lanes.
#pragma once

#include "kernels/entry.hpp"
#include "kernels/linear_kernel.hpp"
#include "kernels/simd.hpp"

namespace provetree {
namespace {

using Lanes = Vector<std::int32_t>;
typedef std::int32_t Four __attribute__((vector_size(16)));

constexpr int kLanesOfVector = kWidth<std::int32_t>;
constexpr int kQuarters = kLanesOfVector / 4;

inline Lanes load(const std::int32_t* from) {
    Lanes lanes;
    std::memcpy(&lanes, from, sizeof lanes);
    return lanes;
}
inline void store(std::int32_t* to, Lanes lanes) { std::memcpy(to, &lanes, sizeof lanes); }
inline Four load_four(const std::int32_t* from) {
    Four four;
    std::memcpy(&four, from, sizeof four);
    return four;
}

inline bool any_below(Lanes a, Lanes b) {
#if defined(__AVX512BW__)
    return _mm512_cmplt_epi32_mask((__m512i)a, (__m512i)b) != 0;
#elif defined(__AVX2__)
    return _mm256_movemask_epi8((__m256i)(a < b)) != 0;
#else
    const Lanes below = a < b;
    return (below[0] | below[1] | below[2] | below[3]) != 0;
#endif
}

// Where lane `lane` of a vector is stored before four actions of the vector's lanes are turned.
constexpr int slot_of(int lane) { return lane % 4 * kQuarters + lane / 4; }

// Turns four actions of each lane into the lanes of each of four actions.
inline void turn(const std::int32_t* slots, Lanes by_action[4]) {
#if defined(__AVX512BW__)
    const __m512i a = _mm512_load_si512(slots), b = _mm512_load_si512(slots + 16), c = _mm512_load_si512(slots + 32),
                  d = _mm512_load_si512(slots + 48);
    const __m512i ab = _mm512_unpacklo_epi32(a, b), cd = _mm512_unpacklo_epi32(c, d);
    const __m512i ab_high = _mm512_unpackhi_epi32(a, b), cd_high = _mm512_unpackhi_epi32(c, d);
    by_action[0] = (Lanes)_mm512_unpacklo_epi64(ab, cd);
    by_action[1] = (Lanes)_mm512_unpackhi_epi64(ab, cd);
    by_action[2] = (Lanes)_mm512_unpacklo_epi64(ab_high, cd_high);
    by_action[3] = (Lanes)_mm512_unpackhi_epi64(ab_high, cd_high);
#elif defined(__AVX2__)
    const __m256i* at = reinterpret_cast<const __m256i*>(slots);
    const __m256i a = _mm256_load_si256(at), b = _mm256_load_si256(at + 1), c = _mm256_load_si256(at + 2),
                  d = _mm256_load_si256(at + 3);
    const __m256i ab = _mm256_unpacklo_epi32(a, b), cd = _mm256_unpacklo_epi32(c, d);
    const __m256i ab_high = _mm256_unpackhi_epi32(a, b), cd_high = _mm256_unpackhi_epi32(c, d);
    by_action[0] = (Lanes)_mm256_unpacklo_epi64(ab, cd);
    by_action[1] = (Lanes)_mm256_unpackhi_epi64(ab, cd);
    by_action[2] = (Lanes)_mm256_unpacklo_epi64(ab_high, cd_high);
    by_action[3] = (Lanes)_mm256_unpackhi_epi64(ab_high, cd_high);
#else
    for (int action = 0; action < 4; ++action)
        by_action[action] = Lanes{slots[action], slots[4 + action], slots[8 + action], slots[12 + action]};
#endif
}

inline Lanes lane_numbers(int first) {
    Lanes numbers{};
    for (int lane = 0; lane < kLanesOfVector; ++lane) numbers[lane] = first + lane;
    return numbers;
}

// A sweep of one column. kFixed: the width of a row, so that loops over actions unroll; 0: any width.
template <int kFixed>
class LinearSweep {
  public:
    LinearSweep(const LinearColumn& column, const LinearLanes& lanes, LaneCosts& best, LaneCosts& lowest)
        : column_(column), lanes_(lanes), best_(best), lowest_(lowest), width_(kFixed ? kFixed : lanes.width) {
        std::int32_t* at = reinterpret_cast<std::int32_t*>(lanes.scratch);
        const auto take = [&](int count) {
            std::int32_t* const taken = at;
            at += (count + 15) / 16 * 16;
            return taken;
        };
        now_ = take(width_ * kLanes);
        before_ = take(width_ * kLanes);
        slots_ = take(width_ * kLanes);
        buckets_ = take(width_ * (kLanes + 1));
        walked_ = take(width_ * kLanesOfVector);
        all_ = take(width_);
        all_before_ = take(width_);
    }

    std::uint64_t run() {
        std::memset(buckets_, 0, sizeof(std::int32_t) * static_cast<unsigned>(width_ * (lanes_.lanes + 1)));
        std::memset(before_, 0, sizeof(std::int32_t) * static_cast<unsigned>(width_ * kLanes));
        std::memset(all_before_, 0, sizeof(std::int32_t) * static_cast<unsigned>(width_));
        std::memset(&cost_before_, 0, sizeof cost_before_);
        for (int lane = 0; lane < kLanes; ++lane) lowest_.left[lane] = lowest_.right[lane] = kMost;
        Index begin = 0;
        for (std::size_t b = 0; b < column_.n_blocks; ++b) {
            const RowBlock block = column_.blocks[b];
            for (Index i = begin; i < block.end; ++i) {
                const std::uint32_t row = column_.order[i] & entry::kRowMask;
                std::int32_t* const to = buckets_ + lanes_.buckets[row] * width_;
                const std::int32_t* const costs = lanes_.costs + std::size_t{row} * static_cast<unsigned>(width_);
                for (int a = 0; a < width_; ++a) to[a] += costs[a];
            }
            sum_buckets();
            for (int first = 0; first < lanes_.lanes; first += kLanesOfVector) end_block({begin, block}, first);
            begin = block.end;
            swap(now_, before_);
            swap(all_, all_before_);
        }
        return wins_;
    }

  private:
    static constexpr std::int32_t kMost = 0x7fffffff;
    struct Rows {
        Index begin;
        RowBlock block;
    };

    static void swap(std::int32_t*& a, std::int32_t*& b) {
        std::int32_t* const c = a;
        a = b;
        b = c;
    }

    void sum_buckets() {
        for (int four = 0; four < width_ / 4; ++four) {
            const std::int32_t* from = buckets_ + 4 * four;
            std::int32_t* const slots = slots_ + 4 * kLanes * four;
            Four sum{};
            for (int first = 0; first < lanes_.lanes; first += kLanesOfVector)
                for (int lane = 0; lane < kLanesOfVector; ++lane, from += width_) {
                    sum += load_four(from);
                    std::memcpy(slots + 4 * (first + slot_of(lane)), &sum, sizeof sum);
                }
            sum += load_four(from);
            std::memcpy(all_ + 4 * four, &sum, sizeof sum);
        }
    }

    // A split inside the block costs at least what the rows before the block do and those after it: costs are not
    // negative, so more rows never cost less.
    void end_block(const Rows& rows, int first) {
        Lanes before_left = broadcast(kMost), before_right = before_left, after_left = before_left,
              after_right = before_left;
        for (int four = 0; four < width_ / 4; ++four) {
            Lanes sums[4];
            turn(slots_ + 4 * (kLanes * four + first), sums);
            for (int k = 0; k < 4; ++k) {
                const int action = 4 * four + k, at = action * kLanes + first;
                const Lanes left = sums[k], right = broadcast(all_[action]) - left;
                store(now_ + at, left);
                before_left = smaller<std::int32_t>(before_left, left);
                before_right = smaller<std::int32_t>(before_right, right);
                after_left = smaller<std::int32_t>(after_left, load(lanes_.total_left + at) - left);
                after_right = smaller<std::int32_t>(after_right, load(lanes_.total_right + at) - right);
            }
        }
        end_side<false>(rows, first, before_left, after_left);
        end_side<true>(rows, first, before_right, after_right);
    }

    template <bool kRight>
    void end_side(const Rows& rows, int first, Lanes before, Lanes after) {
        std::int32_t* const best_at = (kRight ? best_.right : best_.left) + first;
        std::int32_t* const lowest_at = (kRight ? lowest_.right : lowest_.left) + first;
        std::int32_t* const was = (kRight ? cost_before_.right : cost_before_.left) + first;
        const Lanes bound = load(was) + after, at_end = before + after, best = load(best_at);
        Lanes low = rows.block.one_tie ? at_end : bound;
        store(was, before);
        if (any_below(bound, best)) {
            wins_ += any_below(at_end, best);
            Lanes better = smaller<std::int32_t>(best, at_end);
            if (!rows.block.one_tie && any_below(bound, better)) {
                const Lanes inside = smaller<std::int32_t>(walk_block<kRight>(rows, first), at_end);
                low = inside;
                better = smaller<std::int32_t>(better, inside);
            }
            store(best_at, better);
        }
        store(lowest_at, smaller<std::int32_t>(load(lowest_at), low));
    }

    // The best split inside the block, row by row.
    template <bool kRight>
    Lanes walk_block(const Rows& rows, int first) {
        ++wins_;
        const std::int32_t* const totals = (kRight ? lanes_.total_right : lanes_.total_left) + first;
        Lanes fixed[kFixed ? kFixed : 1];
        Lanes* sums = fixed;
        if constexpr (kFixed == 0) sums = reinterpret_cast<Lanes*>(walked_);
        for (int a = 0; a < width_; ++a) {
            const Lanes left = load(before_ + a * kLanes + first);
            sums[a] = kRight ? broadcast(all_before_[a]) - left : left;
        }
        const Lanes numbers = lane_numbers(first);
        Lanes least = broadcast(kMost);
        for (Index i = rows.begin; i + 1 < rows.block.end; ++i) {
            const std::uint32_t row = column_.order[i] & entry::kRowMask;
            const Lanes bucket = broadcast(static_cast<std::int32_t>(lanes_.buckets[row]));
            const Lanes in = (Lanes)(kRight ? numbers < bucket : numbers >= bucket);
            const std::int32_t* const costs = lanes_.costs + std::size_t{row} * static_cast<unsigned>(width_);
            if (column_.no_ties || column_.ranks[i] != column_.ranks[i + 1]) {
                Lanes before = broadcast(kMost), after = before;
                for (int a = 0; a < width_; ++a) {
                    sums[a] += broadcast(costs[a]) & in;
                    before = smaller<std::int32_t>(before, sums[a]);
                    after = smaller<std::int32_t>(after, load(totals + a * kLanes) - sums[a]);
                }
                least = smaller<std::int32_t>(least, before + after);
            } else {
                for (int a = 0; a < width_; ++a) sums[a] += broadcast(costs[a]) & in;
            }
        }
        return least;
    }

    const LinearColumn& column_;
    const LinearLanes& lanes_;
    LaneCosts &best_, &lowest_;
    const int width_;
    std::int32_t *now_, *before_, *slots_, *buckets_, *walked_, *all_, *all_before_;
    LaneCosts cost_before_;
    std::uint64_t wins_ = 0;
};

inline std::uint64_t linear_sweep(const LinearColumn& column, const LinearLanes& lanes, LaneCosts& best,
                                  LaneCosts& lowest) {
    switch (lanes.width) {
        case 4: return LinearSweep<4>(column, lanes, best, lowest).run();
        case 8: return LinearSweep<8>(column, lanes, best, lowest).run();
        case 12: return LinearSweep<12>(column, lanes, best, lowest).run();
        case 16: return LinearSweep<16>(column, lanes, best, lowest).run();
        case 20: return LinearSweep<20>(column, lanes, best, lowest).run();
        case 24: return LinearSweep<24>(column, lanes, best, lowest).run();
        default: return LinearSweep<0>(column, lanes, best, lowest).run();
    }
}

inline ExactStump exact_sweep(const ExactSide& side) {
    std::int64_t* const sums = side.scratch;
    for (int a = 0; a < side.actions; ++a) sums[a] = 0;
    ExactStump best{kInfinite, kInfinite};
    std::int64_t count = 0;
    bool any = false;
    Index rank = 0;
    for (Index i = 0; i < side.rows; ++i) {
        const std::uint32_t row = side.order[i] & entry::kRowMask;
        if ((side.buckets[row] > side.lane) != side.right) continue;
        if (any && side.ranks[i] != rank) {
            std::int64_t before = kInfinite, after = kInfinite;
            for (int a = 0; a < side.actions; ++a) {
                before = smaller_of(before, sums[a]);
                after = smaller_of(after, side.total[a] - sums[a]);
            }
            const Cost cost = before + after;
            best.any = smaller_of(best.any, cost);
            if (side.min_leaf <= 1 || (count >= side.min_leaf && side.count - count >= side.min_leaf))
                best.feasible = smaller_of(best.feasible, cost);
        }
        any = true;
        rank = side.ranks[i];
        if (side.min_leaf > 1) count += side.counts[row];
        const std::int64_t* const costs = side.costs + std::size_t{side.ids[row]} * static_cast<unsigned>(side.actions);
        for (int a = 0; a < side.actions; ++a) sums[a] += costs[a];
    }
    return best;
}

constexpr LinearKernel make_linear_kernel() { return {linear_sweep, exact_sweep}; }

}  // namespace
}  // namespace provetree
