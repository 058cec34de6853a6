// Sorting by keys, and merging of equal rows by their hashes. Radix sorts, because for small tables sorting is most of
// a fit.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "table/columns.hpp"

namespace provetree {

struct Keyed {
    std::uint64_t key;
    std::uint32_t index;
};

// Stable sort by key: least significant digit first, skipping digits that do not vary.
inline void radix_sort(std::vector<Keyed>& items) {
    constexpr int kBits = 11, kBuckets = 1 << kBits;
    if (items.size() < 256) {
        std::stable_sort(items.begin(), items.end(), [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
        return;
    }
    // All digits are counted in one pass.
    constexpr int kDigits = (64 + kBits - 1) / kBits;
    std::array<std::array<std::uint32_t, kBuckets>, kDigits> counts{};
    for (const Keyed& item : items)
        for (int digit = 0; digit < kDigits; ++digit) ++counts[digit][item.key >> (digit * kBits) & (kBuckets - 1)];
    std::vector<Keyed> other(items.size());
    for (int digit = 0; digit < kDigits; ++digit) {
        std::array<std::uint32_t, kBuckets>& next = counts[digit];
        const int shift = digit * kBits;
        if (next[items[0].key >> shift & (kBuckets - 1)] == items.size()) continue;
        std::uint32_t sum = 0;
        for (std::uint32_t& bucket : next) {
            const std::uint32_t count = bucket;
            bucket = sum;
            sum += count;
        }
        for (const Keyed& item : items) other[next[item.key >> shift & (kBuckets - 1)]++] = item;
        items.swap(other);
    }
}

inline constexpr std::uint64_t kHashStep = 0x9e3779b97f4a7c15ULL;

inline std::uint64_t mix(std::uint64_t h) {
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93ULL;
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93ULL;
    h ^= h >> 32;
    return h;
}

// Rows of which neither comes before the other are merged; these have the same hash. `before` must not depend on the
// order of the rows.
template <class Before>
MergedRows merge_by_hash(const std::vector<std::uint64_t>& hashes, const Before& before, const std::int64_t* weights,
                         const std::int64_t* counts) {
    const std::size_t n = hashes.size();
    std::vector<Keyed> items(n);
    for (std::size_t i = 0; i < n; ++i) items[i] = {hashes[i], static_cast<std::uint32_t>(i)};
    radix_sort(items);
    MergedRows merged;
    merged.first.reserve(n);
    merged.weights.reserve(n);
    merged.counts.reserve(n);
    for (std::size_t begin = 0, end; begin < n; begin = end) {
        end = begin + 1;
        while (end < n && items[end].key == items[begin].key) ++end;
        // Equal hashes are no proof of equal rows: compare whole rows.
        if (end - begin > 1)
            std::sort(items.begin() + static_cast<std::ptrdiff_t>(begin),
                      items.begin() + static_cast<std::ptrdiff_t>(end),
                      [&](const Keyed& a, const Keyed& b) { return before(a.index, b.index); });
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t row = items[i].index;
            if (i == begin || before(items[i - 1].index, row)) {
                merged.first.push_back(static_cast<std::int64_t>(row));
                merged.weights.push_back(weights[row]);
                merged.counts.push_back(counts[row]);
            } else {
                merged.weights.back() += weights[row];
                merged.counts.back() += counts[row];
            }
        }
    }
    return merged;
}

}  // namespace provetree
