// The splits of a node; see bits/split_loop.hpp.
#include "bits/split_loop.hpp"

#include "bits/proven_sets.hpp"

namespace provetree {

SplitLoop::SplitLoop(Context& context, BitNodes& nodes, const Loss& loss, BitNode& node, Shape shape, std::size_t level,
                     std::vector<std::uint32_t> order, Cost cut)
    : context_(context),
      nodes_(nodes),
      loss_(loss),
      node_(node),
      shape_(shape),
      level_(level),
      penalty_(loss.split_penalty),
      order_(std::move(order)),
      shares_(divisions(shape)),
      floors_(nodes.no_floors(node)),
      costs_are_small_(loss.tree(BitNodes::kMostRows, Shape::full(ProvenSets::kMostDepth)) < INT32_MAX / 4),
      raises_(costs_are_small_ && nodes.any_leaf_size() && shares_.size() == 1) {
    set_floors(cut);
}

// What both sides of each split cost at least, from the splits that they need to have no errors: none where they are
// pure, one where a stump is right everywhere, two otherwise. Worth its price only where errors cost more than is left.
void SplitLoop::set_floors(Cost cut) {
    if (cut > 5 * penalty_ || !costs_are_small_) return;
    bool open = false;
    const auto set = [&](std::uint32_t f, Cost left, Cost right) {
        floors_.without[f] = static_cast<std::int32_t>(left);
        floors_.with[f] = static_cast<std::int32_t>(right);
        open = open || left + right + penalty_ < cut;
    };
    for (std::uint32_t f : order_) {
        const SplitErrors leaves = nodes_.split_errors(node_, f);
        set(f, std::min(loss_.leaf(leaves.left), penalty_), std::min(loss_.leaf(leaves.right), penalty_));
    }
    if (!open) return;
    nodes_.solve_bottom(node_);
    const BitStumps stumps = nodes_.stumps();
    const auto floor = [&](Weight leaf_error, Weight stump_error) {
        return std::min({loss_.leaf(leaf_error), loss_.stump(stump_error), loss_.tree(0, 2)});
    };
    for (std::uint32_t f : order_) {
        const SplitErrors leaves = nodes_.split_errors(node_, f);
        set(f, floor(leaves.left, leaves.size_left - stumps.without[f]),
            floor(leaves.right, leaves.size_right - stumps.with[f]));
    }
}

}  // namespace provetree
