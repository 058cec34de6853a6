// A table without some of its rows: the same columns and ranks, so that a split means the same in both.
#pragma once

#include <cstdint>
#include <vector>

#include "table/table.hpp"

namespace provetree {

class FewerRows {
  public:
    // `left_out`: a flag for each row. Not of a measure, which knows the rows by their numbers.
    FewerRows(const Table& whole, const std::vector<std::uint8_t>& left_out) : table(whole) {
        std::vector<Index> rows;
        for (Index row = 0; row < whole.rows; ++row)
            if (!left_out[row]) rows.push_back(row);
        ranks_.resize(rows.size() * whole.columns);
        for (std::size_t c = 0; c < whole.columns; ++c)
            for (std::size_t i = 0; i < rows.size(); ++i)
                ranks_[c * rows.size() + i] = whole.ranks[c * whole.rows + rows[i]];
        for (const Index row : rows) {
            classes_.push_back(whole.classes[row]);
            weights_.push_back(whole.weights[row]);
            counts_.push_back(whole.counts[row]);
        }
        table.rows = static_cast<Index>(rows.size());
        table.ranks = ranks_.data();
        table.classes = classes_.data();
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
