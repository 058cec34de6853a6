// Depth two under a measure: the exact optimum of trees of depth two on a node, by panels of one column.
//
// A panel costs about the same for one lane and for sixty-four, so columns are settled one after the other, the one of
// the lowest bound first: lanes spread over its open splits, bounds between them, lanes on what is still open.
#pragma once

#include <memory>
#include <vector>

#include "loss/loss.hpp"
#include "measures/lanes.hpp"
#include "run/context.hpp"
#include "sweeps/open_splits.hpp"
#include "sweeps/profile.hpp"
#include "tree/outcome.hpp"

namespace provetree {

class MeasuredDepthTwo {
  public:
    explicit MeasuredDepthTwo(Context& context) : context_(context) {}

    // Solves `node` for trees of depth two with 2 or 3 splits, exactly where the optimum is below the limit.
    // With `ties`, also finds the preferred split among all that attain the optimum, which must be below the limit.
    Outcome solve(const Node& node, const NodeRequest& request, const Loss& loss, TieChoice* ties);

    // Where a solve that was stopped stood after its last panel: the best tree so far, and a bound.
    const Outcome& standing() const { return standing_; }

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
    // Trees below this are looked for. With ties, those equal to the best are wanted too.
    Cost cut() const {
        return std::min(limit_, ties_ && outcome_.upper < kInfinite ? outcome_.upper + 1 : outcome_.upper);
    }
    // The same for the sides of a split of a column: without the split's own penalty, and a column after the preferred
    // one must be better.
    Cost room(const NodeColumn& column) const {
        return cut() - loss_.split_penalty - (ties_ && ties_->any && column.id > ties_->column ? 1 : 0);
    }
    void know_column(const Node& node, Index c, Relatives relatives, const Points* surveyed);
    void settle_column(const Node& node, Index c);
    // The open stretches of a column, and the least bound of them; kInfinite where none is open.
    Cost find_open(const Node& node, Index c, bool closing);
    void choose_lanes(const Node& node, const NodeColumn& column);
    void add_points(const Node& node, Index c);
    void consider_lanes(const Node& node, const NodeColumn& column);
    void consider(const Node& node, const NodeColumn& column, Index position, const LaneUnits& units);
    void offer(const NodeColumn& column, Index position, const LaneUnits& units, bool split_left, bool split_right);
    void close(const NodeColumn& column, Positions at, Cost bound, Reason reason);
    Cost side_cost(Cost leaf, Cost stump, bool split) const {
        const Cost as_leaf = loss_.measured(leaf);
        return split ? std::min(as_leaf, loss_.measured(stump) + loss_.split_penalty) : as_leaf;
    }
    SideBounds side_bounds(const MeasuredPoint& point, bool split_left, bool split_right) const {
        return {side_cost(point.leaf_left, point.stump_left, split_left),
                side_cost(point.leaf_right, point.stump_right, split_right), point.weight};
    }
    Cost point_bound(const MeasuredPoint& point) const;
    OpenRange range_between(const MeasuredPoint& a, const MeasuredPoint& b, Cost room) const;
    void tidy(Points& points) const;
    Cost bound_of_small_sides(const Node& node) const;
    ProfilePtr make_profile(const Node& node);

    Context& context_;
    std::unique_ptr<LanePanel> panel_;
    const Measure* measure_ = nullptr;
    Loss loss_;
    std::int64_t splits_ = 3;
    Cost limit_ = kInfinite;
    std::size_t level_ = 0;
    TieChoice* ties_ = nullptr;
    bool keep_profile_ = false;
    Outcome outcome_, standing_;
    Cost relaxed_ = kInfinite;    // what the splits evaluated cost at least without the minimum leaf size
    std::vector<Points> points_;  // of each column, from its low end to its high end
    std::vector<Stretch> open_;
    std::vector<Waiting> waiting_;
    std::vector<std::pair<Cost, Index>> by_bound_;  // lanes of a panel
    std::vector<Index> lanes_;
    std::vector<LaneUnits> results_;
    Points merged_;
};

}  // namespace provetree
