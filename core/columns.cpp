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

constexpr std::uint64_t kHashStep = 0x9e3779b97f4a7c15ULL;

std::uint64_t mix(std::uint64_t h) {
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93ULL;
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93ULL;
    h ^= h >> 32;
    return h;
}

// ranks[i] is the number of distinct values below x[i]; the distinct values come back in order. No NaN; -0.0 equals 0.0.
std::vector<double> dense_ranks(const double* x, std::size_t n, Index* ranks) {
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

// Several columns are gone through at a time: their numbers usually lie side by side.
constexpr std::size_t kColumnsAtOnce = 8;

// Ranks of columns that have at most two values, as yes and no have: no sorting is needed. Sets `values` of those columns, and leaves it empty for the
// others, missing values among them.
void rank_two_values(const double* table, std::size_t rows, std::size_t count, std::ptrdiff_t row_step, std::ptrdiff_t column_step, Index* ranks,
                     std::array<std::vector<double>, kColumnsAtOnce>& values) {
    std::array<double, kColumnsAtOnce> low{}, high{};
    std::array<bool, kColumnsAtOnce> more{};
    const auto at = [&](std::size_t i, std::size_t c) {
        return table[static_cast<std::ptrdiff_t>(i) * row_step + static_cast<std::ptrdiff_t>(c) * column_step];
    };
    for (std::size_t c = 0; c < count; ++c) {
        low[c] = high[c] = at(0, c);
        std::size_t other = 1;
        while (other < rows && at(other, c) == low[c]) ++other;
        if (other < rows) (at(other, c) < low[c] ? low[c] : high[c]) = at(other, c);
        more[c] = !(low[c] <= high[c]);
    }
    const auto all_have_more = [&] { return std::count(more.begin(), more.end(), true) == static_cast<std::ptrdiff_t>(count); };
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t c = 0; c < count; ++c) {
            const double x = at(i, c);
            ranks[c * rows + i] = x != low[c];
            more[c] |= (x != low[c]) & (x != high[c]);
        }
        // Numbers of many values are soon told apart.
        if (i == 100 && all_have_more()) return;
    }
    for (std::size_t c = 0; c < count; ++c) {
        if (more[c]) continue;
        values[c].push_back(low[c] + 0.0);
        if (low[c] != high[c]) values[c].push_back(high[c] + 0.0);
    }
}

}  // namespace

RankedColumns rank_columns(const double* table, std::size_t rows, std::size_t columns, std::ptrdiff_t row_step, std::ptrdiff_t column_step) {
    RankedColumns ranked;
    ranked.ranks.resize(rows * columns);
    std::array<std::vector<double>, kColumnsAtOnce> values;
    std::vector<double> present;
    std::vector<Index> present_ranks;
    for (std::size_t begin = 0; begin < columns; begin += kColumnsAtOnce) {
        const std::size_t count = std::min(kColumnsAtOnce, columns - begin);
        const double* block = table + static_cast<std::ptrdiff_t>(begin) * column_step;
        Index* ranks = ranked.ranks.data() + begin * rows;
        if (rows > 0) rank_two_values(block, rows, count, row_step, column_step, ranks, values);
        for (std::size_t c = 0; c < count; ++c, ranks += rows) {
            bool missing = false;
            if (values[c].empty()) {
                const double* x = block + static_cast<std::ptrdiff_t>(c) * column_step;
                present.clear();
                for (std::size_t i = 0; i < rows; ++i, x += row_step)
                    if (*x == *x) present.push_back(*x);
                missing = present.size() < rows;
                present_ranks.resize(present.size());
                values[c] = dense_ranks(present.data(), present.size(), present_ranks.data());
                std::size_t next = 0;
                x = block + static_cast<std::ptrdiff_t>(c) * column_step;
                for (std::size_t i = 0; i < rows; ++i, x += row_step) ranks[i] = *x == *x ? present_ranks[next++] : static_cast<Index>(values[c].size());
            }
            ranked.values.insert(ranked.values.end(), values[c].begin(), values[c].end());
            ranked.value_ends.push_back(static_cast<std::int64_t>(ranked.values.size()));
            ranked.has_missing.push_back(missing);
            values[c].clear();
        }
    }
    return ranked;
}

std::vector<std::int64_t> distinct_columns(const Index* ranks, std::size_t columns, std::size_t rows, const Index* tops) {
    // Of a column and its mirror image, the one that begins with the lower rank; the middle rank is its own mirror image.
    const auto mirrored = [&](std::size_t c) {
        for (std::size_t i = 0; i < rows; ++i) {
            const std::uint64_t twice = std::uint64_t{2} * ranks[c * rows + i];
            if (twice != tops[c]) return twice > tops[c];
        }
        return false;
    };
    std::vector<std::uint8_t> turned(columns);
    std::vector<Keyed> items(columns);
    for (std::size_t c = 0; c < columns; ++c) {
        const Index* column = ranks + c * rows;
        turned[c] = mirrored(c);
        std::uint64_t hash = tops[c];
        if (turned[c])
            for (std::size_t i = 0; i < rows; ++i) hash = hash * kHashStep + (tops[c] - column[i]);
        else
            for (std::size_t i = 0; i < rows; ++i) hash = hash * kHashStep + column[i];
        items[c] = {mix(hash), static_cast<std::uint32_t>(c)};
    }
    const auto same = [&](std::size_t a, std::size_t b) {
        if (tops[a] != tops[b]) return false;
        const Index *first = ranks + a * rows, *second = ranks + b * rows;
        if (turned[a] == turned[b]) return std::equal(first, first + rows, second);
        return std::equal(first, first + rows, second, [top = tops[a]](Index x, Index y) { return x == top - y; });
    };
    std::stable_sort(items.begin(), items.end(), [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
    std::vector<std::int64_t> kept;
    for (std::size_t begin = 0, end; begin < columns; begin = end) {
        // Equal hashes are no proof of equal columns: compare whole columns.
        const std::size_t first = kept.size();
        for (end = begin; end < columns && items[end].key == items[begin].key; ++end) {
            const std::size_t c = items[end].index;
            bool known = false;
            for (std::size_t k = first; k < kept.size() && !known; ++k) known = same(static_cast<std::size_t>(kept[k]), c);
            if (!known) kept.push_back(static_cast<std::int64_t>(c));
        }
    }
    std::sort(kept.begin(), kept.end());
    return kept;
}

MergedRows merge_rows(const Index* ranks, std::size_t columns, std::size_t n, const std::int32_t* classes, const std::int64_t* weights,
                      const std::int64_t* counts) {
    std::vector<std::uint64_t> hashes(n);
    for (std::size_t i = 0; i < n; ++i) hashes[i] = mix(static_cast<std::uint64_t>(classes[i]) + 1);
    for (std::size_t c = 0; c < columns; ++c) {
        const Index* column = ranks + c * n;
        for (std::size_t i = 0; i < n; ++i) hashes[i] = hashes[i] * kHashStep + column[i];
    }
    for (std::uint64_t& hash : hashes) hash = mix(hash);
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
