// The bit kernel itself; included by one source file per instruction set. See bit_kernel.hpp for what each function
// promises.
#pragma once

#include "kernels/bit_kernel.hpp"
#include "kernels/simd.hpp"

namespace provetree {
namespace {

using Lanes = Vector<std::int16_t>;
constexpr int kBitLanes = kWidth<std::int16_t>;

inline Lanes load_lanes(const void* from) {
    Lanes lanes;
    __builtin_memcpy(&lanes, from, sizeof lanes);
    return lanes;
}

// Lanes that are used several times: loaded once, not again by every instruction that can read memory. Loads across
// cache lines are slow.
inline Lanes load_once(const void* from) {
    Lanes lanes = load_lanes(from);
#if defined(__AVX2__) && defined(__GNUC__)
    asm("" : "+v"(lanes));
#endif
    return lanes;
}

inline void store_lanes(void* to, Lanes lanes) { __builtin_memcpy(to, &lanes, sizeof lanes); }

// Counts the bits of words, lane by lane; count_bits(n, word) adds up those of the words word(0) .. word(n - 1).
#if defined(__AVX512BITALG__)
inline Lanes ones_in(Lanes word) { return (Lanes)_mm512_popcnt_epi16((__m512i)word); }

template <class Word>
[[gnu::always_inline]] inline Lanes count_bits(int words, const Word& word) {
    Lanes sum{};
    for (int w = 0; w < words; ++w) sum += ones_in(word(w));
    return sum;
}
#else
// By bytes, of which each has up to eight bits set; the two bytes of a lane are added up at the end.
struct CountedBits {
    static constexpr int kMostWords = 255 / 8;
    using Bytes = Vector<std::uint8_t>;
    Bytes sum{};
#if defined(__AVX512BW__)
    void add(Lanes word) {
        const __m512i table = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4)),
                      low = _mm512_set1_epi8(15), v = (__m512i)word;
        sum += (Bytes)_mm512_shuffle_epi8(table, _mm512_and_si512(v, low));
        sum += (Bytes)_mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16(v, 4), low));
    }
    Lanes total() const { return (Lanes)_mm512_maddubs_epi16((__m512i)sum, _mm512_set1_epi8(1)); }
#elif defined(__AVX2__)
    void add(Lanes word) {
        const __m256i table =
                          _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4)),
                      low = _mm256_set1_epi8(15), v = (__m256i)word;
        sum += (Bytes)_mm256_shuffle_epi8(table, _mm256_and_si256(v, low));
        sum += (Bytes)_mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(v, 4), low));
    }
    Lanes total() const { return (Lanes)_mm256_maddubs_epi16((__m256i)sum, _mm256_set1_epi8(1)); }
#elif defined(__aarch64__)
    void add(Lanes word) { sum += (Bytes)vcntq_u8((uint8x16_t)word); }
    Lanes total() const { return (Lanes)vpaddlq_u8((uint8x16_t)sum); }
#else
    typedef std::uint16_t Words __attribute__((vector_size(kVectorBytes)));
    void add(Lanes word) {
        Words v = (Words)word;
        v = v - ((v >> 1) & 0x5555);
        v = (v & 0x3333) + ((v >> 2) & 0x3333);
        sum += (Bytes)((v + (v >> 4)) & 0x0f0f);
    }
    Lanes total() const { return (Lanes)(((Words)sum & 0xff) + ((Words)sum >> 8)); }
#endif
};

template <class Word>
[[gnu::always_inline]] inline Lanes count_bits(int words, const Word& word) {
    Lanes sum{};
    for (int w = 0; w < words;) {
        const int end = words - w < CountedBits::kMostWords ? words : w + CountedBits::kMostWords;
        CountedBits counted;
        for (; w < end; ++w) counted.add(word(w));
        sum += counted.total();
    }
    return sum;
}
#endif

// The largest lane; none is negative.
inline std::int16_t largest_lane(Lanes lanes) {
#if defined(__AVX2__)
#if defined(__AVX512BW__)
    const __m256i half =
        _mm256_max_epi16(_mm512_castsi512_si256((__m512i)lanes), _mm512_extracti64x4_epi64((__m512i)lanes, 1));
#else
    const __m256i half = (__m256i)lanes;
#endif
    const __m128i eight = _mm_max_epi16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    // There is an instruction for the least of eight lanes only.
    const __m128i flipped = _mm_sub_epi16(_mm_set1_epi16(0x7fff), eight);
    return static_cast<std::int16_t>(0x7fff - _mm_extract_epi16(_mm_minpos_epu16(flipped), 0));
#elif defined(__aarch64__)
    return vmaxvq_s16((int16x8_t)lanes);
#else
    std::int16_t all[kBitLanes];
    store_lanes(all, lanes);
    std::int16_t most = all[0];
    for (int i = 1; i < kBitLanes; ++i) most = all[i] > most ? all[i] : most;
    return most;
#endif
}

#if defined(__GFNI__) && defined(__AVX512VBMI__)
// Sixty-four features of eight rows, a row in each of eight numbers, as one byte for each feature. The bytes of the
// rows are put side by side, the last row first, and each eight of them turned around as a square of bits: the product
// with a number that has bit i alone is bit i of every row.
inline __m512i rows_by_feature(__m512i rows) {
    alignas(64) static constexpr std::uint8_t kTurned[64] = {
        56, 48, 40, 32, 24, 16, 8,  0,  57, 49, 41, 33, 25, 17, 9,  1,  58, 50, 42, 34, 26, 18,
        10, 2,  59, 51, 43, 35, 27, 19, 11, 3,  60, 52, 44, 36, 28, 20, 12, 4,  61, 53, 45, 37,
        29, 21, 13, 5,  62, 54, 46, 38, 30, 22, 14, 6,  63, 55, 47, 39, 31, 23, 15, 7};
    const __m512i squares = _mm512_permutexvar_epi8(_mm512_load_si512(kTurned), rows);
    return _mm512_gf2p8affine_epi64_epi8(_mm512_set1_epi64(static_cast<long long>(0x8040201008040201ull)), squares, 0);
}

void pack(const std::uint32_t* masks, int blocks, const std::uint32_t* rows, int count, std::uint16_t* bits,
          int stride) {
    alignas(64) static constexpr std::uint8_t kPaired[64] = {
        0,  64, 1,  65, 2,  66, 3,  67, 4,  68, 5,  69, 6,  70, 7,  71, 8,  72, 9,  73, 10, 74,
        11, 75, 12, 76, 13, 77, 14, 78, 15, 79, 16, 80, 17, 81, 18, 82, 19, 83, 20, 84, 21, 85,
        22, 86, 23, 87, 24, 88, 25, 89, 26, 90, 27, 91, 28, 92, 29, 93, 30, 94, 31, 95};
    const __m512i low_half = _mm512_load_si512(kPaired), high_half = _mm512_add_epi8(low_half, _mm512_set1_epi8(32));
    const int row_masks = mask_stride(blocks);
    for (int begin = 0; begin < count; begin += 16, bits += stride) {
        const int end = count - begin < 16 ? count - begin : 16;
        const __mmask16 here = static_cast<__mmask16>((1u << end) - 1);
        // Rows are numbered in units of two masks.
        const __m512i first =
            _mm512_mullo_epi32(_mm512_maskz_loadu_epi32(here, rows + begin), _mm512_set1_epi32(row_masks / 2));
        for (int block = 0; block < blocks; block += 2) {
            const std::uint32_t* const from = masks + block;
            const __m512i none = _mm512_setzero_si512();
            const __m512i first_rows =
                _mm512_mask_i32gather_epi64(none, static_cast<__mmask8>(here), _mm512_castsi512_si256(first), from, 8);
            const __m512i last_rows = _mm512_mask_i32gather_epi64(none, static_cast<__mmask8>(here >> 8),
                                                                  _mm512_extracti64x4_epi64(first, 1), from, 8);
            const __m512i low = rows_by_feature(first_rows), high = rows_by_feature(last_rows);
            _mm512_storeu_si512(bits + block * kFeatureBlock, _mm512_permutex2var_epi8(low, low_half, high));
            if (block + 1 < blocks)
                _mm512_storeu_si512(bits + (block + 1) * kFeatureBlock, _mm512_permutex2var_epi8(low, high_half, high));
        }
    }
}
#elif defined(__AVX512BW__)
void pack(const std::uint32_t* masks, int blocks, const std::uint32_t* rows, int count, std::uint16_t* bits,
          int stride) {
    const std::size_t row_masks = static_cast<std::size_t>(mask_stride(blocks));
    for (int begin = 0; begin < count; begin += 16, bits += stride) {
        const int end = count - begin < 16 ? count - begin : 16;
        for (int block = 0; block < blocks; ++block) {
            const std::uint32_t* const from = masks + block;
            __m512i word = _mm512_setzero_si512(), bit = _mm512_set1_epi16(1);
            for (int r = 0; r < end; ++r) {
                const __mmask32 mask = from[static_cast<std::size_t>(rows[begin + r]) * row_masks];
                word = _mm512_mask_add_epi16(word, mask, word, bit);
                bit = _mm512_add_epi16(bit, bit);
            }
            _mm512_storeu_si512(bits + block * kFeatureBlock, word);
        }
    }
}
#else
typedef std::uint64_t Squares __attribute__((vector_size(16)));

// Bytes number k of sixteen masks, side by side: eight features of sixteen rows.
struct Planes {
    Squares of[4];
};

inline Planes planes_of(const std::uint32_t masks[16]) {
    Planes planes;
#if defined(__SSE2__)
    for (int k = 0; k < 4; ++k) {
        __m128i four[4];
        for (int i = 0; i < 4; ++i) {
            const __m128i rows = _mm_loadu_si128(reinterpret_cast<const __m128i*>(masks + 4 * i));
            four[i] = _mm_and_si128(_mm_srli_epi32(rows, 8 * k), _mm_set1_epi32(0xff));
        }
        const __m128i first = _mm_packs_epi32(four[0], four[1]), last = _mm_packs_epi32(four[2], four[3]);
        planes.of[k] = (Squares)_mm_packus_epi16(first, last);
    }
#elif defined(__aarch64__)
    const uint8x16x4_t apart = vld4q_u8(reinterpret_cast<const std::uint8_t*>(masks));
    for (int k = 0; k < 4; ++k) planes.of[k] = (Squares)apart.val[k];
#else
    for (int k = 0; k < 4; ++k) {
        std::uint8_t bytes[16];
        for (int r = 0; r < 16; ++r) bytes[r] = static_cast<std::uint8_t>(masks[r] >> (8 * k));
        __builtin_memcpy(&planes.of[k], bytes, sizeof bytes);
    }
#endif
    return planes;
}

// Two squares of eight rows and eight bits, each turned around: squares of one, two and four bits change places.
inline Squares turned(Squares x) {
    Squares moved = (x ^ (x >> 7)) & 0x00aa00aa00aa00aaull;
    x = x ^ moved ^ (moved << 7);
    moved = (x ^ (x >> 14)) & 0x0000cccc0000ccccull;
    x = x ^ moved ^ (moved << 14);
    moved = (x ^ (x >> 28)) & 0x00000000f0f0f0f0ull;
    return x ^ moved ^ (moved << 28);
}

// Eight words: the bytes of the one half of a vector as their low bytes, those of the other as their high ones.
inline void store_words(Squares halves, std::uint16_t* to) {
#if defined(__SSE2__)
    const __m128i bytes = (__m128i)halves;
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_unpacklo_epi8(bytes, _mm_unpackhi_epi64(bytes, bytes)));
#elif defined(__aarch64__)
    const uint8x16_t bytes = (uint8x16_t)halves;
    vst1q_u8(reinterpret_cast<std::uint8_t*>(to), vzip1q_u8(bytes, vextq_u8(bytes, bytes, 8)));
#else
    for (int f = 0; f < 8; ++f)
        to[f] = static_cast<std::uint16_t>((halves[0] >> (8 * f) & 0xff) | (halves[1] >> (8 * f) & 0xff) << 8);
#endif
}

void pack(const std::uint32_t* masks, int blocks, const std::uint32_t* rows, int count, std::uint16_t* bits,
          int stride) {
    const std::size_t row_masks = static_cast<std::size_t>(mask_stride(blocks));
    for (int begin = 0; begin < count; begin += 16, bits += stride) {
        const int end = count - begin < 16 ? count - begin : 16;
        for (int block = 0; block < blocks; ++block) {
            std::uint32_t of_rows[16] = {};
            for (int r = 0; r < end; ++r)
                of_rows[r] =
                    masks[static_cast<std::size_t>(rows[begin + r]) * row_masks + static_cast<std::size_t>(block)];
            const Planes planes = planes_of(of_rows);
            for (int k = 0; k < 4; ++k) store_words(turned(planes.of[k]), bits + block * kFeatureBlock + 8 * k);
        }
    }
}
#endif

void compare(const double* x, const double* first, const double* second, std::size_t count, std::uint64_t* differs,
             std::uint64_t* neither) {
    for (std::size_t begin = 0; begin < count; begin += 64) {
        const std::size_t end = count - begin < 64 ? count : begin + 64;
        std::uint64_t other = 0, others = 0;
        std::size_t i = begin;
#if defined(__AVX512F__)
        for (; i < end; i += 8) {
            const __mmask8 here = static_cast<__mmask8>(end - i < 8 ? (1u << (end - i)) - 1 : 0xff);
            const __m512d number = _mm512_maskz_loadu_pd(here, x + i);
            const __mmask8 of_first =
                _mm512_mask_cmp_pd_mask(here, number, _mm512_maskz_loadu_pd(here, first + i), _CMP_NEQ_UQ);
            const __mmask8 of_both =
                _mm512_mask_cmp_pd_mask(of_first, number, _mm512_maskz_loadu_pd(here, second + i), _CMP_NEQ_UQ);
            other |= std::uint64_t{of_first} << (i - begin);
            others |= std::uint64_t{of_both} << (i - begin);
        }
#elif defined(__AVX2__)
        for (; i + 4 <= end; i += 4) {
            const __m256d number = _mm256_loadu_pd(x + i);
            const __m256d of_first = _mm256_cmp_pd(number, _mm256_loadu_pd(first + i), _CMP_NEQ_UQ);
            const __m256d of_second = _mm256_cmp_pd(number, _mm256_loadu_pd(second + i), _CMP_NEQ_UQ);
            other |= static_cast<std::uint64_t>(_mm256_movemask_pd(of_first)) << (i - begin);
            others |= static_cast<std::uint64_t>(_mm256_movemask_pd(_mm256_and_pd(of_first, of_second))) << (i - begin);
        }
#endif
        for (; i < end; ++i) {
            const bool of_first = x[i] != first[i];
            other |= std::uint64_t{of_first} << (i - begin);
            others |= std::uint64_t{of_first && x[i] != second[i]} << (i - begin);
        }
        *differs++ = other;
        *neither++ = others;
    }
}

void mark_above(const std::uint32_t* __restrict ranks, std::size_t count, std::uint32_t rank, std::uint32_t bit,
                std::uint32_t* __restrict masks) {
    for (std::size_t i = 0; i < count; ++i) masks[i] |= ranks[i] > rank ? bit : 0;
}

int select(const std::uint32_t* rows, int count, const std::uint16_t* bits, int stride, bool has,
           std::uint32_t* chosen) {
    int kept = 0;
    for (int begin = 0; begin < count; begin += 16, bits += stride) {
        const int here = count - begin < 16 ? count - begin : 16;
        const std::uint32_t wanted = (has ? *bits : ~static_cast<std::uint32_t>(*bits)) & ((1u << here) - 1);
#if defined(__AVX512BW__)
        const __m512i numbers = _mm512_maskz_loadu_epi32(static_cast<__mmask16>((1u << here) - 1), rows + begin);
        _mm512_storeu_si512(chosen + kept, _mm512_maskz_compress_epi32(static_cast<__mmask16>(wanted), numbers));
#else
        int at = kept;
        for (int r = 0; r < here; ++r) {
            chosen[at] = rows[begin + r];
            at += static_cast<int>(wanted >> r & 1u);
        }
#endif
        kept += __builtin_popcount(wanted);
    }
    return kept;
}

void count(const BitWords& words, int lanes, std::int16_t* counts) {
    for (int c = 0; c < words.n_classes; ++c) {
        for (int f = 0; f < lanes; f += kBitLanes) {
            const std::uint16_t* const bits = words.bits + words.first_word[c] * words.stride + f;
            store_lanes(counts + c * lanes + f, count_bits(words.first_word[c + 1] - words.first_word[c],
                                                           [&](int w) { return load_lanes(bits + w * words.stride); }));
        }
    }
}

// Rows of words [begin, end) that have feature i and each of the features from f on.
inline Lanes count_with(const BitWords& words, int begin, int end, int i, int f) {
    return count_bits(end - begin, [bits = words.bits + begin * words.stride, stride = words.stride, i, f](int w) {
        const std::uint16_t* const word = bits + w * stride;
        return load_lanes(word + f) & broadcast<std::int16_t>(static_cast<std::int16_t>(word[i]));
    });
}

void count_pairs(const BitWords& words, int features, std::int16_t* counts) {
    for (int c = 0; c < words.n_classes; ++c)
        for (int i = 0; i < features; ++i)
            for (int f = i / kFeatureBlock * kFeatureBlock; f < words.stride; f += kBitLanes)
                store_lanes(counts + (static_cast<std::ptrdiff_t>(c) * features + i) * words.stride + f,
                            count_with(words, words.first_word[c], words.first_word[c + 1], i, f));
}

// What is fixed for a feature i and a class: rows that have it and rows that do not.
struct Fixed {
    Lanes with_i, without_i;
};

// The four parts that feature i and the features at hand (j) cut the rows into: the largest class of each, and where
// leaves have a least size (kSized) its rows.
template <bool kSized>
struct Parts {
    Lanes both{}, only_i{}, only_j{}, neither{};
    Lanes size_both{}, size_only_i{}, size_only_j{}, size_neither{};

    void add(Lanes with_both, Lanes with_j, const Fixed& fixed) {
        const Lanes i_alone = fixed.with_i - with_both, j_alone = with_j - with_both, none = fixed.without_i - j_alone;
        both = larger<std::int16_t>(both, with_both);
        only_i = larger<std::int16_t>(only_i, i_alone);
        only_j = larger<std::int16_t>(only_j, j_alone);
        neither = larger<std::int16_t>(neither, none);
        if constexpr (kSized) {
            size_both += with_both;
            size_only_i += i_alone;
            size_only_j += j_alone;
            size_neither += none;
        }
    }

    // Rows classified correctly by two of the parts as leaves, 0 where one of them is too small.
    Lanes correct(Lanes first, Lanes size_first, Lanes second, Lanes size_second, Lanes least) const {
        if constexpr (!kSized) return first + second;
        return (first + second) & ((size_first >= least) & (size_second >= least));
    }
    Lanes with_i(Lanes least) const { return correct(both, size_both, only_i, size_only_i, least); }
    Lanes without_i(Lanes least) const { return correct(only_j, size_only_j, neither, size_neither, least); }
    Lanes with_j(Lanes least) const { return correct(both, size_both, only_j, size_only_j, least); }
    Lanes without_j(Lanes least) const { return correct(only_i, size_only_i, neither, size_neither, least); }
};

// Best stumps of feature i in registers, of the features at hand in memory: a pair serves both ways round.
struct Best {
    Lanes with{}, without{};

    template <bool kSized>
    void take(const Parts<kSized>& parts, Lanes least, std::int16_t* __restrict stumps_with,
              std::int16_t* __restrict stumps_without) {
        with = larger<std::int16_t>(with, parts.with_i(least));
        without = larger<std::int16_t>(without, parts.without_i(least));
        store_lanes(stumps_with, larger<std::int16_t>(load_lanes(stumps_with), parts.with_j(least)));
        store_lanes(stumps_without, larger<std::int16_t>(load_lanes(stumps_without), parts.without_j(least)));
    }

    void close(BitStumps stumps, int i) const {
        const std::int16_t most_with = largest_lane(with), most_without = largest_lane(without);
        if (most_with > stumps.with[i]) stumps.with[i] = most_with;
        if (most_without > stumps.without[i]) stumps.without[i] = most_without;
    }
};

template <bool kOwn, bool kRest, bool kSized>
void best_stumps_of(const BitWords& words, const BitCounts& own, const BitCounts& rest,
                    const std::int16_t* __restrict parent_pairs, int features, int min_leaf, BitStumps of_own,
                    BitStumps of_rest) {
    const int n_classes = words.n_classes, stride = words.stride;
    const Lanes least = broadcast<std::int16_t>(static_cast<std::int16_t>(min_leaf));
    const auto fix = [&](const BitCounts& counts, int c, int i) {
        const std::int16_t with_i = counts.of_feature[c * stride + i];
        return Fixed{broadcast<std::int16_t>(with_i),
                     broadcast<std::int16_t>(static_cast<std::int16_t>(counts.all[c] - with_i))};
    };
    for (int i = 0; i < features; ++i) {
        Fixed fixed_own[kMostBitClasses], fixed_rest[kMostBitClasses];
        for (int c = 0; c < n_classes; ++c) {
            if constexpr (kOwn) fixed_own[c] = fix(own, c, i);
            if constexpr (kRest) fixed_rest[c] = fix(rest, c, i);
        }
        Best best_own, best_rest;
        for (int f = i / kFeatureBlock * kFeatureBlock; f < stride; f += kBitLanes) {
            Parts<kSized> parts_own, parts_rest;
            for (int c = 0; c < n_classes; ++c) {
                const Lanes both = count_with(words, words.first_word[c], words.first_word[c + 1], i, f);
                if constexpr (kOwn) parts_own.add(both, load_lanes(own.of_feature + c * stride + f), fixed_own[c]);
                if constexpr (kRest) {
                    const Lanes others =
                        load_lanes(parent_pairs + (static_cast<std::ptrdiff_t>(c) * features + i) * stride + f) - both;
                    parts_rest.add(others, load_lanes(rest.of_feature + c * stride + f), fixed_rest[c]);
                }
            }
            if constexpr (kOwn) best_own.take(parts_own, least, of_own.with + f, of_own.without + f);
            if constexpr (kRest) best_rest.take(parts_rest, least, of_rest.with + f, of_rest.without + f);
        }
        if constexpr (kOwn) best_own.close(of_own, i);
        if constexpr (kRest) best_rest.close(of_rest, i);
    }
}

template <bool kSized>
void best_stumps_sized(const BitWords& words, const BitCounts& own, const BitCounts& rest,
                       const std::int16_t* parent_pairs, int features, int min_leaf, BitStumps of_own,
                       BitStumps of_rest) {
    if (of_own.with && of_rest.with)
        return best_stumps_of<true, true, kSized>(words, own, rest, parent_pairs, features, min_leaf, of_own, of_rest);
    if (of_own.with)
        return best_stumps_of<true, false, kSized>(words, own, rest, parent_pairs, features, min_leaf, of_own, of_rest);
    best_stumps_of<false, true, kSized>(words, own, rest, parent_pairs, features, min_leaf, of_own, of_rest);
}

void best_stumps(const BitWords& words, const BitCounts& own, const BitCounts& rest, const std::int16_t* parent_pairs,
                 int features, int min_leaf, BitStumps of_own, BitStumps of_rest) {
    if (min_leaf > 1)
        return best_stumps_sized<true>(words, own, rest, parent_pairs, features, min_leaf, of_own, of_rest);
    best_stumps_sized<false>(words, own, rest, parent_pairs, features, min_leaf, of_own, of_rest);
}

void count_with_feature(const BitWords& words, int lanes, int feature, std::int16_t* both) {
    for (int f = 0; f < lanes; f += kBitLanes)
        store_lanes(both + f, count_with(words, 0, words.first_word[words.n_classes], feature, f));
}

void raise_floors(int lanes, const SplitProof& proof, std::int32_t error_scale, const std::int16_t* __restrict with,
                  const std::int16_t* __restrict both, std::int32_t* __restrict floor_with,
                  std::int32_t* __restrict floor_without) {
    using Costs = Vector<std::int32_t>;
    typedef std::int16_t Narrow __attribute__((vector_size(kVectorBytes / 2)));
    const auto widened = [](const std::int16_t* from) {
        Narrow narrow;
        __builtin_memcpy(&narrow, from, sizeof narrow);
        return __builtin_convertvector(narrow, Costs);
    };
    const Costs scale = broadcast<std::int32_t>(error_scale);
    const Costs cost_with = broadcast<std::int32_t>(proof.cost_with),
                cost_without = broadcast<std::int32_t>(proof.cost_without);
    const Costs spare_with = broadcast<std::int32_t>(proof.cost_with - error_scale * proof.rows_with);
    const Costs spare_without = broadcast<std::int32_t>(proof.cost_without - error_scale * proof.rows_without);
    for (int f = 0; f < lanes; f += kWidth<std::int32_t>) {
        const Costs shared = widened(both + f), own = widened(with + f) - shared;
        const Costs of_shared = shared * scale, of_own = own * scale;
        Costs low, high;
        __builtin_memcpy(&high, floor_with + f, sizeof high);
        __builtin_memcpy(&low, floor_without + f, sizeof low);
        high = larger<std::int32_t>(high, larger<std::int32_t>(spare_with + of_shared, spare_without + of_own));
        low = larger<std::int32_t>(low, larger<std::int32_t>(cost_without - of_own, cost_with - of_shared));
        __builtin_memcpy(floor_with + f, &high, sizeof high);
        __builtin_memcpy(floor_without + f, &low, sizeof low);
    }
}

void fewest_errors(const BitCounts& counts, int n_classes, int features, int lanes, int min_leaf, BitStumps stumps,
                   std::int32_t errors[3]) {
    std::int16_t all = 0;
    for (int c = 0; c < n_classes; ++c) all = static_cast<std::int16_t>(all + counts.all[c]);
    const Lanes everything = broadcast<std::int16_t>(all),
                least = broadcast<std::int16_t>(static_cast<std::int16_t>(min_leaf));
    Lanes right[3] = {};  // rows classified correctly
    for (int f = 0; f < features; f += kBitLanes) {
        Lanes with{}, leaf_with{}, leaf_without{};
        for (int c = 0; c < n_classes; ++c) {
            const Lanes here = load_lanes(counts.of_feature + c * lanes + f);
            with += here;
            leaf_with = larger<std::int16_t>(leaf_with, here);
            leaf_without = larger<std::int16_t>(leaf_without, broadcast<std::int16_t>(counts.all[c]) - here);
        }
        // Padding, too, is a feature that splits nothing.
        const Lanes splits = (with >= least) & (everything - with >= least);
        const Lanes stump_with = larger<std::int16_t>(load_lanes(stumps.with + f), leaf_with);
        const Lanes stump_without = larger<std::int16_t>(load_lanes(stumps.without + f), leaf_without);
        right[0] = larger<std::int16_t>(right[0], (leaf_with + leaf_without) & splits);
        right[1] = larger<std::int16_t>(
            right[1], larger<std::int16_t>(stump_with + leaf_without, leaf_with + stump_without) & splits);
        right[2] = larger<std::int16_t>(right[2], (stump_with + stump_without) & splits);
    }
    for (int k = 0; k < 3; ++k) errors[k] = all - largest_lane(right[k]);
}

}  // namespace
}  // namespace provetree
