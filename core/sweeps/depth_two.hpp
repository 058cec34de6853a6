// Depth two: the exact optimum of trees of depth two on a node, by panels. Coarse panels first; what lies between two
// evaluated thresholds is bounded from both, and only the thresholds that could still beat the incumbent go into the
// next panels.
#pragma once

#include <algorithm>
#include <vector>

#include "loss/loss.hpp"
#include "run/context.hpp"
#include "sweeps/open_splits.hpp"
#include "sweeps/panel.hpp"
#include "sweeps/profile.hpp"
#include "tree/outcome.hpp"

namespace provetree {

class DepthTwo {
  public:
    explicit DepthTwo(Context& context) : context_(context), panel_(context) {}

    // Solves `node` for trees of depth two with 2 or 3 splits, exactly where the optimum is below the limit.
    // With `ties`, also finds the preferred split among all that attain the optimum, which must be below the limit.
    Outcome solve(const Node& node, const NodeRequest& request, const Loss& loss, TieChoice* ties);

    // With many columns: the least errors found with splits of each first in the node solved last, or kInfinite.
    const std::vector<Cost>& column_costs() const { return column_costs_; }

    // Where a solve that was stopped stood after its last round: the best tree so far, and a bound.
    const Outcome& standing() const { return standing_; }

  private:
    // A stretch of adjoining splits of one column that can still win, with the points that bound it.
    struct Region {
        Index column;
        Positions open;
        Cost bound;                // of the best split in it, its own penalty not counted
        std::uint32_t begin, end;  // its points in points_
    };
    // Lanes of a region, its splits where they are listed (0: they are not), and where the list begins.
    struct Share {
        std::uint64_t lanes, splits;
        std::size_t listed;
    };
    struct Evaluated {
        Index column;
        PanelPoint point;
    };

    void inherit(const Node& node, const NodeColumn& column, Relatives relatives,
                 std::vector<PanelPoint>& points) const;
    void count_classes(const Node& node, const NodeColumn& column, std::vector<PanelPoint>& points);
    void begin(const Node& node, const NodeRequest& request, const Loss& loss, TieChoice* ties);
    // Trees below this are looked for. With ties, those equal to the best are wanted too.
    Cost cut() const {
        return std::min(limit_, ties_ && outcome_.upper < kInfinite ? outcome_.upper + 1 : outcome_.upper);
    }
    void know_column(const Node& node, std::size_t c, Relatives relatives, const PanelPoint& begin,
                     const PanelPoint& end);
    void start(const Node& node, Relatives relatives);
    void refine(const Node& node);
    void find_open(const Node& node, Index column, const std::vector<PanelPoint>& points);
    void close(const NodeColumn& column, Positions at, Cost bound, Reason reason);
    void close_around(const NodeColumn& column, Index a, Index b, Positions open, Cost room);
    SideBounds side_bounds(const PanelPoint& point, bool split_left, bool split_right) const;
    OpenRange range_between(const PanelPoint& a, const PanelPoint& b, Cost room) const;
    Cost point_bound(const PanelPoint& point) const;
    // What a round looks at: so many regions, of the lowest bounds or the best trees so far, and lanes for them all.
    struct Portion {
        std::size_t regions, lanes;
        bool best_first = false;
    };
    Portion portion_of(const Node& node, int round) const;
    void choose_lanes(const Node& node, Portion portion);
    void share_lanes(const Node& node, std::size_t wanted_lanes);
    void evaluate_lanes(const Node& node);
    void consider(const Node& node, const Lane& lane, const LaneResult& result);
    // What a tree that begins with an evaluated split costs.
    struct TreeCosts {
        Cost relaxed;             // without the minimum leaf size; a bound where the errors are one
        Cost left, right, total;  // with it; kInfinite where a side is too small
    };
    TreeCosts costs_of(const LaneResult& result, bool split_left, bool split_right) const;
    void offer(const Node& node, const Lane& lane, const LaneResult& result, const TreeCosts& costs);
    Cost feasible_leaf(const SideErrors& side) const { return side.feasible_leaf ? loss_.leaf(side.leaf) : kInfinite; }
    Cost bound_of_small_sides(const Node& node) const;
    ProfilePtr make_profile(const Node& node);
    Cost side_cost(Weight leaf, Weight stump, bool split) const {
        const Cost as_leaf = loss_.leaf(leaf);
        return split ? std::min(as_leaf, loss_.stump(stump)) : as_leaf;
    }

    Context& context_;
    Panel panel_;
    Loss loss_;
    std::int64_t splits_ = 3;
    Cost limit_ = kInfinite;
    std::size_t level_ = 0;
    TieChoice* ties_ = nullptr;
    Outcome outcome_;
    Cost relaxed_ = kInfinite;  // what the splits evaluated cost at least without the minimum leaf size
    bool keep_profile_ = false;
    std::vector<PanelPoint> points_, next_points_, merged_;  // points_: those of all regions, one after the other
    std::vector<Region> regions_, next_regions_;
    std::vector<std::uint32_t> chosen_;  // regions that get lanes in this round
    std::vector<Index> splits_found_;
    std::vector<Share> shares_;
    std::vector<Lane> lanes_;
    std::vector<std::uint32_t> lane_regions_;
    std::vector<LaneResult> results_;
    std::vector<std::vector<PanelPoint>> known_;  // per column what relatives told, kept for the profile
    std::vector<Evaluated> evaluated_;
    std::vector<Weight> seen_;
    // Tables with many columns: the least errors of each column's own stump, of all, and of the trees tried so far.
    bool wide_ = false;
    std::vector<Weight> stumps_;
    Weight best_stump_ = 0;
    std::vector<Cost> column_costs_;
    Outcome standing_;
};

}  // namespace provetree
