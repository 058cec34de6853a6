// The cell kernel for the instruction set that this file is compiled for; see kernels/cell_kernel.hpp.
#pragma once

#include "kernels/cell_kernel.hpp"
#include "kernels/simd.hpp"

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
    float largest = numbers[0];
    for (int lane = 1; lane < kFloats; ++lane) largest = larger_of(largest, numbers[lane]);
    return largest;
}

inline float kept_by(float weight, float target) { return target * target / larger_of(weight, 1.0f); }

void sum_pairs(const std::int64_t* cells, const std::int64_t* follows, int features, std::ptrdiff_t stride,
               std::int64_t* row, PairSums pairs) {
    for (int i = 0; i < features; ++i, cells += features) {
        const std::int64_t before = follows[i];
        std::int64_t sum = 0;
        for (int j = i; j < features; ++j) {
            sum = (sum & follows[j]) + cells[j];
            row[j] = (row[j] & before) + sum;
        }
        float* const weights = pairs.weights + i * stride;
        float* const targets = pairs.targets + i * stride;
        for (int j = i + 1; j < features; ++j) {
            weights[j] = static_cast<float>(cell_weight(row[j]));
            targets[j] = static_cast<float>(cell_target(row[j]));
        }
    }
}

// Features i as rows, features j > i as lanes: four parts of the rows for each pair, and the best split of both sides
// of either feature by the other.
template <bool kRest>
inline void best_stumps(const CellSide& side, int features, std::ptrdiff_t stride, const CellStumps& stumps) {
    const Floats one = broadcast<float>(1.0f);
    for (int i = 0; i < features; ++i) {
        const float* const pair_weights = side.pairs.weights + i * stride;
        const float* const pair_targets = side.pairs.targets + i * stride;
        const float* const whole_weights = kRest ? side.whole.weights + i * stride : nullptr;
        const float* const whole_targets = kRest ? side.whole.targets + i * stride : nullptr;
        const Floats weight = broadcast<float>(side.weights[i]), target = broadcast<float>(side.targets[i]);
        const Floats weight_without = broadcast<float>(side.weight - side.weights[i]),
                     target_without = broadcast<float>(side.target - side.targets[i]);
        Floats best_with = broadcast<float>(stumps.with[i]), best_without = broadcast<float>(stumps.without[i]);
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
            store_floats(stumps.with + j, larger_floats(load_floats(stumps.with + j), q11 + q01));
            store_floats(stumps.without + j, larger_floats(load_floats(stumps.without + j), q10 + q00));
        }
        stumps.with[i] = largest_of(best_with);
        stumps.without[i] = largest_of(best_without);
    }
}

void best_two(const CellSide& side, int features, std::ptrdiff_t stride, const CellStumps& stumps, float kept[3]) {
    const Floats one = broadcast<float>(1.0f);
    for (int i = 0; i < features; i += kFloats) {
        const Floats weight = load_floats(side.weights + i), target = load_floats(side.targets + i);
        const Floats other = target - side.target;
        const Floats with = target * target / larger_floats(weight, one),
                     without = other * other / larger_floats(side.weight - weight, one);
        store_floats(stumps.leaf_with + i, with);
        store_floats(stumps.leaf_without + i, without);
        store_floats(stumps.with + i, with);
        store_floats(stumps.without + i, without);
    }
    if (side.whole.weights)
        best_stumps<true>(side, features, stride, stumps);
    else
        best_stumps<false>(side, features, stride, stumps);
    const Floats penalty = broadcast<float>(side.penalty);
    const Floats leaf = broadcast<float>(kept_by(side.weight, side.target));
    Floats best[3] = {leaf, leaf, leaf};
    // No row has what lanes after the last feature stand for: they keep no more than the others.
    for (int i = 0; i < features; i += kFloats) {
        const Floats leaf_with = load_floats(stumps.leaf_with + i), leaf_without = load_floats(stumps.leaf_without + i);
        const Floats with = larger_floats(leaf_with, load_floats(stumps.with + i) - penalty),
                     without = larger_floats(leaf_without, load_floats(stumps.without + i) - penalty);
        best[0] = larger_floats(best[0], leaf_with + leaf_without - penalty);
        best[1] = larger_floats(best[1], larger_floats(with + leaf_without, leaf_with + without) - penalty);
        best[2] = larger_floats(best[2], with + without - penalty);
    }
    for (int splits = 0; splits < 3; ++splits) kept[splits] = largest_of(best[splits]);
}

constexpr CellKernel make_cell_kernel() { return {sum_pairs, best_two}; }

}  // namespace
}  // namespace provetree
