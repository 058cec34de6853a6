// The exact search for Python: the bound table, the search with its options, rows sent down a tree and their sums.
#include "search/search.hpp"

#include <utility>

#include "certify/table_digest.hpp"
#include "python/bindings.hpp"
#include "python/switch_bits.hpp"
#include "search/task_solver.hpp"
#include "tasks/remote_executor.hpp"
#include "tree/node_sums.hpp"
#include "tree/route.hpp"

namespace provetree {

namespace {

nb::dict routed_rows_of(const BoundTable& bound, const std::vector<std::int64_t>& column,
                        const std::vector<std::int64_t>& rank, bool keep_rows) {
    must(column.size() == rank.size(), "route_rows needs one rank for each column.");
    Routed routed = without_gil([&] { return route_rows(bound.table(), column, rank, keep_rows); });
    nb::dict told =
        dict_of("weights"_a = shaped(std::move(routed.weights), column.size(), bound.table().n_classes),
                "counts"_a = to_numpy(std::move(routed.counts)), "left"_a = to_numpy(std::move(routed.left)),
                "right"_a = to_numpy(std::move(routed.right)), "depth"_a = to_numpy(std::move(routed.depth)),
                "label"_a = to_numpy(std::move(routed.label)), "heavier_left"_a = routed.heavier_left,
                "last_left"_a = routed.last_left, "first_right"_a = routed.first_right, "lowest"_a = routed.lowest,
                "highest"_a = routed.highest);
    if (keep_rows) {
        told["rows"] = to_numpy(std::move(routed.reached.rows));
        told["begin"] = routed.reached.begin;
        told["end"] = routed.reached.end;
    }
    return told;
}

// The rows of nodes as route_rows gave them, checked.
NodeRows rows_of_nodes(const Array1<const std::int64_t>& rows, std::vector<std::int64_t> begin,
                       std::vector<std::int64_t> end, std::size_t n_rows) {
    const auto past = [](std::int64_t at, std::size_t size) { return at < 0 || std::cmp_greater(at, size); };
    must(begin.size() == end.size(), "Nodes need one end for each begin.");
    for (std::size_t node = 0; node < begin.size(); ++node)
        must(!past(begin[node], rows.shape(0)) && !past(end[node], rows.shape(0)) && begin[node] < end[node],
             "Nodes need one row or more, from a begin to an end.");
    NodeRows reached{{rows.data(), rows.data() + rows.shape(0)}, std::move(begin), std::move(end)};
    for (std::int64_t row : reached.rows) must(!past(row + 1, n_rows) && row >= 0, "Nodes need rows of the table.");
    return reached;
}

RowNumbers numbers_of(const Array2<const double>& numbers, const Array1<const std::int64_t>& weights) {
    must(weights.shape(0) == numbers.shape(0), "Sums of nodes need a weight for each row.");
    return {numbers.data(), numbers.shape(1), weights.data()};
}

// Mean and sum of squares of each node and number.
nb::tuple node_means_of(const Array2<const double>& numbers, const Array1<const std::int64_t>& weights,
                        const Array1<const std::int64_t>& rows, std::vector<std::int64_t> begin,
                        std::vector<std::int64_t> end) {
    const RowNumbers of = numbers_of(numbers, weights);
    const NodeRows reached = rows_of_nodes(rows, std::move(begin), std::move(end), numbers.shape(0));
    const std::vector<MeanSquares> found = without_gil([&] { return node_means(of, reached); });
    std::vector<double> means, squares;
    for (const MeanSquares& each : found) {
        means.push_back(each.mean);
        squares.push_back(each.squares);
    }
    const std::size_t nodes = reached.begin.size();
    return nb::make_tuple(shaped(std::move(means), nodes, of.width), shaped(std::move(squares), nodes, of.width));
}

// Sums of each node and number.
auto node_totals_of(const Array2<const double>& numbers, const Array1<const std::int64_t>& weights,
                    const Array1<const std::int64_t>& rows, std::vector<std::int64_t> begin,
                    std::vector<std::int64_t> end) {
    const RowNumbers of = numbers_of(numbers, weights);
    const NodeRows reached = rows_of_nodes(rows, std::move(begin), std::move(end), numbers.shape(0));
    return shaped(without_gil([&] { return node_totals(of, reached); }), reached.begin.size(), of.width);
}

nb::dict counters_of(const SearchResult& result) {
    const Counters& of = result.counters;
    return dict_of("nodes"_a = of.nodes, "intervals"_a = of.intervals, "depth_two_solves"_a = of.depth_two_solves,
                   "panels"_a = of.panels, "lanes"_a = of.lanes, "row_steps"_a = of.row_steps, "samples"_a = of.samples,
                   "sampled_rows"_a = of.sampled_rows, "shared"_a = of.shared, "rows_decided"_a = of.rows_decided,
                   "profile_bytes_peak"_a = static_cast<std::uint64_t>(of.profile_bytes_peak),
                   "improvement_steps"_a = of.improvement_steps, "targets"_a = of.targets,
                   "improvement_rounds"_a = of.improvement_rounds, "improvements"_a = of.improvements,
                   "tie_rule_complete"_a = result.tie_rule_complete ? 1 : 0);
}

nb::dict dict_of_certified(SearchResult&& result) {
    Certified& found = result.certified;
    return dict_of("bound"_a = found.bound, "claims"_a = found.claims,
                   "text"_a = nb::bytes(found.text.data(), found.text.size()),
                   "weights"_a = to_numpy(std::move(found.weights)), "seconds"_a = result.certify_seconds);
}

nb::dict dict_of_result(SearchResult&& result, bool certified) {
    nb::list history;
    for (const ProgressPoint& point : result.history)
        history.append(nb::make_tuple(point.seconds, point.cost, point.bound));
    nb::dict told = dict_of(
        "column"_a = to_numpy(std::move(result.tree.column)), "rank_low"_a = to_numpy(std::move(result.tree.rank_low)),
        "rank_high"_a = to_numpy(std::move(result.tree.rank_high)), "left"_a = to_numpy(std::move(result.tree.left)),
        "right"_a = to_numpy(std::move(result.tree.right)), "label"_a = to_numpy(std::move(result.tree.label)),
        "cost"_a = result.tree.cost, "lower_bound"_a = result.lower_bound, "status"_a = status_name(result.status),
        "history"_a = history, "counters"_a = counters_of(result));
    if (result.handover) told["handover"] = nb::cast(std::move(result.handover));
    if (certified) told["certified"] = dict_of_certified(std::move(result));
    return told;
}

// An object of Python that has the workers: `begin(job)`, `trade(tasks, cut)`, which gives answers, how many tasks it
// wants and how many can be worked at at a time, or None where it has nobody left, and `end()`.
class PythonExchange final : public TaskExchange {
  public:
    PythonExchange(nb::object workers, Signals& signals) : workers_(std::move(workers)), signals_(signals) {}

    void begin(const std::string& job) override {
        heeding([&] { workers_.attr("begin")(job); });
    }
    Traded trade(const std::vector<std::pair<std::uint64_t, std::string>>& tasks, Cost cut) override {
        Traded traded;
        bool anybody = true;
        heeding([&] {
            nb::list given;
            for (const auto& [number, text] : tasks)
                given.append(nb::make_tuple(number, nb::bytes(text.data(), text.size())));
            const nb::object back = workers_.attr("trade")(given, cut);
            anybody = !back.is_none();
            if (!anybody) return;
            for (const nb::handle answer : nb::borrow<nb::list>(back[0])) {
                const nb::bytes text = nb::cast<nb::bytes>(answer[1]);
                traded.answers.emplace_back(nb::cast<std::uint64_t>(answer[0]), std::string(text.c_str(), text.size()));
            }
            traded.wanted = nb::cast<std::size_t>(back[1]);
            traded.at_hand = nb::cast<std::size_t>(back[2]);
        });
        if (!anybody) throw StopSearch{StopReason::kInterrupted};
        return traded;
    }
    void end() noexcept override {
        nb::gil_scoped_acquire acquire;
        try {
            workers_.attr("end")();
        } catch (...) {
            signals_.fail(std::current_exception());
        }
    }

  private:
    // Ctrl-C ends the search with what it has; any other exception is raised when it has unwound.
    template <class Work>
    void heeding(const Work& work) {
        nb::gil_scoped_acquire acquire;
        try {
            work();
        } catch (const nb::python_error& error) {
            if (error.matches(PyExc_KeyboardInterrupt))
                signals_.interrupt();
            else
                signals_.fail(std::current_exception());
            throw StopSearch{StopReason::kInterrupted};
        }
    }

    nb::object workers_;
    Signals& signals_;
};

constexpr std::uint64_t kManySteps = std::uint64_t{1} << 62;

// The worker's side, for Python. It keeps its table.
class BoundTaskSolver {
  public:
    BoundTaskSolver(nb::object table, const std::string& job, std::uint64_t memory_limit, const std::string& kernel)
        : table_(std::move(table)), solver_(nb::cast<const BoundTable&>(table_).searched(), job, memory_limit, kernel) {
    }
    nb::object solve(const nb::bytes& task, double seconds, std::uint64_t steps) {
        const std::string text(task.c_str(), task.size());
        const std::optional<std::string> answer = without_gil([&] { return solver_.solve(text, seconds, steps); });
        if (!answer) return nb::none();
        return nb::bytes(answer->data(), answer->size());
    }
    void lower_cut(std::int64_t cut) { solver_.lower_cut(cut); }
    void stop() { solver_.stop(); }

  private:
    nb::object table_;
    TaskSolver solver_;
};

nb::dict search_table(const BoundTable& bound, nb::object on_progress, nb::object workers, const nb::kwargs& given) {
    SearchOptions options = search_options_of(given, bound.searched());
    const nb::object nobody = nb::none();
    Signals signals;
    std::optional<PythonExchange> exchange;
    if (!workers.is_none()) options.exchange = &exchange.emplace(workers, signals);
    const auto tick = [&](const ProgressPoint& at) {
        // There is nothing to tell before the first tree.
        return signals.report(at.cost < kInfinite ? on_progress : nobody, at.seconds, at.cost, at.bound);
    };
    SearchResult result = without_gil([&] { return run_search(bound.searched(), options, tick); });
    signals.rethrow();
    return dict_of_result(std::move(result), options.certify);
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
        .def_prop_ro("constant", &BoundTable::constant)
        .def("digest", [](const BoundTable& bound) { return table_digest(bound.table()); });
    module.def("route_rows", &routed_rows_of, "table"_a, "column"_a, "rank"_a, "keep_rows"_a = false);
    module.def("node_means", &node_means_of, "numbers"_a, "weights"_a, "rows"_a, "begin"_a, "end"_a);
    module.def("node_totals", &node_totals_of, "numbers"_a, "weights"_a, "rows"_a, "begin"_a, "end"_a);
    nb::class_<Handover>(module, "Handover").def("with_columns", &Handover::with, "kept"_a);
    nb::class_<BoundTaskSolver>(module, "TaskSolver")
        .def(nb::init<nb::object, const std::string&, std::uint64_t, const std::string&>(), "table"_a, "job"_a,
             "memory_limit"_a, "kernel"_a = "auto")
        .def("solve", &BoundTaskSolver::solve, "task"_a, "seconds"_a, "steps"_a = kManySteps)
        .def("lower_cut", &BoundTaskSolver::lower_cut, "cut"_a)
        .def("stop", &BoundTaskSolver::stop);
    module.def("search", &search_table, "table"_a, "on_progress"_a.none() = nb::none(), "workers"_a.none() = nb::none(),
               "options"_a);
    module.def("available_kernels", &available_kernels);
    module.attr("SWITCHES") = bits_of(kPartSwitches);
    module.attr("UNSOUND_SWITCHES") = bits_of(kUnsoundSwitches);
    module.attr("RULE_SWITCHES") = bits_of(kRuleSwitches);
    module.attr("TEST_SWITCHES") = bits_of(kTestSwitches);
}

}  // namespace provetree
