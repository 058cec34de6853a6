// Exact pricing: the paths of largest reduced cost, by depth-first enumeration of the candidates from the root down. At
// every node one pass over the items in it gives the sums on both sides of all its candidates; a branch is left when
// even all items of positive worth together, and the best multipliers of the levels below, do not reach what is wanted.
#pragma once

#include <cstdint>
#include <vector>

#include "base/limits.hpp"
#include "colgen/instance.hpp"
#include "colgen/routes.hpp"

namespace provetree::colgen {

// The reduced cost of a path to leaf l with target t is
//     the sum of worth[item * targets + t] over its items
//     - the sum of route_price over its routes - alpha[l] - the sum of gamma over its nodes
//     - leaf_price where it has rows.
struct PricingInput {
    int targets = 0;
    const double* worth = nullptr;        // items x targets
    const std::int64_t* count = nullptr;  // table rows behind each item
    const double* alpha = nullptr;        // leaves
    const double* gamma = nullptr;        // for each leaf, for each level, for each candidate of the node there
    const double* route_price = nullptr;  // routes
    const std::uint8_t* allowed_candidate = nullptr;  // all candidates of the tree
    const std::uint8_t* allowed_target = nullptr;     // leaves x targets
    double leaf_price = 0;                            // for a path with rows, >= 0
    std::int64_t min_count = 1;                       // a path has no rows or at least so many
    double least = 1e-6;                              // smaller reduced costs are not wanted
    int best = 1;                                     // how many columns per leaf
};

struct PricedPath {
    int leaf;
    int target;
    double reduced_cost;
    std::vector<std::int32_t> candidates;
};

struct PricingResult {
    std::vector<PricedPath> paths;  // by leaf, best first
    std::vector<double> largest;    // largest reduced cost of each leaf, or `least` where none is larger
    bool complete = true;           // false: stopped before everything was looked at; `largest` are no bounds then
    std::uint64_t visited = 0;      // nodes of the enumeration
};

PricingResult price_paths(const Instance& instance, const RouteSet& routes, const PricingInput& input,
                          Monitor& monitor);

}  // namespace provetree::colgen
