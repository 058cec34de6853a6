// Which splits of a column are open between bounded ones, where every pair of sizes of the two sides counts.
//
// For splits a < x < b and each size, with w the weight between:
//     left(x)[i] >= max(left(a)[i], left(b)[i] - w(x, b))      right(x)[j] >= max(right(b)[j], right(a)[j] - w(a, x)).
// More rows never cost less with any number of leaves, and the tree of fewer rows gets at most the new ones wrong. A
// split is open where some pair (i, j) of these can cost less than the cut of its tree, which has size i + j + 1.
#pragma once

#include <algorithm>

#include "sizes/size_profile.hpp"
#include "sweeps/open_splits.hpp"

namespace provetree {

// What is open of an interval.
struct OpenSizes {
    Positions all{~Index{0}, 0};
    Cost gap = 0;       // the most that a split may cost less than its cut
    bool deep = false;  // some split with subtrees on both sides is open

    void add(Positions open, Cost by) {
        if (open.empty()) return;
        all.first = std::min(all.first, open.first);
        all.last = std::max(all.last, open.last);
        gap = std::max(gap, by);
    }
};

// Pairs of sizes that count: sides of a size below `first` do not, nor do two sides that are both below `settled`.
struct CountedPairs {
    std::size_t first, settled;
    bool operator()(std::size_t i, std::size_t j) const { return i >= settled || j >= settled; }
};

// Adds what is open strictly between two points.
template <int K, int S>
void open_between(const NodeColumn& column, const SizePoint<K>& a, const SizePoint<K>& b, CountedPairs pairs,
                  const PerSize<S>& cut, const Loss& loss, bool lipschitz, OpenSizes& open) {
    if (b.position - a.position < 2) return;
    Weight from = b.weight, upto = a.weight;
    Cost gap = 0;
    for (std::size_t i = pairs.first; i < K; ++i) {
        for (std::size_t j = pairs.first; j < K; ++j) {
            const Cost most = cut[i + j + 1];
            if (a.left[i] + b.right[j] >= most || !pairs(i, j)) continue;
            const OpenRange range =
                open_range({a.left[i], a.right[j], a.weight}, {b.left[i], b.right[j], b.weight}, most, loss, lipschitz);
            if (!range.open) continue;
            from = std::min(from, range.from);
            upto = std::max(upto, range.upto);
            gap = std::max(gap, most - range.bound);
        }
    }
    if (gap <= 0) return;
    const Positions all = positions_of(column, a.position, b.position, from, upto);
    if (all.empty()) return;
    open.add(all, gap);
    open.deep = true;
}

// The most that a split with these bounds may cost less than its cut.
template <int K, int S>
Cost gap_at(const SizePoint<K>& point, CountedPairs pairs, const PerSize<S>& cut) {
    Cost gap = 0;
    for (std::size_t i = pairs.first; i < K; ++i)
        for (std::size_t j = pairs.first; j < K; ++j)
            if (pairs(i, j)) gap = std::max(gap, cut[i + j + 1] - point.left[i] - point.right[j]);
    return gap;
}

}  // namespace provetree
