// Claims from what the search by sweeps leaves behind: the bounds of splits in the profiles of its nodes.
//
// Of all bounds of a node's splits, those are kept that close every split of it by the rules of docs/certificate.md,
// each as low as it may be. A side of three levels or more needs claims of its own, which come from its profile. Where
// bounds are missing (profiles are dropped when memory runs out, and say nothing of minimum leaf sizes) sides are
// solved again.
#pragma once

#include <vector>

#include "certify/claims.hpp"
#include "intervals/node_solver.hpp"
#include "sweeps/node.hpp"
#include "sweeps/profile.hpp"

namespace provetree {

// Bounds of splits, in costs of which `unit` make one of the certificate's.
struct KnownSplits {
    ProfilePtr profile;
    Cost unit = 1;
};

class IntervalClaims {
  public:
    // The loss of the solver is that of the certificate. Without `solves`, no side is solved again: what is claimed may
    // be less than what was wanted then.
    IntervalClaims(NodeSolver& solver, ClaimLog& log, bool solves) : solver_(solver), log_(log), solves_(solves) {}

    // Writes a claim about the rows of a node, and all it rests on. Returns what is claimed: `wanted`, or less where
    // that cannot be shown.
    ClaimBounds claim(const Node& node, const Where& where, Shape shape, ClaimBounds wanted, const KnownSplits& known,
                      std::size_t level, ClaimNumber& number);

  private:
    struct Side {
        Cost relaxed = 0, lower = 0;
        KnownSplits known{};
        ClaimNumber claim = 0;
        bool claimed = false;
        ClaimBounds bounds() const { return {relaxed, std::max(relaxed, lower)}; }
    };
    struct Point {
        std::size_t at;  // distinct values on the left
        Side left{}, right{};
        bool solved = false;
    };
    struct Bounds {  // by distinct values on the left
        std::vector<Cost> left, right;
    };
    // The splits of one column with one division of the budget.
    struct Family {
        const NodeColumn* column;
        Division share;
        const std::vector<Index>* ends;  // rows before each split; the first is 0, the last all rows
        std::vector<Point> points;       // by `at`
    };
    struct Task {
        const Node& node;
        const Where& where;
        ClaimBounds wanted;
        Cost whole;
        std::size_t level;
    };

    void take_known(const Task& task, Family& family, const KnownSplits& known) const;
    Bounds bounds_of(const Task& task, const Family& family) const;
    Cost weight(const Task& task, const Family& family, std::size_t at) const {
        return task.node.weight_left(*family.column, (*family.ends)[at]);
    }
    bool fits(const Family& family, std::size_t at) const {
        const Index position = (*family.ends)[at];
        return position >= family.column->first_split && position <= family.column->last_split;
    }
    bool is_closed(const Task& task, const Family& family, const Bounds& bounds, std::size_t at,
                   const Point* point) const;
    void close(Task& task, Family& family);
    void solve_at(const Task& task, Family& family, const Bounds& bounds, std::size_t at);
    ClaimBounds reached(const Task& task, const Family& family) const;
    void thin(const Task& task, Family& family) const;
    void thin_points(const Task& task, Family& family) const;
    Cost needed(const Task& task, const Family& family, std::size_t number, bool right) const;
    void claim_sides(const Task& task, Family& family);
    ClaimNumber claim_side(const Task& task, const Family& family, const Point& point, bool right, Side& side);

    NodeSolver& solver_;
    ClaimLog& log_;
    bool solves_;
    Levels levels_;
};

}  // namespace provetree
