// Working plans out; see sweeps/finisher.hpp.
#include "sweeps/finisher.hpp"

#include "sweeps/depth_one.hpp"

namespace provetree {

FlatTree Finisher::finish(const Node& root, const PlanPtr& plan, const Loss& loss) {
    tree_ = {};
    errors_ = 0;
    loss_ = loss;
    add(root, plan.get(), 0);
    tree_.cost = loss.tree(errors_, tree_.splits);
    return std::move(tree_);
}

std::int32_t Finisher::add(const Node& node, const Plan* plan, std::size_t level) {
    const std::int32_t number = tree_.add_leaf(node.majority());
    const NodeColumn* column = nullptr;
    Index position = 0;
    if (plan && plan->stump) {
        const Stump stump = best_stump(context_, node, loss_, true);
        column = stump.column;
        position = stump.position;
    } else if (plan) {
        column = find_column(node, plan->column);
        if (column) position = Node::rows_up_to(*column, plan->rank, 0, node.rows);
    }
    if (!column || position == 0 || position == node.rows) {
        errors_ += node.leaf_error();
        return number;
    }
    tree_.make_split(number, column->id, column->ranks[position - 1], column->ranks[position]);
    Levels::Children& kids = levels_.at(level);
    builder_.split(node, *column, position, kids.left, kids.right);
    const bool known = !plan->stump;
    const std::int32_t left = add(kids.left, known ? plan->left.get() : nullptr, level + 1);
    const std::int32_t right = add(kids.right, known ? plan->right.get() : nullptr, level + 1);
    tree_.set_children(number, left, right);
    return number;
}

}  // namespace provetree
