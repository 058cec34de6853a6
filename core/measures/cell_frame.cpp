// Sums that the nodes below one node share; see measures/cell_frame.hpp.
#include "measures/cell_frame.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace provetree {

bool CellFrame::take(const CellRows& rows, const Node& node, const CellKey& key) {
    if (number_ && node_.key() == key) return true;
    number_ = 0;
    if (!node_.list_cells(rows, node)) return false;
    node_.sort_by_rare(rows);
    node_.take(rows);
    number_ = ++taken_;
    mark_members(rows);
    sum_pairs();
    place_.assign(both_.size(), kNone);
    of_all_ = kNone;
    used_ = 0;
    return true;
}

// A feature has the rows of the one before it in its run, and more.
void CellFrame::mark_members(const CellRows& rows) {
    const std::size_t features = static_cast<std::size_t>(node_.splits());
    words_ = (node_.size() + 63) / 64;
    members_.assign(features * words_, 0);
    having_.assign(features, {});
    total_ = {};
    for (Index i = 0; i < node_.size(); ++i) {
        const CellRows::Cell& cell = rows.cell(node_.cell(i));
        total_ += cell;
        for (const std::uint16_t feature : node_.features(i)) {
            members_[feature * words_ + i / 64] |= std::uint64_t{1} << (i % 64);
            having_[feature] += cell;
        }
    }
    for (std::size_t feature = 1; feature < features; ++feature) {
        if (node_.place_in_run()[feature] == 0) continue;
        having_[feature] += having_[feature - 1];
        for (std::size_t w = 0; w < words_; ++w) members_[feature * words_ + w] |= members_[(feature - 1) * words_ + w];
    }
}

void CellFrame::sum_pairs() {
    const std::size_t features = static_cast<std::size_t>(node_.splits());
    both_.assign(features * features, {});
    for (Index i = 0; i < node_.size(); ++i) {
        const std::span<const std::uint16_t> of_cell = node_.features(i);
        const CellSums sums = node_.sums(i);
        for (auto a = of_cell.begin(); a != of_cell.end(); ++a)
            for (auto b = a; b != of_cell.end(); ++b) both_[*a * features + *b] += sums;
    }
    const std::int64_t* const place = node_.place_in_run();
    for (std::size_t a = 0; a < features; ++a) {
        CellSums* const row = &both_[a * features];
        CellSums sum;
        for (std::size_t b = a; b < features; ++b) {
            if (place[b] == 0) sum = {};
            sum += row[b];
            row[b] = sum;
            if (place[a] > 0) row[b] += *(row - features + b);
        }
    }
}

const std::int64_t* CellFrame::cells_of(int a, int b) {
    std::uint32_t& place = place_[index_of(a, b)];
    if (place != kNone) return room_of(place);
    place = used_++;
    list(a, true, b, true, listed_);
    return sum_listed(place);
}

const std::int64_t* CellFrame::all_cells() {
    if (of_all_ != kNone) return room_of(of_all_);
    of_all_ = used_++;
    listed_.resize(node_.size());
    std::iota(listed_.begin(), listed_.end(), Index{0});
    return sum_listed(of_all_);
}

std::int64_t* CellFrame::sum_listed(std::uint32_t place) {
    std::int64_t* const cells = room_of(place);
    std::fill_n(cells, kernel_cells(node_.splits()), 0);
    node_.add(cells, listed_.data(), listed_.data() + listed_.size());
    return cells;
}

std::int64_t* CellFrame::room_of(std::uint32_t place) {
    const std::size_t each = kernel_cells(node_.splits()) + kCellPadding, block = place / kOfBlock;
    if (pool_.size() <= block) pool_.resize(block + 1);
    if (pool_[block].size() < each * kOfBlock) pool_[block].resize(each * kOfBlock);
    return &pool_[block][place % kOfBlock * each];
}

template <class Word>
void CellFrame::list_words(std::vector<Index>& members, const Word& word) const {
    members.clear();
    for (std::size_t w = 0; w < words_; ++w)
        for (std::uint64_t left = word(w); left; left &= left - 1)
            members.push_back(static_cast<Index>(64 * w) + static_cast<Index>(std::countr_zero(left)));
}

void CellFrame::list(int feature, bool has, std::vector<Index>& members) const {
    list(feature, has, feature, has, members);
}

void CellFrame::list(int first, bool has_first, int second, bool has_second, std::vector<Index>& members) const {
    const std::uint64_t *const of_first = members_of(first), *const of_second = members_of(second);
    const std::uint64_t flip_first = has_first ? 0 : ~std::uint64_t{0},
                        flip_second = has_second ? 0 : ~std::uint64_t{0};
    const std::size_t last = words_ - 1, left = node_.size() - 64 * last;
    const std::uint64_t end = left < 64 ? (std::uint64_t{1} << left) - 1 : ~std::uint64_t{0};
    list_words(members, [&](std::size_t w) {
        return (of_first[w] ^ flip_first) & (of_second[w] ^ flip_second) & (w == last ? end : ~std::uint64_t{0});
    });
}

}  // namespace provetree
