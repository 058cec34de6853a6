// Routes of rows; see colgen/routes.hpp.
#include "colgen/routes.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/splitmix.hpp"

namespace provetree::colgen {

namespace {

// Whether the way to `goal` goes right at a node; nothing where the node is not above it.
std::optional<bool> right_towards(int node, int goal) {
    for (; goal > node; goal = (goal - 1) / 2)
        if ((goal - 1) / 2 == node) return goal == 2 * node + 2;
    return std::nullopt;
}

// The value of the best way from a node on, for paths that share their choices above it.
double best_way(const Instance& instance, const PathList& paths, int node, int level, std::uint64_t key,
                std::vector<int>& chosen, Route& route) {
    if (level == instance.depth()) return paths.total(chosen);
    double total = 0;
    for_each_candidate(instance, paths, level, chosen, [&](int a, std::vector<int>& left, std::vector<int>& right) {
        const std::uint64_t next = extend_key(key, node, a);
        const double on_left = best_way(instance, paths, 2 * node + 1, level + 1, next, left, route);
        const double on_right = best_way(instance, paths, 2 * node + 2, level + 1, next, right, route);
        const bool as_reference = !instance.goes_left(node, a, route.reference);
        const bool to_right = on_left == on_right ? as_reference : on_right > on_left;
        if (to_right != as_reference) route.right[next] = to_right;
        total += std::max(on_left, on_right);
    });
    return total;
}

}  // namespace

std::uint64_t extend_key(std::uint64_t key, int node, int candidate) {
    return splitmix(key ^ splitmix((static_cast<std::uint64_t>(node) << 32) | static_cast<std::uint32_t>(candidate)));
}

bool RouteSet::goes_right(int r, int node, int candidate, std::uint64_t key) const {
    const Route& route = routes_[r];
    if (const std::optional<bool> right = right_towards(node, route.goal)) return *right;
    const auto noted = route.right.find(key);
    return noted != route.right.end() ? noted->second : !instance_.goes_left(node, candidate, route.reference);
}

bool RouteSet::follows(int r, int leaf, const std::int32_t* candidates) const {
    std::uint64_t key = kRootKey;
    for (int level = 0; level < instance_.depth(); ++level) {
        const int node = instance_.node_at(leaf, level);
        key = extend_key(key, node, candidates[level]);
        if (goes_right(r, node, candidates[level], key) != instance_.right_at(leaf, level)) return false;
    }
    return true;
}

std::vector<FoundRoute> separate_routes(const Instance& instance, const PathList& paths, int reference, double least) {
    std::vector<FoundRoute> found;
    const int depth = instance.depth();
    for (int level = 0; level < depth; ++level) {
        for (int node = (1 << level) - 1; node < (2 << level) - 1; ++node) {
            // Paths through the node, by their choices above it.
            std::vector<std::pair<std::uint64_t, int>> through;
            for (std::size_t p = 0; p < paths.size; ++p) {
                const int leaf = paths.leaf[p];
                if (instance.node_at(leaf, level) != node) continue;
                std::uint64_t key = kRootKey;
                for (int h = 0; h < level; ++h) key = extend_key(key, instance.node_at(leaf, h), paths.choices(p)[h]);
                through.emplace_back(key, static_cast<int>(p));
            }
            std::sort(through.begin(), through.end());
            FoundRoute result{0.0, {node, reference, {}}};
            for (std::size_t begin = 0; begin < through.size();) {
                std::vector<int> chosen;
                std::size_t end = begin;
                for (; end < through.size() && through[end].first == through[begin].first; ++end)
                    chosen.push_back(through[end].second);
                result.value += best_way(instance, paths, node, level, through[begin].first, chosen, result.route);
                begin = end;
            }
            if (result.value > least) found.push_back(std::move(result));
        }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const FoundRoute& a, const FoundRoute& b) { return a.value > b.value; });
    return found;
}

void items_on_path(const Instance& instance, int leaf, const std::int32_t* candidates, std::vector<int>& inside) {
    inside.resize(instance.n_items());
    std::iota(inside.begin(), inside.end(), 0);
    for (int level = 0; level < instance.depth(); ++level) {
        const Node& node = instance.node(instance.node_at(leaf, level));
        node.take_side(candidates[level], instance.right_at(leaf, level), inside, inside);
    }
}

void item_activity(const Instance& instance, const PathList& paths, double* activity, std::uint64_t* signature) {
    const int n = instance.n_items();
    std::fill(activity, activity + n, 0.0);
    std::fill(signature, signature + n, 0);
    std::vector<int> inside;
    for (std::size_t p = 0; p < paths.size; ++p) {
        items_on_path(instance, paths.leaf[p], paths.choices(p), inside);
        const std::uint64_t name = splitmix(static_cast<std::uint64_t>(p) + 1);
        for (const int i : inside) {
            activity[i] += paths.value[p];
            signature[i] ^= name;
        }
    }
}

}  // namespace provetree::colgen
