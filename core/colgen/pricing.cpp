// Pricing; see colgen/pricing.hpp.
#include "colgen/pricing.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "colgen/side_sums.hpp"

namespace provetree::colgen {

namespace {

// The best few paths of one leaf; the worst of them is the bar that new ones must pass.
class Best {
  public:
    Best(int capacity, double least) : capacity_(capacity), least_(least) {}
    double bar() const { return kept_.size() < capacity_ ? least_ : kept_.front().reduced_cost; }
    void offer(PricedPath path) {
        if (!(path.reduced_cost > bar())) return;
        if (kept_.size() == capacity_) {
            std::pop_heap(kept_.begin(), kept_.end(), above);
            kept_.pop_back();
        }
        kept_.push_back(std::move(path));
        std::push_heap(kept_.begin(), kept_.end(), above);
    }
    std::vector<PricedPath> sorted() {
        std::sort_heap(kept_.begin(), kept_.end(), above);
        return std::move(kept_);
    }

  private:
    static bool above(const PricedPath& a, const PricedPath& b) {
        return a.reduced_cost != b.reduced_cost ? a.reduced_cost > b.reduced_cost : a.candidates < b.candidates;
    }
    std::size_t capacity_;
    double least_;
    std::vector<PricedPath> kept_;
};

struct Branch {
    int candidate;
    bool right;
    double bound;
};

class Enumeration {
  public:
    Enumeration(const Instance& instance, const RouteSet& routes, const PricingInput& input, Monitor& monitor)
        : instance_(instance), routes_(routes), in_(input), monitor_(monitor), depth_(instance.depth()),
          lanes_(input.targets), chosen_(depth_, 0), best_(instance.n_leaves(), Best(input.best, input.least)),
          levels_(depth_ + 1) {
        counting_ = in_.leaf_price != 0 || in_.min_count > 1;
        stride_ = lanes_ + counting_;
        take_items();
        for (int r = 0; r < routes.size(); ++r) {
            if (in_.route_price[r] == 0) continue;
            levels_[0].routes.push_back(r);
            route_gift_ += std::max(-in_.route_price[r], 0.0);
        }
        take_multipliers();
    }

    PricingResult run() {
        PricingResult result;
        for (int leaf = 0; leaf < instance_.n_leaves(); ++leaf) spent(leaf, 0) = in_.alpha[leaf];
        try {
            visit(0, 0, kRootKey);
        } catch (const StopSearch&) {
            result.complete = false;
        }
        for (Best& best : best_) {
            std::vector<PricedPath> paths = best.sorted();
            result.largest.push_back(paths.empty() ? in_.least : paths.front().reduced_cost);
            std::move(paths.begin(), paths.end(), std::back_inserter(result.paths));
        }
        result.visited = visited_;
        return result;
    }

  private:
    struct Level : SideSums<double> {
        std::vector<std::int32_t> items;
        std::vector<int> routes;
        std::vector<Branch> branches;
    };

    // Items that are worth nothing to any target and count for nothing need not be carried along.
    void take_items() {
        const std::size_t n = instance_.n_items(), lanes = lanes_;
        positive_.assign(n * lanes, 0.0);
        exact_.assign(n * stride_, 0.0);
        for (std::size_t i = 0; i < n; ++i) {
            bool matters = counting_ && in_.count[i] != 0;
            for (std::size_t t = 0; t < lanes; ++t) {
                const double v = in_.worth[i * lanes + t];
                exact_[i * stride_ + t] = v;
                positive_[i * lanes + t] = std::max(v, 0.0);
                matters |= v != 0;
            }
            if (counting_) exact_[i * stride_ + lanes] = static_cast<double>(in_.count[i]);
            if (matters) levels_[0].items.push_back(static_cast<std::int32_t>(i));
        }
    }

    void take_multipliers() {
        spent_.assign(at(instance_.n_leaves(), 0), 0.0);
        rest_ = spent_;
        gamma_at_.assign(spent_.size(), 0);
        std::size_t next = 0;
        for (int leaf = 0; leaf < instance_.n_leaves(); ++leaf) {
            for (int level = 0; level < depth_; ++level) {
                gamma_at_[at(leaf, level)] = next;
                next += instance_.node(instance_.node_at(leaf, level)).count;
            }
            for (int level = depth_ - 1; level >= 0; --level) {
                const Node& node = instance_.node(instance_.node_at(leaf, level));
                double least = std::numeric_limits<double>::infinity();
                for (int a = 0; a < node.count; ++a)
                    if (allowed(node, a)) least = std::min(least, gamma(leaf, level, a));
                rest(leaf, level) = rest(leaf, level + 1) + least;
            }
        }
    }

    bool allowed(const Node& node, int a) const { return in_.allowed_candidate[node.offset + a] != 0; }
    std::size_t at(int leaf, int level) const { return leaf * (depth_ + 1) + level; }
    double gamma(int leaf, int level, int a) const { return in_.gamma[gamma_at_[at(leaf, level)] + a]; }
    double& rest(int leaf, int level) { return rest_[at(leaf, level)]; }
    double& spent(int leaf, int level) { return spent_[at(leaf, level)]; }

    void sums(Level& at, const Node& node, const double* values, std::size_t lanes) {
        monitor_.work(at.items.size() * node.groups.size() * lanes + 16);
        sum_sides(at, at.items, node, values, lanes);
    }

    void visit(int node_number, int level, std::uint64_t key) {
        ++visited_;
        if (level == depth_ - 1) return finish(node_number, key);
        const Node& node = instance_.node(node_number);
        Level& at = levels_[level];
        sums(at, node, positive_.data(), lanes_);
        at.branches.clear();
        for (int a = 0; a < node.count; ++a) {
            if (!allowed(node, a)) continue;
            for (const bool right : {false, true}) {
                double most = 0;
                for (int t = 0; t < lanes_; ++t) {
                    const double left = at.left[a * lanes_ + t];
                    most = std::max(most, right ? at.total[t] - left : left);
                }
                const double promise = reach(2 * node_number + 1 + right, level, a, most + route_gift_);
                if (promise > 0) at.branches.push_back({a, right, most + route_gift_});
            }
        }
        std::stable_sort(at.branches.begin(), at.branches.end(),
                         [](const Branch& a, const Branch& b) { return a.bound > b.bound; });
        for (std::size_t b = 0; b < at.branches.size(); ++b) {
            const Branch branch = at.branches[b];
            const int child = 2 * node_number + 1 + branch.right;
            if (!(reach(child, level, branch.candidate, branch.bound) > 0)) continue;  // the bars may have risen since
            const std::uint64_t next = extend_key(key, node_number, branch.candidate);
            descend(at, levels_[level + 1], node, node_number, branch, next);
            chosen_[level] = branch.candidate;
            const auto [first, last] = leaves_below(child, level + 1);
            for (int leaf = first; leaf < last; ++leaf)
                spent(leaf, level + 1) = spent(leaf, level) + gamma(leaf, level, branch.candidate);
            visit(child, level + 1, next);
        }
    }

    std::pair<int, int> leaves_below(int node, int level) const {
        return {instance_.first_leaf(node, level), instance_.first_leaf(node + 1, level)};
    }

    // By how much a branch may pass the bar of a leaf below `child`; not above zero: of none.
    double reach(int child, int level, int a, double most) {
        const auto [first, last] = leaves_below(child, level + 1);
        double largest = -std::numeric_limits<double>::infinity();
        for (int leaf = first; leaf < last; ++leaf)
            largest = std::max(
                largest, most - spent(leaf, level) - gamma(leaf, level, a) - rest(leaf, level + 1) - best_[leaf].bar());
        return largest;
    }

    void descend(const Level& from, Level& to, const Node& node, int node_number, const Branch& branch,
                 std::uint64_t key) const {
        node.take_side(branch.candidate, branch.right, from.items, to.items);
        to.routes.clear();
        for (const int r : from.routes)
            if (routes_.goes_right(r, node_number, branch.candidate, key) == branch.right) to.routes.push_back(r);
    }

    // The last split of a path: both of its leaves at once.
    void finish(int node_number, std::uint64_t key) {
        const int level = depth_ - 1;
        const Node& node = instance_.node(node_number);
        Level& at = levels_[level];
        sums(at, node, exact_.data(), stride_);
        const int left_leaf = instance_.first_leaf(node_number, level);
        for (int a = 0; a < node.count; ++a) {
            if (!allowed(node, a)) continue;
            double route_cost[2] = {0, 0};
            if (!at.routes.empty()) {
                const std::uint64_t next = extend_key(key, node_number, a);
                for (const int r : at.routes)
                    route_cost[routes_.goes_right(r, node_number, a, next)] += in_.route_price[r];
            }
            for (const bool right : {false, true}) {
                const int leaf = left_leaf + right;
                const double* left = at.left.data() + a * stride_;
                double cost = spent(leaf, level) + gamma(leaf, level, a) + route_cost[right];
                if (counting_) {
                    const double count = right ? at.total[lanes_] - left[lanes_] : left[lanes_];
                    if (count > 0) {
                        if (count < static_cast<double>(in_.min_count)) continue;
                        cost += in_.leaf_price;
                    }
                }
                double most = -std::numeric_limits<double>::infinity();
                int target = -1;
                for (int t = 0; t < lanes_; ++t) {
                    if (!in_.allowed_target[leaf * lanes_ + t]) continue;
                    const double sum = right ? at.total[t] - left[t] : left[t];
                    if (sum > most) {
                        most = sum;
                        target = t;
                    }
                }
                Best& best = best_[leaf];
                if (target < 0 || !(most - cost > best.bar())) continue;
                chosen_[level] = a;
                best.offer({leaf, target, most - cost, chosen_});
            }
        }
    }

    const Instance& instance_;
    const RouteSet& routes_;
    const PricingInput& in_;
    Monitor& monitor_;
    int depth_, lanes_;
    bool counting_;
    std::size_t stride_;
    std::vector<double> positive_, exact_;
    double route_gift_ = 0;              // what routes of negative price could add at most
    std::vector<std::size_t> gamma_at_;  // where the multipliers of that level begin
    std::vector<double> rest_;           // the least that the levels from one on cost
    std::vector<double> spent_;          // what the choices above a level cost
    std::vector<std::int32_t> chosen_;
    std::vector<Best> best_;
    std::vector<Level> levels_;
    std::uint64_t visited_ = 0;
};

}  // namespace

PricingResult price_paths(const Instance& instance, const RouteSet& routes, const PricingInput& input,
                          Monitor& monitor) {
    return Enumeration(instance, routes, input, monitor).run();
}

}  // namespace provetree::colgen
