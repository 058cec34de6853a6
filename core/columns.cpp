// Dense ranks and merging of equal rows; see columns.hpp. Radix sorts, because for small tables sorting is most of a fit.
#include "columns.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace provetree {

namespace {

struct Keyed {
    std::uint64_t key;
    std::uint32_t index;
};

// Stable sort by key: least significant digit first, skipping digits that do not vary.
void radix_sort(std::vector<Keyed>& items) {
    constexpr int kBits = 11, kBuckets = 1 << kBits;
    if (items.size() < 256) {
        std::stable_sort(items.begin(), items.end(), [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
        return;
    }
    // All digits are counted in one pass.
    constexpr int kDigits = (64 + kBits - 1) / kBits;
    std::array<std::array<std::uint32_t, kBuckets>, kDigits> counts{};
    for (const Keyed& item : items)
        for (int digit = 0; digit < kDigits; ++digit) ++counts[static_cast<std::size_t>(digit)][item.key >> (digit * kBits) & (kBuckets - 1)];
    std::vector<Keyed> other(items.size());
    for (int digit = 0; digit < kDigits; ++digit) {
        std::array<std::uint32_t, kBuckets>& next = counts[static_cast<std::size_t>(digit)];
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

// Doubles in the order of their values as unsigned integers.
std::uint64_t ordered_bits(double value) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(value + 0.0);  // + 0.0 turns -0.0 into 0.0
    return bits >> 63 ? ~bits : bits | std::uint64_t{1} << 63;
}

std::uint64_t mix(std::uint64_t h) {
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93ULL;
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93ULL;
    h ^= h >> 32;
    return h;
}

}  // namespace

namespace {

// Two values, as yes and no have: no sorting is needed. False where there are more, or fewer.
bool ranks_of_two_values(const double* x, std::size_t n, Index* ranks, std::vector<double>& values) {
    std::size_t other = 1;
    while (other < n && x[other] == x[0]) ++other;
    if (other >= n) return false;
    const double low = std::min(x[0], x[other]), high = std::max(x[0], x[other]);
    std::size_t known = 0;
    for (std::size_t i = 0; i < n; ++i) known += (x[i] == low) | (x[i] == high);
    if (known != n) return false;
    for (std::size_t i = 0; i < n; ++i) ranks[i] = x[i] == high ? 1 : 0;
    values = {low + 0.0, high + 0.0};
    return true;
}

}  // namespace

std::vector<double> dense_ranks(const double* x, std::size_t n, Index* ranks) {
    std::vector<double> of_two;
    if (ranks_of_two_values(x, n, ranks, of_two)) return of_two;
    std::vector<Keyed> items(n);
    for (std::size_t i = 0; i < n; ++i) items[i] = {ordered_bits(x[i]), static_cast<std::uint32_t>(i)};
    radix_sort(items);
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) {
        if (i == 0 || items[i].key != items[i - 1].key) values.push_back(x[items[i].index] + 0.0);
        ranks[items[i].index] = static_cast<Index>(values.size() - 1);
    }
    return values;
}

MergedRows merge_rows(const Index* ranks, std::size_t columns, std::size_t n, const std::int32_t* classes, const std::int64_t* weights,
                      const std::int64_t* counts) {
    std::vector<std::uint64_t> hashes(n);
    for (std::size_t i = 0; i < n; ++i) hashes[i] = mix(static_cast<std::uint64_t>(classes[i]) + 1);
    for (std::size_t c = 0; c < columns; ++c) {
        const Index* column = ranks + c * n;
        for (std::size_t i = 0; i < n; ++i) hashes[i] = mix(hashes[i] * 0x9e3779b97f4a7c15ULL + column[i]);
    }
    std::vector<Keyed> items(n);
    for (std::size_t i = 0; i < n; ++i) items[i] = {hashes[i], static_cast<std::uint32_t>(i)};
    radix_sort(items);
    const auto before = [&](std::size_t a, std::size_t b) {
        for (std::size_t c = 0; c < columns; ++c)
            if (ranks[c * n + a] != ranks[c * n + b]) return ranks[c * n + a] < ranks[c * n + b];
        return classes[a] < classes[b];
    };
    MergedRows merged;
    merged.first.reserve(n);
    merged.weights.reserve(n);
    merged.counts.reserve(n);
    for (std::size_t begin = 0, end; begin < n; begin = end) {
        end = begin + 1;
        while (end < n && items[end].key == items[begin].key) ++end;
        // Equal hashes are no proof of equal rows: compare whole rows.
        if (end - begin > 1)
            std::sort(items.begin() + static_cast<std::ptrdiff_t>(begin), items.begin() + static_cast<std::ptrdiff_t>(end),
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
