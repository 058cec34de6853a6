// Columns that are not kept: sums and ratios of two columns of a table, ordered when they are wanted.
//
// The ranks are those of problem/pairs.py and problem/ratios.py: the same roundings, the same groups of values that are
// equal but for rounding. A column with missing values comes twice, missing first and missing last.
#pragma once

#include <cstddef>
#include <vector>

#include "base/raw_vector.hpp"
#include "sweeps/node.hpp"
#include "table/row_merge.hpp"

namespace provetree {

// a * x + b * y, or x / y.
struct TwoColumns {
    bool is_ratio;
    Index first, second;
    double a, b;
};

// The numbers behind the rows of a root, row by row.
struct RawTable {
    const double* values;
    std::size_t rows, features;
    double at(std::size_t row, std::size_t feature) const { return values[row * features + feature]; }
};

// One column in memory of its own, reused for the next.
struct LoadedColumn {
    NodeColumn column{};
    RawVector<std::uint32_t> storage;
    RawVector<Weight> weights;
    std::vector<Keyed> sorted;
};

class SumColumns {
  public:
    SumColumns(const RawTable& table, std::vector<TwoColumns> sums, const Node& root, const Kernel& kernel,
               std::int64_t min_leaf);

    std::size_t size() const { return made_of_.size(); }
    // Which of the sums a column orders the rows by.
    std::size_t sum_of(std::size_t c) const { return made_of_[c].sum; }
    // False where all rows are alike. With an `order` that it had before, nothing needs to be sorted.
    bool load(std::size_t c, LoadedColumn& into, const std::uint32_t* order = nullptr) const;

  private:
    struct MadeOf {
        std::size_t sum;
        bool missing_first;
    };
    double sort_values(const TwoColumns& sum, const std::uint32_t* order, std::vector<Keyed>& sorted) const;

    RawTable table_;
    std::vector<TwoColumns> sums_;
    const Node& root_;
    const Kernel& kernel_;
    std::int64_t min_leaf_;
    std::vector<MadeOf> made_of_;
};

}  // namespace provetree
