// The claims of a certificate as they are collected, and their bytes; docs/certificate.md is the format.
#pragma once

#include <cstdint>
#include <map>
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

struct ClaimedPoint {
    std::int64_t rank;  // -1: no row goes left
    ClaimNumber left = 0, right = 0;
};
struct ClaimedGroup {
    Index column;
    std::int64_t left_splits;
    std::vector<ClaimedPoint> points;  // by rank
};

class ClaimLog {
  public:
    // A claim that a checker works out anew.
    ClaimNumber add(const Where& where, Shape shape, ClaimBounds bounds);
    // A claim with its cover: what its trees are on so few rows, a claim about the same rows with a level less (0:
    // none), and the points.
    struct Cover {
        Shape shape;
        ClaimNumber whole = 0;
        std::vector<ClaimedGroup> groups;
    };
    ClaimNumber add(const Where& where, Shape shape, ClaimBounds bounds, const Cover& cover);
    // A claim about the same rows and shape with bounds that are no less; 0 where there is none.
    ClaimNumber find(const Where& where, Shape shape, ClaimBounds bounds) const;

    std::uint64_t size() const { return claims_; }
    const std::string& bytes() const { return bytes_; }
    static void put(std::string& bytes, std::uint64_t number);

  private:
    using Key = std::pair<Where, std::pair<int, std::int64_t>>;
    void state(const Where& where, Shape shape, ClaimBounds bounds);
    ClaimNumber keep(const Where& where, Shape shape, ClaimBounds bounds);

    std::map<Key, std::pair<ClaimNumber, ClaimBounds>> known_;
    std::uint64_t claims_ = 0;
    std::string bytes_;
};

// What a search leaves for a certificate: the claims, and the rows of the table (with which weight) they are about.
struct Certified {
    Cost bound = 0;                     // no tree costs less
    std::vector<std::int64_t> weights;  // of the rows of the proof; empty: those of the table
    std::uint64_t claims = 0;
    std::string bytes;
};

}  // namespace provetree
