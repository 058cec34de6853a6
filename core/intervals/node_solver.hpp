// Solves nodes of any depth, and both sides of a split. Each thread of a search has one of its own.
//
// A node of depth three or more is solved by its frontier: split by split, each of them by solving both sides. Solving
// a node and solving a split call each other, so they are one class.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "intervals/frontier.hpp"
#include "intervals/pair_bounds.hpp"
#include "intervals/solved_sets.hpp"
#include "loss/loss.hpp"
#include "measures/cells.hpp"
#include "measures/depth_two.hpp"
#include "run/context.hpp"
#include "sweeps/depth_two.hpp"
#include "sweeps/node.hpp"
#include "tasks/split_task.hpp"

namespace provetree {

class ResumeStack;

class NodeSolver {
  public:
    NodeSolver(Context& context, NodeBuilder& builder, const Loss& loss)
        : context_(context), builder_(builder), loss_(loss), depth_two_(context), measured_two_(context),
          cells_(context), solved_(context.memory_limit / 4) {}

    // Exact where the optimum is below the limit.
    Outcome solve(const Node& node, const NodeRequest& request);

    // The same for what needs no search split by split; otherwise `outcome` is empty, and the rest is what that search
    // begins with.
    struct Begun {
        NodeRequest request;
        Outcome leaf;
        std::optional<Outcome> outcome;
    };
    Begun begin(const Node& node, const NodeRequest& request);

    // The same for trees of depth two or more, with the split that the tie rule prefers among all that attain the
    // optimum. At depth three and more `start` is the tree to beat.
    Outcome solve_with_ties(const Node& node, const NodeRequest& request, const Incumbent& start, TieChoice& ties);

    // The preferred tree of a node where cells tell it at once; nothing elsewhere.
    std::optional<PlanPtr> preferred_by_cells(const Node& node, Shape shape) {
        return cells_.preferred(node, shape, loss_);
    }

    // Divides the rows of a node into the sides of a split, and solves them. With a sample of the rows the two are
    // apart: the rows are divided while the sample stands still.
    void divide(const Node& node, const SplitName& split, std::size_t level);
    // The same for many splits of one node: `begin_sides` first, which says how the node itself is searched. Sides that
    // only cells will look at have no columns then.
    void begin_sides(const Node& node, Shape shape, std::size_t level);
    void divide_next(const Node& node, const SplitName& split, std::size_t level);
    SplitAnswer solve_sides(const SplitTask& task, std::size_t columns, std::size_t level, PairBounds* pairs = nullptr);
    // For what is proven of pairs of splits of a node; none where it would not hold or not pay. `known`: of another
    // thread at the same node, which shares it.
    std::unique_ptr<PairBounds> pairs_below(const Node& node, Shape shape, const PairBounds* known = nullptr) const;

    // From now on `solve_sides` at the root heeds a cut that others lower meanwhile; null: nobody does.
    void heed(const std::atomic<Cost>* cut) { cut_now_ = cut; }
    // From now on a split of this level that is handed back leaves its sides open.
    void hand_back_at(std::size_t level) { handed_back_ = level; }

    // What is known before a node with these columns is searched; `rows` are its rows, or a sample of them.
    Survey survey(const std::vector<NodeColumn>& columns, const Node& rows, const NodeRequest& request);

    const Loss& loss() const { return loss_; }
    // From now on under another loss.
    void use(const Loss& loss) {
        loss_ = loss;
        solved_.clear();
    }
    Context& context() { return context_; }
    NodeBuilder& builder() { return builder_; }
    // Children of the nodes at hand, by level.
    Levels& levels() { return levels_; }
    // Where the last solve of depth two stands: the best tree so far, and a bound.
    const Outcome& standing() const {
        return context_.table.measure ? measured_two_.standing() : depth_two_.standing();
    }

    // Lets the search of a node know what the rows of blocks of its columns cost by themselves, once it has tried so
    // many splits that they pay.
    void add_blocks(Frontier& frontier, const Node& node, std::uint64_t tried);

    // Where this solver notes what it is at while a proof is kept on disk; null elsewhere.
    void note_in(ResumeStack* stack) { resume_ = stack; }

  private:
    struct Heeding;

    Outcome solve_shallow(const Node& node, const NodeRequest& request);
    Outcome solve_two(const Node& node, const NodeRequest& request, TieChoice* ties) {
        return node.measure ? measured_two_.solve(node, request, loss_, ties)
                            : depth_two_.solve(node, request, loss_, ties);
    }
    Outcome search(const Node& node, const NodeRequest& request, const Incumbent& start, TieChoice* ties);
    void list_blocks(const Node& rows, Index id, int halvings, std::size_t level, std::vector<BlockEnd>& ends);
    void keep_pairs(const NodeRequest& request, const SplitName& split, const SplitAnswer& answer);
    LeafAbove leaf_above(const SplitTask& task) const;
    Outcome labelled_leaf(const Node& side, int label) const;
    void conclude(const Node& node, const NodeRequest& request, const NodeRequest& on_rows, const Outcome& outcome);
    bool remembers(const Node& node, const NodeRequest& on_rows) const {
        return context_.remembers_sets && node.members && on_rows.shape.depth >= 2;
    }
    // By how much the cut of the task at hand was lowered since it was given out.
    Cost lowered(const SplitTask& task, std::size_t level) const {
        if (!cut_now_ || level > 0 || !task.path.empty() || task.cut >= kInfinite) return 0;
        return std::max<Cost>(0, task.cut - cut_now_->load(std::memory_order_relaxed));
    }

    Context& context_;
    NodeBuilder& builder_;
    Loss loss_;
    DepthTwo depth_two_;
    MeasuredDepthTwo measured_two_;
    CellSolver cells_;
    SolvedSets solved_;
    Levels levels_;
    ResumeStack* resume_ = nullptr;
    const std::atomic<Cost>* cut_now_ = nullptr;
    const Heeding* heeding_ = nullptr;
    std::size_t handed_back_ = ~std::size_t{0};
    ProfilePtr unfinished_;  // what a search knew that a cap has unwound
};

// The preferred tree of cost `best.upper` or less. Relatives bound the splits of the node; the limit says nothing.
PlanPtr preferred_tree(NodeSolver& solver, const Node& node, NodeRequest request, const Outcome& best);

// The rest of that tree, given the split it begins with: the outcome and choice of a search with ties.
PlanPtr preferred_below(NodeSolver& solver, const Node& node, Shape shape, const Outcome& best, const TieChoice& ties,
                        std::size_t level);

}  // namespace provetree
