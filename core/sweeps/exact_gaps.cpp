// Depth two where costs are exact: two classes, no bounds from relatives, no limits on leaves, no rules, and nobody who
// listens. Nearly all problems of depth two are of this kind. Then whatever lies between two neighbouring evaluated
// splits is open or closed by these two alone, and regions never join. It is what DepthTwo::start and DepthTwo::refine
// do, with less to keep: a search takes the same steps either way.
#include <utility>

#include "sweeps/depth_two.hpp"

namespace provetree {

void DepthTwo::start_exact(const Node& node) {
    next_regions_.clear();
    next_around_.clear();
    for (std::size_t c = 0; c < node.columns.size(); ++c) {
        const NodeColumn& column = node.columns[c];
        find_gap(column, static_cast<Index>(c), room(column), {0, {0, 0, 0}}, {node.rows, {0, 0, node.weight}});
    }
    regions_.swap(next_regions_);
    around_.swap(next_around_);
}

// Keeps what is open between two points.
void DepthTwo::find_gap(const NodeColumn& column, Index c, Cost room, const ExactPoint& a, const ExactPoint& b) {
    if (b.position - a.position < 2) return;
    const OpenRange range = open_range(a.sides, b.sides, room, loss_, !context_.off(kNoLipschitz));
    if (!range.open) return;
    const Positions open = positions_of(column, a.position, b.position, range.from, range.upto);
    // A stretch inside one group of ties holds no split.
    if (open.empty() || nearest_split(column, open.middle(), open) == 0) return;
    next_regions_.push_back({c, open, range.bound, 0, 0});
    next_around_.push_back({a, b});
}

void DepthTwo::refine_exact(const Node& node) {
    lane_sides_.resize(lanes_.size());
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        const SideErrors &left = results_[i].left, &right = results_[i].right;
        const NodeColumn& column = node.columns[lanes_[i].column];
        SideBounds& sides = lane_sides_[i];
        sides = {side_cost(left.leaf, left.stump, true), side_cost(right.leaf, right.stump, true),
                 node.weight_left(column, lanes_[i].position)};
        if (sides.left + sides.right + loss_.split_penalty <= outcome_.upper)
            offer(column, lanes_[i].position, {loss_.leaf(left.leaf), sides.left},
                  {loss_.leaf(right.leaf), sides.right});
    }
    next_regions_.clear();
    next_around_.clear();
    const bool same_cut = std::exchange(refined_cut_, cut()) == cut();
    std::size_t lane = 0;
    for (std::uint32_t r = 0; r < regions_.size(); ++r) {
        const bool touched = lane < lanes_.size() && lane_regions_[lane] == r;
        if (same_cut && !touched) {  // nothing new is known of it
            next_regions_.push_back(regions_[r]);
            next_around_.push_back(around_[r]);
            continue;
        }
        const Index c = regions_[r].column;
        const NodeColumn& column = node.columns[c];
        const Cost room = this->room(column);
        ExactPoint before = around_[r].before;
        for (; lane < lanes_.size() && lane_regions_[lane] == r; ++lane) {
            const ExactPoint here{lanes_[lane].position, lane_sides_[lane]};
            find_gap(column, c, room, before, here);
            before = here;
        }
        find_gap(column, c, room, before, around_[r].after);
    }
    regions_.swap(next_regions_);
    around_.swap(next_around_);
}

}  // namespace provetree
