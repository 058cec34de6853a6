// Vectors of doubles and of 64-bit whole numbers, and masks over their lanes, for the instruction set this file is
// compiled for; see simd.hpp. multiply_add rounds once where the processor can: only for bounds, never for results.
#pragma once

#include "kernels/simd.hpp"

namespace provetree {
namespace {

using Doubles = Vector<double>;
using Longs = Vector<std::int64_t>;
using UnsignedLongs = Vector<std::uint64_t>;
constexpr int kDoubles = kWidth<double>;

template <class V, class T>
inline V load_vector(const T* from) {
    V vector;
    std::memcpy(&vector, from, sizeof vector);
    return vector;
}
template <class V, class T>
inline void store_vector(T* to, const V& vector) {
    std::memcpy(to, &vector, sizeof vector);
}

inline Longs lanes_from(int first) {
    Longs lanes;
    for (int i = 0; i < kDoubles; ++i) lanes[i] = first + i;
    return lanes;
}

// Each number and all before it.
inline Longs running_sums(Longs of) {
#if defined(__AVX512BW__)
    const __m512i zero = _mm512_setzero_si512();
    __m512i sums = (__m512i)of;
    sums = _mm512_add_epi64(sums, _mm512_alignr_epi64(sums, zero, 7));
    sums = _mm512_add_epi64(sums, _mm512_alignr_epi64(sums, zero, 6));
    sums = _mm512_add_epi64(sums, _mm512_alignr_epi64(sums, zero, 4));
    return (Longs)sums;
#else
    for (int i = 1; i < kDoubles; ++i) of[i] += of[i - 1];
    return of;
#endif
}

// Two whole numbers that are added up together, and a vector of them apart.
typedef std::int64_t LongPair __attribute__((vector_size(16)));
struct SplitPairs {
    Longs first, second;
};

#if defined(__AVX512BW__)
using DoubleMask = __mmask8;
inline DoubleMask above(Doubles a, Doubles b) { return _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ); }
inline DoubleMask at_least(Longs a, Longs b) { return _mm512_cmpge_epi64_mask((__m512i)a, (__m512i)b); }
inline bool any(DoubleMask mask) { return mask != 0; }
inline DoubleMask inverted(DoubleMask mask) { return static_cast<DoubleMask>(~mask); }
inline Doubles choose(DoubleMask mask, Doubles then, Doubles otherwise) {
    return _mm512_mask_blend_pd(mask, otherwise, then);
}
inline Doubles add_in(Doubles sum, DoubleMask mask, Doubles step) { return _mm512_mask_add_pd(sum, mask, sum, step); }
inline Longs add_in(Longs sum, DoubleMask mask, Longs step) {
    return (Longs)_mm512_mask_add_epi64((__m512i)sum, mask, (__m512i)sum, (__m512i)step);
}
inline Doubles to_doubles(Longs whole) { return _mm512_cvtepi64_pd((__m512i)whole); }
// Of whole numbers from 0 to below 2^52.
inline Doubles small_to_doubles(Longs whole) { return to_doubles(whole); }
inline Doubles at_least_zero(Doubles a) { return _mm512_max_pd(a, _mm512_setzero_pd()); }
inline Doubles multiply_add(Doubles a, Doubles b, Doubles c) { return _mm512_fmadd_pd(a, b, c); }
inline SplitPairs split_pairs(const LongPair* pairs) {
    const __m512i low = _mm512_loadu_si512(pairs), high = _mm512_loadu_si512(pairs + 4);
    const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0), odd = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
    return {(Longs)_mm512_permutex2var_epi64(low, even, high), (Longs)_mm512_permutex2var_epi64(low, odd, high)};
}
#else
using DoubleMask = Longs;
inline DoubleMask above(Doubles a, Doubles b) { return (Longs)(a > b); }
inline DoubleMask at_least(Longs a, Longs b) { return (Longs)(a >= b); }
inline bool any(DoubleMask mask) {
#if defined(__AVX2__)
    return _mm256_movemask_pd((__m256d)mask) != 0;
#else
    return (mask[0] | mask[1]) != 0;
#endif
}
inline DoubleMask inverted(DoubleMask mask) { return ~mask; }
inline Doubles choose(DoubleMask mask, Doubles then, Doubles otherwise) {
    return (Doubles)(((Longs)then & mask) | ((Longs)otherwise & ~mask));
}
inline Doubles add_in(Doubles sum, DoubleMask mask, Doubles step) { return sum + (Doubles)((Longs)step & mask); }
inline Longs add_in(Longs sum, DoubleMask mask, Longs step) { return sum + (step & mask); }
// The high and the low half each as the mantissa of a double, then put together: one rounding, as in hardware.
inline Doubles to_doubles(Longs whole) {
    constexpr std::int64_t kOne = 0x4330000000000000, kSign = 0x80000000;
    const Longs low = (whole & 0xffffffffLL) | kOne;
    const Longs high = (((whole >> 32) + kSign) & 0xffffffffLL) | kOne;
    return ((Doubles)high - (0x1p52 + 0x1p31)) * 0x1p32 + ((Doubles)low - 0x1p52);
}
inline Doubles small_to_doubles(Longs whole) { return (Doubles)(whole | 0x4330000000000000) - 0x1p52; }
inline Doubles at_least_zero(Doubles a) { return a > Doubles{} ? a : Doubles{}; }
inline Doubles multiply_add(Doubles a, Doubles b, Doubles c) { return a * b + c; }
inline SplitPairs split_pairs(const LongPair* pairs) {
    SplitPairs split;
    for (int i = 0; i < kDoubles; ++i) {
        split.first[i] = pairs[i][0];
        split.second[i] = pairs[i][1];
    }
    return split;
}
#endif

}  // namespace
}  // namespace provetree
