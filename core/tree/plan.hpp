// Trees as the search builds them: splits by column and rank, shared between the solutions that contain them.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "base/types.hpp"

namespace provetree {

struct Plan;
using PlanPtr = std::shared_ptr<const Plan>;  // null: a leaf

struct Plan {
    bool stump = false;     // the best depth-one tree of whatever rows arrive; not worked out until the tree is wanted
    int bottom_splits = 0;  // above 0: the best tree of depth two with so many splits, likewise; of the bit search
    Index column = 0;
    Index rank = 0;  // rank <= this goes left
    PlanPtr left;
    PlanPtr right;
    int label = -1;  // from 0 on: a leaf that predicts this class, whatever rows arrive
};

inline PlanPtr stump_plan() { return std::make_shared<const Plan>(Plan{true, 0, 0, 0, nullptr, nullptr}); }
inline PlanPtr bottom_plan(int splits) {
    return std::make_shared<const Plan>(Plan{false, splits, 0, 0, nullptr, nullptr});
}
inline PlanPtr split_plan(Index column, Index rank, PlanPtr left, PlanPtr right) {
    return std::make_shared<const Plan>(Plan{false, 0, column, rank, std::move(left), std::move(right)});
}
inline PlanPtr leaf_plan(int label) {
    return std::make_shared<const Plan>(Plan{false, 0, 0, 0, nullptr, nullptr, label});
}

// A finished tree as flat arrays in preorder; column -1 marks a leaf.
struct FlatTree {
    std::vector<std::int32_t> column, rank_low, rank_high, left, right, label;
    Cost cost = 0;
    std::int64_t splits = 0;

    // Adds a leaf and returns its number.
    std::int32_t add_leaf(std::int32_t of_label) {
        for (auto* field : {&column, &rank_low, &rank_high, &left, &right}) field->push_back(-1);
        label.push_back(of_label);
        return static_cast<std::int32_t>(column.size()) - 1;
    }
    // Makes a leaf a split between two neighbouring ranks.
    void make_split(std::int32_t number, Index of_column, Index low, Index high) {
        const std::size_t at = static_cast<std::size_t>(number);
        column[at] = static_cast<std::int32_t>(of_column);
        rank_low[at] = static_cast<std::int32_t>(low);
        rank_high[at] = static_cast<std::int32_t>(high);
        ++splits;
    }
    void set_children(std::int32_t number, std::int32_t of_left, std::int32_t of_right) {
        left[static_cast<std::size_t>(number)] = of_left;
        right[static_cast<std::size_t>(number)] = of_right;
    }

    std::int64_t splits_below(std::int32_t from) const {
        const std::size_t at = static_cast<std::size_t>(from);
        return column[at] < 0 ? 0 : 1 + splits_below(left[at]) + splits_below(right[at]);
    }

    int depth(std::int32_t from = 0) const {
        const std::size_t at = static_cast<std::size_t>(from);
        return column[at] < 0 ? 0 : 1 + std::max(depth(left[at]), depth(right[at]));
    }
};

// How deep and with how many splits a subtree may grow, in the smallest equivalent form.
struct Shape {
    int depth = 0;
    std::int64_t splits = 0;

    static std::int64_t full(int depth) {
        return depth >= 40 ? (std::int64_t{1} << 40) : (std::int64_t{1} << depth) - 1;
    }
    static Shape of(int depth, std::int64_t splits) {
        if (splits < 0) splits = 0;
        if (depth > splits) depth = static_cast<int>(splits);
        if (splits > full(depth)) splits = full(depth);
        return {depth, splits};
    }
    // What the shape allows on so many rows: fewer rows than leaves make the budget none, and more depth no use.
    Shape on(Index rows) const {
        if (rows == 0 || splits < static_cast<std::int64_t>(rows) - 1) return *this;
        const int useful = static_cast<int>(std::min<std::int64_t>(depth, static_cast<std::int64_t>(rows) - 1));
        return {useful, full(useful)};
    }
};

// A split of a node by names that every search of the same table understands.
struct SplitName {
    Index column = 0;
    std::int64_t left_splits = 0;  // the budget of the left child
    Index rank = 0;                // rank <= this goes left
    bool operator==(const SplitName&) const = default;
};

// How a node's split budget, less its own split, can be shared out between its children.
struct Division {
    Shape left, right;
    std::int64_t left_splits;  // as it was divided: the shapes may need fewer
};

// The budget of a left child that is closest to what is wanted: neither child can use more than a full tree has.
inline std::int64_t left_budget(Shape shape, std::int64_t wanted) {
    const std::int64_t most = Shape::full(shape.depth - 1), to_share = shape.splits - 1;
    return std::clamp(wanted, std::max<std::int64_t>(0, to_share - most), std::min(most, to_share));
}

inline std::vector<Division> divisions(Shape shape) {
    std::vector<Division> all;
    const std::int64_t to_share = shape.splits - 1;
    for (std::int64_t left = left_budget(shape, 0); left <= left_budget(shape, to_share); ++left)
        all.push_back({Shape::of(shape.depth - 1, left), Shape::of(shape.depth - 1, to_share - left), left});
    return all;
}

// The same where one side has to be a leaf, as beside a split with a direction: the other side has all splits.
inline std::vector<Division> divisions_with_leaf(Shape shape) {
    const Shape leaf{0, 0}, other = Shape::of(shape.depth - 1, shape.splits - 1);
    return {{leaf, other, 0}, {other, leaf, shape.splits - 1}};
}

}  // namespace provetree
