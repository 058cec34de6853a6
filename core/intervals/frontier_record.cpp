// Frontiers on disk; see intervals/frontier_record.hpp.
#include "intervals/frontier_record.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "intervals/hints.hpp"

namespace provetree {

namespace {

constexpr std::size_t kMostPoints = 100'000;         // of one node; what is beyond is found again
constexpr std::size_t kMostProfilePoints = 300'000;  // of the sides of splits, in one file

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
    KnownNode::Point kept{};
    kept.split = split;
    kept.left = point.left;
    kept.right = point.right;
    return kept;
}

std::size_t points_in(const ProfilePtr& profile) {
    std::size_t points = 0;
    if (!profile) return points;
    for (const PanelColumn& column : profile->panel) points += column.points.size();
    for (const DeepFamily& family : profile->deep) points += family.points.size();
    return points;
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
    for (const DeepFamily& family : outcome.profile->deep)
        for (const DeepPoint& point : family.points)
            node.points.push_back(bounded({family.id, family.left_splits, point.rank}, point));
    thin_out(node.points);
    return node;
}

KnownNode record_of(const Frontier& frontier) {
    KnownNode known;
    known.shape = frontier.shape_;
    known.rows = frontier.node_.rows;
    known.weight = frontier.node_.weight;
    known.best.take(frontier.outcome_);
    known.cut = std::min(frontier.limit_, frontier.outcome_.upper);
    known.by_tie_rule = frontier.ties_ != nullptr;
    for (std::uint32_t f = 0; f < frontier.families_.size(); ++f) {
        const Frontier::Family& family = frontier.families_[f];
        std::vector<std::uint32_t> numbers = family.settled;
        std::sort(numbers.begin(), numbers.end(), [&](std::uint32_t a, std::uint32_t b) {
            return by_position(frontier.points_[a], frontier.points_[b]);
        });
        // What is known of the sides of a split helps its neighbours only, where they are open.
        const auto open = [&](std::uint32_t a, std::uint32_t b) {
            const DeepPoint &low = frontier.points_[a], &high = frontier.points_[b];
            Frontier::Opening opening;
            return high.position - low.position >= 2 &&
                   frontier.look_between(f, low, high, {0, frontier.node_.rows}, opening);
        };
        bool open_before = numbers.empty() || open(Frontier::low_end(f), numbers[0]);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const DeepPoint& point = frontier.points_[numbers[i]];
            const bool open_after = open(numbers[i], i + 1 < numbers.size() ? numbers[i + 1] : Frontier::high_end(f));
            KnownNode::Point kept = bounded(frontier.name_of(f, point.position), point);
            kept.settled = true;
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
            if (hint.position > 0 && hint.position < frontier.node_.rows)
                known.points.push_back(bounded(frontier.name_of(f, hint.position), hint));
    }
    thin_out(known.points);
    for (const Frontier::Attempt& first : frontier.resumed_)
        known.tried.push_back(frontier.name_of(first.interval.family, first.position));
    return known;
}

// How a frontier takes up what is known of its node.
class FrontierResumption {
  public:
    FrontierResumption(Frontier& frontier, const KnownNode& known)
        : frontier_(frontier),
          known_(known),
          same_rows_(known.rows == frontier.node_.rows),
          same_sample_(same_rows_ && known.weight == frontier.node_.weight) {}

    void take_up();

  private:
    bool still_settled();
    DeepPoint placed(const KnownNode::Point& of, const NodeColumn& column, Index position) const;
    void take_up_family(std::uint32_t family, std::vector<DeepPoint> ends);
    void list_between(std::uint32_t family, std::uint32_t a, std::uint32_t b);

    Frontier& frontier_;
    const KnownNode& known_;
    const bool same_rows_, same_sample_;
};

// Takes over the tree. Splits that were tried are settled for good, unless more is asked for than was then. Under the
// tie rule, a tree that costs as much is less.
bool FrontierResumption::still_settled() {
    Outcome& outcome = frontier_.outcome_;
    TieChoice* ties = frontier_.ties_;
    bool same_choice = false;
    if (same_rows_ && known_.best.plan &&
        (known_.best.upper < outcome.upper || (ties && known_.best.upper == outcome.upper))) {
        outcome.take(known_.best);
        if (ties) *ties = choice_of(frontier_.context_, frontier_.node_, outcome);
        same_choice = known_.by_tie_rule;
    }
    const Cost now = std::min(frontier_.limit_, outcome.upper);
    return same_rows_ && (ties ? now < known_.cut || (now == known_.cut && same_choice) : now <= known_.cut);
}

DeepPoint FrontierResumption::placed(const KnownNode::Point& of, const NodeColumn& column, Index position) const {
    DeepPoint point{};
    point.rank = of.split.rank;
    point.position = position;
    point.weight = frontier_.node_.weight_left(column, position);
    point.left = of.left;
    point.right = of.right;
    point.inner_left = of.of_left;
    point.inner_right = of.of_right;
    if (!same_sample_) return point;
    point.left_upper = of.left_upper;
    point.right_upper = of.right_upper;
    if (of.whole) {
        point.outer_left = of.of_left;
        point.outer_right = of.of_right;
    }
    return point;
}

void FrontierResumption::take_up() {
    if (frontier_.context_.off(kNoInheritance)) return;
    const Node& node = frontier_.node_;
    const bool settled = still_settled();
    std::map<std::pair<Index, std::int64_t>, std::vector<const KnownNode::Point*>> by_family;
    for (const KnownNode::Point& point : known_.points)
        by_family[{point.split.column, point.split.left_splits}].push_back(&point);
    frontier_.heap_ = {};
    for (std::uint32_t f = 0; f < frontier_.families_.size(); ++f) {
        Frontier::Family& family = frontier_.families_[f];
        const NodeColumn& column = frontier_.column(f);
        std::vector<DeepPoint> ends;
        for (const KnownNode::Point* of : by_family[{column.id, family.share.left_splits}]) {
            const Index position = Node::rows_up_to(column, of->split.rank, 0, node.rows);
            if (position == 0 || position == node.rows) continue;
            (settled && of->settled ? ends : family.hints).push_back(placed(*of, column, position));
        }
        for (const DeepPoint& end : ends) frontier_.close(f, {end.position, end.position}, known_.cut, Reason::kKnown);
        if (!family.hints.empty()) tidy(family.hints, frontier_.loss_);
        // What its bounds close is settled as well.
        if (!settled) {
            const auto cost = [&](const DeepPoint& hint) {
                return hint.left + hint.right + frontier_.loss_.split_penalty;
            };
            const auto open =
                std::stable_partition(family.hints.begin(), family.hints.end(), [&](const DeepPoint& hint) {
                    return cost(hint) < frontier_.cut(f) || hint.position == 0 || hint.position == node.rows;
                });
            for (auto hint = open; hint != family.hints.end(); ++hint)
                frontier_.close(f, {hint->position, hint->position}, cost(*hint), Reason::kKnown);
            std::move(open, family.hints.end(), std::back_inserter(ends));
            family.hints.erase(open, family.hints.end());
        }
        take_up_family(f, std::move(ends));
    }
    const Cost proven = same_rows_ ? known_.lower : known_.relaxed;
    if (proven > 0 && proven >= std::min(frontier_.limit_, frontier_.outcome_.upper)) {
        frontier_.heap_ = {};
        frontier_.resumed_.clear();
        frontier_.relaxed_ = std::min(frontier_.relaxed_, known_.relaxed);
        frontier_.context_.closings.close([&] { return Region::all_splits(frontier_.level_, frontier_.shape_); },
                                          proven, Reason::kKnown);
    }
}

// The points are those where the family is settled, and between them it is open.
void FrontierResumption::take_up_family(std::uint32_t family, std::vector<DeepPoint> ends) {
    std::stable_sort(ends.begin(), ends.end(), by_position);
    ends.erase(std::unique(ends.begin(), ends.end(),
                           [](const DeepPoint& a, const DeepPoint& b) { return a.position == b.position; }),
               ends.end());
    std::uint32_t last = Frontier::low_end(family);
    for (DeepPoint& point : ends) {
        const std::uint32_t number = frontier_.add_point(family, std::move(point));
        list_between(family, last, number);
        last = number;
    }
    list_between(family, last, Frontier::high_end(family));
}

// An interval with a split that was being solved comes first.
void FrontierResumption::list_between(std::uint32_t family, std::uint32_t a, std::uint32_t b) {
    const NodeColumn& column = frontier_.column(family);
    const Positions all{0, frontier_.node_.rows};
    for (const SplitName& split : known_.tried) {
        if (split.column != column.id || split.left_splits != frontier_.families_[family].share.left_splits) continue;
        const Index position = Node::rows_up_to(column, split.rank, 0, frontier_.node_.rows);
        if (position <= frontier_.points_[a].position || position >= frontier_.points_[b].position) continue;
        Frontier::Attempt first;
        first.position = position;
        if (frontier_.find_interval(family, a, b, all, first.interval)) frontier_.resumed_.push_back(first);
        return;
    }
    frontier_.push(family, a, b, all);
}

void take_up(Frontier& frontier, const KnownNode& known) { FrontierResumption(frontier, known).take_up(); }

void limit_profiles(Checkpoint& checkpoint) {
    std::size_t room = kMostProfilePoints;
    const auto limit = [&](KnownNode& node) {
        for (KnownNode::Point& point : node.points) {
            const std::size_t points = points_in(point.of_left) + points_in(point.of_right);
            if (points > room)
                point.of_left = point.of_right = nullptr;
            else
                room -= points;
        }
    };
    limit(checkpoint.root);
    for (KnownNode& node : checkpoint.below) limit(node);
}

}  // namespace provetree
