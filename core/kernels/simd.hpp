// The few vector operations the sweeps need, for the instruction set this file is compiled for. Everything sits in an
// unnamed namespace: each kernel source gets its own copy and no inlined AVX code can leak into the baseline through
// the linker.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
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

// Returns what the intrinsic of this name gives for lanes of type T.
#define PROVETREE_RETURN_BY_LANE(name, ...)                                    \
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

#if !defined(__AVX2__)
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

// larger(acc, value) where wanted, acc otherwise, without a branch.
template <class T>
inline Vector<T> larger_if(Vector<T> acc, Vector<T> value, bool wanted) {
#if defined(__AVX512BW__)
    const std::uint64_t bits = -static_cast<std::uint64_t>(wanted);
    PROVETREE_RETURN_BY_LANE(_mm512_mask_max, (__m512i)acc, bits, (__m512i)acc, (__m512i)value);
#else
    const Vector<T> keep = broadcast<T>(static_cast<T>(-static_cast<T>(wanted)));
    return larger<T>(acc, (value & keep) | (acc & ~keep));
#endif
}

template <class T>
inline Vector<T> smaller_if(Vector<T> acc, Vector<T> value, bool wanted) {
#if defined(__AVX512BW__)
    const std::uint64_t bits = -static_cast<std::uint64_t>(wanted);
    PROVETREE_RETURN_BY_LANE(_mm512_mask_min, (__m512i)acc, bits, (__m512i)acc, (__m512i)value);
#else
    const Vector<T> keep = broadcast<T>(static_cast<T>(-static_cast<T>(wanted)));
    return smaller<T>(acc, (value & keep) | (acc & ~keep));
#endif
}

// acc + step in the lanes whose bit is set, acc in the others. bits holds the lanes of this vector in its low bits.
template <class T>
inline Vector<T> add_where(Vector<T> acc, std::uint64_t bits, Vector<T> step) {
#if defined(__AVX512BW__)
    PROVETREE_RETURN_BY_LANE(_mm512_mask_add, (__m512i)acc, bits, (__m512i)acc, (__m512i)step);
#else
    if constexpr (sizeof(T) == 1) {
#if defined(__AVX2__)
        const __m256i spread = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2,
                                                3, 3, 3, 3, 3, 3, 3, 3);
        const __m256i lane_bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ULL));
        const __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int>(bits)), spread);
        const __m256i mask = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, lane_bit), lane_bit);
        return acc + (step & (Vector<T>)mask);
#else
        std::uint64_t halves[2] = {kByteMasks.of[bits & 0xff], kByteMasks.of[bits >> 8 & 0xff]};
        Vector<T> mask;
        std::memcpy(&mask, halves, sizeof mask);
        return acc + (step & mask);
#endif
    } else {
        Vector<T> lane_bit;
        for (int lane = 0; lane < kWidth<T>; ++lane) lane_bit[lane] = static_cast<T>(T{1} << lane);
        const Vector<T> all = broadcast<T>(static_cast<T>(bits));
        return acc + (step & (Vector<T>)((all & lane_bit) == lane_bit));
    }
#endif
}

#undef PROVETREE_RETURN_BY_LANE

}  // namespace
}  // namespace provetree
