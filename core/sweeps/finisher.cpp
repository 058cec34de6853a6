// Working plans out; see sweeps/finisher.hpp.
#include "sweeps/finisher.hpp"

#include "sweeps/depth_one.hpp"

namespace provetree {

FlatTree Finisher::finish(const Node& root, const PlanPtr& plan, const Loss& loss) {
    tree_ = {};
    errors_ = 0;
    loss_ = loss;
    add(root, plan.get(), 0);
    tree_.cost = loss.error_scale * errors_ + loss.split_penalty * tree_.splits;
    return std::move(tree_);
}

std::int32_t Finisher::add(const Node& node, const Plan* plan, std::size_t level) {
    const std::int32_t number = static_cast<std::int32_t>(tree_.column.size());
    for (auto* field : {&tree_.column, &tree_.rank_low, &tree_.rank_high, &tree_.left, &tree_.right})
        field->push_back(-1);
    tree_.label.push_back(node.majority());
    const NodeColumn* column = nullptr;
    Index position = 0;
    if (plan && plan->stump) {
        const Stump stump = best_stump(context_, node, loss_, true);
        column = stump.column;
        position = stump.position;
    } else if (plan) {
        for (const NodeColumn& one : node.columns)
            if (one.id == plan->column) column = &one;
        if (column) position = Node::rows_up_to(*column, plan->rank, 0, node.rows);
    }
    if (!column || position == 0 || position == node.rows) {
        errors_ += node.leaf_error();
        return number;
    }
    const std::size_t at = static_cast<std::size_t>(number);
    tree_.column[at] = static_cast<std::int32_t>(column->id);
    tree_.rank_low[at] = static_cast<std::int32_t>(column->ranks[position - 1]);
    tree_.rank_high[at] = static_cast<std::int32_t>(column->ranks[position]);
    ++tree_.splits;
    Levels::Children& kids = levels_.at(level);
    builder_.split(node, *column, position, kids.left, kids.right);
    const bool known = !plan->stump;
    const std::int32_t left = add(kids.left, known ? plan->left.get() : nullptr, level + 1);
    const std::int32_t right = add(kids.right, known ? plan->right.get() : nullptr, level + 1);
    tree_.left[at] = left;
    tree_.right[at] = right;
    return number;
}

}  // namespace provetree
