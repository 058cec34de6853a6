// The best tree of the candidate splits, proven, in integers: once a node's split is chosen its two sides are
// independent, so a recursion over the candidates decides the problem without constraints that couple leaves. A budget
// of leaves is shared out between the sides by trying all shares.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/limits.hpp"
#include "colgen/instance.hpp"

namespace provetree::colgen {

struct RecursionInput {
    int targets = 0;
    const std::int64_t* profit = nullptr;             // items x targets, >= 0
    const std::int64_t* count = nullptr;              // table rows behind each item
    const std::uint8_t* allowed_candidate = nullptr;  // all candidates of the tree
    const std::uint8_t* allowed_target = nullptr;     // leaves x targets
    std::int64_t leaf_price = 0;                      // for a leaf with rows, >= 0
    std::int64_t min_count = 1;                       // a leaf has no rows or at least so many
    int max_leaves = 0;                               // of leaves with rows; 0: no limit
};

struct CandidateTree {
    std::int64_t value = 0;                // profit less the prices of the leaves
    std::vector<std::int32_t> candidates;  // by node
    std::vector<std::int32_t> targets;     // by leaf
};

// Nothing where no tree keeps the limits. Throws StopSearch when the monitor says so.
std::optional<CandidateTree> best_candidate_tree(const Instance& instance, const RecursionInput& input,
                                                 Monitor& monitor);

}  // namespace provetree::colgen
