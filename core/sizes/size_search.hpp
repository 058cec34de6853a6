// The search of one node of depth three or more for all sizes at once.
//
// An interval lies between two tried splits of one column. It is open while some pair of sizes of the two sides can
// make a tree that costs less than the best one of its size. The interval of the widest gap is tried in its middle:
// both sides are solved for all sizes, as far as any pair needs it, and its two halves go back into the heap.
//
// First of all the node's own rows are solved with a level less (the survey). Trees of up to D leaves fit into depth
// D - 1, so these sizes are settled; so is every pair of sides of at most D - 1 leaves each. What the survey proves
// bounds the side that has nearly all rows, at both ends of every column.
#pragma once

#include <deque>
#include <vector>

#include "sizes/leaf_sides.hpp"
#include "sizes/open_pairs.hpp"
#include "sizes/size_solver.hpp"

namespace provetree {

template <int Depth>
class SizeSearch {
  public:
    // Begins with the trees that the answer has. With a sample of the rows, sides are solved on the sample, and trees
    // count by their costs on all rows.
    SizeSearch(SizeSolver& solver, const Node& node, const SizeRequest<Depth>& request, SizeAnswer<Depth>& answer,
               LazyRows* lazy);

    // Where the search is stopped, the answer holds the best trees so far and what is proven of each size by then.
    std::shared_ptr<const ProfileOf<Depth>> run();

  private:
    static constexpr int kAll = kSizes<Depth>, kSide = kSizes<Depth - 1>;
    static constexpr std::size_t kOfTree = kAll, kOfSide = kSide;
    using SideProfile = std::shared_ptr<const ProfileOf<Depth - 1>>;

    // A tried split, and what its sides left behind: profiles of a subset and of a superset of their rows.
    struct Tried : SizePoint<kSide> {
        Index column = 0;  // of the table
        SideProfile inner_left, outer_left, inner_right, outer_right;
    };
    struct Interval {
        Cost gap;
        Index column;        // of the table
        std::uint32_t a, b;  // numbers of the tried splits at its ends
        Positions open;
        bool operator<(const Interval& other) const {
            if (gap != other.gap) return gap < other.gap;
            return column != other.column ? column > other.column : a > other.a;
        }
    };
    // A split that is tried now: its sides, and what is proven of them.
    struct Attempt {
        Interval interval;
        Index position = 0;
        Tried point{};
        PerSize<kSide> left{}, right{};  // with the minimum leaf size
        SizeAnswer<Depth - 1> of_left{}, of_right{};
    };

    const Node& node() const { return lazy_ ? lazy_->sample() : node_; }
    bool sampled() const { return lazy_ && !lazy_->complete(); }
    bool lipschitz() const { return !context_.off(kNoLipschitz); }

    void survey();
    void take_survey();
    PerSize<kSide> bounds_at_ends();
    void open();
    void refresh_cuts();
    // Adds the splits between two points where a leaf beside a subtree is open.
    void open_leaves(const NodeColumn& column, const LeafSides& leaves, const SizePoint<kSide>& a,
                     const SizePoint<kSide>& b, OpenSizes& open);
    OpenSizes look(const NodeColumn& column, std::uint32_t a, std::uint32_t b, Positions within);
    void push(Index column, std::uint32_t a, std::uint32_t b, Positions within);
    bool next(Interval& interval, OpenSizes& open);
    Index choose(const NodeColumn& column, const OpenSizes& open) const;
    void try_split(const Interval& interval, Index position);
    void bound_sides(Attempt& attempt) const;
    void solve_sides(Attempt& attempt);
    void solve_side(Attempt& attempt, const Node& rows, bool right);
    void take_trees(Attempt& attempt);
    bool try_on_all(Attempt& attempt);
    void sample_has_grown(Attempt& attempt);
    void settle(Attempt& attempt);
    void finish();
    void stop(const Interval& trying);
    PerSize<kAll> bound_of_small_sides() const;
    std::shared_ptr<const ProfileOf<Depth>> make_profile() const;

    SizeSolver& solver_;
    Context& context_;
    const Loss& loss_;
    const Node& node_;
    const SizeRequest<Depth>& request_;
    LazyRows* lazy_;
    SizeAnswer<Depth>& answer_;
    PerSize<kAll> limits_;
    PerSize<kAll> cut_{};      // trees below this are looked for; 0 where nothing is
    PerSize<kAll> relaxed_{};  // of the splits tried, without the minimum leaf size
    SizeAnswer<Depth - 1> whole_{};
    bool surveyed_ = false;
    CountedPairs pairs_{0, 0};
    bool by_leaves_ = false;
    std::deque<Tried> tried_;
    std::vector<Interval> heap_;
    std::vector<std::vector<SizePoint<kSide>>> hints_;  // of each column, by position: they settle no split
    std::vector<LeafSides> leaves_;
    std::vector<Index> open_leaves_;  // positions found by the last look
};

extern template class SizeSearch<3>;
extern template class SizeSearch<4>;

}  // namespace provetree
