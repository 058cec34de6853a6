// How pure the splits of a column leave their two sides: one pass scores them all.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "sweeps/node.hpp"

namespace provetree {

// A measure is a sum of parts over the classes of a side, larger where the side is purer. `change` is that of a part
// when the weight of its class changes by so much.
struct Gini {
    static double part(double weight) { return weight * weight; }
    static double change(double before, double by) { return by * (2 * before + by); }
    static double side(double parts, double weight) { return parts / weight; }
};

struct Entropy {
    static double part(double weight) { return weight > 0 ? weight * std::log2(weight) : 0.0; }
    static double change(double before, double by) { return part(before + by) - part(before); }
    static double side(double parts, double weight) { return parts - part(weight); }
};

// Calls take(column, position, score) for every split of a node, and done() after each column.
template <class Measure, class Take, class Done>
void score_splits(const Node& node, const Take& take, const Done& done) {
    std::vector<double> left(node.by_class.size());
    double parts_all = 0;
    for (Weight weight : node.by_class) parts_all += Measure::part(weight);
    for (Index c = 0; c < node.columns.size(); ++c) {
        const NodeColumn& column = node.columns[c];
        std::fill(left.begin(), left.end(), 0.0);
        double parts_left = 0, parts_right = parts_all, weight_left = 0;
        for (Index i = 1; i < node.rows; ++i) {
            const Index row = column.order[i - 1] & entry::kRowMask;
            const std::uint32_t cls = node.classes[row];
            const double weight = node.weights[row];
            parts_left += Measure::change(left[cls], weight);
            parts_right += Measure::change(node.by_class[cls] - left[cls], -weight);
            left[cls] += weight;
            weight_left += weight;
            if (i < column.first_split || i > column.last_split || !Node::is_split(column, i)) continue;
            take(c, i, Measure::side(parts_left, weight_left) + Measure::side(parts_right, node.weight - weight_left));
        }
        done();
    }
}

}  // namespace provetree
