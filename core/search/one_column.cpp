// The best runs of one column; see search/one_column.hpp.
#include "search/one_column.hpp"

#include <algorithm>
#include <vector>

namespace provetree {

namespace {

constexpr std::int64_t kMostSplits = 63;

}  // namespace

Cost least_of_one_column(const Table& table, Shape shape, const Loss& loss) {
    if (table.columns != 1 || table.measure || shape.splits > kMostSplits) return 0;
    const std::size_t classes = static_cast<std::size_t>(table.n_classes), values = table.tops[0] + std::size_t{1};
    std::vector<Cost> by_value(values * classes, 0), weights(values, 0);
    for (Index row = 0; row < table.rows; ++row) {
        by_value[table.ranks[row] * classes + static_cast<std::size_t>(table.classes[row])] += table.weights[row];
        weights[table.ranks[row]] += table.weights[row];
    }
    const std::size_t sizes = static_cast<std::size_t>(shape.splits) + 1;
    // By the number of cuts: the least errors, and those where the last run has a class.
    std::vector<Cost> least(sizes, 0), of_class(sizes * classes, 0);
    for (std::size_t value = 0; value < values; ++value) {
        for (std::size_t cuts = sizes; cuts-- > 0;) {
            Cost best = kInfinite;
            for (std::size_t cls = 0; cls < classes; ++cls) {
                Cost& errors = of_class[cuts * classes + cls];
                if (cuts > 0) errors = std::min(errors, least[cuts - 1]);
                errors += weights[value] - by_value[value * classes + cls];
                best = std::min(best, errors);
            }
            least[cuts] = best;
        }
    }
    Cost found = kInfinite;
    for (std::size_t cuts = 0; cuts < sizes; ++cuts)
        found = std::min(found, loss.tree(least[cuts], static_cast<std::int64_t>(cuts)));
    return found;
}

}  // namespace provetree
