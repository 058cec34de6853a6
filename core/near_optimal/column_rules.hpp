// Which splits of a node are one and the same: those on one column of the user's table that divide the rows of the node
// into the same two sets.
//
// An ordered column offers a split between any two of the node's values once. Columns of one feature can offer the same
// split: where no value is missing, "missing first" and "missing last" are the same column; "missing or not" is asked
// by both; and with two categories left, "is it this one" and "is it that one" are one question.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "table/table.hpp"

namespace provetree {

inline constexpr Index kNoRank = ~Index{0};

enum class ColumnKind : std::uint8_t { kNumeric, kMissingFirst, kMissingLast, kCategory };

class ColumnRules {
  public:
    ColumnRules(const Table& table, const std::int32_t* features, const std::uint8_t* kinds) : table_(table) {
        for (Index c = 0; c < table.columns; ++c) {
            features_.push_back(static_cast<Index>(features[c]));
            kinds_.push_back(static_cast<ColumnKind>(kinds[c]));
            n_features_ = std::max(n_features_, features_.back() + 1);
            spreads_.push_back(spread(c));
        }
        for (Index c = 0; c < table.columns; ++c) twins_.push_back(has_twin(c));
    }

    Index n_features() const { return n_features_; }
    Index feature(Index column) const { return features_[column]; }
    bool is_category(Index column) const { return kinds_[column] == ColumnKind::kCategory; }
    Index top(Index column) const { return table_.tops[column]; }
    // Whether the column repeats the splits of an earlier one of its feature, but for where missing values go.
    bool repeats(Index column) const { return twins_[column]; }

    // The gap between two values next to each other, as a share of the column's spread; questions about categories and
    // about missing values have none that could be too narrow.
    double margin(Index column, Index low, Index high) const {
        const double gap = table_.values[column][high] - table_.values[column][low];
        if (is_category(column) || std::isnan(gap)) return 1;
        if (!(spreads_[column] > 0) || !std::isfinite(gap)) return 1;
        return std::min(1.0, gap / spreads_[column]);
    }

  private:
    bool has_twin(Index column) const {
        if (kinds_[column] != ColumnKind::kMissingLast) return false;
        for (Index c = 0; c < column; ++c)
            if (features_[c] == features_[column] && kinds_[c] == ColumnKind::kMissingFirst) return true;
        return false;
    }
    // From the lowest finite value to the highest.
    double spread(Index column) const {
        double low = 0, high = 0;
        bool any = false;
        for (Index rank = 0; rank <= table_.tops[column]; ++rank) {
            const double value = table_.values[column][rank];
            if (!std::isfinite(value)) continue;
            low = any ? std::min(low, value) : value;
            high = any ? std::max(high, value) : value;
            any = true;
        }
        return high - low;
    }

    const Table& table_;
    Index n_features_ = 0;
    std::vector<Index> features_;
    std::vector<ColumnKind> kinds_;
    std::vector<double> spreads_;
    std::vector<std::uint8_t> twins_;
};

// Follows the questions about categories of a node, in the order of columns: the second of two that divide the rows
// alike is none of its own. Categories are disjoint, so that happens where the two hold all rows together.
class CategoriesSeen {
  public:
    // Whether the column asks something new; it sends so many of the rows left.
    bool is_new(Index feature, Index left, Index rows) {
        if (feature != feature_) {
            feature_ = feature;
            lefts_.clear();
        }
        for (Index earlier : lefts_)
            if (earlier + left == rows) return false;
        lefts_.push_back(left);
        return true;
    }
    void start() {
        feature_ = ~Index{0};
        lefts_.clear();
    }

  private:
    Index feature_ = ~Index{0};
    std::vector<Index> lefts_;
};

}  // namespace provetree
