// How many rows, or how much weight, of a cover lie in a column: AND and popcount, the inner loop of the itemset
// search.
#pragma once

#include <cstddef>
#include <cstdint>

namespace provetree::itemsets {

// The words of a cover that are not all zero, in rising order of their position; the words of class c are
// [class_begin[c], class_begin[c + 1]).
struct CoverView {
    const std::uint64_t* words;
    const std::uint32_t* positions;
    const std::uint32_t* class_begin;
    int classes;
};

// Rows of each class that are in the cover and in the column.
using CountFunction = void (*)(const CoverView& cover, const std::uint64_t* column, std::int64_t* totals);

// The fastest version that this processor runs.
CountFunction choose_count();

}  // namespace provetree::itemsets
