// Best-first search over intervals; see interval_search.hpp.
#include "interval_search.hpp"

#include <algorithm>

#include "depth_one.hpp"

namespace provetree {

// The search of one node.
struct TreeSearch::Frame {
    const Node& node;
    Shape shape;
    Cost limit;
    std::size_t level;
    TieChoice* ties;
    Outcome outcome;
    Cost relaxed = kInfinite;  // least relaxed bound of the splits evaluated
    std::vector<Family> families;
    std::deque<DeepPoint> points;  // stable: intervals refer to them by number
    std::vector<std::vector<std::uint32_t>> points_of;  // per family, in the order they came
    std::priority_queue<Interval> heap;

    // Trees below this are looked for; with ties also those equal to the best.
    Cost cut() const { return std::min(limit, ties && outcome.upper < kInfinite ? outcome.upper + 1 : outcome.upper); }
    const NodeColumn& column(std::uint32_t family) const { return node.columns[families[family].column]; }
    // Under the tie rule a column after the preferred one must be strictly better.
    Cost cut(std::uint32_t family) const { return ties && ties->any && column(family).id > ties->column ? std::min(limit, outcome.upper) : cut(); }
};

TreeSearch::Children& TreeSearch::children(std::size_t level) {
    while (levels_.size() <= level) levels_.push_back(std::make_unique<Children>());
    return *levels_[level];
}

Outcome TreeSearch::solve(const Node& node, Shape shape, Cost limit, Relatives relatives, bool keep_profile, std::size_t level) {
    Outcome leaf;
    leaf.upper = leaf_cost(context_, node, objective);
    leaf.relaxed = relaxed_leaf(node);
    leaf.lower = leaf.upper;
    // No split can pay where the leaf costs no more than one split does (without the minimum leaf size, too).
    if (shape.depth == 0 || (leaf.relaxed <= objective.split_penalty && leaf.upper < kInfinite) || node.columns.empty()) return leaf;
    if (context_.constrained() && node.count < 2 * context_.min_leaf) {
        // Only the leaf is feasible, but the relaxed problem may still split: it is bounded by no errors at all.
        leaf.relaxed = std::min(leaf.relaxed, objective.split_penalty);
        return leaf;
    }
    if (limit <= 0) {
        leaf.lower = leaf.relaxed = 0;
        return leaf;
    }
    if (shape.depth == 1) {
        const Stump stump = best_stump(context_, node, objective, false);
        return {stump.cost, stump.relaxed, stump.cost, stump.column ? split_plan(stump.column->id, stump.column->ranks[stump.position - 1], nullptr, nullptr) : nullptr, nullptr, 0};
    }
    if (shape.depth == 2) return depth_two_.solve(node, shape.splits, limit, objective, relatives, keep_profile, nullptr);
    return search(node, shape, limit, relatives, keep_profile, level, leaf, nullptr, nullptr, nullptr);
}

Outcome TreeSearch::solve_root(const Node& node, Shape shape, const Outcome& start, const Listener& listener, std::unique_ptr<StopSearch>& stopped) {
    Outcome outcome = start;
    if (start.upper <= 0) {
        outcome.lower = outcome.relaxed = outcome.upper;  // nothing costs less than nothing
        return outcome;
    }
    if (shape.depth >= 3 && !node.columns.empty()) return search(node, shape, kInfinite, {}, true, 0, start, &listener, &stopped, nullptr);
    try {
        outcome = solve(node, shape, kInfinite, {}, true, 0);
    } catch (const StopSearch& stop) {
        stopped = std::make_unique<StopSearch>(stop);
        return outcome;
    }
    if (listener) listener(outcome.plan, outcome.upper, outcome.lower);
    return outcome;
}

void TreeSearch::start_points(Frame& frame, Relatives relatives) {
    const Node& node = frame.node;
    const Shape shape = frame.shape;
    const std::int64_t most = Shape::full(shape.depth - 1), to_share = shape.splits - 1;
    if (context_.off(kNoInheritance)) relatives = {};
    const auto family_of = [](const Profile* profile, Index id, std::int64_t left_splits) -> const DeepFamily* {
        if (!profile) return nullptr;
        for (const DeepFamily& family : profile->deep)
            if (family.id == id && family.left_splits == left_splits) return &family;
        return nullptr;
    };
    std::vector<DeepPoint> found;
    for (Index c = 0; c < node.columns.size(); ++c) {
        const NodeColumn& column = node.columns[c];
        for (std::int64_t left_splits = std::max<std::int64_t>(0, to_share - most); left_splits <= std::min(most, to_share); ++left_splits) {
            const std::uint32_t family = static_cast<std::uint32_t>(frame.families.size());
            frame.families.push_back({c, Shape::of(shape.depth - 1, left_splits), Shape::of(shape.depth - 1, to_share - left_splits)});
            frame.points_of.emplace_back();
            found.clear();
            if (const DeepFamily* inner = family_of(relatives.inner, column.id, left_splits)) {
                const Index missing = node.rows - relatives.inner->rows;
                for (DeepPoint point : inner->points) {
                    point.position = Node::rows_up_to(column, point.rank, point.position, std::min(node.rows, point.position + missing));
                    point.weight = node.weight_left(column, point.position);
                    // The same rows: its children's own profiles, valid either way. Otherwise those of subsets.
                    if (missing) point.outer_left = point.outer_right = nullptr;
                    found.push_back(std::move(point));
                }
            }
            if (const DeepFamily* outer = relatives.outer == relatives.inner ? nullptr : family_of(relatives.outer, column.id, left_splits)) {
                const Index extra = relatives.outer->rows - node.rows;
                for (DeepPoint point : outer->points) {
                    const Index position = Node::rows_up_to(column, point.rank, point.position > extra ? point.position - extra : 0, std::min(node.rows, point.position));
                    const Weight gone_left = point.weight - node.weight_left(column, position);
                    const Weight gone_right = relatives.outer->weight - node.weight - gone_left;
                    point.left = std::max<Cost>(0, point.left - objective.error_scale * gone_left);
                    point.right = std::max<Cost>(0, point.right - objective.error_scale * gone_right);
                    point.position = position;
                    point.weight = node.weight_left(column, position);
                    point.inner_left = point.inner_right = nullptr;
                    found.push_back(std::move(point));
                }
            }
            found.push_back({0, 0, 0, 0, 0, nullptr, nullptr, nullptr, nullptr});
            found.push_back({0, node.rows, node.weight, 0, 0, nullptr, nullptr, nullptr, nullptr});
            std::stable_sort(found.begin(), found.end(), [](const DeepPoint& a, const DeepPoint& b) { return a.position < b.position; });
            std::uint32_t before = 0;
            for (std::size_t i = 0; i < found.size();) {
                DeepPoint point = found[i];
                std::size_t j = i + 1;
                for (; j < found.size() && found[j].position == point.position; ++j) {
                    const DeepPoint& other = found[j];
                    point.left = std::max(point.left, other.left);
                    point.right = std::max(point.right, other.right);
                    if (!point.inner_left) point.inner_left = other.inner_left;
                    if (!point.outer_left) point.outer_left = other.outer_left;
                    if (!point.inner_right) point.inner_right = other.inner_right;
                    if (!point.outer_right) point.outer_right = other.outer_right;
                }
                const std::uint32_t number = static_cast<std::uint32_t>(frame.points.size());
                frame.points.push_back(std::move(point));
                frame.points_of[family].push_back(number);
                if (i > 0) push(frame, family, before, number);
                before = number;
                i = j;
            }
            // An inherited point bounds its own split but does not evaluate it: it stays open where its bound does not close it.
            for (std::uint32_t number : frame.points_of[family]) {
                const Index position = frame.points[number].position;
                if (position >= column.first_split && position <= column.last_split) push(frame, family, number, number);
            }
        }
    }
}

void TreeSearch::push(Frame& frame, std::uint32_t family, std::uint32_t a, std::uint32_t b) {
    const DeepPoint &low = frame.points[a], &high = frame.points[b];
    if (a != b && high.position - low.position < 2) return;
    const OpenRange range = a == b ? OpenRange{true, low.left + low.right, 0, 0}
                                   : open_range(low.left, low.right, low.weight, high.left, high.right, high.weight, kInfinite, objective.error_scale, !context_.off(kNoLipschitz));
    const Cost bound = range.bound + objective.split_penalty;
    if (bound < frame.cut(family)) frame.heap.push({bound, family, a, b, high.position - low.position});
}

Index TreeSearch::choose_position(const Frame& frame, const Interval& interval, Positions open) const {
    const NodeColumn& column = frame.column(interval.family);
    if (frame.ties && interval.bound >= frame.outcome.upper) {
        // Only a tie can be found here: the widest margin decides it for the whole interval.
        Index widest = 0;
        double gap = -1;
        for (Index position = open.first; position <= open.last; ++position) {
            if (!Node::is_split(column, position)) continue;
            const double here = margin(context_, column, position);
            if (here > gap) {
                gap = here;
                widest = position;
            }
        }
        if (!widest || !frame.ties->prefers(column.id, gap, column.ranks[widest - 1], frame.families[interval.family].left.splits)) return 0;
        return widest;
    }
    return nearest_split(column, open.first + (open.last - open.first) / 2, open);
}

void TreeSearch::evaluate(Frame& frame, const Interval& interval, Index position) {
    ++context_.counters.intervals;
    const Node& node = frame.node;
    const Family family = frame.families[interval.family];
    const NodeColumn& column = node.columns[family.column];
    const DeepPoint &low = frame.points[interval.a], &high = frame.points[interval.b];
    const bool at_point = interval.a == interval.b;
    Children& kids = children(frame.level);
    builder_.split(node, column, position, kids.left, kids.right);
    context_.counters.nodes += 2;
    context_.monitor.work(std::uint64_t{node.rows} * (node.columns.size() + 1) / 2);

    const Weight weight = node.weight_left(column, position);
    const Cost scale = objective.error_scale;
    const bool lipschitz = !context_.off(kNoLipschitz);
    const Cost least_left = lipschitz ? std::max(low.left, high.left - scale * (high.weight - weight)) : low.left;
    const Cost least_right = lipschitz ? std::max(high.right, low.right - scale * (weight - low.weight)) : high.right;
    // A child that stops as soon as it cannot improve proves little about its neighbours; a raised budget makes its bound close more of the interval.
    const Cost slack = context_.off(kNoSlack) || at_point ? 0 : scale * std::min(weight - low.weight, high.weight - weight) / 2;
    const Cost budget = frame.cut(interval.family) - objective.split_penalty + slack;

    const Relatives left_relatives{low.inner_left.get(), high.outer_left.get()}, right_relatives{high.inner_right.get(), low.outer_right.get()};
    const auto solve_left = [&](Cost limit) { return solve(kids.left, family.left, limit, left_relatives, true, frame.level + 1); };
    const auto solve_right = [&](Cost limit) { return solve(kids.right, family.right, limit, right_relatives, true, frame.level + 1); };
    Outcome left, right;
    // The larger child first: its bound is the likelier to settle the split alone.
    if (kids.left.rows >= kids.right.rows) {
        left = solve_left(budget - least_right);
        if (budget - left.lower > least_right)
            right = solve_right(budget - left.lower);
        else
            right.lower = right.relaxed = least_right;
    } else {
        right = solve_right(budget - least_left);
        if (budget - right.lower > least_left)
            left = solve_left(budget - right.lower);
        else
            left.lower = left.relaxed = least_left;
    }

    const Index rank = column.ranks[position - 1];
    DeepPoint point{rank, position, weight, std::max(left.relaxed, least_left), std::max(right.relaxed, least_right), left.profile, left.profile, right.profile, right.profile};
    frame.relaxed = std::min(frame.relaxed, point.left + point.right + objective.split_penalty);
    const Cost total = left.upper >= kInfinite || right.upper >= kInfinite ? kInfinite : left.upper + right.upper + objective.split_penalty;
    bool better = total < frame.outcome.upper;
    if (!better && frame.ties && frame.outcome.plan && total == frame.outcome.upper && total < frame.limit) better = frame.ties->prefers(column.id, margin(context_, column, position), rank, family.left.splits);
    if (better) {
        frame.outcome.upper = total;
        frame.outcome.plan = split_plan(column.id, rank, left.plan, right.plan);
        frame.outcome.left_splits = family.left.splits;
        if (frame.ties) *frame.ties = {true, column.id, margin(context_, column, position), rank, family.left.splits};
    }

    if (at_point) {
        DeepPoint& known = frame.points[interval.a];
        point.left = std::max(point.left, known.left);
        point.right = std::max(point.right, known.right);
        known = std::move(point);
        return;
    }
    const std::uint32_t number = static_cast<std::uint32_t>(frame.points.size());
    frame.points.push_back(std::move(point));
    frame.points_of[interval.family].push_back(number);
    push(frame, interval.family, interval.a, number);
    push(frame, interval.family, number, interval.b);
}

ProfilePtr TreeSearch::make_profile(const Frame& frame) const {
    if (context_.off(kNoInheritance) || context_.profile_bytes >= context_.memory_limit) return nullptr;
    auto profile = std::make_shared<Profile>(context_.profile_bytes, frame.shape, frame.node.rows, frame.node.weight);
    profile->deep.reserve(frame.families.size());
    for (std::size_t f = 0; f < frame.families.size(); ++f) {
        const NodeColumn& column = frame.node.columns[frame.families[f].column];
        DeepFamily& family = profile->deep.emplace_back(DeepFamily{column.id, frame.families[f].left.splits, {}});
        for (std::uint32_t number : frame.points_of[f]) {
            DeepPoint point = frame.points[number];
            if (point.position == 0 || point.position == frame.node.rows) continue;
            point.rank = column.ranks[point.position - 1];
            family.points.push_back(std::move(point));
        }
        std::sort(family.points.begin(), family.points.end(), [](const DeepPoint& a, const DeepPoint& b) { return a.position < b.position; });
    }
    profile->account();
    context_.counters.profile_bytes_peak = std::max(context_.counters.profile_bytes_peak, context_.profile_bytes);
    return profile;
}

Outcome TreeSearch::search(const Node& node, Shape shape, Cost limit, Relatives relatives, bool keep_profile, std::size_t level, const Outcome& start, const Listener* listener,
                           std::unique_ptr<StopSearch>* stopped, TieChoice* ties) {
    Frame frame{node, shape, limit, level, ties, {}, relaxed_leaf(node), {}, {}, {}, {}};
    frame.outcome.upper = start.upper;
    frame.outcome.plan = start.plan;
    frame.outcome.left_splits = start.left_splits;
    Cost current = 0, proven = 0;  // bound of the interval at hand; bound of the whole node
    try {
        start_points(frame, relatives);
        while (!frame.heap.empty()) {
            Interval interval = frame.heap.top();
            frame.heap.pop();
            current = interval.bound;
            if (interval.bound >= frame.cut()) break;
            if (interval.bound >= frame.cut(interval.family)) continue;
            const NodeColumn& column = frame.column(interval.family);
            const DeepPoint &low = frame.points[interval.a], &high = frame.points[interval.b];
            Index position = low.position;
            if (interval.a != interval.b) {
                // The ends may have become known better since the interval was pushed.
                const OpenRange range = open_range(low.left, low.right, low.weight, high.left, high.right, high.weight, frame.cut(interval.family) - objective.split_penalty, objective.error_scale,
                                                   !context_.off(kNoLipschitz));
                if (!range.open) continue;
                const Positions open = positions_of(column, low.position, high.position, range.from, range.upto);
                if (open.empty()) continue;
                interval.bound = std::max(interval.bound, range.bound + objective.split_penalty);
                position = choose_position(frame, interval, open);
                if (!position) continue;
            } else if (low.left + low.right + objective.split_penalty >= frame.cut(interval.family) || !Node::is_split(column, position)) {
                continue;
            } else if (frame.ties && interval.bound >= frame.outcome.upper && !frame.ties->prefers(column.id, margin(context_, column, position), column.ranks[position - 1], frame.families[interval.family].left.splits)) {
                continue;
            }
            evaluate(frame, interval, position);
            if (listener && *listener) {
                proven = std::max(proven, std::min(frame.outcome.upper, frame.heap.empty() ? frame.outcome.upper : frame.heap.top().bound));
                (*listener)(frame.outcome.plan, frame.outcome.upper, proven);
            }
        }
    } catch (const StopSearch& stop) {
        if (!stopped) throw;
        *stopped = std::make_unique<StopSearch>(stop);
        frame.outcome.lower = std::min({frame.outcome.upper, current, frame.heap.empty() ? current : frame.heap.top().bound});
        frame.outcome.lower = frame.outcome.relaxed = std::max(frame.outcome.lower, proven);
        return frame.outcome;
    }
    frame.outcome.lower = std::min(limit, frame.outcome.upper);
    frame.outcome.relaxed = context_.constrained() ? std::min(frame.outcome.lower, frame.relaxed) : frame.outcome.lower;
    if (keep_profile) frame.outcome.profile = make_profile(frame);
    return frame.outcome;
}

PlanPtr TreeSearch::canonical(const Node& node, Shape shape, const Outcome& best, Relatives known, std::size_t level) {
    if (leaf_cost(context_, node, objective) <= best.upper || shape.depth == 0) return nullptr;
    if (shape.depth == 1) {
        const Stump stump = best_stump(context_, node, objective, true);
        return stump.column ? split_plan(stump.column->id, stump.column->ranks[stump.position - 1], nullptr, nullptr) : nullptr;
    }
    TieChoice ties;
    // Stumps are worked out by the tie rule when the tree is finished.
    if (shape.depth == 2) return depth_two_.solve(node, shape.splits, best.upper + 1, objective, known, false, &ties).plan;

    const NodeColumn* column = nullptr;
    const auto find_column = [&](Index id) {
        for (const NodeColumn& one : node.columns)
            if (one.id == id) column = &one;
    };
    if (best.plan) {
        find_column(best.plan->column);
        const Index position = Node::rows_up_to(*column, best.plan->rank, 0, node.rows);
        ties = {true, column->id, margin(context_, *column, position), column->ranks[position - 1], best.left_splits};
    }
    const Outcome outcome = search(node, shape, best.upper + 1, known, false, level, best, nullptr, nullptr, &ties);
    find_column(ties.column);
    Children& kids = children(level);
    builder_.split(node, *column, Node::rows_up_to(*column, ties.rank, 0, node.rows), kids.left, kids.right);
    context_.counters.nodes += 2;
    const auto finish = [&](const Node& child, std::int64_t splits) {
        const Shape below = Shape::of(shape.depth - 1, splits);
        const Outcome solved = solve(child, below, kInfinite, {}, true, level + 1);
        Outcome start = solved;
        start.profile = nullptr;
        return canonical(child, below, start, {solved.profile.get(), solved.profile.get()}, level + 1);
    };
    PlanPtr left = finish(kids.left, ties.left_splits);
    PlanPtr right = finish(kids.right, shape.splits - 1 - ties.left_splits);
    return split_plan(ties.column, ties.rank, std::move(left), std::move(right));
}

}  // namespace provetree
