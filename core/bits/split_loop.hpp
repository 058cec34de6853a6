// The splits of a node in the order in which they are tried, with what each costs at least. The recursion, the root and
// the tie rule go through the splits of a node by this loop.
#pragma once

#include <utility>
#include <vector>

#include "bits/bit_node.hpp"
#include "loss/loss.hpp"
#include "run/context.hpp"
#include "tree/plan.hpp"

namespace provetree {

class SplitLoop {
  public:
    // Trees below `cut` are looked for; it may fall later.
    SplitLoop(Context& context, BitNodes& nodes, const Loss& loss, BitNode& node, Shape shape, std::size_t level,
              std::vector<std::uint32_t> order, Cost cut);

    // Goes to the next split that may cost less than `cut`; those passed over are closed. False: there is none.
    bool next(Cost cut) {
        return next(cut, [](std::uint32_t, const Division&, SideCosts&) { return false; });
    }
    // `recall` raises what the sides of a split cost at least by what is known from elsewhere; says whether it did.
    template <class Recall>
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
                if (context_.closings.heard()) [[unlikely]]
                    close(feature, share.left_splits, sides, recalled ? Reason::kKnown : Reason::kSplitBound);
            }
        }
        at_ = at;
        at_share_ = at_share;
        least_ = least;
        return found;
    }
    std::uint32_t feature() const { return feature_; }
    const Division& share() const { return *share_; }
    const SideCosts& sides() const { return sides_; }

    // A split was tried, and its sides cost at least so much.
    void tried(std::uint32_t feature, std::int64_t left_splits, const SideCosts& sides) {
        close(feature, left_splits, sides, Reason::kTried);
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

    // The least bound of the splits so far.
    Cost least() const { return least_; }

  private:
    void set_floors(Cost cut);
    void close(std::uint32_t feature, std::int64_t left_splits, const SideCosts& sides, Reason reason) {
        const Cost bound = sides.sum() + penalty_;
        least_ = std::min(least_, bound);
        context_.closings.close(
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
    std::size_t at_ = 0, at_share_ = 0;
    std::uint32_t feature_ = 0;
    const Division* share_ = nullptr;
    SideCosts sides_;
    Cost least_ = kInfinite;
};

}  // namespace provetree
