// Depth two under a measure: the exact optimum of trees of depth two on a node, by panels of one column.
//
// A panel costs about the same for one lane and for sixty-four, so columns are settled one after the other, the one of
// the lowest bound first: lanes spread over its open splits, bounds between them, lanes on what is still open.
#pragma once

#include <memory>
#include <vector>

#include "measures/lanes.hpp"
#include "sweeps/two_levels.hpp"

namespace provetree {

class MeasuredDepthTwo : public TwoLevels {
  public:
    explicit MeasuredDepthTwo(Context& context) : TwoLevels(context) {}

    // Solves `node` for trees of depth two with 2 or 3 splits, exactly where the optimum is below the limit.
    // With `ties`, also finds the preferred split among all that attain the optimum, which must be below the limit.
    Outcome solve(const Node& node, const NodeRequest& request, const Loss& loss, TieChoice* ties);

  private:
    using Points = std::vector<MeasuredPoint>;
    // A stretch of adjoining splits of one column that can still win.
    struct Stretch {
        Positions open;
        Cost bound;
    };
    // A column with the least bound of its open splits.
    struct Waiting {
        Cost bound;
        Index column;
        bool operator<(const Waiting& other) const {
            return bound != other.bound ? bound < other.bound : column < other.column;
        }
    };

    void begin(const Node& node, const NodeRequest& request, const Loss& loss, TieChoice* ties);
    void know_column(const Node& node, Index c, Relatives relatives, const Points* surveyed);
    void look_around(const Node& node, Relatives relatives);
    void settle_column(const Node& node, Index c);
    // The open stretches of a column, and the least bound of them; kInfinite where none is open.
    Cost find_open(const NodeColumn& column, const Points& points, Cost room, bool closing);
    Cost open_bound(const Node& node, Index c) {
        return find_open(node.columns[c], points_[c], room(node.columns[c]), false);
    }
    // A panel of lanes on the open stretches.
    void evaluate_open(const Node& node, Index c, const NodeColumn& column);
    void choose_lanes(const Node& node, const NodeColumn& column);
    void add_points(const Node& node, Index c);
    void consider_lanes(const Node& node, const NodeColumn& column);
    void consider(const NodeColumn& column, Index position, const LaneUnits& units);
    // Of a tree with the minimum leaf size.
    SideCost side_cost_of(const SideUnits& side, bool split) const;
    void tidy(Points& points) const;
    Cost bound_of_small_sides(const Node& node);
    ProfilePtr make_profile(const Node& node);

    std::unique_ptr<LanePanel> panel_;
    const Measure* measure_ = nullptr;
    std::vector<Points> points_;  // of each column, from its low end to its high end
    std::vector<Stretch> open_;
    std::vector<Waiting> waiting_;
    std::vector<std::uint8_t> wanted_;              // columns for a survey
    std::vector<std::pair<Cost, Index>> by_bound_;  // lanes of a panel
    std::vector<Index> lanes_;
    std::vector<LaneUnits> results_;
    Points merged_;
};

}  // namespace provetree
