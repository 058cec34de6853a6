// The counting loop itself, compiled once for every processor and once for those with a popcount instruction. The
// unnamed namespace keeps the copies apart: the linker must not give an older processor the newer one.
#pragma once

#include "itemsets/count.hpp"

namespace provetree::itemsets {

namespace {

inline std::int64_t bits_of(std::uint64_t word) {
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_popcountll(word);
#else
    std::int64_t bits = 0;
    for (; word != 0; word &= word - 1) ++bits;
    return bits;
#endif
}

inline void count_rows(const CoverView& cover, const std::uint64_t* column, std::int64_t* totals) {
    for (int c = 0; c < cover.classes; ++c) {
        std::int64_t rows = 0;
        for (std::uint32_t i = cover.class_begin[c]; i < cover.class_begin[c + 1]; ++i)
            rows += bits_of(cover.words[i] & column[cover.positions[i]]);
        totals[c] = rows;
    }
}

}  // namespace

}  // namespace provetree::itemsets
