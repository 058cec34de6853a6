// Works plans of the bit search out on the rows of a node. A plan leaves stumps and trees of depth two open: they are
// filled in by the tie rule.
#pragma once

#include "bits/tie_rule.hpp"

namespace provetree {

class BitFinisher {
  public:
    explicit BitFinisher(BitRecursion& recursion)
        : recursion_(recursion), nodes_(recursion.nodes()), tie_rule_(recursion) {}

    FlatTree finish(BitNode& node, const PlanPtr& plan, std::size_t level);

  private:
    std::int32_t add(BitNode& node, PlanPtr plan, std::size_t level);
    std::optional<BitTieRule::Split> split_of(const BitNode& node, const Plan& plan) const;

    BitRecursion& recursion_;
    BitNodes& nodes_;
    BitTieRule tie_rule_;
    FlatTree tree_;  // so far
    Cost errors_ = 0;
};

}  // namespace provetree
