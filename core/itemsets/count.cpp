// The counting loop, compiled once for every processor and once for those with a popcount instruction.
#include "itemsets/count.hpp"

namespace provetree::itemsets {

namespace {

// Inlined into its versions, so that each is compiled for its processors.
[[gnu::always_inline]] inline void count_rows(const CoverView& cover, const std::uint64_t* column,
                                              std::int64_t* totals) {
    for (int c = 0; c < cover.classes; ++c) {
        std::int64_t rows = 0;
        for (std::uint32_t i = cover.class_begin[c]; i < cover.class_begin[c + 1]; ++i)
            rows += __builtin_popcountll(cover.words[i] & column[cover.positions[i]]);
        totals[c] = rows;
    }
}

void count_anywhere(const CoverView& cover, const std::uint64_t* column, std::int64_t* totals) {
    count_rows(cover, column, totals);
}

#if defined(PROVETREE_X86_KERNELS)
[[gnu::target("popcnt")]] void count_popcnt(const CoverView& cover, const std::uint64_t* column, std::int64_t* totals) {
    count_rows(cover, column, totals);
}
#endif

}  // namespace

CountFunction choose_count() {
#if defined(PROVETREE_X86_KERNELS)
    if (__builtin_cpu_supports("popcnt")) return count_popcnt;
#endif
    return count_anywhere;
}

}  // namespace provetree::itemsets
