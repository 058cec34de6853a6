// Bounds of splits that a node takes over from its relatives before any of its splits is tried.
#include <algorithm>

#include "intervals/frontier.hpp"

namespace provetree {

namespace {

void merge_positions(std::vector<DeepPoint>& points) {
    std::size_t kept = 0;
    for (DeepPoint& point : points) {
        if (kept && points[kept - 1].position == point.position) {
            DeepPoint& same = points[kept - 1];
            same.left = std::max(same.left, point.left);
            same.right = std::max(same.right, point.right);
            if (!same.inner_left) same.inner_left = point.inner_left;
            if (!same.outer_left) same.outer_left = point.outer_left;
            if (!same.inner_right) same.inner_right = point.inner_right;
            if (!same.outer_right) same.outer_right = point.outer_right;
        } else {
            if (&points[kept] != &point) points[kept] = std::move(point);
            ++kept;
        }
    }
    points.resize(kept);
}

// The points of one family, to be changed.
std::vector<DeepPoint> points_of(const Profile* profile, Index column, std::int64_t left_splits) {
    if (!profile) return {};
    for (const DeepFamily& family : profile->deep)
        if (family.id == column && family.left_splits == left_splits) return family.points;
    std::vector<DeepPoint> points;
    for (const CellPoint& of : profile->cells)
        if (of.column == column && of.left_splits == left_splits) points.push_back(of.as_deep());
    return points;
}

}  // namespace

void tidy(std::vector<DeepPoint>& points, const Loss& loss) {
    std::stable_sort(points.begin(), points.end(), by_position);
    merge_positions(points);
    const auto slack = [&](Weight weight) { return loss.slack(weight); };
    tighten(points, slack);
    drop_implied(points, slack, [](const DeepPoint&) { return false; });
}

std::vector<DeepPoint> hints_from(Relatives relatives, const Node& node, const NodeColumn& column,
                                  std::int64_t left_splits, const Loss& loss) {
    std::vector<DeepPoint> hints;
    const auto add = [&](DeepPoint&& point, const Carried& at) {
        point.left_upper = point.right_upper = kInfinite;
        point.position = at.position;
        point.weight = at.weight;
        hints.push_back(std::move(point));
    };
    if (std::vector<DeepPoint> inner = points_of(relatives.inner, column.id, left_splits); !inner.empty()) {
        const Index missing = node.rows - relatives.inner->rows;
        for (DeepPoint& point : inner) {
            const Carried at = carry_from_subset(node, column, point, *relatives.inner);
            // With the same rows its children are this node's own, valid either way; otherwise they are subsets.
            if (missing) point.outer_left = point.outer_right = nullptr;
            add(std::move(point), at);
        }
    }
    if (relatives.outer == relatives.inner) relatives.outer = nullptr;
    for (DeepPoint& point : points_of(relatives.outer, column.id, left_splits)) {
        const Carried at = carry_from_superset(node, column, point, *relatives.outer);
        point.left = std::max<Cost>(0, point.left - loss.slack(at.gone_left));
        point.right = std::max<Cost>(0, point.right - loss.slack(at.gone_right));
        point.inner_left = point.inner_right = nullptr;
        add(std::move(point), at);
    }
    if (!hints.empty()) tidy(hints, loss);
    return hints;
}

}  // namespace provetree
