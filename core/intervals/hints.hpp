// Bounds of splits that a node takes over from its relatives before any of its splits is tried.
#pragma once

#include <vector>

#include "loss/loss.hpp"
#include "sweeps/profile.hpp"

namespace provetree {

inline bool by_position(const DeepPoint& a, const DeepPoint& b) { return a.position < b.position; }

// Merges points of one position, tightens all from their neighbours and drops those that say nothing their neighbours
// do not.
void tidy(std::vector<DeepPoint>& points, const Loss& loss);

// What the relatives know of the splits of a column with one division of the split budget, by position in the node.
std::vector<DeepPoint> hints_from(Relatives relatives, const Node& node, const NodeColumn& column,
                                  std::int64_t left_splits, const Loss& loss);

}  // namespace provetree
