// Lanes of a measure: candidate splits of one column, and for each of them the best stump of its left rows and of its
// right rows. One class for each way to sweep; all give the same units.
#pragma once

#include <memory>
#include <vector>

#include "run/context.hpp"
#include "sweeps/node.hpp"
#include "sweeps/profile.hpp"

namespace provetree {

// Units on one side of a split; penalties of splits are in none of them.
struct SideUnits {
    Cost leaf;   // as a single leaf
    Cost stump;  // with at most one split, whatever the leaf sizes
    // With exactly one split that respects the minimum leaf size; kInfinite where there is none that costs less than
    // the leaf.
    Cost feasible_split;
    bool feasible_leaf;  // enough rows for a leaf
};

struct LaneUnits {
    SideUnits left, right;
    bool exact = true;  // false: stumps are lower bounds, and `refine` has the rest
};

class LanePanel {
  public:
    virtual ~LanePanel() = default;
    // Called once for each node, before its lanes.
    virtual void start(const Node& node) = 0;
    // How many lanes are best evaluated at once: few where lanes cost more than the walk over the rows that they share.
    virtual unsigned lanes_at_once(const Node&) const { return kLanes; }
    // The splits of a column after so many rows, ascending; at most kLanes.
    virtual void evaluate(const Node& node, Index column, const Index* positions, int n, LaneUnits* results) = 0;
    // Whether a survey is worth its time where so many columns are open, by what relatives know or by nothing.
    virtual bool survey_pays(const Node&, std::size_t, bool relatives) { return !relatives; }
    // Lower bounds at some splits of each column that is wanted, for less than lanes take; none where that is not to be
    // had.
    virtual const std::vector<std::vector<MeasuredPoint>>* survey(const Node&, const std::vector<std::uint8_t>&) {
        return nullptr;
    }
    // Makes the units of one of these lanes exact, by its place among them.
    virtual void refine(const Node&, int, LaneUnits&) {}
};

// The fastest way to sweep a measure.
std::unique_ptr<LanePanel> make_lane_panel(Context& context, const Measure& measure);

// Squared error of one output.
std::unique_ptr<LanePanel> squared_lane_panel(Context& context, const Measure& measure);

// Squared error of several outputs, at most kMostOutputs.
std::unique_ptr<LanePanel> output_lane_panel(Context& context, const Measure& measure);

// Linear costs.
std::unique_ptr<LanePanel> linear_lane_panel(Context& context, const Measure& measure);

// The plain way, for any measure: a leaf that grows row by row. What the others have to agree with.
std::unique_ptr<LanePanel> plain_lane_panel(Context& context, const Measure& measure);

// For absolute error.
std::unique_ptr<LanePanel> absolute_lane_panel(Context& context, const Measure& measure);

// For losses of the class weights of leaves, of at most kMostLaneClasses classes.
std::unique_ptr<LanePanel> class_lane_panel(Context& context, const Measure& measure);

}  // namespace provetree
