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

template <int kValue>
struct Constant {
    static constexpr int value = kValue;
};

inline Lanes lane_numbers(int first) {
    Lanes numbers{};
    for (int lane = 0; lane < kLanesOfVector; ++lane) numbers[lane] = first + lane;
    return numbers;
}

// Sums of the rows seen so far on both sides of each lane. kFixed: the width of a row, so that loops over actions
// unroll; 0: any width.
template <int kFixed>
class LaneSums {
  public:
    explicit LaneSums(const LinearLanes& lanes) : lanes_(lanes), width_(kFixed ? kFixed : lanes.width) {
        at_ = reinterpret_cast<std::int32_t*>(lanes.scratch);
        slots_ = take(width_ * kLanes);
        buckets_ = take(width_ * (kLanes + 1));
        all_ = take(width_);
        clear(buckets_, width_ * (lanes_.lanes + 1));
    }

  protected:
    static constexpr std::int32_t kMost = 0x7fffffff;
    // The least over actions of sums: of the rows seen and of those to come, left and right of each lane.
    struct Leaves {
        Lanes before_left, before_right, after_left, after_right;
    };

    std::int32_t* take(int count) {
        std::int32_t* const taken = at_;
        at_ += (count + 15) / 16 * 16;
        return taken;
    }
    static void clear(std::int32_t* numbers, int count) {
        std::memset(numbers, 0, sizeof(std::int32_t) * static_cast<unsigned>(count));
    }
    const std::int32_t* costs_of(std::uint32_t row) const {
        return lanes_.costs + std::size_t{row} * static_cast<unsigned>(width_);
    }

    // Sums over buckets up to each lane, and over all.
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

    // Calls keep(action, sums of the left sides) as well.
    template <class Keep>
    Leaves leaves(int first, const Keep& keep) const {
        const Lanes most = broadcast(kMost);
        Leaves least{most, most, most, most};
        for (int four = 0; four < width_ / 4; ++four) {
            Lanes sums[4];
            turn(slots_ + 4 * (kLanes * four + first), sums);
            for (int k = 0; k < 4; ++k) {
                const int action = 4 * four + k, at = action * kLanes + first;
                const Lanes left = sums[k], right = broadcast(all_[action]) - left;
                keep(action, left);
                least.before_left = smaller<std::int32_t>(least.before_left, left);
                least.before_right = smaller<std::int32_t>(least.before_right, right);
                least.after_left = smaller<std::int32_t>(least.after_left, load(lanes_.total_left + at) - left);
                least.after_right = smaller<std::int32_t>(least.after_right, load(lanes_.total_right + at) - right);
            }
        }
        return least;
    }

    const LinearLanes& lanes_;
    const int width_;
    std::int32_t *slots_, *buckets_, *all_;

  private:
    std::int32_t* at_;
};

// A sweep of one column.
template <int kFixed>
class LinearSweep : LaneSums<kFixed> {
  public:
    LinearSweep(const LinearColumn& column, const LinearLanes& lanes, LaneCosts& best, LaneCosts& lowest)
        : Base(lanes), column_(column), best_(best), lowest_(lowest) {
        now_ = take(width_ * kLanes);
        before_ = take(width_ * kLanes);
        walked_ = take(width_ * kLanesOfVector);
        all_before_ = take(width_);
        clear(before_, width_ * kLanes);
        clear(all_before_, width_);
        std::memset(&cost_before_, 0, sizeof cost_before_);
        for (int lane = 0; lane < kLanes; ++lane) lowest_.left[lane] = lowest_.right[lane] = kMost;
    }

    std::uint64_t run() {
        Index begin = 0;
        for (std::size_t b = 0; b < column_.n_blocks; ++b) {
            const RowBlock block = column_.blocks[b];
            for (Index i = begin; i < block.end; ++i) {
                const std::uint32_t row = column_.order[i] & entry::kRowMask;
                std::int32_t* const to = buckets_ + lanes_.buckets[row] * width_;
                const std::int32_t* const costs = costs_of(row);
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
    using Base = LaneSums<kFixed>;
    using Base::lanes_, Base::width_, Base::slots_, Base::buckets_, Base::all_, Base::take, Base::clear, Base::costs_of,
        Base::sum_buckets, Base::leaves, Base::kMost;
    struct Rows {
        Index begin;
        RowBlock block;
    };

    static void swap(std::int32_t*& a, std::int32_t*& b) {
        std::int32_t* const c = a;
        a = b;
        b = c;
    }

    // A split inside the block costs at least what the rows before the block do and those after it: costs are not
    // negative, so more rows never cost less.
    void end_block(const Rows& rows, int first) {
        const auto least = leaves(first, [&](int action, Lanes left) { store(now_ + action * kLanes + first, left); });
        end_side<false>(rows, first, least.before_left, least.after_left);
        end_side<true>(rows, first, least.before_right, least.after_right);
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
            const std::int32_t* const costs = costs_of(row);
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
    LaneCosts &best_, &lowest_;
    std::int32_t *now_, *before_, *walked_, *all_before_;
    LaneCosts cost_before_;
    std::uint64_t wins_ = 0;
};

// Two columns at once: every split of the one with every split of the other, both cut into groups of rows.
//
// With S(i, j) the sums of the rows up to group i of the one and up to group j of the other, a split of the one after
// group i with a stump of the other inside group j costs at least leaf(S(i, j - 1)) + leaf(S(i, all) - S(i, j)) on its
// left; its right and the other way round are the same sums.
template <int kFixed>
class PairSweep : LaneSums<kFixed> {
  public:
    PairSweep(const LinearPair& pair, const LinearLanes& lanes) : Base(lanes), pair_(pair) {}

    void run(LaneCosts& one, LaneCosts& other) {
        fill_table();
        alignas(64) LaneCosts before[2];  // what both parts of the one cost, by split of the other, a group ago and now
        std::memset(before, 0, sizeof before);
        for (int i = 0; i < pair_.one.groups; ++i) {
            const std::int32_t* const cells = pair_.table + i * kLanes * width_;
            for (int k = 0; k < pair_.other.groups * width_; ++k) buckets_[k] += cells[k];
            sum_buckets();
            bound_group(i, before[i % 2], before[1 - i % 2], one, other);
        }
    }

  private:
    using Base = LaneSums<kFixed>;
    using Base::lanes_, Base::width_, Base::buckets_, Base::costs_of, Base::sum_buckets, Base::leaves, Base::kMost;

    void fill_table() {
        std::memset(pair_.table, 0, sizeof(std::int32_t) * static_cast<unsigned>(pair_.one.groups * kLanes * width_));
        for (Index row = 0; row < pair_.rows; ++row) {
            const int cell = pair_.one.of_row[row] * kLanes + pair_.other.of_row[row];
            std::int32_t* const to = pair_.table + cell * width_;
            const std::int32_t* const costs = costs_of(row);
            for (int a = 0; a < width_; ++a) to[a] += costs[a];
        }
    }

    void bound_group(int i, const LaneCosts& was, LaneCosts& now, LaneCosts& one, LaneCosts& other) {
        // With a zero before the first: what comes before the first group of the other.
        alignas(64) std::int32_t up_to_left[kLanes + 16], up_to_right[kLanes + 16];
        std::int32_t* const left_at = up_to_left + 16;
        std::int32_t* const right_at = up_to_right + 16;
        left_at[-1] = right_at[-1] = 0;
        const bool one_tie = pair_.one.one_tie[i] != 0;
        Lanes lowest_left = broadcast(kMost), lowest_right = lowest_left;
        for (int first = 0; first < lanes_.lanes; first += kLanesOfVector) {
            const auto least = leaves(first, [](int, Lanes) {});
            // Splits of the other, with a stump of the one inside group i.
            const Lanes before_left = one_tie ? least.before_left : load(was.left + first);
            const Lanes before_right = one_tie ? least.before_right : load(was.right + first);
            store(now.left + first, least.before_left);
            store(now.right + first, least.before_right);
            lower(other.left + first, before_left + least.after_left);
            lower(other.right + first, before_right + least.after_right);
            // The split of the one after group i, with stumps of the other inside these groups.
            store(left_at + first, least.before_left);
            store(right_at + first, least.after_left);
            const Lanes ties = load(pair_.other.one_tie + first);
            const Lanes left = ties ? least.before_left : load(left_at + first - 1);
            const Lanes right = ties ? least.after_left : load(right_at + first - 1);
            lowest_left = smaller<std::int32_t>(lowest_left, left + least.before_right);
            lowest_right = smaller<std::int32_t>(lowest_right, right + least.after_right);
        }
        for (int lane = 0; lane < kLanesOfVector; ++lane) {
            one.left[i] = smaller_of(one.left[i], static_cast<std::int32_t>(lowest_left[lane]));
            one.right[i] = smaller_of(one.right[i], static_cast<std::int32_t>(lowest_right[lane]));
        }
    }

    static void lower(std::int32_t* to, Lanes bound) { store(to, smaller<std::int32_t>(load(to), bound)); }

    const LinearPair& pair_;
};

// Calls use(width) with the width of a row as a constant where there is a copy for it, and 0 otherwise.
template <class Use>
inline auto with_width(int width, const Use& use) {
    switch (width) {
        case 4: return use(Constant<4>{});
        case 8: return use(Constant<8>{});
        case 12: return use(Constant<12>{});
        case 16: return use(Constant<16>{});
        case 20: return use(Constant<20>{});
        case 24: return use(Constant<24>{});
        default: return use(Constant<0>{});
    }
}

inline std::uint64_t linear_sweep(const LinearColumn& column, const LinearLanes& lanes, LaneCosts& best,
                                  LaneCosts& lowest) {
    return with_width(lanes.width, [&](auto width) {
        return LinearSweep<decltype(width)::value>(column, lanes, best, lowest).run();
    });
}

inline void linear_pair(const LinearPair& pair, const LinearLanes& lanes, LaneCosts& one, LaneCosts& other) {
    with_width(lanes.width, [&](auto width) { PairSweep<decltype(width)::value>(pair, lanes).run(one, other); });
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

constexpr LinearKernel make_linear_kernel() { return {linear_sweep, linear_pair, exact_sweep}; }

}  // namespace
}  // namespace provetree
