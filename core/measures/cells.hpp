// Nodes of depth two and three on tables of few values, under squared error.
//
// Every node of depth two below a node of depth three is bounded from sums over pairs of columns (kernels/cell_kernel),
// which go from one threshold to the next by adding the rows between. The bounds are so close that hardly more than the
// best split of the node of depth three is left; that one is solved again from exact sums.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "base/raw_vector.hpp"
#include "loss/loss.hpp"
#include "measures/cell_node.hpp"
#include "measures/cell_rows.hpp"
#include "measures/cell_store.hpp"
#include "run/context.hpp"
#include "sweeps/profile.hpp"
#include "tree/outcome.hpp"

namespace provetree {

class CellSolver {
  public:
    explicit CellSolver(Context& context)
        : context_(context), kernel_(choose_cell_kernel(context.kernel.name)), store_(context.memory_limit / 4) {}

    // Whether nodes of this shape below the root are solved here: not under other losses, with columns of many values
    // or with a minimum leaf size.
    bool fits(Shape shape);

    // Exact where the optimum is below the limit. Nothing where the node is not to be solved here.
    std::optional<Outcome> solve(const Node& node, const NodeRequest& request, const Loss& loss);

  private:
    static constexpr int kSides = 2;  // rows below a feature, and those above it
    using Members = std::vector<Index>;

    // Sums of the cells up to a value of a column; null: of none.
    struct Base {
        const std::int64_t* sums;
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
        int feature;
        std::size_t share;
        bool operator<(const Candidate& other) const {
            return bound != other.bound       ? bound < other.bound
                   : feature != other.feature ? feature < other.feature
                                              : share < other.share;
        }
    };
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
        double cost() const;
    };

    bool begin(const Node& node, const Loss& loss);
    void lay_out();
    void count_work(std::uint64_t cells);

    // Of depth three:
    Outcome solve_three(const Node& node, const NodeRequest& request);
    void list_shares(Shape shape);
    void start_bounds();
    void inherit(const Node& node, const Profile* inner, Shape shape);
    void propagate(int column);
    Cost bound(int feature) const;
    std::vector<int> columns_by_promise() const;
    void settle(int column, int first, int last, Base low, Base high, std::size_t depth);
    bool evaluate(int column, int feature, Base low, Base high, std::size_t depth);
    void sum_up_to(int column, int feature, Base low, Base high, std::size_t depth);
    void copy_sums(const std::int64_t* from, std::int64_t* to) const;
    void bound_side(int feature, int side);
    void know(int feature, int side, const TwoBounds& bounds);
    Outcome prove(const Node& node, const NodeRequest& request);
    ProfilePtr make_profile(const Node& node, Shape shape);

    // Of depth two:
    TwoBounds bounds_of(const float kept[3], double squares) const;
    void sum_pairs(const std::int64_t* sums, PairSums pairs);
    PairSums part_pairs() { return {lanes_[0].data(), lanes_[1].data()}; }
    PairSums all_pairs() { return {lanes_[2].data(), lanes_[3].data()}; }
    CellStumps stumps() { return {stumps_[0].data(), stumps_[1].data(), stumps_[2].data(), stumps_[3].data()}; }
    CellSide side_of(std::int64_t packed);
    void sum_singles(const std::int64_t* sums, std::vector<std::int64_t>& singles) const;
    void set_singles(bool rest);
    // From exact sums: the best tree with at most so many splits.
    Incumbent best_two(const Node& node, const Members& members, int splits);
    double kept_by(int feature, int splits) const;
    void offer_split(const Node& node, const Members& members, int feature, int splits, Incumbent& best);
    Cost best_stump(const Members& members);
    Cost units_of(const Leaf& leaf) const;

    Context& context_;
    const CellKernel& kernel_;
    bool looked_ = false;  // whether the table fits is known
    std::unique_ptr<CellRows> rows_;
    CellNode node_;
    CellStore store_;
    Loss loss_{};
    double to_cost_ = 1;  // cost of one of the kernel's squares

    int features_ = 0;
    std::ptrdiff_t stride_ = 0;
    LineVector<float> lanes_[4];  // pair sums: weights and targets of the part at hand, and of all cells
    LineVector<float> side_weights_, side_targets_;
    LineVector<float> stumps_[4];
    std::vector<std::int64_t> row_;
    std::vector<LineVector<std::int64_t>> sums_;  // by depth of the bisection
    LineVector<std::int64_t> all_sums_, exact_sums_;
    std::vector<std::int64_t> singles_, all_singles_;  // of the rows that have a feature: in the part, and in all
    Members split_members_[kSides];
    bool have_all_ = false;

    std::vector<Share> shares_;
    Cost reach_ = 0;                      // splits that cost as much are of no interest
    std::vector<Cost> least_[kSides][4];  // by feature: with at most so many splits
    std::vector<Cost> gap_[kSides];       // and no more than that above it; kInfinite: not evaluated
    std::vector<std::int64_t> packed_[kSides];
    std::vector<double> squares_[kSides];
    std::vector<CellKey> keys_[kSides];
    CellList sorted_;  // by the column at hand
    std::vector<Index> first_;
    std::vector<Leaf> leaves_;
};

}  // namespace provetree
