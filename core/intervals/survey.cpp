// What is known of a node with many columns before any of its splits is tried: how much its rows cost with a level
// less, and which columns look best.
#include <algorithm>
#include <numeric>

#include "intervals/frame.hpp"
#include "intervals/lazy_rows.hpp"

namespace provetree {

// At either end of a column one side has all rows, so its cost bounds the splits near both ends of every column, and
// all splits of a column whose smaller side never has many rows.
TreeSearch::Survey TreeSearch::survey(const Frame& frame) {
    Survey known;
    if (frame.shape.depth != 3 || !context_.wide(frame.node.columns.size())) return known;
    const Node& rows = frame.lazy ? frame.lazy->sample() : frame.node;
    known.whole = solve(rows, Shape::of(2, frame.shape.splits - 1), kInfinite, {}, false, frame.level).relaxed;
    // The columns by the best depth-two tree that begins with them.
    const std::vector<Cost>& costs = depth_two_.column_costs();
    if (costs.size() != rows.columns.size()) return known;
    const auto cost_of = [&](Index c) {
        const NodeColumn* same = find_column(rows, frame.node.columns[c].id);
        return same ? costs[static_cast<std::size_t>(same - rows.columns.data())] : kInfinite;
    };
    std::vector<std::pair<Cost, Index>> sorted;
    for (Index c = 0; c < frame.node.columns.size(); ++c) sorted.emplace_back(cost_of(c), c);
    std::sort(sorted.begin(), sorted.end());
    known.order.resize(sorted.size());
    for (std::uint32_t i = 0; i < sorted.size(); ++i) known.order[sorted[i].second] = i;
    return known;
}

}  // namespace provetree
