// Bounds for a table with fewer columns; see proof/handover.hpp.
#include "proof/handover.hpp"

#include <algorithm>

#include "table/table.hpp"

namespace provetree {

HandoverPtr Handover::with(const std::vector<Index>& kept) const {
    Handover fewer{loss, kept.size(), {}, sample};
    fewer.root.shape = root.shape;
    fewer.root.rows = root.rows;
    fewer.root.weight = root.weight;
    for (const KnownNode::Point& point : root.points) {
        const auto at = std::lower_bound(kept.begin(), kept.end(), point.split.column);
        if (at == kept.end() || *at != point.split.column) continue;
        const SplitName split{static_cast<Index>(at - kept.begin()), point.split.left_splits, point.split.rank};
        fewer.root.points.push_back(
            {.split = split, .left = point.left, .right = point.right, .of_left = {}, .of_right = {}});
    }
    return std::make_shared<const Handover>(std::move(fewer));
}

bool Handover::fits(const Loss& of, const Table& table, Shape shape) const {
    return loss == of && columns == table.columns && root.rows == table.rows && root.shape.depth == shape.depth &&
           root.shape.splits >= shape.splits && (sample.empty() || sample.size() == table.rows);
}

}  // namespace provetree
