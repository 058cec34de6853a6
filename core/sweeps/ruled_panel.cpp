// Panels under rules: second splits only on columns that may follow the first, with labels in the order asked for.
#include <algorithm>
#include <utility>

#include "sweeps/panel.hpp"

namespace provetree {

namespace {

// Where rules follow paths, lanes of a panel are all of one column, so that what may follow it is the same for all.
PathGroups path_of(const Rules& rules, const Node& node, const Lane* lanes) {
    return rules.grouped() ? rules.after(node.path_groups, node.columns[lanes[0].column].id) : PathGroups{};
}

void start_at_zero(TwoClassSums& sums) {
    for (auto* extremes : {sums.max_left, sums.min_left, sums.max_right, sums.min_right})
        std::fill_n(extremes, kLanes, 0);
}

// Of two splits with a direction, one below the other, the leaf is on a side of its own each time: the tree predicts
// one class where either split sends a row there, and the other class elsewhere. So it is the same tree whichever comes
// first, and two of one column are one. Only those in the order of their columns are looked for.
//
// As with LeafAbove, what is proven so is proven of trees in that order, and rows that are left out do no harm: a tree
// that loses a split is a stump, which is the same with its leaf seen on either side and nothing below it.
class SplitOrder {
  public:
    SplitOrder(const Context& context, const Node& node, const Lane* lanes, int n_lanes) : node_(node) {
        const bool ordered = !context.off(kNoSplitOrder) && !context.closings.heard();
        for (int lane = 0; lane < kLanes; ++lane) {
            const bool directed =
                ordered && lane < n_lanes && context.rules->direction(node.columns[lanes[lane].column].id) != 0;
            first_[lane] = directed ? static_cast<std::int32_t>(lanes[lane].column) : -1;
        }
        lowest_ = *std::min_element(first_, first_ + n_lanes);
        for (std::size_t c = 0; c < node.columns.size(); ++c)
            any_place_.push_back(context.rules->direction(node.columns[c].id) ? static_cast<std::int32_t>(c)
                                                                              : kAnywhere);
    }
    // Of second splits on a column: below which first splits they are looked for.
    std::int32_t place_of(const NodeColumn& column) const {
        return any_place_[static_cast<std::size_t>(&column - node_.columns.data())];
    }
    bool any_before(std::int32_t place) const { return lowest_ < place; }
    void keep_highest(std::int32_t place, const std::int32_t* found, std::int32_t* kept) const {
        for (int lane = 0; lane < kLanes; ++lane)
            kept[lane] = std::max(kept[lane], first_[lane] < place ? found[lane] : 0);
    }
    void keep_lowest(std::int32_t place, const std::int32_t* found, std::int32_t* kept) const {
        for (int lane = 0; lane < kLanes; ++lane)
            kept[lane] = std::min(kept[lane], first_[lane] < place ? found[lane] : 0);
    }

  private:
    static constexpr std::int32_t kAnywhere = 0x7fffffff;
    const Node& node_;
    alignas(64) std::int32_t first_[kLanes];  // the column of a lane, where it has a direction; else -1
    std::int32_t lowest_ = 0;
    std::vector<std::int32_t> any_place_;
};

}  // namespace

void Panel::evaluate_ruled(const Node& node, const Lane* lanes, int n_lanes, LaneResult* results) {
    const Rules& rules = *context_.rules;
    const PathGroups path = path_of(rules, node, lanes);
    const auto unpaid = [&](Index column) { return rules.priced_by_path() ? rules.priced[column] & ~node.paid : 0; };
    // Second splits that ask for the same prices at a time: a price is so many errors more, in the lanes whose first
    // split has not paid it.
    std::vector<std::uint64_t> asked;
    for (const NodeColumn& column : node.columns)
        if (rules.allows(path, column.id)) asked.push_back(unpaid(column.id));
    std::sort(asked.begin(), asked.end());
    asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
    for (const std::uint64_t prices : asked) {
        ruled_.clear();
        for (const NodeColumn& column : node.columns)
            if (rules.allows(path, column.id) && unpaid(column.id) == prices) ruled_.push_back(&column);
        const bool first = prices == asked.front();
        at_price_.resize(kLanes);
        LaneResult* const found = first ? results : at_price_.data();
        evaluate_below(node, lanes, n_lanes, found);
        for (int lane = 0; lane < n_lanes; ++lane) {
            const Weight price = rules.sum_of(prices & ~unpaid(node.columns[lanes[lane].column].id));
            for (const auto side : {&LaneResult::left, &LaneResult::right}) {
                SideErrors& best = results[lane].*side;
                const SideErrors& more = found[lane].*side;
                const Weight feasible = more.feasible_split < 0 ? -1 : more.feasible_split + price;
                best.stump = std::min(best.leaf, first ? more.stump + price : std::min(best.stump, more.stump + price));
                if (first || (feasible >= 0 && (best.feasible_split < 0 || feasible < best.feasible_split)))
                    best.feasible_split = feasible;
            }
        }
    }
}

// With second splits on the columns in `ruled_`.
void Panel::evaluate_below(const Node& node, const Lane* lanes, int n_lanes, LaneResult* results) {
    const Rules& rules = *context_.rules;
    const bool two_classes = node.by_class.size() <= 2;
    if (two_classes && !context_.constrained()) return evaluate_directions(node, lanes, n_lanes, results);
    if (!rules.directions.empty()) return evaluate_plainly(node, n_lanes, results);
    evaluate_columns(node, ruled_, lanes, n_lanes, results);
}

// The running sum is ones less zeros. Its highest value stands for the best stump that predicts ones left of it, its
// lowest for one that predicts zeros there: a column with a direction has only one of them.
void Panel::evaluate_directions(const Node& node, const Lane* lanes, int n_lanes, LaneResult* results) {
    const LaneWidth width =
        node.largest_weight <= 127 ? LaneWidth::k8 : (node.weight <= 32767 ? LaneWidth::k16 : LaneWidth::k32);
    const SplitOrder order(context_, node, lanes, n_lanes);
    TwoClassSums best, found;
    start_at_zero(best);
    bool first = true;
    for (const NodeColumn* column : ruled_) {
        const int direction = context_.rules->direction(column->id);
        const std::int32_t place = order.place_of(*column);
        // The first column is swept for its totals.
        if (!first && !order.any_before(place)) continue;
        const SweepColumn swept_column{column->order, node.rows, column->checks, column->no_ties};
        start_at_zero(found);
        if (node.unit_weights)
            context_.kernel.sweep_unit(swept_column, left_masks_.data(), 1, 0, n_lanes, found);
        else
            context_.kernel.sweep_weighted(swept_column, left_masks_.data(), node.steps.data(), width, n_lanes, found);
        swept(node.rows);
        if (std::exchange(first, false)) {
            std::copy_n(found.total_left, kLanes, best.total_left);
            std::copy_n(found.total_right, kLanes, best.total_right);
        }
        if (direction <= 0) {
            order.keep_highest(place, found.max_left, best.max_left);
            order.keep_highest(place, found.max_right, best.max_right);
        }
        if (direction >= 0) {
            order.keep_lowest(place, found.min_left, best.min_left);
            order.keep_lowest(place, found.min_right, best.min_right);
        }
    }
    for (int lane = 0; lane < n_lanes; ++lane) {
        const Weight left = node.weight_left(node.columns[lanes[lane].column], lanes[lane].position);
        const auto side = [](Weight weight, std::int32_t total, std::int32_t highest, std::int32_t lowest) {
            const Weight ones = (weight + total) / 2, zeros = weight - ones, leaf = std::min(ones, zeros);
            const Weight stump = std::min(leaf, weight - std::max(zeros + highest, ones - lowest));
            return SideErrors{leaf, stump, stump, true, {ones, zeros}};
        };
        results[lane].left = side(left, best.total_left[lane], best.max_left[lane], best.min_left[lane]);
        results[lane].right =
            side(node.weight - left, best.total_right[lane], best.max_right[lane], best.min_right[lane]);
    }
}

// Two classes with a minimum leaf size: row by row, for every lane.
void Panel::evaluate_plainly(const Node& node, int n_lanes, LaneResult* results) {
    struct Side {
        Weight of_class[2] = {0, 0};
        std::int64_t count = 0;
        void add(const Node& of, Index row) {
            of_class[of.classes[row]] += of.weights[row];
            count += of.counts[row];
        }
    };
    std::vector<Side> whole(2 * static_cast<std::size_t>(n_lanes)), so_far;
    const auto side_of = [&](Index row, int lane) {
        return 2 * static_cast<std::size_t>(lane) + !(left_masks_[row] >> lane & 1);
    };
    for (Index row = 0; row < node.rows; ++row)
        for (int lane = 0; lane < n_lanes; ++lane) whole[side_of(row, lane)].add(node, row);
    std::vector<SideErrors> found;
    for (const Side& side : whole) {
        const Weight leaf = std::min(side.of_class[0], side.of_class[1]);
        found.push_back({leaf, leaf, -1, side.count >= context_.min_leaf, {side.of_class[1], side.of_class[0]}});
    }
    for (const NodeColumn* column : ruled_) {
        const int direction = context_.rules->direction(column->id);
        so_far.assign(whole.size(), {});
        for (Index i = 0; i + 1 < node.rows; ++i) {
            const Index row = column->order[i] & entry::kRowMask;
            for (int lane = 0; lane < n_lanes; ++lane) so_far[side_of(row, lane)].add(node, row);
            if (!Node::is_split(*column, i + 1)) continue;
            for (std::size_t at = 0; at < whole.size(); ++at) {
                const Side &low = so_far[at], &all = whole[at];
                if (low.count == 0 || low.count == all.count) continue;
                const Weight rising = low.of_class[1] + all.of_class[0] - low.of_class[0],
                             falling = low.of_class[0] + all.of_class[1] - low.of_class[1];
                const Weight errors = direction > 0 ? rising : direction < 0 ? falling : std::min(rising, falling);
                found[at].stump = std::min(found[at].stump, errors);
                const bool feasible = low.count >= context_.min_leaf && all.count - low.count >= context_.min_leaf;
                if (feasible && (found[at].feasible_split < 0 || errors < found[at].feasible_split))
                    found[at].feasible_split = errors;
            }
        }
        swept(node.rows);
        context_.monitor.work(std::uint64_t{node.rows} * static_cast<std::uint64_t>(n_lanes));
    }
    for (int lane = 0; lane < n_lanes; ++lane) {
        results[lane].left = found[2 * static_cast<std::size_t>(lane)];
        results[lane].right = found[2 * static_cast<std::size_t>(lane) + 1];
    }
}

}  // namespace provetree
