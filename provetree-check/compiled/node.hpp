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
    struct Known {  // by position; -1: not worked out
        vector<i64> leaf[2], least[2], exact[2];
        bool is_open = true;
    };
    struct Chosen {  // rows of two classes in the order of a column
        vector<int> order, ends;
    };
    template <class T>
    void fill_lanes(const Try* first, size_t count, const vector<T>& steps, vector<T>& lanes) const;
    void solve(vector<Try>& tries);
    template <class T>
    void solve_lanes(Try* first, size_t count);
    const vector<Chosen>& choose_classes(int i, int j);
    int class_of(int row) const { return ground_.table.classes[static_cast<size_t>(rows_[static_cast<size_t>(row)])]; }
    void solve_any(Try& split);
    Stump stump_of(const vector<char>& in);
    void work_out_by_sweeps(Shape shape, i64 relaxed, i64 lower);
    void find_open(const Column& column, const Known& known, Shape shape, i64 relaxed, i64 lower, size_t number,
                   vector<Try>& tries) const;

    const Sorted& base_;
    const Ground& ground_;
    vector<int> rows_;
    vector<i64> total_;  // by class
    i64 weight_ = 0, leaf_ = 0, count_ = 0;
    bool has_columns_ = false;
    vector<Column> columns_;
    std::map<std::pair<int, int>, vector<Chosen>> chosen_;
};

}  // namespace ptcheck
