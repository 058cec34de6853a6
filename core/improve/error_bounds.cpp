// Bounds on the errors from one pass over the table; see improve/error_bounds.hpp.
#include "improve/error_bounds.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <vector>

namespace provetree {

Weight errors_of_classes_without_leaf(const Table& table, Shape shape) {
    const std::size_t n_classes = static_cast<std::size_t>(table.n_classes);
    const std::size_t leaves = static_cast<std::size_t>(std::min<std::int64_t>(shape.splits, table.n_classes)) + 1;
    if (leaves >= n_classes) return 0;
    std::vector<Weight> by_class(n_classes, 0);
    for (Index i = 0; i < table.rows; ++i)
        by_class[static_cast<std::size_t>(table.classes[i])] += static_cast<Weight>(table.weights[i]);
    std::sort(by_class.begin(), by_class.end());
    return std::accumulate(by_class.begin(), by_class.end() - static_cast<std::ptrdiff_t>(leaves), Weight{0});
}

namespace {

// Numbers the groups of rows that are equal in every column, refined column by column; gives how many there are.
Index group_equal_rows(Context& context, std::vector<Index>& group) {
    const Table& table = context.table;
    group.assign(table.rows, 0);
    std::unordered_map<std::uint64_t, Index> numbers;
    Index groups = 1;
    for (Index c = 0; c < table.columns && groups < table.rows; ++c) {
        const Index* ranks = table.ranks + static_cast<std::size_t>(c) * table.rows;
        numbers.clear();
        for (Index i = 0; i < table.rows; ++i)
            group[i] = numbers.try_emplace(std::uint64_t{group[i]} << 32 | ranks[i], static_cast<Index>(numbers.size()))
                           .first->second;
        groups = static_cast<Index>(numbers.size());
        context.monitor.work(10 * std::uint64_t{table.rows});
    }
    return groups;
}

}  // namespace

Weight errors_of_equal_rows(Context& context) {
    const Table& table = context.table;
    std::vector<Index> group;
    if (group_equal_rows(context, group) == table.rows) return 0;
    struct Row {
        Index group;
        std::int32_t cls;
        Weight weight;
    };
    std::vector<Row> rows(table.rows);
    for (Index i = 0; i < table.rows; ++i)
        rows[i] = {group[i], table.classes[i], static_cast<Weight>(table.weights[i])};
    std::sort(rows.begin(), rows.end(),
              [](const Row& a, const Row& b) { return a.group != b.group ? a.group < b.group : a.cls < b.cls; });
    Weight errors = 0;
    for (std::size_t begin = 0, end; begin < rows.size(); begin = end) {
        Weight total = 0, most = 0, of_class = 0;
        for (end = begin; end < rows.size() && rows[end].group == rows[begin].group; ++end) {
            if (end > begin && rows[end].cls != rows[end - 1].cls) of_class = 0;
            of_class += rows[end].weight;
            total += rows[end].weight;
            most = std::max(most, of_class);
        }
        errors += total - most;
    }
    return errors;
}

}  // namespace provetree
