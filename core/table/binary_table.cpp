// Merging and ordering tables of yes and no; see table/binary_table.hpp.
#include "table/binary_table.hpp"

#include <array>
#include <bit>
#include <unordered_map>

#include "table/row_merge.hpp"

namespace provetree {

namespace {

constexpr std::size_t kWord = 64;

std::size_t words_for(std::size_t bits) { return (bits + kWord - 1) / kWord; }

// The cells of a table: which of its two values each is.
struct Cells {
    std::size_t words;              // of a row
    std::vector<double> low, high;  // of each column; the same where it is constant
    RawVector<std::uint64_t> bits;  // row by row, set where the value is the higher one

    const std::uint64_t* row(std::size_t i) const { return bits.data() + i * words; }
};

// Nothing where a column has a third value, or NaN.
std::optional<Cells> read_cells(const BitKernel& kernel, const double* table, std::size_t rows, std::size_t columns,
                                std::ptrdiff_t row_step, std::ptrdiff_t column_step) {
    constexpr std::size_t kRowsAtOnce = 32;  // of tables whose columns do not lie side by side
    const std::size_t words = words_for(columns);
    Cells cells{words, std::vector<double>(columns), {}, RawVector<std::uint64_t>(rows * words)};
    std::vector<double>& first = cells.low;
    for (std::size_t c = 0; c < columns; ++c) first[c] = table[static_cast<std::ptrdiff_t>(c) * column_step];
    std::vector<double> second = first, side_by_side;
    std::vector<std::uint64_t> neither(words);
    for (std::size_t top = 0; top < rows; top += kRowsAtOnce) {
        const std::size_t bottom = std::min(rows, top + kRowsAtOnce);
        if (column_step != 1) {
            side_by_side.resize(kRowsAtOnce * columns);
            for (std::size_t c = 0; c < columns; ++c) {
                const double* x =
                    table + static_cast<std::ptrdiff_t>(top) * row_step + static_cast<std::ptrdiff_t>(c) * column_step;
                for (std::size_t i = top; i < bottom; ++i, x += row_step) side_by_side[(i - top) * columns + c] = *x;
            }
        }
        for (std::size_t i = top; i < bottom; ++i) {
            const double* const x = column_step == 1 ? table + static_cast<std::ptrdiff_t>(i) * row_step
                                                     : side_by_side.data() + (i - top) * columns;
            kernel.compare(x, first.data(), second.data(), columns, cells.bits.data() + i * words, neither.data());
            for (std::size_t w = 0; w < words; ++w) {
                for (; neither[w]; neither[w] &= neither[w] - 1) {
                    const std::size_t c = w * kWord + std::countr_zero(neither[w]);
                    if (first[c] != second[c] || x[c] != x[c]) return std::nullopt;
                    second[c] = x[c];
                }
            }
        }
    }
    // So far bits are set where a value is not the first of its column.
    std::vector<std::uint64_t> turned(words, 0);
    for (std::size_t c = 0; c < columns; ++c) {
        if (second[c] >= first[c]) continue;
        std::swap(first[c], second[c]);
        turned[c / kWord] |= std::uint64_t{1} << (c % kWord);
    }
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t w = 0; w < words; ++w) cells.bits[i * words + w] ^= turned[w];
    cells.high = std::move(second);
    return cells;
}

// Bit j of word i becomes bit i of word j: halves are exchanged, then halves of halves.
void transpose(std::uint64_t square[kWord]) {
    std::uint64_t mask = 0xffffffff;
    for (std::size_t step = 32; step; step /= 2, mask ^= mask << step) {
        for (std::size_t i = 0; i < kWord; i = (i + step + 1) & ~step) {
            const std::uint64_t change = (square[i] >> step ^ square[i + step]) & mask;
            square[i] ^= change << step;
            square[i + step] ^= change;
        }
    }
}

// Eight bits as ranks.
struct RanksOfBytes {
    Index ranks[256][8];
    constexpr RanksOfBytes() : ranks{} {
        for (unsigned byte = 0; byte < 256; ++byte)
            for (unsigned bit = 0; bit < 8; ++bit) ranks[byte][bit] = byte >> bit & 1;
    }
};
constexpr RanksOfBytes kRanksOfBytes;

void write_ranks(const std::uint64_t* bits, std::size_t n, Index* ranks) {
    for (std::size_t begin = 0; begin < n; begin += 8) {
        const Index* const eight = kRanksOfBytes.ranks[bits[begin / kWord] >> (begin % kWord) & 0xff];
        std::copy(eight, eight + std::min<std::size_t>(8, n - begin), ranks + begin);
    }
}

// Rows of one class that are equal in every column become one.
MergedRows merge_cells(const Cells& cells, std::size_t rows, const std::int32_t* classes, const std::int64_t* weights,
                       const std::int64_t* counts) {
    std::vector<std::uint64_t> hashes(rows);
    for (std::size_t i = 0; i < rows; ++i) {
        std::uint64_t hash = static_cast<std::uint64_t>(classes[i]) + 1;
        for (std::size_t w = 0; w < cells.words; ++w) hash = mix(hash * kHashStep + cells.row(i)[w]);
        hashes[i] = hash;
    }
    const auto before = [&](std::size_t a, std::size_t b) {
        const std::uint64_t *left = cells.row(a), *right = cells.row(b);
        for (std::size_t w = 0; w < cells.words; ++w)
            if (left[w] != right[w]) return left[w] < right[w];
        return classes[a] < classes[b];
    };
    return merge_by_hash(hashes, before, weights, counts);
}

// The bits of some rows, column by column.
class BitColumns {
  public:
    BitColumns(const Cells& cells, const std::vector<std::int64_t>& rows)
        : rows_(rows.size()), words_(words_for(rows_)), bits_(cells.words * kWord * words_) {
        if (rows_ % kWord) last_bits_ = (std::uint64_t{1} << (rows_ % kWord)) - 1;
        for (std::size_t w = 0; w < cells.words; ++w) {
            for (std::size_t begin = 0; begin < rows_; begin += kWord) {
                std::uint64_t square[kWord] = {};
                for (std::size_t i = begin; i < std::min(rows_, begin + kWord); ++i)
                    square[i - begin] = cells.row(rows[i])[w];
                transpose(square);
                for (std::size_t c = 0; c < kWord; ++c) bits_[(w * kWord + c) * words_ + begin / kWord] = square[c];
            }
        }
    }

    const std::uint64_t* column(std::size_t c) const { return bits_.data() + c * words_; }

    // Hash and comparison take a column and its mirror image for the same.
    std::uint64_t hash(std::size_t c) const {
        std::uint64_t hash = 0;
        for (std::size_t w = 0; w < words_; ++w) hash = hash * kHashStep + word(c, w);
        return mix(hash);
    }
    bool same(std::size_t a, std::size_t b) const {
        for (std::size_t w = 0; w < words_; ++w)
            if (word(a, w) != word(b, w)) return false;
        return true;
    }

  private:
    static constexpr std::uint64_t kAll = ~std::uint64_t{0};

    // Of a column and its mirror image, the one without the first row. The last word is turned as far as there are
    // rows.
    std::uint64_t word(std::size_t c, std::size_t w) const {
        const std::uint64_t* const bits = column(c);
        return (bits[w] ^ (bits[0] & 1 ? kAll : 0)) & (w + 1 == words_ ? last_bits_ : kAll);
    }

    std::size_t rows_, words_;  // words of a column
    std::vector<std::uint64_t> bits_;
    std::uint64_t last_bits_ = kAll;
};

}  // namespace

std::optional<BinaryTable> order_binary_table(const BitKernel& kernel, const double* table, std::size_t rows,
                                              std::size_t columns, std::ptrdiff_t row_step, std::ptrdiff_t column_step,
                                              const std::int32_t* classes, const std::int64_t* weights,
                                              const std::int64_t* counts, bool keep_duplicates) {
    if (rows == 0) return std::nullopt;
    const std::optional<Cells> cells = read_cells(kernel, table, rows, columns, row_step, column_step);
    if (!cells) return std::nullopt;
    BinaryTable made{merge_cells(*cells, rows, classes, weights, counts), {}};
    const std::size_t n = made.rows.first.size();
    const BitColumns by_column(*cells, made.rows.first);
    std::unordered_multimap<std::uint64_t, std::size_t> known;  // columns by the hash of their bits
    OrderedColumns& ordered = made.columns;
    for (std::size_t c = 0; c < columns; ++c) {
        if (cells->low[c] == cells->high[c]) continue;
        const std::uint64_t hash = by_column.hash(c);
        bool drop = false;
        if (!keep_duplicates)
            for (auto [at, end] = known.equal_range(hash); at != end && !drop; ++at)
                drop = by_column.same(c, at->second);  // equal hashes are no proof
        if (drop) continue;
        known.emplace(hash, c);
        // + 0.0 turns -0.0 into 0.0
        ordered.add(c, ColumnKind::kNumeric, -1, std::array{cells->low[c] + 0.0, cells->high[c] + 0.0});
    }
    ordered.ranks.resize(ordered.features.size() * n);
    for (std::size_t k = 0; k < ordered.features.size(); ++k)
        write_ranks(by_column.column(ordered.features[k]), n, ordered.ranks.data() + k * n);
    return made;
}

}  // namespace provetree
