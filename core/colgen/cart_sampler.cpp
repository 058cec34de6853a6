// Sampling of CART trees; see colgen/cart_sampler.hpp.
#include "colgen/cart_sampler.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <random>
#include <thread>

#include "base/splitmix.hpp"

namespace provetree::colgen {

namespace {

constexpr double kPure = 1e-9;

// Rows of each column in rising order of rank.
std::vector<std::vector<Index>> orders_of(const SamplerInput& in) {
    std::vector<std::vector<Index>> orders(in.table.columns);
    for (std::size_t c = 0; c < in.table.columns; ++c) {
        const Index* ranks = in.table.ranks + c * in.table.rows;
        std::vector<Index> start(std::size_t{in.table.tops[c]} + 2, 0);
        for (std::size_t i = 0; i < in.table.rows; ++i) ++start[ranks[i] + 1];
        std::partial_sum(start.begin(), start.end(), start.begin());
        orders[c].resize(in.table.rows);
        for (std::size_t i = 0; i < in.table.rows; ++i) orders[c][start[ranks[i]]++] = static_cast<Index>(i);
    }
    return orders;
}

// What is known of a node while one column is swept.
struct Sweep {
    double left_weight = 0, left_squares = 0, right_squares = 0;
    Index last_rank = 0;
    bool started = false;
};

struct Chosen {
    double score = -1;  // sum of squared class weights over weight, both sides: larger is purer
    std::int32_t column = -1;
    Index low = 0, high = 0;
};

class Grower {
  public:
    Grower(const SamplerInput& input, const std::vector<std::vector<Index>>& orders)
        : in_(input), orders_(orders), classes_(input.table.n_classes), weight_(input.table.rows),
          node_(input.table.rows) {}

    // Column and rank of each node, which are -1 before.
    void grow(std::uint64_t seed, std::int32_t* column, std::int32_t* rank) {
        std::mt19937_64 random(seed);
        draw(random);
        std::vector<std::size_t> columns(in_.table.columns);
        std::iota(columns.begin(), columns.end(), std::size_t{0});
        for (std::size_t i = 0; i < in_.table.rows; ++i) node_[i] = weight_[i] > 0 ? 0 : kOut;
        for (int level = 0; level < in_.depth; ++level) {
            const std::size_t first = (std::size_t{1} << level) - 1, count = std::size_t{1} << level;
            count_classes(count);
            std::vector<Chosen> chosen(count);
            // Ties between columns are broken by chance, as scikit-learn does.
            std::shuffle(columns.begin(), columns.end(), random);
            for (const std::size_t c : columns) sweep(c, chosen);
            for (std::size_t j = 0; j < count; ++j) {
                if (chosen[j].column < 0) continue;
                column[first + j] = chosen[j].column;
                rank[first + j] = static_cast<std::int32_t>(cut(chosen[j]));
            }
            descend(chosen);
        }
    }

  private:
    static constexpr Index kOut = ~Index{0};

    // Draws table rows without replacement; a merged row gets the part of its weight that was drawn.
    void draw(std::mt19937_64& random) {
        std::int64_t left = 0;
        for (std::size_t i = 0; i < in_.table.rows; ++i) left += in_.table.counts[i];
        std::int64_t wanted = std::max<std::int64_t>(1, std::llround(in_.share * static_cast<double>(left)));
        std::uniform_real_distribution<double> uniform(0.0, 1.0);
        for (std::size_t i = 0; i < in_.table.rows; ++i) {
            std::int64_t drawn = in_.table.counts[i];
            if (wanted < left) {
                drawn = 0;
                for (std::int64_t r = 0; r < in_.table.counts[i]; ++r)
                    drawn += uniform(random) * static_cast<double>(left - r) < static_cast<double>(wanted - drawn);
            }
            left -= in_.table.counts[i];
            wanted -= drawn;
            weight_[i] = static_cast<double>(in_.table.weights[i]) * static_cast<double>(drawn) /
                         static_cast<double>(in_.table.counts[i]);
        }
    }

    // Weights of the classes in the nodes of a level; a node that is pure gets weight 0 and stays a leaf.
    void count_classes(std::size_t nodes) {
        total_.assign(nodes * classes_, 0.0);
        for (std::size_t i = 0; i < in_.table.rows; ++i)
            if (node_[i] != kOut) total_[node_[i] * classes_ + in_.table.classes[i]] += weight_[i];
        node_weight_.assign(nodes, 0.0);
        squares_.assign(nodes, 0.0);
        for (std::size_t j = 0; j < nodes; ++j) {
            double largest = 0;
            for (std::size_t c = 0; c < classes_; ++c) {
                const double w = total_[j * classes_ + c];
                node_weight_[j] += w;
                squares_[j] += w * w;
                largest = std::max(largest, w);
            }
            if (node_weight_[j] - largest <= kPure * node_weight_[j]) node_weight_[j] = 0;
        }
    }

    // Each row goes to the child that the split of its node sends it to, or is done with where there is none.
    void descend(const std::vector<Chosen>& chosen) {
        for (std::size_t i = 0; i < in_.table.rows; ++i) {
            if (node_[i] == kOut) continue;
            const Chosen& split = chosen[node_[i]];
            if (split.column < 0) {
                node_[i] = kOut;
                continue;
            }
            const Index* ranks = in_.table.ranks + split.column * std::size_t{in_.table.rows};
            node_[i] = static_cast<Index>(2 * node_[i] + (ranks[i] > split.low));
        }
    }

    void sweep(std::size_t c, std::vector<Chosen>& chosen) {
        const Index* ranks = in_.table.ranks + c * in_.table.rows;
        sweeps_.assign(chosen.size(), {});
        for (std::size_t j = 0; j < chosen.size(); ++j) sweeps_[j].right_squares = squares_[j];
        left_.assign(total_.size(), 0.0);
        for (const Index i : orders_[c]) {
            const Index j = node_[i];
            if (j == kOut || node_weight_[j] <= 0) continue;
            Sweep& at = sweeps_[j];
            const Index rank = ranks[i];
            if (at.started && rank != at.last_rank) {
                const double score =
                    at.left_squares / at.left_weight + at.right_squares / (node_weight_[j] - at.left_weight);
                if (score > chosen[j].score * (1 + 1e-12))
                    chosen[j] = {score, static_cast<std::int32_t>(c), at.last_rank, rank};
            }
            at.started = true;
            at.last_rank = rank;
            const double w = weight_[i];
            double& left = left_[j * classes_ + in_.table.classes[i]];
            const double right = total_[j * classes_ + in_.table.classes[i]] - left;
            at.left_squares += w * (2 * left + w);
            at.right_squares -= w * (2 * right - w);
            at.left_weight += w;
            left += w;
        }
    }

    // CART cuts halfway between two values it saw; values that were not drawn may lie between them.
    Index cut(const Chosen& split) const {
        const double* values = in_.table.values[split.column];
        const double middle = values[split.low] / 2 + values[split.high] / 2;
        Index rank = split.low;
        while (rank + 1 < split.high && values[rank + 1] <= middle) ++rank;
        return rank;
    }

    const SamplerInput& in_;
    const std::vector<std::vector<Index>>& orders_;
    std::size_t classes_;
    std::vector<double> weight_;
    std::vector<Index> node_;
    std::vector<double> total_, left_, node_weight_, squares_;
    std::vector<Sweep> sweeps_;
};

}  // namespace

SampledTrees sample_trees(const SamplerInput& input, std::uint64_t seed, std::size_t first, std::size_t n_trees,
                          unsigned threads) {
    const std::vector<std::vector<Index>> orders = orders_of(input);
    const std::size_t nodes = (std::size_t{1} << input.depth) - 1;
    SampledTrees trees{std::vector<std::int32_t>(n_trees * nodes, -1), std::vector<std::int32_t>(n_trees * nodes, -1)};
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        Grower grower(input, orders);
        for (std::size_t i = next++; i < n_trees; i = next++)
            grower.grow(splitmix(seed + kSplitmixStep * (first + i + 1)), trees.column.data() + i * nodes,
                        trees.rank.data() + i * nodes);
    };
    std::vector<std::thread> helpers;
    for (unsigned t = 1; t < std::min<std::size_t>(threads, n_trees); ++t) helpers.emplace_back(work);
    work();
    for (std::thread& helper : helpers) helper.join();
    return trees;
}

}  // namespace provetree::colgen
