// Grows a tree on the rows of a node: upper splits from a guide, from a ranking of the columns, or both; the last two
// levels always optimal.
#pragma once

#include <cstdint>
#include <vector>

#include "intervals/node_solver.hpp"
#include "run/context.hpp"

namespace provetree {

// Trees as the improvement works on them: every part knows its cost, so that a part can be exchanged without looking at
// the rest.
struct Subtree;
using SubtreePtr = std::shared_ptr<const Subtree>;

struct Subtree {
    Cost cost = kInfinite;
    std::int64_t splits = 0;   // counted in full where the split budget binds, and not at all elsewhere
    bool exact = false;        // proven to be the best of its depth for its rows
    std::uint64_t effort = 0;  // steps that went into solving it without coming to an end
    bool split = false;
    Index column = 0;
    Index rank = 0;     // rank <= this goes left
    SubtreePtr left{};  // both or neither: without them the subtree is what `bottom` says, a leaf where that is null
    SubtreePtr right{};
    PlanPtr bottom{};

    bool branches() const { return left != nullptr; }
    PlanPtr plan() const { return branches() ? split_plan(column, rank, left->plan(), right->plan()) : bottom; }
};

// A subtree that the exact search has found, with at most `splits` splits.
inline Subtree found_subtree(Cost cost, std::int64_t splits, const PlanPtr& plan) {
    Subtree subtree;
    subtree.cost = cost;
    subtree.splits = splits;
    subtree.bottom = plan;
    subtree.split = plan && !plan->stump;
    if (subtree.split) {
        subtree.column = plan->column;
        subtree.rank = plan->rank;
    }
    return subtree;
}

// A split with these two subtrees below it.
inline Subtree joined_subtree(Index column, Index rank, const SubtreePtr& left, const SubtreePtr& right) {
    return {.split = true, .column = column, .rank = rank, .left = left, .right = right};
}

// The upper splits of a plan, those above the last two levels of `depth`. Costs are not known yet.
inline SubtreePtr outline(const PlanPtr& plan, int depth) {
    if (!plan || plan->stump || plan->bottom_splits || depth < 3) return std::make_shared<const Subtree>();
    return std::make_shared<const Subtree>(
        joined_subtree(plan->column, plan->rank, outline(plan->left, depth - 1), outline(plan->right, depth - 1)));
}

// How the best split of a column is scored where no guide says what to do.
enum class Purity { kGini, kEntropy };

// A split of a node, and how pure it leaves the sides.
struct Candidate {
    double score;
    Index column;    // index into the node's columns
    Index position;  // rows going left
};

// The best split of every column, best first.
std::vector<Candidate> ranked_splits(Context& context, const Node& node, Purity purity);

// Which split to take where no guide says so: the first of the ranking, except at the nodes named here. A node is named
// by its path: 1 is where the growing starts, 2p and 2p + 1 are the children of p.
struct BranchingPreference {
    Purity purity = Purity::kGini;
    std::vector<std::pair<std::uint64_t, std::size_t>> discrepancies;  // path, place in the ranking

    std::size_t place(std::uint64_t path) const {
        for (const auto& [at, place] : discrepancies)
            if (at == path) return place;
        return 0;
    }
};

class Grower {
  public:
    // `binding`: the split budget is smaller than the depth allows. Then trees are grown for every number of splits,
    // and the best division is chosen.
    Grower(NodeSolver& solver, bool binding) : context_(solver.context()), solver_(solver), binding_(binding) {}

    // The tree that the guide and the preference lead to; null where it would not cost less than `limit`. A guide may
    // be null or end anywhere.
    SubtreePtr grow(const Node& node, Shape shape, const Subtree* guide, const BranchingPreference& preference,
                    Cost limit, std::size_t level) {
        return best_of(options(node, shape, guide, preference, limit, level, 1), limit);
    }

    // The same with a given first split: the guide is about what is below it.
    SubtreePtr grow_below(const Node& node, Shape shape, const Candidate& split, const Subtree* guide,
                          const BranchingPreference& preference, Cost limit, std::size_t level) {
        return best_of(options_below(node, shape.on(node.rows), split, guide, preference, limit, level, 1), limit);
    }

  private:
    // table[b]: the best tree with at most b splits. Without a binding budget there is one entry, for any number.
    using Options = std::vector<SubtreePtr>;
    Options options(const Node& node, Shape shape, const Subtree* guide, const BranchingPreference& preference,
                    Cost limit, std::size_t level, std::uint64_t path);
    Options options_below(const Node& node, Shape shape, const Candidate& split, const Subtree* guide,
                          const BranchingPreference& preference, Cost limit, std::size_t level, std::uint64_t path);
    Options bottom_options(const Node& node, Shape shape, std::size_t level);
    SubtreePtr leaf(const Node& node) const;
    static SubtreePtr best_of(const Options& options, Cost limit);

    Context& context_;
    NodeSolver& solver_;
    bool binding_;
};

// Where the guide's split lies in a node; position 0 where it separates nothing, or leaves too small a side.
Candidate placed(const Node& node, Index column, Index rank);

}  // namespace provetree
