// Routing rows; see route.hpp.
#include "route.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace provetree {

Routed route_rows(const Index* ranks, std::size_t columns, std::size_t rows, const std::int32_t* classes, const std::int64_t* weights,
                  const std::int64_t* counts, std::size_t n_classes, const std::vector<std::int64_t>& column, const std::vector<std::int64_t>& rank) {
    const std::size_t n_nodes = column.size();
    std::vector<std::size_t> right(n_nodes, 0), waiting;
    for (std::size_t node = 0; node < n_nodes; ++node) {
        if (column[node] >= static_cast<std::int64_t>(columns)) throw std::invalid_argument("A split names a column that does not exist.");
        if (node > 0 && column[node - 1] < 0) {
            if (waiting.empty()) throw std::invalid_argument("The nodes of a tree go on after its last leaf.");
            right[waiting.back()] = node;
            waiting.pop_back();
        }
        if (column[node] >= 0) waiting.push_back(node);
    }
    if (n_nodes == 0 || !waiting.empty()) throw std::invalid_argument("The nodes of a tree end before its last leaf.");

    constexpr std::int64_t kNone = -1, kMost = std::numeric_limits<std::int64_t>::max();
    Routed routed{std::vector<std::int64_t>(n_nodes * n_classes, 0), std::vector<std::int64_t>(n_nodes, 0),     std::vector<std::int64_t>(n_nodes, kNone),
                  std::vector<std::int64_t>(n_nodes, kMost),         std::vector<std::int64_t>(n_nodes, kMost), std::vector<std::int64_t>(n_nodes, kNone)};
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
                at = right[at];
            }
        }
        routed.weights[at * n_classes + static_cast<std::size_t>(classes[row])] += weights[row];
        routed.counts[at] += counts[row];
    }
    for (auto* firsts : {&routed.first_right, &routed.lowest}) std::replace(firsts->begin(), firsts->end(), kMost, kNone);
    return routed;
}

}  // namespace provetree
