// What is done with the sorted orders of a node beside sweeping them: parting and choosing rows, counting classes,
// setting flags, and marking rows with the lanes in which they go left. Included by one source file per instruction
// set; see kernel.hpp for what each function promises.
#pragma once

#include "kernels/entry.hpp"
#include "kernels/kernel.hpp"
#include "kernels/simd.hpp"

namespace provetree {
namespace {

void partition(const std::uint32_t* order, const Index* ranks, Index rows, const std::uint32_t* new_rows,
               std::uint32_t* left_order, Index* left_ranks, std::uint32_t* right_order, Index* right_ranks) {
    Index i = 0;
    std::size_t to_left = 0, to_right = 0;
#if defined(__AVX512BW__)
    const __m512i row_mask = _mm512_set1_epi32(static_cast<int>(entry::kRowMask));
    const __m512i class_mask = _mm512_set1_epi32(static_cast<int>(entry::kClassMask));
    for (; i + 16 <= rows; i += 16) {
        const __m512i items = _mm512_loadu_si512(order + i), values = _mm512_loadu_si512(ranks + i);
        const __m512i moved = _mm512_i32gather_epi32(_mm512_and_si512(items, row_mask), new_rows, 4);
        const __mmask16 right = _mm512_movepi32_mask(moved), left = static_cast<__mmask16>(~right);
        const __m512i made = _mm512_or_si512(_mm512_and_si512(moved, row_mask), _mm512_and_si512(items, class_mask));
        _mm512_storeu_si512(left_order + to_left, _mm512_maskz_compress_epi32(left, made));
        _mm512_storeu_si512(left_ranks + to_left, _mm512_maskz_compress_epi32(left, values));
        _mm512_storeu_si512(right_order + to_right, _mm512_maskz_compress_epi32(right, made));
        _mm512_storeu_si512(right_ranks + to_right, _mm512_maskz_compress_epi32(right, values));
        const int gone_right = __builtin_popcount(right);
        to_right += static_cast<std::size_t>(gone_right);
        to_left += static_cast<std::size_t>(16 - gone_right);
    }
#endif
    for (; i < rows; ++i) {
        const std::uint32_t item = order[i], moved = new_rows[item & entry::kRowMask], right = moved >> 31;
        const std::uint32_t made = (moved & entry::kRowMask) | (item & entry::kClassMask);
        left_order[to_left] = right_order[to_right] = made;
        left_ranks[to_left] = right_ranks[to_right] = ranks[i];
        to_left += 1 - right;
        to_right += right;
    }
}

#if defined(__AVX512BW__)
// The ranks of a row, as often as they fit in a vector.
template <int kWidthOfRow>
[[gnu::always_inline]] inline __m512i ranks_of_row(const std::uint16_t* row) {
    if constexpr (kWidthOfRow == 8)
        return _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(row)));
    else if constexpr (kWidthOfRow == 16)
        return _mm512_broadcast_i64x4(_mm256_load_si256(reinterpret_cast<const __m256i*>(row)));
    else
        return _mm512_load_si512(row);
}

template <int kWidthOfRow>
void mark_rows_of(const std::uint16_t* ranks, const Index* ids, Index rows, const LaneRanks& lanes,
                  std::uint64_t* left_masks) {
    const __m512i columns[2] = {_mm512_load_si512(lanes.column), _mm512_load_si512(lanes.column + 32)};
    const __m512i most[2] = {_mm512_load_si512(lanes.rank), _mm512_load_si512(lanes.rank + 32)};
    const std::uint64_t used = lanes.lanes < kLanes ? (std::uint64_t{1} << lanes.lanes) - 1 : ~std::uint64_t{0};
#pragma GCC unroll 4
    for (Index row = 0; row < rows; ++row) {
        const __m512i of_row = ranks_of_row<kWidthOfRow>(ranks + std::size_t{ids[row]} * kWidthOfRow);
        const std::uint64_t low = _mm512_cmple_epu16_mask(_mm512_permutexvar_epi16(columns[0], of_row), most[0]);
        const std::uint64_t high = _mm512_cmple_epu16_mask(_mm512_permutexvar_epi16(columns[1], of_row), most[1]);
        left_masks[row] = (low | high << 32) & used;
    }
}

void mark_rows(const std::uint16_t* ranks, int width, const Index* ids, Index rows, const LaneRanks& lanes,
               std::uint64_t* left_masks) {
    const auto mark = width == 8 ? mark_rows_of<8> : width == 16 ? mark_rows_of<16> : mark_rows_of<32>;
    mark(ranks, ids, rows, lanes, left_masks);
}
#else
constexpr decltype(Kernel::mark_rows) mark_rows = nullptr;
#endif

void choose(const std::uint32_t* order, const Index* ranks, Index rows, const std::uint32_t* new_rows,
            std::uint32_t* chosen_order, Index* chosen_ranks, std::int32_t* before) {
    Index i = 0, chosen = 0;
#if defined(__AVX512BW__)
    const __m512i row_mask = _mm512_set1_epi32(static_cast<int>(entry::kRowMask)), zero = _mm512_setzero_si512();
    const __m512i class_mask = _mm512_set1_epi32(static_cast<int>(entry::kClassMask)), one = _mm512_set1_epi32(1);
    for (; i + 16 <= rows; i += 16) {
        const __m512i items = _mm512_loadu_si512(order + i);
        const __m512i moved = _mm512_i32gather_epi32(_mm512_and_si512(items, row_mask), new_rows, 4);
        const __mmask16 in = static_cast<__mmask16>(~_mm512_movepi32_mask(moved));
        const __m512i made = _mm512_or_si512(moved, _mm512_and_si512(items, class_mask));
        _mm512_storeu_si512(chosen_order + chosen, _mm512_maskz_compress_epi32(in, made));
        _mm512_storeu_si512(chosen_ranks + chosen, _mm512_maskz_compress_epi32(in, _mm512_loadu_si512(ranks + i)));
        const __m512i each = _mm512_maskz_mov_epi32(in, one);
        __m512i sums = _mm512_alignr_epi32(each, zero, 15);
        sums = _mm512_add_epi32(sums, _mm512_alignr_epi32(sums, zero, 15));
        sums = _mm512_add_epi32(sums, _mm512_alignr_epi32(sums, zero, 14));
        sums = _mm512_add_epi32(sums, _mm512_alignr_epi32(sums, zero, 12));
        sums = _mm512_add_epi32(sums, _mm512_alignr_epi32(sums, zero, 8));
        _mm512_storeu_si512(before + i, _mm512_add_epi32(sums, _mm512_set1_epi32(static_cast<int>(chosen))));
        chosen += static_cast<Index>(__builtin_popcount(in));
    }
#endif
    for (; i < rows; ++i) {
        const std::uint32_t item = order[i], moved = new_rows[item & entry::kRowMask];
        before[i] = static_cast<std::int32_t>(chosen);
        chosen_order[chosen] = (moved & entry::kRowMask) | (item & entry::kClassMask);
        chosen_ranks[chosen] = ranks[i];
        chosen += 1 - (moved >> 31);
    }
}

Index keep_classes(const std::uint32_t* order, const Index* ranks, Index rows, int one, int other,
                   std::uint32_t* kept_order, Index* kept_ranks) {
    Index i = 0, kept = 0;
#if defined(__AVX512BW__)
    const __m512i class_one = _mm512_set1_epi32(one), class_other = _mm512_set1_epi32(other);
    for (; i + 16 <= rows; i += 16) {
        const __m512i items = _mm512_loadu_si512(order + i), classes = _mm512_srli_epi32(items, entry::kClassShift);
        const __mmask16 keep =
            _mm512_cmpeq_epi32_mask(classes, class_one) | _mm512_cmpeq_epi32_mask(classes, class_other);
        _mm512_storeu_si512(kept_order + kept, _mm512_maskz_compress_epi32(keep, items));
        _mm512_storeu_si512(kept_ranks + kept, _mm512_maskz_compress_epi32(keep, _mm512_loadu_si512(ranks + i)));
        kept += static_cast<Index>(__builtin_popcount(keep));
    }
#endif
    for (; i < rows; ++i) {
        const int cls = static_cast<int>(order[i] >> entry::kClassShift);
        kept_order[kept] = order[i];
        kept_ranks[kept] = ranks[i];
        kept += cls == one || cls == other;
    }
    return kept;
}

void count_codes(const std::uint32_t* order, Index rows, [[maybe_unused]] int n_codes, std::int32_t counts[8]) {
    Index i = 0;
#if defined(__AVX512BW__)
    for (; i + 16 <= rows; i += 16) {
        const __m512i classes = _mm512_srli_epi32(_mm512_loadu_si512(order + i), entry::kClassShift);
        for (int cls = 0; cls < n_codes; ++cls)
            counts[cls] += __builtin_popcount(_mm512_cmpeq_epi32_mask(classes, _mm512_set1_epi32(cls)));
    }
#endif
    for (; i < rows; ++i) ++counts[order[i] >> entry::kClassShift];
}

void flag(std::uint32_t* order, const Index* ranks, Index rows, bool every_end, Index& checks, Index& groups) {
    Index set = 0, ends = 0, i = 0;
    const std::uint32_t all = every_end ? 1 : 0;
    const Index* const before = ranks - 1;
#if defined(__AVX512BW__)
    const __m512i class_bits = _mm512_set1_epi32(static_cast<int>(entry::kClassMask)),
                  check_bit = _mm512_set1_epi32(static_cast<int>(entry::kCheck));
    for (; i + 16 <= rows; i += 16) {
        const __m512i here = _mm512_loadu_si512(ranks + i), next = _mm512_loadu_si512(ranks + i + 1);
        const __m512i items = _mm512_loadu_si512(order + i), classes = _mm512_and_si512(items, class_bits);
        const __mmask16 end = _mm512_cmpneq_epi32_mask(here, next);
        const __mmask16 alone = end & _mm512_cmpneq_epi32_mask(_mm512_loadu_si512(before + i), here) &
                                _mm512_cmpneq_epi32_mask(next, _mm512_loadu_si512(ranks + i + 2));
        const __mmask16 same =
            _mm512_cmpeq_epi32_mask(classes, _mm512_and_si512(_mm512_loadu_si512(order + i + 1), class_bits)) &
            _mm512_cmpneq_epi32_mask(classes, class_bits);
        const __mmask16 check = all ? end : static_cast<__mmask16>(end & ~(alone & same));
        const __m512i cleared = _mm512_andnot_si512(check_bit, items);
        _mm512_storeu_si512(order + i, _mm512_mask_or_epi32(cleared, check, cleared, check_bit));
        set += static_cast<Index>(__builtin_popcount(check));
        ends += static_cast<Index>(__builtin_popcount(end));
    }
#endif
    for (; i < rows; ++i) {
        // Between two untied rows of one class the running sums are monotone (many classes: convex), so the extremes
        // lie at the ends.
        const std::uint32_t item = order[i];
        const std::uint32_t end = ranks[i] != ranks[i + 1];
        const std::uint32_t alone = end & (before[i] != ranks[i]) & (ranks[i + 1] != ranks[i + 2]);
        const std::uint32_t same =
            (((item ^ order[i + 1]) & entry::kClassMask) == 0) & ((item & entry::kClassMask) != entry::kClassMask);
        const std::uint32_t check = end & (all | (1 ^ (alone & same)));
        order[i] = (item & ~entry::kCheck) | (check ? entry::kCheck : 0);
        set += check;
        ends += end;
    }
    checks = set;
    groups = ends;
}

}  // namespace
}  // namespace provetree
