// Sets of rows as bits; see bits.hpp.
#include "bits.hpp"

namespace ptcheck {

namespace {

constexpr size_t kMostSplits = 1024, kFewSplits = 16;  // in all; for each column on average
constexpr i64 kMostBits = 1 << 17;

i64 ones(std::uint64_t word) { return __builtin_popcountll(word); }

// Extremes, for each first split, of what second splits send left: class 1 less class 0, of the rows on its left side
// (most, least) and of those on its right side. `alone` is what each split sends left of all rows.
struct Extremes {
    i64 *alone, *most, *least, *most_rest, *least_rest;
};

// The rows of a claim. Blocks of eight splits stand side by side, word by word; words from `second` on are of class 1.
struct Chosen {
    const std::uint64_t *table, *rows;  // all words of the table, and which of their bits are chosen
    const size_t* kept;                 // words of the table that have any
    size_t table_words, words, second, width;
    std::uint64_t* blocks;
    i64 *weights, *alone;  // of what each split sends left: weight, and class 1 less class 0
};

void choose_rows(const Chosen& of) {
    for (size_t b = 0; b < of.width / 8; ++b) {
        for (size_t k = 0; k < of.words; ++k) {
            std::uint64_t* const into = of.blocks + (b * of.words + k) * 8;
            const std::uint64_t* const from = of.table + (b * of.table_words + of.kept[k]) * 8;
            const std::uint64_t mask = of.rows[of.kept[k]];
            const i64 sign = k < of.second ? -1 : 1;
            for (size_t l = 0; l < 8; ++l) {
                into[l] = from[l] & mask;
                of.weights[b * 8 + l] += ones(into[l]);
                of.alone[b * 8 + l] += sign * ones(into[l]);
            }
        }
    }
}

// All pairs of splits.
void take_pairs(const Chosen& of, const Extremes& found) {
    choose_rows(of);
    const std::uint64_t* const blocks = of.blocks;
    const size_t words = of.words, second = of.second, width = of.width;
    for (size_t f = 0; f < width; ++f) {
        const std::uint64_t* const own = blocks + f / 8 * words * 8 + f % 8;
        i64 most[8] = {}, least[8] = {}, most_rest[8] = {}, least_rest[8] = {};
        const i64 own_alone = found.alone[f];
        for (size_t b = f / 8; b < width / 8; ++b) {
            const std::uint64_t* const others = blocks + b * words * 8;
            i64 zeros[8] = {}, sums[8] = {};
            for (size_t w = 0; w < second; ++w)
                for (size_t l = 0; l < 8; ++l) zeros[l] += ones(own[w * 8] & others[w * 8 + l]);
            for (size_t w = second; w < words; ++w)
                for (size_t l = 0; l < 8; ++l) sums[l] += ones(own[w * 8] & others[w * 8 + l]);
            i64 *const up = found.most + b * 8, *const down = found.least + b * 8;
            i64 *const up_rest = found.most_rest + b * 8, *const down_rest = found.least_rest + b * 8;
            const i64* const alone = found.alone + b * 8;
            for (size_t l = 0; l < 8; ++l) {
                const i64 x = sums[l] - zeros[l], rest = alone[l] - x, rest_of_other = own_alone - x;
                most[l] = std::max(most[l], x), least[l] = std::min(least[l], x);
                most_rest[l] = std::max(most_rest[l], rest), least_rest[l] = std::min(least_rest[l], rest);
                up[l] = std::max(up[l], x), down[l] = std::min(down[l], x);
                up_rest[l] = std::max(up_rest[l], rest_of_other);
                down_rest[l] = std::min(down_rest[l], rest_of_other);
            }
        }
        for (size_t l = 0; l < 8; ++l) {
            found.most[f] = std::max(found.most[f], most[l]), found.least[f] = std::min(found.least[f], least[l]);
            found.most_rest[f] = std::max(found.most_rest[f], most_rest[l]);
            found.least_rest[f] = std::min(found.least_rest[f], least_rest[l]);
        }
    }
}

}  // namespace

BitTable::BitTable(const Ground& ground) : ground_(ground) {
    const Table& table = ground.table;
    size_t splits = 0;
    for (int top : table.tops) splits += static_cast<size_t>(top);
    i64 weight = 0;
    for (i64 w : ground.weights) weight += w;
    const i64 n = static_cast<i64>(table.classes.size());
    if (splits == 0 || splits > std::min(kMostSplits, kFewSplits * table.tops.size()) || weight > kMostBits ||
        weight > 8 * n)
        return;
    splits_ = splits;
    vector<size_t> in_class(static_cast<size_t>(ground.n_classes), 0);
    for (size_t row = 0; row < table.classes.size(); ++row)
        in_class[static_cast<size_t>(table.classes[row])] += static_cast<size_t>(ground.weights[row]);
    starts_.push_back(0);
    for (size_t size : in_class) starts_.push_back(starts_.back() + (size + 63) / 64);
    words_ = starts_.back();
    for (size_t c = 0, next = 0; c < table.tops.size(); ++c) {
        first_.push_back(next);
        next += static_cast<size_t>(table.tops[c]);
    }
    left_.assign(splits, Bits(words_, 0));
    all_.assign(words_, 0);
    vector<size_t> at;
    for (size_t start : starts_) at.push_back(start * 64);
    for (size_t row = 0; row < table.classes.size(); ++row) {
        for (i64 k = 0; k < ground.weights[row]; ++k) {
            const size_t bit = at[static_cast<size_t>(table.classes[row])]++, word = bit / 64;
            const std::uint64_t one = std::uint64_t{1} << (bit % 64);
            all_[word] |= one;
            for (size_t c = 0; c < table.tops.size(); ++c)
                for (int rank = table.ranks[c][row]; rank < table.tops[c]; ++rank)
                    left_[first_[c] + static_cast<size_t>(rank)][word] |= one;
        }
    }
    by_word_.assign((splits + 7) / 8 * words_ * 8, 0);
    for (size_t f = 0; f < splits; ++f)
        for (size_t w = 0; w < words_; ++w) by_word_[(f / 8 * words_ + w) * 8 + f % 8] = left_[f][w];
}

void BitTable::find_rows(const Where& where, Bits& rows) const {
    rows = all_;
    for (const Condition& one : where) {
        const size_t first = first_[static_cast<size_t>(one.column)];
        if (one.high < ground_.table.tops[static_cast<size_t>(one.column)]) {
            const Bits& left = left_[first + static_cast<size_t>(one.high)];
            for (size_t w = 0; w < words_; ++w) rows[w] &= left[w];
        }
        if (one.low > 0) {
            const Bits& left = left_[first + static_cast<size_t>(one.low) - 1];
            for (size_t w = 0; w < words_; ++w) rows[w] &= ~left[w];
        }
    }
}

i64 BitTable::weight(const Bits& rows, size_t c) const {
    i64 sum = 0;
    for (size_t w = starts_[c]; w < starts_[c + 1]; ++w) sum += ones(rows[w]);
    return sum;
}

i64 BitTable::weight_outside(const Bits& rows, const Bits& others) const {
    i64 sum = 0;
    for (size_t w = 0; w < words_; ++w) sum += ones(rows[w] & ~others[w]);
    return sum;
}

vector<Column> BitTable::columns(const Bits& rows) const {
    i64 all = 0;
    for (size_t c = 0; c + 1 < starts_.size(); ++c) all += weight(rows, c);
    vector<Column> found;
    for (size_t c = 0; c < first_.size(); ++c) {
        Column column;
        column.id = static_cast<int>(c);
        column.before.push_back(0);
        for (int rank = 0; rank <= ground_.table.tops[c]; ++rank) {
            i64 left = all;
            if (rank < ground_.table.tops[c])
                left -= weight_outside(rows, left_[first_[c] + static_cast<size_t>(rank)]);
            if (left == column.before.back()) continue;
            column.values.push_back(rank);
            column.before.push_back(left);
        }
        column.fits.assign(column.positions(), 1);
        if (column.values.size() > 1) found.push_back(std::move(column));
    }
    return found;
}

// Of two classes, with d the difference of their weights on a side: cut into x and d - x, (weight + |x| + |d - x|) / 2
// of it are right, and |x| + |d - x| is the largest of |d|, 2x - d and d - 2x. So the extremes of x are enough.
void BitTable::check_depth_two(const Bits& rows, Shape shape, i64 bound) const {
    const size_t width = (splits_ + 7) / 8 * 8;  // splits that no row takes left fill the last block
    thread_local Bits blocks;
    thread_local vector<size_t> kept;
    thread_local vector<i64> space;
    kept.clear();
    size_t second = 0;
    for (size_t w = 0; w < words_; ++w) {
        if (rows[w]) kept.push_back(w);
        if (w < starts_[1]) second = kept.size();
    }
    const size_t words = kept.size();
    blocks.resize(words * width);
    space.assign(6 * width, 0);
    i64 *const alone = space.data(), *const weights = alone + width;
    const Extremes found{alone, weights + width, weights + 2 * width, weights + 3 * width, weights + 4 * width};
    const Chosen chosen{by_word_.data(), rows.data(), kept.data(),   words_,  words,
                        second,          width,       blocks.data(), weights, alone};
    take_pairs(chosen, found);
    const i64 zeros = weight(rows, 0), all = zeros + weight(rows, 1), difference = all - 2 * zeros;
    const i64 scale = ground_.scale, penalty = ground_.penalty;
    for (size_t f = 0; f < splits_; ++f) {
        const i64 d[2] = {alone[f], difference - alone[f]}, w[2] = {weights[f], all - weights[f]};
        const i64 most[2] = {found.most[f], found.most_rest[f]}, least[2] = {found.least[f], found.least_rest[f]};
        i64 leaf[2], stump[2];
        for (int side = 0; side < 2; ++side) {
            const i64 right = std::max({std::abs(d[side]), 2 * most[side] - d[side], d[side] - 2 * least[side]});
            leaf[side] = scale * ((w[side] - std::abs(d[side])) / 2);
            stump[side] = std::min(leaf[side], scale * ((w[side] - right) / 2) + penalty);
        }
        const i64 cost = shape.splits >= 3 ? stump[0] + stump[1] : std::min(leaf[0] + stump[1], stump[0] + leaf[1]);
        need(cost + penalty >= bound, "a tree of depth 2 costs less");
    }
}

}  // namespace ptcheck
