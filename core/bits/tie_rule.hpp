// Among equally good trees of the bit search, the one that the tie rule prefers: at each node the lowest column, the
// widest margin, the lowest threshold, and the fewest splits on the left. Plans leave stumps and trees of depth two to
// this rule, which fills them in when a plan is worked out on the rows.
#pragma once

#include <optional>
#include <vector>

#include "bits/bit_recursion.hpp"

namespace provetree {

class BitTieRule {
  public:
    explicit BitTieRule(BitRecursion& recursion)
        : recursion_(recursion), nodes_(recursion.nodes()), features_(nodes_.features()) {}

    // A split of a node; thresholds that divide its rows alike are one split, between the values around all of them.
    struct Split {
        std::uint32_t feature;
        Index rank_low, rank_high;
        double margin;
    };
    // All splits of a node, those that the rule prefers first.
    std::vector<Split> splits(const BitNode& node) const;

    // Among the trees of that cost, which must be the optimum.
    PlanPtr choose(BitNode& node, Shape shape, Cost cost, std::size_t level);
    // A plan worked out on the rows of a node.
    FlatTree finish(BitNode& node, const PlanPtr& plan, std::size_t level);

  private:
    PlanPtr best_stump(const BitNode& node) const;
    // The best tree of depth two with at most so many splits, two or three.
    PlanPtr best_bottom(BitNode& node, std::int64_t splits);
    std::optional<Split> split_of(const BitNode& node, const Plan& plan) const;
    std::int32_t add(BitNode& node, PlanPtr plan, std::size_t level, FlatTree& tree, Cost& errors);

    BitRecursion& recursion_;
    BitNodes& nodes_;
    const std::vector<Feature>& features_;
};

}  // namespace provetree
