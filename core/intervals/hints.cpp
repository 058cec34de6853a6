// Bounds that a node takes over from its relatives before any of its splits is tried.
#include <algorithm>

#include "intervals/frame.hpp"

namespace provetree {

void tidy(std::vector<DeepPoint>& points, Cost scale) {
    std::stable_sort(points.begin(), points.end(), by_position);
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
    for (std::size_t i = 1; i < points.size(); ++i) {
        points[i].left = std::max(points[i].left, points[i - 1].left);
        points[i].right =
            std::max(points[i].right, points[i - 1].right - scale * (points[i].weight - points[i - 1].weight));
    }
    for (std::size_t i = points.size(); i-- > 1;) {
        points[i - 1].left =
            std::max(points[i - 1].left, points[i].left - scale * (points[i].weight - points[i - 1].weight));
        points[i - 1].right = std::max(points[i - 1].right, points[i].right);
    }
    if (points.size() < 3) return;
    kept = 1;
    for (std::size_t i = 1; i + 1 < points.size(); ++i) {
        const DeepPoint &before = points[kept - 1], &here = points[i], &after = points[i + 1];
        const bool implied = here.left <= std::max(before.left, after.left - scale * (after.weight - here.weight)) &&
                             here.right <= std::max(after.right, before.right - scale * (here.weight - before.weight));
        if (implied) continue;
        if (kept != i) points[kept] = std::move(points[i]);
        ++kept;
    }
    if (kept != points.size() - 1) points[kept] = std::move(points.back());
    points.resize(kept + 1);
}

std::vector<DeepPoint> TreeSearch::take_over(const Node& node, const NodeColumn& column, std::int64_t left_splits,
                                             Relatives relatives) const {
    const auto family_of = [&](const Profile* profile) -> const DeepFamily* {
        if (!profile || context_.off(kNoInheritance)) return nullptr;
        for (const DeepFamily& family : profile->deep)
            if (family.id == column.id && family.left_splits == left_splits) return &family;
        return nullptr;
    };
    std::vector<DeepPoint> hints;
    if (const DeepFamily* inner = family_of(relatives.inner)) {
        const Index missing = node.rows - relatives.inner->rows;
        for (DeepPoint point : inner->points) {
            point.left_upper = point.right_upper = kInfinite;
            const Carried at = carry_from_subset(node, column, point, *relatives.inner);
            point.position = at.position;
            point.weight = at.weight;
            // With the same rows its children are this node's own, valid either way; otherwise they are subsets.
            if (missing) point.outer_left = point.outer_right = nullptr;
            hints.push_back(std::move(point));
        }
    }
    if (const DeepFamily* outer = relatives.outer == relatives.inner ? nullptr : family_of(relatives.outer)) {
        for (DeepPoint point : outer->points) {
            const Carried at = carry_from_superset(node, column, point, *relatives.outer);
            point.left = std::max<Cost>(0, point.left - loss.error_scale * at.gone_left);
            point.right = std::max<Cost>(0, point.right - loss.error_scale * at.gone_right);
            point.left_upper = point.right_upper = kInfinite;
            point.position = at.position;
            point.weight = at.weight;
            point.inner_left = point.inner_right = nullptr;
            hints.push_back(std::move(point));
        }
    }
    if (!hints.empty()) tidy(hints, loss.error_scale);
    return hints;
}

}  // namespace provetree
