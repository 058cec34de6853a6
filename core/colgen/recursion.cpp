// The recursion over candidates; see colgen/recursion.hpp.
#include "colgen/recursion.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "colgen/side_sums.hpp"
#include "colgen/two_splits.hpp"

namespace provetree::colgen {

namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min() / 4;
constexpr std::int64_t kUntried = std::numeric_limits<std::int64_t>::max();

// A subtree: its value, and its choices in preorder.
struct Part {
    std::int64_t value = kNone;
    std::vector<std::int32_t> candidates;
    std::vector<std::int32_t> targets;
};

struct Leaf {
    std::int64_t value;
    int target;
    bool active;
};

class Recursion {
  public:
    Recursion(const Instance& instance, const RecursionInput& input, Monitor& monitor)
        : instance_(instance), in_(input), monitor_(monitor), depth_(instance.depth()), lanes_(input.targets),
          width_(lanes_ + 2),
          two_targets_(instance, input.profit, input.targets, input.allowed_candidate, input.allowed_target),
          three_targets_(instance, input.profit, input.targets, input.allowed_candidate, input.allowed_target),
          any_targets_(instance, input.profit, input.targets, input.allowed_candidate, input.allowed_target) {
        // Lanes: the profit of each target, the number of rows, and the profit if every item were right.
        const std::size_t n = instance.n_items();
        values_.resize(n * width_);
        for (std::size_t i = 0; i < n; ++i) {
            std::int64_t ideal = 0;
            for (std::size_t t = 0; t < lanes_; ++t) {
                values_[i * width_ + t] = in_.profit[i * lanes_ + t];
                ideal = std::max(ideal, in_.profit[i * lanes_ + t]);
            }
            values_[i * width_ + lanes_] = in_.count[i];
            values_[i * width_ + lanes_ + 1] = ideal;
        }
        // A tree is worth as much without some of its rows, less what they add, unless a leaf becomes too small. With
        // more rows it is worth no less, unless they cost something: a leaf that they make active, or a target they
        // should not have.
        fewer_rows_ = in_.min_count <= 1;
        more_rows_ = fewer_rows_ && in_.leaf_price == 0 &&
                     std::all_of(values_.begin(), values_.end(), [](std::int64_t v) { return v >= 0; });
        levels_.resize(depth_ + 1);
        for (std::size_t i = 0; i < n; ++i)
            if (in_.count[i] > 0) levels_[0].items.push_back(static_cast<std::int32_t>(i));
    }

    std::optional<CandidateTree> run() {
        Part best;
        if (in_.max_leaves > 0 && in_.max_leaves < instance_.n_leaves()) {
            std::vector<Part> parts = visit_budgets(0, 0, in_.max_leaves);
            best = std::move(parts.back());
        } else {
            best = visit(0, 0, kNone);
        }
        if (best.value <= kNone) return std::nullopt;
        CandidateTree tree;
        tree.value = best.value;
        tree.candidates.resize(instance_.n_nodes());
        tree.targets = std::move(best.targets);  // leaves from left to right are in preorder
        std::size_t next = 0;
        place(0, best.candidates, next, tree.candidates);
        return tree;
    }

  private:
    struct Level : SideSums<std::int64_t> {
        std::vector<std::int32_t> items;
        std::size_t width = 0;  // of the sums
        std::vector<std::pair<std::int64_t, int>> order;
        std::vector<int> rank;  // for two levels of splits at once
        std::vector<std::array<std::int64_t, 2>> ideal;
        std::vector<std::int64_t> most[2];  // what the sides of a candidate that was tried are worth at most
    };

    void place(int node, const std::vector<std::int32_t>& preorder, std::size_t& next,
               std::vector<std::int32_t>& by_node) const {
        if (node >= instance_.n_nodes()) return;
        by_node[node] = preorder[next++];
        place(2 * node + 1, preorder, next, by_node);
        place(2 * node + 2, preorder, next, by_node);
    }

    // `narrow`: the profits of the targets only.
    void sums(Level& at, const Node& node, bool narrow = false) {
        at.width = narrow ? lanes_ : width_;
        const std::int64_t* values = narrow ? in_.profit : values_.data();
        sum_sides(at, at.items, node, values, at.width);
        monitor_.work(at.items.size() * node.groups.size() * at.width + 16);
    }

    std::int64_t side(const Level& at, int a, bool right, std::size_t lane) const {
        const std::int64_t left = at.left[a * at.width + lane];
        return right ? at.total[lane] - left : left;
    }

    Leaf leaf_value(const Level& at, int a, bool right, int leaf) const {
        const std::int64_t count = at.width == width_ ? side(at, a, right, lanes_) : 1;
        if (count > 0 && count < in_.min_count) return {kNone, 0, true};
        Leaf best{kNone, 0, count > 0};
        for (std::size_t t = 0; t < lanes_; ++t) {
            if (!in_.allowed_target[leaf * lanes_ + t]) continue;
            const std::int64_t value = side(at, a, right, t) - (count > 0 ? in_.leaf_price : 0);
            if (value > best.value) best = {value, static_cast<int>(t), count > 0};
        }
        return best;
    }

    // What a side could be worth at most.
    std::int64_t ideal(const Level& at, int a, bool right) const {
        return side(at, a, right, lanes_ + 1) - (side(at, a, right, lanes_) > 0 ? in_.leaf_price : 0);
    }

    // The same, also from the candidates of the same column that were tried: nearby thresholds send nearly the same
    // rows to a side.
    std::int64_t bound(const Level& at, const Node& node, int a, bool right) const {
        std::int64_t most = ideal(at, a, right);
        if (!fewer_rows_) return most;
        const Group& group = node.group(a);
        const std::vector<std::int64_t>& tried = at.most[right];
        for (const int step : {-1, 1}) {
            const int end = step < 0 ? group.first - 1 : group.first + group.count;
            int b = a + step;
            while (b != end && tried[b] == kUntried) b += step;
            if (b == end) continue;
            const std::int64_t other = tried[b];
            const bool has_more = (step < 0) != right;  // a lower threshold sends fewer rows left
            if (has_more) {
                most = std::min(most, other + side(at, a, right, lanes_ + 1) - side(at, b, right, lanes_ + 1));
            } else if (more_rows_) {
                most = std::min(most, other);
            }
        }
        return most;
    }

    void descend(int level, const Node& node, int a, bool right) {
        node.take_side(a, right, levels_[level].items, levels_[level + 1].items);
    }

    bool allowed(const Node& node, int a) const { return in_.allowed_candidate[node.offset + a] != 0; }

    static void join(Part& best, std::int64_t value, int a, const Part& left, const Part& right) {
        best.value = value;
        best.candidates.assign(1, a);
        best.candidates.insert(best.candidates.end(), left.candidates.begin(), left.candidates.end());
        best.candidates.insert(best.candidates.end(), right.candidates.begin(), right.candidates.end());
        best.targets = left.targets;
        best.targets.insert(best.targets.end(), right.targets.begin(), right.targets.end());
    }

    // The best split into two leaves worth more than `floor`.
    Part best_stump(int node_number, std::int64_t floor) {
        const Node& node = instance_.node(node_number);
        Level& at = levels_[depth_ - 1];
        // How many rows a leaf has matters only where it costs or limits something.
        sums(at, node, fewer_rows_ && in_.leaf_price == 0);
        Part best;
        const int leaf = instance_.first_leaf(node_number, depth_ - 1);
        for (int a = 0; a < node.count; ++a) {
            if (!allowed(node, a)) continue;
            const Leaf left = leaf_value(at, a, false, leaf), right = leaf_value(at, a, true, leaf + 1);
            if (left.value <= kNone || right.value <= kNone || left.value + right.value <= floor) continue;
            floor = best.value = left.value + right.value;
            best.candidates = {a};
            best.targets = {left.target, right.target};
        }
        return best;
    }

    // Candidates that do well with two leaves come first: a good tree early cuts the rest short.
    void order_candidates(Level& at, const Node& node) const {
        at.order.clear();
        for (int a = 0; a < node.count; ++a) {
            if (!allowed(node, a)) continue;
            std::int64_t left = 0, right = 0;
            for (std::size_t t = 0; t < lanes_; ++t) {
                left = std::max(left, side(at, a, false, t));
                right = std::max(right, side(at, a, true, t));
            }
            at.order.emplace_back(-(left + right), a);
        }
        std::sort(at.order.begin(), at.order.end());
    }

    // The best subtree worth more than `floor`; a value of kNone says that there is none.
    Part visit(int node_number, int level, std::int64_t floor) {
        if (level == depth_ - 1) return best_stump(node_number, floor);
        const Node& node = instance_.node(node_number);
        Level& at = levels_[level];
        sums(at, node);
        order_candidates(at, node);
        if (level == depth_ - 2 && more_rows_ && two_levels_pay(at, node, floor))
            return two_levels(node_number, level, floor);
        Part best;
        for (std::vector<std::int64_t>& most : at.most) most.assign(node.count, kUntried);
        for (const auto& entry : at.order) {
            const int a = entry.second;
            const std::int64_t most_left = bound(at, node, a, false), most_right = bound(at, node, a, true);
            if (most_left + most_right <= floor) continue;
            const std::int64_t left_floor = floor <= kNone ? kNone : floor - most_right;
            descend(level, node, a, false);
            const Part left = visit(2 * node_number + 1, level + 1, left_floor);
            at.most[false][a] = std::max(left.value, left_floor);
            if (left.value <= kNone) continue;
            const std::int64_t right_floor = floor <= kNone ? kNone : floor - left.value;
            descend(level, node, a, true);
            const Part right = visit(2 * node_number + 2, level + 1, right_floor);
            at.most[true][a] = std::max(right.value, right_floor);
            if (right.value <= kNone || left.value + right.value <= floor) continue;
            floor = left.value + right.value;
            join(best, floor, a, left, right);
        }
        return best;
    }

    // Whether so many candidates are left to try that all of a column are best tried together.
    bool two_levels_pay(Level& at, const Node& node, std::int64_t floor) const {
        at.rank.assign(node.count, -1);
        at.ideal.resize(node.count);
        std::size_t left = 0;
        for (const auto& entry : at.order) {
            const auto a = static_cast<std::size_t>(entry.second);
            at.ideal[a] = {ideal(at, entry.second, false), ideal(at, entry.second, true)};
            if (at.ideal[a][0] + at.ideal[a][1] > floor) at.rank[a] = static_cast<int>(left++);
        }
        return left > 2 * node.groups.size();
    }

    Part two_levels(int node_number, int level, std::int64_t floor) {
        const Level& at = levels_[level];
        const int leaf = instance_.first_leaf(node_number, level);
        const std::size_t below =
            instance_.node(2 * node_number + 1).groups.size() + instance_.node(2 * node_number + 2).groups.size();
        TwoSplits found;
        if (lanes_ == 2)
            found = two_targets_.best(node_number, leaf, at.items, floor, at.rank, at.ideal);
        else if (lanes_ == 3)
            found = three_targets_.best(node_number, leaf, at.items, floor, at.rank, at.ideal);
        else
            found = any_targets_.best(node_number, leaf, at.items, floor, at.rank, at.ideal);
        monitor_.work(at.items.size() * instance_.node(node_number).groups.size() * below * lanes_ + 16);
        Part best;
        if (found.value < 0) return best;
        best.value = found.value;
        best.candidates = {found.candidate, found.left.candidate, found.right.candidate};
        best.targets = {found.left.targets[0], found.left.targets[1], found.right.targets[0], found.right.targets[1]};
        return best;
    }

    // parts[b]: the best subtree with at most b leaves that have rows.
    std::vector<Part> visit_budgets(int node_number, int level, int budget) {
        const Node& node = instance_.node(node_number);
        Level& at = levels_[level];
        sums(at, node);
        budget = std::min(budget, 1 << (depth_ - level));
        std::vector<Part> best(budget + 1);
        for (int a = 0; a < node.count; ++a) {
            if (!allowed(node, a)) continue;
            std::vector<Part> side_parts[2];
            for (const bool right : {false, true}) {
                const int child = 2 * node_number + 1 + right;
                if (level < depth_ - 1) {
                    descend(level, node, a, right);
                    side_parts[right] = visit_budgets(child, level + 1, budget);
                    continue;
                }
                const Leaf leaf = leaf_value(at, a, right, instance_.first_leaf(node_number, level) + right);
                std::vector<Part> parts(2);
                if (leaf.value > kNone) parts[1] = {leaf.value, {}, {leaf.target}};
                if (leaf.value > kNone && !leaf.active) parts[0] = parts[1];
                side_parts[right] = std::move(parts);
            }
            for (int b = 0; b <= budget; ++b) {
                for (int for_left = 0; for_left <= b; ++for_left) {
                    const Part& left = share(side_parts[0], for_left);
                    const Part& right = share(side_parts[1], b - for_left);
                    if (left.value <= kNone || right.value <= kNone) continue;
                    if (left.value + right.value > best[b].value)
                        join(best[b], left.value + right.value, a, left, right);
                }
            }
        }
        return best;
    }

    // More leaves than a subtree has are of no use to it.
    static const Part& share(const std::vector<Part>& parts, int leaves) {
        return parts[std::min(static_cast<std::size_t>(leaves), parts.size() - 1)];
    }

    const Instance& instance_;
    const RecursionInput& in_;
    Monitor& monitor_;
    int depth_;
    std::size_t lanes_, width_;
    bool fewer_rows_ = false, more_rows_ = false;
    std::vector<std::int64_t> values_;
    std::vector<Level> levels_;
    TwoLevels<2> two_targets_;
    TwoLevels<3> three_targets_;
    TwoLevels<0> any_targets_;
};

}  // namespace

std::optional<CandidateTree> best_candidate_tree(const Instance& instance, const RecursionInput& input,
                                                 Monitor& monitor) {
    return Recursion(instance, input, monitor).run();
}

}  // namespace provetree::colgen
