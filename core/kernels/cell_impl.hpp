// The cell kernel for the instruction set that this file is compiled for; see kernels/cell_kernel.hpp.
#pragma once

#include "kernels/cell_kernel.hpp"
#include "kernels/simd_double.hpp"

namespace provetree {
namespace {

using Floats = Vector<float>;
constexpr int kFloats = kWidth<float>;

inline Floats load_floats(const float* from) {
    Floats loaded;
    __builtin_memcpy(&loaded, from, sizeof loaded);
    return loaded;
}

inline void store_floats(float* to, Floats numbers) { __builtin_memcpy(to, &numbers, sizeof numbers); }

inline Floats larger_floats(Floats a, Floats b) {
#if defined(__AVX512BW__)
    return (Floats)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined(__AVX2__)
    return (Floats)_mm256_max_ps((__m256)a, (__m256)b);
#else
    return a > b ? a : b;
#endif
}

inline float largest_of(Floats numbers) {
#if defined(__AVX512BW__)
    return _mm512_reduce_max_ps((__m512)numbers);
#elif defined(__AVX2__)
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128((__m256)numbers), _mm256_extractf128_ps((__m256)numbers, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
#else
    return larger_of(larger_of(numbers[0], numbers[1]), larger_of(numbers[2], numbers[3]));
#endif
}

inline float kept_by(float weight, float target) { return target * target / larger_of(weight, 1.0f); }

// Lanes moved up by so many; zeros come in below.
template <int kBy>
inline Longs moved_up(Longs lanes) {
#if defined(__AVX512BW__)
    return (Longs)_mm512_alignr_epi64((__m512i)lanes, _mm512_setzero_si512(), kDoubles - kBy);
#elif defined(__AVX2__)
    const __m256i low_above = _mm256_permute2x128_si256((__m256i)lanes, (__m256i)lanes, 0x08);
    return kBy == 1 ? (Longs)_mm256_alignr_epi8((__m256i)lanes, low_above, 8) : (Longs)low_above;
#else
    return Longs{0, lanes[0]};
#endif
}

// Sums of the lanes of a run up to each of them. After a step, a lane has the sum of the last 2, 4, 8 lanes up to it,
// as many of them as its run has.
template <int kBy = 1>
inline Longs sums_of_runs(Longs lanes, Longs place) {
    if constexpr (kBy < kDoubles) {
        const DoubleMask has = at_least(place, broadcast<std::int64_t>(kBy));
        return sums_of_runs<2 * kBy>(add_in(lanes, has, moved_up<kBy>(lanes)), place);
    }
    return lanes;
}

// Whether a lane has another one of its run before it.
inline bool has_runs(Longs places) {
#if defined(__AVX512BW__)
    return _mm512_test_epi64_mask((__m512i)places, (__m512i)places) != 0;
#elif defined(__AVX2__)
    return !_mm256_testz_si256((__m256i)places, (__m256i)places);
#else
    return (places[0] | places[1]) != 0;
#endif
}

// Weights and targets of so many lanes. What lanes after the last feature have is zero, and stays it.
inline void store_sums(Longs sums, float* weights, float* targets) {
#if defined(__AVX512BW__)
    const __m256i target = _mm512_cvtepi64_epi32((__m512i)sums),
                  high = _mm512_cvtepi64_epi32(_mm512_srli_epi64((__m512i)sums, 32));
    // A target below zero has borrowed from the weight.
    const __m256i weight = _mm256_sub_epi32(high, _mm256_srai_epi32(target, 31));
    _mm256_storeu_ps(weights, _mm256_cvtepi32_ps(weight));
    _mm256_storeu_ps(targets, _mm256_cvtepi32_ps(target));
#else
    for (int lane = 0; lane < kDoubles; ++lane) {
        weights[lane] = static_cast<float>(cell_weight(sums[lane]));
        targets[lane] = static_cast<float>(cell_target(sums[lane]));
    }
#endif
}

// Adds to `row` what feature i has more than the one before it, and stores what it has. Most columns have one feature:
// lanes without runs are left as they are.
inline void add_row(const std::int64_t* cells, const std::int64_t* place, int i, int features, std::int64_t* row,
                    float* weights, float* targets) {
    const std::int64_t before = -static_cast<std::int64_t>(place[i] > 0);
    if constexpr (kDoubles == 2) {  // two lanes do not pay
        std::int64_t sum = 0;
        for (int j = i; j < features; ++j) {
            sum = (place[j] > 0 ? sum : 0) + cells[j];
            row[j] = (row[j] & before) + sum;
        }
        for (int j = i; j < features; j += kDoubles) store_sums(load_vector<Longs>(row + j), weights + j, targets + j);
        return;
    }
    const Longs lane = lanes_from(0), next = lanes_from(1);
    Longs last{};
    for (int j = i; j < features; j += kDoubles) {
        Longs sums = load_vector<Longs>(cells + j);
        const Longs places = load_vector<Longs>(place + j);
        if (j + kDoubles > features)
            sums = add_in(Longs{}, at_least(broadcast<std::int64_t>(features - j - 1), lane), sums);
        if (has_runs(places)) {
            sums = sums_of_runs(sums, places);
            // Runs that began before these lanes.
            sums = add_in(sums, at_least(places, next), last);
        }
        last = broadcast<std::int64_t>(sums[kDoubles - 1]);
        sums += load_vector<Longs>(row + j) & before;
        store_vector(row + j, sums);
        store_sums(sums, weights + j, targets + j);
    }
}

void sum_pairs(const std::int64_t* cells, const std::int64_t* place, int features, std::ptrdiff_t stride,
               std::int64_t* row, PairSums pairs) {
    for (std::ptrdiff_t i = 0; i < features; cells += features - ++i)
        add_row(cells, place, static_cast<int>(i), features, row, pairs.weights + i * stride,
                pairs.targets + i * stride);
}

// Where two leaves are large enough, what they keep.
inline Floats where_sized(Floats weight, Floats other, Floats kept, float min_leaf) {
    return (weight >= min_leaf) & (other >= min_leaf) ? kept : broadcast<float>(kNotKept);
}

// Features i as rows, features j > i as lanes: four parts of the rows for each pair, and the best split of both sides
// of either feature by the other.
template <bool kRest, bool kSized>
inline void best_stumps(const CellSide& side, int features, std::ptrdiff_t stride, const CellStumps& stumps) {
    const Floats one = broadcast<float>(1.0f);
    const float least = side.min_leaf;
    const auto raise = [](float* at, Floats to) { store_floats(at, larger_floats(load_floats(at), to)); };
    for (int i = 0; i < features; ++i) {
        const float* const pair_weights = side.pairs.weights + i * stride;
        const float* const pair_targets = side.pairs.targets + i * stride;
        const float* const whole_weights = kRest ? side.whole.weights + i * stride : nullptr;
        const float* const whole_targets = kRest ? side.whole.targets + i * stride : nullptr;
        const Floats weight = broadcast<float>(side.weights[i]), target = broadcast<float>(side.targets[i]);
        const Floats weight_without = broadcast<float>(side.weight - side.weights[i]),
                     target_without = broadcast<float>(side.target - side.targets[i]);
        Floats best_with = broadcast<float>(stumps.with[i]), best_without = broadcast<float>(stumps.without[i]);
        Floats sized_with{}, sized_without{};
        if constexpr (kSized) {
            sized_with = broadcast<float>(stumps.sized_with[i]);
            sized_without = broadcast<float>(stumps.sized_without[i]);
        }
        for (int j = i + 1; j < features; j += kFloats) {
            Floats n11 = load_floats(pair_weights + j), s11 = load_floats(pair_targets + j);
            if constexpr (kRest) {
                n11 = load_floats(whole_weights + j) - n11;
                s11 = load_floats(whole_targets + j) - s11;
            }
            const Floats n10 = larger_floats(weight - n11, one), s10 = target - s11;
            const Floats left01 = load_floats(side.weights + j) - n11, s01 = load_floats(side.targets + j) - s11;
            const Floats n00 = larger_floats(weight_without - left01, one), s00 = target_without - s01;
            const Floats n01 = larger_floats(left01, one);
            n11 = larger_floats(n11, one);
            // One division for all four: weights are below 2^24, so their product does not overflow.
            const Floats with = n11 * n10, without = n01 * n00, inverse = one / (with * without);
            const Floats of_with = inverse * without, of_without = inverse * with;
            const Floats q11 = s11 * s11 * (n10 * of_with), q10 = s10 * s10 * (n11 * of_with);
            const Floats q01 = s01 * s01 * (n00 * of_without), q00 = s00 * s00 * (n01 * of_without);
            best_with = larger_floats(best_with, q11 + q10);
            best_without = larger_floats(best_without, q01 + q00);
            raise(stumps.with + j, q11 + q01);
            raise(stumps.without + j, q10 + q00);
            if constexpr (kSized) {
                sized_with = larger_floats(sized_with, where_sized(n11, n10, q11 + q10, least));
                sized_without = larger_floats(sized_without, where_sized(n01, n00, q01 + q00, least));
                raise(stumps.sized_with + j, where_sized(n11, n01, q11 + q01, least));
                raise(stumps.sized_without + j, where_sized(n10, n00, q10 + q00, least));
            }
        }
        stumps.with[i] = largest_of(best_with);
        stumps.without[i] = largest_of(best_without);
        if constexpr (!kSized) continue;
        stumps.sized_with[i] = largest_of(sized_with);
        stumps.sized_without[i] = largest_of(sized_without);
    }
}

// What both sides of a feature keep as leaves, or with the best split of each: the most over all features.
struct CellTally {
    Floats best[3];
    const Floats penalty;
    CellTally(float leaf, float of_split)
        : best{broadcast<float>(leaf), broadcast<float>(leaf), broadcast<float>(leaf)},
          penalty(broadcast<float>(of_split)) {}
    void take(Floats leaf_with, Floats leaf_without, Floats split_with, Floats split_without) {
        const Floats with = larger_floats(leaf_with, split_with - penalty),
                     without = larger_floats(leaf_without, split_without - penalty);
        best[0] = larger_floats(best[0], leaf_with + leaf_without - penalty);
        best[1] = larger_floats(best[1], larger_floats(with + leaf_without, leaf_with + without) - penalty);
        best[2] = larger_floats(best[2], with + without - penalty);
    }
    void tell(float kept[3]) const {
        for (int splits = 0; splits < 3; ++splits) kept[splits] = largest_of(best[splits]);
    }
};

template <bool kSized>
inline void best_two_of(const CellSide& side, int features, std::ptrdiff_t stride, const CellStumps& stumps,
                        CellKept& kept) {
    const Floats one = broadcast<float>(1.0f);
    const auto as_leaf = [&](Floats weight, Floats leaf) { return where_sized(weight, weight, leaf, side.min_leaf); };
    for (int i = 0; i < features; i += kFloats) {
        const Floats weight = load_floats(side.weights + i), target = load_floats(side.targets + i);
        const Floats other = target - side.target, other_weight = side.weight - weight;
        const Floats with = target * target / larger_floats(weight, one),
                     without = other * other / larger_floats(other_weight, one);
        store_floats(stumps.leaf_with + i, with);
        store_floats(stumps.leaf_without + i, without);
        store_floats(stumps.with + i, with);
        store_floats(stumps.without + i, without);
        if constexpr (!kSized) continue;
        store_floats(stumps.sized_with + i, as_leaf(weight, with));
        store_floats(stumps.sized_without + i, as_leaf(other_weight, without));
    }
    if (side.whole.weights)
        best_stumps<true, kSized>(side, features, stride, stumps);
    else
        best_stumps<false, kSized>(side, features, stride, stumps);
    const float leaf = kept_by(side.weight, side.target);
    CellTally any(leaf, side.penalty), sized(side.weight >= side.min_leaf ? leaf : kNotKept, side.penalty);
    // No row has what lanes after the last feature stand for: they keep no more than the others.
    for (int i = 0; i < features; i += kFloats) {
        const Floats leaf_with = load_floats(stumps.leaf_with + i), leaf_without = load_floats(stumps.leaf_without + i);
        any.take(leaf_with, leaf_without, load_floats(stumps.with + i), load_floats(stumps.without + i));
        if constexpr (!kSized) continue;
        const Floats weight = load_floats(side.weights + i);
        sized.take(as_leaf(weight, leaf_with), as_leaf(side.weight - weight, leaf_without),
                   load_floats(stumps.sized_with + i), load_floats(stumps.sized_without + i));
    }
    any.tell(kept.any);
    sized.tell(kept.sized);
}

void best_two(const CellSide& side, int features, std::ptrdiff_t stride, const CellStumps& stumps, CellKept& kept) {
    if (side.min_leaf > 0)
        best_two_of<true>(side, features, stride, stumps, kept);
    else
        best_two_of<false>(side, features, stride, stumps, kept);
}

constexpr CellKernel make_cell_kernel() { return {sum_pairs, best_two}; }

}  // namespace
}  // namespace provetree
