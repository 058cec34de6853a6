// Working plans out; see sweeps/finisher.hpp.
#include "sweeps/finisher.hpp"

#include <algorithm>

#include "sweeps/depth_one.hpp"

namespace provetree {

namespace {

struct Finisher {
    Context& context;
    NodeBuilder& builder;
    Levels& levels;
    const Loss& loss;
    FlatTree tree{};
    Cost amount = 0;  // errors or units of the leaves, and prices of columns

    std::int32_t add(const Node& node, const Plan* plan, std::size_t level);
    std::int32_t add_known(const Node& node, const Plan* plan, std::size_t level);
    std::int32_t add_leaf(const Node& node) {
        amount += node.leaf_amount();
        return tree.add_leaf(node.label());
    }
    std::int32_t add_stump(const Node& node, const FoundSplit& split, std::size_t level);
};

// Whether nothing of a plan is left to be worked out.
bool is_known(const Plan* plan) {
    if (!plan) return true;
    return !plan->stump && plan->bottom_splits == 0 && plan->label < 0 && is_known(plan->left.get()) &&
           is_known(plan->right.get());
}

bool is_stump(const PlanPtr& plan) { return plan && plan->stump; }

// The leaves of a node, or its stump, which was found before.
std::int32_t Finisher::add_stump(const Node& node, const FoundSplit& split, std::size_t level) {
    if (!split.found) return add_leaf(node);
    const std::int32_t number = tree.add_leaf(node.label());
    tree.make_split(number, split.column, split.rank, split.next);
    Levels::Children& kids = levels.at(level);
    builder.split_rows(node, split.column, split.rank, kids.left, kids.right);
    const std::int32_t left = add_leaf(kids.left), right = add_leaf(kids.right);
    tree.set_children(number, left, right);
    return number;
}

// Under a measure, all splits are known: columns need not be in order.
std::int32_t Finisher::add_known(const Node& node, const Plan* plan, std::size_t level) {
    const std::int32_t number = tree.add_leaf(node.label());
    const Table& table = context.table;
    Index low = 0, next = 0;
    std::size_t below = 0;
    for (Index i = 0; plan && i < node.rows; ++i) {
        const Index rank = table.ranks[std::size_t{plan->column} * table.rows + node.ids[i]];
        const bool is_below = rank <= plan->rank;
        if (is_below) low = std::max(low, rank);
        if (!is_below) next = next ? std::min(next, rank) : rank;
        below += is_below;
    }
    if (below == 0 || below == node.rows) {
        amount += node.leaf_amount();
        return number;
    }
    tree.make_split(number, plan->column, low, next);
    Levels::Children& kids = levels.at(level);
    builder.split_rows(node, plan->column, plan->rank, kids.left, kids.right);
    const std::int32_t left = add_known(kids.left, plan->left.get(), level + 1),
                       right = add_known(kids.right, plan->right.get(), level + 1);
    tree.set_children(number, left, right);
    return number;
}

std::int32_t Finisher::add(const Node& node, const Plan* plan, std::size_t level) {
    const std::int32_t number = tree.add_leaf(node.label());
    const NodeColumn* column = nullptr;
    Index position = 0;
    if (plan && plan->label >= 0) {
        tree.label.back() = plan->label;
        amount += node.weight - node.by_class[static_cast<std::size_t>(plan->label)];
        return number;
    }
    if (plan && plan->stump) {
        const Stump stump = best_stump(context, node, loss, true);
        column = stump.column;
        position = stump.position;
    } else if (plan) {
        column = find_column(node, plan->column);
        if (column) position = Node::rows_up_to(*column, plan->rank, 0, node.rows);
    }
    if (!column || position == 0 || position == node.rows) {
        amount += node.leaf_amount();
        return number;
    }
    tree.make_split(number, column->id, column->ranks[position - 1], column->ranks[position]);
    if (context.rules) amount += context.rules->price(column->id, node.paid);
    Levels::Children& kids = levels.at(level);
    const bool known = !plan->stump;
    const auto at_most_stump = [](const PlanPtr& below) { return !below || below->stump; };
    if (known && (plan->left || plan->right) && at_most_stump(plan->left) && at_most_stump(plan->right) &&
        finds_stumps_of_sides(node)) {
        const auto found =
            best_stumps_of_sides(context, builder, node, *column, position,
                                 {is_stump(plan->left), is_stump(plan->right)}, loss, kids.left, kids.right);
        const std::int32_t left = add_stump(kids.left, found[0], level + 1),
                           right = add_stump(kids.right, found[1], level + 1);
        tree.set_children(number, left, right);
        return number;
    }
    if (known && (plan->left || plan->right))
        builder.split(node, *column, position, kids.left, kids.right);
    else
        builder.split_rows(node, *column, position, kids.left, kids.right);
    const std::int32_t left = add(kids.left, known ? plan->left.get() : nullptr, level + 1);
    const std::int32_t right = add(kids.right, known ? plan->right.get() : nullptr, level + 1);
    tree.set_children(number, left, right);
    return number;
}

}  // namespace

FlatTree finish_plan(Context& context, NodeBuilder& builder, Levels& levels, const Node& root, const PlanPtr& plan,
                     const Loss& loss) {
    Finisher finisher{context, builder, levels, loss};
    if (root.measure && !context.rules && is_known(plan.get()))
        finisher.add_known(root, plan.get(), 0);
    else
        finisher.add(root, plan.get(), 0);
    finisher.tree.cost = loss.tree(finisher.amount, finisher.tree.splits);
    return std::move(finisher.tree);
}

}  // namespace provetree
