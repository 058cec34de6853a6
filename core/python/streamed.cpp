// Sums of two columns that are not kept, for Python; see streamed/two_levels.hpp.
#include "python/bindings.hpp"
#include "streamed/two_levels.hpp"

namespace provetree {

namespace {

// The sums as Python gives them, one array for each part.
struct GivenSums {
    Array2<const double> rows;
    Array1<const std::uint8_t> is_ratio;
    Array1<const std::uint32_t> first, second;
    Array1<const double> a, b;

    std::vector<TwoColumns> checked(const Table& table) const {
        must(rows.shape(0) == table.rows, "Sums need the numbers behind each row of the table.");
        const std::size_t n = is_ratio.shape(0);
        must(first.shape(0) == n && second.shape(0) == n && a.shape(0) == n && b.shape(0) == n,
             "Sums need two columns and two coefficients each.");
        std::vector<TwoColumns> sums;
        for (std::size_t s = 0; s < n; ++s) {
            must(first.data()[s] < rows.shape(1) && second.data()[s] < rows.shape(1), "Sums need columns of the rows.");
            sums.push_back({is_ratio.data()[s] != 0, first.data()[s], second.data()[s], a.data()[s], b.data()[s]});
        }
        return sums;
    }
};

// Everything that a search of sums works on.
class Workplace {
  public:
    Workplace(const BoundTable& bound, const GivenSums& sums, std::int64_t min_leaf, const std::string& kernel,
              unsigned switches, Monitor& monitor)
        : kernel_(choose_kernel(kernel)), context_(bound.table(), kernel_, min_leaf, switches, 0, monitor),
          builder_(bound.table(), kernel_, min_leaf) {
        builder_.build_root(root_);
        sums_.emplace(RawTable{sums.rows.data(), sums.rows.shape(0), sums.rows.shape(1)}, sums.checked(bound.table()),
                      root_, kernel_, min_leaf);
    }
    void search(std::optional<StreamedTwo>& made, const Loss& loss, std::int64_t splits, std::size_t room) {
        made.emplace(context_, root_, *sums_, loss, splits, room);
    }
    const Node& root() const { return root_; }
    const SumColumns& sums() const { return *sums_; }
    const Counters& counters() const { return context_.counters; }

  private:
    const Kernel& kernel_;
    Context context_;
    NodeBuilder builder_;
    Node root_;
    std::optional<SumColumns> sums_;
};

GivenSums sums_of(const nb::tuple& given) {
    must(given.size() == 6, "Sums need rows, kinds, two columns and two coefficients.");
    return {nb::cast<Array2<const double>>(given[0]),        nb::cast<Array1<const std::uint8_t>>(given[1]),
            nb::cast<Array1<const std::uint32_t>>(given[2]), nb::cast<Array1<const std::uint32_t>>(given[3]),
            nb::cast<Array1<const double>>(given[4]),        nb::cast<Array1<const double>>(given[5])};
}

// The fewest errors of a split of each ordered column, and which sum each is about (-1: a column of the table).
nb::object stumps_of(const BoundTable& bound, const nb::tuple& given, std::int64_t min_samples_leaf, double time_limit,
                     const std::string& kernel) {
    must(bound.searched().measure == nullptr, "sum_stumps needs a table whose loss is errors.");
    const GivenSums sums = sums_of(given);
    Stops stops(time_limit);
    Workplace place(bound, sums, min_samples_leaf, kernel, 0, stops.monitor);
    std::optional<StreamedTwo> search;
    place.search(search, Loss{}, 3, 0);
    const std::vector<ColumnStump> found = stops.run([&](Monitor&) { return search->stumps(); });
    if (!stops.complete) return nb::str(stops.end_name());
    std::vector<std::int32_t> relaxed, feasible;
    std::vector<std::int64_t> about;
    for (std::size_t c = 0; c < found.size(); ++c) {
        relaxed.push_back(found[c].relaxed);
        feasible.push_back(found[c].feasible);
        const std::size_t base = place.root().columns.size();
        about.push_back(c < base ? -1 : static_cast<std::int64_t>(place.sums().sum_of(c - base)));
    }
    return nb::make_tuple(to_numpy(std::move(relaxed)), to_numpy(std::move(feasible)), to_numpy(std::move(about)));
}

// Proves that no tree of depth two costs less than `known`, or finds the sums of one that does.
nb::dict proven_of(const BoundTable& bound, const nb::tuple& given, const Array1<const std::int32_t>& relaxed,
                   Cost known, std::int64_t max_splits, std::int64_t min_samples_leaf, Cost error_scale,
                   Cost split_penalty, double time_limit, std::uint64_t room, const std::string& kernel,
                   unsigned switches, const nb::object& on_progress) {
    must(bound.searched().measure == nullptr, "prove_sums needs a table whose loss is errors.");
    must(max_splits >= 2 && min_samples_leaf >= 1 && error_scale >= 1 && split_penalty >= 0 && known >= 0,
         "prove_sums needs two or more splits, a leaf size, an objective and a known cost.");
    const GivenSums sums = sums_of(given);
    Signals signals;
    std::optional<StreamedTwo> search;
    Monitor monitor(time_limit, [&] {
        return !search || signals.report(on_progress, monitor.seconds(), search->upper(), search->lower(), true);
    });
    Workplace place(bound, sums, min_samples_leaf, kernel, switches, monitor);
    must(relaxed.shape(0) == place.root().columns.size() + place.sums().size(),
         "prove_sums needs the stump of each column.");
    std::vector<ColumnStump> stumps;
    for (std::size_t c = 0; c < relaxed.shape(0); ++c) stumps.push_back({relaxed.data()[c], relaxed.data()[c]});
    const Loss loss{error_scale, split_penalty};
    place.search(search, loss, max_splits, static_cast<std::size_t>(room));
    StreamedAnswer answer = without_gil([&] { return search->prove(known, stumps); });
    signals.rethrow();
    const char* const end = answer.complete                             ? "complete"
                            : answer.reason == StopReason::kInterrupted ? "interrupted"
                                                                        : "time_limit";
    const Counters& of = place.counters();
    return dict_of("cost"_a = answer.upper, "lower_bound"_a = answer.lower, "end"_a = end, "sums"_a = answer.sums,
                   "counters"_a = dict_of("rounds"_a = answer.rounds, "orders"_a = answer.ordered,
                                          "panels"_a = of.panels, "lanes"_a = of.lanes, "row_steps"_a = of.row_steps));
}

}  // namespace

void register_streamed(nb::module_& module) {
    module.def("sum_stumps", &stumps_of, "table"_a, "sums"_a, nb::kw_only(), "min_samples_leaf"_a, "time_limit"_a,
               "kernel"_a = "auto");
    module.def("prove_sums", &proven_of, "table"_a, "sums"_a, "relaxed"_a, nb::kw_only(), "known"_a, "max_splits"_a,
               "min_samples_leaf"_a, "error_scale"_a, "split_penalty"_a, "time_limit"_a, "room"_a, "kernel"_a = "auto",
               "switches"_a = 0u, "on_progress"_a.none() = nb::none());
}

}  // namespace provetree
