// Counting trees by sweeps; see near_optimal/sweep_counter.hpp.
#include "near_optimal/sweep_counter.hpp"

#include <algorithm>
#include <stdexcept>

namespace provetree {

SweepCounter::SweepCounter(Context& context, const ColumnRules& rules, const LevelRequest& request)
    : context_(context), rules_(rules), request_(request),
      loss_{.error_scale = request.error_scale, .split_penalty = request.rules.split_penalty},
      builder_(context.table, context.kernel, request.min_leaf), panel_(context),
      stumps_(rules, loss_, request.min_leaf, request.rules.redundant), results_(kLanes),
      sum_(request, context.monitor) {
    builder_.build_root(root_);
    follow_path();
}

void SweepCounter::follow_path() {
    for (const Step& step : request_.path) {
        const NodeColumn* column = find_column(root_, step.column);
        const Index position = column ? Node::rows_up_to(*column, step.rank, 0, root_.rows) : 0;
        if (position == 0 || position == root_.rows)
            throw std::invalid_argument("A step of the path leaves one side without rows.");
        builder_.split(root_, *column, position, next_, other_);
        std::swap(root_, step.left ? next_ : other_);
    }
}

void SweepCounter::count() {
    const Cost leaf = leaf_cost_of(root_, loss_);
    level_.trees.clear(leaf_fits(root_) && leaf <= request_.limit ? leaf : kInfinite, root_.label());
    if (request_.depth == 1) count_leaf_pairs(root_, request_.limit);
    if (request_.depth == 2) {
        Candidates candidates;
        find_candidates(root_, request_.limit, candidates);
        count_two(root_, candidates, request_.limit, [&](const Question& split) { sum_.take(split, left_, right_); });
    }
    if (request_.depth == 3) count_three(root_);
}

// Every split of a node that counts, were it not for the rows of its leaves: use(index of the column, position).
template <class Use>
void SweepCounter::for_each_split(const Node& node, const Use& use) {
    CategoriesSeen categories;
    for (std::size_t c = 0; c < node.columns.size(); ++c) {
        const NodeColumn& column = node.columns[c];
        const Index missing = rules_.repeats(column.id) ? rules_.top(column.id) : kNoRank;
        if (missing != kNoRank && column.ranks[node.rows - 1] != missing) continue;
        if (rules_.is_category(column.id)) {
            const Index left = Node::rows_up_to(column, 0, 0, node.rows);
            if (!categories.is_new(rules_.feature(column.id), left, node.rows)) continue;
        }
        for (Index i = 1; i < node.rows; ++i)
            // Missing or not: the column that it repeats asks that.
            if (Node::is_split(column, i) && column.ranks[i] != missing) use(static_cast<Index>(c), i);
    }
}

Question SweepCounter::question(const Node&, const NodeColumn& column, Index position) const {
    const Index low = column.ranks[position - 1], high = column.ranks[position];
    return {column.id, low, rules_.feature(column.id), rules_.margin(column.id, low, high)};
}

// All splits with what their sides cost at least with stumps. Nothing is left out: what lies beyond the limit is where
// the bounds of other splits begin. Neither stumps nor splits need rows enough for `lower`, as fewer rows never cost
// more only where leaves may be of any size; splits with too few rows on a side are no candidates.
void SweepCounter::find_candidates(const Node& node, Cost limit, Candidates& out) {
    ++level_.sides;
    out.splits.clear();
    lanes_.clear();
    out.lower = leaf_cost_of(node, loss_);
    for_each_split(node, [&](Index column, Index position) {
        lanes_.push_back({column, position, static_cast<Weight>(node.weight)});
    });
    const Weight of_interest = static_cast<Weight>(
        std::clamp<Cost>(loss_.errors_for(std::max<Cost>(limit, 0)), 0, static_cast<Cost>(node.weight)));
    panel_.start();
    for (std::size_t first = 0; first < lanes_.size(); first += kLanes) {
        const int n = static_cast<int>(std::min<std::size_t>(kLanes, lanes_.size() - first));
        panel_.evaluate(node, lanes_.data() + first, n, of_interest, results_.data());
        for (int lane = 0; lane < n; ++lane) {
            // At most one split on each side: a leaf, or a split with its penalty.
            const auto least = [&](const SideErrors& side) {
                return std::min(loss_.leaf(side.leaf), loss_.stump(side.stump));
            };
            const Candidate found{lanes_[first + lane].column, lanes_[first + lane].position,
                                  least(results_[lane].left), least(results_[lane].right)};
            const NodeColumn& column = node.columns[found.column];
            if (found.position >= column.first_split && found.position <= column.last_split)
                out.splits.push_back(found);
            out.lower = std::min(out.lower, found.left + found.right + loss_.split_penalty);
        }
    }
}

void SweepCounter::count_leaf_pairs(const Node& node, Cost limit) {
    stumps_.divide(node, nullptr, 0);
    stumps_.collect(node, limit, -1);
    const std::vector<StumpFound> found = stumps_.stumps(0);
    for (const StumpFound& each : found) {
        const NodeColumn& column = column_of(node, each.question.column);
        const Index position = Node::rows_up_to(column, each.question.rank, 0, node.rows);
        stumps_.divide(node, &column, position);
        left_.clear(stumps_.leaf(0), stumps_.label(0));
        right_.clear(stumps_.leaf(1), stumps_.label(1));
        sum_.take(each.question, left_, right_);
        context_.monitor.work(node.rows);
    }
}

void SweepCounter::count_two(const Node& node, const Candidates& candidates, Cost limit,
                             const std::function<void(const Question&)>& take) {
    const Cost room = limit - loss_.split_penalty;
    for (const Candidate& split : candidates.splits) {
        if (split.left + split.right > room) continue;
        const NodeColumn& column = node.columns[split.column];
        stumps_.divide(node, &column, split.position);
        stumps_.collect(node, room - split.right, room - split.left);
        stumps_.make_trees(0, left_);
        stumps_.make_trees(1, right_);
        take(question(node, column, split.position));
        context_.monitor.work(std::uint64_t{node.rows} * node.columns.size() * 8);
    }
}

void SweepCounter::count_side(const Node& node, const Candidates& candidates, Cost limit, SideTrees& out) {
    out.clear(leaf_cost_of(node, loss_), node.label());
    TreeSum sum(request_.rules, {context_.monitor, request_.most_entries()});
    count_two(node, candidates, limit, [&](const Question& split) { sum.add(split, left_, right_, limit); });
    sum.settle(out);
}

SweepCounter::Tried SweepCounter::try_split(const Node& node, const NodeColumn& column, Index position) {
    const Cost room = request_.limit - loss_.split_penalty;
    builder_.split(node, column, position, sides_.left, sides_.right);
    find_candidates(sides_.left, room, sides_.of_left);
    find_candidates(sides_.right, room, sides_.of_right);
    const Cost left = sides_.of_left.lower, right = sides_.of_right.lower;
    if (left + right <= room) {
        count_side(sides_.left, sides_.of_left, room - right, sides_.left_trees);
        count_side(sides_.right, sides_.of_right, room - left, sides_.right_trees);
        sum_.take(question(node, column, position), sides_.left_trees, sides_.right_trees);
    }
    return {position, left, right};
}

// The splits between two positions of which the costs of both sides are bounded.
void SweepCounter::search_between(const Node& node, const NodeColumn& column, const std::vector<Index>& splits,
                                  Tried low, Tried high) {
    const Cost room = request_.limit - loss_.split_penalty;
    const bool lipschitz = !context_.off(kNoLipschitz);
    // More rows never cost less: the left side has at least the rows of the lower split, the right side those of the
    // higher.
    if (context_.off(kNoInheritance)) low.left = high.right = 0;
    if (low.left + high.right > room) return;
    // Rows that change sides can save no more than their weight.
    const auto closed = [&](Index position) {
        if (!lipschitz) return false;
        const Cost since = loss_.slack(node.weight_left(column, position) - node.weight_left(column, low.position));
        const Cost until = loss_.slack(node.weight_left(column, high.position) - node.weight_left(column, position));
        return std::max(low.left, high.left - until) + std::max(high.right, low.right - since) > room;
    };
    auto begin = std::upper_bound(splits.begin(), splits.end(), low.position);
    auto end = std::lower_bound(splits.begin(), splits.end(), high.position);
    while (begin < end && closed(*begin)) ++begin;
    while (begin < end && closed(*(end - 1))) --end;
    if (begin >= end) return;
    const Tried middle = try_split(node, column, *(begin + (end - begin) / 2));
    search_between(node, column, splits, low, middle);
    search_between(node, column, splits, middle, high);
}

void SweepCounter::count_three(const Node& node) {
    Candidates whole;
    find_candidates(node, request_.limit, whole);
    const Cost everything = whole.lower;  // what all rows cost with two levels
    std::vector<std::vector<Index>> splits(node.columns.size());
    for (const Candidate& each : whole.splits) splits[each.column].push_back(each.position);
    for (std::size_t c = 0; c < node.columns.size(); ++c)
        search_between(node, node.columns[c], splits[c], {0, 0, everything}, {node.rows, everything, 0});
}

}  // namespace provetree
