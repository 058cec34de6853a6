// What is proven of sets of rows, in tables so small that a set is one word.
//
// With a penalty or a split budget, a deep search of some thirty rows meets the same few sets again and again, reached
// by other splits or asked for with another budget. Larger tables hardly ever meet a set twice: they remember nothing.
#pragma once

#include <cstdint>

#include "base/flat_map.hpp"
#include "sweeps/profile.hpp"
#include "tree/outcome.hpp"

namespace provetree {

class SolvedSets {
  public:
    explicit SolvedSets(std::size_t most_bytes) : known_(most_bytes) {}

    // Whether the request is answered by what is known: exactly, or by a bound that reaches the limit. The answer
    // does not depend on the path to the node, because a node is its set of rows.
    bool find(const Node& node, const NodeRequest& request, Outcome& outcome) const {
        const Bounded* known = known_.find(key(node, request));
        if (!known || (known->lower < request.limit && known->lower < known->upper)) return false;
        static_cast<Bounded&>(outcome) = *known;
        return true;
    }
    void keep(const Node& node, const NodeRequest& request, const Outcome& outcome) {
        Bounded& known = known_.at(key(node, request));
        if (outcome.lower >= known.lower) known = outcome;
    }
    void clear() { known_.clear(); }

  private:
    struct Key {
        std::uint64_t rows = 0;
        std::int64_t splits = 0;
        int depth = 0;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const {
            std::uint64_t mixed =
                key.rows ^ (static_cast<std::uint64_t>(key.splits) << 8 | static_cast<unsigned>(key.depth));
            mixed = (mixed ^ mixed >> 31) * 0x9e3779b97f4a7c15ull;
            return static_cast<std::size_t>(mixed ^ mixed >> 29);
        }
    };
    static Key key(const Node& node, const NodeRequest& request) {
        return {node.members, request.shape.splits, request.shape.depth};
    }

    FlatMap<Key, Bounded, Hash> known_;
};

}  // namespace provetree
