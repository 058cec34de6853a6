// Routing rows; see tree/route.hpp.
#include "tree/route.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace provetree {

namespace {

constexpr std::int64_t kNone = -1, kMost = std::numeric_limits<std::int64_t>::max();

// Children and depths of nodes in preorder. Throws where they are no tree.
void link_nodes(const std::vector<std::int64_t>& column, std::int64_t columns, Routed& routed) {
    const std::size_t n_nodes = column.size();
    std::vector<std::size_t> waiting;
    for (auto* children : {&routed.left, &routed.right}) children->assign(n_nodes, -1);
    routed.depth.assign(n_nodes, 0);
    for (std::size_t node = 0; node < n_nodes; ++node) {
        if (column[node] >= columns) throw std::invalid_argument("A split names a column that does not exist.");
        if (node > 0) {
            std::size_t parent = node - 1;
            if (column[parent] < 0) {
                if (waiting.empty()) throw std::invalid_argument("The nodes of a tree go on after its last leaf.");
                parent = waiting.back();
                waiting.pop_back();
            }
            (parent == node - 1 ? routed.left : routed.right)[parent] = static_cast<std::int32_t>(node);
            routed.depth[node] = routed.depth[parent] + 1;
        }
        if (column[node] >= 0) waiting.push_back(node);
    }
    if (n_nodes == 0 || !waiting.empty()) throw std::invalid_argument("The nodes of a tree end before its last leaf.");
}

// Sends each row to its leaf, and notes that in `leaf_of` where it has room.
void fill_leaves(const Table& table, const std::vector<std::int64_t>& column, const std::vector<std::int64_t>& rank,
                 Routed& routed, std::vector<std::size_t>& leaf_of) {
    const std::size_t n_nodes = column.size(), n_classes = static_cast<std::size_t>(table.n_classes);
    routed.weights.assign(n_nodes * n_classes, 0);
    routed.counts.assign(n_nodes, 0);
    for (auto* lasts : {&routed.last_left, &routed.highest}) lasts->assign(n_nodes, kNone);
    for (auto* firsts : {&routed.first_right, &routed.lowest}) firsts->assign(n_nodes, kMost);
    for (std::size_t row = 0; row < table.rows; ++row) {
        std::size_t at = 0;
        while (column[at] >= 0) {
            const std::int64_t here = table.ranks[static_cast<std::size_t>(column[at]) * table.rows + row];
            routed.lowest[at] = std::min(routed.lowest[at], here);
            routed.highest[at] = std::max(routed.highest[at], here);
            if (here <= rank[at]) {
                routed.last_left[at] = std::max(routed.last_left[at], here);
                ++at;
            } else {
                routed.first_right[at] = std::min(routed.first_right[at], here);
                at = static_cast<std::size_t>(routed.right[at]);
            }
        }
        routed.weights[at * n_classes + static_cast<std::size_t>(table.classes[row])] += table.weights[row];
        routed.counts[at] += table.counts[row];
        if (!leaf_of.empty()) leaf_of[row] = at;
    }
    for (auto* firsts : {&routed.first_right, &routed.lowest})
        std::replace(firsts->begin(), firsts->end(), kMost, kNone);
}

// Puts the rows in the order of their leaves. Children come after their parent, the left one first.
void order_rows(const std::vector<std::size_t>& leaf_of, Routed& routed) {
    NodeRows& reached = routed.reached;
    const std::size_t n_nodes = routed.left.size();
    reached.begin.assign(n_nodes, 0);
    reached.end.assign(n_nodes, 0);
    for (std::size_t leaf : leaf_of) ++reached.end[leaf];
    std::int64_t before = 0;
    for (std::size_t node = 0; node < n_nodes; ++node) {
        reached.begin[node] = before;
        before += reached.end[node];
    }
    reached.rows.resize(leaf_of.size());
    std::vector<std::int64_t> next = reached.begin;
    for (std::size_t row = 0; row < leaf_of.size(); ++row)
        reached.rows[static_cast<std::size_t>(next[leaf_of[row]]++)] = static_cast<std::int64_t>(row);
    for (std::size_t node = n_nodes; node-- > 0;)
        reached.end[node] =
            routed.right[node] < 0 ? next[node] : reached.end[static_cast<std::size_t>(routed.right[node])];
}

// Sums up what the leaves have. Children come after their parent.
void sum_up(std::size_t n_classes, Routed& routed) {
    const std::size_t n_nodes = routed.left.size();
    routed.label.assign(n_nodes, 0);
    routed.heavier_left.assign(n_nodes, 0);
    std::vector<std::int64_t> total(n_nodes);
    for (std::size_t node = n_nodes; node-- > 0;) {
        std::int64_t* const own = routed.weights.data() + node * n_classes;
        if (routed.left[node] >= 0) {
            const std::size_t left = static_cast<std::size_t>(routed.left[node]),
                              right = static_cast<std::size_t>(routed.right[node]);
            for (std::size_t c = 0; c < n_classes; ++c)
                own[c] = routed.weights[left * n_classes + c] + routed.weights[right * n_classes + c];
            routed.counts[node] = routed.counts[left] + routed.counts[right];
            routed.heavier_left[node] = total[left] >= total[right];
        }
        total[node] = std::accumulate(own, own + n_classes, std::int64_t{0});
        routed.label[node] = static_cast<std::int32_t>(std::max_element(own, own + n_classes) - own);
    }
}

}  // namespace

Routed route_rows(const Table& table, const std::vector<std::int64_t>& column, const std::vector<std::int64_t>& rank,
                  bool keep_rows) {
    Routed routed;
    link_nodes(column, table.columns, routed);
    std::vector<std::size_t> leaf_of(keep_rows ? table.rows : 0);
    fill_leaves(table, column, rank, routed, leaf_of);
    if (keep_rows) order_rows(leaf_of, routed);
    sum_up(static_cast<std::size_t>(table.n_classes), routed);
    return routed;
}

}  // namespace provetree
