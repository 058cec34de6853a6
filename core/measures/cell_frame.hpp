// Sums over the cells of a node for all pairs of its features, which the nodes below its splits share.
//
// The rows of a side of a split that are on a side of a second one are those that have two features, those that have
// one of them less these, or the node's less those: four sets, whose sums over pairs of columns follow from three. They
// are summed once, for whichever split comes first, when they are first asked for.
#pragma once

#include <cstdint>
#include <vector>

#include "base/raw_vector.hpp"
#include "measures/cell_node.hpp"

namespace provetree {

// Of the kernel's cells of so many features.
inline std::size_t kernel_cells(int features) {
    return static_cast<std::size_t>(features) * (static_cast<std::size_t>(features) + 1) / 2;
}

class CellFrame {
  public:
    static constexpr std::size_t kMostFeatures = 40;  // of a table: with more, few sums are asked for twice

    // Takes the cells of a node, where it has not got them already: sets of the same key are the same. False where its
    // rows are not whole cells.
    bool take(const CellRows& rows, const Node& node, const CellKey& key);
    // Another one for each node; 0: of none.
    std::uint64_t number() const { return number_; }
    const CellNode& node() const { return node_; }

    // Exact sums of the cells that have a feature, and of all.
    const CellRows::Cell& having(int feature) const { return having_[static_cast<std::size_t>(feature)]; }
    const CellRows::Cell& total() const { return total_; }
    // Sums of the cells that have both features. With itself: of those that have a feature.
    const CellSums& both(int a, int b) const { return both_[index_of(a, b)]; }
    // The same as the kernel takes them.
    const std::int64_t* cells_of(int a, int b);
    const std::int64_t* all_cells();
    // The node's cells, by number in it, on a side of a split.
    void list(int feature, bool has, std::vector<Index>& members) const;
    // On a side of two.
    void list(int first, bool has_first, int second, bool has_second, std::vector<Index>& members) const;

  private:
    std::size_t index_of(int a, int b) const {
        return static_cast<std::size_t>(a < b ? a * node_.splits() + b : b * node_.splits() + a);
    }
    const std::uint64_t* members_of(int feature) const { return &members_[static_cast<std::size_t>(feature) * words_]; }
    void mark_members(const CellRows& rows);
    void sum_pairs();
    template <class Word>
    void list_words(std::vector<Index>& members, const Word& word) const;
    std::int64_t* room_of(std::uint32_t place);
    std::int64_t* sum_listed(std::uint32_t place);

    CellNode node_;
    std::uint64_t number_ = 0, taken_ = 0;
    std::vector<CellSums> both_;
    std::vector<CellRows::Cell> having_;
    CellRows::Cell total_;
    std::size_t words_ = 0;               // of a set of the node's cells, a bit each
    std::vector<std::uint64_t> members_;  // the cells that have each feature
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};
    std::vector<std::uint32_t> place_;  // of the kernel's cells of a pair among pool_; kNone: not summed yet
    std::uint32_t of_all_ = kNone;
    static constexpr std::uint32_t kOfBlock = 32;  // sums that are given room together
    std::vector<RawVector<std::int64_t>> pool_;
    std::uint32_t used_ = 0;
    std::vector<Index> listed_;
};

}  // namespace provetree
