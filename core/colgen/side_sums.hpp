// Sums of item values on the two sides of every candidate of a node, as pricing and recursion need them.
#pragma once

#include <vector>

#include "colgen/instance.hpp"

namespace provetree::colgen {

template <class Value>
struct SideSums {
    std::vector<Value> left;   // left[a * width + t]: over the items that candidate a sends left
    std::vector<Value> total;  // over all items
    std::vector<Value> bins;   // scratch
};

// kWidth: the width where it is known at compile time, 0 where it is not.
template <int kWidth, class Value>
void sum_sides_of(SideSums<Value>& sums, const std::vector<std::int32_t>& items, const Node& node, const Value* values,
                  std::size_t any_width) {
    const std::size_t width = kWidth > 0 ? kWidth : any_width;
    sums.left.assign(node.count * width, 0);
    sums.total.assign(width, 0);
    for (const std::int32_t i : items)
        for (std::size_t t = 0; t < width; ++t) sums.total[t] += values[i * width + t];
    for (const Group& group : node.groups) {
        sums.bins.assign((group.count + 1) * width, 0);
        const std::uint16_t* bucket = group.bucket.data();
        Value* bins = sums.bins.data();
        for (const std::int32_t i : items) {
            Value* bin = bins + bucket[i] * width;
            const Value* value = values + i * width;
            for (std::size_t t = 0; t < width; ++t) bin[t] += value[t];
        }
        Value* left = sums.left.data() + group.first * width;
        for (std::size_t t = 0; t < width; ++t) left[t] = bins[t];
        for (std::size_t i = 1; i < static_cast<std::size_t>(group.count); ++i)
            for (std::size_t t = 0; t < width; ++t)
                left[i * width + t] = left[(i - 1) * width + t] + bins[i * width + t];
    }
}

// values[i * width + t] is value t of item i.
template <class Value>
void sum_sides(SideSums<Value>& sums, const std::vector<std::int32_t>& items, const Node& node, const Value* values,
               std::size_t width) {
    if (width == 1) return sum_sides_of<1>(sums, items, node, values, width);
    if (width == 2) return sum_sides_of<2>(sums, items, node, values, width);
    if (width == 3) return sum_sides_of<3>(sums, items, node, values, width);
    if (width == 4) return sum_sides_of<4>(sums, items, node, values, width);
    if (width == 5) return sum_sides_of<5>(sums, items, node, values, width);
    sum_sides_of<0>(sums, items, node, values, width);
}

}  // namespace provetree::colgen
