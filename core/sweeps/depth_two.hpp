// Depth two: the exact optimum of trees of depth two on a node, by panels. Coarse panels first; what lies between two
// evaluated thresholds is bounded from both, and only the thresholds that could still beat the incumbent go into the
// next panels.
#pragma once

#include <vector>

#include "sweeps/panel.hpp"
#include "sweeps/two_levels.hpp"

namespace provetree {

class DepthTwo : public TwoLevels {
  public:
    explicit DepthTwo(Context& context) : TwoLevels(context), panel_(context) {}

    // Solves `node` for trees of depth two with 2 or 3 splits, exactly where the optimum is below the limit.
    // With `ties`, also finds the preferred split among all that attain the optimum, which must be below the limit.
    Outcome solve(const Node& node, const NodeRequest& request, const Loss& loss, TieChoice* ties);

    // The same for each number of leaves from two to four at once, from the same sweeps. Limits may not rise with the
    // leaves; there is no penalty.
    TwoSizes solve_sizes(const Node& node, const NodeRequest& request, const TwoLimits& limits, const Loss& loss);

    // Its best trees so far, where it was stopped.
    TwoSizes sizes_so_far() const { return {two_, three_, outcome_, nullptr}; }

    // With many columns: the least errors found with splits of each first in the node solved last, or kInfinite.
    const std::vector<Cost>& column_costs() const { return column_costs_; }

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
    // Where costs are exact and nothing else is known, a region is what is open between two evaluated splits, or
    // between one and an end of the column. Then these two points are all there is to keep.
    struct ExactPoint {
        Index position;
        SideBounds sides;
    };
    struct Around {
        ExactPoint before, after;
    };
    struct Evaluated {
        Index column;
        PanelPoint point;
    };

    void inherit(const Node& node, const NodeColumn& column, Relatives relatives,
                 std::vector<PanelPoint>& points) const;
    void count_classes(const Node& node, const NodeColumn& column, std::vector<PanelPoint>& points);
    void begin(const Node& node, const NodeRequest& request, const Loss& loss, TieChoice* ties);
    void search(const Node& node, Relatives relatives);
    void add_whole_lane(const Node& node);
    void take_whole_lane(const SideErrors& whole);
    void know_column(const Node& node, std::size_t c, Relatives relatives, const PanelPoint& begin,
                     const PanelPoint& end);
    void start(const Node& node, Relatives relatives);
    void refine(const Node& node);
    // The same where costs are exact (sweeps/exact_gaps.cpp):
    void start_exact(const Node& node);
    void refine_exact(const Node& node);
    void find_gap(const NodeColumn& column, Index c, Cost room, const ExactPoint& a, const ExactPoint& b);
    void find_open(const Node& node, Index column, const std::vector<PanelPoint>& points);
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
    void label_leaves(const NodeColumn& column, LaneResult& result) const;
    void offer_labelled(const NodeColumn& column, Index position, int direction, SideCost left, SideCost right);
    // Of a tree with the minimum leaf size.
    SideCost side_cost_of(const SideErrors& side, bool split) const;
    Cost bound_of_small_sides(const Node& node) const;
    ProfilePtr make_profile(const Node& node);

    Panel panel_;
    // By sizes: two leaves are settled by a lane that sends all rows left, in the first round.
    Cost limit_of_two_ = 0;
    Bounded two_;
    Weight whole_stump_ = 0;                                 // what all rows cost with one split, at least
    std::vector<PanelPoint> points_, next_points_, merged_;  // points_: those of all regions, one after the other
    std::vector<Region> regions_, next_regions_;
    std::vector<Around> around_, next_around_;  // by region, where costs are exact; there are no points_ then
    std::vector<SideBounds> lane_sides_;        // what the sides of each lane cost, likewise
    std::vector<std::uint32_t> chosen_;         // regions that get lanes in this round
    std::vector<Index> splits_found_;
    std::vector<Share> shares_;
    std::vector<Lane> lanes_;
    std::vector<std::uint32_t> lane_regions_;
    std::vector<LaneResult> results_;
    std::vector<std::vector<PanelPoint>> known_;  // per column what relatives told, kept for the profile
    std::vector<LabelledSides> labelled_sides_;   // by column, of those with a direction
    std::vector<Evaluated> evaluated_;
    std::vector<Weight> seen_;
    // Tables with many columns: the least errors of each column's own stump, of all, and of the trees tried so far.
    bool wide_ = false;
    bool plain_ = false;  // a lane is a tree and nothing more: nobody listens, and all trees of four leaves are allowed
    bool gaps_ = false;   // regions are gaps between exact points, and nobody wants to know more
    bool exact_ = false;  // points are splits that were evaluated or have no row on a side, and their costs are exact
    Cost refined_cut_ = 0;  // the cut that the open regions go by
    std::vector<Weight> stumps_;
    Weight best_stump_ = 0;
    std::vector<Cost> column_costs_;
};

}  // namespace provetree
