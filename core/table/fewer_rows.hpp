// A table without some of its rows.
#pragma once

#include <cstdint>
#include <vector>

#include "table/pick_rows.hpp"

namespace provetree {

class FewerRows {
  public:
    // `left_out`: a flag for each row.
    FewerRows(const Table& whole, const std::vector<std::uint8_t>& left_out) : table(whole) {
        std::vector<Index> rows;
        for (Index row = 0; row < whole.rows; ++row)
            if (!left_out[row]) rows.push_back(row);
        for (const Index row : rows) {
            weights_.push_back(whole.weights[row]);
            counts_.push_back(whole.counts[row]);
        }
        pick_rows(table, rows, ranks_, classes_);
        table.weights = weights_.data();
        table.counts = counts_.data();
    }
    FewerRows(const FewerRows&) = delete;
    FewerRows& operator=(const FewerRows&) = delete;
    Table table;

  private:
    std::vector<Index> ranks_;
    std::vector<std::int32_t> classes_;
    std::vector<std::int64_t> weights_, counts_;
};

}  // namespace provetree
