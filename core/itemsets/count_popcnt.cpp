// The counting loop for x86-64 processors with a popcount instruction; this file alone is compiled for them.
#include "itemsets/count_impl.hpp"

namespace provetree::itemsets::versions {

void count_popcnt(const CoverView& cover, const std::uint64_t* column, std::int64_t* totals) {
    count_rows(cover, column, totals);
}

}  // namespace provetree::itemsets::versions
