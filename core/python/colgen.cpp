// Registers the column-generation part of the core as provetree._core.colgen: the candidate problem, its pricing, its
// recursion, its cuts, and the sampler of candidate splits. Arrays are checked here and handed on.
#include "colgen/cart_sampler.hpp"
#include "colgen/gram.hpp"
#include "colgen/instance.hpp"
#include "colgen/pricing.hpp"
#include "colgen/recursion.hpp"
#include "colgen/routes.hpp"
#include "colgen/row_separation.hpp"
#include "python/bindings.hpp"

namespace provetree {

namespace {

using colgen::Instance;
using colgen::RouteSet;

// An Instance with its routes: one object to Python.
struct CandidateProblem {
    CandidateProblem(int depth, const std::vector<int>& groups_per_node, const std::vector<int>& group_sizes)
        : instance(depth, groups_per_node, group_sizes), routes(instance) {}
    Instance instance;
    RouteSet routes;
};

using Leaves = Array1<const std::int32_t>;
using Paths = Array2<const std::int32_t>;
using Values = Array1<const double>;

colgen::PathList path_list(const CandidateProblem& self, const Leaves& leaf, const Paths& candidates,
                           const Values* value = nullptr) {
    const Instance& instance = self.instance;
    const std::size_t depth = instance.depth();
    must(!value || value->shape(0) == leaf.shape(0), "Paths need one value each.");
    must(candidates.shape(0) == leaf.shape(0) && candidates.shape(1) == depth,
         "Paths need one leaf and one candidate per level each.");
    for (std::size_t p = 0; p < leaf.shape(0); ++p) {
        must(leaf(p) >= 0 && leaf(p) < instance.n_leaves(), "A path needs a leaf of the tree.");
        for (int level = 0; level < instance.depth(); ++level) {
            const std::int32_t a = candidates(p, level);
            must(a >= 0 && a < instance.node(instance.node_at(leaf(p), level)).count,
                 "A path needs candidates of its nodes.");
        }
    }
    return {leaf.data(), candidates.data(), value ? value->data() : nullptr, leaf.shape(0), depth};
}

int add_items(CandidateProblem& self, const Array2<const std::uint16_t>& buckets) {
    must(buckets.shape(1) == static_cast<std::size_t>(self.instance.n_groups()), "Items need one bucket per group.");
    return self.instance.add_items(buckets.data(), buckets.shape(0));
}

void check_limits(const CandidateProblem& self, int targets, std::size_t items, const Array1<const std::int64_t>& count,
                  const Array1<const std::uint8_t>& allowed_candidate,
                  const Array2<const std::uint8_t>& allowed_target) {
    const Instance& instance = self.instance;
    must(targets >= 1 && items == static_cast<std::size_t>(instance.n_items()) && count.shape(0) == items,
         "Worth and count need one row per item.");
    must(allowed_candidate.shape(0) == static_cast<std::size_t>(instance.n_candidates()),
         "allowed_candidate needs one entry per candidate.");
    must(allowed_target.shape(0) == static_cast<std::size_t>(instance.n_leaves()) &&
             allowed_target.shape(1) == static_cast<std::size_t>(targets),
         "allowed_target needs one row per leaf.");
}

// Multipliers of the candidates: for each leaf, for each level, one for each candidate of the node there.
std::size_t count_multipliers(const Instance& instance) {
    std::size_t count = 0;
    for (int leaf = 0; leaf < instance.n_leaves(); ++leaf)
        for (int level = 0; level < instance.depth(); ++level)
            count += static_cast<std::size_t>(instance.node(instance.node_at(leaf, level)).count);
    return count;
}

nb::dict price(const CandidateProblem& self, const Array2<const double>& worth, const Array1<const std::int64_t>& count,
               const Array1<const double>& alpha, const Array1<const double>& gamma,
               const Array1<const double>& route_price, const Array1<const std::uint8_t>& allowed_candidate,
               const Array2<const std::uint8_t>& allowed_target, double leaf_price, std::int64_t min_count,
               double least, int best, double time_limit) {
    const Instance& instance = self.instance;
    const colgen::PricingInput input{.targets = static_cast<int>(worth.shape(1)),
                                     .worth = worth.data(),
                                     .count = count.data(),
                                     .alpha = alpha.data(),
                                     .gamma = gamma.data(),
                                     .route_price = route_price.data(),
                                     .allowed_candidate = allowed_candidate.data(),
                                     .allowed_target = allowed_target.data(),
                                     .leaf_price = leaf_price,
                                     .min_count = min_count,
                                     .least = least,
                                     .best = best};
    check_limits(self, input.targets, worth.shape(0), count, allowed_candidate, allowed_target);
    must(alpha.shape(0) == static_cast<std::size_t>(instance.n_leaves()) &&
             gamma.shape(0) == count_multipliers(instance),
         "alpha and gamma do not fit the tree.");
    must(route_price.shape(0) == static_cast<std::size_t>(self.routes.size()) && best >= 1,
         "route_price needs one entry per route, best must be >= 1.");
    Stops stops(time_limit);
    colgen::PricingResult result =
        stops.run([&](Monitor& monitor) { return colgen::price_paths(instance, self.routes, input, monitor); });
    std::vector<std::int32_t> leaf, target, candidates;
    std::vector<double> reduced_cost;
    for (const colgen::PricedPath& path : result.paths) {
        leaf.push_back(path.leaf);
        target.push_back(path.target);
        reduced_cost.push_back(path.reduced_cost);
        candidates.insert(candidates.end(), path.candidates.begin(), path.candidates.end());
    }
    return dict_of("leaf"_a = to_numpy(std::move(leaf)), "target"_a = to_numpy(std::move(target)),
                   "candidates"_a = to_numpy(std::move(candidates)),
                   "reduced_cost"_a = to_numpy(std::move(reduced_cost)),
                   "largest"_a = to_numpy(std::move(result.largest)), "status"_a = stops.end_name(result.complete),
                   "visited"_a = result.visited);
}

nb::dict best_tree(const CandidateProblem& self, const Array2<const std::int64_t>& profit,
                   const Array1<const std::int64_t>& count, const Array1<const std::uint8_t>& allowed_candidate,
                   const Array2<const std::uint8_t>& allowed_target, std::int64_t leaf_price, std::int64_t min_count,
                   int max_leaves, double time_limit) {
    const colgen::RecursionInput input{.targets = static_cast<int>(profit.shape(1)),
                                       .profit = profit.data(),
                                       .count = count.data(),
                                       .allowed_candidate = allowed_candidate.data(),
                                       .allowed_target = allowed_target.data(),
                                       .leaf_price = leaf_price,
                                       .min_count = min_count,
                                       .max_leaves = max_leaves};
    check_limits(self, input.targets, profit.shape(0), count, allowed_candidate, allowed_target);
    Stops stops(time_limit);
    std::optional<colgen::CandidateTree> tree =
        stops.run([&](Monitor& monitor) { return colgen::best_candidate_tree(self.instance, input, monitor); });
    const bool feasible = tree.has_value();
    if (!feasible) tree.emplace();
    return dict_of("status"_a = stops.end_name(), "feasible"_a = feasible, "value"_a = tree->value,
                   "candidates"_a = to_numpy(std::move(tree->candidates)),
                   "targets"_a = to_numpy(std::move(tree->targets)));
}

nb::tuple activity(const CandidateProblem& self, const Leaves& leaf, const Paths& candidates, const Values& value) {
    const colgen::PathList paths = path_list(self, leaf, candidates, &value);
    std::vector<double> sums(self.instance.n_items());
    std::vector<std::uint64_t> signature(sums.size());
    without_gil([&] { colgen::item_activity(self.instance, paths, sums.data(), signature.data()); });
    return nb::make_tuple(to_numpy(std::move(sums)), to_numpy(std::move(signature)));
}

// goes_left[candidate * items + item], over all candidates of the tree.
auto goes_left(const CandidateProblem& self) {
    const Instance& instance = self.instance;
    std::vector<std::uint8_t> left;
    left.reserve(std::size_t{1} * instance.n_candidates() * instance.n_items());
    for (int j = 0; j < instance.n_nodes(); ++j)
        for (int a = 0; a < instance.node(j).count; ++a)
            for (int i = 0; i < instance.n_items(); ++i) left.push_back(instance.goes_left(j, a, i));
    return to_numpy(std::move(left));
}

// For each path the sums over the items that follow it, column by column of `values`.
auto totals(const CandidateProblem& self, const Leaves& leaf, const Paths& candidates,
            const Array2<const std::int64_t>& values) {
    const colgen::PathList paths = path_list(self, leaf, candidates);
    const std::size_t width = values.shape(1), items = self.instance.n_items();
    must(values.shape(0) == items, "values needs one row per item.");
    std::vector<std::int64_t> sums(paths.size * width, 0);
    without_gil([&] {
        std::vector<int> inside;
        for (std::size_t p = 0; p < paths.size; ++p) {
            colgen::items_on_path(self.instance, paths.leaf[p], paths.choices(p), inside);
            for (const int i : inside)
                for (std::size_t t = 0; t < width; ++t) sums[p * width + t] += values(i, t);
        }
    });
    return to_numpy(std::move(sums));
}

// (path, place) of every pair in which follows(place, leaf and choices of the path), path by path.
template <class Follows>
nb::tuple pairs_that_meet(const colgen::PathList& paths, int begin, int end, const Follows& follows) {
    std::vector<std::int32_t> path, places;
    without_gil([&] {
        for (std::size_t p = 0; p < paths.size; ++p)
            for (int place = begin; place < end; ++place)
                if (follows(place, paths.leaf[p], paths.choices(p))) {
                    path.push_back(static_cast<std::int32_t>(p));
                    places.push_back(place);
                }
    });
    return nb::make_tuple(to_numpy(std::move(path)), to_numpy(std::move(places)));
}

nb::tuple incidence(const CandidateProblem& self, const Leaves& leaf, const Paths& candidates,
                    const Array1<const std::int32_t>& items) {
    const colgen::PathList paths = path_list(self, leaf, candidates);
    for (std::size_t i = 0; i < items.shape(0); ++i)
        must(items(i) >= 0 && items(i) < self.instance.n_items(), "There is no such item.");
    return pairs_that_meet(paths, 0, static_cast<int>(items.shape(0)), [&](int i, int to, const std::int32_t* choices) {
        return self.instance.follows(items(i), to, choices);
    });
}

nb::tuple route_incidence(const CandidateProblem& self, const Leaves& leaf, const Paths& candidates, int first) {
    return pairs_that_meet(
        path_list(self, leaf, candidates), std::max(first, 0), self.routes.size(),
        [&](int r, int to, const std::int32_t* choices) { return self.routes.follows(r, to, choices); });
}

// Adds the violated routes, at most `most` of them, and gives their values.
std::vector<double> separate_routes(CandidateProblem& self, const Leaves& leaf, const Paths& candidates,
                                    const Values& value, int reference, double least, int most) {
    const colgen::PathList paths = path_list(self, leaf, candidates, &value);
    must(reference >= 0 && reference < self.instance.n_items(), "There is no such item.");
    std::vector<double> values;
    for (colgen::FoundRoute& found : colgen::separate_routes(self.instance, paths, reference, least)) {
        if (static_cast<int>(values.size()) >= most) break;
        values.push_back(found.value);
        self.routes.add(std::move(found.route));
    }
    return values;
}

nb::dict separate_rows(const CandidateProblem& self, const Leaves& leaf, const Paths& candidates, const Values& value,
                       const Array1<const std::int32_t>& column, const Array1<const std::int32_t>& threshold,
                       const std::vector<std::int32_t>& thresholds_per_column, double least, std::size_t most_rows,
                       std::uint64_t most_nodes, double time_limit) {
    const colgen::PathList paths = path_list(self, leaf, candidates, &value);
    const std::size_t n = self.instance.n_candidates();
    must(column.shape(0) == n && threshold.shape(0) == n, "column and threshold need one entry per candidate.");
    for (std::size_t a = 0; a < n; ++a) {
        must(column(a) >= 0 && static_cast<std::size_t>(column(a)) < thresholds_per_column.size(),
             "There is no such column.");
        // A column without thresholds has one split, which sends every row left.
        must(threshold(a) >= 0 && threshold(a) < std::max(1, thresholds_per_column[column(a)]),
             "There is no such threshold.");
    }
    Stops stops(time_limit);
    const colgen::SeparationInput input{column.data(), threshold.data(), thresholds_per_column,
                                        least,         most_rows,        most_nodes};
    colgen::SeparationResult result =
        stops.run([&](Monitor& monitor) { return colgen::separate_rows(self.instance, paths, input, monitor); });
    nb::list rows;
    std::vector<double> values;
    for (colgen::FoundRow& row : result.rows) {
        values.push_back(row.value);
        rows.append(to_numpy(std::move(row.place)));
    }
    return dict_of("rows"_a = rows, "values"_a = to_numpy(std::move(values)), "bound"_a = result.bound,
                   "nodes"_a = result.nodes, "status"_a = stops.end_name());
}

nb::tuple sample_trees(const BoundTable& bound, int depth, double share, std::uint64_t seed, std::size_t first,
                       std::size_t n_trees, unsigned threads) {
    must(depth >= 1 && depth <= 12, "depth must be from 1 to 12.");
    must(share > 0 && share <= 1, "share must be in (0, 1].");
    colgen::SampledTrees trees = without_gil([&] {
        return colgen::sample_trees({bound.table(), depth, share}, seed, first, n_trees, std::max(threads, 1u));
    });
    return nb::make_tuple(to_numpy(std::move(trees.column)), to_numpy(std::move(trees.rank)));
}

// `out` is a C-contiguous m x m array: its upper triangle, the lower one of its transpose, receives A D A'.
void add_gram(const Array1<const std::int64_t>& starts, const Array1<const std::int32_t>& rows,
              const Array1<const double>& values, const Array1<const double>& weights, const Array2<double>& out) {
    const std::size_t columns = weights.shape(0), m = out.shape(0);
    must(starts.shape(0) == columns + 1 && rows.shape(0) == values.shape(0) && out.shape(1) == m,
         "The arrays of a matrix do not fit together.");
    must(starts(0) == 0 && starts(columns) == static_cast<std::int64_t>(rows.shape(0)),
         "The columns of a matrix must cover its entries.");
    for (std::size_t k = 0; k < columns; ++k)
        must(starts(k) <= starts(k + 1), "The columns of a matrix must cover its entries.");
    for (std::size_t k = 0; k < columns; ++k)
        for (std::int64_t i = starts(k); i < starts(k + 1); ++i) {
            const std::int32_t row = rows(i);
            must(row >= 0 && static_cast<std::size_t>(row) < m && (i == starts(k) || rows(i - 1) < row),
                 "The rows of a column must rise and lie in the matrix.");
        }
    nb::gil_scoped_release release;
    colgen::add_gram(starts.data(), rows.data(), values.data(), weights.data(), columns, m, out.data());
}

}  // namespace

void register_colgen(nb::module_& module) {
    nb::module_ part =
        module.def_submodule("colgen", "Column generation: the candidate problem, its pricing, recursion and cuts.");
    nb::class_<CandidateProblem>(part, "CandidateProblem")
        .def(nb::init<int, const std::vector<int>&, const std::vector<int>&>(), "depth"_a, "groups_per_node"_a,
             "group_sizes"_a)
        .def_prop_ro("n_items", [](const CandidateProblem& self) { return self.instance.n_items(); })
        .def_prop_ro("n_routes", [](const CandidateProblem& self) { return self.routes.size(); })
        .def("add_items", &add_items, "buckets"_a)
        .def("price", &price, "worth"_a, "count"_a, "alpha"_a, "gamma"_a, "route_price"_a, "allowed_candidate"_a,
             "allowed_target"_a, "leaf_price"_a, "min_count"_a, "least"_a, "best"_a, "time_limit"_a)
        .def("best_tree", &best_tree, "profit"_a, "count"_a, "allowed_candidate"_a, "allowed_target"_a, "leaf_price"_a,
             "min_count"_a, "max_leaves"_a, "time_limit"_a)
        .def("activity", &activity, "leaf"_a, "candidates"_a, "value"_a)
        .def("goes_left", &goes_left)
        .def("totals", &totals, "leaf"_a, "candidates"_a, "values"_a)
        .def("incidence", &incidence, "leaf"_a, "candidates"_a, "items"_a)
        .def("route_incidence", &route_incidence, "leaf"_a, "candidates"_a, "first"_a)
        .def("separate_routes", &separate_routes, "leaf"_a, "candidates"_a, "value"_a, "reference"_a, "least"_a,
             "most"_a)
        .def("separate_rows", &separate_rows, "leaf"_a, "candidates"_a, "value"_a, "column"_a, "threshold"_a,
             "thresholds_per_column"_a, "least"_a, "most_rows"_a, "most_nodes"_a, "time_limit"_a);
    part.def("add_gram", &add_gram, "starts"_a, "rows"_a, "values"_a, "weights"_a, "out"_a);
    part.def("sample_trees", &sample_trees, "table"_a, "depth"_a, "share"_a, "seed"_a, "first"_a, "n_trees"_a,
             "threads"_a);
}

}  // namespace provetree
