// Depth two on tables of few values: bounds from the kernel, and the best tree from exact sums; see measures/cells.hpp.
#include <algorithm>
#include <cmath>

#include "measures/cells.hpp"
#include "sweeps/depth_one.hpp"

namespace provetree {

namespace {

// What leaves keep of the squares is worked out in whole numbers where it differs by less than this part of them.
constexpr double kCloseCosts = 0x1p-40;
// Rounded-up units of the leaves of a tree of depth two, and one more.
constexpr Cost kRoundedLeaves = 5;

}  // namespace

void CellSolver::sum_pairs(const std::int64_t* cells, PairSums pairs, std::vector<std::int64_t>& singles) {
    kernel_.sum_pairs(cells, node_->place_in_run(), features_, stride_, row_.data(), pairs);
    singles.resize(static_cast<std::size_t>(features_));
    std::int64_t sum = 0;
    for (std::ptrdiff_t i = 0; i < features_; ++i) {
        sum = (node_->place_in_run()[i] > 0 ? sum : 0) + cells[cell_row(i, features_) + i];
        singles[static_cast<std::size_t>(i)] = sum;
    }
}

// The part at hand, or the rest of the node.
CellSide CellSolver::side_of(std::int64_t packed, bool rest) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(features_); ++i) {
        const std::int64_t sum = rest ? all_singles_[i] - singles_[i] : singles_[i];
        side_weights_[i] = static_cast<float>(cell_weight(sum));
        side_targets_[i] = static_cast<float>(cell_target(sum));
    }
    side_weight_ = static_cast<float>(cell_weight(packed));
    return {part_pairs(),
            rest ? all_pairs() : PairSums{nullptr, nullptr},
            side_weights_.data(),
            side_targets_.data(),
            side_weight_,
            static_cast<float>(cell_target(packed)),
            static_cast<float>(static_cast<double>(loss_.split_penalty) / to_cost_),
            static_cast<float>(min_leaf_)};
}

// The kernel's sums are off by at most the node's error, either way.
TwoBounds CellSolver::bounds_of(const CellKept& kept, std::int64_t squares) const {
    TwoBounds bounds;
    const double most = static_cast<double>(squares) * node_->square_step() - node_->error();
    const auto cost = [&](float of) {
        return static_cast<Cost>(std::max(0.0, (most - static_cast<double>(of)) * to_cost_));
    };
    for (int i = 0; i < 3; ++i) {
        bounds.least[i] = cost(kept.any[i]);
        if (min_leaf_) bounds.sized[i] = kept.sized[i] > kNotKept ? cost(kept.sized[i]) : kInfinite;
    }
    bounds.gap = static_cast<Cost>(std::ceil(2 * node_->error() * to_cost_)) + kRoundedLeaves * loss_.unit_scale + 2;
    return bounds;
}

double CellSolver::Leaf::kept() const {
    const double of_target = static_cast<double>(target);
    return of_target * of_target / static_cast<double>(weight);
}

Cost CellSolver::units_of(const Leaf& leaf) const {
    return rows_->measure().squared(static_cast<Weight>(leaf.weight), leaf.squares, square_of(leaf.target));
}

// What the kernel found the best tree to keep that begins with a feature.
double CellSolver::kept_by(int feature, int splits) const {
    const std::size_t at = static_cast<std::size_t>(feature);
    const double penalty = static_cast<double>(loss_.split_penalty) / to_cost_;
    const auto as_leaf = [&](float weight, float leaf) {
        return weight >= static_cast<float>(min_leaf_) ? double{leaf} : -INFINITY;
    };
    const double leaf_with = as_leaf(side_weights_[at], stumps_[2][at]),
                 leaf_without = as_leaf(side_weight_ - side_weights_[at], stumps_[3][at]);
    const std::size_t splits_at = min_leaf_ ? 4 : 0;
    const double with = std::max(leaf_with, stumps_[splits_at][at] - penalty),
                 without = std::max(leaf_without, stumps_[splits_at + 1][at] - penalty);
    if (splits == 1) return leaf_with + leaf_without - penalty;
    return (splits == 2 ? std::max(with + leaf_without, leaf_with + without) : with + without) - penalty;
}

Incumbent CellSolver::best_two(const Members& members, int splits) {
    Leaf whole;
    std::int64_t packed = 0;
    for (Index i : members) {
        whole += rows_->cell(node_->cell(i));
        packed += node_->packed(i);
    }
    Incumbent best{large_enough(whole.weight) ? loss_.measured(units_of(whole)) : kInfinite, nullptr, 0};
    if (splits == 0 || members.size() < 2) return best;
    exact_cells_.assign(kernel_cells(features_) + kCellPadding, 0);
    node_->add(exact_cells_.data(), members.data(), members.data() + members.size());
    sum_pairs(exact_cells_.data(), part_pairs(), singles_);
    kernel_.best_two(side_of(packed, false), features_, stride_, stumps(), kept_);
    ++context_.counters.depth_two_solves;
    count_work(members.size());
    // What a feature keeps is known to within the error, so the best one is among these.
    const float most = (min_leaf_ ? kept_.sized : kept_.any)[splits - 1];
    if (most == kNotKept) return best;
    const double enough = static_cast<double>(most) - 2 * node_->error();
    TieChoice choice;
    for (int feature = 0; feature < features_; ++feature)
        if (kept_by(feature, splits) >= enough)
            offer_split(members, node_->split_of_feature(feature), splits, best, choice);
    return best;
}

// Takes the best tree over that begins with this feature, where it costs less.
void CellSolver::offer_split(const Members& members, const CellNode::Split& split, int splits, Incumbent& best,
                             TieChoice& choice) {
    Members& below = split_members_[0];
    Members& above = split_members_[1];
    below.clear();
    above.clear();
    const Index id = node_->id(split.column);
    for (Index i : members) (rows_->ranks(node_->cell(i))[id] <= split.rank ? below : above).push_back(i);
    if (below.empty() || above.empty()) return;
    Cost as_leaf[2];
    OneSplit as_stump[2];
    for (int side : {kBelow, kAbove}) {
        Leaf leaf;
        for (Index i : split_members_[side]) leaf += rows_->cell(node_->cell(i));
        as_leaf[side] = large_enough(leaf.weight) ? loss_.measured(units_of(leaf)) : kInfinite;
        as_stump[side] = splits == 1 ? OneSplit{} : best_stump(split_members_[side]);
    }
    const auto try_one = [&](bool split_below, bool split_above) {
        const bool stump_below = split_below && as_stump[0].cost < as_leaf[0],
                   stump_above = split_above && as_stump[1].cost < as_leaf[1];
        const Cost cost = (stump_below ? as_stump[0].cost : as_leaf[0]) +
                          (stump_above ? as_stump[1].cost : as_leaf[1]) + loss_.split_penalty;
        if (cost >= best.upper + of_equals()) return;
        const PlanPtr plan = split_plan(id, split.rank, stump_below ? plan_of(as_stump[0]) : nullptr,
                                        stump_above ? plan_of(as_stump[1]) : nullptr);
        offer({cost, plan, 0}, id, split_members_, best, choice);
    };
    if (splits == 3) return try_one(true, true);
    try_one(false, splits == 2);
    if (splits == 2) try_one(true, false);
}

// The best tree with one split; among equals the one that the tie rule prefers, where that is looked for.
CellSolver::OneSplit CellSolver::best_stump(const Members& members) {
    const int columns = node_->columns();
    leaves_.assign(rows_->first_place(rows_->columns()), {});  // by place
    Leaf whole;
    for (Index i : members) {
        const CellRows::Cell& cell = rows_->cell(node_->cell(i));
        whole += cell;
        for (std::uint16_t place : rows_->rare(node_->cell(i))) leaves_[place] += cell;
    }
    count_work(members.size());
    const double close = static_cast<double>(whole.squares) * kCloseCosts +
                         (ties_ ? kRoundedLeaves / rows_->measure().units_per_square() : 0);
    double most = -INFINITY;
    OneSplit best;
    for (int c = 0; c < columns; ++c) {
        const Index id = node_->id(c);
        Leaf& common = leaves_[rows_->common_place(id)];
        common = whole;
        const int first = node_->first_value(c), end = node_->first_value(c + 1);
        for (int u = first; u < end; ++u)
            if (const Leaf& other = leaves_[node_->place_of_value(u)]; &other != &common) common -= other;
        Leaf below;
        for (int u = first; u + 1 < end; ++u) {
            const Leaf& here = leaves_[node_->place_of_value(u)];
            if (here.weight == 0) continue;
            below += here;
            const std::int64_t rest = whole.weight - below.weight;
            if (rest == 0) break;
            if (!large_enough(below.weight) || !large_enough(rest)) continue;
            const Leaf above{rest, whole.target - below.target, whole.squares - below.squares};
            const double kept = below.kept() + above.kept();
            if (kept < most - close) continue;
            most = std::max(most, kept);
            const Cost units = units_of(below) + units_of(above);
            if (units >= best.cost + (ties_ && best.column == id ? 1 : 0)) continue;
            const double gap = ties_ ? gap_above(c, u) : 0;
            if (units == best.cost && gap <= best.gap) continue;
            best = {units, id, rank_of_value(c, u), gap};
        }
    }
    if (best.cost < kInfinite) best.cost = loss_.measured(best.cost) + loss_.split_penalty;
    return best;
}

// The margin of a split after a value: to the next one that there is among the cells at hand.
double CellSolver::gap_above(int column, int value) const {
    int next = value + 1;
    while (leaves_[node_->place_of_value(next)].weight == 0) ++next;
    return margin_between(context_, node_->id(column), rank_of_value(column, value), rank_of_value(column, next));
}

}  // namespace provetree
