// Registers the core with Python as provetree._core. Nothing is decided here: arrays are checked and handed on, results
// copied into dicts.
#include "python/bindings.hpp"

#include <optional>
#include <vector>

#include "table/binary_table.hpp"
#include "table/columns.hpp"
#include "tree/node_sums.hpp"

namespace provetree {

namespace {

using AnyTable = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;

nb::tuple ranked_columns_of(const AnyTable& table) {
    const std::size_t rows = table.shape(0), columns = table.shape(1);
    RankedColumns ranked =
        without_gil([&] { return rank_columns(table.data(), rows, columns, table.stride(0), table.stride(1)); });
    return nb::make_tuple(shaped(std::move(ranked.ranks), columns, rows), to_numpy(std::move(ranked.values)),
                          to_numpy(std::move(ranked.value_ends)), to_numpy(std::move(ranked.has_missing)));
}

// The ordered columns as Python is given them.
nb::tuple tuple_of(OrderedColumns&& ordered, std::size_t rows) {
    const std::size_t columns = ordered.features.size();
    return nb::make_tuple(shaped(std::move(ordered.ranks), columns, rows), to_numpy(std::move(ordered.features)),
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
    const RankedFeatures ranked{ranks.data(),       features,           n, values.data(), value_ends.data(),
                                has_missing.data(), n_categories.data()};
    return tuple_of(without_gil([&] { return order_columns(ranked, taken, keep_duplicates); }), taken.size());
}

nb::tuple merged_rows_of(const Array2<const Index>& ranks, const Array1<const std::int32_t>& classes,
                         const Array1<const std::int64_t>& weights, const Array1<const std::int64_t>& counts) {
    const std::size_t n = classes.shape(0);
    must(ranks.shape(1) == n && weights.shape(0) == n && counts.shape(0) == n,
         "merge_rows needs arrays over the same rows.");
    return tuple_of(without_gil(
        [&] { return merge_rows(ranks.data(), ranks.shape(0), n, classes.data(), weights.data(), counts.data()); }));
}

nb::object binary_table_of(const AnyTable& table, const Array1<const std::int32_t>& classes,
                           const Array1<const std::int64_t>& weights, const Array1<const std::int64_t>& counts,
                           bool keep_duplicates, const std::string& kernel) {
    const std::size_t rows = table.shape(0), columns = table.shape(1);
    must(classes.shape(0) == rows && weights.shape(0) == rows && counts.shape(0) == rows,
         "order_binary_table needs arrays over the same rows.");
    const BitKernel& chosen = choose_bit_kernel(kernel);
    std::optional<BinaryTable> made = without_gil([&] {
        return order_binary_table(chosen, table.data(), rows, columns, table.stride(0), table.stride(1), classes.data(),
                                  weights.data(), counts.data(), keep_duplicates);
    });
    if (!made) return nb::none();
    const std::size_t merged = made->rows.first.size();
    return nb::make_tuple(tuple_of(std::move(made->rows)), tuple_of(std::move(made->columns), merged));
}

// The weighted mean, and the sum of squares around it.
nb::tuple mean_and_squares_of(const Array1<const double>& targets, const Array1<const double>& weights) {
    const std::size_t n = targets.shape(0);
    must(n > 0 && weights.shape(0) == n, "mean_and_squares needs arrays over the same rows, at least one.");
    const MeanSquares found = mean_and_squares(targets.data(), weights.data(), n);
    return nb::make_tuple(found.mean, found.squares);
}

}  // namespace
}  // namespace provetree

NB_MODULE(_core, module) {
    using namespace provetree;
    module.doc() = "The C++ core of provetree. Private: use provetree.OptimalTreeClassifier or provetree.search.";
    module.def("rank_columns", &ranked_columns_of, "table"_a);
    module.def("order_columns", &ordered_columns_of, "ranks"_a, "values"_a, "value_ends"_a, "has_missing"_a,
               "n_categories"_a, "rows"_a, "keep_duplicates"_a);
    module.def("merge_rows", &merged_rows_of, "ranks"_a, "classes"_a, "weights"_a, "counts"_a);
    module.def("order_binary_table", &binary_table_of, "table"_a, "classes"_a, "weights"_a, "counts"_a,
               "keep_duplicates"_a, "kernel"_a = "auto");
    module.def("mean_and_squares", &mean_and_squares_of, "targets"_a, "weights"_a);
    register_search(module);
    register_sizes(module);
    register_streamed(module);
    register_near_optimal(module);
    register_parts(module);
    register_itemsets(module);
    register_colgen(module);
    register_partitions(module);
}
