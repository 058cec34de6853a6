// Tables whose columns have few values, as bits: sets of rows, and claims of depth two by counting all pairs of splits.
#pragma once

#include "claims.hpp"
#include "table.hpp"

namespace ptcheck {

using Bits = vector<std::uint64_t>;

// What all claims are about: the table, the rows of the proof with their weights, the objective.
struct Ground {
    const Table& table;
    i64 scale, penalty, min_leaf, n_classes;
    vector<i64> weights;

    bool has(const Where& where, int row) const {
        for (const Condition& one : where) {
            const int rank = table.ranks[static_cast<size_t>(one.column)][static_cast<size_t>(row)];
            if (rank < one.low || rank > one.high) return false;
        }
        return weights[static_cast<size_t>(row)] > 0;
    }
};

// One column within the rows of a claim: rows in its order, and where its values change.
struct Column {
    int id;
    vector<int> order;     // rows of the node
    vector<int> ends;      // rows before each change of value
    vector<int> values;    // the distinct ranks
    vector<i64> by_class;  // weights of classes left of position p, p = 0 .. values
    vector<i64> before;    // their sums
    vector<char> fits;     // whether both sides have as many rows as a leaf needs
    size_t positions() const { return values.size() + 1; }
};

// A row has as many bits as it weighs; those of the first class come first, those of the next from a new word on.
class BitTable {
  public:
    explicit BitTable(const Ground& ground);

    // Whether the table is one: few thresholds, light rows.
    bool is_usable() const { return words_ > 0; }
    // Whether claims of depth two can be worked out: two classes, leaves of any size.
    bool has_pairs() const { return words_ > 0 && ground_.n_classes == 2 && ground_.min_leaf <= 1; }

    void find_rows(const Where& where, Bits& rows) const;
    i64 weight(const Bits& rows, size_t c) const;
    // The weight of rows that are not among others.
    i64 weight_outside(const Bits& rows, const Bits& others) const;
    // Columns that have two values or more among some rows, where leaves may have any size: without orders and classes.
    vector<Column> columns(const Bits& rows) const;
    // Checks a claim of depth two about all pairs of splits.
    void check_depth_two(const Bits& rows, Shape shape, i64 bound) const;

  private:
    const Ground& ground_;
    size_t words_ = 0, splits_ = 0;
    vector<size_t> starts_;  // first word of each class, and the end
    vector<size_t> first_;   // first split of each column
    vector<Bits> left_;      // by split: the rows that go left
    Bits by_word_;           // the same in blocks of eight splits, word by word
    Bits all_;
};

}  // namespace ptcheck
