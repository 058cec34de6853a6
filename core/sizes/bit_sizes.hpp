// All sizes at once on bits, for tables whose columns all have few values.
//
// What is counted below a set of conditions gives depth two with one, two and three splits from the same pairs of
// features, so that its vector costs nothing extra. A node of depth three or four tries its splits one after the other,
// as far as some pair of sizes of the two sides can make a tree that costs less than the best one of its size. What is
// proven for both sides of a split raises a floor under those of all others, size by size: the same tree serves the
// rows of another split, and gets at most the rows wrong that only the other has. With a minimum leaf size that does
// not hold and is not used.
#pragma once

#include "bits/bit_recursion.hpp"
#include "sizes/open_pairs.hpp"
#include "sizes/size_answer.hpp"

namespace provetree {

// For tests: each takes away a care without which the proof is wrong.
inline constexpr unsigned kFloorsUnderLeastLeaves = 1u << 29;  // floors although leaves have a least size
inline constexpr unsigned kTooManySettled = 1u << 30;          // pairs of sides that do not fit into the survey

class BitSizes {
  public:
    BitSizes(Context& context, const BitKernel& kernel, const Loss& loss);

    BitNode& root() { return recursion_.nodes().root(); }
    // The best trees of a node of depth three or four that cost less than the limits of their sizes. Where the search
    // is stopped, the answer holds the best trees so far and what is proven by then.
    template <int Depth>
    void solve(BitNode& node, const PerSize<kSizes<Depth>>& limits, std::size_t level, SizeAnswer<Depth>& answer);
    // A plan worked out on all rows.
    FlatTree finish(const PlanPtr& plan);

  private:
    // One node while its splits are tried.
    template <int Depth>
    struct Search;
    // Both sides of a split: what is known of them.
    template <int Depth>
    struct Sides {
        SizeAnswer<Depth - 1> left, right;
        SizeAnswer<Depth - 1>& of(bool right_one) { return right_one ? right : left; }
    };

    template <int Depth>
    void survey(Search<Depth>& search);
    template <int Depth>
    void try_split(Search<Depth>& search, std::uint32_t feature, Sides<Depth>& sides);
    void solve_sides(Search<3>& search, std::uint32_t feature, Sides<3>& sides);
    void solve_sides(Search<4>& search, std::uint32_t feature, Sides<4>& sides);
    // Takes what was counted over, for a node with so many errors as a leaf.
    void take(const ErrorsOfTwo& errors, SizeAnswer<2>& answer) const;

    Context& context_;
    const Loss& loss_;
    BitRecursion recursion_;
    PlanPtr plans_of_two_[4];  // of depth two with so many splits, worked out when a tree is wanted
};

}  // namespace provetree
