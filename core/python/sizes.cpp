// The search of all sizes for Python.
#include "python/bindings.hpp"
#include "python/switch_bits.hpp"
#include "search/method.hpp"
#include "sizes/bit_sizes.hpp"
#include "sizes/search_sizes.hpp"

namespace provetree {

namespace {

nb::dict dict_of_size(SizedTree&& sized) {
    return dict_of(
        "column"_a = to_numpy(std::move(sized.tree.column)), "rank_low"_a = to_numpy(std::move(sized.tree.rank_low)),
        "rank_high"_a = to_numpy(std::move(sized.tree.rank_high)), "left"_a = to_numpy(std::move(sized.tree.left)),
        "right"_a = to_numpy(std::move(sized.tree.right)), "label"_a = to_numpy(std::move(sized.tree.label)),
        "cost"_a = sized.tree.cost, "lower_bound"_a = sized.lower_bound);
}

nb::dict search_all_sizes(const BoundTable& bound, int max_depth, std::int64_t max_leaf_nodes,
                          std::int64_t min_samples_leaf, double time_limit, std::uint64_t memory_limit,
                          const std::string& kernel, unsigned switches, const nb::object& on_tick) {
    must(max_depth >= 0 && max_leaf_nodes >= 1 && min_samples_leaf >= 1,
         "search_sizes needs max_depth >= 0, max_leaf_nodes >= 1 and min_samples_leaf >= 1.");
    must(bound.searched().measure == nullptr, "search_sizes needs a table whose loss is errors.");
    SizeOptions options;
    options.max_depth = max_depth;
    options.max_leaves = max_leaf_nodes;
    options.min_leaf = min_samples_leaf;
    options.time_limit = time_limit;
    options.memory_limit = memory_limit;
    options.kernel = kernel;
    options.switches = switches;
    options.on_bits = bits_fit(bound.searched(), max_depth, switches);
    Signals signals;
    const auto tick = [&] {
        nb::gil_scoped_acquire acquire;
        if (!signals.go_on()) return false;
        try {
            if (!on_tick.is_none()) on_tick();
        } catch (const nb::python_error&) {
            signals.fail(std::current_exception());
            return false;
        }
        return true;
    };
    SizesResult result = without_gil([&] { return search_sizes(bound.searched(), options, tick); });
    signals.rethrow();
    nb::list sizes;
    for (SizedTree& sized : result.sizes) sizes.append(dict_of_size(std::move(sized)));
    const Counters& of = result.counters;
    return dict_of("sizes"_a = sizes, "status"_a = status_name(result.status),
                   "counters"_a = dict_of("nodes"_a = of.nodes, "intervals"_a = of.intervals,
                                          "depth_two_solves"_a = of.depth_two_solves, "panels"_a = of.panels,
                                          "lanes"_a = of.lanes, "row_steps"_a = of.row_steps, "samples"_a = of.samples,
                                          "sampled_rows"_a = of.sampled_rows,
                                          "profile_bytes_peak"_a = static_cast<std::uint64_t>(of.profile_bytes_peak)));
}

}  // namespace

void register_sizes(nb::module_& module) {
    module.def("search_sizes", &search_all_sizes, "table"_a, nb::kw_only(), "max_depth"_a, "max_leaf_nodes"_a,
               "min_samples_leaf"_a, "time_limit"_a, "memory_limit"_a, "kernel"_a = "auto", "switches"_a = 0u,
               "on_tick"_a.none() = nb::none());
    module.def(
        "searched_on_bits",
        [](const BoundTable& bound, int max_depth) { return bits_fit(bound.searched(), max_depth, 0); }, "table"_a,
        "max_depth"_a);
    nb::dict parts = bits_of(kSizeSwitches);
    parts["bits"] = static_cast<unsigned>(kNoBits);
    module.attr("SIZE_SWITCHES") = parts;
    nb::dict unsound = bits_of(kUnsoundSizeSwitches);
    unsound["floors_under_least_leaves"] = kFloorsUnderLeastLeaves;
    unsound["too_many_settled"] = kTooManySettled;
    module.attr("UNSOUND_SIZE_SWITCHES") = unsound;
    module.attr("DEEPEST_BY_SIZES") = kDeepestBySizes;
}

}  // namespace provetree
