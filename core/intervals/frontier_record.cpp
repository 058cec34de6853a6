// What a frontier leaves on disk, and how another one goes on from there.
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "intervals/frontier.hpp"

namespace provetree {

namespace {

constexpr std::size_t kMostPoints = 100'000;  // of one node; what is beyond is found again

// Fewer points, where there are too many: bounds taken over first, then evenly. Each of them is true by itself.
void thin_out(std::vector<KnownNode::Point>& points) {
    if (points.size() <= kMostPoints) return;
    std::erase_if(points, [](const KnownNode::Point& point) { return !point.settled; });
    const std::size_t step = (points.size() + kMostPoints - 1) / kMostPoints;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < points.size(); i += step) points[kept++] = points[i];
    points.resize(kept);
}

// A split that is bounded and not settled.
KnownNode::Point bounded(const SplitName& split, const DeepPoint& point) {
    return {.split = split, .left = point.left, .right = point.right, .of_left = {}, .of_right = {}};
}

}  // namespace

KnownNode record_of(const Outcome& outcome, Shape shape, Index rows) {
    KnownNode node;
    node.shape = shape;
    node.rows = rows;
    node.best.take(outcome);
    node.lower = outcome.lower;
    node.relaxed = outcome.relaxed;
    if (!outcome.profile) return node;
    node.weight = outcome.profile->weight;
    for (const DeepFamily& family : families_of(*outcome.profile))
        for (const DeepPoint& point : family.points)
            node.points.push_back(bounded({family.id, family.left_splits, point.rank}, point));
    thin_out(node.points);
    return node;
}

KnownNode Frontier::record() const {
    KnownNode known;
    known.shape = shape_;
    known.rows = node_.rows;
    known.weight = node_.weight;
    known.best.take(outcome_);
    known.cut = std::min(limit_, outcome_.upper);
    known.by_tie_rule = ties_ != nullptr;
    for (std::uint32_t f = 0; f < families_.size(); ++f) {
        const Family& family = families_[f];
        std::vector<std::uint32_t> numbers = family.settled;
        std::sort(numbers.begin(), numbers.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return by_position(points_[a], points_[b]); });
        // What is known of the sides of a split helps its neighbours only, where they are open.
        const auto open = [&](std::uint32_t a, std::uint32_t b) {
            const DeepPoint &low = points_[a], &high = points_[b];
            Opening opening;
            return high.position - low.position >= 2 && look_between(f, low, high, {0, node_.rows}, opening);
        };
        bool open_before = numbers.empty() || open(low_end(f), numbers[0]);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const DeepPoint& point = points_[numbers[i]];
            const bool open_after = open(numbers[i], i + 1 < numbers.size() ? numbers[i + 1] : high_end(f));
            KnownNode::Point kept = bounded(name_of(f, point.position), point);
            kept.settled = !is_early(numbers[i]);
            kept.left_upper = point.left_upper;
            kept.right_upper = point.right_upper;
            if (open_before || open_after) {
                kept.of_left = point.inner_left;
                kept.of_right = point.inner_right;
                kept.whole = point.inner_left == point.outer_left && point.inner_right == point.outer_right;
            }
            known.points.push_back(std::move(kept));
            open_before = open_after;
        }
        for (const DeepPoint& hint : family.hints)
            if (hint.position > 0 && hint.position < node_.rows)
                known.points.push_back(bounded(name_of(f, hint.position), hint));
    }
    thin_out(known.points);
    for (const Attempt& first : resumed_) known.tried.push_back(name_of(first.interval.family, first.position));
    return known;
}

// Takes over the tree. Splits tried are settled unless more is asked for; under the tie rule, equal costs are more.
bool Frontier::still_settled(const KnownNode& known) {
    if (known.rows != node_.rows) return false;
    bool same_choice = false;
    if (known.best.plan && (known.best.upper < outcome_.upper || (ties_ && known.best.upper == outcome_.upper))) {
        outcome_.take(known.best);
        if (ties_) *ties_ = choice_of(context_, node_, outcome_);
        same_choice = known.by_tie_rule;
    }
    const Cost now = std::min(limit_, outcome_.upper);
    return ties_ && !same_choice ? now < known.cut : now <= known.cut;
}

DeepPoint Frontier::placed(const KnownNode& known, const KnownNode::Point& of, std::uint32_t family,
                           Index position) const {
    const bool same_sample = known.rows == node_.rows && known.weight == node_.weight;
    return {.rank = of.split.rank,
            .position = position,
            .weight = node_.weight_left(column(family), position),
            .left = of.left,
            .right = of.right,
            .inner_left = of.of_left,
            .outer_left = same_sample && of.whole ? of.of_left : nullptr,
            .inner_right = of.of_right,
            .outer_right = same_sample && of.whole ? of.of_right : nullptr,
            .left_upper = same_sample ? of.left_upper : kInfinite,
            .right_upper = same_sample ? of.right_upper : kInfinite};
}

void Frontier::take_up(const KnownNode& known) {
    if (context_.off(kNoInheritance)) return;
    const bool settled = still_settled(known);
    std::map<std::pair<Index, std::int64_t>, std::vector<const KnownNode::Point*>> by_family;
    for (const KnownNode::Point& point : known.points)
        by_family[{point.split.column, point.split.left_splits}].push_back(&point);
    heap_ = {};
    for (std::uint32_t f = 0; f < families_.size(); ++f) {
        Family& family = families_[f];
        const NodeColumn& column = this->column(f);
        std::vector<DeepPoint> ends;
        for (const KnownNode::Point* of : by_family[{column.id, family.share.left_splits}]) {
            const Index position = Node::rows_up_to(column, of->split.rank, 0, node_.rows);
            if (position == 0 || position == node_.rows) continue;
            (settled && of->settled ? ends : family.hints).push_back(placed(known, *of, f, position));
        }
        for (const DeepPoint& end : ends) close(f, {end.position, end.position}, known.cut, Reason::kKnown);
        if (!family.hints.empty()) tidy(family.hints, loss_);
        // What its bounds close is settled as well.
        if (!settled) {
            const auto cost = [&](const DeepPoint& hint) { return hint.left + hint.right + loss_.split_penalty; };
            const auto open =
                std::stable_partition(family.hints.begin(), family.hints.end(), [&](const DeepPoint& hint) {
                    return cost(hint) < cut(f) || hint.position == 0 || hint.position == node_.rows;
                });
            for (auto hint = open; hint != family.hints.end(); ++hint)
                close(f, {hint->position, hint->position}, cost(*hint), Reason::kKnown);
            std::move(open, family.hints.end(), std::back_inserter(ends));
            family.hints.erase(open, family.hints.end());
        }
        settle_known(f, std::move(ends), known);
    }
    const Cost proven = known.rows == node_.rows ? known.lower : known.relaxed;
    if (proven > 0 && proven >= std::min(limit_, outcome_.upper)) {
        heap_ = {};
        resumed_.clear();
        relaxed_ = std::min(relaxed_, known.relaxed);
        context_.closings.close([&] { return Region::all_splits(level_, shape_); }, proven, Reason::kKnown);
    }
}

// The points are those where the family is settled, and between them it is open.
void Frontier::settle_known(std::uint32_t family, std::vector<DeepPoint> ends, const KnownNode& known) {
    std::stable_sort(ends.begin(), ends.end(), by_position);
    ends.erase(std::unique(ends.begin(), ends.end(),
                           [](const DeepPoint& a, const DeepPoint& b) { return a.position == b.position; }),
               ends.end());
    std::uint32_t last = low_end(family);
    for (DeepPoint& point : ends) {
        count_relaxed(point);
        const std::uint32_t number = add_point(family, std::move(point));
        list_between(family, last, number, known);
        last = number;
    }
    list_between(family, last, high_end(family), known);
}

// An interval with a split that was being solved comes first.
void Frontier::list_between(std::uint32_t family, std::uint32_t a, std::uint32_t b, const KnownNode& known) {
    const NodeColumn& column = this->column(family);
    const Positions all{0, node_.rows};
    for (const SplitName& split : known.tried) {
        if (split.column != column.id || split.left_splits != families_[family].share.left_splits) continue;
        const Index position = Node::rows_up_to(column, split.rank, 0, node_.rows);
        if (position <= points_[a].position || position >= points_[b].position) continue;
        Attempt first;
        first.position = position;
        if (find_interval(family, a, b, all, first.interval)) resumed_.push_back(first);
        return;
    }
    push(family, a, b, all);
}

}  // namespace provetree
