// Columns for the sweeps of squared error; see measures/squared_columns.hpp.
#include "measures/squared_columns.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "measures/places.hpp"

namespace provetree {

namespace {

// Cells of a block cost about as much as so many rows.
constexpr std::size_t kLeastRowsOfBlock = 12;

}  // namespace

void SquaredColumns::start(const Node& node, const SquaredTarget* targets, double largest_sum) {
    targets_ = targets;
    largest_sum_ = largest_sum;
    swept_.assign(node.columns.size(), 0);
    placed_.assign(node.columns.size(), 0);
    block_rows_ = std::clamp<Index>(node.rows / 24, 16, 64);
    blocks_.clear();
    first_block_.clear();
    columns_.clear();
    for (const NodeColumn& column : node.columns) add_column(node, column);
    for (std::size_t c = 0; c < columns_.size(); ++c) columns_[c].blocks = blocks_.data() + first_block_[c];
    won_.resize(std::max<std::size_t>(won_.size(), context_.table.columns), 0);
    order_.resize(node.columns.size());
    for (std::size_t c = 0; c < order_.size(); ++c) order_[c] = static_cast<Index>(c);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](Index a, Index b) { return won_[node.columns[a].id] > won_[node.columns[b].id]; });
}

// Places cost about as much as a sweep: a column gets them when it is swept once more.
bool SquaredColumns::counts(const Node& node, Index c) {
    const std::size_t blocks = columns_[c].n_blocks;
    if (!swept_[c] || blocks * kLeastRowsOfBlock > node.rows || blocks > kMostCountedBlocks) return false;
    places_.resize(std::max(places_.size(), columns_.size()));
    const SquaredColumn& column = columns_[c];
    if (!std::exchange(placed_[c], 1))
        place_rows(column.entries, node.rows, column.blocks, column.n_blocks, kSquaredCodes, places_[c]);
    return true;
}

SquaredCount SquaredColumns::counted(Index c, std::size_t room) {
    SquaredColumn& column = columns_[c];
    LineVector<std::int64_t>& cells = cells_[room];
    cells.resize(std::max(cells.size(), column.n_blocks * kSquaredCodes));
    column.cells = cells.data();
    return {places_[c].data(), column.n_blocks, cells.data()};
}

void SquaredColumns::put_first(const Node& node, std::size_t place) {
    const auto at = order_.begin() + static_cast<std::ptrdiff_t>(place);
    won_[node.columns[*at].id] = ++clock_;
    std::rotate(order_.begin(), at, at + 1);
}

// Cuts a column into blocks of about block_rows_ rows that end where ties end. Long groups of ties make blocks of their
// own, which never need a second walk.
void SquaredColumns::add_column(const Node& node, const NodeColumn& column) {
    const std::size_t first = blocks_.size();
    if (column.no_ties)
        for (Index i = 0; i < node.rows; i += block_rows_)
            add_block({i, std::min(node.rows, i + block_rows_), 2}, column.order);
    else
        add_blocks_of_ties(node, column);
    first_block_.push_back(first);
    columns_.push_back({column.order, nullptr, blocks_.size() - first, nullptr});
}

void SquaredColumns::add_blocks_of_ties(const Node& node, const NodeColumn& column) {
    const Index* const ranks = column.ranks;
    Stretch pending{0, 0, 0};
    for (Index i = 0; i < node.rows;) {
        const Index begin = i++;
        while (ranks[i - 1] == ranks[i]) ++i;
        if (i - begin >= block_rows_ / 2 && pending.groups) {
            add_block(pending, column.order);
            pending = {begin, begin, 0};
        }
        pending = {pending.begin, i, pending.groups + 1};
        if (pending.rows() < (pending.groups == 1 ? block_rows_ / 4 : block_rows_) && i < node.rows) continue;
        add_block(pending, column.order);
        pending = {i, i, 0};
    }
}

void SquaredColumns::add_block(const Stretch& rows, const std::uint32_t* entries) {
    double lowest = INFINITY, highest = -INFINITY;
    if (rows.groups > 1 && targets_)
        for (Index i = rows.begin; i < rows.end; ++i) {
            const double target = targets_[entries[i] & entry::kRowMask].target;
            lowest = std::min(lowest, target);
            highest = std::max(highest, target);
        }
    const double inverse = highest > lowest ? 1 / (highest - lowest) : 0;
    blocks_.push_back({rows.end, rows.groups == 1, lowest, highest, inverse, 0x1p-48 * largest_sum_ * inverse});
}

}  // namespace provetree
