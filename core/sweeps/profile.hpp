// What a solved node leaves behind for its relatives: lower bounds on the two sides of splits, by column and rank.
//
// More rows never cost less, and adding rows of weight w never costs more than w more. So what was proven for a split
// of one row set bounds the same split of a set that contains it ("inner") or is contained in it ("outer").
// Neighbouring thresholds give nested children, so almost everything proven for one child can be handed to the next.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "base/byte_count.hpp"
#include "base/types.hpp"
#include "run/context.hpp"
#include "sweeps/node.hpp"
#include "tree/outcome.hpp"

namespace provetree {

// Bounds at one split of a depth-two node, in errors or in units, to hold under any penalty: each side as a leaf and
// split once.
template <class Amount>
struct TwoSides {
    Index rank;
    Index position;
    Weight weight;  // of the rows going left
    Amount leaf_left, leaf_right, stump_left, stump_right;
    bool evaluated = false;  // in the node at hand: then the split itself is settled, not only bounded

    static constexpr auto sides() {
        using Pair = std::pair<Amount TwoSides::*, Amount TwoSides::*>;
        return std::array<Pair, 2>{Pair{&TwoSides::leaf_left, &TwoSides::leaf_right},
                                   Pair{&TwoSides::stump_left, &TwoSides::stump_right}};
    }
};

template <class Amount>
struct TwoSidesColumn {
    Index id;
    std::vector<TwoSides<Amount>> points;  // by position
};

// The points of a column of the table; null where there are none.
template <class Amount>
const std::vector<TwoSides<Amount>>* find_points(const std::vector<TwoSidesColumn<Amount>>& columns, Index id) {
    const auto at =
        std::lower_bound(columns.begin(), columns.end(), id,
                         [](const TwoSidesColumn<Amount>& column, Index wanted) { return column.id < wanted; });
    return at != columns.end() && at->id == id ? &at->points : nullptr;
}

using PanelPoint = TwoSides<Weight>;
using PanelColumn = TwoSidesColumn<Weight>;
using MeasuredPoint = TwoSides<Cost>;
using MeasuredColumn = TwoSidesColumn<Cost>;

// Bounds at one split of a deeper node, in costs, and profiles of a subset (inner) and of a superset (outer) of each
// child's rows; at a split evaluated in this very node both are the child's own.
struct DeepPoint {
    Index rank;
    Index position;
    Weight weight;
    Cost left, right;
    ProfilePtr inner_left, outer_left, inner_right, outer_right;
    Cost left_upper = kInfinite, right_upper = kInfinite;  // what trees of the children cost, in the node at hand only

    static constexpr auto sides() { return std::array{std::pair{&DeepPoint::left, &DeepPoint::right}}; }
};

struct DeepFamily {
    Index id;                  // column
    std::int64_t left_splits;  // split budget of the left child
    std::vector<DeepPoint> points;
};

// The same of a node that is solved by cells (measures/cells), of all families in one row: there are many such nodes.
struct CellPoint {
    Index column, rank, position;
    std::int32_t left_splits;
    Weight weight;
    Cost left, right;

    DeepPoint as_deep() const { return {rank, position, weight, left, right, {}, {}, {}, {}}; }
};

struct Profile {
    Profile(ByteCount& held, Shape s, Index n, Weight w) : shape(s), rows(n), weight(w), held_(held) {}
    ~Profile() { held_ -= bytes_; }
    Profile(const Profile&) = delete;
    Profile& operator=(const Profile&) = delete;

    Shape shape;
    Index rows;
    Weight weight;
    std::vector<PanelColumn> panel;        // shape.depth == 2
    std::vector<MeasuredColumn> measured;  // the same under a measure
    std::vector<DeepFamily> deep;          // shape.depth >= 3
    std::vector<CellPoint> cells;          // or these

    // Adds what this profile holds to the running total of its search.
    void account() {
        bytes_ = sizeof(Profile);
        for (const PanelColumn& column : panel) bytes_ += sizeof column + column.points.capacity() * sizeof(PanelPoint);
        for (const MeasuredColumn& column : measured)
            bytes_ += sizeof column + column.points.capacity() * sizeof(MeasuredPoint);
        for (const DeepFamily& family : deep) bytes_ += sizeof family + family.points.capacity() * sizeof(DeepPoint);
        bytes_ += cells.capacity() * sizeof(CellPoint);
        held_ += bytes_;
    }

  private:
    ByteCount& held_;
    std::uint64_t bytes_ = 0;
};

// What a profile of a deeper node tells, whichever way it was solved.
inline std::vector<DeepFamily> families_of(const Profile& profile) {
    std::vector<DeepFamily> families = profile.deep;
    for (const CellPoint& of : profile.cells) {
        if (families.empty() || families.back().id != of.column || families.back().left_splits != of.left_splits)
            families.push_back({of.column, of.left_splits, {}});
        families.back().points.push_back(of.as_deep());
    }
    return families;
}

// Profiles of a subset and of a superset of a node's rows; either may be missing.
struct Relatives {
    const Profile* inner = nullptr;
    const Profile* outer = nullptr;
};

class PairBounds;  // intervals/pair_bounds.hpp

// One side of a split.
struct SideOf {
    Index column = 0, rank = 0;
    bool right = false;
};

// What is asked of the solver of a node: trees of a shape, exactly where the optimum is below the limit.
struct NodeRequest {
    Shape shape;
    Cost limit = kInfinite;
    Relatives relatives{};
    bool keep_profile = false;
    std::size_t level = 0;  // from 0 at the root
    // What is known of rows that pass two splits of the parent, and which side of which split this node is; null:
    // nothing is.
    PairBounds* pairs = nullptr;
    SideOf side{};
    LeafAbove above{};
    // Bounds are enough where they are at hand at once: `lower` may be below the optimum and below the limit.
    bool bounds_only = false;
};

// A profile to be filled, counted and kept; null where profiles are off or take too much memory already.
inline std::shared_ptr<Profile> new_profile(Context& context, Shape shape, const Node& node) {
    if (context.off(kNoInheritance) || context.profile_bytes >= context.memory_limit) return nullptr;
    return std::make_shared<Profile>(context.profile_bytes, shape, node.rows, node.weight);
}

// Counts what a filled profile holds.
inline ProfilePtr counted(Context& context, std::shared_ptr<Profile> profile) {
    profile->account();
    context.counters.profile_bytes_peak = std::max(context.counters.profile_bytes_peak, context.profile_bytes);
    return profile;
}

// `Rows` is a profile, or whatever tells the rows and the weight of the relative.
// Where a split of a relative lies in a node, and the weight of the relative's rows that either side of it lacks.
struct Carried {
    Index position;
    Weight weight;  // of the node's rows going left
    Weight gone_left = 0, gone_right = 0;
};

// The node has all rows of the relative and more: bounds hold as they are.
template <class Point, class Rows>
Carried carry_from_subset(const Node& node, const NodeColumn& column, const Point& point, const Rows& inner) {
    const Index more = node.rows - inner.rows;
    const Index position =
        Node::rows_up_to(column, point.rank, point.position, std::min(node.rows, point.position + more));
    return {position, node.weight_left(column, position)};
}

// The relative has all rows of the node and more: each side's bound falls by the weight that is gone from it.
template <class Point, class Rows>
Carried carry_from_superset(const Node& node, const NodeColumn& column, const Point& point, const Rows& outer) {
    const Index fewer = outer.rows - node.rows;
    const Index position = Node::rows_up_to(column, point.rank, point.position > fewer ? point.position - fewer : 0,
                                            std::min(node.rows, point.position));
    const Weight weight = node.weight_left(column, position), gone_left = point.weight - weight;
    return {position, weight, gone_left, outer.weight - node.weight - gone_left};
}

}  // namespace provetree
