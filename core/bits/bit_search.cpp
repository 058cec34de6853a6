// Branch and bound on binary features; see bits/bit_search.hpp.
#include "bits/bit_search.hpp"

#include <algorithm>
#include <stdexcept>

namespace provetree {

namespace {

constexpr std::size_t kMostFeatures = 640;
constexpr std::size_t kMostPerColumn = 12;  // thresholds, on average: beyond it a sweep answers more of them at once
constexpr Weight kMostRows = 32767;         // counts are 16-bit
constexpr int kMostDepth = 6;               // deeper, few sets are met twice

}  // namespace

bool BitSearch::fits(const Table& table, int max_depth, unsigned switches) {
    if ((switches & kNoBits) || max_depth < 3 || max_depth > kMostDepth || table.n_classes > kMostBitClasses)
        return false;
    std::int64_t total = 0;
    for (Index i = 0; i < table.rows && total <= kMostRows; ++i) {
        if (table.weights[i] != table.counts[i]) return false;
        total += table.weights[i];
    }
    if (total > kMostRows) return false;
    std::size_t features = 0;
    for (Index top : table.tops) features += top;
    return features <= std::min(kMostFeatures, kMostPerColumn * table.columns);
}

BitSearch::BitSearch(Context& context, const BitKernel& kernel, const Loss& loss)
    : context_(context),
      loss_(loss),
      nodes_(context, kernel),
      features_(nodes_.features()),
      of_two_(context.memory_limit / 2) {
    set_loss(loss);
    for (int depth = 0; depth <= kMostDepth; ++depth) proven_.emplace_back(context.memory_limit / 16);
}

Cost BitSearch::leaf_cost() const {
    const BitNode& root = nodes_.root();
    return root.size() < context_.min_leaf ? kInfinite : loss_.error_scale * root.leaf_error();
}

void BitSearch::set_loss(const Loss& loss) {
    loss_ = loss;
    costs_are_small_ = loss.error_scale * kMostRows + loss.split_penalty * Shape::full(kMostDepth) < INT32_MAX / 4;
}

void BitSearch::refine_loss(const Loss& loss, Cost factor) {
    set_loss(loss);
    context_.checkpoint = nullptr;  // is for the cost alone
    root_sides_.clear();
    for (auto& proven : proven_) proven.for_each([&](Proven& one) { one = {one.lower * factor, kInfinite, nullptr}; });
}

Cost BitSearch::cost_of_bottom(const ErrorsOfTwo& errors, Weight leaf_error, Shape shape) const {
    Cost cost = loss_.error_scale * leaf_error;
    for (std::int64_t k = 1; k <= std::min<std::int64_t>(shape.splits, 3); ++k)
        cost = std::min(cost, loss_.error_scale * errors.by_splits[k - 1] + loss_.split_penalty * k);
    return cost;
}

// What both sides of each split cost at least, from the splits that they need to have no errors: none where they are
// pure, one where a stump is right everywhere, two otherwise. Worth its price only where errors cost more than is left.
BitNodes::Floors BitSearch::floors_of(BitNode& node, const std::vector<std::uint32_t>& order, Cost cut) {
    const Cost penalty = loss_.split_penalty, scale = loss_.error_scale;
    BitNodes::Floors floors = nodes_.no_floors(node);
    if (cut > 5 * penalty || !costs_are_small_) return floors;
    bool open = false;
    const auto set = [&](std::uint32_t f, Cost left, Cost right) {
        floors.without[f] = static_cast<std::int32_t>(left);
        floors.with[f] = static_cast<std::int32_t>(right);
        open = open || left + right + penalty < cut;
    };
    for (std::uint32_t f : order) {
        const SplitErrors leaves = nodes_.split_errors(node, f);
        set(f, std::min(scale * leaves.left, penalty), std::min(scale * leaves.right, penalty));
    }
    if (!open) return floors;
    nodes_.solve_bottom(node);
    const BitStumps stumps = nodes_.stumps();
    const auto floor = [&](Weight leaf_error, Weight stump_error) {
        return std::min({scale * leaf_error, penalty + scale * stump_error, 2 * penalty});
    };
    for (std::uint32_t f : order) {
        const SplitErrors leaves = nodes_.split_errors(node, f);
        set(f, floor(leaves.left, leaves.size_left - stumps.without[f]),
            floor(leaves.right, leaves.size_right - stumps.with[f]));
    }
    return floors;
}

BitSearch::Proven BitSearch::solve(BitNode& node, Shape shape, Cost limit, std::size_t level) {
    shape = shape.on(static_cast<Index>(node.size()));
    Proven best;
    best.lower = best.upper = loss_.error_scale * node.leaf_error();
    if (shape.depth == 0 || best.upper <= loss_.split_penalty) return best;
    if (limit <= 0) {
        best.lower = 0;
        return best;
    }
    if (shape.depth <= 2) {
        const Cost cost = cost_of_bottom(nodes_.solve_bottom(node), node.leaf_error(), shape);
        if (cost < best.upper)
            best = {cost, cost, shape.depth == 1 ? stump_plan() : bottom_plan(static_cast<int>(shape.splits))};
        return best;
    }
    const std::size_t depth = static_cast<std::size_t>(shape.depth);
    if (const Proven* known = proven_[depth].find({node.conditions, shape.splits}))
        if (known->lower >= limit || known->lower >= known->upper) return *known;
    Cost least = best.upper;  // the least bound of what was tried, where nothing was found
    const Cost leaf = best.upper;
    bool found = false;
    const std::vector<Division> shares = divisions(shape);
    const std::vector<std::uint32_t> order = nodes_.promising_order(node);
    BitNodes::Floors floors = floors_of(node, order, std::min(limit, leaf));
    const bool raise = splits_bound_each_other(shares), is_root = &node == &nodes_.root() && listener_;
    for (std::uint32_t feature : order) {
        for (const Division& share : shares) {
            const Cost cut = std::min(limit, best.upper);
            Sides sides{floors.without[feature], floors.with[feature]};
            if (is_root) recall(feature, share, sides);
            const Cost floor = sides.left + sides.right + loss_.split_penalty;
            if (floor >= cut) {
                least = std::min(least, floor);
                continue;
            }
            const Proven tried = solve_split(node, share, feature, sides, cut, level);
            if (raise && sides.left + sides.right > 0)
                nodes_.raise_floors(node, feature, sides.left, sides.right, loss_.error_scale, level, floors);
            least = std::min(least, tried.lower);
            if (tried.upper < best.upper) {
                best.upper = tried.upper;
                best.plan = tried.plan;
                found = found || tried.upper < limit;
                if (&node == &nodes_.root()) {
                    if (best.upper < root_best_.upper) root_best_ = best;
                    if (listener_ && *listener_) (*listener_)(best.upper, 0);
                    if (listener_ && leaves_no_errors(best.upper)) return best;  // the rest is done by fewest_splits
                }
            }
            if (is_root) {
                note(feature, share, sides);
                keep_if_due(best);
            }
        }
    }
    best.lower = found || leaf < limit ? best.upper : std::min(least, best.upper);
    Proven& kept = proven_[depth].at({node.conditions, shape.splits});
    kept = best;
    return best;
}

BitSearch::Proven BitSearch::solve_split(BitNode& node, const Division& share, std::uint32_t feature, Sides& sides,
                                         Cost cut, std::size_t level) {
    const bool above_bottoms = std::max(share.left.depth, share.right.depth) <= 2;
    return above_bottoms ? solve_pair_of_bottoms(node, share, feature, sides, cut, level)
                         : solve_children(node, share, feature, sides, cut, level);
}

BitSearch::Proven BitSearch::solve_pair_of_bottoms(BitNode& node, const Division& share, std::uint32_t feature,
                                                   Sides& sides, Cost cut, std::size_t level) {
    const ConditionSet left_key = node.conditions.with(2 * feature), right_key = node.conditions.with(2 * feature + 1);
    const auto [leaf_left, leaf_right, size_left, size_right] = nodes_.split_errors(node, feature);
    const Cost penalty = loss_.split_penalty;
    const Shape shape_left = share.left.on(static_cast<Index>(size_left)),
                shape_right = share.right.on(static_cast<Index>(size_right));
    ErrorsOfTwo of_left{{0, 0, 0}}, of_right{{0, 0, 0}};
    // Whether a side is known. What was counted on a smaller sample is a bound only. Sides that are pure need no
    // counting.
    const auto look_up = [&](const ConditionSet& key, Weight leaf_error, Shape shape, ErrorsOfTwo& errors,
                             Cost& floor) {
        Bottom known{};
        const bool found = of_two_.find(key, known);
        if (!found && leaf_error > 0) return false;
        if (found) errors = known.errors;
        const Cost cost = cost_of_bottom(errors, leaf_error, shape);
        if (found && known.sample != sample_ && leaf_error > 0) {
            floor = std::max(floor, cost);
            return false;
        }
        floor = cost;
        return true;
    };
    const bool known_left = look_up(left_key, leaf_left, shape_left, of_left, sides.left);
    const bool known_right = look_up(right_key, leaf_right, shape_right, of_right, sides.right);
    if (sides.left + sides.right + penalty >= cut) return {sides.left + sides.right + penalty, kInfinite, nullptr};
    if (!known_left || !known_right) {
        nodes_.solve_bottoms(node, feature, !known_left, !known_right, level, of_left, of_right);
        if (!known_left) of_two_.put(left_key, {of_left, sample_});
        if (!known_right) of_two_.put(right_key, {of_right, sample_});
    }
    const Cost left = cost_of_bottom(of_left, leaf_left, shape_left),
               right = cost_of_bottom(of_right, leaf_right, shape_right);
    sides = {left, right};
    const Cost total = left + right + penalty;
    if (total >= cut) return {total, kInfinite, nullptr};
    const auto plan = [&](Cost cost, Weight leaf_error, Shape shape) {
        if (cost >= loss_.error_scale * leaf_error) return PlanPtr();
        return shape.depth == 1 ? stump_plan() : bottom_plan(static_cast<int>(shape.splits));
    };
    return {total, total,
            split_plan(features_[feature].column, features_[feature].rank, plan(left, leaf_left, shape_left),
                       plan(right, leaf_right, shape_right))};
}

BitSearch::Proven BitSearch::solve_children(BitNode& node, const Division& share, std::uint32_t feature, Sides& known,
                                            Cost cut, std::size_t level) {
    const ConditionSet keys[2] = {node.conditions.with(2 * feature), node.conditions.with(2 * feature + 1)};
    const Shape shapes[2] = {share.left, share.right};
    const SplitErrors leaves = nodes_.split_errors(node, feature);
    const Weight sizes[2] = {leaves.size_left, leaves.size_right};
    Proven sides[2];
    sides[0].lower = known.left;
    sides[1].lower = known.right;
    const auto look_up = [&](int side) {
        const Shape shape = shapes[side].on(static_cast<Index>(sizes[side]));
        if (shape.depth < 3) return;
        const Proven* before = proven_[static_cast<std::size_t>(shape.depth)].find({keys[side], shape.splits});
        if (before && before->lower >= sides[side].lower) sides[side] = *before;
    };
    look_up(0);
    look_up(1);
    const Cost penalty = loss_.split_penalty;
    // The larger side first: its bound is the likelier to settle the split alone.
    const int order[2] = {sizes[1] > sizes[0] ? 1 : 0, sizes[1] > sizes[0] ? 0 : 1};
    for (int side : order) {
        if (sides[0].lower + sides[1].lower + penalty >= cut) break;
        if (sides[side].lower >= sides[side].upper) continue;
        BitNode& child = nodes_.child_at(level, side == 1);
        nodes_.make_child(node, feature, side == 1, child);
        child.conditions = keys[side];
        ++context_.counters.nodes;
        sides[side] = solve(child, shapes[side], cut - penalty - sides[1 - side].lower, level + 1);
    }
    known = {sides[0].lower, sides[1].lower};
    Proven result;
    result.lower = sides[0].lower + sides[1].lower + penalty;
    if (sides[0].upper < kInfinite && sides[1].upper < kInfinite) {
        result.upper = sides[0].upper + sides[1].upper + penalty;
        if (result.upper < cut)
            result.plan = split_plan(features_[feature].column, features_[feature].rank, sides[0].plan, sides[1].plan);
        if (!result.plan) result.upper = kInfinite;
    }
    return result;
}

Outcome BitSearch::solve_root(Shape shape, const Outcome& start, const Listener& listener,
                              std::unique_ptr<StopSearch>& stopped) {
    Outcome outcome = start;
    Cost least = 0;
    root_best_ = {0, start.upper, start.plan};
    listener_ = &listener;
    keep_proof(listener ? &listener : nullptr);
    try {
        if (!leaves_no_errors(outcome.upper)) {
            // Only what costs less is looked for.
            const Proven proven = worth_a_crew(shape) ? solve_together(shape, outcome.upper)
                                                      : solve(nodes_.root(), shape, outcome.upper, 0);
            if (proven.upper < outcome.upper) {
                outcome.upper = proven.upper;
                outcome.plan = proven.plan;
            }
        }
        if (leaves_no_errors(outcome.upper)) {
            root_best_ = {0, outcome.upper, outcome.plan};
            listener_ = nullptr;
            keep_proof(nullptr);  // from here on, what is proven holds for samples of the rows
            fewest_splits(shape, outcome, least);
        }
        outcome.lower = outcome.relaxed = outcome.upper;
        if (listener) listener(outcome.upper, outcome.lower);
    } catch (const StopSearch& stop) {
        stopped = std::make_unique<StopSearch>(stop);
        if (root_best_.upper < outcome.upper) {
            outcome.upper = root_best_.upper;
            outcome.plan = root_best_.plan;
        }
        outcome.lower = outcome.relaxed = least;
        if (context_.checkpoint) save({0, outcome.upper, outcome.plan});
    }
    listener_ = nullptr;
    keep_proof(nullptr);
    return outcome;
}

// In the order of the tie rule: lowest column, widest margin, lowest threshold.
std::vector<BitSearch::NodeSplit> BitSearch::splits_by_tie_rule(const BitNode& node) const {
    std::vector<NodeSplit> splits;
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
            const double* values = context_.table.values[features_[f].column];
            const double gap = values[high] - values[low];
            splits.push_back({static_cast<std::uint32_t>(f), low, high, gap == gap ? gap : 0.0});
        }
        f = next;
    }
    std::stable_sort(splits.begin(), splits.end(), [&](const NodeSplit& a, const NodeSplit& b) {
        const Index left = features_[a.feature].column, right = features_[b.feature].column;
        return left != right ? left < right : a.margin > b.margin;
    });
    return splits;
}

PlanPtr BitSearch::canonical(Shape shape, Cost cost) {
    // A leaf with one error was not found on a sample.
    if (!marked_.empty() && cost < loss_.error_scale) return canonical_without_errors(nodes_.root(), shape, cost, 0);
    return canonical(nodes_.root(), shape, cost, 0);
}

PlanPtr BitSearch::canonical(BitNode& node, Shape shape, Cost cost, std::size_t level) {
    shape = shape.on(static_cast<Index>(node.size()));
    if (loss_.error_scale * node.leaf_error() <= cost || shape.depth == 0) return nullptr;
    if (shape.depth == 1) return stump_plan();
    if (shape.depth == 2) return bottom_plan(static_cast<int>(shape.splits));
    const std::vector<NodeSplit> splits = splits_by_tie_rule(node);
    std::vector<std::uint32_t> order;
    for (const NodeSplit& split : splits) order.push_back(split.feature);
    BitNodes::Floors floors = floors_of(node, order, cost + 1);
    const std::vector<Division> shares = divisions(shape);
    const bool raise = splits_bound_each_other(shares);
    for (std::uint32_t feature : order) {
        for (const Division& share : shares) {
            Sides sides{floors.without[feature], floors.with[feature]};
            if (sides.left + sides.right + loss_.split_penalty > cost) continue;
            const Proven tried = solve_split(node, share, feature, sides, cost + 1, level);
            if (raise && tried.upper != cost)
                nodes_.raise_floors(node, feature, sides.left, sides.right, loss_.error_scale, level, floors);
            if (tried.upper != cost) continue;
            if (shape.depth == 3) return tried.plan;
            PlanPtr plans[2];
            for (int side = 0; side < 2; ++side) {
                BitNode& child = nodes_.child_at(level, side == 1);
                nodes_.make_child(node, feature, side == 1, child);
                child.conditions = node.conditions.with(2 * feature + static_cast<std::uint32_t>(side));
                const Shape below = side ? share.right : share.left;
                const Proven solved = solve(child, below, kInfinite, level + 1);
                plans[side] = canonical(child, below, solved.upper, level + 1);
            }
            return split_plan(features_[feature].column, features_[feature].rank, plans[0], plans[1]);
        }
    }
    throw std::logic_error("provetree core: no split has the cost that was proven; please report this.");
}

Outcome BitSearch::grow(Shape shape) {
    const Proven grown = grow(nodes_.root(), shape.depth, 0);
    Outcome outcome;
    outcome.upper = grown.upper;
    outcome.plan = grown.plan;
    return outcome;
}

BitSearch::Proven BitSearch::grow(BitNode& node, int depth, std::size_t level) {
    Proven best{0, loss_.error_scale * node.leaf_error(), nullptr};
    if (depth == 0 || node.leaf_error() == 0) return best;
    const std::vector<std::uint32_t> order = nodes_.promising_order(node);
    if (order.empty()) return best;
    if (depth <= 2) {
        // The whole optimum of the last levels costs hardly more than one greedy split.
        const Shape shape{depth, Shape::full(depth)};
        const Cost cost = cost_of_bottom(nodes_.solve_bottom(node), node.leaf_error(), shape);
        return cost < best.upper ? Proven{0, cost, depth == 1 ? stump_plan() : bottom_plan(3)} : best;
    }
    Proven sides[2];
    for (int side = 0; side < 2; ++side) {
        BitNode& child = nodes_.child_at(level, side == 1);
        nodes_.make_child(node, order[0], side == 1, child);
        sides[side] = grow(child, depth - 1, level + 1);
    }
    const Cost total = sides[0].upper + sides[1].upper + loss_.split_penalty;
    if (total < best.upper)
        best = {0, total,
                split_plan(features_[order[0]].column, features_[order[0]].rank, sides[0].plan, sides[1].plan)};
    return best;
}

PlanPtr BitSearch::stump_by_tie_rule(const BitNode& node) const {
    Cost least = loss_.error_scale * node.leaf_error();
    PlanPtr plan;
    for (const NodeSplit& split : splits_by_tie_rule(node)) {
        const SplitErrors leaves = nodes_.split_errors(node, split.feature);
        const Cost cost = loss_.error_scale * (leaves.left + leaves.right) + loss_.split_penalty;
        if (cost >= least) continue;
        least = cost;
        plan = split_plan(features_[split.feature].column, split.rank_low, nullptr, nullptr);
    }
    return plan;
}

PlanPtr BitSearch::bottom_by_tie_rule(BitNode& node, std::int64_t splits) {
    nodes_.solve_bottom(node);  // leaves the best stumps below every feature
    const std::int16_t *with = nodes_.stumps().with, *without = nodes_.stumps().without;
    Cost least = loss_.error_scale * node.leaf_error();
    PlanPtr plan;
    for (const NodeSplit& split : splits_by_tie_rule(node)) {
        const std::uint32_t f = split.feature;
        const SplitErrors leaves = nodes_.split_errors(node, f);
        const Cost scale = loss_.error_scale, penalty = loss_.split_penalty;
        const Cost leaf_left = scale * leaves.left, leaf_right = scale * leaves.right;
        const Cost stump_left = std::min(leaf_left, scale * (leaves.size_left - without[f]) + penalty);
        const Cost stump_right = std::min(leaf_right, scale * (leaves.size_right - with[f]) + penalty);
        const auto consider = [&](Cost left, Cost right) {
            if (left + right + penalty >= least) return;
            least = left + right + penalty;
            plan = split_plan(features_[f].column, split.rank_low, left < leaf_left ? stump_plan() : nullptr,
                              right < leaf_right ? stump_plan() : nullptr);
        };
        if (splits >= 3) {
            consider(stump_left, stump_right);
        } else {
            consider(leaf_left, stump_right);  // the tie rule wants the fewest splits on the left
            consider(stump_left, leaf_right);
        }
    }
    return plan;
}

FlatTree BitSearch::finish(const PlanPtr& plan) { return worked_out(nodes_.root(), plan, 0); }

FlatTree BitSearch::worked_out(BitNode& node, const PlanPtr& plan, std::size_t level) {
    FlatTree tree;
    Cost errors = 0;
    finish(node, plan.get(), level, tree, errors);
    tree.cost = loss_.error_scale * errors + loss_.split_penalty * tree.splits;
    return tree;
}

std::int32_t BitSearch::finish(BitNode& node, const Plan* plan, std::size_t level, FlatTree& tree, Cost& errors) {
    const std::int32_t number = static_cast<std::int32_t>(tree.column.size());
    for (auto* field : {&tree.column, &tree.rank_low, &tree.rank_high, &tree.left, &tree.right}) field->push_back(-1);
    tree.label.push_back(
        static_cast<std::int32_t>(std::max_element(node.all.begin(), node.all.end()) - node.all.begin()));
    PlanPtr worked_out;
    if (plan && (plan->stump || plan->bottom_splits > 0)) {
        worked_out = plan->stump ? stump_by_tie_rule(node) : bottom_by_tie_rule(node, plan->bottom_splits);
        plan = worked_out.get();
    }
    const NodeSplit* split = nullptr;
    std::vector<NodeSplit> splits;
    if (plan) {
        splits = splits_by_tie_rule(node);
        for (const NodeSplit& one : splits)
            if (features_[one.feature].column == plan->column && one.rank_low <= plan->rank &&
                plan->rank < one.rank_high)
                split = &one;
    }
    if (!split) {
        errors += node.leaf_error();
        return number;
    }
    const std::size_t at = static_cast<std::size_t>(number);
    tree.column[at] = static_cast<std::int32_t>(plan->column);
    tree.rank_low[at] = static_cast<std::int32_t>(split->rank_low);
    tree.rank_high[at] = static_cast<std::int32_t>(split->rank_high);
    ++tree.splits;
    const std::uint32_t feature = split->feature;
    std::int32_t numbers[2];
    for (int side = 0; side < 2; ++side) {
        BitNode& child = nodes_.child_at(level, side == 1);
        nodes_.make_child(node, feature, side == 1, child);
        numbers[side] = finish(child, side ? plan->right.get() : plan->left.get(), level + 1, tree, errors);
    }
    tree.left[at] = numbers[0];
    tree.right[at] = numbers[1];
    return number;
}

}  // namespace provetree
