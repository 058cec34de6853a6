// The recursion of the bit search: branch and bound over sets of conditions. What is proven for a set is kept, whatever
// order its conditions came in.
//
// Nodes take microseconds, so that the recursion is compiled twice: below a split of the root, one that tells of what
// it closes runs only where somebody listens.
#pragma once

#include <optional>
#include <vector>

#include "bits/bit_node.hpp"
#include "bits/proven_sets.hpp"
#include "bits/siblings.hpp"
#include "loss/loss.hpp"
#include "run/context.hpp"
#include "tree/outcome.hpp"

namespace provetree {

// The splits of a node in the order in which they are tried, with what each costs at least. The recursion, the root and
// the tie rule go through the splits of a node by this loop.
class SplitLoop {
  public:
    // Trees below `cut` are looked for; it may fall later.
    SplitLoop(Context& context, BitNodes& nodes, const Loss& loss, BitNode& node, Shape shape, std::size_t level,
              std::vector<std::uint32_t> order, Cost cut);
    ~SplitLoop() {
        if (!floors_.with.empty()) nodes_.take_back(std::move(floors_));  // empty where it was moved
    }
    SplitLoop(SplitLoop&&) = default;

    // Goes to the next split that may cost less than `cut`; those passed over are closed. False: there is none.
    template <Telling telling = Telling::kAloud>
    bool next(Cost cut) {
        return next<telling>(cut, [](std::uint32_t, const Division&, SideCosts&) { return false; });
    }
    // `recall` raises what the sides of a split cost at least by what is known from elsewhere; says whether it did.
    template <Telling telling = Telling::kAloud, class Recall>
    bool next(Cost cut, const Recall& recall) {
        // Most splits are passed over: what changes is kept out of memory until one is found.
        std::size_t at = at_, at_share = at_share_;
        Cost least = least_;
        bool found = false;
        while (!found && at < order_.size()) {
            const std::uint32_t feature = order_[at];
            const Division& share = shares_[at_share];
            if (++at_share == shares_.size()) {
                at_share = 0;
                ++at;
            }
            SideCosts sides{floors_.without[feature], floors_.with[feature]};
            const bool recalled = recall(feature, share, sides);
            const Cost bound = sides.sum() + penalty_;
            if (bound < cut) {
                found = true;
                feature_ = feature;
                share_ = &share;
                sides_ = sides;
            } else {
                least = std::min(least, bound);
                if (telling == Telling::kAloud && context_.closings.heard()) [[unlikely]]
                    close(feature, share.left_splits, sides, recalled ? Reason::kKnown : Reason::kSplitBound);
            }
        }
        at_ = at;
        at_share_ = at_share;
        least_ = least;
        return found;
    }
    // Calls `use` with each feature that is likely to be tried soon, once.
    template <class Use>
    void look_ahead(Cost cut, const Use& use) {
        constexpr std::size_t kAhead = 4;
        ahead_ = std::max(ahead_, at_);
        for (const std::size_t end = std::min(at_ + kAhead, order_.size()); ahead_ < end; ++ahead_) {
            const std::uint32_t feature = order_[ahead_];
            if (floors_.without[feature] + floors_.with[feature] + penalty_ < cut) use(feature);
        }
    }
    std::uint32_t feature() const { return feature_; }
    const Division& share() const { return *share_; }
    const SideCosts& sides() const { return sides_; }
    // All splits of the node, most promising first.
    const std::vector<std::uint32_t>& order() const { return order_; }

    // A split was tried, and its sides cost at least so much.
    template <Telling telling = Telling::kAloud>
    void tried(std::uint32_t feature, std::int64_t left_splits, const SideCosts& sides) {
        close<telling>(feature, left_splits, sides, Reason::kTried);
    }
    // Whether what is proven for a split bounds the other splits, too. Then `raise` raises what they cost at least.
    bool raises() const { return raises_; }
    void raise(std::uint32_t feature, const SideCosts& sides) {
        if (raises_) nodes_.raise_floors(node_, feature, sides, loss_.slack(1), level_, floors_);
    }
    // The same where the split was tried elsewhere.
    void raise_apart(std::uint32_t feature, const SideCosts& sides) {
        if (raises_) nodes_.raise_floors_apart(node_, feature, sides, loss_.slack(1), both_, floors_);
    }

    // What siblings of the node bound; and what is proven then of its own splits, once they are done.
    void raise_by(const Siblings& siblings) {
        if (raises_) siblings.raise(node_, shape_.depth, loss_, floors_);
    }
    void keep_for(Siblings& siblings) {
        if (raises_) siblings.keep(node_, shape_.depth, std::move(floors_));
    }

    // The least bound of the splits so far.
    Cost least() const { return least_; }

  private:
    void set_floors(Cost cut);
    template <Telling telling = Telling::kAloud>
    void close(std::uint32_t feature, std::int64_t left_splits, const SideCosts& sides, Reason reason) {
        const Cost bound = sides.sum() + penalty_;
        least_ = std::min(least_, bound);
        context_.closings.close<telling>(
            [&] {
                const Feature& split = nodes_.features()[feature];
                return Region{level_, false, split.column, split.rank, split.rank, left_splits, shape_};
            },
            bound, reason);
    }

    Context& context_;
    BitNodes& nodes_;
    const Loss& loss_;
    BitNode& node_;
    Shape shape_;
    std::size_t level_;
    Cost penalty_;
    std::vector<std::uint32_t> order_;
    std::vector<Division> shares_;
    BitNodes::Floors floors_;
    bool costs_are_small_, raises_;
    LineVector<std::int16_t> both_;  // scratch of raise_apart
    std::size_t at_ = 0, at_share_ = 0, ahead_ = 0;
    std::uint32_t feature_ = 0;
    const Division* share_ = nullptr;
    SideCosts sides_;
    Cost least_ = kInfinite;
};

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
    void refine_loss(const Loss& loss, Cost factor) {
        loss_ = loss;
        forget_siblings();
        proven_.keep_bounds(factor);
    }
    // From now on under the loss that was refined, or the same one: what was counted stays, and so do bounds.
    void use(const Loss& loss) {
        const Cost factor = loss_.error_scale / loss.error_scale;
        proven_.coarsen_bounds(factor, loss_.split_penalty - factor * loss.split_penalty);
        loss_ = loss;
        forget_siblings();
    }
    // From now on a sample of the rows is searched: of what is known nothing holds.
    void begin_sample() {
        bottoms_.clear();
        bottoms_.grow_sample();
        proven_.clear();
        forget_siblings();
    }
    // From now on a larger sample is searched: bounds stay, trees do not.
    void grow_sample() {
        bottoms_.grow_sample();
        proven_.keep_bounds(1);
        forget_siblings();
    }

    // Whether whatever costs less than this has no errors.
    bool leaves_no_errors(Cost cost) const { return loss_.split_penalty > 0 && cost <= loss_.leaf(1); }

    // The best tree of a node, or that none costs less than `limit`.
    Proven solve(BitNode& node, Shape shape, Cost limit, std::size_t level);
    // The three steps of it. Shapes are those that the rows of the node allow.
    // The answer, where no split has to be tried.
    template <Telling telling = Telling::kAloud>
    std::optional<Proven> answer_at_hand(BitNode& node, Shape shape, Cost limit, std::size_t level);
    SplitLoop splits_of(BitNode& node, Shape shape, Cost cut, std::size_t level) {
        return {context_, nodes_, loss_, node, shape, level, nodes_.promising_order(node), cut};
    }
    // Keeps and gives what is proven when all splits are tried. `best` is the leaf where no tree is below `limit`.
    template <Telling telling = Telling::kAloud>
    Proven conclude(const BitNode& node, Shape shape, Cost limit, const Incumbent& best, Cost least, std::size_t level);

    // The best tree below `cut` that begins with a split. `sides`: what is known of them, and what is known then.
    Incumbent solve_split(BitNode& node, const Division& share, std::uint32_t feature, SideCosts& sides, Cost cut,
                          std::size_t level);
    // The best tree of the last two levels, or of one.
    Proven solve_bottom(BitNode& node, Shape shape) {
        const Cost cost = cost_of_bottom(nodes_.solve_bottom(node), node.leaf_error(), shape);
        return {cost, cost, plan_of_bottom(cost, node.leaf_error(), shape)};
    }
    // One side of a split, for a search below it.
    template <Telling telling = Telling::kAloud>
    void make_side(BitNode& node, std::uint32_t feature, bool right, std::size_t level, BitNode& child);
    PlanPtr plan_of_split(std::uint32_t feature, const PlanPtr& left, const PlanPtr& right) const {
        return split_plan(nodes_.features()[feature].column, nodes_.features()[feature].rank, left, right);
    }
    // Closes all splits of a node.
    template <Telling telling = Telling::kAloud>
    void close_node(std::size_t level, Shape shape, Cost bound, Reason reason) {
        context_.closings.close<telling>([&] { return Region::all_splits(level, shape); }, bound, reason);
    }

  private:
    template <Telling telling>
    Proven solve_as(BitNode& node, Shape shape, Cost limit, std::size_t level);
    template <Telling telling>
    Incumbent solve_split_as(BitNode& node, const Division& share, std::uint32_t feature, SideCosts& sides, Cost cut,
                             std::size_t level);
    struct BottomSide;
    void forget_siblings() {
        for (Siblings& of_level : siblings_) of_level.clear();
    }
    Cost cost_of_bottom(const ErrorsOfTwo& errors, Weight leaf_error, Shape shape) const;
    PlanPtr plan_of_bottom(Cost cost, Weight leaf_error, Shape shape) const;
    void look_up(BottomSide& side, Cost& floor);
    template <Telling telling>
    Incumbent solve_pair_of_bottoms(BitNode& node, const Division& share, std::uint32_t feature, SideCosts& sides,
                                    Cost cut, std::size_t level);
    template <Telling telling>
    Incumbent solve_children(BitNode& node, const Division& share, std::uint32_t feature, SideCosts& known, Cost cut,
                             std::size_t level);
    template <Telling telling>
    void descend(std::size_t level, std::uint32_t feature, bool right) {
        context_.closings.descend<telling>(level,
                                           {nodes_.features()[feature].column, nodes_.features()[feature].rank, right});
    }

    Context& context_;
    Loss loss_;
    BitNodes nodes_;
    Bottoms bottoms_;
    ProvenSets proven_;
    std::vector<Siblings> siblings_;  // by level
    const PlanPtr bottom_plans_[4];   // by splits; small plans that many trees share
};

}  // namespace provetree
