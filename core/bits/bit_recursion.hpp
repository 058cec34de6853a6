// The recursion of the bit search: branch and bound over sets of conditions. What is proven for a set is kept, whatever
// order its conditions came in.
#pragma once

#include <optional>
#include <vector>

#include "bits/bit_node.hpp"
#include "bits/bottoms.hpp"
#include "bits/proven_sets.hpp"
#include "bits/split_loop.hpp"
#include "loss/loss.hpp"
#include "run/context.hpp"
#include "tree/outcome.hpp"

namespace provetree {

class BitRecursion {
  public:
    BitRecursion(Context& context, const BitKernel& kernel, const Loss& loss);

    Context& context() { return context_; }
    BitNodes& nodes() { return nodes_; }
    const BitNodes& nodes() const { return nodes_; }
    const Loss& loss() const { return loss_; }
    ProvenSets& proven() { return proven_; }
    Bottoms& bottoms() { return bottoms_; }

    // From now on costs are at least `factor` times what they were: bounds that are proven stay so.
    void refine_loss(const Loss& loss, Cost factor);
    // From now on a sample of the rows is searched: of what is known nothing holds.
    void begin_sample();
    // From now on a larger sample is searched: bounds stay, trees do not.
    void grow_sample();

    // Whether whatever costs less than this has no errors.
    bool leaves_no_errors(Cost cost) const { return loss_.split_penalty > 0 && cost <= loss_.leaf(1); }

    // The best tree of a node, or that none costs less than `limit`.
    Proven solve(BitNode& node, Shape shape, Cost limit, std::size_t level);
    // The three steps of it. Shapes are those that the rows of the node allow.
    // The answer, where no split has to be tried.
    std::optional<Proven> answer_at_hand(BitNode& node, Shape shape, Cost limit, std::size_t level);
    SplitLoop splits_of(BitNode& node, Shape shape, Cost cut, std::size_t level);
    // Keeps and gives what is proven when all splits are tried. `best` is the leaf where no tree is below `limit`.
    Proven conclude(const BitNode& node, Shape shape, Cost limit, const Incumbent& best, Cost least, std::size_t level);

    // The best tree below `cut` that begins with a split. `sides`: what is known of them, and what is known then.
    Incumbent solve_split(BitNode& node, const Division& share, std::uint32_t feature, SideCosts& sides, Cost cut,
                          std::size_t level);
    // The best tree of the last two levels, or of one.
    Proven solve_bottom(BitNode& node, Shape shape);
    // One side of a split, for a search below it.
    void make_side(BitNode& node, std::uint32_t feature, bool right, std::size_t level, BitNode& child);
    PlanPtr plan_of_split(std::uint32_t feature, const PlanPtr& left, const PlanPtr& right) const {
        return split_plan(nodes_.features()[feature].column, nodes_.features()[feature].rank, left, right);
    }
    // Closes all splits of a node.
    void close_node(std::size_t level, Shape shape, Cost bound, Reason reason) {
        context_.closings.close([&] { return Region{level, true, 0, 0, 0, -1, shape}; }, bound, reason);
    }

  private:
    struct BottomSide;
    Cost cost_of_bottom(const ErrorsOfTwo& errors, Weight leaf_error, Shape shape) const;
    PlanPtr plan_of_bottom(Cost cost, Weight leaf_error, Shape shape) const;
    void look_up(BottomSide& side, Cost& floor);
    Incumbent solve_pair_of_bottoms(BitNode& node, const Division& share, std::uint32_t feature, SideCosts& sides,
                                    Cost cut, std::size_t level);
    Incumbent solve_children(BitNode& node, const Division& share, std::uint32_t feature, SideCosts& known, Cost cut,
                             std::size_t level);
    void descend(std::size_t level, std::uint32_t feature, bool right) {
        context_.closings.descend(level, {nodes_.features()[feature].column, nodes_.features()[feature].rank, right});
    }

    Context& context_;
    Loss loss_;
    BitNodes nodes_;
    Bottoms bottoms_;
    ProvenSets proven_;
};

}  // namespace provetree
