// Routing rows; see tree/route.hpp.
#include "tree/route.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace provetree {

Routed route_rows(const Index* ranks, std::size_t columns, std::size_t rows, const std::int32_t* classes,
                  const std::int64_t* weights, const std::int64_t* counts, std::size_t n_classes,
                  const std::vector<std::int64_t>& column, const std::vector<std::int64_t>& rank) {
    const std::size_t n_nodes = column.size();
    std::vector<std::size_t> waiting;
    std::vector<std::int32_t> left(n_nodes, -1), right(n_nodes, -1), depth(n_nodes, 0);
    for (std::size_t node = 0; node < n_nodes; ++node) {
        if (column[node] >= static_cast<std::int64_t>(columns))
            throw std::invalid_argument("A split names a column that does not exist.");
        if (node > 0) {
            std::size_t parent = node - 1;
            if (column[parent] < 0) {
                if (waiting.empty()) throw std::invalid_argument("The nodes of a tree go on after its last leaf.");
                parent = waiting.back();
                waiting.pop_back();
            }
            (parent == node - 1 ? left : right)[parent] = static_cast<std::int32_t>(node);
            depth[node] = depth[parent] + 1;
        }
        if (column[node] >= 0) waiting.push_back(node);
    }
    if (n_nodes == 0 || !waiting.empty()) throw std::invalid_argument("The nodes of a tree end before its last leaf.");

    constexpr std::int64_t kNone = -1, kMost = std::numeric_limits<std::int64_t>::max();
    Routed routed;
    routed.weights.assign(n_nodes * n_classes, 0);
    routed.counts.assign(n_nodes, 0);
    routed.label.assign(n_nodes, 0);
    routed.heavier_left.assign(n_nodes, 0);
    for (auto* lasts : {&routed.last_left, &routed.highest}) lasts->assign(n_nodes, kNone);
    for (auto* firsts : {&routed.first_right, &routed.lowest}) firsts->assign(n_nodes, kMost);
    for (std::size_t row = 0; row < rows; ++row) {
        std::size_t at = 0;
        while (column[at] >= 0) {
            const std::int64_t here = ranks[static_cast<std::size_t>(column[at]) * rows + row];
            routed.lowest[at] = std::min(routed.lowest[at], here);
            routed.highest[at] = std::max(routed.highest[at], here);
            if (here <= rank[at]) {
                routed.last_left[at] = std::max(routed.last_left[at], here);
                ++at;
            } else {
                routed.first_right[at] = std::min(routed.first_right[at], here);
                at = static_cast<std::size_t>(right[at]);
            }
        }
        routed.weights[at * n_classes + static_cast<std::size_t>(classes[row])] += weights[row];
        routed.counts[at] += counts[row];
    }
    for (auto* firsts : {&routed.first_right, &routed.lowest})
        std::replace(firsts->begin(), firsts->end(), kMost, kNone);
    std::vector<std::int64_t> total(n_nodes);
    for (std::size_t node = n_nodes; node-- > 0;) {  // children come after their parent
        std::int64_t* const own = routed.weights.data() + node * n_classes;
        if (left[node] >= 0) {
            const std::size_t first = static_cast<std::size_t>(left[node]),
                              second = static_cast<std::size_t>(right[node]);
            for (std::size_t c = 0; c < n_classes; ++c)
                own[c] = routed.weights[first * n_classes + c] + routed.weights[second * n_classes + c];
            routed.counts[node] = routed.counts[first] + routed.counts[second];
            routed.heavier_left[node] = total[first] >= total[second];
        }
        total[node] = std::accumulate(own, own + n_classes, std::int64_t{0});
        routed.label[node] = static_cast<std::int32_t>(std::max_element(own, own + n_classes) - own);
    }
    routed.left = std::move(left);
    routed.right = std::move(right);
    routed.depth = std::move(depth);
    return routed;
}

}  // namespace provetree
