// Greedy partitions (GP), and nearest neighbours; see partitions/partitioning.hpp.
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "partitions/partitioning.hpp"

namespace provetree::partitions {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The minimum spanning tree of some rows by Prim's method: unique, as no two pairs are equal in their order.
void spanning_tree(const Points& points, std::vector<Row> outside, std::vector<Pair>& edges, Monitor& monitor) {
    std::vector<Pair> closest(outside.size(), Pair{kInfinity, 0, 0});
    Row last = outside.back();
    outside.pop_back();
    closest.pop_back();
    while (!outside.empty()) {
        std::size_t next = 0;
        for (std::size_t k = 0; k < outside.size(); ++k) {
            const Pair pair = make_pair_of(points.distance(last, outside[k]), last, outside[k]);
            if (pair < closest[k]) closest[k] = pair;
            if (closest[k] < closest[next]) next = k;
        }
        monitor.work(outside.size());
        edges.push_back(closest[next]);
        last = outside[next];
        outside[next] = outside.back();
        closest[next] = closest.back();
        outside.pop_back();
        closest.pop_back();
    }
}

}  // namespace

Partitioned greedy(const Points& points, std::size_t most_clusters, Monitor& monitor) {
    const std::size_t n = points.size();
    Partitioned result;
    result.cluster.resize(n);
    std::iota(result.cluster.begin(), result.cluster.end(), Row{0});
    std::map<std::int32_t, std::vector<Row>> by_class;
    for (std::size_t i = 0; i < n; ++i) by_class[points.label(static_cast<Row>(i))].push_back(static_cast<Row>(i));
    std::vector<Pair> edges;
    try {
        for (const auto& rows : by_class) spanning_tree(points, rows.second, edges, monitor);
    } catch (const StopSearch&) {
        result.complete = false;
        return result;  // half a spanning tree says nothing about the order of merges
    }
    std::sort(edges.begin(), edges.end());
    // Edges of spanning trees always join two clusters, so the first ones are the merges.
    const std::size_t merges = std::min(edges.size(), n - std::min(n, most_clusters));
    const auto root = [&](Row i) {
        while (result.cluster[i] != i) {
            Row& above = result.cluster[i];
            above = result.cluster[above];
            i = above;
        }
        return i;
    };
    for (std::size_t k = 0; k < merges; ++k) {
        const Row a = root(edges[k].low), b = root(edges[k].high);
        result.cluster[std::max(a, b)] = std::min(a, b);
    }
    for (std::size_t i = 0; i < n; ++i) result.cluster[i] = root(static_cast<Row>(i));
    return result;
}

std::vector<std::int32_t> nearest_neighbours(const Points& points, Monitor& monitor) {
    const std::size_t n = points.size();
    std::vector<std::int32_t> nearest(n, -1);
    std::vector<double> from_here;
    for (std::size_t i = 0; i < n; ++i) {
        points.distances(static_cast<Row>(i), from_here);
        double least = kInfinity;
        for (std::size_t j = 0; j < n; ++j)
            if (j != i && from_here[j] < least) {
                least = from_here[j];
                nearest[i] = static_cast<std::int32_t>(j);
            }
        monitor.work(n);
    }
    return nearest;
}

}  // namespace provetree::partitions
