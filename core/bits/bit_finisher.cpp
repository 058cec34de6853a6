// Working plans of the bit search out; see bits/bit_finisher.hpp.
#include "bits/bit_finisher.hpp"

#include <algorithm>

namespace provetree {

FlatTree BitFinisher::finish(BitNode& node, const PlanPtr& plan, std::size_t level) {
    tree_ = {};
    errors_ = 0;
    add(node, plan, level);
    tree_.cost = recursion_.loss().tree(errors_, tree_.splits);
    return std::move(tree_);
}

// The split of a plan as the rows of the node know it; none where it does not divide them.
std::optional<BitTieRule::Split> BitFinisher::split_of(const BitNode& node, const Plan& plan) const {
    for (const BitTieRule::Split& split : tie_rule_.splits(node))
        if (nodes_.features()[split.feature].column == plan.column && split.rank_low <= plan.rank &&
            plan.rank < split.rank_high)
            return split;
    return std::nullopt;
}

std::int32_t BitFinisher::add(BitNode& node, PlanPtr plan, std::size_t level) {
    const std::int32_t number = static_cast<std::int32_t>(tree_.column.size());
    for (auto* field : {&tree_.column, &tree_.rank_low, &tree_.rank_high, &tree_.left, &tree_.right})
        field->push_back(-1);
    tree_.label.push_back(
        static_cast<std::int32_t>(std::max_element(node.all.begin(), node.all.end()) - node.all.begin()));
    if (plan && plan->stump)
        plan = tie_rule_.best_stump(node);
    else if (plan && plan->bottom_splits > 0)
        plan = tie_rule_.best_bottom(node, plan->bottom_splits);
    const std::optional<BitTieRule::Split> split = plan ? split_of(node, *plan) : std::nullopt;
    if (!split) {
        errors_ += node.leaf_error();
        return number;
    }
    const std::size_t at = static_cast<std::size_t>(number);
    tree_.column[at] = static_cast<std::int32_t>(plan->column);
    tree_.rank_low[at] = static_cast<std::int32_t>(split->rank_low);
    tree_.rank_high[at] = static_cast<std::int32_t>(split->rank_high);
    ++tree_.splits;
    std::int32_t numbers[2];
    for (int side = 0; side < 2; ++side) {
        BitNode& child = nodes_.child_at(level, side == 1);
        nodes_.make_child(node, split->feature, side == 1, child);
        numbers[side] = add(child, side ? plan->right : plan->left, level + 1);
    }
    tree_.left[at] = numbers[0];
    tree_.right[at] = numbers[1];
    return number;
}

}  // namespace provetree
