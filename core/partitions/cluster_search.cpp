// Branch and bound: at each node and column, thresholds are taken from the middle of an interval of thresholds. Fewer
// rows never cost more, so what the sides cost at the ends of an interval bounds them inside it.
#include "partitions/cluster_search.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace provetree::partitions {

namespace {

using Cost = std::int64_t;
using Row = std::int32_t;

// A tree in preorder.
struct Shape {
    std::vector<std::int32_t> column{-1};
    std::vector<std::int32_t> rank{0};
    int splits() const { return static_cast<int>(column.size() / 2); }
};

Shape joined(std::size_t column, std::uint32_t rank, const Shape& left, const Shape& right) {
    Shape shape{{static_cast<std::int32_t>(column)}, {static_cast<std::int32_t>(rank)}};
    for (const Shape* side : {&left, &right}) {
        shape.column.insert(shape.column.end(), side->column.begin(), side->column.end());
        shape.rank.insert(shape.rank.end(), side->rank.begin(), side->rank.end());
    }
    return shape;
}

// What is known of a node: no tree costs less than `bound`; where `found`, `shape` costs just that.
struct Answer {
    Cost bound = 0;
    bool found = false;
    Shape shape;
};

// The cheapest tree so far; trees cheaper than `open` are looked for.
struct Best : Answer {
    Cost open;
    void take(Cost cost, std::size_t column, std::uint32_t rank, const Shape& left, const Shape& right) {
        open = bound = cost;
        found = true;
        shape = joined(column, rank, left, right);
    }
};

// The rows of a node in the order of each column.
struct Node {
    std::vector<std::vector<Row>> order;
    std::size_t size() const { return order[0].size(); }
};

class Search {
  public:
    Search(const ClusterTable& table, Monitor& monitor)
        : table_(table), monitor_(monitor), scale_(table.max_splits + 1), size_(table.clusters, 0),
          moved_(table.clusters, 0), goes_right_(table.rows, 0), stamp_(table.clusters, 0) {
        for (Side* side : {&whole_, &half_[0], &half_[1]}) {
            side->rows.resize(table.clusters);
            side->totals.resize(table.n_classes);
        }
        for (std::size_t i = 0; i < table.rows; ++i) ++size_[table.cluster[i]];
    }

    Node root() const {
        Node node;
        node.order.resize(std::max<std::size_t>(table_.columns, 1));
        for (std::size_t c = 0; c < node.order.size(); ++c) {
            std::vector<Row>& order = node.order[c];
            order.resize(table_.rows);
            std::iota(order.begin(), order.end(), Row{0});
            if (c < table_.columns)
                std::stable_sort(order.begin(), order.end(), [&](Row a, Row b) { return rank(c, a) < rank(c, b); });
        }
        return node;
    }

    // The cheapest tree of a node below `cutoff`; where there is none, the cutoff itself is a bound.
    Answer solve(const Node& node, int depth, int budget, Cost cutoff) {
        ++nodes;
        budget = std::min(budget, full(depth));
        count(node);
        const Cost leaf = leaf_cost(whole_.totals);
        Best best{{leaf, leaf < cutoff, {}}, std::min(cutoff, leaf)};
        if (budget == 0 || table_.columns == 0) return best;
        // A split costs one at least.
        if (leaf <= 1 || cutoff <= 1) return best.found ? best : Answer{std::min(leaf, Cost{1}), false, {}};
        const Cost single = single_splits(node, best);
        if (budget == 1) {
            best.bound = std::min(leaf, single);
            return best;
        }
        for (std::size_t c = 0; c < table_.columns; ++c) {
            if (depth == 2)
                pair_interval(node, budget, c, 0, node.size(), 0, 0, best);
            else
                interval(node, depth, budget, c, 0, node.size(), 0, 0, best);
        }
        best.bound = best.found ? best.open : cutoff;
        return best;
    }

    std::uint64_t nodes = 0;

  private:
    static int full(int depth) { return depth >= 30 ? (1 << 30) - 1 : (1 << depth) - 1; }
    std::uint32_t rank(std::size_t column, Row row) const { return table_.ranks[column * table_.rows + row]; }
    std::size_t cluster(Row row) const { return table_.cluster[row]; }

    // Some rows: how many of each cluster, and the clusters that are whole among them by class; also by the side of a
    // split that moves through the rows.
    struct Side {
        std::vector<std::int32_t> rows;
        std::vector<Cost> totals, left, right;

        void start() {
            left.assign(totals.size(), 0);
            right = totals;
        }
    };

    void add(Side& side, Row row) {
        const std::size_t g = cluster(row);
        if (++side.rows[g] == size_[g]) side.totals[table_.label[g]] += table_.weight[g];
    }

    // A row goes left.
    void move(Side& side, Row row) {
        const std::size_t g = cluster(row);
        if (side.rows[g] != size_[g]) return;
        if (++moved_[g] == 1) side.right[table_.label[g]] -= table_.weight[g];
        if (moved_[g] == size_[g]) side.left[table_.label[g]] += table_.weight[g];
    }

    void count(const Node& node) {
        std::fill(whole_.totals.begin(), whole_.totals.end(), 0);
        for (const Row i : node.order[0]) whole_.rows[cluster(i)] = 0;
        for (const Row i : node.order[0]) add(whole_, i);
        monitor_.work(node.size());
    }

    Cost leaf_cost(const std::vector<Cost>& totals) const {
        Cost sum = 0, most = 0;
        for (const Cost t : totals) {
            sum += t;
            most = std::max(most, t);
        }
        return scale_ * (sum - most);
    }
    Cost split_cost(const Side& side) const { return 1 + leaf_cost(side.left) + leaf_cost(side.right); }

    // Looks at all trees of one split, after count(). Returns the least cost of them.
    Cost single_splits(const Node& node, Best& best) {
        Cost least = std::numeric_limits<Cost>::max();
        for (std::size_t c = 0; c < table_.columns; ++c) {
            const std::vector<Row>& order = node.order[c];
            whole_.start();
            for (const Row i : order) moved_[cluster(i)] = 0;
            for (std::size_t k = 0; k + 1 < order.size(); ++k) {
                move(whole_, order[k]);
                const std::uint32_t here = rank(c, order[k]);
                if (here == rank(c, order[k + 1])) continue;
                const Cost cost = split_cost(whole_);
                least = std::min(least, cost);
                if (cost < best.open) best.take(cost, c, here, {}, {});
            }
            monitor_.work(order.size());
        }
        return least;
    }

    // Splits of a column that send the first k rows left, `from` < k < `upto`. No left side of them costs less than
    // `left_bound`, no right side less than `right_bound`: the sides at the ends of the interval hold fewer rows.
    void interval(const Node& node, int depth, int budget, std::size_t c, std::size_t from, std::size_t upto,
                  Cost left_bound, Cost right_bound, Best& best) {
        if (1 + left_bound + right_bound >= best.open) return;
        const std::size_t middle = split_near_middle(node.order[c], c, from, upto);
        if (middle == 0) return;
        Cost l_bound = left_bound, r_bound = right_bound;
        {
            Node left, right;
            divide(node, c, middle, left, right);
            const std::uint32_t low = rank(c, node.order[c][middle - 1]);
            const Answer l = solve(left, depth - 1, budget - 1, best.open - 1 - right_bound);
            l_bound = std::max(l_bound, l.bound);
            if (l.found) {
                const Answer r = solve(right, depth - 1, budget - 1, best.open - 1 - l.bound);
                r_bound = std::max(r_bound, r.bound);
                if (r.found && l.shape.splits() + r.shape.splits() <= budget - 1)
                    take(c, low, l, r, best);
                else if (r.found)
                    share(left, right, depth, budget, c, low, r_bound, best);
            }
        }
        interval(node, depth, budget, c, from, middle, left_bound, r_bound, best);
        interval(node, depth, budget, c, middle, upto, l_bound, right_bound, best);
    }

    // The best tree of at most one split of one side of a split.
    struct Stump {
        Cost leaf = 0, cost = 0;
        std::size_t column = 0;
        std::uint32_t rank = 0;
        Shape shape() const { return cost == leaf ? Shape{} : joined(column, rank, {}, {}); }
    };

    // Both sides of the split that sends the first `n_left` rows of a column left, by one sweep over the orders of the
    // node.
    void stumps(const Node& node, std::size_t c, std::size_t n_left, Stump (&stump)[2]) {
        const std::vector<Row>& by = node.order[c];
        for (const Row i : by) half_[0].rows[cluster(i)] = half_[1].rows[cluster(i)] = 0;
        for (Side& half : half_) std::fill(half.totals.begin(), half.totals.end(), 0);
        for (std::size_t k = 0; k < by.size(); ++k) {
            goes_right_[by[k]] = k >= n_left;
            add(half_[k >= n_left], by[k]);
        }
        for (int s = 0; s < 2; ++s) stump[s].leaf = stump[s].cost = leaf_cost(half_[s].totals);
        for (std::size_t d = 0; d < table_.columns; ++d) {
            std::uint32_t last[2] = {0, 0};
            bool any[2] = {false, false};
            for (Side& half : half_) half.start();
            for (const Row i : node.order[d]) moved_[cluster(i)] = 0;
            for (const Row i : node.order[d]) {
                const int s = goes_right_[i];
                const std::uint32_t here = rank(d, i);
                if (any[s] && here != last[s]) {
                    const Cost cost = split_cost(half_[s]);
                    if (cost < stump[s].cost) stump[s] = {stump[s].leaf, cost, d, last[s]};
                }
                any[s] = true;
                last[s] = here;
                move(half_[s], i);
            }
        }
        monitor_.work((table_.columns + 1) * by.size());
        nodes += 2;
    }

    // As interval(), for trees of depth two, after count(). A side that loses some rows gets cheaper by the weight of
    // their clusters at most: where both sides together cost more than what is looked for, splits close by need not be
    // looked at.
    void pair_interval(const Node& node, int budget, std::size_t c, std::size_t from, std::size_t upto, Cost left_bound,
                       Cost right_bound, Best& best) {
        if (1 + left_bound + right_bound >= best.open) return;
        const std::vector<Row>& order = node.order[c];
        const std::size_t middle = split_near_middle(order, c, from, upto);
        if (middle == 0) return;
        Stump side[2];
        stumps(node, c, middle, side);
        const bool both = budget >= 3;
        const bool split_left = both || side[0].cost + side[1].leaf <= side[0].leaf + side[1].cost;
        const bool split_right = both || !split_left;
        const Cost cost = 1 + (split_left ? side[0].cost : side[0].leaf) + (split_right ? side[1].cost : side[1].leaf);
        if (cost < best.open)
            best.take(cost, c, rank(c, order[middle - 1]), split_left ? side[0].shape() : Shape{},
                      split_right ? side[1].shape() : Shape{});
        const Cost spare = 1 + side[0].cost + side[1].cost - best.open;
        std::size_t before = middle, after = middle;
        Cost lost = 0;
        ++stamp_now_;
        while (before > from + 1 && (lost += newly_touched(order[before - 1])) <= spare) --before;
        lost = 0;
        ++stamp_now_;
        while (after + 1 < upto && (lost += newly_touched(order[after])) <= spare) ++after;
        pair_interval(node, budget, c, from, before, left_bound, std::max(right_bound, side[1].cost), best);
        pair_interval(node, budget, c, after, upto, std::max(left_bound, side[0].cost), right_bound, best);
    }

    // What the cluster of a row can cost, the first time it is asked for since stamp_now_ changed.
    Cost newly_touched(Row row) {
        const std::size_t g = cluster(row);
        if (whole_.rows[g] != size_[g] || stamp_[g] == stamp_now_) return 0;
        stamp_[g] = stamp_now_;
        return scale_ * table_.weight[g];
    }

    // The split nearest to the middle of an interval, 0 where it holds none.
    std::size_t split_near_middle(const std::vector<Row>& order, std::size_t c, std::size_t from,
                                  std::size_t upto) const {
        const auto splits_at = [&](std::size_t k) {
            return k > from && k < upto && rank(c, order[k - 1]) != rank(c, order[k]);
        };
        const std::size_t half = from + (upto - from) / 2;
        for (std::size_t step = 0; step <= upto - from; ++step) {
            if (splits_at(half + step)) return half + step;
            if (half >= step && splits_at(half - step)) return half - step;
        }
        return 0;
    }

    // The sides together want more splits than there are: all ways to share them out.
    void share(const Node& left, const Node& right, int depth, int budget, std::size_t c, std::uint32_t low,
               Cost r_bound, Best& best) {
        const int most = std::min(full(depth - 1), budget - 1);
        for (int for_left = budget - 1 - most; for_left <= most; ++for_left) {
            const Answer l = solve(left, depth - 1, for_left, best.open - 1 - r_bound);
            if (!l.found) continue;
            const Answer r = solve(right, depth - 1, budget - 1 - for_left, best.open - 1 - l.bound);
            if (r.found) take(c, low, l, r, best);
        }
    }

    static void take(std::size_t c, std::uint32_t low, const Answer& l, const Answer& r, Best& best) {
        const Cost cost = 1 + l.bound + r.bound;
        if (cost < best.open) best.take(cost, c, low, l.shape, r.shape);
    }

    void divide(const Node& node, std::size_t c, std::size_t n_left, Node& left, Node& right) {
        const std::vector<Row>& order = node.order[c];
        for (std::size_t k = 0; k < order.size(); ++k) goes_right_[order[k]] = k >= n_left;
        left.order.resize(node.order.size());
        right.order.resize(node.order.size());
        for (std::size_t d = 0; d < node.order.size(); ++d) {
            left.order[d].reserve(n_left);
            right.order[d].reserve(order.size() - n_left);
            for (const Row i : node.order[d]) (goes_right_[i] ? right : left).order[d].push_back(i);
        }
        monitor_.work(node.order.size() * order.size());
    }

    const ClusterTable& table_;
    Monitor& monitor_;
    Cost scale_;
    std::vector<std::int32_t> size_, moved_;  // of each cluster: its rows, and those that went left
    std::vector<char> goes_right_;
    Side whole_, half_[2];
    std::vector<std::uint64_t> stamp_;
    std::uint64_t stamp_now_ = 0;
};

}  // namespace

ClusterTree search_clusters(const ClusterTable& table, std::int64_t cutoff, Monitor& monitor) {
    ClusterTree result;
    Search search(table, monitor);
    try {
        Answer answer = search.solve(search.root(), table.max_depth, table.max_splits, cutoff);
        result.found = answer.found;
        result.cost = result.lower_bound = answer.bound;
        result.column = std::move(answer.shape.column);
        result.rank = std::move(answer.shape.rank);
    } catch (const StopSearch&) {
        result.complete = false;
    }
    result.nodes = search.nodes;
    return result;
}

}  // namespace provetree::partitions
