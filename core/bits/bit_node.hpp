// Nodes of the bit search: the rows that satisfy a set of conditions, as bits, and what counting them tells.
//
// The last two levels of a tree are solved by counting pairs of features: only the smaller child of a split is counted,
// the other is the difference from the parent.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <memory>
#include <vector>

#include "base/raw_vector.hpp"
#include "kernels/bit_kernel.hpp"
#include "run/context.hpp"

namespace provetree {

// One threshold of one column: rows with at most this rank do not have the feature, they go left.
struct Feature {
    Index column;
    Index rank;
    auto operator<=>(const Feature&) const = default;
};

// A set of conditions: literals (2 * feature, plus one for having it), ascending, 16 bits each, the least in the lowest
// bits; ones where there are none. Two literals are never the same, so that zero is no set.
struct ConditionSet {
    std::uint64_t low = 0, high = 0;
    bool operator==(const ConditionSet&) const = default;

    static ConditionSet none() { return {~0ull, ~0ull}; }
    ConditionSet with(std::uint32_t literal) const;

    struct Hash {
        std::size_t operator()(const ConditionSet& set) const;
    };
};

struct BitNode {
    ConditionSet conditions = ConditionSet::none();
    int n_classes = 0;
    LineVector<std::uint32_t> rows;                    // class by class, with slack at the end
    std::array<int, kMostBitClasses + 1> first_row{};  // of each class, and the end
    std::array<int, kMostBitClasses + 1> first_word{};
    std::array<std::int16_t, kMostBitClasses> all{};  // rows of each class
    LineVector<std::uint16_t> bits;
    LineVector<std::int16_t> counts;  // of each class and feature
    LineVector<std::int16_t> pairs;   // counted when they are needed
    bool has_pairs = false;
    // Which node this is, and which split of which other one it is a side of.
    std::uint64_t number = 0, parent = 0;
    std::uint32_t split_by = 0;
    bool split_right = false;

    Weight size() const { return first_row[static_cast<std::size_t>(n_classes)]; }
    Weight leaf_error() const { return size() - *std::max_element(all.begin(), all.begin() + n_classes); }
    int words() const { return first_word[static_cast<std::size_t>(n_classes)]; }
    BitCounts counted() const { return {counts.data(), all.data()}; }
};

// Fewest errors of trees of depth two with at most one, two and three splits.
struct ErrorsOfTwo {
    std::int16_t by_splits[3];
};

// Errors and rows of both sides of a split as leaves.
struct SplitErrors {
    Weight left, right, size_left, size_right;
};

// What the sides of a split cost at least.
struct SideCosts {
    Cost left = 0, right = 0;
    Cost sum() const { return left + right; }
};

// The features of a table and its rows as bits; makes nodes and counts them.
class BitNodes {
  public:
    static constexpr Weight kMostRows = 32767;  // counts are 16-bit

    // The rows of the table all have weight one.
    BitNodes(Context& context, const BitKernel& kernel);

    const std::vector<Feature>& features() const { return features_; }
    // The number of a feature, or of the next one where there is no such feature.
    std::uint32_t feature_at(Feature feature) const {
        return static_cast<std::uint32_t>(std::lower_bound(features_.begin(), features_.end(), feature) -
                                          features_.begin());
    }
    const BitKernel& kernel() const { return kernel_; }
    BitNode& root() { return root_; }
    const BitNode& root() const { return root_; }

    // Room for the child of a node at that level, one on either side.
    BitNode& child_at(std::size_t level, bool has);
    void make_child(const BitNode& parent, std::uint32_t feature, bool has, BitNode& child);
    // The marked rows of a node as a node of the same conditions.
    void choose(const BitNode& from, const std::vector<std::uint8_t>& marked, BitNode& chosen);

    SplitErrors split_errors(const BitNode& node, std::uint32_t feature) const;
    // Whether leaves may have any size.
    bool any_leaf_size() const { return least_leaf_ == 1; }
    // Whether both sides of a split have as many rows as a leaf must have.
    bool allowed(const SplitErrors& sides) const { return std::min(sides.size_left, sides.size_right) >= least_leaf_; }

    // Features that may split the node, purest first.
    std::vector<std::uint32_t> promising_order(const BitNode& node);

    // Lower bounds on what both sides of every split of a node cost, by feature.
    struct Floors {
        std::vector<std::int32_t> with, without;
        std::vector<std::int16_t> rows_with;
    };
    Floors no_floors(const BitNode& node);
    // Room that the next ones may use.
    void take_back(Floors&& floors) { spare_floors_.push_back(std::move(floors)); }
    // Raises them by what is proven for the sides of one split of the node, whose children are made at that level;
    // costs of all rows must fit in 31 bits. Leaves may have any size.
    void raise_floors(BitNode& node, std::uint32_t feature, const SideCosts& least, Cost cost_of_row, std::size_t level,
                      Floors& floors);
    // Rows that have each feature and the one whose sides raised them last.
    const std::int16_t* counted_together() const { return both_.data(); }
    // The same apart from the children and the scratch of the search, which may be at work meanwhile. Its steps are not
    // reported: see report_raise.
    void raise_floors_apart(BitNode& node, std::uint32_t feature, const SideCosts& least, Cost cost_of_row,
                            LineVector<std::int16_t>& both, Floors& floors) const;
    void report_raise(const BitNode& node);

    // Depth two below both sides of a feature, or below one.
    void solve_bottoms(BitNode& parent, std::uint32_t feature, bool left, bool right, std::size_t level,
                       ErrorsOfTwo& of_left, ErrorsOfTwo& of_right);
    // Depth two on a node; leaves the best stumps below every feature in stumps().
    ErrorsOfTwo solve_bottom(BitNode& node);
    // The most rows that one more split, or none, classifies correctly below every feature: after solve_bottom.
    BitStumps stumps() { return {stumps_.data(), stumps_.data() + lanes_}; }

  private:
    void make_masks();
    void count(BitNode& node);
    BitWords words_of(BitNode& node) const {
        return {node.bits.data(), word_stride_, node.n_classes, node.first_word.data()};
    }
    void count_pairs(BitNode& node);
    void raise_by(const BitNode& node, std::uint32_t feature, const SideCosts& least, Cost cost_of_row,
                  const std::int16_t* both, Floors& floors) const;
    void best_stumps(BitNode& own, const BitNode& rest, const BitNode* parent, BitStumps of_own, BitStumps of_rest);
    ErrorsOfTwo fewest_errors(const BitNode& node, BitStumps stumps) const;

    Context& context_;
    const BitKernel& kernel_;
    std::vector<Feature> features_;
    FeatureCircle circle_;
    int least_leaf_;       // rows, at least one; 32767 stands for all that is more
    bool by_differences_;  // two classes, leaves of any size: see kernels/bit_two_impl.hpp
    int lanes_, word_stride_, blocks_;
    LineVector<std::uint32_t> masks_;  // features of the rows, 32 to a mask
    BitNode root_;
    std::vector<std::unique_ptr<BitNode>> children_;
    std::uint64_t numbered_ = 0;                     // nodes made
    LineVector<std::int16_t> stumps_, room_, both_;  // scratch of the kernel
    LineVector<float> sums_;                         // scratch of promising_order
    std::vector<std::uint64_t> scored_;
    std::vector<Floors> spare_floors_;
};

}  // namespace provetree
