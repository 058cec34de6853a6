// The search of one node while it goes on; see intervals/frontier.hpp.
#include "intervals/frontier.hpp"

#include <cstdlib>
#include <utility>

#include "intervals/pair_bounds.hpp"
#include "sweeps/depth_one.hpp"

namespace provetree {

TieChoice choice_of(const Context& context, const Node& node, const Incumbent& best) {
    if (!best.plan || best.plan->stump) return {};
    const NodeColumn& column = column_of(node, best.plan->column);
    const Index position = Node::rows_up_to(column, best.plan->rank, 0, node.rows);
    return {true, column.id, margin(context, column, position), column.ranks[position - 1], best.left_splits};
}

Frontier::Frontier(Context& context, const Loss& loss, const Node& node, const NodeRequest& request,
                   const Incumbent& start, TieChoice* ties)
    : context_(context), loss_(loss), node_(node), shape_(request.shape), limit_(request.limit),
      relatives_(context.off(kNoInheritance) ? Relatives{} : request.relatives), level_(request.level),
      pairs_(request.pairs), side_(request.side), ties_(ties), relaxed_(leaf_cost_of(node, loss)) {
    outcome_.take(start);
    // On few rows a budget is none, so this node may have more splits to share out than a node with more rows had.
    if (relatives_.outer && relatives_.outer->shape.splits < shape_.splits) relatives_.outer = nullptr;
}

void Frontier::open(const Survey& survey) {
    const std::vector<Division> any = divisions(shape_);
    families_.reserve(node_.columns.size() * std::max<std::size_t>(2, any.size()));
    count_leaves();
    for (Index c = 0; c < node_.columns.size(); ++c) {
        const int direction = direction_of(node_.columns[c]);
        const std::vector<Division> shares = direction ? divisions_with_leaf(shape_) : any;
        for (const Division& share : shares) {
            const std::uint32_t family = static_cast<std::uint32_t>(families_.size());
            families_.push_back({c,
                                 share,
                                 hints_from(relatives_, node_, node_.columns[c], share.left_splits, loss_),
                                 survey.order.empty() ? 0 : survey.order[c],
                                 {},
                                 {}});
            if (pairs_) pairs_->add_hints(side_, node_, node_.columns[c], loss_, families_.back().hints);
            // At either end of a column one side has no rows, and the other one has all of them.
            DeepPoint& low = points_.emplace_back();
            low.right = survey.whole;
            low.left_upper = 0;
            DeepPoint& high = points_.emplace_back();
            high.position = node_.rows;
            high.weight = node_.weight;
            high.left = survey.whole;
            high.right_upper = 0;
            push(family, low_end(family), high_end(family), {0, node_.rows});
        }
    }
}

// What leaves beside splits with a direction get wrong.
void Frontier::count_leaves() {
    if (!context_.rules || !context_.rules->directed() || context_.off(kNoClassCounts)) return;
    labelled_.resize(node_.columns.size());
    for (Index c = 0; c < node_.columns.size(); ++c) {
        const int direction = direction_of(node_.columns[c]);
        if (!direction) continue;
        labelled_[c].count(node_, node_.columns[c], direction);
        context_.monitor.work(node_.rows);
    }
}

bool Frontier::look_between(std::uint32_t family, const DeepPoint& a, const DeepPoint& b, Positions within,
                            Opening& opening) const {
    const NodeColumn& column = this->column(family);
    const Cost own = loss_.split_penalty + price_of(column);
    const Cost cut = this->cut(family) - own;
    const bool lipschitz = !context_.off(kNoLipschitz);
    bool any = false;
    const auto keep = [&](Positions stretch, Cost bound, std::size_t, std::size_t) {
        if (!any || bound < opening.bound || (bound == opening.bound && stretch.size() > opening.stretch.size())) {
            opening.bound = bound;
            opening.stretch = stretch;
        }
        opening.all = any ? Positions{opening.all.first, stretch.last} : stretch;
        any = true;
    };
    StretchJoiner stretches(column, keep);
    const auto add = [&](Positions open, Cost bound) {
        open = {std::max(open.first, within.first), std::min(open.last, within.last)};
        if (!open.empty()) stretches.add(open, bound, 0, 0);
    };
    const LabelledSides* const leaf = labelled(family);
    const bool on_right = leaf && leaf_on_right(family);
    const auto add_between = [&](Index low, const SideBounds& at_low, Index high, const SideBounds& at_high) {
        if (high - low < 2) return;
        if (leaf) {
            const BoundedEnds ends{low, high, on_right ? at_low.left : at_low.right,
                                   on_right ? at_high.left : at_high.right};
            const OpenSplits found = open_beside_leaf(*leaf, on_right, column, ends, cut, loss_, lipschitz);
            if (!found.open.empty()) add(found.open, found.bound);
            return;
        }
        const OpenRange range = open_range(at_low, at_high, cut, loss_, lipschitz);
        if (!range.open) return;
        const Positions open = positions_of(column, low, high, range.from, range.upto);
        if (!open.empty()) add(open, range.bound);
    };
    const Family& of = families_[family];
    const std::vector<DeepPoint>& hints = of.hints;
    auto hint = std::upper_bound(hints.begin(), hints.end(), a, by_position);
    Index position = a.position;
    SideBounds before{a.left, a.right, a.weight};
    for (; hint != hints.end() && hint->position < b.position; ++hint) {
        SideBounds here{std::max(hint->left, before.left + of.between(position, hint->position)),
                        std::max(hint->right, b.right + of.between(hint->position, b.position)), hint->weight};
        if (lipschitz) {
            here.left = std::max(here.left, b.left - loss_.slack(b.weight - here.weight));
            here.right = std::max(here.right, before.right - loss_.slack(here.weight - before.weight));
        }
        if (leaf) (on_right ? here.right : here.left) = loss_.leaf(leaf->errors(on_right, hint->position));
        add_between(position, before, hint->position, here);
        position = hint->position;
        before = here;
        if (here.left + here.right < cut && position >= column.first_split && position <= column.last_split)
            add({position, position}, here.left + here.right);
    }
    add_between(position, before, b.position, {b.left, b.right, b.weight});
    stretches.finish();
    opening.bound += own;
    return any;
}

Cost Frontier::Family::between(Index from, Index upto) const {
    const auto first = std::lower_bound(blocks.begin(), blocks.end(), from,
                                        [](const BlockEnd& end, Index wanted) { return end.position < wanted; });
    const auto last = std::upper_bound(first, blocks.end(), upto,
                                       [](Index wanted, const BlockEnd& end) { return wanted < end.position; });
    return first == last ? 0 : (last - 1)->sum - first->sum;
}

// Ends of blocks become hints: there bounds are looked at.
void Frontier::take_blocks(Index column, const std::vector<BlockEnd>& ends) {
    const NodeColumn& along = node_.columns[column];
    for (Family& family : families_) {
        if (family.column != column) continue;
        family.blocks = ends;
        for (const BlockEnd& end : ends) {
            if (end.position == 0 || end.position == node_.rows) continue;
            DeepPoint& hint = family.hints.emplace_back();
            hint.rank = along.ranks[end.position - 1];
            hint.position = end.position;
            hint.weight = node_.weight_left(along, end.position);
            hint.left = end.sum;
            hint.right = ends.back().sum - end.sum;
        }
        std::stable_sort(family.hints.begin(), family.hints.end(), by_position);
    }
}

bool Frontier::find_interval(std::uint32_t family, std::uint32_t a, std::uint32_t b, Positions within,
                             Interval& interval) {
    const DeepPoint &low = points_[a], &high = points_[b];
    Opening opening;
    const bool any = high.position - low.position >= 2 && look_between(family, low, high, within, opening);
    close_beside(family, a, b, within, any ? opening.all : Positions{1, 0});
    if (any)
        interval = {opening.bound, family, a, b, high.position - low.position, opening.all, families_[family].order};
    return any;
}

void Frontier::push(std::uint32_t family, std::uint32_t a, std::uint32_t b, Positions within) {
    Interval interval;
    if (find_interval(family, a, b, within, interval)) heap_.push(interval);
}

std::uint32_t Frontier::add_point(std::uint32_t family, DeepPoint&& point) {
    const std::uint32_t number = static_cast<std::uint32_t>(points_.size());
    points_.push_back(std::move(point));
    families_[family].settled.push_back(number);
    return number;
}

void Frontier::count_relaxed(const DeepPoint& point) {
    relaxed_ = std::min(relaxed_, point.left + point.right + loss_.split_penalty);
}

Cost Frontier::least_open() const {
    Cost least = heap_.empty() ? kInfinite : heap_.top().bound;
    for (const Attempt& first : resumed_) least = std::min(least, first.interval.bound);
    return least;
}

bool Frontier::next(Attempt& attempt, bool beside) {
    bool any = next_resumed(attempt) || next_open(attempt);
    while (!any && beside && open_beside()) any = next_open(attempt);
    if (any) trying_.push_back({attempt});
    return any;
}

bool Frontier::next_open(Attempt& attempt) {
    Interval& interval = attempt.interval;
    while (!heap_.empty() && heap_.top().bound < cut()) {
        interval = heap_.top();
        heap_.pop();
        const std::uint32_t family = interval.family;
        if (interval.bound >= cut(family)) {
            close(family, interval.open, interval.bound, Reason::kBetweenSplits);
            continue;
        }
        Opening opening;
        if (!look_between(family, points_[interval.a], points_[interval.b], interval.open, opening)) {
            close(family, interval.open, cut(family), Reason::kBetweenSplits);
            continue;
        }
        attempt.position = choose_position(interval, opening);
        if (attempt.position) return true;
        close(family, interval.open, opening.bound, Reason::kTieRule);
    }
    return false;
}

// Opens what is beside the split that has most beside it, of all that are being tried: the bounds with which it was
// handed out hold at its point, and its answer will only raise them. False where there is no such split left.
bool Frontier::open_beside() {
    Trying* widest = nullptr;
    for (Trying& one : trying_) {
        const Interval& interval = one.attempt.interval;
        if (one.early != kNoPoint || interval.bound >= cut(interval.family)) continue;
        if (!widest || interval.open.size() > widest->attempt.interval.open.size()) widest = &one;
    }
    if (!widest) return false;
    widest->early = early_point_of(widest->attempt);
    const Interval& interval = widest->attempt.interval;
    push(interval.family, interval.a, widest->early, interval.open);
    push(interval.family, widest->early, interval.b, interval.open);
    return true;
}

// What is known of the sides of a split when it is handed out.
std::uint32_t Frontier::early_point_of(const Attempt& attempt) {
    const SplitTask task = task_of(attempt);
    return add_point(attempt.interval.family,
                     {.rank = task.split.rank,
                      .position = attempt.position,
                      .weight = node_.weight_left(column(attempt.interval.family), attempt.position),
                      .left = task.least_left,
                      .right = task.least_right,
                      .inner_left = task.inner_left,
                      .outer_left = task.outer_left,
                      .inner_right = task.inner_right,
                      .outer_right = task.outer_right,
                      .left_upper = task.most_left,
                      .right_upper = task.most_right});
}

bool Frontier::is_early(std::uint32_t point) const {
    return std::any_of(trying_.begin(), trying_.end(), [&](const Trying& one) { return one.early == point; });
}

// A split that an earlier search was at, as long as one of them is open.
bool Frontier::next_resumed(Attempt& attempt) {
    while (!resumed_.empty()) {
        attempt = resumed_.back();
        resumed_.pop_back();
        const Interval& interval = attempt.interval;
        Opening opening;
        if (!look_between(interval.family, points_[interval.a], points_[interval.b], interval.open, opening)) {
            close(interval.family, interval.open, cut(interval.family), Reason::kBetweenSplits);
            continue;
        }
        if (attempt.position >= opening.all.first && attempt.position <= opening.all.last) return true;
        heap_.push(interval);
    }
    return false;
}

Index Frontier::choose_position(const Interval& interval, const Opening& opening) const {
    if (ties_ && opening.bound >= outcome_.upper) return widest_tie(interval);
    const NodeColumn& column = this->column(interval.family);
    const Index middle = nearest_split(column, opening.stretch.middle(), opening.stretch);
    // A minimum leaf size could forbid the smaller side.
    if (!labelled(interval.family) || context_.constrained()) return middle;
    const bool on_right = leaf_on_right(interval.family);
    const std::uint32_t label = static_cast<std::uint32_t>(label_of(direction_of(column), on_right));
    const Positions within{std::max(points_[interval.a].position + 1, column.first_split),
                           std::min(points_[interval.b].position - 1, column.last_split)};
    return past_rows_of_leaf(node_, column, middle, within, label, on_right);
}

// Only a tie can be found in the interval: its widest margin decides it. 0 where what there is is preferred.
Index Frontier::widest_tie(const Interval& interval) const {
    const NodeColumn& column = this->column(interval.family);
    Index widest = 0;
    double gap = -1;
    const Index first = std::max(points_[interval.a].position + 1, column.first_split),
                last = std::min(points_[interval.b].position - 1, column.last_split);
    for (Index position = first; position <= last; ++position) {
        if (!Node::is_split(column, position)) continue;
        const double here = margin(context_, column, position);
        if (here > gap) {
            gap = here;
            widest = position;
        }
    }
    const std::int64_t left_splits = families_[interval.family].share.left_splits;
    return widest && ties_->prefers(column.id, gap, column.ranks[widest - 1], left_splits) ? widest : 0;
}

SplitTask Frontier::task_of(const Attempt& attempt) const {
    const Interval& interval = attempt.interval;
    const Family& family = families_[interval.family];
    const Index position = attempt.position;
    const DeepPoint &low = points_[interval.a], &high = points_[interval.b];
    // What is known nearest below and above this split: ends or hints. A hint at the split itself is on both sides.
    const std::vector<DeepPoint>& hints = family.hints;
    const auto after = std::lower_bound(hints.begin(), hints.end(), position,
                                        [](const DeepPoint& hint, Index wanted) { return hint.position < wanted; });
    const auto beyond = after != hints.end() && after->position == position ? after + 1 : after;
    const DeepPoint& above = after != hints.end() && after->position < high.position ? *after : high;
    const DeepPoint& below = beyond != hints.begin() && (beyond - 1)->position > low.position ? *(beyond - 1) : low;

    SplitTask task;
    task.split = name_of(interval.family, position);
    task.left = family.share.left;
    task.right = family.share.right;
    task.bound = interval.bound;
    task.cut = cut(interval.family);
    task.price = price_of(column(interval.family));
    task.sample = sample_;
    task.sample_weight = node_.weight;
    const Weight weight = node_.weight_left(column(interval.family), position);
    task.least_left = std::max(low.left, below.left);
    task.least_right = std::max(high.right, above.right);
    if (!context_.off(kNoLipschitz)) {
        task.least_left = std::max({task.least_left, high.left - loss_.slack(high.weight - weight),
                                    above.left - loss_.slack(above.weight - weight)});
        task.least_right = std::max({task.least_right, low.right - loss_.slack(weight - low.weight),
                                     below.right - loss_.slack(weight - below.weight)});
    }
    // A child that stops as soon as it cannot improve says little of its neighbours: a raised budget closes more.
    if (!context_.off(kNoSlack)) {
        Weight below_it = weight - low.weight, above_it = high.weight - weight;
        if (const LabelledSides* leaf = labelled(interval.family)) {
            // On one side of the split what the leaf gets wrong tells how far a bound goes, on the other what it does
            // not.
            const bool on_right = leaf_on_right(interval.family);
            const Weight wrong_below =
                             std::abs(leaf->errors(on_right, position) - leaf->errors(on_right, low.position)),
                         wrong_above =
                             std::abs(leaf->errors(on_right, high.position) - leaf->errors(on_right, position));
            below_it = on_right ? below_it - wrong_below : wrong_below;
            above_it = on_right ? wrong_above : above_it - wrong_above;
        }
        task.slack = std::min(task.cut, loss_.slack(std::min(below_it, above_it)) / 2);
    }
    // A tree of a neighbouring child is a tree of this one: it costs no more on fewer rows, and at most their weight
    // more on more rows. So the optimum is known to lie below this, and only better splits are looked at from the
    // start. (A minimum leaf size would not carry over.)
    if (!context_.constrained()) {
        task.most_left = std::min(high.left_upper, low.left_upper + loss_.slack(weight - low.weight));
        task.most_right = std::min(low.right_upper, high.right_upper + loss_.slack(high.weight - weight));
    }
    const auto nearest = [](const ProfilePtr& near, const ProfilePtr& far) { return near ? near : far; };
    task.inner_left = nearest(below.inner_left, low.inner_left);
    task.outer_left = nearest(above.outer_left, high.outer_left);
    task.inner_right = nearest(above.inner_right, high.inner_right);
    task.outer_right = nearest(below.outer_right, low.outer_right);
    return task;
}

void Frontier::settle(const Attempt& attempt, const SplitAnswer& answer, bool same_rows) {
    const Interval& interval = attempt.interval;
    const std::uint32_t family = interval.family;
    const NodeColumn& column = this->column(family);
    const Outcome &left = answer.left, &right = answer.right;
    const Index position = attempt.position, rank = column.ranks[position - 1];
    if (const Cost total = answer.best.upper; same_rows) {
        bool better = total < outcome_.upper;
        if (!better && ties_ && outcome_.plan && total == outcome_.upper && total < limit_)
            better = ties_->prefers(column.id, margin(context_, column, position), rank,
                                    families_[family].share.left_splits);
        if (better) accept(attempt, total, answer.best.plan);
    }
    close(family, {position, position},
          std::min(kInfinite, std::max(left.lower, answer.least_left) + std::max(right.lower, answer.least_right) +
                                  loss_.split_penalty),
          Reason::kTried);
    DeepPoint point{.rank = rank,
                    .position = position,
                    .weight = node_.weight_left(column, position),
                    .left = answer.least_left,
                    .right = answer.least_right,
                    .inner_left = left.profile,
                    .outer_left = same_rows ? left.profile : nullptr,
                    .inner_right = right.profile,
                    .outer_right = same_rows ? right.profile : nullptr,
                    .left_upper = left.upper,
                    .right_upper = right.upper};
    const std::uint32_t early = no_longer_tried(attempt);
    if (early != kNoPoint) return tighten(early, std::move(point));
    count_relaxed(point);
    const std::uint32_t number = add_point(family, std::move(point));
    push(family, interval.a, number, interval.open);
    push(family, number, interval.b, interval.open);
}

// The number of the point of a split whose answer has come, where it had one before.
std::uint32_t Frontier::no_longer_tried(const Attempt& attempt) {
    // The last one handed out is the first to come back, where one thread searches.
    const auto found = std::find_if(trying_.rbegin(), trying_.rend(), [&](const Trying& one) {
        return one.attempt.interval.family == attempt.interval.family && one.attempt.position == attempt.position;
    });
    if (found == trying_.rend()) return kNoPoint;
    const std::uint32_t early = found->early;
    trying_.erase(std::next(found).base());
    return early;
}

// The answer to a split that had its point before: what was known of it holds as well.
void Frontier::tighten(std::uint32_t early, DeepPoint&& answer) {
    DeepPoint& point = points_[early];
    answer.left = std::max(answer.left, point.left);
    answer.right = std::max(answer.right, point.right);
    answer.left_upper = std::min(answer.left_upper, point.left_upper);
    answer.right_upper = std::min(answer.right_upper, point.right_upper);
    const auto keep = [](ProfilePtr& now, ProfilePtr& before) {
        if (!now) now = std::move(before);
    };
    keep(answer.inner_left, point.inner_left);
    keep(answer.outer_left, point.outer_left);
    keep(answer.inner_right, point.inner_right);
    keep(answer.outer_right, point.outer_right);
    count_relaxed(answer);
    point = std::move(answer);
}

void Frontier::accept(const Attempt& attempt, Cost cost, PlanPtr plan) {
    const SplitName split = name_of(attempt.interval.family, attempt.position);
    outcome_.upper = cost;
    outcome_.plan = std::move(plan);
    outcome_.left_splits = split.left_splits;
    if (ties_)
        *ties_ = {true, split.column, margin(context_, column(attempt.interval.family), attempt.position), split.rank,
                  split.left_splits};
}

void Frontier::offer(const Incumbent& found) {
    if (outcome_.offer(found) && ties_) *ties_ = choice_of(context_, node_, outcome_);
}

void Frontier::sample_has_grown(Weight added) {
    const Cost more = loss_.slack(added);
    ++sample_;
    count_leaves();
    for (std::uint32_t f = 0; f < families_.size(); ++f) {
        points_[high_end(f)].weight = node_.weight;
        for (std::uint32_t number : families_[f].settled) {
            DeepPoint& point = points_[number];
            point.weight = node_.weight_left(column(f), point.position);
            point.left_upper += more;
            point.right_upper += more;
            point.outer_left = point.outer_right = nullptr;
        }
        for (DeepPoint& hint : families_[f].hints) hint.weight = node_.weight_left(column(f), hint.position);
    }
}

Outcome Frontier::finished(bool keep_profile) {
    if (context_.closings.heard()) {
        for (; !heap_.empty(); heap_.pop())
            close(heap_.top().family, heap_.top().open, heap_.top().bound, Reason::kBetweenSplits);
    }
    outcome_.lower = outcome_.relaxed = std::min(limit_, outcome_.upper);
    if (context_.constrained()) outcome_.relaxed = std::min({outcome_.lower, relaxed_, bound_of_small_sides()});
    if (keep_profile) outcome_.profile = make_profile();
    return std::move(outcome_);
}

Cost Frontier::bound_of_small_sides() const {
    Cost least = kInfinite;
    for (const Family& family : families_) {
        SmallSides small(node_.columns[family.column]);
        for (const DeepPoint& hint : family.hints) small.look(hint.position, hint.left, hint.right);
        for (std::uint32_t number : family.settled)
            small.look(points_[number].position, points_[number].left, points_[number].right);
        least = std::min(least, small.bound(node_.rows, loss_));
    }
    return least;
}

ProfilePtr Frontier::make_profile() const {
    auto profile = new_profile(context_, shape_, node_);
    if (!profile) return nullptr;
    profile->deep.reserve(families_.size());
    for (const Family& family : families_) {
        const NodeColumn& column = node_.columns[family.column];
        DeepFamily& deep = profile->deep.emplace_back(DeepFamily{column.id, family.share.left_splits, {}});
        // Points settled here first: at the same position their children's profiles are the ones to keep.
        for (std::uint32_t number : family.settled) deep.points.push_back(points_[number]);
        for (const DeepPoint& hint : family.hints)
            if (hint.position > 0 && hint.position < node_.rows) deep.points.push_back(hint);
        if (!deep.points.empty()) tidy(deep.points, loss_);
        for (DeepPoint& point : deep.points) point.rank = column.ranks[point.position - 1];
    }
    return counted(context_, std::move(profile));
}

// No tree that begins with a split at these positions costs less than the bound.
void Frontier::close(std::uint32_t family, Positions closed, Cost bound, Reason reason) {
    // Splits with a direction that say nothing, both sides of one class, are looked at as a leaf of the whole node.
    if (direction_of(column(family))) bound = std::min(bound, leaf_cost_of(node_, loss_) + loss_.split_penalty);
    context_.closings.close(
        [&] {
            Region region = region_of(column(family), closed, shape_, level_);
            region.left_splits = families_[family].share.left_splits;
            return region;
        },
        bound, reason);
}

// What is between two points and within these positions, but not in what is open.
void Frontier::close_beside(std::uint32_t family, std::uint32_t a, std::uint32_t b, Positions within, Positions open) {
    if (!context_.closings.heard()) [[likely]]
        return;
    const Positions all{std::max(within.first, points_[a].position + 1),
                        std::min(within.last, points_[b].position - 1)};
    const auto closed = [&](Positions positions) { close(family, positions, cut(family), Reason::kBetweenSplits); };
    if (open.empty()) return closed(all);
    closed({all.first, open.first - 1});
    closed({open.last + 1, all.last});
}

}  // namespace provetree
