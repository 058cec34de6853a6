// The claims of a certificate as they are collected, and their lines; docs/certificate.md is the format.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "base/types.hpp"
#include "tree/plan.hpp"

namespace provetree {

// Rows whose rank in a column lies between two others, both included.
struct Condition {
    Index column, low, high;
    auto operator<=>(const Condition&) const = default;
};

// Conditions by ascending column, at most one for each.
using Where = std::vector<Condition>;

// The rows of a side of a split "rank <= k"; `top` is the highest rank of the column.
Where side_of(const Where& where, Index column, Index rank, bool right, Index top);

// No tree of a shape on some rows costs less than `lower`, and without the minimum leaf size none less than `relaxed`.
struct ClaimBounds {
    Cost relaxed = 0, lower = 0;
    bool reach(const ClaimBounds& others) const { return relaxed >= others.relaxed && lower >= others.lower; }
};

// A claim that was written; none where it is null. Numbers count from 1.
using ClaimNumber = std::uint32_t;

// Claims (0: none) that bound the sides of a split, with one division of the budget.
struct ClaimedPoint {
    Index column;
    std::int64_t left_splits;
    Index rank;
    ClaimNumber left = 0, right = 0;
};

class ClaimLog {
  public:
    // A claim that a checker works out anew.
    ClaimNumber add(const Where& where, Shape shape, ClaimBounds bounds);
    // A claim with its cover: what its trees are on so few rows, and the points.
    struct Cover {
        Shape shape;
        std::vector<ClaimedPoint> points;
    };
    ClaimNumber add(const Where& where, Shape shape, ClaimBounds bounds, const Cover& cover);
    // A claim about the same rows and shape with bounds that are no less; 0 where there is none.
    ClaimNumber find(const Where& where, Shape shape, ClaimBounds bounds) const;

    std::uint64_t size() const { return claims_; }
    // One line for each claim; nothing is left.
    std::string take_text() { return std::exchange(text_, {}); }

  private:
    // The latest claim about some rows and a shape.
    struct Known {
        std::size_t first, last;  // its conditions
        Shape shape;
        ClaimNumber number;
        ClaimBounds bounds;
    };
    void put(std::int64_t number);
    void put_list(std::initializer_list<std::int64_t> numbers);
    void state(const Where& where, Shape shape, ClaimBounds bounds);
    ClaimNumber keep(const Where& where, Shape shape, ClaimBounds bounds);
    // Where such rows and such a shape are among the slots, or may be put.
    std::size_t slot_of(const Condition* where, std::size_t count, Shape shape) const;
    void make_room();

    std::vector<Known> known_;
    std::vector<Condition> conditions_;                                     // of those that are known
    std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(64, 0);  // by hash: one more than its place; 0: free
    std::uint64_t claims_ = 0;
    std::string text_;
};

// What a search leaves for a certificate: the claims, and the rows of the table (with which weight) they are about.
struct Certified {
    Cost bound = 0;                     // no tree costs less
    std::vector<std::int64_t> weights;  // of the rows of the proof; empty: those of the table
    std::uint64_t claims = 0;
    std::string text;
};

}  // namespace provetree
