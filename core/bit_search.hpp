// Exact search on binary features: branch and bound over sets of conditions, for tables whose columns all have few values.
//
// A feature is one threshold of one column. A node is the set of conditions on the way to it; what is proven for a set is kept, whatever order its
// conditions came in. The last two levels are solved by counting pairs of features: only the smaller child of a split is counted, the other is the
// difference from the parent.
#pragma once

#include <memory>
#include <vector>

#include "context.hpp"
#include "depth_two.hpp"
#include "flat_map.hpp"
#include "interval_search.hpp"
#include "kernels/bit_kernel.hpp"
#include "plan.hpp"
#include "search.hpp"

namespace provetree {

class BitSearch {
  public:
    // Whether all columns have so few values, and the table so few rows, that this search is the one to use.
    static bool fits(const Table& table, const SearchOptions& options);

    // The rows of the table all have weight one.
    BitSearch(Context& context, const BitKernel& kernel, const Objective& objective);

    Cost leaf_cost() const;
    ~BitSearch();

    // A first tree: the purest split of every node, down to the depth. Only for shapes without a binding split budget.
    Outcome grow(Shape shape);

    // As TreeSearch::solve_root: the optimum, or the best so far and a valid bound where the search was stopped.
    Outcome solve_root(Shape shape, const Outcome& start, const TreeSearch::Listener& listener, std::unique_ptr<StopSearch>& stopped);

    // A plan of this search worked out on the rows, as Finisher does.
    FlatTree finish(const PlanPtr& plan);

    // Among the trees of that cost, which must be the optimum, the one that the tie rule prefers.
    PlanPtr canonical(Shape shape, Cost cost);

    // Costs are counted otherwise from now on; what is proven in errors stays.
    void change_objective(const Objective& objective);

  private:
    struct Feature {
        Index column;  // of the table
        Index rank;    // rows with at most this rank do not have the feature: they go left
    };
    // A set of conditions: literals (2 * feature, plus one for having it), ascending, 16 bits each; and the split budget that is proven for it.
    struct Key {
        std::uint64_t low = ~0ull, high = ~0ull;
        std::int64_t splits = 0;
        bool operator==(const Key&) const = default;
        Key with(std::uint32_t literal) const;
        Key of(std::int64_t budget) const { return {low, high, budget}; }
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const;
    };
    // Fewest errors of trees of depth two with at most one, two and three splits.
    struct ErrorsOfTwo {
        std::int32_t by_splits[3];
    };
    struct Proven {
        Cost lower = 0, upper = kInfinite;
        PlanPtr plan;
    };
    struct BitNode;

    Proven solve(BitNode& node, Shape shape, Cost limit, std::size_t level);
    Proven solve_pair_of_bottoms(BitNode& node, const Division& division, std::uint32_t feature, Cost cut, std::size_t level);
    Proven solve_children(BitNode& node, const Division& division, std::uint32_t feature, Cost cut, std::size_t level);
    Cost cost_of_bottom(const ErrorsOfTwo& errors, Weight leaf_error, Shape shape) const;
    void solve_bottoms(BitNode& parent, std::uint32_t feature, bool left, bool right, std::size_t level, ErrorsOfTwo& of_left, ErrorsOfTwo& of_right);
    ErrorsOfTwo solve_bottom(BitNode& node);
    std::vector<std::uint32_t> promising_order(const BitNode& node) const;
    // A split of a node; thresholds that divide its rows alike are one split, between the values around all of them.
    struct NodeSplit {
        std::uint32_t feature;
        Index rank_low, rank_high;
        double margin;
    };
    std::vector<NodeSplit> splits_by_tie_rule(const BitNode& node) const;
    Proven grow(BitNode& node, int depth, std::size_t level);
    std::int32_t finish(BitNode& node, const Plan* plan, std::size_t level, FlatTree& tree, Cost& errors);
    PlanPtr bottom_by_tie_rule(BitNode& node, std::int64_t splits);
    PlanPtr stump_by_tie_rule(const BitNode& node) const;
    struct LeafErrors {
        Weight left, right, size_left, size_right;
    };
    LeafErrors leaf_errors(const BitNode& node, std::uint32_t feature) const;
    PlanPtr canonical(BitNode& node, Shape shape, Cost cost, std::size_t level);
    void make_child(const BitNode& parent, std::uint32_t feature, bool has, BitNode& child) const;
    void count_features(BitNode& node) const;
    BitNode& child_at(std::size_t level, bool has);

    Context& context_;
    const BitKernel& kernel_;
    Objective objective_;
    int n_classes_;
    int stride_ = 0, blocks_ = 0;
    std::vector<Feature> features_;
    std::vector<std::uint32_t> masks_;  // features of the rows, 32 to a mask
    std::unique_ptr<BitNode> root_;
    std::vector<std::unique_ptr<BitNode>> children_;
    std::vector<std::int16_t> stumps_;  // scratch of the kernel
    FlatMap<Key, ErrorsOfTwo, KeyHash> of_two_;
    std::vector<FlatMap<Key, Proven, KeyHash>> proven_;  // by depth
    // The root while it is searched: the incumbent, what the heap of open features is bounded by, and whom to tell.
    Proven root_best_;
    const TreeSearch::Listener* listener_ = nullptr;
};

}  // namespace provetree
