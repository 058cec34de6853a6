// Votes of the counted trees; see near_optimal/row_votes.hpp.
#include "near_optimal/row_votes.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace provetree {

RowVotes::RowVotes(Context& context, const ColumnRules& rules, const LevelRequest& request)
    : SweepCounter(context, rules, request), n_classes_(static_cast<std::size_t>(context.table.n_classes)),
      votes_(n_classes_ * context.table.rows, 0.0), ids_(context.table.rows) {
    std::iota(ids_.begin(), ids_.end(), Index{0});
}

template <class Of>
RowVotes::Worth RowVotes::worth_of(const SideTrees& side, const SideTrees& other, const Of& worth) const {
    Worth found;
    found.grown.assign(side.grown.size(), 0.0);
    const auto beside = [&](Cost cost, bool with_leaf) {
        double sum = with_leaf ? worth(cost + other.leaf + loss_.split_penalty) : 0.0;
        for (const CostCount& each : other.grown)
            sum += static_cast<double>(each.count) * worth(cost + each.cost + loss_.split_penalty);
        return sum;
    };
    found.leaf = beside(side.leaf, request_.rules.redundant || side.label != other.label);
    for (std::size_t i = 0; i < side.grown.size(); ++i) found.grown[i] = beside(side.grown[i].cost, true);
    return found;
}

double RowVotes::worth_at(const SideTrees& trees, const Worth& worth, Cost cost) {
    const auto at = std::lower_bound(trees.grown.begin(), trees.grown.end(), cost,
                                     [](const CostCount& each, Cost wanted) { return each.cost < wanted; });
    if (at == trees.grown.end() || at->cost != cost) return 0;
    return worth.grown[static_cast<std::size_t>(at - trees.grown.begin())];
}

void RowVotes::vote_leaf(const std::vector<Index>& ids, int label, double worth) {
    if (worth > 0)
        for (Index id : ids) votes_[id * n_classes_ + static_cast<std::size_t>(label)] += worth;
}

// The leaf and the stumps of one side of the split that the stumps were listed for.
void RowVotes::vote_side(const Node& node, const std::vector<Index>& ids, int side, const SideTrees& trees,
                         const Worth& worth) {
    if (worth.leaf > 0)
        for (Index row = 0; row < node.rows; ++row)
            if (stumps_.on_side(row, side))
                votes_[ids[row] * n_classes_ + static_cast<std::size_t>(trees.label)] += worth.leaf;
    sorted_ = stumps_.stumps(side);
    std::sort(sorted_.begin(), sorted_.end(), [](const StumpFound& a, const StumpFound& b) {
        return std::tie(a.question.column, a.question.rank) < std::tie(b.question.column, b.question.rank);
    });
    for (std::size_t begin = 0, end = 0; begin < sorted_.size(); begin = end) {
        while (end < sorted_.size() && sorted_[end].question.column == sorted_[begin].question.column) ++end;
        vote_column(node, ids, side, sorted_.data() + begin, sorted_.data() + end, trees, worth);
    }
}

// The stumps of one column, by rank: a row is right of those of lower ranks than its own, and left of the others.
void RowVotes::vote_column(const Node& node, const std::vector<Index>& ids, int side, const StumpFound* first,
                           const StumpFound* last, const SideTrees& trees, const Worth& worth) {
    const auto cuts = static_cast<std::size_t>(last - first);
    sums_.assign((cuts + 1) * n_classes_, 0.0);
    std::vector<double> running(n_classes_, 0.0);
    const auto add = [&](std::size_t at) {
        for (std::size_t c = 0; c < n_classes_; ++c) sums_[at * n_classes_ + c] += running[c];
    };
    for (std::size_t i = 0; i < cuts; ++i) {  // those before, on their right
        running[static_cast<std::size_t>(first[i].right_label)] += worth_at(trees, worth, first[i].cost);
        add(i + 1);
    }
    std::fill(running.begin(), running.end(), 0.0);
    for (std::size_t i = cuts; i-- > 0;) {  // those from here on, on their left
        running[static_cast<std::size_t>(first[i].left_label)] += worth_at(trees, worth, first[i].cost);
        add(i);
    }
    const NodeColumn& column = column_of(node, first->question.column);
    std::size_t passed = 0;
    for (Index i = 0; i < node.rows; ++i) {
        const Index row = column.order[i] & entry::kRowMask;
        while (passed < cuts && first[passed].question.rank < column.ranks[i]) ++passed;
        if (!stumps_.on_side(row, side)) continue;
        for (std::size_t c = 0; c < n_classes_; ++c)
            votes_[ids[row] * n_classes_ + c] += sums_[passed * n_classes_ + c];
    }
}

void RowVotes::vote_two(const Node& node, const std::vector<Index>& ids, const SideTrees& trees, const Worth& worth) {
    vote_leaf(ids, trees.label, worth.leaf);
    if (trees.grown.empty()) return;
    Candidates candidates;
    const Cost limit = trees.grown.back().cost;
    find_candidates(node, limit, candidates);
    const auto of_split = [&](Cost cost) { return worth_at(trees, worth, cost); };
    count_two(node, candidates, limit, [&](const Question&) {
        vote_side(node, ids, 0, left_, worth_of(left_, right_, of_split));
        vote_side(node, ids, 1, right_, worth_of(right_, left_, of_split));
    });
}

void RowVotes::vote_three(const std::vector<LevelSplit>& splits) {
    const auto of_root = [&](Cost cost) { return cost <= request_.limit ? 1.0 : 0.0; };
    for (const LevelSplit& split : splits) {
        const NodeColumn& column = column_of(root_, split.question.column);
        const Index position = Node::rows_up_to(column, split.question.rank, 0, root_.rows);
        stumps_.divide(root_, &column, position);
        left_ids_.clear();
        right_ids_.clear();
        for (Index row = 0; row < root_.rows; ++row) (stumps_.on_side(row, 0) ? left_ids_ : right_ids_).push_back(row);
        builder_.split(root_, column, position, sides_.left, sides_.right);
        vote_two(sides_.left, left_ids_, split.left, worth_of(split.left, split.right, of_root));
        vote_two(sides_.right, right_ids_, split.right, worth_of(split.right, split.left, of_root));
    }
}

std::vector<double> RowVotes::vote(const std::vector<LevelSplit>& splits) {
    const Cost leaf = leaf_cost_of(root_, loss_);
    if (leaf_fits(root_) && leaf <= request_.limit) vote_leaf(ids_, root_.label(), 1.0);
    const auto of_root = [&](Cost cost) { return cost <= request_.limit ? 1.0 : 0.0; };
    if (request_.depth == 3) {
        vote_three(splits);
    } else if (request_.depth == 2) {
        Candidates candidates;
        find_candidates(root_, request_.limit, candidates);
        count_two(root_, candidates, request_.limit, [&](const Question&) {
            vote_side(root_, ids_, 0, left_, worth_of(left_, right_, of_root));
            vote_side(root_, ids_, 1, right_, worth_of(right_, left_, of_root));
        });
    } else if (request_.depth == 1) {
        stumps_.divide(root_, nullptr, 0);
        stumps_.collect(root_, request_.limit, -1);
        stumps_.make_trees(0, left_);
        Worth worth;
        worth.grown.assign(left_.grown.size(), 1.0);
        vote_side(root_, ids_, 0, left_, worth);
    }
    return std::move(votes_);
}

}  // namespace provetree
