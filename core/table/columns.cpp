// Dense ranks and merging of equal rows; see table/columns.hpp. Radix sorts, because for small tables sorting is most
// of a fit.
#include "table/columns.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <span>
#include <unordered_map>

#include "table/row_merge.hpp"

namespace provetree {

namespace {

// Doubles in the order of their values as unsigned integers.
std::uint64_t ordered_bits(double value) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(value + 0.0);  // + 0.0 turns -0.0 into 0.0
    return bits >> 63 ? ~bits : bits | std::uint64_t{1} << 63;
}

// ranks[i] is the number of distinct values below x[i]; the distinct values come back in order. There is no NaN, and
// -0.0 equals 0.0.
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

// Tables are gone through in tiles: rows so many at a time, of which a few columns at a time, whose numbers usually lie
// side by side.
constexpr std::size_t kColumnsAtOnce = 8, kRowsAtOnce = 64;

// A column of at most two values, as far as it was looked at: such columns, as yes and no, need no sorting.
struct TwoValues {
    double low, high;  // the same until a second one is seen
    bool more;         // other values, missing ones among them
};

// Ranks of rows `top` to `bottom` of one column; returns whether there were other values.
bool rank_tile(const double* x, std::ptrdiff_t row_step, std::size_t top, std::size_t bottom, const TwoValues& column,
               Index* ranks) {
    bool more = false;
    const double low = column.low, high = column.high;
    x += static_cast<std::ptrdiff_t>(top) * row_step;
    for (std::size_t i = top; i < bottom; ++i, x += row_step) {
        ranks[i] = *x != low;
        more |= (*x != low) & (*x != high);
    }
    return more;
}

// The same for several columns side by side.
void rank_tiles(const double* x, std::ptrdiff_t row_step, std::size_t top, std::size_t bottom, std::size_t rows,
                const TwoValues* columns, Index* ranks, std::array<std::uint8_t, kColumnsAtOnce>& more) {
    std::array<double, kColumnsAtOnce> low, high;
    for (std::size_t c = 0; c < kColumnsAtOnce; ++c) {
        low[c] = columns[c].low;
        high[c] = columns[c].high;
    }
    x += static_cast<std::ptrdiff_t>(top) * row_step;
    for (std::size_t i = top; i < bottom; ++i, x += row_step) {
        for (std::size_t c = 0; c < kColumnsAtOnce; ++c) {
            const bool is_high = x[c] != low[c];
            ranks[c * rows + i] = is_high;
            more[c] |= static_cast<std::uint8_t>(is_high & (x[c] != high[c]));
        }
    }
}

// Finds the columns of at most two values, and their ranks; the ranks of other columns are not to be used.
std::vector<TwoValues> rank_two_values(const double* table, std::size_t rows, std::size_t columns,
                                       std::ptrdiff_t row_step, std::ptrdiff_t column_step, Index* ranks) {
    std::vector<TwoValues> found(columns);
    for (std::size_t c = 0; c < columns; ++c) {
        const double first = table[static_cast<std::ptrdiff_t>(c) * column_step];
        found[c] = {first, first, first != first};
    }
    for (std::size_t top = 0; top < rows; top += kRowsAtOnce) {
        const std::size_t bottom = std::min(rows, top + kRowsAtOnce);
        for (std::size_t begin = 0; begin < columns; begin += kColumnsAtOnce) {
            const std::size_t count = std::min(kColumnsAtOnce, columns - begin);
            TwoValues* const here = found.data() + begin;
            // Numbers of many values are soon told apart.
            if (std::all_of(here, here + count, [](const TwoValues& column) { return column.more; })) continue;
            const auto column_at = [&](std::size_t c) {
                return table + static_cast<std::ptrdiff_t>(begin + c) * column_step;
            };
            std::array<std::uint8_t, kColumnsAtOnce> more{};
            if (count == kColumnsAtOnce && column_step == 1) {
                rank_tiles(column_at(0), row_step, top, bottom, rows, here, ranks + begin * rows, more);
            } else {
                for (std::size_t c = 0; c < count; ++c)
                    more[c] = rank_tile(column_at(c), row_step, top, bottom, here[c], ranks + (begin + c) * rows);
            }
            for (std::size_t c = 0; c < count; ++c) {
                if (!more[c] || here[c].more) continue;
                if (here[c].low != here[c].high) {
                    here[c].more = true;
                    continue;
                }
                // The first row of another value: all before it are alike.
                Index* const own = ranks + (begin + c) * rows;
                std::size_t other = top;
                while (!own[other]) ++other;
                const double second = column_at(c)[static_cast<std::ptrdiff_t>(other) * row_step];
                if (second < here[c].low) {
                    std::fill(own, own + top, Index{1});
                    here[c].low = second;
                } else {
                    here[c].high = second;
                }
                here[c].more = second != second || rank_tile(column_at(c), row_step, top, bottom, here[c], own);
            }
        }
    }
    return found;
}

}  // namespace

RankedColumns rank_columns(const double* table, std::size_t rows, std::size_t columns, std::ptrdiff_t row_step,
                           std::ptrdiff_t column_step) {
    RankedColumns ranked;
    ranked.ranks.resize(rows * columns);
    std::vector<TwoValues> two_values;
    if (rows > 0) two_values = rank_two_values(table, rows, columns, row_step, column_step, ranked.ranks.data());
    std::vector<double> present;
    std::vector<Index> present_ranks;
    for (std::size_t c = 0; c < columns; ++c) {
        bool missing = false;
        if (rows > 0 && !two_values[c].more) {
            ranked.values.push_back(two_values[c].low + 0.0);
            if (two_values[c].low != two_values[c].high) ranked.values.push_back(two_values[c].high + 0.0);
        } else {
            const double* const first = table + static_cast<std::ptrdiff_t>(c) * column_step;
            present.clear();
            const double* x = first;
            for (std::size_t i = 0; i < rows; ++i, x += row_step)
                if (*x == *x) present.push_back(*x);
            missing = present.size() < rows;
            present_ranks.resize(present.size());
            const std::vector<double> values = dense_ranks(present.data(), present.size(), present_ranks.data());
            Index* const ranks = ranked.ranks.data() + c * rows;
            std::size_t next = 0;
            x = first;
            for (std::size_t i = 0; i < rows; ++i, x += row_step)
                ranks[i] = *x == *x ? present_ranks[next++] : static_cast<Index>(values.size());
            ranked.values.insert(ranked.values.end(), values.begin(), values.end());
        }
        ranked.value_ends.push_back(static_cast<std::int64_t>(ranked.values.size()));
        ranked.has_missing.push_back(missing);
    }
    return ranked;
}

MergedRows merge_rows(const Index* ranks, std::size_t columns, std::size_t n, const std::int32_t* classes,
                      const std::int64_t* weights, const std::int64_t* counts) {
    std::vector<std::uint64_t> hashes(n);
    for (std::size_t i = 0; i < n; ++i) hashes[i] = mix(static_cast<std::uint64_t>(classes[i]) + 1);
    for (std::size_t c = 0; c < columns; ++c) {
        const Index* column = ranks + c * n;
        for (std::size_t i = 0; i < n; ++i) hashes[i] = hashes[i] * kHashStep + column[i];
    }
    for (std::uint64_t& hash : hashes) hash = mix(hash);
    const auto before = [&](std::size_t a, std::size_t b) {
        for (std::size_t c = 0; c < columns; ++c)
            if (ranks[c * n + a] != ranks[c * n + b]) return ranks[c * n + a] < ranks[c * n + b];
        return classes[a] < classes[b];
    };
    return merge_by_hash(hashes, before, weights, counts);
}

namespace {

// Whether the one split of a column of two values is a split of another one: all low ranks of the other are on one
// side.
bool is_split_of(const Index* column, const Index* other, std::size_t n) {
    constexpr std::size_t kRowsAtOnce = 64;  // columns that have nothing to do with each other are soon told apart
    Index least[2] = {std::numeric_limits<Index>::max(), std::numeric_limits<Index>::max()}, most[2] = {0, 0};
    for (std::size_t begin = 0; begin < n; begin += kRowsAtOnce) {
        for (std::size_t i = begin; i < std::min(n, begin + kRowsAtOnce); ++i) {
            least[column[i]] = std::min(least[column[i]], other[i]);
            most[column[i]] = std::max(most[column[i]], other[i]);
        }
        if (most[0] >= least[1] && most[1] >= least[0]) return false;
    }
    return std::max(least[0], least[1]) < std::numeric_limits<Index>::max();  // there are both
}

// Collects ordered columns and leaves out those that tell nothing new.
class Ordering {
  public:
    Ordering(const std::vector<std::int64_t>& rows, std::size_t features, bool keep_duplicates)
        : rows_(rows), keep_duplicates_(keep_duplicates) {
        made_.ranks.reserve(rows.size() * features);
    }

    // A column of a feature: `rank_of` the ranks of the feature, with one value for each of its ranks.
    template <class RankOf, class Values>
    void add(std::size_t feature, ColumnKind kind, std::int32_t category, const Index* source, const RankOf& rank_of,
             const Values& values) {
        const std::size_t n = rows_.size(), begin = made_.ranks.size();
        made_.ranks.resize(begin + n);
        Index* const ranks = made_.ranks.data() + begin;
        for (std::size_t i = 0; i < n; ++i) ranks[i] = rank_of(source[rows_[i]]);
        const Index top = static_cast<Index>(values.size() - 1);
        const std::uint64_t hash = hash_of(ranks, top);
        if (!keep_duplicates_ && is_known(ranks, top, hash)) {
            made_.ranks.resize(begin);
            return;
        }
        const std::size_t c = made_.features.size();
        known_.emplace(hash, c);
        if (top > 1 && top < kFewRanks) few_valued_.push_back(c);
        made_.add(feature, kind, category, values);
    }

    OrderedColumns take() { return std::move(made_); }

  private:
    static constexpr Index kFewRanks = 32;

    Index top_of(std::size_t c) const {
        return static_cast<Index>(made_.value_ends[c] - (c ? made_.value_ends[c - 1] : 0) - 1);
    }

    // Of a column and its mirror image the hash is of the one that begins with the lower rank; the middle rank is its
    // own mirror image.
    std::uint64_t hash_of(const Index* column, Index top) const {
        const std::size_t n = rows_.size();
        bool turned = false;
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint64_t twice = std::uint64_t{2} * column[i];
            turned = twice > top;
            if (twice != top) break;
        }
        std::uint64_t hash = top;
        if (turned)
            for (std::size_t i = 0; i < n; ++i) hash = hash * kHashStep + (top - column[i]);
        else
            for (std::size_t i = 0; i < n; ++i) hash = hash * kHashStep + column[i];
        return mix(hash);
    }

    bool is_known(const Index* column, Index top, std::uint64_t hash) const {
        const std::size_t n = rows_.size();
        const auto ranks_of = [&](std::size_t c) { return made_.ranks.data() + c * n; };
        const auto same = [&](std::size_t other) {
            // Equal hashes are no proof of equal columns: compare whole columns.
            if (top_of(other) != top) return false;
            return std::equal(column, column + n, ranks_of(other)) ||
                   std::equal(column, column + n, ranks_of(other), [top](Index x, Index y) { return x == top - y; });
        };
        for (auto [at, end] = known_.equal_range(hash); at != end; ++at)
            if (same(at->second)) return true;
        return top == 1 && std::any_of(few_valued_.begin(), few_valued_.end(),
                                       [&](std::size_t c) { return is_split_of(column, ranks_of(c), n); });
    }

    const std::vector<std::int64_t>& rows_;
    bool keep_duplicates_;
    OrderedColumns made_;
    std::unordered_multimap<std::uint64_t, std::size_t> known_;  // columns by the hash of their ranks
    std::vector<std::size_t> few_valued_;                        // columns of more than two ranks, but not many
};

}  // namespace

OrderedColumns order_columns(const RankedFeatures& ranked, const std::vector<std::int64_t>& rows,
                             bool keep_duplicates) {
    Ordering ordering(rows, ranked.features, keep_duplicates);
    constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
    const auto as_it_is = [](Index x) { return x; };
    for (std::size_t f = 0; f < ranked.features; ++f) {
        const double* const first = ranked.values + (f ? ranked.value_ends[f - 1] : 0);
        const std::span<const double> values(first, ranked.values + ranked.value_ends[f]);
        const Index n_values = static_cast<Index>(values.size()), n_ranks = n_values + ranked.has_missing[f];
        const Index* source = ranked.ranks + f * ranked.rows;
        if (n_ranks < 2) continue;
        if (ranked.n_categories[f] >= 0) {
            for (Index rank = 0; rank < n_ranks; ++rank) {
                const std::int64_t category =
                    rank < n_values ? static_cast<std::int64_t>(values[rank]) : ranked.n_categories[f];
                ordering.add(
                    f, ColumnKind::kCategory, static_cast<std::int32_t>(category), source,
                    [rank](Index x) { return static_cast<Index>(x != rank); }, std::array{0.0, 1.0});
            }
        } else if (ranked.has_missing[f]) {
            std::vector<double> with_missing{kMissing};
            with_missing.insert(with_missing.end(), values.begin(), values.end());
            ordering.add(
                f, ColumnKind::kMissingFirst, -1, source,
                [n_values](Index x) { return x == n_values ? Index{0} : x + 1; }, with_missing);
            std::rotate(with_missing.begin(), with_missing.begin() + 1, with_missing.end());
            ordering.add(f, ColumnKind::kMissingLast, -1, source, as_it_is, with_missing);
        } else {
            ordering.add(f, ColumnKind::kNumeric, -1, source, as_it_is, values);
        }
    }
    return ordering.take();
}

}  // namespace provetree
