// Branch and bound on binary features; see bit_search.hpp.
#include "bit_search.hpp"

#include <algorithm>
#include <stdexcept>

namespace provetree {

namespace {

constexpr std::size_t kMostFeatures = 640;
constexpr std::size_t kMostPerColumn = 12;  // thresholds, on average: beyond it a sweep answers more of them at once
constexpr Weight kMostRows = 32767;         // counts are 16-bit
constexpr int kMostDepth = 6;               // deeper, few sets are met twice

}  // namespace

// Rows that satisfy a set of conditions, by class, and their bits.
struct BitSearch::BitNode {
    Key key;
    std::vector<std::uint32_t> rows;  // class by class
    std::vector<int> first_row;       // of each class, and the end
    std::vector<int> first_word;
    std::vector<std::uint16_t> bits;
    std::vector<std::int16_t> counts;  // of each class and feature
    std::vector<std::int16_t> all;     // of each class
    std::vector<std::int16_t> pairs;   // counted when they are needed
    bool has_pairs = false;

    Weight size() const { return static_cast<Weight>(rows.size()); }
    Weight leaf_error() const { return size() - *std::max_element(all.begin(), all.end()); }
    BitWords words(int stride) const { return {bits.data(), stride, static_cast<int>(all.size()), first_word.data()}; }
    BitCounts counted() const { return {counts.data(), all.data()}; }
};

BitSearch::Key BitSearch::Key::with(std::uint32_t literal) const {
    // Insertion into a sorted list of eight 16-bit numbers, the least in the lowest bits.
    std::uint16_t list[8];
    for (int i = 0; i < 8; ++i) list[i] = static_cast<std::uint16_t>((i < 4 ? low : high) >> (i % 4 * 16));
    int at = 7;
    for (; at > 0 && list[at - 1] > literal; --at) list[at] = list[at - 1];
    list[at] = static_cast<std::uint16_t>(literal);
    Key key{0, 0, splits};
    for (int i = 0; i < 8; ++i) (i < 4 ? key.low : key.high) |= static_cast<std::uint64_t>(list[i]) << (i % 4 * 16);
    return key;
}

std::size_t BitSearch::KeyHash::operator()(const Key& key) const {
    std::uint64_t hash = key.low * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 29;
    hash = (hash ^ key.high ^ static_cast<std::uint64_t>(key.splits)) * 0xbf58476d1ce4e5b9ull;
    return static_cast<std::size_t>(hash ^ hash >> 32);
}

bool BitSearch::fits(const Table& table, const SearchOptions& options) {
    if ((options.switches & kNoBits) || options.min_leaf > 1 || options.max_depth < 3 || options.max_depth > kMostDepth || table.n_classes > kMostBitClasses)
        return false;
    std::int64_t total = 0;
    for (Index i = 0; i < table.rows && total <= kMostRows; ++i) {
        if (table.weights[i] != table.counts[i]) return false;
        total += table.weights[i];
    }
    if (total > kMostRows) return false;
    std::size_t features = 0;
    for (std::size_t c = 0; c < table.columns && features <= kMostFeatures; ++c) {
        const Index* ranks = table.ranks + c * table.rows;
        features += *std::max_element(ranks, ranks + table.rows);
    }
    return features <= std::min(kMostFeatures, kMostPerColumn * table.columns);
}

BitSearch::BitSearch(Context& context, const BitKernel& kernel, const Objective& objective)
    : context_(context), kernel_(kernel), objective_(objective), n_classes_(context.table.n_classes), of_two_(context.memory_limit / 2) {
    const Table& table = context.table;
    for (Index c = 0; c < table.columns; ++c) {
        const Index* ranks = table.ranks + static_cast<std::size_t>(c) * table.rows;
        const Index top = *std::max_element(ranks, ranks + table.rows);
        for (Index rank = 0; rank < top; ++rank) features_.push_back({c, rank});
    }
    blocks_ = std::max(1, (static_cast<int>(features_.size()) + kFeatureBlock - 1) / kFeatureBlock);
    stride_ = blocks_ * kFeatureBlock;
    masks_.assign(static_cast<std::size_t>(table.rows) * static_cast<std::size_t>(blocks_), 0);
    for (std::size_t f = 0; f < features_.size(); ++f) {
        const Index* ranks = table.ranks + static_cast<std::size_t>(features_[f].column) * table.rows;
        std::uint32_t* mask = masks_.data() + f / kFeatureBlock;
        for (Index row = 0; row < table.rows; ++row, mask += blocks_)
            *mask |= static_cast<std::uint32_t>(ranks[row] > features_[f].rank) << (f % kFeatureBlock);
    }
    root_ = std::make_unique<BitNode>();
    root_->first_row.push_back(0);
    for (int c = 0; c < n_classes_; ++c) {
        for (Index row = 0; row < table.rows; ++row)
            if (table.classes[row] == c) root_->rows.push_back(row);
        root_->first_row.push_back(static_cast<int>(root_->rows.size()));
    }
    count_features(*root_);
    stumps_.resize(static_cast<std::size_t>(stride_) * 4);
    for (int depth = 0; depth <= kMostDepth; ++depth) proven_.emplace_back(context.memory_limit / 16);
}

BitSearch::~BitSearch() = default;

Cost BitSearch::leaf_cost() const { return objective_.error_scale * root_->leaf_error(); }

void BitSearch::change_objective(const Objective& objective) {
    objective_ = objective;
    for (auto& proven : proven_) proven = FlatMap<Key, Proven, KeyHash>(context_.memory_limit / 16);
}

void BitSearch::count_features(BitNode& node) const {
    node.has_pairs = false;
    node.first_word.assign(1, 0);
    node.all.clear();
    for (std::size_t c = 0; c + 1 < node.first_row.size(); ++c) {
        const int rows = node.first_row[c + 1] - node.first_row[c];
        node.first_word.push_back(node.first_word.back() + (rows + 15) / 16);
        node.all.push_back(static_cast<std::int16_t>(rows));
    }
    const std::size_t stride = static_cast<std::size_t>(stride_);
    node.bits.resize(static_cast<std::size_t>(node.first_word.back()) * stride);
    for (std::size_t c = 0; c < node.all.size(); ++c)
        kernel_.pack(masks_.data(), blocks_, node.rows.data() + node.first_row[c], node.all[c],
                     node.bits.data() + static_cast<std::size_t>(node.first_word[c]) * stride, stride_);
    node.counts.resize(node.all.size() * stride);
    kernel_.count(node.words(stride_), node.counts.data());
    context_.monitor.work(node.rows.size() * static_cast<std::size_t>(blocks_) / 4);
}

void BitSearch::make_child(const BitNode& parent, std::uint32_t feature, bool has, BitNode& child) const {
    child.rows.resize(parent.rows.size() + 16);
    child.first_row.assign(1, 0);
    int kept = 0;
    for (std::size_t c = 0; c < parent.all.size(); ++c) {
        kept += kernel_.select(parent.rows.data() + parent.first_row[c], parent.all[c],
                               parent.bits.data() + static_cast<std::size_t>(parent.first_word[c]) * static_cast<std::size_t>(stride_) + feature, stride_, has,
                               child.rows.data() + kept);
        child.first_row.push_back(kept);
    }
    child.rows.resize(static_cast<std::size_t>(kept));
    count_features(child);
}

BitSearch::BitNode& BitSearch::child_at(std::size_t level, bool has) {
    while (children_.size() <= 2 * level + 1) children_.push_back(std::make_unique<BitNode>());
    return *children_[2 * level + (has ? 1 : 0)];
}

Cost BitSearch::cost_of_bottom(const ErrorsOfTwo& errors, Weight leaf_error, Shape shape) const {
    Cost cost = objective_.error_scale * leaf_error;
    for (std::int64_t k = 1; k <= std::min<std::int64_t>(shape.splits, 3); ++k)
        cost = std::min(cost, objective_.error_scale * errors.by_splits[k - 1] + objective_.split_penalty * k);
    return cost;
}

// Depth two below both sides of a feature, or below one: the smaller side is counted, the other is what is left of the parent.
void BitSearch::solve_bottoms(BitNode& parent, std::uint32_t feature, bool left, bool right, std::size_t level, ErrorsOfTwo& of_left, ErrorsOfTwo& of_right) {
    const std::size_t stride = static_cast<std::size_t>(stride_);
    const int features = static_cast<int>(features_.size());
    const LeafErrors leaves = leaf_errors(parent, feature);
    const bool count_right = leaves.size_right <= leaves.size_left;
    const bool want_own = count_right ? right : left, want_rest = count_right ? left : right;
    BitNode& own = child_at(level, count_right);
    make_child(parent, feature, count_right, own);
    BitNode& rest = child_at(level, !count_right);
    if (want_rest) {
        if (!parent.has_pairs) {
            parent.pairs.resize(static_cast<std::size_t>(n_classes_) * features_.size() * stride);
            kernel_.count_pairs(parent.words(stride_), features, parent.pairs.data());
            parent.has_pairs = true;
            context_.monitor.work(features_.size() * static_cast<std::size_t>(blocks_ * parent.first_word.back()) / 8);
        }
        rest.counts.resize(own.counts.size());
        for (std::size_t i = 0; i < own.counts.size(); ++i) rest.counts[i] = static_cast<std::int16_t>(parent.counts[i] - own.counts[i]);
        rest.all.resize(own.all.size());
        for (std::size_t c = 0; c < own.all.size(); ++c) rest.all[c] = static_cast<std::int16_t>(parent.all[c] - own.all[c]);
    }
    std::fill(stumps_.begin(), stumps_.end(), std::int16_t{0});
    const BitStumps none{nullptr, nullptr}, of_own{stumps_.data(), stumps_.data() + stride}, of_rest{stumps_.data() + 2 * stride, stumps_.data() + 3 * stride};
    kernel_.best_stumps(own.words(stride_), own.counted(), rest.counted(), parent.pairs.data(), features, want_own ? of_own : none, want_rest ? of_rest : none);
    context_.counters.depth_two_solves += (want_own ? 1 : 0) + (want_rest ? 1 : 0);
    context_.counters.row_steps += features_.size() * static_cast<std::size_t>(blocks_ * own.first_word.back());
    context_.monitor.work(features_.size() * static_cast<std::size_t>(blocks_ * (own.first_word.back() + 4)) / 8);
    if (want_own) kernel_.fewest_errors(own.counted(), n_classes_, features, stride_, of_own, (count_right ? of_right : of_left).by_splits);
    if (want_rest) kernel_.fewest_errors(rest.counted(), n_classes_, features, stride_, of_rest, (count_right ? of_left : of_right).by_splits);
}

BitSearch::ErrorsOfTwo BitSearch::solve_bottom(BitNode& node) {
    const std::size_t stride = static_cast<std::size_t>(stride_);
    std::fill(stumps_.begin(), stumps_.end(), std::int16_t{0});
    const BitStumps of_own{stumps_.data(), stumps_.data() + stride};
    kernel_.best_stumps(node.words(stride_), node.counted(), node.counted(), nullptr, static_cast<int>(features_.size()), of_own, {nullptr, nullptr});
    ++context_.counters.depth_two_solves;
    ErrorsOfTwo errors;
    kernel_.fewest_errors(node.counted(), n_classes_, static_cast<int>(features_.size()), stride_, of_own, errors.by_splits);
    return errors;
}

// Features that split the node, purest first.
std::vector<std::uint32_t> BitSearch::promising_order(const BitNode& node) const {
    std::vector<std::pair<double, std::uint32_t>> scored;
    const double all = node.size();
    for (std::uint32_t f = 0; f < features_.size(); ++f) {
        double with = 0, squares_with = 0, squares_without = 0;
        for (std::size_t c = 0; c < node.all.size(); ++c) {
            const double here = node.counts[c * static_cast<std::size_t>(stride_) + f], others = node.all[c] - here;
            with += here;
            squares_with += here * here;
            squares_without += others * others;
        }
        if (with > 0 && with < all) scored.push_back({-(squares_with / with + squares_without / (all - with)), f});
    }
    std::sort(scored.begin(), scored.end());
    std::vector<std::uint32_t> order;
    for (const auto& [score, f] : scored) order.push_back(f);
    return order;
}

BitSearch::Proven BitSearch::solve(BitNode& node, Shape shape, Cost limit, std::size_t level) {
    shape = shape.on(static_cast<Index>(node.size()));
    Proven best;
    best.lower = best.upper = objective_.error_scale * node.leaf_error();
    if (shape.depth == 0 || best.upper <= objective_.split_penalty) return best;
    if (limit <= 0) {
        best.lower = 0;
        return best;
    }
    if (shape.depth <= 2) {
        const Cost cost = cost_of_bottom(solve_bottom(node), node.leaf_error(), shape);
        if (cost < best.upper) best = {cost, cost, shape.depth == 1 ? stump_plan() : bottom_plan(static_cast<int>(shape.splits))};
        return best;
    }
    const std::size_t depth = static_cast<std::size_t>(shape.depth);
    if (const Proven* known = proven_[depth].find(node.key.of(shape.splits)))
        if (known->lower >= limit || known->lower >= known->upper) return *known;
    Cost least = best.upper;  // the least bound of what was tried, where nothing was found
    const Cost leaf = best.upper;
    bool found = false;
    const std::vector<Division> shares = divisions(shape);
    for (std::uint32_t feature : promising_order(node)) {
        for (const Division& share : shares) {
            const Cost cut = std::min(limit, best.upper);
            const Proven tried = shape.depth == 3 ? solve_pair_of_bottoms(node, share, feature, cut, level) : solve_children(node, share, feature, cut, level);
            least = std::min(least, tried.lower);
            if (tried.upper < best.upper) {
                best.upper = tried.upper;
                best.plan = tried.plan;
                found = found || tried.upper < limit;
                if (level == 0) {
                    root_best_ = best;
                    if (listener_ && *listener_) (*listener_)(best.upper, 0);
                }
            }
        }
    }
    best.lower = found || leaf < limit ? best.upper : std::min(least, best.upper);
    Proven& kept = proven_[depth].at(node.key.of(shape.splits));
    kept = best;
    return best;
}

BitSearch::LeafErrors BitSearch::leaf_errors(const BitNode& node, std::uint32_t feature) const {
    Weight right = 0, largest_right = 0, largest_left = 0;
    for (std::size_t c = 0; c < node.all.size(); ++c) {
        const std::int16_t here = node.counts[c * static_cast<std::size_t>(stride_) + feature];
        right += here;
        largest_right = std::max<Weight>(largest_right, here);
        largest_left = std::max<Weight>(largest_left, node.all[c] - here);
    }
    const Weight left = node.size() - right;
    return {left - largest_left, right - largest_right, left, right};
}

BitSearch::Proven BitSearch::solve_pair_of_bottoms(BitNode& node, const Division& share, std::uint32_t feature, Cost cut, std::size_t level) {
    const Key left_key = node.key.with(2 * feature), right_key = node.key.with(2 * feature + 1);
    const ErrorsOfTwo *known_left = of_two_.find(left_key), *known_right = of_two_.find(right_key);
    const auto [leaf_left, leaf_right, size_left, size_right] = leaf_errors(node, feature);
    const Cost penalty = objective_.split_penalty;
    // Sides that are pure need no counting.
    const ErrorsOfTwo pure{{0, 0, 0}};
    if (!known_left && leaf_left == 0) known_left = &pure;
    if (!known_right && leaf_right == 0) known_right = &pure;
    const Shape shape_left = share.left.on(static_cast<Index>(size_left)), shape_right = share.right.on(static_cast<Index>(size_right));
    const Cost bound_left = known_left ? cost_of_bottom(*known_left, leaf_left, shape_left) : 0;
    const Cost bound_right = known_right ? cost_of_bottom(*known_right, leaf_right, shape_right) : 0;
    if (bound_left + bound_right + penalty >= cut) return {bound_left + bound_right + penalty, kInfinite, nullptr};
    ErrorsOfTwo of_left, of_right;
    if (known_left) of_left = *known_left;
    if (known_right) of_right = *known_right;
    if (!known_left || !known_right) {
        const bool count_left = !known_left, count_right = !known_right;
        solve_bottoms(node, feature, count_left, count_right, level, of_left, of_right);
        if (count_left) of_two_.at(left_key) = of_left;
        if (count_right) of_two_.at(right_key) = of_right;
    }
    const Cost left = cost_of_bottom(of_left, leaf_left, shape_left), right = cost_of_bottom(of_right, leaf_right, shape_right);
    const Cost total = left + right + penalty;
    if (total >= cut) return {total, kInfinite, nullptr};
    const auto plan = [&](Cost cost, Weight leaf_error, Shape shape) {
        if (cost >= objective_.error_scale * leaf_error) return PlanPtr();
        return shape.depth == 1 ? stump_plan() : bottom_plan(static_cast<int>(shape.splits));
    };
    return {total, total,
            split_plan(features_[feature].column, features_[feature].rank, plan(left, leaf_left, shape_left), plan(right, leaf_right, shape_right))};
}

BitSearch::Proven BitSearch::solve_children(BitNode& node, const Division& share, std::uint32_t feature, Cost cut, std::size_t level) {
    const Key keys[2] = {node.key.with(2 * feature), node.key.with(2 * feature + 1)};
    const Shape shapes[2] = {share.left, share.right};
    const LeafErrors leaves = leaf_errors(node, feature);
    const Weight sizes[2] = {leaves.size_left, leaves.size_right};
    Proven sides[2];
    const auto look_up = [&](int side) {
        const Shape shape = shapes[side].on(static_cast<Index>(sizes[side]));
        if (shape.depth < 3) return;
        if (const Proven* known = proven_[static_cast<std::size_t>(shape.depth)].find(keys[side].of(shape.splits))) sides[side] = *known;
    };
    look_up(0);
    look_up(1);
    const Cost penalty = objective_.split_penalty;
    // The larger side first: its bound is the likelier to settle the split alone.
    const int order[2] = {sizes[1] > sizes[0] ? 1 : 0, sizes[1] > sizes[0] ? 0 : 1};
    for (int side : order) {
        if (sides[0].lower + sides[1].lower + penalty >= cut) break;
        if (sides[side].lower >= sides[side].upper) continue;
        BitNode& child = child_at(level, side == 1);
        make_child(node, feature, side == 1, child);
        child.key = keys[side];
        ++context_.counters.nodes;
        sides[side] = solve(child, shapes[side], cut - penalty - sides[1 - side].lower, level + 1);
    }
    Proven result;
    result.lower = sides[0].lower + sides[1].lower + penalty;
    if (sides[0].upper < kInfinite && sides[1].upper < kInfinite) {
        result.upper = sides[0].upper + sides[1].upper + penalty;
        if (result.upper < cut) result.plan = split_plan(features_[feature].column, features_[feature].rank, sides[0].plan, sides[1].plan);
        if (!result.plan) result.upper = kInfinite;
    }
    return result;
}

Outcome BitSearch::solve_root(Shape shape, const Outcome& start, const TreeSearch::Listener& listener, std::unique_ptr<StopSearch>& stopped) {
    Outcome outcome = start;
    root_best_ = {0, start.upper, start.plan};
    listener_ = &listener;
    try {
        // Only what costs less than the start is looked for.
        const Proven proven = solve(*root_, shape, start.upper, 0);
        if (proven.upper < outcome.upper) {
            outcome.upper = proven.upper;
            outcome.plan = proven.plan;
        }
        outcome.lower = outcome.relaxed = outcome.upper;
        if (listener) listener(outcome.upper, outcome.lower);
    } catch (const StopSearch& stop) {
        stopped = std::make_unique<StopSearch>(stop);
        if (root_best_.upper < outcome.upper) {
            outcome.upper = root_best_.upper;
            outcome.plan = root_best_.plan;
        }
        outcome.lower = outcome.relaxed = 0;
    }
    listener_ = nullptr;
    return outcome;
}

// In the order of the tie rule: lowest column, widest margin, lowest threshold.
std::vector<BitSearch::NodeSplit> BitSearch::splits_by_tie_rule(const BitNode& node) const {
    std::vector<NodeSplit> splits;
    const auto same_column = [&](std::size_t f, std::size_t g) { return g < features_.size() && features_[g].column == features_[f].column; };
    for (std::size_t f = 0; f < features_.size();) {
        const Weight right = leaf_errors(node, static_cast<std::uint32_t>(f)).size_right;
        std::size_t next = f + 1;
        while (same_column(f, next) && leaf_errors(node, static_cast<std::uint32_t>(next)).size_right == right) ++next;
        if (right > 0 && right < node.size()) {
            const Index low = features_[f].rank, high = same_column(f, next) ? features_[next].rank : features_[next - 1].rank + 1;
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

PlanPtr BitSearch::canonical(Shape shape, Cost cost) { return canonical(*root_, shape, cost, 0); }

PlanPtr BitSearch::canonical(BitNode& node, Shape shape, Cost cost, std::size_t level) {
    shape = shape.on(static_cast<Index>(node.size()));
    if (objective_.error_scale * node.leaf_error() <= cost || shape.depth == 0) return nullptr;
    if (shape.depth == 1) return stump_plan();
    if (shape.depth == 2) return bottom_plan(static_cast<int>(shape.splits));
    for (const NodeSplit& split : splits_by_tie_rule(node)) {
        const std::uint32_t feature = split.feature;
        for (const Division& share : divisions(shape)) {
            const Proven tried =
                shape.depth == 3 ? solve_pair_of_bottoms(node, share, feature, cost + 1, level) : solve_children(node, share, feature, cost + 1, level);
            if (tried.upper != cost) continue;
            if (shape.depth == 3) return tried.plan;
            PlanPtr plans[2];
            for (int side = 0; side < 2; ++side) {
                BitNode& child = child_at(level, side == 1);
                make_child(node, feature, side == 1, child);
                child.key = node.key.with(2 * feature + static_cast<std::uint32_t>(side));
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
    const Proven grown = grow(*root_, shape.depth, 0);
    Outcome outcome;
    outcome.upper = grown.upper;
    outcome.plan = grown.plan;
    return outcome;
}

BitSearch::Proven BitSearch::grow(BitNode& node, int depth, std::size_t level) {
    Proven best{0, objective_.error_scale * node.leaf_error(), nullptr};
    if (depth == 0 || node.leaf_error() == 0) return best;
    const std::vector<std::uint32_t> order = promising_order(node);
    if (order.empty()) return best;
    if (depth <= 2) {
        // The whole optimum of the last levels costs hardly more than one greedy split.
        const Shape shape{depth, Shape::full(depth)};
        const Cost cost = cost_of_bottom(solve_bottom(node), node.leaf_error(), shape);
        return cost < best.upper ? Proven{0, cost, depth == 1 ? stump_plan() : bottom_plan(3)} : best;
    }
    Proven sides[2];
    for (int side = 0; side < 2; ++side) {
        BitNode& child = child_at(level, side == 1);
        make_child(node, order[0], side == 1, child);
        sides[side] = grow(child, depth - 1, level + 1);
    }
    const Cost total = sides[0].upper + sides[1].upper + objective_.split_penalty;
    if (total < best.upper) best = {0, total, split_plan(features_[order[0]].column, features_[order[0]].rank, sides[0].plan, sides[1].plan)};
    return best;
}

PlanPtr BitSearch::stump_by_tie_rule(const BitNode& node) const {
    Cost least = objective_.error_scale * node.leaf_error();
    PlanPtr plan;
    for (const NodeSplit& split : splits_by_tie_rule(node)) {
        const LeafErrors leaves = leaf_errors(node, split.feature);
        const Cost cost = objective_.error_scale * (leaves.left + leaves.right) + objective_.split_penalty;
        if (cost >= least) continue;
        least = cost;
        plan = split_plan(features_[split.feature].column, split.rank_low, nullptr, nullptr);
    }
    return plan;
}

PlanPtr BitSearch::bottom_by_tie_rule(BitNode& node, std::int64_t splits) {
    solve_bottom(node);  // leaves the best stumps below every feature in stumps_
    const std::int16_t *with = stumps_.data(), *without = with + stride_;
    Cost least = objective_.error_scale * node.leaf_error();
    PlanPtr plan;
    for (const NodeSplit& split : splits_by_tie_rule(node)) {
        const std::uint32_t f = split.feature;
        const LeafErrors leaves = leaf_errors(node, f);
        const Cost scale = objective_.error_scale, penalty = objective_.split_penalty;
        const Cost leaf_left = scale * leaves.left, leaf_right = scale * leaves.right;
        const Cost stump_left = std::min(leaf_left, scale * (leaves.size_left - without[f]) + penalty);
        const Cost stump_right = std::min(leaf_right, scale * (leaves.size_right - with[f]) + penalty);
        const auto consider = [&](Cost left, Cost right) {
            if (left + right + penalty >= least) return;
            least = left + right + penalty;
            plan = split_plan(features_[f].column, split.rank_low, left < leaf_left ? stump_plan() : nullptr, right < leaf_right ? stump_plan() : nullptr);
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

FlatTree BitSearch::finish(const PlanPtr& plan) {
    FlatTree tree;
    Cost errors = 0;
    finish(*root_, plan.get(), 0, tree, errors);
    tree.cost = objective_.error_scale * errors + objective_.split_penalty * tree.splits;
    return tree;
}

std::int32_t BitSearch::finish(BitNode& node, const Plan* plan, std::size_t level, FlatTree& tree, Cost& errors) {
    const std::int32_t number = static_cast<std::int32_t>(tree.column.size());
    for (auto* field : {&tree.column, &tree.rank_low, &tree.rank_high, &tree.left, &tree.right}) field->push_back(-1);
    tree.label.push_back(static_cast<std::int32_t>(std::max_element(node.all.begin(), node.all.end()) - node.all.begin()));
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
            if (features_[one.feature].column == plan->column && one.rank_low <= plan->rank && plan->rank < one.rank_high) split = &one;
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
        BitNode& child = child_at(level, side == 1);
        make_child(node, feature, side == 1, child);
        numbers[side] = finish(child, side ? plan->right.get() : plan->left.get(), level + 1, tree, errors);
    }
    tree.left[at] = numbers[0];
    tree.right[at] = numbers[1];
    return number;
}

}  // namespace provetree
