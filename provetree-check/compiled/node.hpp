// The rows of a claim, and claims of depth 0, 1 and 2 that are worked out anew.
#pragma once

#include <map>

#include "bits.hpp"

namespace ptcheck {

// The rows of the proof by each column.
struct Sorted {
    explicit Sorted(const Ground& of) : ground(of) {
        for (const Ranks& ranks : of.table.ranks) {
            vector<int> order(ranks.size());
            for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
            std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
                return ranks[static_cast<size_t>(a)] < ranks[static_cast<size_t>(b)];
            });
            orders.push_back(std::move(order));
        }
    }
    const Ground& ground;
    vector<vector<int>> orders;
};

// The rows of a claim.
class Node {
  public:
    Node(const Sorted& base, const Where& where);

    i64 n() const { return static_cast<i64>(rows_.size()); }
    i64 leaf() const { return leaf_; }
    i64 count() const { return count_; }  // of rows of the table
    const vector<int>& rows() const { return rows_; }
    // Columns that have two values or more; made when they are first wanted.
    const vector<Column>& columns();
    // Checks a claim of depth 0, 1 or 2.
    void work_out(Shape shape, i64 relaxed, i64 lower);

  private:
    // What a side costs as a tree of depth one: without the minimum leaf size, and with it.
    struct Stump {
        i64 plain = kMostCost, fitting = kMostCost;
    };
    struct Try {
        size_t column, position;
        Stump sides[2];
    };
    // What the sides of a position of a column cost at least, as trees of depth one with leaves of any size.
    struct Point {
        size_t position;
        i64 left, right;
    };
    // Splits of a column between two points; the open ones are among first to last.
    struct Stretch {
        size_t column;
        Point from, upto;
        size_t first, last;
    };
    struct Claimed {
        i64 splits, relaxed, lower;
    };
    struct Chosen {  // rows of two classes in the order of a column
        vector<int> order, ends;
    };
    void find_values(Column& column, const Ranks& ranks) const;
    size_t rows_before(const Column& column, size_t position) const {
        return position + 1 < column.positions() ? static_cast<size_t>(column.ends[position - 1]) : rows_.size();
    }
    void fill_masks(const Try* tries, size_t count);
    void solve(vector<Try>& tries);
    template <class T, class Step>
    void solve_lanes(Try* first, size_t count);
    const vector<Chosen>& choose_classes(int i, int j);
    int class_of(int row) const { return ground_.table.classes[static_cast<size_t>(rows_[static_cast<size_t>(row)])]; }
    void solve_any(Try& split);
    Stump stump_of(const vector<char>& in);
    void count_classes(const Column& column, size_t position, i64 (&leaf)[2], i64 (&least)[2]) const;
    bool is_open(const Column& column, size_t position, const Claimed& claim, Stump left, Stump right) const;
    bool narrow(Stretch& stretch, const Claimed& claim) const;
    vector<Try> choose_tries(const vector<Stretch>& stretches, size_t taken) const;
    void work_out_by_sweeps(const Claimed& claim);

    const Sorted& base_;
    const Ground& ground_;
    vector<int> rows_;
    vector<i64> total_;  // by class
    i64 weight_ = 0, heaviest_ = 0, leaf_ = 0, count_ = 0;
    size_t lanes_ = 1;  // splits that are worked out side by side
    bool has_columns_ = false;
    vector<Column> columns_;
    std::map<std::pair<int, int>, vector<Chosen>> chosen_;
    vector<std::uint64_t> masks_;  // by row: the tries that send it left
};

}  // namespace ptcheck
