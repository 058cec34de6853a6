// Shapes, rows given by conditions, claims, and the whole numbers that they are written in.
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
    depth = std::min(depth, splits);
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

struct Claim {
    size_t where_begin, where_end;  // among all conditions
    Shape shape;
    i64 relaxed, lower;
    size_t cover;  // where it begins in the body; 0: none
};

// Reads whole numbers one after the other.
struct Reader {
    const string& data;
    size_t at = 0;

    i64 next(i64 most = kMostCost - 1) {
        std::uint64_t value = 0;
        for (int shift = 0; shift < 63; shift += 7) {
            need(at < data.size(), "a number is cut off");
            const u8 byte = static_cast<u8>(data[at++]);
            value |= std::uint64_t{byte & 127u} << shift;
            if (byte < 128) {
                need(value <= static_cast<std::uint64_t>(most), "a number is too large where it stands");
                return static_cast<i64>(value);
            }
        }
        throw Refused("a number is too long");
    }
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

// The part of it that holds with a minimum leaf size as well.
inline void with_fewer_rows(vector<i64>& left, vector<i64>& right, const vector<i64>& before, i64 scale) {
    for (size_t i = 1; i < left.size(); ++i)
        right[i] = std::max(right[i], right[i - 1] - scale * (before[i] - before[i - 1]));
    for (size_t i = left.size(); i-- > 1;)
        left[i - 1] = std::max(left[i - 1], left[i] - scale * (before[i] - before[i - 1]));
}

}  // namespace ptcheck
