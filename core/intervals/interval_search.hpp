// Depth three and more: best-first search over intervals of thresholds of all columns together.
//
// An interval lies between two evaluated thresholds of one column and one division of the split budget. Its lower bound
// comes from its ends; the interval of the lowest bound is shrunk by the Lipschitz bounds, its middle is evaluated by
// solving both children, and its two halves go back into the heap. The search ends when the lowest bound is no better
// than the best tree.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

#include "loss/loss.hpp"
#include "proof/checkpoint.hpp"
#include "run/context.hpp"
#include "run/request.hpp"
#include "sweeps/depth_two.hpp"
#include "sweeps/open_splits.hpp"
#include "sweeps/profile.hpp"
#include "tree/plan.hpp"

namespace provetree {

class LazyRows;

class TreeSearch {
  public:
    TreeSearch(Context& context, NodeBuilder& builder) : context_(context), builder_(builder), depth_two_(context) {}

    Loss loss;

    // Solves a node for trees of a shape, exactly where the optimum is below `limit`. level counts from 0 at the root.
    Outcome solve(const Node& node, Shape shape, Cost limit, Relatives relatives, bool keep_profile, std::size_t level);

    // The root of a search: keeps `start` as the first incumbent, reports to `listener`, keeps its profile, and
    // survives a stop with what it has: then `stopped` tells why, and the outcome's bounds are valid but apart. With
    // `ties` it also finds the split the tie rule prefers. With `lazy` its children are solved on a sample of the rows.
    // With a `limit` it looks for trees below it only: where there is none, the limit is what is proven.
    Outcome solve_root(const Node& node, Shape shape, const Outcome& start, const Listener& listener,
                       std::unique_ptr<StopSearch>& stopped, TieChoice* ties, LazyRows* lazy, Cost limit = kInfinite);

    // Among all optimal trees of cost `best.upper` or less, the one the tie rule prefers; `known` bounds the splits of
    // this node.
    PlanPtr canonical(const Node& node, Shape shape, const Outcome& best, Relatives known, std::size_t level);

    // The rest of that tree, given the split it begins with: the outcome and choice of a search with ties.
    PlanPtr canonical_below(const Node& node, Shape shape, const Outcome& best, const TieChoice& ties,
                            std::size_t level);

    // Bounds of splits of the root that are known before its search begins; may be null.
    ProfilePtr known_of_root;

    // What an earlier search of the root has left on disk; it is taken up where this one comes to the same nodes.
    Checkpoint known_proof;

    // Children of the nodes at hand, by level.
    Levels levels;

  private:
    struct Interval {
        Cost bound;
        std::uint32_t family;
        std::uint32_t a, b;  // evaluated points, or the ends of the column
        Index size;
        Positions open;       // all splits that can still win lie between these
        std::uint32_t order;  // of its column, the most promising first
        bool operator<(const Interval& other) const {
            if (bound != other.bound) return bound > other.bound;
            return order != other.order ? order > other.order : size < other.size;
        }
    };
    // The splits of one column with one division of the split budget.
    struct Family {
        Index column;  // index into the node's columns
        Shape left, right;
        std::vector<DeepPoint>
            hints;                // bounds taken over from relatives, by position: they bound splits but evaluate none
        std::uint32_t order = 0;  // of its column, the most promising first
    };
    // What is open between two points: the least bound (penalty included), the stretch of splits that has it, and all
    // that is open.
    struct Opening {
        Cost bound;
        Positions stretch;
        Positions all;
    };
    struct Frame;
    struct Attempt;
    struct Crew;
    struct Mate;
    struct Chain;
    class Visit;

    Outcome search(const Node& node, Shape shape, Cost limit, Relatives relatives, bool keep_profile, std::size_t level,
                   const Outcome& start, const Listener* listener, std::unique_ptr<StopSearch>* stopped,
                   TieChoice* ties, LazyRows* lazy);
    void make_families(Frame& frame, Relatives relatives);
    // What is known of a node with many columns before any of its splits is tried.
    struct Survey {
        Cost whole = 0;                    // what all rows cost with a level less, at least
        std::vector<std::uint32_t> order;  // by column of the node; empty where nothing is known
    };
    Survey survey(const Frame& frame);
    std::vector<DeepPoint> take_over(const Node& node, const NodeColumn& column, std::int64_t left_splits,
                                     Relatives relatives) const;
    bool look_between(const Frame& frame, std::uint32_t family, const DeepPoint& a, const DeepPoint& b,
                      Positions within, Opening& opening) const;
    void push(Frame& frame, std::uint32_t family, std::uint32_t a, std::uint32_t b, Positions within) const;
    Index choose_position(const Frame& frame, const Interval& interval, const Opening& opening) const;
    void evaluate(Frame& frame, const Interval& interval, Index position);
    struct Sides {
        Outcome left, right;
        Cost least_left, least_right;  // bounds known before, or proven
        Weight weight;                 // of the rows going left
        Cost total() const {
            return left.upper >= kInfinite || right.upper >= kInfinite ? kInfinite : left.upper + right.upper;
        }
    };
    Attempt prepare(Frame& frame, const Interval& interval, Index position);
    Sides solve_sides(const Frame& frame, const Attempt& attempt, const Sides* on_fewer_rows);
    bool settle(Frame& frame, const Attempt& attempt, Sides& sides);
    bool next(Frame& frame, Interval& interval, Index& position) const;
    void tell(Frame& frame, const Listener& listener, Cost busy, Cost& proven) const;
    void search_together(Frame& frame, const Listener& listener, Cost& current, Cost& proven);
    void take_part(Frame& frame, Crew& crew, std::size_t who, const Listener* listener, Cost& proven);
    bool settle_on_all_rows(Frame& frame, const Interval& interval, Index position, const Sides& sides, PlanPtr& plan);
    void grow_sample(Frame& frame, Cost wanted);
    void sample_has_grown(Frame& frame, Weight added) const;
    void accept(Frame& frame, std::uint32_t family, Index position, Cost cost, PlanPtr plan) const;
    void take_found(Frame& frame) const;
    void save(const Frame& frame) const;
    KnownNode known_of(const Frame& frame) const;
    void take_up(Frame& frame, const KnownNode& known);
    void take_up(Frame& frame, std::uint32_t family, std::vector<DeepPoint> ends, const KnownNode& known);
    bool next_resumed(Frame& frame, Interval& interval, Index& position) const;
    Cost bound_of_small_sides(const Frame& frame) const;
    ProfilePtr make_profile(const Frame& frame) const;
    TieChoice choice_of(const Node& node, const Outcome& best) const;
    Cost relaxed_leaf(const Node& node) const { return loss.error_scale * node.leaf_error(); }

    Context& context_;
    NodeBuilder& builder_;
    DepthTwo depth_two_;
    std::shared_ptr<Chain> chain_;  // of a proof that is kept on disk, while it goes on; null otherwise
};

}  // namespace provetree
