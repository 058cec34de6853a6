// Exact search on binary features: branch and bound over sets of conditions, for tables whose columns all have few
// values.
//
// A feature is one threshold of one column. A node (bit_node.hpp) is the set of conditions on the way to it; what is
// proven for a set is kept, whatever order its conditions came in.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/flat_map.hpp"
#include "bits/bit_node.hpp"
#include "bits/bottoms.hpp"
#include "intervals/interval_search.hpp"
#include "loss/loss.hpp"
#include "proof/checkpoint.hpp"
#include "run/context.hpp"
#include "sweeps/depth_two.hpp"
#include "tree/plan.hpp"

namespace provetree {

class BitSearch {
  public:
    // Whether all columns have so few values, and the table so few rows, that this search is the one to use.
    static bool fits(const Table& table, int max_depth, unsigned switches);

    // The weights of the rows are their counts: such a row is as many rows.
    BitSearch(Context& context, const BitKernel& kernel, const Loss& loss);

    Cost leaf_cost() const;

    // A first tree: the purest split of every node, down to the depth. Only for shapes without a binding split budget.
    Outcome grow(Shape shape);

    // Takes up what an earlier search has proven of the root's splits.
    void resume(const Checkpoint& checkpoint);

    // As TreeSearch::solve_root: the optimum, or the best so far and a valid bound where the search was stopped.
    Outcome solve_root(Shape shape, const Outcome& start, const Listener& listener,
                       std::unique_ptr<StopSearch>& stopped);

    // A plan of this search worked out on the rows, as Finisher does.
    FlatTree finish(const PlanPtr& plan);

    // Among the trees of that cost, which must be the optimum, the one that the tie rule prefers.
    PlanPtr canonical(Shape shape, Cost cost);

    // From now on costs are at least `factor` times what they were: bounds that are proven stay so.
    void refine_loss(const Loss& loss, Cost factor);

  private:
    // What is proven for a set of conditions holds for one split budget.
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
    struct Proven {
        Cost lower = 0, upper = kInfinite;
        PlanPtr plan;
    };

    void set_loss(const Loss& loss);
    // Whether whatever costs less than this has no errors.
    bool leaves_no_errors(Cost cost) const { return loss_.split_penalty > 0 && cost <= loss_.error_scale; }
    Proven solve(BitNode& node, Shape shape, Cost limit, std::size_t level);
    // What the sides of a split cost at least.
    struct Sides {
        Cost left = 0, right = 0;
    };
    // What is known of the sides of a split of the root from an earlier search, and leaving what this one has proven on
    // disk.
    void recall(std::uint32_t feature, const Division& share, Sides& sides) const;
    void note(std::uint32_t feature, const Division& share, const Sides& sides);
    void save(const Proven& best) const;
    // From now on the file is written when it is due, from inside the search; null ends it.
    void keep_proof(const Listener* listener);
    void keep_if_due(const Proven& best) const;
    // The sets of conditions that something is proven for, those with the most levels below them first.
    std::vector<KnownSet> known_sets() const;
    void take_up(const std::vector<KnownSet>& sets);
    // The root, solved by several threads (bit_crew.cpp).
    struct Crew;
    struct Mate;
    bool worth_a_crew(Shape shape) const;
    Proven solve_together(Shape shape, Cost limit);
    void take_part(Crew& crew, bool leads);
    BitNodes::Floors floors_of(BitNode& node, const std::vector<std::uint32_t>& order, Cost cut);
    // Whether what is proven for a split of a node bounds its other splits, too.
    bool splits_bound_each_other(const std::vector<Division>& shares) const {
        return costs_are_small_ && nodes_.any_leaf_size() && shares.size() == 1;
    }
    // These are given what is known of the sides and return what is known then.
    Proven solve_pair_of_bottoms(BitNode& node, const Division& division, std::uint32_t feature, Sides& sides, Cost cut,
                                 std::size_t level);
    Proven solve_children(BitNode& node, const Division& division, std::uint32_t feature, Sides& sides, Cost cut,
                          std::size_t level);
    Proven solve_split(BitNode& node, const Division& division, std::uint32_t feature, Sides& sides, Cost cut,
                       std::size_t level);
    Cost cost_of_bottom(const ErrorsOfTwo& errors, Weight leaf_error, Shape shape) const;
    // A split of a node; thresholds that divide its rows alike are one split, between the values around all of them.
    struct NodeSplit {
        std::uint32_t feature;
        Index rank_low, rank_high;
        double margin;
    };
    std::vector<NodeSplit> splits_by_tie_rule(const BitNode& node) const;
    // Of the trees without errors one with the fewest splits, if it costs less than the one given, by way of samples of
    // the rows (bit_perfect.cpp). `least` is a bound on the cost that holds even where the search is stopped.
    void fewest_splits(Shape shape, Outcome& best, Cost& least);
    void fewest_splits_by_samples(Shape shape, Outcome& best, Cost& least);
    // A plan without errors, with the fewest splits in its last levels.
    PlanPtr with_smaller_limbs(BitNode& node, const Plan* plan, int depth, std::size_t level);
    Proven fewest_splits_of_sample(BitNode& sample, Shape shape, Cost most, Cost& least);
    PlanPtr canonical_without_errors(const BitNode& all, Shape shape, Cost cost, std::size_t level);
    void begin_sample();
    void mark(const std::vector<std::uint32_t>& wrong);
    // The rows of a node that a tree of a sample of them gets wrong.
    std::vector<std::uint32_t> wrong_rows(const BitNode& all, const FlatTree& tree) const;
    FlatTree worked_out(BitNode& node, const PlanPtr& plan, std::size_t level);
    Proven grow(BitNode& node, int depth, std::size_t level);
    std::int32_t finish(BitNode& node, const Plan* plan, std::size_t level, FlatTree& tree, Cost& errors);
    PlanPtr bottom_by_tie_rule(BitNode& node, std::int64_t splits);
    PlanPtr stump_by_tie_rule(const BitNode& node) const;
    PlanPtr canonical(BitNode& node, Shape shape, Cost cost, std::size_t level);

    Context& context_;
    Loss loss_;
    BitNodes nodes_;
    const std::vector<Feature>& features_;
    Bottoms of_two_;
    std::vector<FlatMap<Key, Proven, KeyHash>> proven_;  // by depth
    bool costs_are_small_;                               // all fit in 31 bits
    // The root while it is searched: the incumbent, what the heap of open features is bounded by, and whom to tell.
    Proven root_best_;
    const Listener* listener_ = nullptr;
    std::map<std::pair<std::uint32_t, std::int64_t>, Sides>
        root_sides_;             // proven, by feature and the left child's budget; for the checkpoint
    Crew* crew_ = nullptr;       // while several threads are at the root
    bool lock_is_free_ = false;  // of that crew, as far as this thread goes
    bool kept_ = false;          // what is proven for sets of conditions is for the checkpoint, too
    // The sample of rows on which trees without errors are looked for.
    std::vector<std::uint8_t> marked_;
    std::int16_t sample_ = 0;  // counts the samples
};

}  // namespace provetree
