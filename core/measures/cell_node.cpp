// Nodes of tables of few values; see measures/cell_node.hpp.
#include "measures/cell_node.hpp"

#include <algorithm>
#include <cmath>

namespace provetree {

namespace {

// Targets together stay below this: their packed sums fit.
constexpr double kMostTargets = 0x1p30;

}  // namespace

bool CellNode::take(const CellRows& rows, const Node& node) {
    list_columns(node);
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
    }
    if (covered != node.rows) return false;
    values_of_.resize(cells_.size() * column_count_);
    std::uint16_t* next = values_of_.data();
    for (Index cell : cells_) {
        const std::uint8_t* const ranks = rows.ranks(cell);
        for (std::size_t c = 0; c < column_count_; ++c)
            ++values_[*next++ = value_of_rank_[c * CellRows::kMostValues + ranks[node.columns[c].id]]].cells;
    }
    find_common();
    take_targets(rows);
    return true;
}

void CellNode::list_columns(const Node& node) {
    column_count_ = node.columns.size();
    first_value_.assign(1, 0);
    column_of_.clear();
    values_.clear();
    value_of_rank_.resize(column_count_ * CellRows::kMostValues);
    for (std::size_t c = 0; c < column_count_; ++c) {
        const NodeColumn& column = node.columns[c];
        for (Index position = 0; position < node.rows;) {
            const Index rank = column.ranks[position];
            position = Node::rows_up_to(column, rank, position, node.rows);
            value_of_rank_[c * CellRows::kMostValues + rank] = static_cast<std::uint16_t>(values_.size());
            values_.push_back({.rank = rank, .position = position});
        }
        column_of_.insert(column_of_.end(), values_.size() - static_cast<std::size_t>(first_value_.back()) - 1,
                          static_cast<int>(c));
        first_value_.push_back(static_cast<int>(values_.size()));
    }
    common_.resize(column_count_);
    columns_ = {static_cast<int>(column_count_), first_value_.data(), common_.data()};
}

// The most common value of each column, and the cells without these.
void CellNode::find_common() {
    for (std::size_t c = 0; c < column_count_; ++c) {
        int common = first_value_[c];
        for (int u = common + 1; u < first_value_[c + 1]; ++u)
            if (value(u).cells > value(common).cells) common = u;
        common_[c] = common;
    }
    list_.make_room(cells_.size(), values_of_.size());
    const std::uint16_t* next = values_of_.data();
    std::uint16_t* const begin = list_.values.data();
    std::uint16_t* to = begin;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        for (std::size_t c = 0; c < column_count_; ++c, ++next) {
            *to = *next;
            to += *next != common_[c];
        }
        list_.start[i + 1] = static_cast<Index>(to - begin);
    }
}

// Targets less their mean, so that what the kernel loses is small beside what they differ by.
void CellNode::take_targets(const CellRows& rows) {
    double weight = 0, target = 0, squares = 0;
    for (Index number : cells_) {
        const CellRows::Cell& cell = rows.cell(number);
        weight += static_cast<double>(cell.weight);
        target += static_cast<double>(cell.target);
        squares += static_cast<double>(cell.squares);
    }
    const double mean = target / weight;
    double distances = 0, farthest = 0;
    for (Index number : cells_) {
        const CellRows::Cell& cell = rows.cell(number);
        const double distance = std::abs(static_cast<double>(cell.target) - mean * static_cast<double>(cell.weight));
        distances += distance;
        farthest = std::max(farthest, distance / static_cast<double>(cell.weight));
    }
    const double steps = distances > 0 ? kMostTargets / distances : 1;
    packed_sum_ = 0;
    key_ = {};
    squares_ = 0;
    double rounded = 0;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        const CellRows::Cell& cell = rows.cell(cells_[i]);
        const double of_weight = static_cast<double>(cell.weight), of_target = static_cast<double>(cell.target);
        const double exact = (of_target - mean * of_weight) * steps, whole = std::nearbyint(exact);
        rounded += std::abs(exact - whole);
        const double of_squares =
            std::max(0.0, static_cast<double>(cell.squares) - mean * (2 * of_target - mean * of_weight)) * steps *
            steps;
        const std::int64_t packed = list_.packed[i] = packed_cell(cell.weight, static_cast<std::int64_t>(whole));
        packed_sum_ += packed;
        squares_ += of_squares;
        key_ += cell.key;
        const std::uint16_t* const values = values_of(static_cast<Index>(i));
        for (std::size_t c = 0; c < column_count_; ++c) {
            Value& value = values_[values[c]];
            value.packed += packed;
            value.squares += of_squares;
            value.key += cell.key;
        }
    }
    scale_ = 1 / (steps * steps);
    // A sum of targets in the kernel is off by what was rounded here and by eight roundings to a float. So a part of
    // the node keeps (s + d)^2 / n = s^2 / n + 2 d s / n + d^2 / n, where s / n is no farther than the farthest target;
    // there are four parts. The arithmetic after that has fewer than 32 roundings, and sums of squares in doubles lose
    // less than 2^-48 of what they are before the mean is taken off.
    const double off = rounded + 1 + kMostTargets * 0x1p-21, far = farthest * steps + 1;
    error_ = squares_ * 0x1p-18 + 8 * far * off + 4 * off * off + squares * steps * steps * 0x1p-48;
}

void CellNode::sort_by(int column, CellList& sorted, std::vector<Index>& first) {
    const std::size_t c = static_cast<std::size_t>(column);
    const std::size_t from = static_cast<std::size_t>(first_value_[c]),
                      to = static_cast<std::size_t>(first_value_[c + 1]);
    first.assign(to - from + 1, 0);
    for (std::size_t u = from; u < to; ++u) first[u - from + 1] = first[u - from] + values_[u].cells;
    order_.resize(cells_.size());
    next_.assign(first.begin(), first.end());
    for (Index i = 0; i < size(); ++i) order_[next_[values_of(i)[c] - from]++] = i;
    sorted.make_room(order_.size(), list_.start[size()]);
    std::uint16_t* const begin = sorted.values.data();
    std::uint16_t* next = begin;
    for (Index i = 0; i < size(); ++i) {
        const Index cell = order_[i];
        for (Index at = list_.start[cell]; at < list_.start[cell + 1]; ++at) {
            *next = list_.values[at];
            next += list_.values[at] - from >= to - from;  // other columns
        }
        sorted.start[i + 1] = static_cast<Index>(next - begin);
        sorted.packed[i] = list_.packed[cell];
    }
}

template <int kSign>
void CellNode::change(std::int64_t* sums, const CellList& list, Index from, Index to) const {
    const std::size_t stride = values_.size();
    for (Index i = from; i < to; ++i) {
        const std::uint16_t *g = &list.values[list.start[i]], *const end = &list.values[list.start[i + 1]];
        const std::int64_t packed = kSign * list.packed[i];
        for (; g != end; ++g) {
            std::int64_t* const row = sums + *g * stride;
            for (const std::uint16_t* h = g; h != end; ++h) row[*h] += packed;
        }
    }
}

template void CellNode::change<1>(std::int64_t*, const CellList&, Index, Index) const;
template void CellNode::change<-1>(std::int64_t*, const CellList&, Index, Index) const;

}  // namespace provetree
