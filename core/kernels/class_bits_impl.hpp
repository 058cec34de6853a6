// Bits and sums for the class kernel; see class_impl.hpp. Included by one source file per instruction set.
#pragma once

#include "kernels/simd.hpp"

namespace provetree {
namespace {

// The lowest bits; less than 64 of them.
inline std::uint64_t low_bits(int n) { return (std::uint64_t{1} << n) - 1; }

// How many of the lowest bits of a byte are set, up to each of them.
struct PrefixCounts {
    std::uint8_t of[256][8];
    constexpr PrefixCounts() : of{} {
        for (int byte = 0; byte < 256; ++byte) {
            std::uint8_t count = 0;
            for (int bit = 0; bit < 8; ++bit)
                of[byte][bit] = count = static_cast<std::uint8_t>(count + (byte >> bit & 1));
        }
    }
};
constexpr PrefixCounts kPrefixCounts{};

// The bits of `from` where `mask` has one, moved together.
inline std::uint64_t picked(std::uint64_t from, std::uint64_t mask) {
#if defined(__BMI2__)
    return _pext_u64(from, mask);
#else
    std::uint64_t bits = 0;
    for (int k = 0; mask; ++k, mask &= mask - 1) bits |= (from >> __builtin_ctzll(mask) & 1) << k;
    return bits;
#endif
}

// A bit for each of 64 codes that is at most `largest`.
inline std::uint64_t at_most(const std::int8_t* codes, int largest) {
#if defined(__AVX512BW__)
    return _mm512_cmple_epi8_mask(_mm512_loadu_si512(codes), _mm512_set1_epi8(static_cast<char>(largest)));
#elif defined(__AVX2__)
    std::uint64_t bits = 0;
    const __m256i above = _mm256_set1_epi8(static_cast<char>(largest + 1));
    for (int half = 0; half < 2; ++half) {
        const __m256i some = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + 32 * half));
        bits |= std::uint64_t{static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpgt_epi8(above, some)))}
                << (32 * half);
    }
    return bits;
#else
    std::uint64_t bits = 0;
    for (int i = 0; i < 64; ++i) bits |= std::uint64_t{codes[i] <= largest} << i;
    return bits;
#endif
}

// Sums of the first numbers, up to each of them, on top of others; `n` is a multiple of the vector's width. Returns the
// sum of all.
inline std::int32_t add_up(const std::int32_t* numbers, int n, const std::int32_t* others, std::int32_t* sums) {
#if defined(__AVX512BW__)
    const __m512i none = _mm512_setzero_si512(), last = _mm512_set1_epi32(15);
    __m512i before = none;
    for (int i = 0; i < n; i += 16) {
        __m512i sum = _mm512_loadu_si512(numbers + i);
        sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, none, 15));
        sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, none, 14));
        sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, none, 12));
        sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, none, 8));
        sum = _mm512_add_epi32(sum, before);
        before = _mm512_permutexvar_epi32(last, sum);
        _mm512_storeu_si512(sums + i, _mm512_add_epi32(sum, _mm512_loadu_si512(others + i)));
    }
    return _mm512_cvtsi512_si32(before);
#else
    std::int32_t sum = 0;
    for (int i = 0; i < n; ++i) sums[i] = others[i] + (sum += numbers[i]);
    return sum;
#endif
}

}  // namespace
}  // namespace provetree
