// Bounds between children of one node: rows that pass two splits are met below either of them. What a child has proven
// of its splits bounds those of later children that lack few of its rows.
#pragma once

#include <algorithm>
#include <vector>

#include "bits/bit_node.hpp"
#include "loss/loss.hpp"

namespace provetree {

class Siblings {
  public:
    explicit Siblings(BitNodes& nodes) : nodes_(nodes) {}

    // Raises what both sides of each split of a node cost at least, for trees of so many levels below it.
    //
    // Proof: let a be a sibling, b the node. A tree of a side of b serves the same side of a, where it gets at most the
    // rows wrong that b lacks. So the side of b costs at least what that of a does, less the slack of |a without b|.
    void raise(const BitNode& node, int depth, const Loss& loss, BitNodes::Floors& floors) const {
        if (parent_ != node.parent || depth_ != depth) return;
        for (const Sibling& one : known_) {
            const Weight with = one.floors.rows_with[node.split_by], both = node.split_right ? with : one.size - with;
            const Cost lacking = loss.slack(one.size - both);
            if (lacking >= one.most) continue;
            raise_by(one.floors.with, static_cast<std::int32_t>(lacking), floors.with);
            raise_by(one.floors.without, static_cast<std::int32_t>(lacking), floors.without);
        }
    }
    // Keeps what is proven of the splits of a node.
    void keep(const BitNode& node, int depth, BitNodes::Floors&& floors) {
        if (parent_ != node.parent || depth_ != depth) clear();
        parent_ = node.parent;
        depth_ = depth;
        const Cost most = std::max(*std::max_element(floors.with.begin(), floors.with.end()),
                                   *std::max_element(floors.without.begin(), floors.without.end()));
        known_.push_back({std::move(floors), node.size(), most});
    }
    // What was proven holds no longer: the rows or the loss are others.
    void clear() {
        for (Sibling& one : known_) nodes_.take_back(std::move(one.floors));
        known_.clear();
        parent_ = 0;
    }

  private:
    struct Sibling {
        BitNodes::Floors floors;
        Weight size;
        Cost most;  // of its floors
    };
    static void raise_by(const std::vector<std::int32_t>& known, std::int32_t lacking,
                         std::vector<std::int32_t>& least) {
        for (std::size_t f = 0; f < least.size(); ++f) least[f] = std::max(least[f], known[f] - lacking);
    }

    BitNodes& nodes_;
    std::uint64_t parent_ = 0;
    int depth_ = 0;
    std::vector<Sibling> known_;
};

}  // namespace provetree
