// The exact search for Python: the bound table, the search with its options, rows sent down a tree.
#include "search/search.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "python/bindings.hpp"
#include "python/search_options.hpp"
#include "tree/route.hpp"

namespace provetree {

namespace {

nb::dict routed_rows_of(const BoundTable& bound, const std::vector<std::int64_t>& column,
                        const std::vector<std::int64_t>& rank) {
    must(column.size() == rank.size(), "route_rows needs one rank for each column.");
    Routed routed;
    {
        nb::gil_scoped_release release;
        routed = route_rows(bound.table(), column, rank);
    }
    nb::dict found;
    found["weights"] =
        to_numpy(std::move(routed.weights), column.size(), static_cast<std::size_t>(bound.table().n_classes));
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

nb::dict counters_of(const SearchResult& result) {
    const Counters& of = result.counters;
    nb::dict counters;
    for (const auto& [name, value] : std::initializer_list<std::pair<const char*, std::uint64_t>>{
             {"nodes", of.nodes},
             {"intervals", of.intervals},
             {"depth_two_solves", of.depth_two_solves},
             {"panels", of.panels},
             {"lanes", of.lanes},
             {"row_steps", of.row_steps},
             {"samples", of.samples},
             {"sampled_rows", of.sampled_rows},
             {"profile_bytes_peak", static_cast<std::uint64_t>(of.profile_bytes_peak)},
             {"improvement_steps", of.improvement_steps},
             {"targets", of.targets},
             {"improvement_rounds", of.improvement_rounds},
             {"improvements", of.improvements},
             {"tie_rule_complete", result.tie_rule_complete ? 1u : 0u}})
        counters[name] = value;
    return counters;
}

nb::dict dict_of(SearchResult&& result) {
    nb::dict found;
    found["column"] = to_numpy(std::move(result.tree.column));
    found["rank_low"] = to_numpy(std::move(result.tree.rank_low));
    found["rank_high"] = to_numpy(std::move(result.tree.rank_high));
    found["left"] = to_numpy(std::move(result.tree.left));
    found["right"] = to_numpy(std::move(result.tree.right));
    found["label"] = to_numpy(std::move(result.tree.label));
    found["cost"] = result.tree.cost;
    found["lower_bound"] = result.lower_bound;
    found["status"] = status_name(result.status);
    nb::list history;
    for (const ProgressPoint& point : result.history)
        history.append(nb::make_tuple(point.seconds, point.cost, point.bound));
    found["history"] = history;
    found["counters"] = counters_of(result);
    return found;
}

nb::dict search_table(const BoundTable& bound, nb::object on_progress, const nb::kwargs& given) {
    const SearchOptions options = search_options_of(given, bound.table());
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
        result.emplace(run_search(bound.table(), options, tick));
    }
    signals.rethrow();
    return dict_of(std::move(*result));
}

template <std::size_t n>
nb::dict bits_of(const NamedSwitch (&switches)[n]) {
    nb::dict bits;
    for (const NamedSwitch& one : switches) bits[one.name] = static_cast<unsigned>(one.bit);
    return bits;
}

}  // namespace

void register_search(nb::module_& module) {
    nb::class_<BoundTable>(module, "Table")
        .def(nb::init<Array2<const Index>, Array1<const double>, Array1<const std::int64_t>, Array1<const std::int32_t>,
                      Array1<const std::int64_t>, Array1<const std::int64_t>, int>(),
             nb::arg("ranks"), nb::arg("values"), nb::arg("value_ends"), nb::arg("classes"), nb::arg("weights"),
             nb::arg("counts"), nb::arg("n_classes"));
    module.def("route_rows", &routed_rows_of, nb::arg("table"), nb::arg("column"), nb::arg("rank"));
    module.def("search", &search_table, nb::arg("table"), nb::arg("on_progress").none() = nb::none(),
               nb::arg("options"));
    module.def("available_kernels", &available_kernels);
    module.attr("SWITCHES") = bits_of(kPartSwitches);
    module.attr("TEST_SWITCHES") = bits_of(kTestSwitches);
}

}  // namespace provetree
