// Clusters that only ever merge, each with its medoid: the member with the least total distance to the others. The
// totals are kept by member and grow when clusters merge, so that over a whole run each pair of rows is measured once
// at most.
#pragma once

#include <numeric>
#include <utility>
#include <vector>

#include "base/limits.hpp"
#include "partitions/partitioning.hpp"
#include "partitions/points.hpp"

namespace provetree::partitions {

class Clusters {
  public:
    explicit Clusters(const Points& points)
        : points_(points), cluster_(points.size()), members_(points.size()), medoid_(points.size()),
          total_(points.size(), 0.0) {
        std::iota(cluster_.begin(), cluster_.end(), Row{0});
        medoid_ = cluster_;
        for (const Row i : cluster_) members_[i] = {i};
    }

    // A cluster is named by its lowest row.
    Row of(Row row) const { return cluster_[row]; }
    // The lowest row among those whose totals are equal up to rounding.
    Row medoid(Row cluster) const { return medoid_[cluster]; }
    // Merges two clusters and returns the name of the result. May throw a stop of the monitor, before anything is
    // changed.
    Row merge(Row a, Row b, Monitor& monitor);

    // What the clusters are in the end.
    Partitioned take(bool complete) {
        Partitioned result{{}, {}, complete};
        for (const Row g : cluster_) result.medoid.push_back(medoid(g));
        result.cluster = std::move(cluster_);
        return result;
    }

  private:
    const Points& points_;
    std::vector<Row> cluster_;
    std::vector<std::vector<Row>> members_;
    std::vector<Row> medoid_;
    std::vector<double> total_;  // weighted distance of each row to the members of its cluster
};

}  // namespace provetree::partitions
