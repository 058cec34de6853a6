// Rows merged into cells; see measures/cell_rows.hpp.
#include "measures/cell_rows.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/splitmix.hpp"

namespace provetree {

bool CellRows::fit(const Table& table) {
    const Measure* measure = table.measure;
    if (!measure || measure->kind() != MeasureKind::kSquared || measure->width() != 1) return false;
    if (measure->total_weight() > kMostWeight) return false;
    for (Index top : table.tops)
        if (top >= kMostValues) return false;
    return features(table) <= std::min(kMostFeatures, kMostPerColumn * table.columns);
}

std::size_t CellRows::features(const Table& table) {
    return std::accumulate(table.tops.begin(), table.tops.end(), std::size_t{0});
}

CellRows::CellRows(const Table& table)
    : measure_(*table.measure), columns_(table.columns), cell_of_(table.rows),
      ranks_(std::size_t{table.rows} * table.columns) {
    for (std::size_t c = 0; c < columns_; ++c)
        for (Index i = 0; i < table.rows; ++i)
            ranks_[i * columns_ + c] = static_cast<std::uint8_t>(table.ranks[c * table.rows + i]);
    std::size_t slots = 16;
    while (slots < std::size_t{table.rows} * 2) slots *= 2;
    std::vector<Index> cell_at(slots, 0);  // number of the cell plus one; 0: none
    for (Index i = 0; i < table.rows; ++i) {
        const std::uint8_t* const ranks = &ranks_[i * columns_];
        std::uint64_t hash = 0;
        for (std::size_t c = 0; c < columns_; ++c) hash = (hash + ranks[c] + 1) * kSplitmixStep;
        std::size_t at = splitmix(hash) & (slots - 1);
        while (cell_at[at] && std::memcmp(this->ranks(cell_at[at] - 1), ranks, columns_) != 0)
            at = (at + 1) & (slots - 1);
        if (!cell_at[at]) {
            Cell& cell = cells_.emplace_back();
            const std::uint64_t number = cells_.size();
            cell.key = {splitmix(number * kSplitmixStep), splitmix(~number * kSplitmixStep)};
            cell_at[at] = static_cast<Index>(number);
            // Cells are never ahead of the rows.
            if (number - 1 != i) std::memcpy(&ranks_[(number - 1) * columns_], ranks, columns_);
        }
        Cell& cell = cells_[cell_at[at] - 1];
        cell_of_[i] = cell_at[at] - 1;
        const std::int64_t weight = measure_.weight(i), target = *measure_.targets(i);
        weights_count_ &= weight == table.counts[i];
        cell.weight += weight;
        cell.target += weight * target;
        cell.squares += square_of(target) * static_cast<Wide>(weight);
        ++cell.rows;
        cell.count += table.counts[i];
        cell.reach += static_cast<Weight>(table.weights[i]);
    }
    ranks_.resize(cells_.size() * columns_);
    for (Cell& cell : cells_) {
        cell.approximate_squares = static_cast<double>(cell.squares);
        cell.inverse_weight = 1 / static_cast<double>(cell.weight);
    }
    list_places(table);
}

void CellRows::list_places(const Table& table) {
    first_place_.assign(1, 0);
    for (Index top : table.tops) first_place_.push_back(first_place_.back() + top + 1);
    places_.resize(ranks_.size());
    for (std::size_t at = 0, c = 0; at < ranks_.size(); ++at, c = c + 1 < columns_ ? c + 1 : 0)
        places_[at] = static_cast<std::uint16_t>(first_place_[c] + ranks_[at]);
    std::vector<std::size_t> cells_at(first_place_.back(), 0);
    for (std::uint16_t place : places_) ++cells_at[place];
    for (std::size_t c = 0; c < columns_; ++c) {
        const auto first = cells_at.begin() + static_cast<std::ptrdiff_t>(first_place_[c]),
                   end = cells_at.begin() + static_cast<std::ptrdiff_t>(first_place_[c + 1]);
        common_place_.push_back(static_cast<std::size_t>(std::max_element(first, end) - cells_at.begin()));
    }
    for (Index number = 0; number < cells_.size(); ++number) {
        rare_start_.push_back(rare_.size());
        for (std::size_t c = 0; c < columns_; ++c)
            if (places(number)[c] != common_place_[c]) rare_.push_back(places(number)[c]);
    }
    rare_start_.push_back(rare_.size());
    rare_.push_back(0);  // so that the end of the last one has an address
}

}  // namespace provetree
