// The stumps of both sides of a split; see near_optimal/stump_lists.hpp.
#include "near_optimal/stump_lists.hpp"

#include <algorithm>

namespace provetree {

namespace {

// What both leaves of a split predict: the lowest of the classes with the largest weight.
std::pair<int, int> labels_of(const Weight* seen, const std::vector<Weight>& total) {
    std::size_t below = 0, above = 0;
    for (std::size_t c = 1; c < total.size(); ++c) {
        if (seen[c] > seen[below]) below = c;
        if (total[c] - seen[c] > total[above] - seen[above]) above = c;
    }
    return {static_cast<int>(below), static_cast<int>(above)};
}

}  // namespace

Weight StumpLists::leaf_errors(const std::vector<Weight>& by_class) {
    Weight sum = 0, most = 0;
    for (Weight weight : by_class) {
        sum += weight;
        most = std::max(most, weight);
    }
    return sum - most;
}

int StumpLists::label(int side) const {
    return static_cast<int>(std::max_element(total_[side].begin(), total_[side].end()) - total_[side].begin());
}

void StumpLists::divide(const Node& node, const NodeColumn* column, Index position) {
    side_.assign(node.rows, 0);
    if (column)
        for (Index i = position; i < node.rows; ++i) side_[column->order[i] & entry::kRowMask] = 1;
    for (int side = 0; side < 2; ++side) {
        total_[side].assign(std::max<std::size_t>(2, node.by_class.size()), 0);
        rows_[side] = 0;
        counts_[side] = 0;
    }
    for (Index row = 0; row < node.rows; ++row) {
        const int side = side_[row];
        total_[side][node.classes[row]] += node.weights[row];
        ++rows_[side];
        counts_[side] += node.counts[row];
    }
}

// A column that repeats another does so on a side without missing values.
bool StumpLists::may_ask(const Node& node, const NodeColumn& column, int side) const {
    if (!repeats_) return true;
    for (Index i = node.rows; i-- > 0 && column.ranks[i] == top_;)
        if (side_[column.order[i] & entry::kRowMask] == side) return true;
    return false;
}

void StumpLists::collect(const Node& node, Cost left_limit, Cost right_limit) {
    const std::array<Cost, 2> limits{left_limit, right_limit};
    for (int side = 0; side < 2; ++side) {
        stumps_[side].clear();
        categories_[side].start();
    }
    for (const NodeColumn& column : node.columns) {
        repeats_ = rules_.repeats(column.id);
        top_ = rules_.top(column.id);
        for (int side = 0; side < 2; ++side) {
            const bool asks = limits[side] >= loss_.split_penalty && may_ask(node, column, side);
            const Cost errors = asks ? loss_.errors_for(limits[side] - loss_.split_penalty) : -1;
            most_errors_[side] = static_cast<Weight>(std::min<Cost>(errors, node.weight));
        }
        if (rules_.is_category(column.id)) look_at_category(node, column);
        if (most_errors_[0] < 0 && most_errors_[1] < 0) continue;
        if (total_[0].size() == 2)
            walk_two_classes(node, column);
        else
            walk_classes(node, column);
    }
}

// A split of few enough errors between what a side has seen of a column and the rows of the next rank.
void StumpLists::keep(const NodeColumn& column, int side, Index last_rank, Index rank, Weight errors,
                      std::int64_t count, const Weight* seen) {
    if (count < min_leaf_ || counts_[side] - count < min_leaf_) return;
    if (repeats_ && rank == top_) return;  // missing or not: the column that it repeats has asked
    const auto [below, above] = labels_of(seen, total_[side]);
    if (!redundant_ && below == above) return;
    stumps_[side].push_back(
        {{column.id, last_rank, rules_.feature(column.id), rules_.margin(column.id, last_rank, rank)},
         loss_.stump(errors),
         below,
         above});
}

// Rows of rank 0 come first in a column of one category; the question may be an earlier one turned around.
void StumpLists::look_at_category(const Node& node, const NodeColumn& column) {
    std::array<Index, 2> left{};
    for (Index i = 0; i < node.rows && column.ranks[i] == 0; ++i) ++left[side_[column.order[i] & entry::kRowMask]];
    for (int side = 0; side < 2; ++side) {
        const bool divides = left[side] > 0 && left[side] < rows_[side];
        if (!divides || !categories_[side].is_new(rules_.feature(column.id), left[side], rows_[side]))
            most_errors_[side] = -1;
    }
}

// Two classes, which is most of the work: sums of each side in a few registers.
void StumpLists::walk_two_classes(const Node& node, const NodeColumn& column) {
    struct State {
        Weight seen[2];
        Index last_rank;
        Weight most;
    } states[2] = {{{0, 0}, kNoRank, most_errors_[0]}, {{0, 0}, kNoRank, most_errors_[1]}};
    const Weight total[2][2] = {{total_[0][0], total_[0][1]}, {total_[1][0], total_[1][1]}};
    std::array<std::int64_t, 2> count{};
    const bool counts = min_leaf_ > 1;
    for (Index i = 0; i < node.rows; ++i) {
        const std::uint32_t entry = column.order[i];
        const Index row = entry & entry::kRowMask, rank = column.ranks[i];
        const int side = side_[row];
        State& state = states[side];
        if (rank != state.last_rank) {
            const Weight errors = std::min(state.seen[0], state.seen[1]) +
                                  std::min(total[side][0] - state.seen[0], total[side][1] - state.seen[1]);
            if (errors <= state.most && state.last_rank != kNoRank)
                keep(column, side, state.last_rank, rank, errors, counts ? count[side] : min_leaf_, state.seen);
            state.last_rank = rank;
        }
        state.seen[entry >> entry::kClassShift] += node.weights[row];
        if (counts) count[side] += node.counts[row];
    }
}

void StumpLists::walk_classes(const Node& node, const NodeColumn& column) {
    std::array<Index, 2> last_rank{kNoRank, kNoRank};
    std::array<std::int64_t, 2> count{};
    for (int side = 0; side < 2; ++side) seen_[side].assign(total_[side].size(), 0);
    const auto errors_of = [&](int side) {
        Weight errors = 0, most_below = 0, most_above = 0;
        for (std::size_t c = 0; c < seen_[side].size(); ++c) {
            errors += total_[side][c];
            most_below = std::max(most_below, seen_[side][c]);
            most_above = std::max(most_above, total_[side][c] - seen_[side][c]);
        }
        return errors - most_below - most_above;
    };
    for (Index i = 0; i < node.rows; ++i) {
        const Index row = column.order[i] & entry::kRowMask, rank = column.ranks[i];
        const int side = side_[row];
        if (rank != last_rank[side]) {
            if (last_rank[side] != kNoRank && most_errors_[side] >= 0) {
                const Weight errors = errors_of(side);
                if (errors <= most_errors_[side])
                    keep(column, side, last_rank[side], rank, errors, count[side], seen_[side].data());
            }
            last_rank[side] = rank;
        }
        seen_[side][node.classes[row]] += node.weights[row];
        count[side] += node.counts[row];
    }
}

void trees_of_stumps(Cost leaf, int label, std::vector<StumpFound>& found, SideTrees& trees) {
    trees.clear(leaf, label);
    std::sort(found.begin(), found.end(), [](const StumpFound& a, const StumpFound& b) {
        return a.question.feature != b.question.feature ? a.question.feature < b.question.feature : a.cost < b.cost;
    });
    for (const StumpFound& each : found) {
        if (trees.with.empty() || trees.with.back().feature != each.question.feature)
            trees.with.push_back({each.question.feature, {}});
        TreeCounts& of_feature = trees.with.back().trees;
        if (of_feature.empty() || of_feature.back().cost != each.cost) of_feature.push_back({each.cost, 0, 0});
        ++of_feature.back().count;
        of_feature.back().margin = std::max(of_feature.back().margin, each.question.margin);
    }
    TreeCounts scratch;
    for (const FeatureTrees& each : trees.with) add_trees(trees.grown, each.trees, scratch);
}

}  // namespace provetree
