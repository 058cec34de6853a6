// The counting loop for every processor, and the choice among its versions.
#include "itemsets/count_impl.hpp"

namespace provetree::itemsets {

namespace versions {
void count_baseline(const CoverView& cover, const std::uint64_t* column, std::int64_t* totals) {
    count_rows(cover, column, totals);
}
}  // namespace versions

CountFunction choose_count() {
#if defined(PROVETREE_X86_KERNELS)
    if (__builtin_cpu_supports("popcnt")) return versions::count_popcnt;
#endif
    return versions::count_baseline;
}

}  // namespace provetree::itemsets
