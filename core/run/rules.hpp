// Rules that a tree must keep: which way predictions may go along a column, which columns may be on one path, and what
// it costs to ask about a column for the first time on a path.
//
// They say which trees are allowed and what their splits cost, whatever rows they are grown on. So a tree that is
// allowed for some rows is allowed for others: more rows still never cost less, and never more than their slack, as
// long as the path to them is the same. Every bound between splits of one column follows from that.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "base/types.hpp"

namespace provetree {

// The groups of columns that all columns of a path are in, a bit each.
using PathGroups = std::vector<std::uint64_t>;

// The class that a leaf beside a split with a direction predicts: one that must rise has the first class on its left.
inline int label_of(int direction, bool right) { return (direction > 0) == right ? 1 : 0; }

// The split above a node of depth two whose other side is a leaf of a class; no class where there is none. Two splits,
// one below the other, whose leaves have the same class may change places: the tree predicts the same, asks the same
// and has no more splits. So of such splits only those in the order of their columns are looked for. (Two of one column
// are one.)
//
// What is proven so is proven of trees in that order, whatever the rows: bounds between row sets need that a tree of
// which some rows leave out a split is still one of them. At depth two it is: what is left is a stump, and a stump of a
// column with a direction can be seen with its leaf on either side, one of which is of the other class. Deeper it would
// not be: between two leaves of one class there could be a leaf of the other, which only some rows reach.
struct LeafAbove {
    Index column = 0;
    int label = -1;
    bool comes_later(Index other, int other_label) const { return other_label == label && other <= column; }
};

struct Rules {
    // Of each column of the table: 1 where no leaf left of a split on it may predict the second class while one right
    // of it predicts the first, -1 for the other way round, 0 for neither. Two classes only. Empty: no directions.
    std::vector<std::int8_t> directions;
    // Of each column of the table: the groups it is in. Empty: no groups.
    std::vector<PathGroups> groups;
    // Prices, in units of weight, of what a path asks about for the first time; of each column of the table, which of
    // them it asks about, a bit each. Empty: no prices.
    std::vector<Weight> prices;
    std::vector<std::uint64_t> priced;

    bool directed() const { return !directions.empty(); }
    bool grouped() const { return !groups.empty(); }
    bool priced_by_path() const { return !prices.empty(); }
    // Whether what may follow a split depends on its path.
    bool follows_paths() const { return grouped() || priced_by_path(); }
    // What a split on a column costs below a path that has paid for some.
    Weight price(Index column, std::uint64_t paid) const { return prices.empty() ? 0 : sum_of(priced[column] & ~paid); }
    Weight sum_of(std::uint64_t some) const {
        Weight sum = 0;
        for (; some; some &= some - 1) sum += prices[static_cast<std::size_t>(std::countr_zero(some))];
        return sum;
    }
    std::uint64_t paid_after(std::uint64_t paid, Index column) const {
        return prices.empty() ? 0 : paid | priced[column];
    }
    int direction(Index column) const { return directions.empty() ? 0 : directions[column]; }

    PathGroups at_root() const { return PathGroups(grouped() ? groups[0].size() : 0, ~std::uint64_t{0}); }
    // Whether a column may be asked about below a path.
    bool allows(const PathGroups& path, Index column) const {
        if (!grouped()) return true;
        for (std::size_t word = 0; word < path.size(); ++word)
            if (path[word] & groups[column][word]) return true;
        return false;
    }
    PathGroups after(const PathGroups& path, Index column) const {
        PathGroups left = path;
        for (std::size_t word = 0; word < left.size(); ++word) left[word] &= groups[column][word];
        return left;
    }
};

}  // namespace provetree
