// Nodes of depth two and three on tables of few values, under squared error.
//
// Every node of depth two below a node of depth three is bounded from sums over pairs of columns (kernels/cell_kernel),
// which go from one threshold to the next by adding the rows between. The bounds are so close that hardly more than the
// best split of the node of depth three is left; that one is solved again from exact sums.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/raw_vector.hpp"
#include "loss/loss.hpp"
#include "measures/cell_frame.hpp"
#include "measures/cell_node.hpp"
#include "measures/cell_part.hpp"
#include "measures/cell_rows.hpp"
#include "measures/cell_store.hpp"
#include "run/context.hpp"
#include "sweeps/profile.hpp"
#include "tree/outcome.hpp"

namespace provetree {

class CellSolver {
  public:
    explicit CellSolver(Context& context)
        : context_(context), kernel_(choose_cell_kernel(context.kernel.name)), store_(context.memory_limit / 4),
          outcomes_(context.memory_limit / 8) {}

    // Whether nodes of this shape below the root are solved here: not under other losses, with columns of many values,
    // or with a minimum leaf size where rows have weights.
    bool fits(Shape shape);

    // Whether the sides of all splits of such a node are.
    bool fits_below(Shape shape) { return shape.depth == 4 && fits(Shape::of(3, shape.splits - 1)); }

    // Exact where the optimum is below the limit. Nothing where the node is not to be solved here.
    std::optional<Outcome> solve(const Node& node, const NodeRequest& request, const Loss& loss);

    // The tree that the tie rule prefers among the best ones. Nothing where the node is not to be solved here.
    std::optional<PlanPtr> preferred(const Node& node, Shape shape, const Loss& loss);

    // Lists the cells of a node whose children, trees of this shape together, are all solved here. None where they are
    // not.
    void list(const Node& node, Shape shape, Levels::Children& kids);
    // Divides these cells into the sides of a split: nodes without columns.
    void divide(const Node& node, Index column, Index rank, Levels::Children& kids) const;

  private:
    enum Side : std::uint8_t { kBelow, kAbove };  // rows up to a threshold, and the others
    using Members = std::vector<Index>;

    // The kernel's cells of the rows up to a value of a column; null: of none, or of all.
    struct Base {
        const std::int64_t* cells;
        int upto;
    };
    // One way to share out the splits of a node of depth three.
    struct Share {
        int below, above;
        std::int64_t left_splits;
    };
    // A split of a node of depth three with its bound.
    struct Candidate {
        Cost bound;
        int split;
        Share share;
        bool operator<(const Candidate& other) const {
            if (bound != other.bound) return bound < other.bound;
            return split != other.split ? split < other.split : share.left_splits < other.share.left_splits;
        }
    };
    // What is known of one side of a split.
    struct Known {
        CellSums sums;
        Cost least[4] = {0, 0, 0, 0};  // with at most so many splits, whatever the leaf sizes
        Cost sized[4] = {0, 0, 0, 0};  // the same with the minimum leaf size, where there is one
        Cost proven(int splits) const { return std::max(least[splits], sized[splits]); }
        Cost gap = kInfinite;  // it costs no more than that above it; kInfinite: not bounded by the kernel
    };
    // Exact sums.
    struct Leaf {
        std::int64_t weight = 0, target = 0;
        Wide squares = 0;
        void operator+=(const CellRows::Cell& cell) {
            weight += cell.weight;
            target += cell.target;
            squares += cell.squares;
        }
        void operator+=(const Leaf& other) {
            weight += other.weight;
            target += other.target;
            squares += other.squares;
        }
        void operator-=(const Leaf& other) {
            weight -= other.weight;
            target -= other.target;
            squares -= other.squares;
        }
        double kept() const;  // of the squares
    };

    void use(const Loss& loss);
    void divide_frame(const Node& node, Index column, Index rank, Levels::Children& kids) const;
    void make_side(const Node& node, const CellRows::Cell& sums, Node& side) const;
    bool find_cells(const Node& node, Shape shape);
    const CellKey& key() const { return side_.frame ? side_key_ : own_.key(); }
    void begin_three();
    void begin_two();
    void begin(const CellNode& node);
    void count_work(std::uint64_t cells);

    // Of depth three:
    Outcome solve_three(const Node& node, const NodeRequest& request);
    void start_bounds();
    void bound_leaf(Known& of) const;
    void inherit(const Profile* inner, Shape shape);
    void propagate(int column);
    Known& known(int split, int side) { return known_[static_cast<std::size_t>(2 * split + side)]; }
    const Known& known(int split, int side) const { return known_[static_cast<std::size_t>(2 * split + side)]; }
    static void raise(Cost& least, Cost to) { least = std::max(least, to); }
    Cost bound(int split, const Share& share) const {
        return known(split, kBelow).proven(share.below) + known(split, kAbove).proven(share.above) +
               loss_.split_penalty;
    }
    Cost bound(int split) const;
    const std::vector<int>& columns_by_promise();
    void settle(int column, int first, int last, Base low, Base high, std::size_t depth);
    bool evaluate(int column, int split, Base low, Base high, std::size_t depth);
    void sum_all();
    void sum_part(int column, int split, Base low, Base high, std::size_t depth);
    void sum_in_frame(int split);
    const std::int64_t* rest_of(const std::int64_t* all, const std::int64_t* part,
                                LineVector<std::int64_t>& rest) const;
    void sum_up_to(int column, int split, Base low, Base high, std::size_t depth);
    void bound_side(int split, Side side);
    static void learn(Known& of, const TwoBounds& bounds);
    Cost least_relaxed() const;
    Outcome prove(const Node& node, const NodeRequest& request);
    void list_sides(const CellPart::Split& split);
    Incumbent best_below(const Candidate& candidate);
    ProfilePtr make_profile(const Node& node, Shape shape);

    // Of the choice among equally good trees (measures/cells_ties.cpp):
    struct Choosing;
    // By how much splits may cost more than the best tree and still be of interest, less one.
    Cost of_equals() const { return ties_ ? 1 : 0; }
    TieChoice choice_of(Index column, const Members sides[2], std::int64_t left_splits) const;
    void offer(const Incumbent& tree, Index column, const Members sides[2], Incumbent& best, TieChoice& choice) const;

    // Of depth two:
    bool large_enough(std::int64_t weight) const { return weight >= min_leaf_; }
    TwoBounds bounds_of(const CellKept& kept, std::int64_t squares) const;
    PairSums part_pairs() { return {lanes_[0].data(), lanes_[1].data()}; }
    PairSums all_pairs() { return {lanes_[2].data(), lanes_[3].data()}; }
    CellStumps stumps() {
        return {stumps_[0].data(), stumps_[1].data(), stumps_[2].data(),
                stumps_[3].data(), stumps_[4].data(), stumps_[5].data()};
    }
    void sum_pairs(const std::int64_t* cells, PairSums pairs, std::vector<std::int64_t>& singles);
    CellSide side_of(std::int64_t packed, bool rest);
    // From exact sums: the best tree with at most so many splits.
    Incumbent best_two(const Members& members, int splits);
    double kept_by(int feature, int splits) const;
    void offer_split(const Members& members, const CellNode::Split& split, int splits, Incumbent& best,
                     TieChoice& choice);
    // A tree of one split: what it costs with the penalty, and where it divides the rows.
    struct OneSplit {
        Cost cost = kInfinite;
        Index column = 0, rank = 0;
        double gap = 0;  // its margin, where the tie rule is asked
    };
    OneSplit best_stump(const Members& members);
    // Where the tie rule is not asked, that is left to when the tree is finished.
    PlanPtr plan_of(const OneSplit& split) const {
        return ties_ ? split_plan(split.column, split.rank, nullptr, nullptr) : stump_plan();
    }
    double gap_above(int column, int value) const;
    Index rank_of_value(int column, int value) const {
        return static_cast<Index>(node_->place_of_value(value) - rows_->first_place(node_->id(column)));
    }
    Cost units_of(const Leaf& leaf) const;

    Context& context_;
    const CellKernel& kernel_;
    bool looked_ = false;  // whether the table fits is known
    std::unique_ptr<CellRows> rows_;
    CellNode own_;  // of a node that is in no frame
    CellFrame frame_;
    const CellNode* node_ = &own_;  // that has the cells of the node at hand
    CellKey side_key_;
    bool ties_ = false;  // the tree that the tie rule prefers is looked for
    FrameSide side_;     // of the frame that the node at hand is; of no frame where it is all of its cells
    CellPart part_;      // the splits of the node at hand
    CellStore store_;
    SolvedCells outcomes_;
    Loss loss_{};
    std::int64_t min_leaf_ = 0;  // 0: leaves of any size
    double to_cost_ = 1;         // cost of one of the kernel's squares

    int features_ = 0;
    std::ptrdiff_t stride_ = 0;
    LineVector<float> lanes_[4];  // pair sums: weights and targets of the part at hand, and of all cells
    LineVector<float> side_weights_, side_targets_;
    LineVector<float> stumps_[6];  // in the order of CellStumps
    float side_weight_ = 0;
    CellKept kept_{};  // of the side at hand
    std::vector<std::int64_t> row_;
    std::vector<LineVector<std::int64_t>> cells_;  // of the kernel, by depth of the bisection
    LineVector<std::int64_t> all_cells_, exact_cells_;
    std::vector<std::int64_t> singles_, all_singles_;  // of the rows that have a feature: in the part, and in all
    bool have_all_ = false;
    Side summed_ = kBelow;  // whose pair sums are at hand

    std::vector<Share> shares_;
    Cost reach_ = 0;  // splits that cost as much are of no interest
    std::vector<Known> known_;
    std::vector<std::pair<double, int>> promises_;
    std::vector<int> promising_;
    Members order_, split_members_[2], side_members_[2];
    std::vector<Index> first_;  // in order_, by value of the column at hand; empty where it is not sorted
    std::vector<Leaf> leaves_;  // by place
};

}  // namespace provetree
