// The exact search for Python: the bound table, the search with its options, rows sent down a tree.
#include "search/search.hpp"

#include "python/bindings.hpp"
#include "tree/route.hpp"

namespace provetree {

namespace {

nb::dict routed_rows_of(const BoundTable& bound, const std::vector<std::int64_t>& column,
                        const std::vector<std::int64_t>& rank) {
    must(column.size() == rank.size(), "route_rows needs one rank for each column.");
    Routed routed = without_gil([&] { return route_rows(bound.table(), column, rank); });
    return dict_of("weights"_a = shaped(std::move(routed.weights), column.size(), bound.table().n_classes),
                   "counts"_a = to_numpy(std::move(routed.counts)), "left"_a = to_numpy(std::move(routed.left)),
                   "right"_a = to_numpy(std::move(routed.right)), "depth"_a = to_numpy(std::move(routed.depth)),
                   "label"_a = to_numpy(std::move(routed.label)), "heavier_left"_a = routed.heavier_left,
                   "last_left"_a = routed.last_left, "first_right"_a = routed.first_right, "lowest"_a = routed.lowest,
                   "highest"_a = routed.highest);
}

nb::dict counters_of(const SearchResult& result) {
    const Counters& of = result.counters;
    return dict_of("nodes"_a = of.nodes, "intervals"_a = of.intervals, "depth_two_solves"_a = of.depth_two_solves,
                   "panels"_a = of.panels, "lanes"_a = of.lanes, "row_steps"_a = of.row_steps, "samples"_a = of.samples,
                   "sampled_rows"_a = of.sampled_rows,
                   "profile_bytes_peak"_a = static_cast<std::uint64_t>(of.profile_bytes_peak),
                   "improvement_steps"_a = of.improvement_steps, "targets"_a = of.targets,
                   "improvement_rounds"_a = of.improvement_rounds, "improvements"_a = of.improvements,
                   "tie_rule_complete"_a = result.tie_rule_complete ? 1 : 0);
}

nb::dict dict_of_certified(SearchResult&& result) {
    Certified& found = result.certified;
    return dict_of("bound"_a = found.bound, "claims"_a = found.claims,
                   "bytes"_a = nb::bytes(found.bytes.data(), found.bytes.size()),
                   "weights"_a = to_numpy(std::move(found.weights)), "seconds"_a = result.certify_seconds);
}

nb::dict dict_of_result(SearchResult&& result) {
    nb::list history;
    for (const ProgressPoint& point : result.history)
        history.append(nb::make_tuple(point.seconds, point.cost, point.bound));
    return dict_of("column"_a = to_numpy(std::move(result.tree.column)),
                   "rank_low"_a = to_numpy(std::move(result.tree.rank_low)),
                   "rank_high"_a = to_numpy(std::move(result.tree.rank_high)),
                   "left"_a = to_numpy(std::move(result.tree.left)), "right"_a = to_numpy(std::move(result.tree.right)),
                   "label"_a = to_numpy(std::move(result.tree.label)), "cost"_a = result.tree.cost,
                   "lower_bound"_a = result.lower_bound, "status"_a = status_name(result.status), "history"_a = history,
                   "counters"_a = counters_of(result), "certified"_a = dict_of_certified(std::move(result)));
}

nb::dict search_table(const BoundTable& bound, nb::object on_progress, const nb::kwargs& given) {
    const SearchOptions options = search_options_of(given, bound.searched());
    const nb::object nobody = nb::none();
    Signals signals;
    const auto tick = [&](const ProgressPoint& at) {
        // There is nothing to tell before the first tree.
        return signals.report(at.cost < kInfinite ? on_progress : nobody, at.seconds, at.cost, at.bound);
    };
    SearchResult result = without_gil([&] { return run_search(bound.searched(), options, tick); });
    signals.rethrow();
    return dict_of_result(std::move(result));
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
                      Array1<const std::int64_t>, Array1<const std::int64_t>, int, const std::string&,
                      std::optional<Array2<const double>>, int>(),
             "ranks"_a, "values"_a, "value_ends"_a, "classes"_a, "weights"_a, "counts"_a, "n_classes"_a,
             "loss"_a = "errors", "targets"_a.none() = nb::none(), "cost_bits"_a = 44)
        .def_prop_ro("cost_unit", &BoundTable::cost_unit)
        .def_prop_ro("constant", &BoundTable::constant);
    module.def("route_rows", &routed_rows_of, "table"_a, "column"_a, "rank"_a);
    module.def("search", &search_table, "table"_a, "on_progress"_a.none() = nb::none(), "options"_a);
    module.def("available_kernels", &available_kernels);
    module.attr("SWITCHES") = bits_of(kPartSwitches);
    module.attr("TEST_SWITCHES") = bits_of(kTestSwitches);
}

}  // namespace provetree
