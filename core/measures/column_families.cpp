// Which columns go together; see measures/column_families.hpp.
#include "measures/column_families.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace provetree {

namespace {

// Whether two columns are one number with its missing values first and last.
bool missing_pair(const Table& table, Index first, Index last) {
    const Index top = table.tops[first];
    if (table.tops[last] != top || !std::isnan(table.values[first][0]) || !std::isnan(table.values[last][top]))
        return false;
    const Index *const low = ranks_of(table, first), *const high = ranks_of(table, last);
    for (Index i = 0; i < table.rows; ++i)
        if (high[i] != (low[i] == 0 ? top : low[i] - 1)) return false;
    return true;
}

// The rows of the categories of a family so far.
class TakenRows {
  public:
    explicit TakenRows(Index rows) : taken_(rows, 0) {}
    void clear() { std::fill(taken_.begin(), taken_.end(), std::uint8_t{0}); }
    bool overlap(const Index* ranks) const {
        bool found = false;
        for (std::size_t i = 0; i < taken_.size(); ++i) found |= taken_[i] != 0 && ranks[i] == 0;
        return found;
    }
    void take(const Index* ranks) {
        for (std::size_t i = 0; i < taken_.size(); ++i) taken_[i] |= ranks[i] == 0;
    }

  private:
    std::vector<std::uint8_t> taken_;
};

}  // namespace

std::vector<ColumnFamily> column_families(const Table& table, std::size_t most_categories) {
    using Kind = ColumnFamily::Kind;
    std::vector<ColumnFamily> families;
    TakenRows taken(table.rows);
    for (Index c = 0; c < table.columns; ++c) {
        if (table.tops[c] == 1) {
            // The columns of a feature follow one another.
            const Index* const ranks = ranks_of(table, c);
            const bool joins = !families.empty() && families.back().kind == Kind::kCategories &&
                               families.back().columns.size() < most_categories && !taken.overlap(ranks);
            if (!joins) {
                families.push_back({Kind::kCategories, {}});
                taken.clear();
            }
            families.back().columns.push_back(c);
            taken.take(ranks);
        } else if (c + 1 < table.columns && missing_pair(table, c, c + 1)) {
            families.push_back({Kind::kMissing, {c, c + 1}});
            ++c;
        } else {
            families.push_back({Kind::kOrdered, {c}});
        }
    }
    return families;
}

}  // namespace provetree
