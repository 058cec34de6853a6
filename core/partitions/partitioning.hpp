// The three ways of Ales, Huré and Lambert (2024) to cluster labelled rows: GP, IGP and CRM (their algorithms 1 to 3).
// All merge rows of one class only, hold a few numbers per row, and may be stopped: what is merged by then is a
// partition, too.
#pragma once

#include <vector>

#include "base/limits.hpp"
#include "partitions/points.hpp"

namespace provetree::partitions {

struct Partitioned {
    std::vector<std::int32_t> cluster;  // of each row: the lowest row of its cluster
    std::vector<std::int32_t> medoid;   // of each row: the medoid of its cluster; empty for GP, which has none
    bool complete = true;               // false: stopped before the end
};

// GP: closest pairs first, until at most `most_clusters` clusters are left. The merges are the edges of the minimum
// spanning trees of the classes.
Partitioned greedy(const Points& points, std::size_t most_clusters, Monitor& monitor);

// IGP: pairs by their distance over the distance to another class, as long as that is below one for the pair and for
// the medoids.
Partitioned improved_greedy(const Points& points, Monitor& monitor);

// CRM: the closest medoids first; clusters that were closest to another class merge no more.
Partitioned closest_representatives(const Points& points, Monitor& monitor);

// The closest other row of each row, the lowest of them on a tie; -1 for a single row.
std::vector<std::int32_t> nearest_neighbours(const Points& points, Monitor& monitor);

}  // namespace provetree::partitions
