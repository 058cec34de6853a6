// Registers the data-partition part of the core as provetree._core.partitions: the three ways to cluster labelled rows,
// nearest neighbours, and the search for the best tree of a partition. Arrays are checked here and handed on.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <limits>
#include <string>

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
    Partitioned found;
    {
        nb::gil_scoped_release release;
        if (method == "gp")
            found = partitions::greedy(points, most_clusters, stops.monitor);
        else if (method == "igp")
            found = partitions::improved_greedy(points, stops.monitor);
        else
            found = partitions::closest_representatives(points, stops.monitor);
    }
    stops.rethrow();
    return nb::make_tuple(to_numpy(std::move(found.cluster)), to_numpy(std::move(found.medoid)),
                          end_name(found.complete, found.interrupted));
}

// Without a limit on time; Ctrl-C raises.
auto nearest_neighbours(const Array2<const double>& rows) {
    must(rows.shape(0) >= 1 && rows.shape(0) < (std::size_t{1} << 31), "Neighbours need from 1 to 2^31 - 1 rows.");
    const std::vector<std::int32_t> classes(rows.shape(0), 0);
    const std::vector<double> ones(rows.shape(0), 1.0);
    const Points points(rows.data(), classes.data(), ones.data(), rows.shape(0), rows.shape(1));
    Stops stops(std::numeric_limits<double>::infinity());
    std::vector<std::int32_t> found;
    try {
        nb::gil_scoped_release release;
        found = partitions::nearest_neighbours(points, stops.monitor);
    } catch (const StopSearch&) {
        stops.rethrow();
        PyErr_SetNone(PyExc_KeyboardInterrupt);
        throw nb::python_error();
    }
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
    partitions::ClusterTable table;
    table.columns = ranks.shape(0);
    table.rows = cluster.shape(0);
    table.clusters = n_clusters;
    table.ranks = ranks.data();
    table.cluster = cluster.data();
    table.label = label.data();
    table.weight = weight.data();
    table.n_classes = n_classes;
    table.max_depth = max_depth;
    table.max_splits = max_splits;
    Stops stops(time_limit);
    partitions::ClusterTree tree;
    {
        nb::gil_scoped_release release;
        tree = partitions::search_clusters(table, cutoff, stops.monitor);
    }
    stops.rethrow();
    nb::dict found;
    found["found"] = tree.found;
    found["cost"] = tree.cost;
    found["lower_bound"] = tree.lower_bound;
    found["status"] = end_name(tree.complete, tree.interrupted);
    found["column"] = to_numpy(std::move(tree.column));
    found["rank"] = to_numpy(std::move(tree.rank));
    found["nodes"] = tree.nodes;
    return found;
}

}  // namespace

void register_partitions(nb::module_& module) {
    nb::module_ part = module.def_submodule(
        "partitions", "Data-partitions: clustering labelled rows, and the best tree of a partition.");
    part.def("partition", &partition, nb::arg("method"), nb::arg("rows"), nb::arg("classes"), nb::arg("weights"),
             nb::arg("most_clusters"), nb::arg("time_limit"));
    part.def("nearest_neighbours", &nearest_neighbours, nb::arg("rows"));
    part.def("search_clusters", &search_clusters, nb::arg("ranks"), nb::arg("cluster"), nb::arg("label"),
             nb::arg("weight"), nb::arg("n_classes"), nb::arg("max_depth"), nb::arg("max_splits"), nb::arg("cutoff"),
             nb::arg("time_limit"));
}

}  // namespace provetree
