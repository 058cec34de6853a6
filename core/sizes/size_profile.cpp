// Bounds handed on between nested nodes; see sizes/size_profile.hpp.
#include "sizes/size_profile.hpp"

#include <algorithm>

#include "sweeps/profile.hpp"

namespace provetree {

namespace {

template <int K>
void raise(PerSize<K>& bounds, const PerSize<K>& others, Cost less) {
    for (std::size_t i = 0; i < bounds.size(); ++i) bounds[i] = std::max(bounds[i], others[i] - less);
}

// Makes points of one position one, and drops those at the ends of the node, which are no splits.
template <int K>
void merge_positions(const Node& node, std::vector<SizePoint<K>>& points) {
    std::size_t kept = 0;
    for (const SizePoint<K>& point : points) {
        if (point.position == 0 || point.position >= node.rows) continue;
        if (kept && points[kept - 1].position == point.position) {
            raise<K>(points[kept - 1].left, point.left, 0);
            raise<K>(points[kept - 1].right, point.right, 0);
        } else {
            points[kept++] = point;
        }
    }
    points.resize(kept);
}

// Raises the bounds of all points from their neighbours': more rows never cost less, and never more than their slack.
template <int K>
void tighten_all(std::vector<SizePoint<K>>& points, const Loss& loss, bool lipschitz) {
    const auto between = [&](std::size_t i) {
        return lipschitz ? loss.slack(points[i].weight - points[i - 1].weight) : kInfinite;
    };
    for (std::size_t i = 1; i < points.size(); ++i) {
        raise<K>(points[i].left, points[i - 1].left, 0);
        raise<K>(points[i].right, points[i - 1].right, between(i));
    }
    for (std::size_t i = points.size(); i-- > 1;) {
        raise<K>(points[i - 1].right, points[i].right, 0);
        raise<K>(points[i - 1].left, points[i].left, between(i));
    }
}

// Drops points between the first and the last that say nothing their neighbours do not.
template <int K>
void drop_implied_points(std::vector<SizePoint<K>>& points, const Loss& loss) {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < points.size(); ++k) {
        bool says = kept == 0 || k + 1 == points.size();
        if (!says) {
            const SizePoint<K>&a = points[kept - 1], &x = points[k], &b = points[k + 1];
            const Cost before = loss.slack(x.weight - a.weight), after = loss.slack(b.weight - x.weight);
            for (std::size_t i = 0; i < x.left.size() && !says; ++i)
                says = x.left[i] > std::max(a.left[i], b.left[i] - after) ||
                       x.right[i] > std::max(b.right[i], a.right[i] - before);
        }
        if (says) points[kept++] = points[k];
    }
    points.resize(kept);
}

}  // namespace

template <int K>
const std::vector<SizePoint<K>>* SizeProfile<K>::find(Index id) const {
    const auto at = std::lower_bound(columns.begin(), columns.end(), id,
                                     [](const SizePoints<K>& column, Index wanted) { return column.id < wanted; });
    return at != columns.end() && at->id == id ? &at->points : nullptr;
}

template <int K>
void SizeProfile<K>::account() {
    bytes_ = sizeof(*this);
    for (const SizePoints<K>& column : columns)
        bytes_ += sizeof column + column.points.capacity() * sizeof(SizePoint<K>);
    held_ += bytes_;
}

template <int K>
std::vector<SizePoint<K>> size_hints(const Node& node, const NodeColumn& column, const SizeProfile<K>* inner,
                                     const SizeProfile<K>* outer, const Loss& loss, bool lipschitz) {
    std::vector<SizePoint<K>> hints;
    const auto add = [&](SizePoint<K> point, const Carried& at) {
        point.position = at.position;
        point.weight = at.weight;
        for (PerSize<K>* side : {&point.left, &point.right})
            for (Cost& bound : *side) bound = std::max<Cost>(0, bound);
        hints.push_back(point);
    };
    if (const auto* points = inner ? inner->find(column.id) : nullptr)
        for (const SizePoint<K>& point : *points) add(point, carry_from_subset(node, column, point, *inner));
    const auto middle = static_cast<std::ptrdiff_t>(hints.size());
    if (const auto* points = outer && lipschitz ? outer->find(column.id) : nullptr) {
        for (SizePoint<K> point : *points) {
            const Carried at = carry_from_superset(node, column, point, *outer);
            for (Cost& bound : point.left) bound -= loss.slack(at.gone_left);
            for (Cost& bound : point.right) bound -= loss.slack(at.gone_right);
            add(point, at);
        }
    }
    if (hints.empty()) return hints;
    std::inplace_merge(hints.begin(), hints.begin() + middle, hints.end(),
                       [](const SizePoint<K>& a, const SizePoint<K>& b) { return a.position < b.position; });
    merge_positions(node, hints);
    tighten_all(hints, loss, lipschitz);
    if (lipschitz) drop_implied_points(hints, loss);
    return hints;
}

template struct SizeProfile<4>;
template struct SizeProfile<8>;
template std::vector<SizePoint<4>> size_hints(const Node&, const NodeColumn&, const SizeProfile<4>*,
                                              const SizeProfile<4>*, const Loss&, bool);
template std::vector<SizePoint<8>> size_hints(const Node&, const NodeColumn&, const SizeProfile<8>*,
                                              const SizeProfile<8>*, const Loss&, bool);

}  // namespace provetree
