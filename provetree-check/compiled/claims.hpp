// Shapes, rows given by conditions, and claims.
#pragma once

#include <algorithm>

#include "text.hpp"

namespace ptcheck {

struct Shape {
    i64 depth, splits;
    bool reaches(const Shape& other) const { return depth >= other.depth && splits >= other.splits; }
};

inline i64 full(i64 depth) { return depth >= 60 ? kMostCost : (i64{1} << depth) - 1; }

// The smallest form of a shape.
inline Shape smallest(i64 depth, i64 splits) {
    depth = std::min({depth, splits, kMostDepth});
    return {depth, std::min(splits, full(depth))};
}

// Rows with low <= rank <= high in a column.
struct Condition {
    int column, low, high;
    bool operator==(const Condition& other) const {
        return column == other.column && low == other.low && high == other.high;
    }
};
using Where = vector<Condition>;  // by column; conditions that all rows meet are left out

// Claims (0: none; numbers count from 1) that bound the sides of the split "rank <= k" of a column.
struct Point {
    int column;
    i64 left_splits;
    int rank;
    i64 claims[2];
};

struct Claim {
    size_t where_begin, where_end;  // among all conditions
    bool has_conditions;            // also such as all rows meet
    Shape shape;
    i64 relaxed, lower;
    bool has_cover;
    Shape cover;               // of the trees it covers
    size_t points_begin, end;  // among all points
};

// The weight outside the heaviest class, or outside the two heaviest.
inline i64 outside(const i64* by_class, i64 n_classes, int labels) {
    i64 sum = 0, first = 0, second = 0;
    for (i64 c = 0; c < n_classes; ++c) {
        sum += by_class[c];
        if (by_class[c] > first)
            second = first, first = by_class[c];
        else
            second = std::max(second, by_class[c]);
    }
    return sum - first - (labels == 2 ? second : 0);
}

// What the sides of every split cost at least (rule 3), by the number of values left.
inline void between(vector<i64>& left, vector<i64>& right, const vector<i64>& before, i64 scale) {
    const size_t n = left.size();
    for (size_t i = 1; i < n; ++i) {
        const i64 slack = scale * (before[i] - before[i - 1]);
        left[i] = std::max(left[i], left[i - 1]);
        right[i] = std::max(right[i], right[i - 1] - slack);
    }
    for (size_t i = n; i-- > 1;) {
        const i64 slack = scale * (before[i] - before[i - 1]);
        left[i - 1] = std::max(left[i - 1], left[i] - slack);
        right[i - 1] = std::max(right[i - 1], right[i]);
    }
}

}  // namespace ptcheck
