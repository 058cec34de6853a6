// How many trees there are of each cost, and how they multiply: the trees of a split are pairs of trees of its sides.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "base/types.hpp"
#include "base/wide.hpp"

namespace provetree {

// There are more trees than 128 bits can count.
struct TooManyTrees : std::runtime_error {
    TooManyTrees() : std::runtime_error("There are more than 2**128 trees.") {}
};

inline Wide checked_sum(Wide a, Wide b) {
    if (a + b < a) throw TooManyTrees();
    return a + b;
}

inline Wide checked_product(Wide a, Wide b) {
    constexpr Wide kHalf = Wide{1} << 64;
    if (a < kHalf && b < kHalf) return a * b;
    if (b != 0 && a > ~Wide{0} / b) throw TooManyTrees();
    return a * b;
}

// The trees of one cost: how many, and the widest of their margins (that of a tree is the least of its splits).
struct CostCount {
    Cost cost;
    Wide count;
    double margin;
};

// Margins are shares of the spread of a column, so that no split has a wider one.
inline constexpr double kWidestMargin = 1;

// By rising cost, none with a count of zero.
using TreeCounts = std::vector<CostCount>;

// Sorts by cost and adds up what costs the same.
inline void tidy_trees(TreeCounts& trees) {
    std::sort(trees.begin(), trees.end(), [](const CostCount& a, const CostCount& b) { return a.cost < b.cost; });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < trees.size(); ++i) {
        if (kept > 0 && trees[kept - 1].cost == trees[i].cost) {
            CostCount& same = trees[kept - 1];
            same.count = checked_sum(same.count, trees[i].count);
            same.margin = std::max(same.margin, trees[i].margin);
        } else {
            trees[kept++] = trees[i];
        }
    }
    trees.resize(kept);
}

// A sum of many lists. Small ones are gathered before they are sorted in, so that a long sum does not grow slow.
class TreeTally {
  public:
    void add(const TreeCounts& more) {
        gathered_.insert(gathered_.end(), more.begin(), more.end());
        if (gathered_.size() > 2 * settled_ + kFewGathered) settle();
    }
    // The sum, by rising cost.
    TreeCounts& settle() {
        if (gathered_.size() > settled_) tidy_trees(gathered_);
        settled_ = gathered_.size();
        return gathered_;
    }
    void clear() {
        gathered_.clear();
        settled_ = 0;
    }
    std::size_t size() const { return gathered_.size(); }

  private:
    static constexpr std::size_t kFewGathered = 256;
    TreeCounts gathered_;
    std::size_t settled_ = 0;  // entries in front that are sorted; after settle() all are
};

// Adds trees, which are all other ones.
inline void add_trees(TreeCounts& to, const TreeCounts& more, TreeCounts& scratch) {
    if (more.empty()) return;
    if (to.empty()) {
        to = more;
        return;
    }
    scratch.clear();
    auto a = to.begin();
    auto b = more.begin();
    while (a != to.end() || b != more.end()) {
        if (b == more.end() || (a != to.end() && a->cost < b->cost)) {
            scratch.push_back(*a++);
        } else if (a == to.end() || b->cost < a->cost) {
            scratch.push_back(*b++);
        } else {
            scratch.push_back({a->cost, checked_sum(a->count, b->count), std::max(a->margin, b->margin)});
            ++a, ++b;
        }
    }
    to.swap(scratch);
}

// Takes trees away that are among these. Margins stay as they are: upper bounds.
inline void remove_trees(TreeCounts& from, const TreeCounts& some) {
    auto at = from.begin();
    for (const CostCount& less : some) {
        while (at->cost < less.cost) ++at;
        at->count -= less.count;
    }
    std::erase_if(from, [](const CostCount& each) { return each.count == 0; });
}

}  // namespace provetree
