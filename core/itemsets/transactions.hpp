// The transactional database: for each Boolean attribute the set of rows that have it, as bits. Rows are grouped by
// class and each class starts a new word, so that class-based supports are popcounts of ranges of words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "itemsets/count.hpp"

namespace provetree::itemsets {

// The rows that contain an itemset: only words that are not all zero are kept.
struct Cover {
    std::vector<std::uint64_t> words;
    std::vector<std::uint32_t> positions;
    std::vector<std::uint32_t> class_begin;

    CoverView view() const {
        return {words.data(), positions.data(), class_begin.data(), static_cast<int>(class_begin.size()) - 1};
    }
};

class Transactions {
  public:
    // `values` is attribute-major, one byte per row, zero or not; weights are at least 1. `numbers` are what a user
    // calls the rows.
    Transactions(const std::uint8_t* values, std::size_t attributes, std::size_t rows, const std::int32_t* classes,
                 const std::int64_t* weights, const std::int64_t* numbers, int n_classes);

    std::size_t attributes() const { return attributes_; }
    int classes() const { return n_classes_; }

    // The rows of the empty itemset: all.
    void all_rows(Cover& cover) const;
    // The rows of `cover` that have the attribute (or, negated, do not have it).
    void restrict(const Cover& cover, std::size_t attribute, bool positive, Cover& result) const;
    // Weight of each class within the cover.
    void totals(const Cover& cover, std::int64_t* by_class) const { count_in(cover, present_.data(), by_class); }
    // Number of rows and weight of each class within the cover that have the attribute; returns the number of rows.
    std::int64_t count(const Cover& cover, std::size_t attribute, std::int64_t* by_class) const {
        return count_in(cover, column(attribute), by_class);
    }
    std::int64_t size(const Cover& cover) const;
    // The table's row numbers in the cover, in rising order.
    void row_numbers(const Cover& cover, std::vector<std::int64_t>& numbers) const;

  private:
    const std::uint64_t* column(std::size_t attribute) const { return columns_.data() + attribute * words_; }
    std::int64_t count_in(const Cover& cover, const std::uint64_t* column, std::int64_t* by_class) const;
    std::int64_t add_weights(const Cover& cover, const std::uint64_t* column, std::int64_t* by_class) const;

    std::size_t attributes_;
    int n_classes_;
    std::size_t words_ = 0;
    std::vector<std::uint32_t> class_word_;    // first word of each class, and one past the last
    std::vector<std::uint64_t> columns_;       // attribute-major
    std::vector<std::uint64_t> present_;       // bits that stand for a row
    std::vector<std::int64_t> weights_;        // by bit; empty when every row weighs one
    std::vector<std::int64_t> number_of_bit_;  // by bit
    CountFunction count_;
};

}  // namespace provetree::itemsets
