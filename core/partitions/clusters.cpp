// Merging of clusters; see partitions/clusters.hpp.
#include "partitions/clusters.hpp"

#include <algorithm>

namespace provetree::partitions {

// Totals that differ by rounding only are ties: the order in which a total was added up must not decide.
static constexpr double kRounding = 1e-9;

Row Clusters::merge(Row a, Row b, Monitor& monitor) {
    if (a > b) std::swap(a, b);
    std::vector<Row>& kept = members_[a];
    std::vector<Row>& gone = members_[b];
    std::vector<double> added_kept(kept.size(), 0.0), added_gone(gone.size(), 0.0);
    for (std::size_t i = 0; i < kept.size(); ++i) {
        for (std::size_t j = 0; j < gone.size(); ++j) {
            const double d = points_.distance(kept[i], gone[j]);
            added_kept[i] += points_.weight(gone[j]) * d;
            added_gone[j] += points_.weight(kept[i]) * d;
        }
        monitor.work(gone.size());
    }
    for (std::size_t i = 0; i < kept.size(); ++i) total_[kept[i]] += added_kept[i];
    for (std::size_t j = 0; j < gone.size(); ++j) {
        total_[gone[j]] += added_gone[j];
        cluster_[gone[j]] = a;
    }
    kept.insert(kept.end(), gone.begin(), gone.end());
    std::vector<Row>().swap(gone);
    double least = total_[kept[0]];
    for (const Row i : kept) least = std::min(least, total_[i]);
    Row medoid = static_cast<Row>(points_.size());
    for (const Row i : kept)
        if (total_[i] <= least * (1 + kRounding)) medoid = std::min(medoid, i);
    medoid_[a] = medoid;
    return a;
}

}  // namespace provetree::partitions
