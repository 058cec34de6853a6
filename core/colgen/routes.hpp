// Cuts of column generation. A row constraint (1c) says that an item follows exactly one path of a tree. A route is a
// row that may decide anew at every node, knowing the splits chosen above it: whatever tree is chosen, it too ends in
// exactly one leaf, so its constraint is valid as well. Routes are stronger than rows (with all of them the master has
// integral solutions only) and the most violated one is found without a search.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "colgen/instance.hpp"

namespace provetree::colgen {

// Identifies the choices made on the way to a node and at it. Two ways with the same key would share a decision, which
// is a valid route too.
std::uint64_t extend_key(std::uint64_t key, int node, int candidate);
inline constexpr std::uint64_t kRootKey = 0x243f6a8885a308d3ULL;

struct PathList {
    const std::int32_t* leaf;
    const std::int32_t* candidates;  // depth per path
    const double* value;
    std::size_t size, depth;

    const std::int32_t* choices(std::size_t p) const { return candidates + p * depth; }
    double total(const std::vector<int>& chosen) const {
        double sum = 0;
        for (const int p : chosen) sum += value[p];
        return sum;
    }
};

// Calls visit(candidate, paths that go left, paths that go right) for each candidate that the chosen paths have at a
// level, in rising order.
template <class Visit>
void for_each_candidate(const Instance& instance, const PathList& paths, int level, std::vector<int>& chosen,
                        const Visit& visit) {
    const auto candidate = [&](int p) { return paths.choices(p)[level]; };
    std::stable_sort(chosen.begin(), chosen.end(), [&](int a, int b) { return candidate(a) < candidate(b); });
    for (std::size_t begin = 0, end; begin < chosen.size(); begin = end) {
        std::vector<int> side[2];
        for (end = begin; end < chosen.size() && candidate(chosen[end]) == candidate(chosen[begin]); ++end)
            side[instance.right_at(paths.leaf[chosen[end]], level)].push_back(chosen[end]);
        visit(candidate(chosen[begin]), side[0], side[1]);
    }
}

// Where a route goes: to `goal` first, whatever is chosen on the way; from there on as noted, and where nothing is
// noted as the reference item does.
struct Route {
    int goal = 0;
    int reference = 0;
    std::unordered_map<std::uint64_t, bool> right;
};

class RouteSet {
  public:
    explicit RouteSet(const Instance& instance) : instance_(instance) {}

    int size() const { return static_cast<int>(routes_.size()); }
    void add(Route route) { routes_.push_back(std::move(route)); }

    // The side route r takes at a node when `candidate` is chosen there; key is that of the way including the choice.
    bool goes_right(int r, int node, int candidate, std::uint64_t key) const;
    bool follows(int r, int leaf, const std::int32_t* candidates) const;

  private:
    const Instance& instance_;
    std::vector<Route> routes_;
};

struct FoundRoute {
    double value;
    Route route;
};

// For each node the route that goes there and then where most of the paths' value is; only those whose value exceeds
// `least`, largest first.
std::vector<FoundRoute> separate_routes(const Instance& instance, const PathList& paths, int reference, double least);

// The items that follow a path, in rising order.
void items_on_path(const Instance& instance, int leaf, const std::int32_t* candidates, std::vector<int>& inside);

// Sum of the values of the paths that each item follows, and a number that is the same for items that follow the same
// paths.
void item_activity(const Instance& instance, const PathList& paths, double* activity, std::uint64_t* signature);

}  // namespace provetree::colgen
