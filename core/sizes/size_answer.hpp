// Costs by the number of leaves: what a search of all sizes asks of a node, and what it gets.
#pragma once

#include <algorithm>
#include <array>

#include "base/types.hpp"
#include "tree/plan.hpp"

namespace provetree {

// One cost for each size. Entry s is about trees of at most s + 1 leaves.
template <int N>
using PerSize = std::array<Cost, static_cast<std::size_t>(N)>;

// Sizes of trees of this depth.
template <int Depth>
inline constexpr int kSizes = 1 << Depth;

// What is proven of a node. An entry is exact where its lower bound is its upper cost; otherwise the bound is at least
// the limit that was asked for.
template <int Depth>
struct SizeAnswer {
    static constexpr std::size_t kCount = static_cast<std::size_t>(kSizes<Depth>);

    PerSize<kSizes<Depth>> lower{};    // no tree of this size (minimum leaf size respected) costs less
    PerSize<kSizes<Depth>> relaxed{};  // the same without the minimum leaf size: what neighbouring row sets may use
    PerSize<kSizes<Depth>> upper{};    // what the best tree so far costs
    std::array<PlanPtr, kCount> plan{};

    // Nothing but a leaf is known; `relaxed_leaf` is what it costs however few its rows are.
    void begin(Cost leaf, Cost relaxed_leaf) {
        lower.fill(0);
        relaxed.fill(0);
        upper.fill(leaf);
        plan.fill(nullptr);
        lower[0] = leaf;
        relaxed[0] = relaxed_leaf;
    }
    // Takes a tree over that costs less; says whether it did.
    bool offer(std::size_t size, Cost cost, const PlanPtr& tree) {
        if (cost >= upper[size]) return false;
        upper[size] = cost;
        plan[size] = tree;
        return true;
    }
    // A tree serves every larger size that has none cheaper, so each tree has as few splits as its cost allows.
    void share_trees() {
        for (std::size_t s = 1; s < kCount; ++s) {
            if (upper[s - 1] > upper[s]) continue;
            upper[s] = upper[s - 1];
            plan[s] = plan[s - 1];
        }
    }
    // More leaves never cost more: what bounds a size bounds all smaller ones.
    void share_bounds() {
        for (std::size_t s = kCount - 1; s-- > 0;) {
            lower[s] = std::max(lower[s], lower[s + 1]);
            relaxed[s] = std::max(relaxed[s], relaxed[s + 1]);
        }
    }
};

}  // namespace provetree
