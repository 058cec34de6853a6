// Registers the data-partition part of the core as provetree._core.partitions: the three ways to cluster labelled rows,
// nearest neighbours, and the search for the best tree of a partition. Arrays are checked here and handed on.
#include <limits>

#include "partitions/cluster_search.hpp"
#include "partitions/partitioning.hpp"
#include "python/bindings.hpp"

namespace provetree {

namespace {

using partitions::Partitioned;
using partitions::Points;

Points points_of(const Array2<const double>& rows, const Array1<const std::int32_t>& classes,
                 const Array1<const double>& weights) {
    must(rows.shape(0) >= 1 && rows.shape(0) < (std::size_t{1} << 31), "A partition needs from 1 to 2^31 - 1 rows.");
    must(classes.shape(0) == rows.shape(0) && weights.shape(0) == rows.shape(0),
         "A partition needs one class and one weight per row.");
    return Points(rows.data(), classes.data(), weights.data(), rows.shape(0), rows.shape(1));
}

nb::tuple partition(const std::string& method, const Array2<const double>& rows,
                    const Array1<const std::int32_t>& classes, const Array1<const double>& weights,
                    std::size_t most_clusters, double time_limit) {
    const Points points = points_of(rows, classes, weights);
    must(method == "gp" || method == "igp" || method == "crm", "The method must be 'gp', 'igp' or 'crm'.");
    Stops stops(time_limit);
    Partitioned found = stops.run([&](Monitor& monitor) {
        if (method == "gp") return partitions::greedy(points, most_clusters, monitor);
        if (method == "igp") return partitions::improved_greedy(points, monitor);
        return partitions::closest_representatives(points, monitor);
    });
    return nb::make_tuple(to_numpy(std::move(found.cluster)), to_numpy(std::move(found.medoid)),
                          stops.end_name(found.complete));
}

// Without a limit on time; Ctrl-C raises.
auto nearest_neighbours(const Array2<const double>& rows) {
    must(rows.shape(0) >= 1 && rows.shape(0) < (std::size_t{1} << 31), "Neighbours need from 1 to 2^31 - 1 rows.");
    const std::vector<std::int32_t> classes(rows.shape(0), 0);
    const std::vector<double> ones(rows.shape(0), 1.0);
    const Points points(rows.data(), classes.data(), ones.data(), rows.shape(0), rows.shape(1));
    Stops stops(std::numeric_limits<double>::infinity());
    std::vector<std::int32_t> found =
        stops.run([&](Monitor& monitor) { return partitions::nearest_neighbours(points, monitor); });
    if (stops.interrupted()) raise_keyboard_interrupt();
    return to_numpy(std::move(found));
}

nb::dict search_clusters(const Array2<const std::uint32_t>& ranks, const Array1<const std::int32_t>& cluster,
                         const Array1<const std::int32_t>& label, const Array1<const std::int64_t>& weight,
                         int n_classes, int max_depth, int max_splits, std::int64_t cutoff, double time_limit) {
    const std::size_t n_clusters = label.shape(0);
    must(cluster.shape(0) >= 1 && ranks.shape(1) == cluster.shape(0), "A search needs one cluster per row.");
    must(weight.shape(0) == n_clusters && n_classes >= 1, "A search needs one weight and one label per cluster.");
    must(max_depth >= 0 && max_splits >= 0 && max_splits < (1 << 20), "The limits of a tree must be 0 or more.");
    std::int64_t total = 0;
    for (std::size_t g = 0; g < n_clusters; ++g) {
        must(label(g) >= 0 && label(g) < n_classes, "A label must be a class.");
        must(weight(g) >= 1 && weight(g) <= (std::int64_t{1} << 30), "A weight must be from 1 to 2^30.");
        total += weight(g);
    }
    must(total <= (std::int64_t{1} << 31), "The weights must add up to 2^31 at most.");
    for (std::size_t i = 0; i < cluster.shape(0); ++i)
        must(cluster(i) >= 0 && static_cast<std::size_t>(cluster(i)) < n_clusters, "A row must belong to a cluster.");
    const partitions::ClusterTable table{.columns = ranks.shape(0),
                                         .rows = cluster.shape(0),
                                         .clusters = n_clusters,
                                         .ranks = ranks.data(),
                                         .cluster = cluster.data(),
                                         .label = label.data(),
                                         .weight = weight.data(),
                                         .n_classes = n_classes,
                                         .max_depth = max_depth,
                                         .max_splits = max_splits};
    Stops stops(time_limit);
    partitions::ClusterTree tree =
        stops.run([&](Monitor& monitor) { return partitions::search_clusters(table, cutoff, monitor); });
    return dict_of("found"_a = tree.found, "cost"_a = tree.cost, "lower_bound"_a = tree.lower_bound,
                   "status"_a = stops.end_name(tree.complete), "column"_a = to_numpy(std::move(tree.column)),
                   "rank"_a = to_numpy(std::move(tree.rank)), "nodes"_a = tree.nodes);
}

}  // namespace

void register_partitions(nb::module_& module) {
    nb::module_ part = module.def_submodule(
        "partitions", "Data-partitions: clustering labelled rows, and the best tree of a partition.");
    part.def("partition", &partition, "method"_a, "rows"_a, "classes"_a, "weights"_a, "most_clusters"_a,
             "time_limit"_a);
    part.def("nearest_neighbours", &nearest_neighbours, "rows"_a);
    part.def("search_clusters", &search_clusters, "ranks"_a, "cluster"_a, "label"_a, "weight"_a, "n_classes"_a,
             "max_depth"_a, "max_splits"_a, "cutoff"_a, "time_limit"_a);
}

}  // namespace provetree
