// What the bit search has proven for sets of conditions, whatever order the conditions came in: a bound, and the tree
// where there is one. Tables of limited memory, one for each depth below a set.
#pragma once

#include <vector>

#include "base/flat_map.hpp"
#include "bits/bit_node.hpp"
#include "proof/checkpoint.hpp"
#include "tree/plan.hpp"

namespace provetree {

// Bounds of the best tree of a node, and the tree. Solved where they are equal.
struct Proven {
    Cost lower = 0, upper = kInfinite;
    PlanPtr plan;

    bool solved() const { return lower >= upper; }
};

class ProvenSets {
  public:
    static constexpr int kMostDepth = 6;

    explicit ProvenSets(std::size_t bytes_of_depth) : by_depth_(kMostDepth + 1, Known(bytes_of_depth)) {}

    const Proven* find(const ConditionSet& set, Shape shape) const { return of(shape.depth).find({set, shape.splits}); }
    void put(const ConditionSet& set, Shape shape, const Proven& proven) {
        of(shape.depth).at({set, shape.splits}) = proven;
    }
    void clear() {
        for (Known& known : by_depth_) known.clear();
    }
    // Trees are forgotten. Bounds stay, `factor` times what they were.
    void keep_bounds(Cost factor) {
        for (Known& known : by_depth_)
            known.for_each([&](Proven& one) { one = {one.lower * factor, kInfinite, nullptr}; });
    }
    // Takes over what another thread has proven.
    void add(const ProvenSets& others);

    // For the checkpoint: the sets that something is proven for, those with the most levels below them first.
    std::vector<KnownSet> known() const;
    void add(const std::vector<KnownSet>& sets);

  private:
    // What is proven holds for one split budget.
    struct Key {
        ConditionSet set;
        std::int64_t splits = 0;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const {
            return ConditionSet::Hash{}({key.set.low, key.set.high ^ static_cast<std::uint64_t>(key.splits)});
        }
    };
    using Known = FlatMap<Key, Proven, KeyHash>;

    Known& of(int depth) { return by_depth_[static_cast<std::size_t>(depth)]; }
    const Known& of(int depth) const { return by_depth_[static_cast<std::size_t>(depth)]; }

    std::vector<Known> by_depth_;
};

}  // namespace provetree
