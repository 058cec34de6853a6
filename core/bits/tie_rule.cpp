// The tie rule of the bit search; see bits/tie_rule.hpp.
#include "bits/tie_rule.hpp"

#include <algorithm>
#include <stdexcept>

namespace provetree {

std::vector<BitTieRule::Split> BitTieRule::splits(const BitNode& node) const {
    std::vector<Split> splits;
    splits.reserve(features_.size());
    const auto same_column = [&](std::size_t f, std::size_t g) {
        return g < features_.size() && features_[g].column == features_[f].column;
    };
    for (std::size_t f = 0; f < features_.size();) {
        const SplitErrors sides = nodes_.split_errors(node, static_cast<std::uint32_t>(f));
        std::size_t next = f + 1;
        while (same_column(f, next) &&
               nodes_.split_errors(node, static_cast<std::uint32_t>(next)).size_right == sides.size_right)
            ++next;
        if (nodes_.allowed(sides)) {
            const Index low = features_[f].rank,
                        high = same_column(f, next) ? features_[next].rank : features_[next - 1].rank + 1;
            const double* values = recursion_.context().table.values[features_[f].column];
            const double gap = values[high] - values[low];
            splits.push_back({static_cast<std::uint32_t>(f), low, high, gap == gap ? gap : 0.0});
        }
        f = next;
    }
    std::sort(splits.begin(), splits.end(), [&](const Split& a, const Split& b) {
        const Index left = features_[a.feature].column, right = features_[b.feature].column;
        if (left != right) return left < right;
        return a.margin != b.margin ? a.margin > b.margin : a.feature < b.feature;
    });
    return splits;
}

PlanPtr BitTieRule::best_stump(const BitNode& node) const {
    const Loss& loss = recursion_.loss();
    Incumbent best{loss.leaf(node.leaf_error()), nullptr, 0};
    for (const Split& split : splits(node)) {
        const SplitErrors leaves = nodes_.split_errors(node, split.feature);
        const Cost cost = loss.stump(leaves.left + leaves.right);
        if (cost < best.upper) best = {cost, split_plan(features_[split.feature].column, split.rank_low, {}, {}), 0};
    }
    return best.plan;
}

PlanPtr BitTieRule::best_bottom(BitNode& node, std::int64_t most_splits) {
    nodes_.solve_bottom(node);  // leaves the best stumps below every feature
    const BitStumps stumps = nodes_.stumps();
    const Loss& loss = recursion_.loss();
    Incumbent best{loss.leaf(node.leaf_error()), nullptr, 0};
    for (const Split& split : splits(node)) {
        const std::uint32_t f = split.feature;
        const SplitErrors leaves = nodes_.split_errors(node, f);
        const Cost leaf_left = loss.leaf(leaves.left), leaf_right = loss.leaf(leaves.right);
        const Cost stump_left = std::min(leaf_left, loss.stump(leaves.size_left - stumps.without[f]));
        const Cost stump_right = std::min(leaf_right, loss.stump(leaves.size_right - stumps.with[f]));
        const auto consider = [&](Cost left, Cost right) {
            const Cost cost = left + right + loss.split_penalty;
            if (cost >= best.upper) return;
            best = {cost,
                    split_plan(features_[f].column, split.rank_low, left < leaf_left ? stump_plan() : nullptr,
                               right < leaf_right ? stump_plan() : nullptr),
                    0};
        };
        if (most_splits >= 3) {
            consider(stump_left, stump_right);
        } else {
            consider(leaf_left, stump_right);  // the tie rule wants the fewest splits on the left
            consider(stump_left, leaf_right);
        }
    }
    return best.plan;
}

PlanPtr BitTieRule::choose(BitNode& node, Shape shape, Cost cost, std::size_t level) {
    const Loss& loss = recursion_.loss();
    shape = shape.on(static_cast<Index>(node.size()));
    if (loss.leaf(node.leaf_error()) <= cost || shape.depth == 0) return nullptr;
    if (shape.depth == 1) return stump_plan();
    if (shape.depth == 2) return bottom_plan(static_cast<int>(shape.splits));
    std::vector<std::uint32_t> order;
    for (const Split& split : splits(node)) order.push_back(split.feature);
    SplitLoop loop(recursion_.context(), nodes_, loss, node, shape, level, std::move(order), cost + 1);
    while (loop.next(cost + 1)) {
        const std::uint32_t feature = loop.feature();
        const Division& share = loop.share();
        SideCosts sides = loop.sides();
        const Incumbent found = recursion_.solve_split(node, share, feature, sides, cost + 1, level);
        if (found.upper != cost) {
            loop.raise(feature, sides);
            loop.tried(feature, share.left_splits, sides);
            continue;
        }
        recursion_.close_node(level, shape, cost, Reason::kTieRule);
        if (shape.depth == 3) return found.plan;
        PlanPtr plans[2];
        for (int side = 0; side < 2; ++side) {
            BitNode& child = nodes_.child_at(level, side == 1);
            recursion_.make_side(node, feature, side == 1, level, child);
            const Shape below = side ? share.right : share.left;
            plans[side] = choose(child, below, recursion_.solve(child, below, kInfinite, level + 1).upper, level + 1);
        }
        return recursion_.plan_of_split(feature, plans[0], plans[1]);
    }
    throw std::logic_error("provetree core: no split has the cost that was proven; please report this.");
}

FlatTree BitTieRule::finish(BitNode& node, const PlanPtr& plan, std::size_t level) {
    FlatTree tree;
    Cost errors = 0;
    add(node, plan, level, tree, errors);
    tree.cost = recursion_.loss().tree(errors, tree.splits);
    return tree;
}

// The split of a plan as the rows of the node know it; none where it does not divide them.
std::optional<BitTieRule::Split> BitTieRule::split_of(const BitNode& node, const Plan& plan) const {
    for (const Split& split : splits(node))
        if (features_[split.feature].column == plan.column && split.rank_low <= plan.rank &&
            plan.rank < split.rank_high)
            return split;
    return std::nullopt;
}

std::int32_t BitTieRule::add(BitNode& node, PlanPtr plan, std::size_t level, FlatTree& tree, Cost& errors) {
    const std::int32_t number =
        tree.add_leaf(static_cast<std::int32_t>(std::max_element(node.all.begin(), node.all.end()) - node.all.begin()));
    if (plan && plan->stump)
        plan = best_stump(node);
    else if (plan && plan->bottom_splits > 0)
        plan = best_bottom(node, plan->bottom_splits);
    const std::optional<Split> split = plan ? split_of(node, *plan) : std::nullopt;
    if (!split) {
        errors += node.leaf_error();
        return number;
    }
    tree.make_split(number, plan->column, split->rank_low, split->rank_high);
    std::int32_t numbers[2];
    for (int side = 0; side < 2; ++side) {
        BitNode& child = nodes_.child_at(level, side == 1);
        nodes_.make_child(node, split->feature, side == 1, child);
        numbers[side] = add(child, side ? plan->right : plan->left, level + 1, tree, errors);
    }
    tree.set_children(number, numbers[0], numbers[1]);
    return number;
}

}  // namespace provetree
