// Nodes of tables of few values; see measures/cell_node.hpp.
#include "measures/cell_node.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace provetree {

namespace {

// Targets together stay below this, so that their packed sums fit; squares together come close to that.
constexpr double kMostTargets = 0x1p30, kMostSquares = 0x1p60;

// For numbers below 2^51 in size. Processors without an instruction for it would call a function.
inline double nearest_whole(double number) { return number + 0x1.8p52 - 0x1.8p52; }

// Adds a cell to the sums of all pairs of its features, and of each of them with itself.
inline void add_pairs(std::int64_t* to, std::ptrdiff_t all, const std::uint16_t* g, const std::uint16_t* last,
                      std::int64_t packed) {
    for (; g != last; ++g) {
        std::int64_t* const row = to + cell_row(*g, all);
        for (const std::uint16_t* h = g; h != last; ++h) row[*h] += packed;
    }
}

// The same for a number of features that the compiler knows.
template <std::size_t kFeatures>
void add_pairs_of(std::int64_t* to, std::ptrdiff_t all, const std::uint16_t* features, std::int64_t packed) {
#pragma GCC unroll 32
    for (std::size_t i = 0; i < kFeatures; ++i) {
        std::int64_t* const row = to + cell_row(features[i], all);
#pragma GCC unroll 32
        for (std::size_t j = i; j < kFeatures; ++j) row[features[j]] += packed;
    }
}

// By number of features, up to seventeen. Loops of so few steps would mostly end where the processor does not expect
// it.
constexpr auto kAddPairs = []<std::size_t... kFeatures>(std::index_sequence<kFeatures...>) {
    return std::array{&add_pairs_of<kFeatures>...};
}(std::make_index_sequence<18>());

}  // namespace

bool CellNode::list_cells(const CellRows& rows, const Node& node) {
    if (!node.cells.empty()) {
        list_cells(rows, node.cells);
        return true;
    }
    key_ = {};
    if (seen_.size() != rows.size()) seen_.assign(rows.size(), 0);
    if (++now_ == 0) {
        std::fill(seen_.begin(), seen_.end(), 0);
        now_ = 1;
    }
    cells_.clear();
    std::uint64_t covered = 0;
    for (Index i = 0; i < node.rows; ++i) {
        const Index cell = rows.cell_of(node.ids[i]);
        if (seen_[cell] == now_) continue;
        seen_[cell] = now_;
        cells_.push_back(cell);
        covered += rows.cell(cell).rows;
        key_ += rows.cell(cell).key;
    }
    return covered == node.rows;
}

void CellNode::list_cells(const CellRows& rows, std::vector<Index> cells) {
    key_ = {};
    cells_ = std::move(cells);
    for (Index cell : cells_) key_ += rows.cell(cell).key;
}

// Code for so many features is met in one go then.
void CellNode::sort_by_rare(const CellRows& rows) {
    const auto rare = [&](Index cell) { return static_cast<std::size_t>(rows.rare(cell).size()); };
    next_.assign(rows.columns() + 2, 0);
    for (Index cell : cells_) ++next_[rare(cell) + 1];
    for (std::size_t i = 1; i < next_.size(); ++i) next_[i] += next_[i - 1];
    sorted_.resize(cells_.size());
    for (Index cell : cells_) sorted_[next_[rare(cell)]++] = cell;
    cells_.swap(sorted_);
}

int CellNode::place_of(Index id) const {
    const auto at = std::lower_bound(ids_.begin(), ids_.end(), id);
    return at != ids_.end() && *at == id ? static_cast<int>(at - ids_.begin()) : -1;
}

void CellNode::take(const CellRows& rows) {
    take_targets(rows);
    sum_values(rows);
    list_columns(rows);
    number_features(rows);
    list_features(rows);
}

// Most cells have the most common value of a column: what has it is what is left.
void CellNode::sum_values(const CellRows& rows) {
    const std::size_t columns = rows.columns();
    at_place_.assign(rows.first_place(columns), {});
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        const CellSums sums = sums_[i];
        for (std::uint16_t place : rows.rare(cells_[i])) at_place_[place] += sums;
    }
    for (std::size_t c = 0; c < columns; ++c) {
        const std::size_t common = rows.common_place(c);
        CellSums rest = all_;
        for (std::size_t place = rows.first_place(c); place < rows.first_place(c + 1); ++place)
            if (place != common) rest = rest - at_place_[place];
        at_place_[common] = rest;
    }
}

// The columns that vary, and their values. No cell is without rows.
void CellNode::list_columns(const CellRows& rows) {
    ids_.clear();
    first_value_.assign(1, 0);
    splits_.clear();
    of_value_.clear();
    place_of_value_.clear();
    places_.assign(at_place_.size(), {0, 0, true});
    for (std::size_t c = 0; c < rows.columns(); ++c) {
        const std::size_t first = rows.first_place(c), end = rows.first_place(c + 1);
        const auto present = [&](std::size_t place) { return at_place_[place].extent != 0; };
        std::size_t place = first;
        while (!present(place)) ++place;
        if (at_place_[place].extent == all_.extent) continue;
        const int column = static_cast<int>(ids_.size());
        ids_.push_back(static_cast<Index>(c));
        for (; place < end; ++place) {
            if (!present(place)) continue;
            places_[place].value = static_cast<std::uint16_t>(of_value_.size());
            splits_.push_back(
                {column, static_cast<int>(of_value_.size()), static_cast<Index>(place - first), 0, false});
            of_value_.push_back(at_place_[place]);
            place_of_value_.push_back(static_cast<std::uint16_t>(place));
        }
        splits_.pop_back();  // all rows are up to the last value
        first_value_.push_back(static_cast<int>(of_value_.size()));
    }
    column_count_ = ids_.size();
}

// Features from either end of a column towards its most common value.
void CellNode::number_features(const CellRows& rows) {
    flipped_.clear();
    split_of_feature_.clear();
    place_in_run_.clear();
    for (std::size_t c = 0; c < column_count_; ++c) {
        const std::size_t first = static_cast<std::size_t>(first_value_[c]),
                          end = static_cast<std::size_t>(first_value_[c + 1]);
        std::size_t common = first;
        for (std::size_t u = first + 1; u < end; ++u)
            if (of_value_[u].rows() > of_value_[common].rows()) common = u;
        const auto number = [&](std::size_t value, std::size_t split, std::size_t place_in_run) {
            Place& place = places_[place_of_value_[value]];
            place.feature = static_cast<std::uint16_t>(split_of_feature_.size());
            place.is_common = false;
            splits_[split].feature = place.feature;
            splits_[split].has_below = value < common;
            split_of_feature_.push_back(split);
            place_in_run_.push_back(static_cast<std::int64_t>(place_in_run));
        };
        for (std::size_t u = first; u < common; ++u) number(u, u - c, u - first);
        for (std::size_t u = end - 1; u > common; --u) number(u, u - 1 - c, end - 1 - u);
        const std::size_t id = ids_[c], usual = rows.common_place(id);
        if (place_of_value_[common] != usual && at_place_[usual].extent != 0)
            flipped_.push_back({rows.first_place(id), rows.first_place(id + 1), static_cast<std::uint16_t>(usual)});
    }
    place_in_run_.resize(place_in_run_.size() + kCellPadding, 0);
}

// The features that begin to have the values of each cell, in rising order.
void CellNode::list_features(const CellRows& rows) {
    features_.resize(cells_.size() * column_count_ + 1);  // written without a branch: there is room for one more
    start_.resize(cells_.size() + 1);
    start_[0] = 0;
    std::uint16_t* to = features_.data();
    const auto list = [&](std::size_t at) {
        const Place& place = places_[at];
        *to = place.feature;
        to += !place.is_common;
    };
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        auto [place, end] = rows.rare(cells_[i]);
        for (const Flipped& flipped : flipped_) {
            for (; place != end && *place < flipped.first; ++place) list(*place);
            list(place != end && *place < flipped.end ? *place++ : flipped.common);
        }
        for (; place != end; ++place) list(*place);
        start_[i + 1] = static_cast<Index>(to - features_.data());
    }
}

// Targets less their mean, so that what the kernel loses is small beside what they differ by.
void CellNode::take_targets(const CellRows& rows) {
    double weight = 0, target = 0, squares = 0;
    for (Index number : cells_) {
        const CellRows::Cell& cell = rows.cell(number);
        weight += static_cast<double>(cell.weight);
        target += static_cast<double>(cell.target);
        squares += cell.approximate_squares;
    }
    const double mean = target / weight;
    const auto of_mean = [&](const CellRows::Cell& cell) {
        return static_cast<double>(cell.target) - mean * static_cast<double>(cell.weight);
    };
    const auto squares_of = [&](const CellRows::Cell& cell) {
        return std::max(0.0, cell.approximate_squares - mean * (2 * static_cast<double>(cell.target) -
                                                                mean * static_cast<double>(cell.weight)));
    };
    double distances = 0, farthest = 0, centred = 0;
    for (Index number : cells_) {
        const CellRows::Cell& cell = rows.cell(number);
        const double distance = std::abs(of_mean(cell));
        distances += distance;
        farthest = std::max(farthest, distance * cell.inverse_weight);
        centred += squares_of(cell);
    }
    const double steps = distances > 0 ? kMostTargets / distances : 1,
                 square_steps = centred > 0 ? kMostSquares / centred : 1;
    sums_.resize(cells_.size());
    all_ = {};
    double rounded = 0;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        const CellRows::Cell& cell = rows.cell(cells_[i]);
        const double exact = of_mean(cell) * steps, whole = nearest_whole(exact);
        rounded += std::abs(exact - whole);
        const CellSums sums{packed_cell(cell.weight, static_cast<std::int64_t>(whole)),
                            static_cast<std::int64_t>(squares_of(cell) * square_steps), cell.key,
                            std::int64_t{cell.rows} << 32 | cell.reach, 1};
        sums_[i] = sums;
        all_ += sums;
    }
    scale_ = 1 / (steps * steps);
    square_step_ = steps * steps / square_steps;
    // A sum of targets in the kernel is off by what was rounded here and by eight roundings to a float. So a part of
    // the node keeps (s + d)^2 / n = s^2 / n + 2 d s / n + d^2 / n, where s / n is no farther than the farthest target;
    // there are four parts. The arithmetic after that has fewer than 32 roundings, and sums of squares lose less than
    // 2^-48 of what they are before the mean is taken off.
    const double off = rounded + 1 + kMostTargets * 0x1p-21, far = farthest * steps + 1;
    error_ = centred * steps * steps * 0x1p-18 + 8 * far * off + 4 * off * off + squares * steps * steps * 0x1p-48;
}

void CellNode::sort_by(const CellRows& rows, int column, std::vector<Index>& order, std::vector<Index>& first) {
    const std::size_t c = static_cast<std::size_t>(column);
    const std::size_t from = static_cast<std::size_t>(first_value_[c]),
                      to = static_cast<std::size_t>(first_value_[c + 1]);
    first.assign(to - from + 1, 0);
    for (std::size_t u = from; u < to; ++u)
        first[u - from + 1] = first[u - from] + static_cast<Index>(of_value_[u].cells);
    order.resize(cells_.size());
    next_.assign(first.begin(), first.end());
    for (Index i = 0; i < size(); ++i) order[next_[places_[rows.places(cells_[i])[ids_[c]]].value - from]++] = i;
}

template <int kSign>
void CellNode::change(std::int64_t* to, const Index* from, const Index* end) const {
    const std::ptrdiff_t all = static_cast<std::ptrdiff_t>(splits_.size());
    for (; from != end; ++from) {
        const std::uint16_t *const features = &features_[start_[*from]], *const last = &features_[start_[*from + 1]];
        const std::size_t count = static_cast<std::size_t>(last - features);
        const std::int64_t packed = kSign * sums_[*from].packed;
        if (count < kAddPairs.size())
            kAddPairs[count](to, all, features, packed);
        else
            add_pairs(to, all, features, last, packed);
    }
}

template void CellNode::change<1>(std::int64_t*, const Index*, const Index*) const;
template void CellNode::change<-1>(std::int64_t*, const Index*, const Index*) const;

}  // namespace provetree
