// The splits of a node of depth three; see measures/cell_part.hpp.
#include "measures/cell_part.hpp"

#include <algorithm>

namespace provetree {

void CellPart::take_all(const CellNode& node) {
    ids_.clear();
    splits_.clear();
    first_.assign(1, 0);
    all_ = node.all();
    for (int c = 0; c < node.columns(); ++c) {
        CellSums below;
        for (int at = node.first_split(c); at < node.first_split(c + 1); ++at) {
            const CellNode::Split& split = node.split(at);
            below += node.of_value(split.value);
            splits_.push_back({c, split.feature, split.has_below, split.rank, below});
        }
        ids_.push_back(node.id(c));
        first_.push_back(splits());
    }
}

CellSums CellPart::side_of(const CellFrame& frame, const FrameSide& side) {
    const CellSums& has = frame.both(side.feature, side.feature);
    return side.has ? has : frame.node().all() - has;
}

// A split that leaves all rows on one side, or where the one before it does, is none.
void CellPart::take_side(const CellFrame& frame, const FrameSide& side) {
    const CellNode& node = frame.node();
    ids_.clear();
    splits_.clear();
    first_.assign(1, 0);
    all_ = side_of(frame, side);
    for (int c = 0; c < node.columns(); ++c) {
        std::int64_t before = 0;
        for (int at = node.first_split(c); at < node.first_split(c + 1); ++at) {
            const CellNode::Split& split = node.split(at);
            const CellSums& both = frame.both(side.feature, split.feature);
            const CellSums has = side.has ? both : frame.both(split.feature, split.feature) - both,
                           below = split.has_below ? has : all_ - has;
            if (below.extent == before) continue;
            if (below.extent == all_.extent) break;
            before = below.extent;
            splits_.push_back({columns(), split.feature, split.has_below, split.rank, below});
        }
        if (splits() == first_.back()) continue;
        ids_.push_back(node.id(c));
        first_.push_back(splits());
    }
}

int CellPart::place_of(Index id) const {
    const auto at = std::lower_bound(ids_.begin(), ids_.end(), id);
    return at != ids_.end() && *at == id ? static_cast<int>(at - ids_.begin()) : -1;
}

}  // namespace provetree
