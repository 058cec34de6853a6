// Nodes of tables of few values; see measures/cell_node.hpp.
#include "measures/cell_node.hpp"

#include <algorithm>
#include <cmath>

namespace provetree {

namespace {

// Targets together stay below this, so that their packed sums fit; squares together come close to that.
constexpr double kMostTargets = 0x1p30, kMostSquares = 0x1p60;

}  // namespace

bool CellNode::list_cells(const CellRows& rows, const Node& node) {
    if (seen_.size() != rows.size()) seen_.assign(rows.size(), 0);
    if (++now_ == 0) {
        std::fill(seen_.begin(), seen_.end(), 0);
        now_ = 1;
    }
    cells_.clear();
    key_ = {};
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

void CellNode::take(const CellRows& rows, const Node& node) {
    list_columns(node);
    values_of_.resize(cells_.size() * column_count_);
    cells_with_.assign(of_value_.size(), 0);
    std::uint16_t* next = values_of_.data();
    for (Index cell : cells_) {
        const std::uint8_t* const ranks = rows.ranks(cell);
        for (std::size_t c = 0; c < column_count_; ++c)
            ++cells_with_[*next++ = value_of_rank_[c * CellRows::kMostValues + ranks[node.columns[c].id]]];
    }
    number_features();
    take_targets(rows);
}

void CellNode::list_columns(const Node& node) {
    column_count_ = node.columns.size();
    first_value_.assign(1, 0);
    splits_.clear();
    value_of_rank_.resize(column_count_ * CellRows::kMostValues);
    int values = 0;
    for (std::size_t c = 0; c < column_count_; ++c) {
        const NodeColumn& column = node.columns[c];
        for (Index position = 0; position < node.rows; ++values) {
            const Index rank = column.ranks[position];
            position = Node::rows_up_to(column, rank, position, node.rows);
            value_of_rank_[c * CellRows::kMostValues + rank] = static_cast<std::uint16_t>(values);
            if (position < node.rows) splits_.push_back({static_cast<int>(c), values, rank, position});
        }
        first_value_.push_back(values);
    }
    of_value_.assign(static_cast<std::size_t>(values), {});
}

// Features from either end of a column towards its most common value.
void CellNode::number_features() {
    split_of_feature_.clear();
    follows_.clear();
    feature_of_.resize(of_value_.size());
    is_common_.assign(of_value_.size(), 0);
    for (std::size_t c = 0; c < column_count_; ++c) {
        const std::size_t first = static_cast<std::size_t>(first_value_[c]),
                          end = static_cast<std::size_t>(first_value_[c + 1]);
        const std::size_t common = static_cast<std::size_t>(
            std::max_element(&cells_with_[first], &cells_with_[first] + (end - first)) - cells_with_.data());
        const auto number = [&](std::size_t value, std::size_t split, bool begins) {
            feature_of_[value] = static_cast<std::uint16_t>(split_of_feature_.size());
            split_of_feature_.push_back(split);
            follows_.push_back(begins ? 0 : -1);
        };
        for (std::size_t u = first; u < common; ++u) number(u, u - c, u == first);
        for (std::size_t u = end - 1; u > common; --u) number(u, u - 1 - c, u == end - 1);
        is_common_[common] = 1;
        feature_of_[common] = 0;
    }
    // Written without a branch: there is room for one more.
    features_.resize(values_of_.size() + 1);
    start_.resize(cells_.size() + 1);
    start_[0] = 0;
    const std::uint16_t* value = values_of_.data();
    std::uint16_t* to = features_.data();
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        for (std::size_t c = 0; c < column_count_; ++c, ++value) {
            *to = feature_of_[*value];
            to += !is_common_[*value];
        }
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
        const double exact = of_mean(cell) * steps, whole = std::nearbyint(exact);
        rounded += std::abs(exact - whole);
        const CellSums sums{packed_cell(cell.weight, static_cast<std::int64_t>(whole)),
                            static_cast<std::int64_t>(squares_of(cell) * square_steps), cell.key};
        sums_[i] = sums;
        all_ += sums;
        const std::uint16_t* const values = values_of(static_cast<Index>(i));
        for (std::size_t c = 0; c < column_count_; ++c) of_value_[values[c]] += sums;
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

void CellNode::sort_by(int column, std::vector<Index>& order, std::vector<Index>& first) {
    const std::size_t c = static_cast<std::size_t>(column);
    const std::size_t from = static_cast<std::size_t>(first_value_[c]),
                      to = static_cast<std::size_t>(first_value_[c + 1]);
    first.assign(to - from + 1, 0);
    for (std::size_t u = from; u < to; ++u) first[u - from + 1] = first[u - from] + cells_with_[u];
    order.resize(cells_.size());
    next_.assign(first.begin(), first.end());
    for (Index i = 0; i < size(); ++i) order[next_[values_of(i)[c] - from]++] = i;
}

template <int kSign>
void CellNode::change(std::int64_t* to, const Index* from, const Index* end) const {
    const std::size_t stride = splits_.size();
    for (; from != end; ++from) {
        const std::uint16_t *g = &features_[start_[*from]], *const last = &features_[start_[*from + 1]];
        const std::int64_t packed = kSign * sums_[*from].packed;
        for (; g != last; ++g) {
            std::int64_t* const row = to + *g * stride;
            for (const std::uint16_t* h = g; h != last; ++h) row[*h] += packed;
        }
    }
}

template void CellNode::change<1>(std::int64_t*, const Index*, const Index*) const;
template void CellNode::change<-1>(std::int64_t*, const Index*, const Index*) const;

}  // namespace provetree
