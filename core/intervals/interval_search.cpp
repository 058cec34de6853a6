// Best-first search over intervals; see intervals/interval_search.hpp.
#include "intervals/interval_search.hpp"

#include <algorithm>

#include "intervals/frame.hpp"
#include "intervals/lazy_rows.hpp"
#include "intervals/resume.hpp"
#include "proof/checkpoint.hpp"
#include "sweeps/depth_one.hpp"

namespace provetree {

Outcome TreeSearch::solve(const Node& node, Shape shape, Cost limit, Relatives relatives, bool keep_profile,
                          std::size_t level) {
    shape = shape.on(node.rows);
    Outcome leaf;
    leaf.upper = leaf_cost(context_, node, loss);
    leaf.relaxed = relaxed_leaf(node);
    leaf.lower = leaf.upper;
    // No split can pay where the leaf costs no more than one split does (without the minimum leaf size, too).
    if (shape.depth == 0 || (leaf.relaxed <= loss.split_penalty && leaf.upper < kInfinite) || node.columns.empty())
        return leaf;
    if (context_.constrained() && node.count < 2 * context_.min_leaf) {
        // Only the leaf is feasible, but the relaxed problem may still split: it is bounded by no errors at all.
        leaf.relaxed = std::min(leaf.relaxed, loss.split_penalty);
        return leaf;
    }
    if (limit <= 0) {
        leaf.lower = leaf.relaxed = 0;
        return leaf;
    }
    if (shape.depth == 1) {
        const Stump stump = best_stump(context_, node, loss, false);
        Outcome outcome;
        outcome.upper = outcome.lower = stump.cost;
        outcome.relaxed = stump.relaxed;
        if (stump.column)
            outcome.plan = split_plan(stump.column->id, stump.column->ranks[stump.position - 1], nullptr, nullptr);
        return outcome;
    }
    if (shape.depth == 2) return depth_two_.solve(node, {shape, limit, relatives, keep_profile, level}, loss, nullptr);
    return search(node, shape, limit, relatives, keep_profile, level, leaf, nullptr, nullptr, nullptr, nullptr);
}

Outcome TreeSearch::solve_root(const Node& node, Shape shape, const Outcome& start, const Listener& listener,
                               std::unique_ptr<StopSearch>& stopped, TieChoice* ties, LazyRows* lazy, Cost limit) {
    shape = shape.on(node.rows);
    Outcome outcome = start;
    if (ties) *ties = choice_of(node, start);
    if (start.upper <= 0) {
        outcome.lower = outcome.relaxed = outcome.upper;  // nothing costs less than nothing
        return outcome;
    }
    if (shape.depth >= 3 && !node.columns.empty()) {
        const Relatives known{known_of_root.get(), known_of_root.get()};
        return search(node, shape, limit, known, !ties, 0, start, &listener, &stopped, ties, lazy);
    }
    try {
        outcome = ties && shape.depth == 2 ? depth_two_.solve(node, {shape}, loss, ties)
                                           : solve(node, shape, kInfinite, {}, true, 0);
    } catch (const StopSearch& stop) {
        stopped = std::make_unique<StopSearch>(stop);
        if (shape.depth == 2) {
            const Outcome& standing = depth_two_.standing();
            outcome.lower = outcome.relaxed = std::max(outcome.lower, standing.lower);
            outcome.offer(standing);
        }
        return outcome;
    }
    if (listener) listener(outcome.upper, outcome.lower);
    return outcome;
}

void TreeSearch::make_families(Frame& frame, Relatives relatives) {
    const Node& node = frame.node;
    const std::vector<Division> shares = divisions(frame.shape);
    const Survey known = survey(frame);
    for (Index c = 0; c < node.columns.size(); ++c) {
        for (const Division& share : shares) {
            const std::uint32_t family = static_cast<std::uint32_t>(frame.families.size()),
                                ends = static_cast<std::uint32_t>(frame.points.size());
            frame.families.push_back({c, share.left, share.right,
                                      take_over(node, node.columns[c], share.left_splits, relatives),
                                      known.order.empty() ? 0 : known.order[c]});
            frame.left_splits.push_back(share.left_splits);
            frame.points_of.emplace_back();
            frame.points.push_back({0, 0, 0, 0, known.whole, nullptr, nullptr, nullptr, nullptr, 0, kInfinite});
            frame.points.push_back(
                {0, node.rows, node.weight, known.whole, 0, nullptr, nullptr, nullptr, nullptr, kInfinite, 0});
            push(frame, family, ends, ends + 1, {0, node.rows});
        }
    }
}

bool TreeSearch::look_between(const Frame& frame, std::uint32_t family, const DeepPoint& a, const DeepPoint& b,
                              Positions within, Opening& opening) const {
    const NodeColumn& column = frame.column(family);
    const Cost scale = loss.error_scale, cut = frame.cut(family) - loss.split_penalty;
    const bool lipschitz = !context_.off(kNoLipschitz);
    bool any = false;
    Opening stretch{};  // the stretch at hand: openings that adjoin are one
    bool running = false;
    const auto middle = [](Positions open) { return open.first + (open.last - open.first) / 2; };
    const auto close = [&] {
        // A stretch inside one group of ties holds no split at all.
        if (running && nearest_split(column, middle(stretch.stretch), stretch.stretch) == 0) running = false;
        if (running && (!any || stretch.bound < opening.bound ||
                        (stretch.bound == opening.bound && stretch.stretch.size() > opening.stretch.size()))) {
            opening.bound = stretch.bound;
            opening.stretch = stretch.stretch;
        }
        if (running) {
            opening.all = any ? Positions{opening.all.first, stretch.stretch.last} : stretch.stretch;
            any = true;
        }
        running = false;
    };
    const auto add = [&](Positions open, Cost bound) {
        open = {std::max(open.first, within.first), std::min(open.last, within.last)};
        if (open.empty()) return;
        if (running && stretch.stretch.last + 1 >= open.first) {
            stretch.stretch.last = open.last;
            stretch.bound = std::min(stretch.bound, bound);
        } else {
            close();
            stretch = {bound, open, open};
            running = true;
        }
    };
    const std::vector<DeepPoint>& hints = frame.families[family].hints;
    auto hint = std::upper_bound(hints.begin(), hints.end(), a, by_position);
    Cost left = a.left, right = a.right;
    Index position = a.position;
    Weight weight = a.weight;
    while (true) {
        const bool last = hint == hints.end() || hint->position >= b.position;
        const DeepPoint& next = last ? b : *hint;
        Cost next_left = next.left, next_right = next.right;
        if (!last) {
            next_left = std::max(next_left, left);
            next_right = std::max(next_right, b.right);
            if (lipschitz) {
                next_left = std::max(next_left, b.left - scale * (b.weight - next.weight));
                next_right = std::max(next_right, right - scale * (next.weight - weight));
            }
        }
        if (next.position - position >= 2) {
            const OpenRange range =
                open_range({left, right, weight}, {next_left, next_right, next.weight}, cut, loss, lipschitz);
            if (range.open) {
                const Positions open = positions_of(column, position, next.position, range.from, range.upto);
                if (!open.empty()) add(open, range.bound);
            }
        }
        if (last) break;
        if (next_left + next_right < cut && next.position >= column.first_split && next.position <= column.last_split)
            add({next.position, next.position}, next_left + next_right);
        left = next_left;
        right = next_right;
        position = next.position;
        weight = next.weight;
        ++hint;
    }
    close();
    opening.bound += loss.split_penalty;
    return any;
}

void TreeSearch::push(Frame& frame, std::uint32_t family, std::uint32_t a, std::uint32_t b, Positions within) const {
    const DeepPoint &low = frame.points[a], &high = frame.points[b];
    Opening opening{};
    if (high.position - low.position >= 2 && look_between(frame, family, low, high, within, opening))
        frame.heap.push(
            {opening.bound, family, a, b, high.position - low.position, opening.all, frame.families[family].order});
}

Index TreeSearch::choose_position(const Frame& frame, const Interval& interval, const Opening& opening) const {
    const NodeColumn& column = frame.column(interval.family);
    const Positions open = opening.stretch;
    if (frame.ties && opening.bound >= frame.outcome.upper) {
        // Only a tie can be found here: the widest margin decides it for the whole interval.
        Index widest = 0;
        double gap = -1;
        const Index first = std::max(frame.points[interval.a].position + 1, column.first_split),
                    last = std::min(frame.points[interval.b].position - 1, column.last_split);
        for (Index position = first; position <= last; ++position) {
            if (!Node::is_split(column, position)) continue;
            const double here = margin(context_, column, position);
            if (here > gap) {
                gap = here;
                widest = position;
            }
        }
        if (!widest ||
            !frame.ties->prefers(column.id, gap, column.ranks[widest - 1], frame.left_splits[interval.family]))
            return 0;
        return widest;
    }
    return nearest_split(column, open.first + (open.last - open.first) / 2, open);
}

// What is known about a split before it is tried. Where there is a sample, its rows are divided here, because it may
// grow at any time.
TreeSearch::Attempt TreeSearch::prepare(Frame& frame, const Interval& interval, Index position) {
    const NodeColumn& column = frame.column(interval.family);
    if (frame.lazy) {
        const auto sample_position = [&] {
            const Node& sample = frame.lazy->sample();
            const NodeColumn* same = find_column(sample, column.id);
            return same ? Node::rows_up_to(*same, column.ranks[position - 1], 0, sample.rows) : 0;
        };
        Index at = sample_position();
        // Both sides need a row of the sample, so that the split is one of the sample, too.
        if (at == 0 || at == frame.lazy->sample().rows) {
            sample_has_grown(frame, frame.lazy->include_ends(column));
            at = sample_position();
        }
        const Node& sample = frame.lazy->sample();
        Levels::Children& kids = levels.at(frame.level);
        builder_.split(sample, *find_column(sample, column.id), at, kids.left, kids.right);
    }
    return {interval,
            position,
            frame.points[interval.a],
            frame.points[interval.b],
            frame.cut(interval.family),
            frame.node.weight_left(column, position),
            frame.sample_number,
            frame.node.weight};
}

// Solves both children of a split, on the sample where there is one. What was found on fewer rows for the same split
// helps.
TreeSearch::Sides TreeSearch::solve_sides(const Frame& frame, const Attempt& attempt, const Sides* on_fewer_rows) {
    const Index position = attempt.position;
    const Family& family = frame.families[attempt.interval.family];
    const DeepPoint &low = attempt.low, &high = attempt.high;
    // What is known nearest below and above this split: the ends of the interval, or hints between them.
    const std::vector<DeepPoint>& hints = family.hints;
    const auto after = std::lower_bound(hints.begin(), hints.end(), position,
                                        [](const DeepPoint& hint, Index wanted) { return hint.position < wanted; });
    const auto beyond = after != hints.end() && after->position == position
                            ? after + 1
                            : after;  // a hint at the split itself is on both sides
    const DeepPoint& above = after != hints.end() && after->position < high.position ? *after : high;
    const DeepPoint& below = beyond != hints.begin() && (beyond - 1)->position > low.position ? *(beyond - 1) : low;
    Levels::Children& kids = levels.at(frame.level);
    const NodeColumn& column = frame.node.columns[family.column];
    if (chain_)
        chain_->begin(frame.level, {column.id, frame.left_splits[attempt.interval.family], column.ranks[position - 1]});
    if (!frame.lazy) builder_.split(frame.node, column, position, kids.left, kids.right);
    context_.counters.nodes += 2;
    const std::size_t columns = frame.lazy ? context_.table.columns : frame.node.columns.size();
    context_.monitor.work((std::uint64_t{kids.left.rows} + kids.right.rows) * (columns + 1) / 2);

    const Weight weight = attempt.weight;
    const Cost scale = loss.error_scale;
    const bool lipschitz = !context_.off(kNoLipschitz);
    Sides sides{{}, {}, std::max(low.left, below.left), std::max(high.right, above.right), weight};
    Cost &least_left = sides.least_left, &least_right = sides.least_right;
    if (lipschitz) {
        least_left = std::max(
            {least_left, high.left - scale * (high.weight - weight), above.left - scale * (above.weight - weight)});
        least_right = std::max(
            {least_right, low.right - scale * (weight - low.weight), below.right - scale * (weight - below.weight)});
    }
    if (on_fewer_rows) {
        least_left = std::max(least_left, on_fewer_rows->least_left);
        least_right = std::max(least_right, on_fewer_rows->least_right);
    }
    // A child that stops as soon as it cannot improve proves little about its neighbours; a raised budget makes its
    // bound close more of the interval.
    const Cost slack = context_.off(kNoSlack)
                           ? 0
                           : std::min(attempt.cut, scale * std::min(weight - low.weight, high.weight - weight) / 2);
    const Cost budget = attempt.cut - loss.split_penalty + slack;

    const auto nearest = [](const ProfilePtr& near, const ProfilePtr& far) { return near ? near.get() : far.get(); };
    Relatives left_relatives{nearest(below.inner_left, low.inner_left), nearest(above.outer_left, high.outer_left)};
    Relatives right_relatives{nearest(above.inner_right, high.inner_right),
                              nearest(below.outer_right, low.outer_right)};
    if (on_fewer_rows && on_fewer_rows->left.profile) left_relatives.inner = on_fewer_rows->left.profile.get();
    if (on_fewer_rows && on_fewer_rows->right.profile) right_relatives.inner = on_fewer_rows->right.profile.get();
    // A tree of a neighbouring child is a tree of this one: it costs no more on fewer rows, and at most their weight
    // more on more rows. So the optimum is known to lie below this, and only better splits are looked at from the
    // start. (A minimum leaf size would not carry over.)
    Cost most_left = kInfinite, most_right = kInfinite;
    if (!context_.constrained()) {
        most_left = std::min(high.left_upper, low.left_upper + scale * (weight - low.weight));
        most_right = std::min(low.right_upper, high.right_upper + scale * (high.weight - weight));
    }
    // A column that means nothing is closed as a whole once both sides of one split of it cost as much as the best tree
    // does: proving more would be wasted.
    const Cost enough = attempt.cut;
    const auto solve_left = [&](Cost limit) {
        if (chain_) chain_->go(frame.level, false);
        sides.left = solve(kids.left, family.left, std::min({limit, most_left + 1, enough}), left_relatives, true,
                           frame.level + 1);
        least_left = std::max(least_left, sides.left.relaxed);
        if (chain_) chain_->side_done(frame.level, sides.left, family.left, kids.left.rows);
    };
    const auto solve_right = [&](Cost limit) {
        if (chain_) chain_->go(frame.level, true);
        sides.right = solve(kids.right, family.right, std::min({limit, most_right + 1, enough}), right_relatives, true,
                            frame.level + 1);
        least_right = std::max(least_right, sides.right.relaxed);
        if (chain_) chain_->side_done(frame.level, sides.right, family.right, kids.right.rows);
    };
    // The larger child first: its bound is the likelier to settle the split alone.
    if (kids.left.rows >= kids.right.rows) {
        const Cost known_right = least_right;
        solve_left(budget - known_right);
        if (budget - sides.left.lower > known_right) solve_right(budget - sides.left.lower);
    } else {
        const Cost known_left = least_left;
        solve_right(budget - known_left);
        if (budget - sides.right.lower > known_left) solve_left(budget - sides.right.lower);
    }
    if (chain_) chain_->split_done(frame.level);
    return sides;
}

// The sample has grown: weights between splits are those of the new sample, trees of the old one may get the new rows
// wrong, and what was proven on it holds for fewer rows now.
void TreeSearch::grow_sample(Frame& frame, Cost wanted) { sample_has_grown(frame, frame.lazy->grow(wanted)); }

void TreeSearch::sample_has_grown(Frame& frame, Weight added) const {
    const Cost more = loss.error_scale * added;
    ++frame.sample_number;
    for (std::uint32_t f = 0; f < frame.families.size(); ++f) {
        const NodeColumn& column = frame.column(f);
        frame.points[2 * f + 1].weight = frame.node.weight;
        for (std::uint32_t number : frame.points_of[f]) {
            DeepPoint& point = frame.points[number];
            point.weight = frame.node.weight_left(column, point.position);
            point.left_upper += more;
            point.right_upper += more;
            point.outer_left = point.outer_right = nullptr;
        }
    }
}

// A split of that cost becomes the best so far.
void TreeSearch::accept(Frame& frame, std::uint32_t family, Index position, Cost cost, PlanPtr plan) const {
    const NodeColumn& column = frame.column(family);
    frame.outcome.upper = cost;
    frame.outcome.plan = std::move(plan);
    frame.outcome.left_splits = frame.left_splits[family];
    if (frame.ties)
        *frame.ties = {true, column.id, margin(context_, column, position), column.ranks[position - 1],
                       frame.left_splits[family]};
}

// Takes over what was found beside this search, and tells the listener. `busy` is the least bound of intervals that are
// being tried.
void TreeSearch::tell(Frame& frame, const Listener& listener, Cost busy, Cost& proven) const {
    take_found(frame);
    context_.found.offer(frame.outcome);
    const Cost open = std::min(busy, frame.least_open());
    proven = std::max(proven, std::min({frame.outcome.upper, open, frame.limit}));
    listener(frame.outcome.upper, proven);
    if (context_.checkpoint && context_.checkpoint->due()) save(frame);
}

// A better tree was found beside this search.
void TreeSearch::take_found(Frame& frame) const {
    if (frame.outcome.offer(context_.found) && frame.ties) *frame.ties = choice_of(frame.node, frame.outcome);
}

// A split that would win on the sample is tried on all rows. False where it does not win there: then the sample has
// grown.
bool TreeSearch::settle_on_all_rows(Frame& frame, const Interval& interval, Index position, const Sides& sides,
                                    PlanPtr& plan) {
    const Cost total = sides.total() + loss.split_penalty;
    if (!frame.lazy || frame.lazy->complete() || total >= frame.cut(interval.family)) return true;
    const LazyRows::Trial trial = frame.lazy->try_on_all(plan);
    if (trial.cost == total) {
        plan = trial.plan;
        return true;
    }
    // Not the best of this split, but perhaps better than what there was.
    if (trial.cost < frame.outcome.upper) accept(frame, interval.family, position, trial.cost, trial.plan);
    grow_sample(frame, frame.cut(interval.family) - total);
    return false;
}

void TreeSearch::evaluate(Frame& frame, const Interval& interval, Index position) {
    Attempt attempt = prepare(frame, interval, position);
    Sides sides = solve_sides(frame, attempt, nullptr);
    while (!settle(frame, attempt, sides)) {
        attempt = prepare(frame, interval, position);
        sides = solve_sides(frame, attempt, &sides);
    }
}

// Keeps what was found out about a split, and what is still open beside it. False where the sample has grown meanwhile
// and the split must be solved again.
bool TreeSearch::settle(Frame& frame, const Attempt& attempt, Sides& sides) {
    const Interval& interval = attempt.interval;
    const Index position = attempt.position;
    const NodeColumn& column = frame.column(interval.family);
    const Index rank = column.ranks[position - 1];
    if (attempt.sample_number != frame.sample_number) {
        if (sides.total() + loss.split_penalty < frame.cut(interval.family)) return false;
        // The bounds hold; the trees may get the new rows wrong, and the rows they were solved on are a part of those
        // there are now.
        const Cost more = loss.error_scale * (frame.node.weight - attempt.sample_weight);
        sides.left.upper = std::min(kInfinite, sides.left.upper + more);
        sides.right.upper = std::min(kInfinite, sides.right.upper + more);
    }
    PlanPtr plan = split_plan(column.id, rank, sides.left.plan, sides.right.plan);
    if (!settle_on_all_rows(frame, interval, position, sides, plan)) return false;
    ++context_.counters.intervals;
    const Outcome &left = sides.left, &right = sides.right;
    const bool same_rows = attempt.sample_number == frame.sample_number;
    DeepPoint point{rank,
                    position,
                    frame.node.weight_left(column, position),
                    sides.least_left,
                    sides.least_right,
                    left.profile,
                    same_rows ? left.profile : nullptr,
                    right.profile,
                    same_rows ? right.profile : nullptr,
                    left.upper,
                    right.upper};
    frame.relaxed = std::min(frame.relaxed, point.left + point.right + loss.split_penalty);
    const Cost total = std::min(kInfinite, sides.total() + loss.split_penalty);
    bool better = same_rows && total < frame.outcome.upper;
    if (!better && same_rows && frame.ties && frame.outcome.plan && total == frame.outcome.upper && total < frame.limit)
        better = frame.ties->prefers(column.id, margin(context_, column, position), rank,
                                     frame.left_splits[interval.family]);
    if (better) accept(frame, interval.family, position, total, std::move(plan));

    const std::uint32_t number = static_cast<std::uint32_t>(frame.points.size());
    frame.points.push_back(std::move(point));
    frame.points_of[interval.family].push_back(number);
    push(frame, interval.family, interval.a, number, interval.open);
    push(frame, interval.family, number, interval.b, interval.open);
    return true;
}

// The interval of the lowest bound that can still hold a better tree, and where to try it. False where there is none.
bool TreeSearch::next(Frame& frame, Interval& interval, Index& position) const {
    if (next_resumed(frame, interval, position)) return true;
    while (!frame.heap.empty() && frame.heap.top().bound < frame.cut()) {
        interval = frame.heap.top();
        frame.heap.pop();
        if (interval.bound >= frame.cut(interval.family)) continue;
        Opening opening{};
        if (!look_between(frame, interval.family, frame.points[interval.a], frame.points[interval.b], interval.open,
                          opening))
            continue;
        position = choose_position(frame, interval, opening);
        if (position) return true;
    }
    return false;
}

// See DepthTwo::bound_of_small_sides.
Cost TreeSearch::bound_of_small_sides(const Frame& frame) const {
    Cost least = kInfinite;
    for (std::uint32_t f = 0; f < frame.families.size(); ++f) {
        const NodeColumn& column = frame.column(f);
        Cost left = 0, right = 0;
        const auto look = [&](const DeepPoint& point) {
            if (point.position + 1 >= column.first_split) right = std::max(right, point.right);
            if (point.position <= column.last_split + 1) left = std::max(left, point.left);
        };
        for (const DeepPoint& hint : frame.families[f].hints) look(hint);
        for (std::uint32_t number : frame.points_of[f]) look(frame.points[number]);
        if (column.first_split > 1) least = std::min(least, loss.split_penalty + right);
        if (column.last_split + 1 < frame.node.rows) least = std::min(least, loss.split_penalty + left);
    }
    return least;
}

ProfilePtr TreeSearch::make_profile(const Frame& frame) const {
    if (context_.off(kNoInheritance) || context_.profile_bytes >= context_.memory_limit) return nullptr;
    auto profile = std::make_shared<Profile>(context_.profile_bytes, frame.shape, frame.node.rows, frame.node.weight);
    profile->deep.reserve(frame.families.size());
    for (std::size_t f = 0; f < frame.families.size(); ++f) {
        const NodeColumn& column = frame.node.columns[frame.families[f].column];
        DeepFamily& family = profile->deep.emplace_back(DeepFamily{column.id, frame.left_splits[f], {}});
        // Points evaluated here first: at the same position their children's profiles are the ones to keep.
        for (std::uint32_t number : frame.points_of[f]) family.points.push_back(frame.points[number]);
        for (const DeepPoint& hint : frame.families[f].hints)
            if (hint.position > 0 && hint.position < frame.node.rows) family.points.push_back(hint);
        if (!family.points.empty()) tidy(family.points, loss.error_scale);
        for (DeepPoint& point : family.points) point.rank = column.ranks[point.position - 1];
    }
    profile->account();
    context_.counters.profile_bytes_peak = std::max(context_.counters.profile_bytes_peak, context_.profile_bytes);
    return profile;
}

Outcome TreeSearch::search(const Node& node, Shape shape, Cost limit, Relatives relatives, bool keep_profile,
                           std::size_t level, const Outcome& start, const Listener* listener,
                           std::unique_ptr<StopSearch>* stopped, TieChoice* ties, LazyRows* lazy) {
    Frame frame{lazy ? lazy->view() : node,
                shape.on(node.rows),
                limit,
                level,
                ties,
                lazy,
                {},
                relaxed_leaf(node),
                {},
                {},
                {},
                {},
                {}};
    frame.outcome.take(start);
    Cost current = 0, proven = 0;  // bound of the interval at hand; bound of the whole node
    const bool told = listener && *listener;
    bool ready = false;
    Visit visit(*this, frame, told);
    try {
        make_families(frame, relatives);
        ready = true;
        visit.arrive();
        if (told && context_.n_jobs > 1) {
            search_together(frame, *listener, current, proven);
        } else {
            Interval interval{};
            for (Index position = 0; next(frame, interval, position);) {
                current = interval.bound;
                evaluate(frame, interval, position);
                if (told) tell(frame, *listener, kInfinite, proven);
            }
        }
    } catch (const StopSearch& stop) {
        visit.strand();
        if (!stopped) throw;
        *stopped = std::make_unique<StopSearch>(stop);
        if (told) take_found(frame);
        if (told && context_.checkpoint) save(frame);
        frame.outcome.lower = std::min({frame.outcome.upper, limit, current, frame.least_open()});
        frame.outcome.lower = frame.outcome.relaxed = std::max(frame.outcome.lower, proven);
        // The tie rule makes use of what is known, although a tree found beside this search has ended it.
        if (keep_profile && ready && stop.reason == StopReason::kTreeIsOptimal)
            frame.outcome.profile = make_profile(frame);
        return frame.outcome;
    }
    frame.outcome.lower = std::min(limit, frame.outcome.upper);
    frame.outcome.relaxed = context_.constrained()
                                ? std::min({frame.outcome.lower, frame.relaxed, bound_of_small_sides(frame)})
                                : frame.outcome.lower;
    if (keep_profile) frame.outcome.profile = make_profile(frame);
    return frame.outcome;
}

}  // namespace provetree
