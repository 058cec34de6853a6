// Claims from the search on bits. Each node is gone through once more with its bound as the target: what was counted
// for the last two levels is still known then, so that this takes a part of the search's time.
//
// Most splits of a node are closed by what is claimed for the sides of another one ("other rows" in
// docs/certificate.md); the rest get claims about their own sides.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bits/bit_recursion.hpp"
#include "certify/claims.hpp"

namespace provetree {

class BitClaims {
  public:
    // The loss of the recursion is that of the certificate.
    BitClaims(BitRecursion& recursion, ClaimLog& log) : recursion_(recursion), log_(log) {}

    // Writes a claim that no tree of the node costs less than `bound`, and all it rests on. Throws std::logic_error
    // where one does.
    ClaimNumber claim(BitNode& node, const Where& where, Shape shape, Cost bound, std::size_t level);

  private:
    // A split whose sides have claims, once they are needed.
    struct Tried {
        std::uint32_t feature;
        const Division* share;
        SideCosts sides;
        bool used[2] = {false, false};
        ClaimNumber claims[2] = {0, 0};
    };
    // A side of a split that is bounded by a side of another one.
    struct Borrowed {
        std::size_t from = 0;
        bool right = false;
        Cost bound = 0;
    };
    struct Closed {
        std::uint32_t feature;
        Borrowed sides[2];
    };

    Tried solve(BitNode& node, const Division& share, std::uint32_t feature, Cost bound, std::size_t level);
    // Rows of a node that have two features: by the splits that were tried, then by all features.
    using Together = std::vector<std::int16_t>;
    Borrowed borrow(const BitNode& node, std::span<const Tried> tried, const Together& together, std::uint32_t feature,
                    bool right, Cost enough) const;
    void claim_sides(BitNode& node, const Where& where, Tried& split, std::size_t level);
    ClaimBounds bounds(Cost lower) const { return {recursion_.nodes().any_leaf_size() ? lower : 0, lower}; }
    Where side(const Where& where, std::uint32_t feature, bool right) const {
        const Feature& of = recursion_.nodes().features()[feature];
        return side_of(where, of.column, of.rank, right, recursion_.context().table.tops[of.column]);
    }
    std::size_t features() const { return recursion_.nodes().features().size(); }

    BitRecursion& recursion_;
    ClaimLog& log_;
};

}  // namespace provetree
