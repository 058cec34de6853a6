// Bits of rows and attributes; see itemsets/transactions.hpp.
#include "itemsets/transactions.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace provetree::itemsets {

Transactions::Transactions(const std::uint8_t* values, std::size_t attributes, std::size_t rows,
                           const std::int32_t* classes, const std::int64_t* weights, const std::int64_t* numbers,
                           int n_classes)
    : attributes_(attributes), n_classes_(n_classes), count_(choose_count()) {
    std::vector<std::size_t> of_class(n_classes, 0);
    for (std::size_t row = 0; row < rows; ++row) ++of_class[classes[row]];
    class_word_.push_back(0);
    for (std::size_t in_class : of_class)
        class_word_.push_back(class_word_.back() + static_cast<std::uint32_t>((in_class + 63) / 64));
    words_ = class_word_.back();

    std::vector<std::size_t> next(n_classes);
    for (std::size_t c = 0; c < next.size(); ++c) next[c] = std::size_t{64} * class_word_[c];
    std::vector<std::size_t> bit_of_row(rows);
    number_of_bit_.assign(64 * words_, -1);
    present_.assign(words_, 0);
    for (std::size_t row = 0; row < rows; ++row) {
        const std::size_t bit = next[classes[row]]++;
        bit_of_row[row] = bit;
        number_of_bit_[bit] = numbers[row];
        present_[bit / 64] |= std::uint64_t{1} << (bit % 64);
    }
    if (std::any_of(weights, weights + rows, [](std::int64_t weight) { return weight != 1; })) {
        weights_.assign(64 * words_, 0);
        for (std::size_t row = 0; row < rows; ++row) weights_[bit_of_row[row]] = weights[row];
    }
    columns_.assign(attributes * words_, 0);
    for (std::size_t attribute = 0; attribute < attributes; ++attribute) {
        std::uint64_t* bits = columns_.data() + attribute * words_;
        const std::uint8_t* of_rows = values + attribute * rows;
        for (std::size_t row = 0; row < rows; ++row)
            if (of_rows[row] != 0) bits[bit_of_row[row] / 64] |= std::uint64_t{1} << (bit_of_row[row] % 64);
    }
}

void Transactions::all_rows(Cover& cover) const {
    cover.words = present_;
    cover.class_begin = class_word_;
    cover.positions.resize(words_);
    std::iota(cover.positions.begin(), cover.positions.end(), 0u);
}

void Transactions::restrict(const Cover& cover, std::size_t attribute, bool positive, Cover& result) const {
    const std::uint64_t* bits = column(attribute);
    const std::uint64_t flip = positive ? 0 : ~std::uint64_t{0};
    result.words.clear();
    result.positions.clear();
    result.class_begin.clear();
    result.class_begin.push_back(0);
    for (int c = 0; c < n_classes_; ++c) {
        for (std::uint32_t i = cover.class_begin[c]; i < cover.class_begin[c + 1]; ++i) {
            const std::uint64_t word = cover.words[i] & (bits[cover.positions[i]] ^ flip);
            if (word == 0) continue;
            result.words.push_back(word);
            result.positions.push_back(cover.positions[i]);
        }
        result.class_begin.push_back(static_cast<std::uint32_t>(result.words.size()));
    }
}

std::int64_t Transactions::count_in(const Cover& cover, const std::uint64_t* column, std::int64_t* by_class) const {
    if (!weights_.empty()) return add_weights(cover, column, by_class);
    count_(cover.view(), column, by_class);
    return std::accumulate(by_class, by_class + n_classes_, std::int64_t{0});
}

std::int64_t Transactions::size(const Cover& cover) const {
    std::int64_t rows = 0;
    for (std::uint64_t word : cover.words) rows += std::popcount(word);
    return rows;
}

std::int64_t Transactions::add_weights(const Cover& cover, const std::uint64_t* column, std::int64_t* by_class) const {
    std::int64_t rows = 0;
    for (int c = 0; c < n_classes_; ++c) {
        std::int64_t weight = 0;
        for (std::uint32_t i = cover.class_begin[c]; i < cover.class_begin[c + 1]; ++i) {
            const std::int64_t* of_bits = weights_.data() + std::size_t{64} * cover.positions[i];
            for (std::uint64_t word = cover.words[i] & column[cover.positions[i]]; word != 0; word &= word - 1) {
                weight += of_bits[std::countr_zero(word)];
                ++rows;
            }
        }
        by_class[c] = weight;
    }
    return rows;
}

void Transactions::row_numbers(const Cover& cover, std::vector<std::int64_t>& numbers) const {
    numbers.clear();
    for (std::size_t i = 0; i < cover.words.size(); ++i)
        for (std::uint64_t word = cover.words[i]; word != 0; word &= word - 1)
            numbers.push_back(number_of_bit_[std::size_t{64} * cover.positions[i] + std::countr_zero(word)]);
    std::sort(numbers.begin(), numbers.end());
}

}  // namespace provetree::itemsets
