// The parts of the core one by one for the tests: panels, stumps, depth two, bounds.
#include <limits>

#include "measures/depth_two.hpp"
#include "measures/lanes.hpp"
#include "python/bindings.hpp"
#include "search/search.hpp"
#include "sweeps/depth_one.hpp"
#include "sweeps/depth_two.hpp"
#include "sweeps/opposed_rows.hpp"
#include "sweeps/panel.hpp"
#include "sweeps/profile.hpp"

namespace provetree {

namespace {

// Everything a part needs to run on its own.
struct Bench {
    Bench(const BoundTable& bound, std::int64_t min_leaf, const std::string& kernel, unsigned switches = 0)
        : monitor(std::numeric_limits<double>::infinity(), nullptr),
          context(bound.searched(), choose_kernel(kernel), min_leaf, switches, std::uint64_t{1} << 30, monitor),
          builder(bound.searched(), context.kernel, min_leaf) {
        builder.build_root(root);
    }
    Monitor monitor;
    Context context;
    NodeBuilder builder;
    Node root;
};

// For each lane (column, rows going left): leaf, stump, feasible split and feasible leaf of the left side, then of the
// right side.
std::vector<std::vector<std::int64_t>> evaluate_panel(const BoundTable& table, std::int64_t min_samples_leaf,
                                                      const std::vector<std::pair<Index, Index>>& lanes,
                                                      const std::string& kernel) {
    Bench bench(table, min_samples_leaf, kernel);
    must(std::cmp_less_equal(lanes.size(), kLanes), "A panel holds at most 64 lanes.");
    std::vector<Lane> wanted;
    for (const auto& [id, position] : lanes) {
        for (Index c = 0; c < bench.root.columns.size(); ++c)
            if (bench.root.columns[c].id == id && position >= 1 && position < bench.root.rows)
                wanted.push_back({c, position, 0});
    }
    const auto unsorted = [](const Lane& a, const Lane& b) {
        return std::tie(a.column, a.position) >= std::tie(b.column, b.position);
    };
    must(std::adjacent_find(wanted.begin(), wanted.end(), unsorted) == wanted.end(),
         "Lanes must be sorted by column, then by position.");
    must(wanted.size() == lanes.size(), "A lane needs a column that varies and a position between 1 and rows - 1.");
    std::vector<LaneResult> results(wanted.size());
    Panel panel(bench.context);
    panel.start();
    panel.evaluate(bench.root, wanted.data(), static_cast<int>(wanted.size()), bench.root.weight, results.data());
    std::vector<std::vector<std::int64_t>> out;
    for (const LaneResult& r : results)
        out.push_back({r.left.leaf, r.left.stump, r.left.feasible_split, r.left.feasible_leaf, r.right.leaf,
                       r.right.stump, r.right.feasible_split, r.right.feasible_leaf});
    return out;
}

// The lanes of a table under a measure, and the column of the root that they are splits of.
struct MeasuredBench : Bench {
    MeasuredBench(const BoundTable& table, std::int64_t min_leaf, const std::string& kernel, bool plain,
                  unsigned switches = 0)
        : Bench(table, min_leaf, kernel, switches) {
        must(root.measure != nullptr, "Measured lanes need a table with a loss other than errors.");
        panel = plain ? plain_lane_panel(context, *root.measure) : make_lane_panel(context, *root.measure);
        panel->start(root);
    }
    Index column(Index id) const {
        const NodeColumn* const found = find_column(root, id);
        must(found != nullptr, "Measured lanes need a column that varies.");
        return static_cast<Index>(found - root.columns.data());
    }
    std::unique_ptr<LanePanel> panel;
};

// For each split of the column (rows going left, ascending): leaf, stump, feasible split and feasible leaf of the left
// side, then of the right side, and whether all is exact. `way`: "plain", "fast", "again" (fast, a second time, which
// may go another way), or "refined" (fast, then exact).
std::vector<std::vector<std::int64_t>> measured_lanes(const BoundTable& table, std::int64_t min_samples_leaf, Index id,
                                                      const std::vector<Index>& positions, const std::string& way,
                                                      const std::string& kernel, unsigned switches) {
    MeasuredBench bench(table, min_samples_leaf, kernel, way == "plain", switches);
    const Index column = bench.column(id);
    must(!positions.empty() && std::cmp_less_equal(positions.size(), kLanes) && positions.front() >= 1 &&
             positions.back() < bench.root.rows && std::is_sorted(positions.begin(), positions.end()),
         "A panel holds 1 to 64 lanes, ascending, each with rows on both sides.");
    std::vector<LaneUnits> results(positions.size());
    for (int times = way == "again" ? 2 : 1; times > 0; --times)
        bench.panel->evaluate(bench.root, column, positions.data(), static_cast<int>(positions.size()), results.data());
    std::vector<std::vector<std::int64_t>> out;
    for (std::size_t i = 0; i < results.size(); ++i) {
        LaneUnits& r = results[i];
        if (way == "refined") bench.panel->refine(bench.root, static_cast<int>(i), r);
        out.push_back({r.left.leaf, r.left.stump, r.left.feasible_split, r.left.feasible_leaf, r.right.leaf,
                       r.right.stump, r.right.feasible_split, r.right.feasible_leaf, r.exact});
    }
    return out;
}

// Of each column that varies: its number, and the splits that a survey has bounds for (rows going left, leaf and stump
// of the left side, leaf and stump of the right side); nothing where there is no survey.
std::vector<std::pair<Index, std::vector<std::vector<std::int64_t>>>> measured_survey(const BoundTable& table,
                                                                                      const std::string& kernel) {
    MeasuredBench bench(table, 1, kernel, false);
    std::vector<std::pair<Index, std::vector<std::vector<std::int64_t>>>> out;
    const std::vector<std::uint8_t> all(bench.root.columns.size(), 1);
    const std::vector<std::vector<MeasuredPoint>>* const known = bench.panel->survey(bench.root, all);
    for (std::size_t c = 0; known && c < bench.root.columns.size(); ++c) {
        out.emplace_back(bench.root.columns[c].id, std::vector<std::vector<std::int64_t>>{});
        for (const MeasuredPoint& point : (*known)[c])
            out.back().second.push_back(
                {point.position, point.leaf_left, point.stump_left, point.leaf_right, point.stump_right});
    }
    return out;
}

// (lower, relaxed, upper) of the depth-two problem.
std::tuple<Cost, Cost, Cost> solve_depth_two(const BoundTable& table, std::int64_t min_samples_leaf,
                                             std::int64_t splits, Cost limit, Cost error_scale, Cost split_penalty,
                                             const std::string& kernel, unsigned switches) {
    Bench bench(table, min_samples_leaf, kernel, switches);
    must(splits == 2 || splits == 3, "Depth two has 2 or 3 splits.");
    const NodeRequest request{{2, splits}, limit};
    const Measure* const measure = bench.root.measure;
    const Loss loss{measure ? measure->units_per_reach() : error_scale, split_penalty, measure ? 1 : 0};
    const Outcome outcome = measure ? MeasuredDepthTwo(bench.context).solve(bench.root, request, loss, nullptr)
                                    : DepthTwo(bench.context).solve(bench.root, request, loss, nullptr);
    return {outcome.lower, outcome.relaxed, outcome.upper};
}

// (cost, relaxed, column or -1, rows going left) of the best depth-one tree by the tie rule.
std::tuple<Cost, Cost, std::int64_t, std::int64_t> solve_depth_one(const BoundTable& table,
                                                                   std::int64_t min_samples_leaf, Cost error_scale,
                                                                   Cost split_penalty) {
    Bench bench(table, min_samples_leaf, "auto");
    const Stump stump = best_stump(bench.context, bench.root, {error_scale, split_penalty}, true);
    return {stump.cost, stump.relaxed, stump.column ? static_cast<std::int64_t>(stump.column->id) : -1, stump.position};
}

// Keeps all that a proof closes.
class ClosingList final : public ClosingListener {
  public:
    void closed(const std::vector<PathStep>& path, const Region& region, Cost bound, Reason reason) override {
        all_.push_back({path, region, bound, reason});
    }
    nb::list tuples() const {
        nb::list tuples;
        for (const auto& [path, region, bound, reason] : all_) {
            nb::list steps;
            for (const PathStep& step : path) steps.append(nb::make_tuple(step.column, step.rank, step.right));
            tuples.append(nb::make_tuple(steps, region.whole, region.column, region.first_rank, region.last_rank,
                                         region.left_splits, region.shape.depth, region.shape.splits, bound,
                                         kReasonNames[static_cast<std::size_t>(reason)]));
        }
        return tuples;
    }

  private:
    struct Closing {
        std::vector<PathStep> path;
        Region region;
        Cost bound;
        Reason reason;
    };
    std::vector<Closing> all_;
};

// (lower, upper, panels, lanes) of the depth-two problem, solved with somebody who listens to what is closed or
// without.
std::tuple<Cost, Cost, std::uint64_t, std::uint64_t> steps_of_depth_two(const BoundTable& table, Cost limit,
                                                                        Cost error_scale, Cost split_penalty,
                                                                        bool heard) {
    Bench bench(table, 1, "auto");
    ClosingList list;
    const Closings::Heard listening(bench.context.closings, heard ? &list : nullptr);
    const Outcome outcome =
        DepthTwo(bench.context).solve(bench.root, NodeRequest{{2, 3}, limit}, {error_scale, split_penalty}, nullptr);
    return {outcome.lower, outcome.upper, bench.context.counters.panels, bench.context.counters.lanes};
}

// A search, as (cost, status, error scale and split penalty of the proof, what the proof closed).
nb::tuple closings_of(const BoundTable& table, const nb::kwargs& given) {
    SearchOptions options = search_options_of(given, table.searched());
    ClosingList closings;
    options.closings = &closings;
    const SearchResult result = run_search(table.searched(), options, nullptr);
    return nb::make_tuple(result.tree.cost, result.status == Status::kOptimal, result.proof_loss.error_scale,
                          result.proof_loss.split_penalty, closings.tuples());
}

// (open, bound, from, upto); see sweeps/profile.hpp.
std::tuple<bool, Cost, Weight, Weight> open_range_of(Cost left_a, Cost right_a, Weight weight_a, Cost left_b,
                                                     Cost right_b, Weight weight_b, Cost cut, Cost scale) {
    const OpenRange range = open_range({left_a, right_a, weight_a}, {left_b, right_b, weight_b}, cut, {scale, 0}, true);
    return {range.open, range.bound, range.from, range.upto};
}

// What trees that keep directions get wrong at least, and by row whether all of them that get less than `errors` wrong
// have it wrong; see sweeps/opposed_rows.hpp.
std::pair<Weight, std::vector<bool>> opposed_rows_of(const BoundTable& table, const std::vector<int>& directions,
                                                     Weight errors, unsigned switches) {
    Bench bench(table, 1, "auto", switches);
    Rules rules;
    rules.directions.assign(directions.begin(), directions.end());
    must(rules.directions.size() == table.searched().columns, "Opposed rows need a direction for each column.");
    bench.context.rules = &rules;
    must(OpposedRows::possible(bench.context, bench.root),
         "Opposed rows need two classes, and a direction for each column of more than two values.");
    OpposedRows opposed(bench.context, bench.root);
    opposed.pair();
    const Weight least = opposed.least();
    opposed.settle(errors);
    return {least, {opposed.wrong().begin(), opposed.wrong().end()}};
}

}  // namespace

void register_parts(nb::module_& module) {
    nb::module_ parts = module.def_submodule("parts", "Kernels and bounds one by one, for the tests.");
    parts.def("evaluate_panel", &evaluate_panel, "table"_a, "min_samples_leaf"_a, "lanes"_a, "kernel"_a = "auto");
    parts.def("measured_lanes", &measured_lanes, "table"_a, "min_samples_leaf"_a, "column"_a, "positions"_a,
              "way"_a = "fast", "kernel"_a = "auto", "switches"_a = 0);
    parts.def("added_errors", &added_errors, "weight"_a, "errors"_a);
    parts.def("measured_survey", &measured_survey, "table"_a, "kernel"_a = "auto");
    parts.def("depth_two", &solve_depth_two, "table"_a, "min_samples_leaf"_a, "splits"_a, "limit"_a, "error_scale"_a,
              "split_penalty"_a, "kernel"_a = "auto", "switches"_a = 0u);
    parts.def("depth_two_steps", &steps_of_depth_two, "table"_a, "limit"_a, "error_scale"_a, "split_penalty"_a,
              "heard"_a);
    parts.def("depth_one", &solve_depth_one, "table"_a, "min_samples_leaf"_a, "error_scale"_a, "split_penalty"_a);
    parts.def("closings", &closings_of, "table"_a, "options"_a);
    parts.def("open_range", &open_range_of, "left_a"_a, "right_a"_a, "weight_a"_a, "left_b"_a, "right_b"_a,
              "weight_b"_a, "cut"_a, "scale"_a);
    parts.def("opposed_rows", &opposed_rows_of, "table"_a, "directions"_a, "errors"_a, "switches"_a = 0u);
}

}  // namespace provetree
