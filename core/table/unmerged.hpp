// Rows that were merged, taken apart again where that makes the search faster.
#pragma once

#include <cstdint>
#include <vector>

#include "table/pick_rows.hpp"

namespace provetree {

// A table whose merged rows mostly stand for one row each is faster to search with each of them apart: rows of weight
// one have the fastest kernel.
class Unmerged {
  public:
    explicit Unmerged(const Table& merged) : table(merged) {
        if (merged.measure) return;  // it knows the rows by their numbers
        std::int64_t total = 0;
        for (Index i = 0; i < merged.rows; ++i) {
            if (merged.weights[i] != merged.counts[i]) return;
            total += merged.weights[i];
        }
        if (total == merged.rows || total * 4 > std::int64_t{merged.rows} * 5) return;
        const std::size_t n = total;
        std::vector<Index> rows;
        rows.reserve(n);
        for (Index i = 0; i < merged.rows; ++i) rows.insert(rows.end(), merged.weights[i], i);
        ones_.assign(n, 1);
        pick_rows(table, rows, ranks_, classes_);
        table.weights = table.counts = ones_.data();
    }
    Table table;

  private:
    std::vector<Index> ranks_;
    std::vector<std::int32_t> classes_;
    std::vector<std::int64_t> ones_;
};

}  // namespace provetree
