// Columns for the sweeps of class losses; see measures/class_columns.hpp.
#include "measures/class_columns.hpp"

#include <algorithm>
#include <utility>

#include "measures/places.hpp"

namespace provetree {

namespace {

// Blocks of a column, where that makes them neither too small nor too large.
constexpr Index kBlocks = 16;
// Large blocks of a column, at most; numbers that are kept of all columns, and of one where there is no room for all.
constexpr std::size_t kMostLarge = 64, kRoomOfAll = std::size_t{1} << 18, kRoomOfOne = std::size_t{1} << 15;
// Large blocks that are too few for a column of many rows.
constexpr std::size_t kFewLarge = 8;
// For tests.
constexpr Index kTinyBlockRows = 2;
constexpr std::size_t kTinyBlocksEach = 2;
// Columns of so few rows are near enough to be counted in their order.
constexpr Index kFewRows = 1024;

std::size_t divided_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

}  // namespace

void ClassColumns::start(const Node& node, const std::int32_t* weights, int classes) {
    classes_ = static_cast<std::size_t>(classes);
    swept_.assign(node.columns.size(), 0);
    placed_.assign(node.columns.size(), 0);
    order_.clear();
    columns_.clear();
    if (node.columns.empty()) return;
    find_blocks(node, weights);
    find_large_blocks(node);
    make_room();
    order_columns(node);
}

void ClassColumns::order_columns(const Node& node) {
    won_.resize(std::max<std::size_t>(won_.size(), context_.table.columns), 0);
    order_.resize(node.columns.size());
    for (std::size_t c = 0; c < order_.size(); ++c) order_[c] = static_cast<Index>(c);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](Index a, Index b) { return won_[node.columns[a].id] > won_[node.columns[b].id]; });
}

void ClassColumns::find_blocks(const Node& node, const std::int32_t* weights) {
    const Index rows = tiny() ? kTinyBlockRows : std::clamp<Index>(node.rows / kBlocks, 8, kMostBlockRows);
    blocks_.resize(std::max(blocks_.size(), node.columns.size()));
    for (std::size_t c = 0; c < node.columns.size(); ++c) {
        std::vector<ClassBlock>& blocks = blocks_[c];
        blocks.clear();
        const Index* const ranks = node.columns[c].ranks;
        Index begin = 0, group = 0;
        const auto unit = [&](Index end) {
            return !weights || std::all_of(node.columns[c].order + begin, node.columns[c].order + end,
                                           [&](std::uint32_t item) { return weights[item & entry::kRowMask] == 1; });
        };
        for (Index i = 1; i <= node.rows; ++i) {
            if (i < node.rows && ranks[i] == ranks[i - 1]) continue;
            // A group of ties alone is worth a block of its own sooner: it is never walked again.
            if (i - begin >= (group == begin ? rows / 4 : rows) || i == node.rows) {
                blocks.push_back({i, group, unit(i)});
                begin = i;
            }
            group = i;
        }
    }
}

// So few of them that what is kept of all columns has room, or, where they would be too few, what is kept of one.
void ClassColumns::find_large_blocks(const Node& node) {
    const std::size_t n = node.columns.size(), each = classes_ * kLanes + sizeof(ClassCosts) / sizeof(std::int32_t);
    std::size_t most = std::min(kMostLarge, kRoomOfAll / (n * each));
    all_kept_ = most >= kFewLarge;
    if (!all_kept_) most = std::clamp<std::size_t>(kRoomOfOne / each, 1, kMostLarge);
    large_.resize(std::max(large_.size(), n));
    columns_.resize(n);
    for (std::size_t c = 0; c < n; ++c) {
        const std::vector<ClassBlock>& blocks = blocks_[c];
        std::vector<ClassBlock>& large = large_[c];
        const std::size_t blocks_each = tiny() ? kTinyBlocksEach : divided_up(blocks.size(), most);
        large.clear();
        for (std::size_t at = 0; blocks_each > 1 && at < blocks.size(); at += blocks_each) {
            const std::size_t end = std::min(at + blocks_each, blocks.size());
            const bool unit = std::all_of(blocks.begin() + static_cast<std::ptrdiff_t>(at),
                                          blocks.begin() + static_cast<std::ptrdiff_t>(end),
                                          [](const ClassBlock& block) { return block.unit; });
            large.push_back({blocks[end - 1].end, blocks[end - 1].last_group, unit});
        }
        const std::vector<ClassBlock>& kept = blocks_each > 1 ? large : blocks;
        const NodeColumn& column = node.columns[c];
        columns_[c] = {column.order, column.ranks, blocks.data(), blocks.size(), kept.data(), kept.size(),
                       blocks_each,  {},           nullptr};
    }
}

void ClassColumns::make_room() {
    std::size_t all = 0, most = 0;
    for (const ClassColumn& column : columns_) {
        all += column.n_large + 1;
        most = std::max(most, column.n_large + 1);
    }
    const std::size_t sums = all_kept_ ? all : most;
    numbers_.resize(std::max(numbers_.size(), sums * classes_ * (kLanes + 1)));
    costs_.resize(std::max(costs_.size(), sums));
    if (context_.constrained()) counts_.resize(std::max(counts_.size(), sums));
    std::size_t at = 0;
    for (ClassColumn& column : columns_) {
        column.sums = {numbers_.data() + at * classes_ * kLanes, numbers_.data() + (sums * kLanes + at) * classes_,
                       costs_.data() + at, context_.constrained() ? counts_.data() + at : nullptr};
        if (all_kept_) at += column.n_large + 1;
    }
}

void ClassColumns::sweep(const Node& node, const ClassLooks& looks, const ClassKernel& kernel, ClassLanes& lanes) {
    improved_.assign(columns_.size(), 0);
    const auto look = [&](Index c, auto how) {
        lanes.improved = 0;
        how(lanes, columns_[c]);
        improved_[c] += lanes.improved;
    };
    for (std::size_t i = 0; i < order_.size(); ++i) {
        const Index c = order_[i];
        if (!columns_[c].cells && counts(node, c)) count_rows(node, i, kernel, lanes);
        look(c, looks.between);
        columns_[c].cells = nullptr;
        swept_[c] = 1;
        if (!all_kept_) look(c, looks.inside);
    }
    for (std::size_t i = 0; all_kept_ && i < order_.size(); ++i) look(order_[i], looks.inside);
    put_first(node);
}

void ClassColumns::put_first(const Node& node) {
    const auto best =
        std::max_element(order_.begin(), order_.end(), [&](Index a, Index b) { return improved_[a] < improved_[b]; });
    if (best == order_.end() || !improved_[*best]) return;
    won_[node.columns[*best].id] = ++clock_;
    std::rotate(order_.begin(), best, best + 1);
}

// Places cost about as much as a sweep: a column gets them when it is swept once more.
bool ClassColumns::counts(const Node& node, Index c) const {
    const std::size_t cells = columns_[c].n_large * classes_ * kSlotStride;
    if (!swept_[c] || cells > kMostClassCells) return false;
    return tiny() || (node.rows >= kFewRows && cells <= 4 * std::size_t{node.rows});
}

// Counts a column and the next one that wants it, by their places in the order.
void ClassColumns::count_rows(const Node& node, std::size_t place, const ClassKernel& kernel, const ClassLanes& lanes) {
    std::size_t next = place + 1;
    while (next < order_.size() && !counts(node, order_[next])) ++next;
    const ClassCount one = counted(node, order_[place], 0);
    const ClassCount other = next < order_.size() ? counted(node, order_[next], 1) : ClassCount{};
    kernel.count(one, other, lanes, node.rows);
}

ClassCount ClassColumns::counted(const Node& node, Index c, std::size_t room) {
    ClassColumn& column = columns_[c];
    places_.resize(std::max(places_.size(), columns_.size()));
    if (!std::exchange(placed_[c], 1))
        place_rows(column.order, node.rows, column.large, column.n_large, classes_ * kSlotStride, places_[c]);
    const std::size_t cells = column.n_large * classes_ * kSlotStride;
    cells_[room].resize(std::max(cells_[room].size(), cells));
    column.cells = cells_[room].data();
    return {places_[c].data(), column.n_large, cells_[room].data()};
}

}  // namespace provetree
