// Registers the core with Python as provetree._core. Nothing is decided here: arrays are checked and handed on, results
// copied into dicts.
#include "python/bindings.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <optional>

#include "search/search.hpp"
#include "table/binary_table.hpp"
#include "table/columns.hpp"
#include "tree/route.hpp"

namespace nb = nanobind;

namespace provetree {

namespace {

nb::tuple ranked_columns_of(const nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>& table) {
    const std::size_t rows = table.shape(0), columns = table.shape(1);
    RankedColumns ranked;
    {
        nb::gil_scoped_release release;
        ranked = rank_columns(table.data(), rows, columns, table.stride(0), table.stride(1));
    }
    return nb::make_tuple(to_numpy(std::move(ranked.ranks), columns, rows), to_numpy(std::move(ranked.values)),
                          to_numpy(std::move(ranked.value_ends)), to_numpy(std::move(ranked.has_missing)));
}

// The ordered columns as Python is given them.
nb::tuple tuple_of(OrderedColumns&& ordered, std::size_t rows) {
    const std::size_t columns = ordered.features.size();
    return nb::make_tuple(to_numpy(std::move(ordered.ranks), columns, rows), to_numpy(std::move(ordered.features)),
                          to_numpy(std::move(ordered.kinds)), to_numpy(std::move(ordered.categories)),
                          to_numpy(std::move(ordered.values)), to_numpy(std::move(ordered.value_ends)));
}

nb::tuple tuple_of(MergedRows&& merged) {
    return nb::make_tuple(to_numpy(std::move(merged.first)), to_numpy(std::move(merged.weights)),
                          to_numpy(std::move(merged.counts)));
}

nb::tuple ordered_columns_of(const Array2<const Index>& ranks, const Array1<const double>& values,
                             const Array1<const std::int64_t>& value_ends,
                             const Array1<const std::uint8_t>& has_missing,
                             const Array1<const std::int64_t>& n_categories, const Array1<const std::int64_t>& rows,
                             bool keep_duplicates) {
    const std::size_t features = ranks.shape(0), n = ranks.shape(1);
    must(
        value_ends.shape(0) == features && has_missing.shape(0) == features && n_categories.shape(0) == features,
        "order_columns needs one end of values, one mark for missing values and one number of categories per feature.");
    std::int64_t end = 0;
    for (std::size_t f = 0; f < features; ++f) {
        must(value_ends.data()[f] >= end, "order_columns needs ends of values that rise.");
        end = value_ends.data()[f];
    }
    must(end == static_cast<std::int64_t>(values.shape(0)), "order_columns needs values up to the last end.");
    const std::vector<std::int64_t> taken(rows.data(), rows.data() + rows.shape(0));
    for (std::int64_t row : taken)
        must(row >= 0 && row < static_cast<std::int64_t>(n), "order_columns needs rows of the table.");
    OrderedColumns ordered;
    {
        nb::gil_scoped_release release;
        ordered = order_columns(
            {ranks.data(), features, n, values.data(), value_ends.data(), has_missing.data(), n_categories.data()},
            taken, keep_duplicates);
    }
    return tuple_of(std::move(ordered), taken.size());
}

nb::tuple merged_rows_of(const Array2<const Index>& ranks, const Array1<const std::int32_t>& classes,
                         const Array1<const std::int64_t>& weights, const Array1<const std::int64_t>& counts) {
    const std::size_t n = classes.shape(0);
    if (ranks.shape(1) != n || weights.shape(0) != n || counts.shape(0) != n)
        throw nb::value_error("merge_rows needs arrays over the same rows.");
    MergedRows merged;
    {
        nb::gil_scoped_release release;
        merged = merge_rows(ranks.data(), ranks.shape(0), n, classes.data(), weights.data(), counts.data());
    }
    return tuple_of(std::move(merged));
}

nb::object binary_table_of(const nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>& table,
                           const Array1<const std::int32_t>& classes, const Array1<const std::int64_t>& weights,
                           const Array1<const std::int64_t>& counts, bool keep_duplicates, const std::string& kernel) {
    const std::size_t rows = table.shape(0), columns = table.shape(1);
    must(classes.shape(0) == rows && weights.shape(0) == rows && counts.shape(0) == rows,
         "order_binary_table needs arrays over the same rows.");
    const BitKernel& chosen = choose_bit_kernel(kernel);
    std::optional<BinaryTable> made;
    {
        nb::gil_scoped_release release;
        made = order_binary_table(chosen, table.data(), rows, columns, table.stride(0), table.stride(1), classes.data(),
                                  weights.data(), counts.data(), keep_duplicates);
    }
    if (!made) return nb::none();
    const std::size_t merged = made->rows.first.size();
    return nb::make_tuple(tuple_of(std::move(made->rows)), tuple_of(std::move(made->columns), merged));
}

nb::dict routed_rows_of(const Array2<const Index>& ranks, const Array1<const std::int32_t>& classes,
                        const Array1<const std::int64_t>& weights, const Array1<const std::int64_t>& counts,
                        int n_classes, const std::vector<std::int64_t>& column, const std::vector<std::int64_t>& rank) {
    const std::size_t n = classes.shape(0);
    if (ranks.shape(1) != n || weights.shape(0) != n || counts.shape(0) != n)
        throw nb::value_error("route_rows needs arrays over the same rows.");
    if (column.size() != rank.size()) throw nb::value_error("route_rows needs one rank for each column.");
    for (std::size_t i = 0; i < n; ++i)
        if (classes.data()[i] < 0 || classes.data()[i] >= n_classes)
            throw nb::value_error("route_rows needs classes between 0 and n_classes - 1.");
    Routed routed;
    {
        nb::gil_scoped_release release;
        routed = route_rows(ranks.data(), ranks.shape(0), n, classes.data(), weights.data(), counts.data(),
                            static_cast<std::size_t>(n_classes), column, rank);
    }
    nb::dict found;
    found["weights"] = to_numpy(std::move(routed.weights), column.size(), static_cast<std::size_t>(n_classes));
    found["counts"] = to_numpy(std::move(routed.counts));
    found["left"] = to_numpy(std::move(routed.left));
    found["right"] = to_numpy(std::move(routed.right));
    found["depth"] = to_numpy(std::move(routed.depth));
    found["label"] = to_numpy(std::move(routed.label));
    found["heavier_left"] = std::move(routed.heavier_left);
    found["last_left"] = std::move(routed.last_left);
    found["first_right"] = std::move(routed.first_right);
    found["lowest"] = std::move(routed.lowest);
    found["highest"] = std::move(routed.highest);
    return found;
}

const char* status_name(Status status) {
    switch (status) {
        case Status::kOptimal:
            return "optimal";
        case Status::kTimeLimit:
            return "time_limit";
        case Status::kWorkLimit:
            return "work_limit";
        case Status::kInterrupted:
            break;
    }
    return "interrupted";
}

// A tree given in preorder, -1 for a leaf.
PlanPtr plan_of(const std::vector<std::int64_t>& column, const std::vector<std::int64_t>& rank, const Table& table) {
    if (column.empty() && rank.empty()) return nullptr;
    std::size_t next = 0;
    const std::function<PlanPtr(int)> read = [&](int depth) -> PlanPtr {
        if (next >= column.size() || column.size() != rank.size() ||
            column[next] >= static_cast<std::int64_t>(table.columns) || depth > 1000)
            throw nb::value_error(
                "The initial tree must be given in preorder, with known columns and one rank for each node.");
        const std::size_t at = next++;
        if (column[at] < 0) return nullptr;
        PlanPtr left = read(depth + 1), right = read(depth + 1);
        return split_plan(static_cast<Index>(column[at]), static_cast<Index>(std::max<std::int64_t>(0, rank[at])),
                          std::move(left), std::move(right));
    };
    PlanPtr plan = read(0);
    if (next != column.size()) throw nb::value_error("The initial tree has nodes after its end.");
    return plan;
}

nb::dict search_table(const Array2<const Index>& ranks, const Array1<const double>& values,
                      const Array1<const std::int64_t>& value_ends, const Array1<const std::int32_t>& classes,
                      const Array1<const std::int64_t>& weights, const Array1<const std::int64_t>& counts,
                      int n_classes, int max_depth, std::int64_t max_splits, std::int64_t min_samples_leaf,
                      Cost error_scale, Cost split_penalty, double time_limit, std::uint64_t memory_limit,
                      nb::object on_progress, const std::string& kernel, unsigned switches, std::uint64_t max_work,
                      const std::vector<std::int64_t>& initial_column, const std::vector<std::int64_t>& initial_rank,
                      int n_jobs, const std::string& checkpoint, double checkpoint_seconds) {
    const TableHolder holder(ranks, values, value_ends, classes, weights, counts, n_classes);
    SearchOptions options;
    options.max_depth = max_depth;
    options.max_splits = max_splits;
    options.min_leaf = min_samples_leaf;
    options.loss = {error_scale, split_penalty};
    options.time_limit = time_limit;
    options.memory_limit = memory_limit;
    options.switches = switches;
    options.kernel = kernel;
    options.max_work = max_work;
    options.n_jobs = n_jobs;
    options.checkpoint = checkpoint;
    options.checkpoint_seconds = checkpoint_seconds;
    options.initial = plan_of(initial_column, initial_rank, holder.table);
    if (max_depth < 0 || max_splits < 0 || error_scale < 1 || split_penalty < 0)
        throw nb::value_error("search needs max_depth, max_splits, split_penalty >= 0 and error_scale >= 1.");
    // All splits together, and the factor the tie rule multiplies costs by, must stay far from overflow.
    const double splits =
        static_cast<double>(Shape::of(max_depth, std::min<std::int64_t>(max_splits, holder.table.rows)).splits);
    const double largest = (static_cast<double>(error_scale) * static_cast<double>(kMaxTotalWeight) +
                            static_cast<double>(split_penalty) * (splits + 1)) *
                           (splits + 2);
    if (largest > static_cast<double>(kInfinite))
        throw nb::value_error(
            "The cost scale is too large: error_scale, split_penalty and the number of splits would overflow 64-bit "
            "costs.");
    options.max_splits = std::min<std::int64_t>(max_splits, holder.table.rows);

    Signals signals;
    const auto tick = [&](const ProgressPoint& progress) {
        nb::gil_scoped_acquire acquire;
        if (!signals.go_on()) return false;
        if (on_progress.is_none() || progress.cost >= kInfinite) return true;  // nothing to tell before the first tree
        try {
            on_progress(progress.seconds, progress.cost, progress.bound);
        } catch (const nb::python_error&) {
            signals.fail(std::current_exception());
            return false;
        }
        return true;
    };
    std::optional<SearchResult> result;
    {
        nb::gil_scoped_release release;
        result.emplace(run_search(holder.table, options, tick));
    }
    signals.rethrow();

    nb::dict found;
    found["column"] = to_numpy(std::move(result->tree.column));
    found["rank_low"] = to_numpy(std::move(result->tree.rank_low));
    found["rank_high"] = to_numpy(std::move(result->tree.rank_high));
    found["left"] = to_numpy(std::move(result->tree.left));
    found["right"] = to_numpy(std::move(result->tree.right));
    found["label"] = to_numpy(std::move(result->tree.label));
    found["cost"] = result->tree.cost;
    found["lower_bound"] = result->lower_bound;
    found["status"] = status_name(result->status);
    nb::list history;
    for (const ProgressPoint& point : result->history)
        history.append(nb::make_tuple(point.seconds, point.cost, point.bound));
    found["history"] = history;
    nb::dict counters;
    counters["nodes"] = result->counters.nodes;
    counters["intervals"] = result->counters.intervals;
    counters["depth_two_solves"] = result->counters.depth_two_solves;
    counters["panels"] = result->counters.panels;
    counters["lanes"] = result->counters.lanes;
    counters["row_steps"] = result->counters.row_steps;
    counters["samples"] = result->counters.samples;
    counters["sampled_rows"] = result->counters.sampled_rows;
    counters["profile_bytes_peak"] = static_cast<std::uint64_t>(result->counters.profile_bytes_peak);
    counters["improvement_steps"] = result->counters.improvement_steps;
    counters["targets"] = result->counters.targets;
    counters["improvement_rounds"] = result->counters.improvement_rounds;
    counters["improvements"] = result->counters.improvements;
    counters["tie_rule_complete"] = result->tie_rule_complete ? 1 : 0;
    found["counters"] = counters;
    return found;
}

}  // namespace

}  // namespace provetree

NB_MODULE(_core, module) {
    using namespace provetree;
    module.doc() = "The C++ core of provetree. Private: use provetree.OptimalTreeClassifier or provetree.search.";
    module.def("rank_columns", &ranked_columns_of, nb::arg("table"));
    module.def("order_columns", &ordered_columns_of, nb::arg("ranks"), nb::arg("values"), nb::arg("value_ends"),
               nb::arg("has_missing"), nb::arg("n_categories"), nb::arg("rows"), nb::arg("keep_duplicates"));
    module.def("merge_rows", &merged_rows_of, nb::arg("ranks"), nb::arg("classes"), nb::arg("weights"),
               nb::arg("counts"));
    module.def("order_binary_table", &binary_table_of, nb::arg("table"), nb::arg("classes"), nb::arg("weights"),
               nb::arg("counts"), nb::arg("keep_duplicates"), nb::arg("kernel") = "auto");
    module.def("route_rows", &routed_rows_of, nb::arg("ranks"), nb::arg("classes"), nb::arg("weights"),
               nb::arg("counts"), nb::arg("n_classes"), nb::arg("column"), nb::arg("rank"));
    module.def("available_kernels", &available_kernels);
    module.def("search", &search_table, nb::arg("ranks"), nb::arg("values"), nb::arg("value_ends"), nb::arg("classes"),
               nb::arg("weights"), nb::arg("counts"), nb::arg("n_classes"), nb::arg("max_depth"), nb::arg("max_splits"),
               nb::arg("min_samples_leaf"), nb::arg("error_scale"), nb::arg("split_penalty"), nb::arg("time_limit"),
               nb::arg("memory_limit"), nb::arg("on_progress").none() = nb::none(), nb::arg("kernel") = "auto",
               nb::arg("switches") = 0u, nb::arg("max_work") = 0,
               nb::arg("initial_column") = std::vector<std::int64_t>(),
               nb::arg("initial_rank") = std::vector<std::int64_t>(), nb::arg("n_jobs") = 1, nb::arg("checkpoint") = "",
               nb::arg("checkpoint_seconds") = 20.0);
    register_parts(module);
    register_itemsets(module);
    register_colgen(module);
    register_partitions(module);
}
