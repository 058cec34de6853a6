// Trees without errors in the bit search: the fewest splits one can have, and which one the tie rule prefers.
//
// A tree without errors has none on a sample of the rows either, so what a sample cannot have with so many splits the
// table cannot have. A tree that a sample can have is tried on all rows, and those that it gets wrong join the sample.
// Few rows are needed, where thousands would be counted otherwise.
#pragma once

#include <cstdint>
#include <vector>

#include "bits/bit_recursion.hpp"
#include "bits/tie_rule.hpp"

namespace provetree {

class PerfectTrees {
  public:
    explicit PerfectTrees(BitRecursion& recursion)
        : recursion_(recursion), context_(recursion.context()), nodes_(recursion.nodes()), tie_rule_(recursion) {}

    // One with the fewest splits, if it costs less than the one given. `least` is a bound on the cost. Both hold even
    // where the search is stopped.
    void fewest_splits(Shape shape, Incumbent& best, Cost& least);
    // Whether they were searched on samples of the rows.
    bool sampled() const { return !marked_.empty(); }
    // Among those of that cost, which must be the optimum, the one that the tie rule prefers. After a search on
    // samples.
    PlanPtr choose(Shape shape, Cost cost) { return choose(nodes_.root(), shape, cost, 0); }

  private:
    void begin_sample();
    void mark(const std::vector<std::uint32_t>& wrong);
    // The rows of a node that a tree of a sample of them gets wrong.
    std::vector<std::uint32_t> wrong_rows(const BitNode& all, const FlatTree& tree) const;
    void search_samples(Shape shape, Incumbent& best, Cost& least);
    Proven search_sample(BitNode& sample, Shape shape, Incumbent& found, Cost most, Cost& least);
    // A plan without errors, with the fewest splits in its last levels.
    PlanPtr with_smaller_subtrees(BitNode& node, const Plan* plan, int depth, std::size_t level);
    PlanPtr choose(BitNode& all, Shape shape, Cost cost, std::size_t level);
    FlatTree tree_with_split(BitNode& all, BitNode& sample, const Division& share, std::uint32_t feature, Cost cost,
                             std::size_t level);

    BitRecursion& recursion_;
    Context& context_;
    BitNodes& nodes_;
    BitTieRule tie_rule_;
    std::vector<std::uint8_t> marked_;  // by row: whether it is in the sample; empty where all are searched
};

}  // namespace provetree
