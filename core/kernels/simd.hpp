// The few vector operations the sweeps need, for the instruction set this file is compiled for. Everything sits in an
// unnamed namespace: each kernel source gets its own copy and no inlined AVX code can leak into the baseline through
// the linker.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace provetree {
namespace {

#if defined(__AVX512BW__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

template <class T>
struct VectorOf {
    typedef T type __attribute__((vector_size(kVectorBytes)));
};
template <class T>
using Vector = typename VectorOf<T>::type;

template <class T>
constexpr int kWidth = kVectorBytes / static_cast<int>(sizeof(T));

template <class T>
inline Vector<T> broadcast(T value) {
    return value - Vector<T>{};
}

template <class T>
constexpr bool kUnsigned = static_cast<T>(-1) > T{0};

// Returns what the intrinsic of this name gives for lanes of type T; lanes without a sign have 8 bits.
#define PROVETREE_RETURN_BY_LANE(name, ...)                                    \
    if constexpr (kUnsigned<T>) return (Vector<T>)name##_epu8(__VA_ARGS__);    \
    if constexpr (sizeof(T) == 1) return (Vector<T>)name##_epi8(__VA_ARGS__);  \
    if constexpr (sizeof(T) == 2) return (Vector<T>)name##_epi16(__VA_ARGS__); \
    if constexpr (sizeof(T) == 4) return (Vector<T>)name##_epi32(__VA_ARGS__)

template <class T>
inline Vector<T> larger(Vector<T> a, Vector<T> b) {
#if defined(__AVX512BW__)
    PROVETREE_RETURN_BY_LANE(_mm512_max, (__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    PROVETREE_RETURN_BY_LANE(_mm256_max, (__m256i)a, (__m256i)b);
#endif
    return a > b ? a : b;
}

template <class T>
inline Vector<T> smaller(Vector<T> a, Vector<T> b) {
#if defined(__AVX512BW__)
    PROVETREE_RETURN_BY_LANE(_mm512_min, (__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    PROVETREE_RETURN_BY_LANE(_mm256_min, (__m256i)a, (__m256i)b);
#endif
    return a < b ? a : b;
}

// Own copies of std::max and std::min: a std template compiled here could be the copy the linker keeps for code that
// runs on any processor.
template <class T>
inline T larger_of(T a, T b) {
    return a < b ? b : a;
}
template <class T>
inline T smaller_of(T a, T b) {
    return b < a ? b : a;
}

// All bits of all lanes, or none: what a row that is looked at keeps of a value, and what one that is not looked at
// must not change.
template <class T>
struct Wanted {
#if defined(__AVX512BW__)
    std::uint64_t lanes;
    explicit Wanted(bool wanted) : lanes(-static_cast<std::uint64_t>(wanted)) {}
#else
    Vector<T> keep, drop;
    explicit Wanted(bool wanted) : keep(broadcast<T>(static_cast<T>(-static_cast<T>(wanted)))), drop(~keep) {}
#endif
};

// larger(acc, value) where wanted, acc otherwise, without a branch. Lanes without a sign: nothing is below zero.
template <class T>
inline Vector<T> larger_if(Vector<T> acc, Vector<T> value, const Wanted<T>& wanted) {
#if defined(__AVX512BW__)
    PROVETREE_RETURN_BY_LANE(_mm512_mask_max, (__m512i)acc, wanted.lanes, (__m512i)acc, (__m512i)value);
#else
    if constexpr (kUnsigned<T>) return larger<T>(acc, value & wanted.keep);
    return larger<T>(acc, (value & wanted.keep) | (acc & wanted.drop));
#endif
}

// The same for smaller(acc, value). Lanes without a sign: nothing is above all bits.
template <class T>
inline Vector<T> smaller_if(Vector<T> acc, Vector<T> value, const Wanted<T>& wanted) {
#if defined(__AVX512BW__)
    PROVETREE_RETURN_BY_LANE(_mm512_mask_min, (__m512i)acc, wanted.lanes, (__m512i)acc, (__m512i)value);
#else
    if constexpr (kUnsigned<T>) return smaller<T>(acc, value | wanted.drop);
    return smaller<T>(acc, (value & wanted.keep) | (acc & wanted.drop));
#endif
}

#if !defined(__AVX2__) && !defined(__aarch64__)
// Byte masks of the eight lanes that a byte of a lane mask stands for.
struct ByteMasks {
    std::uint64_t of[256];
    constexpr ByteMasks() : of{} {
        for (int byte = 0; byte < 256; ++byte) {
            std::uint64_t mask = 0;
            for (int bit = 0; bit < 8; ++bit)
                if (byte >> bit & 1) mask |= std::uint64_t{0xff} << (8 * bit);
            of[byte] = mask;
        }
    }
};
constexpr ByteMasks kByteMasks{};
#endif

#if !defined(__AVX512BW__)
// All bits in the lanes of vector number `part` whose bit is set. A mask has 64 lanes; bit 0 is lane 0 of part 0.
template <class T, int part>
inline Vector<T> lanes_of(std::uint64_t bits) {
    if constexpr (sizeof(T) == 1) {
#if defined(__AVX2__)
        constexpr char f = 4 * part;
        const __m256i spread = _mm256_setr_epi8(f, f, f, f, f, f, f, f, f + 1, f + 1, f + 1, f + 1, f + 1, f + 1, f + 1,
                                                f + 1, f + 2, f + 2, f + 2, f + 2, f + 2, f + 2, f + 2, f + 2, f + 3,
                                                f + 3, f + 3, f + 3, f + 3, f + 3, f + 3, f + 3);
        const __m256i lane_bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ULL));
        const __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi64x(static_cast<long long>(bits)), spread);
        return (Vector<T>)_mm256_cmpeq_epi8(_mm256_and_si256(bytes, lane_bit), lane_bit);
#elif defined(__aarch64__)
        constexpr std::uint8_t f = 2 * part;
        constexpr std::uint8_t kSpread[16] = {f,     f,     f,     f,     f,     f,     f,     f,
                                              f + 1, f + 1, f + 1, f + 1, f + 1, f + 1, f + 1, f + 1};
        const uint8x16_t bytes = vqtbl1q_u8(vreinterpretq_u8_u64(vdupq_n_u64(bits)), vld1q_u8(kSpread));
        const uint8x16_t lane_bit = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201ULL));
        return (Vector<T>)vtstq_u8(bytes, lane_bit);
#else
        const std::uint64_t halves[2] = {kByteMasks.of[bits >> (16 * part) & 0xff],
                                         kByteMasks.of[bits >> (16 * part + 8) & 0xff]};
        Vector<T> mask;
        std::memcpy(&mask, halves, sizeof mask);
        return mask;
#endif
    } else {
        Vector<T> lane_bit;
        for (int lane = 0; lane < kWidth<T>; ++lane) lane_bit[lane] = static_cast<T>(T{1} << lane);
        const Vector<T> all = broadcast<T>(static_cast<T>(bits >> (kWidth<T> * part)));
        return (Vector<T>)((all & lane_bit) == lane_bit);
    }
}
#endif

// acc + step in the lanes of vector number `part` whose bit is set, acc in the others.
template <class T, int part = 0>
inline Vector<T> add_where(Vector<T> acc, std::uint64_t bits, Vector<T> step) {
#if defined(__AVX512BW__)
    bits >>= part * kWidth<T>;
    if constexpr (sizeof(T) == 1)
        return (Vector<T>)_mm512_mask_add_epi8((__m512i)acc, bits, (__m512i)acc, (__m512i)step);
    if constexpr (sizeof(T) == 2)
        return (Vector<T>)_mm512_mask_add_epi16((__m512i)acc, bits, (__m512i)acc, (__m512i)step);
    return (Vector<T>)_mm512_mask_add_epi32((__m512i)acc, bits, (__m512i)acc, (__m512i)step);
#else
    return acc + (step & lanes_of<T, part>(bits));
#endif
}

#undef PROVETREE_RETURN_BY_LANE

}  // namespace
}  // namespace provetree
