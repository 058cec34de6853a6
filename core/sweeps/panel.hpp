// The panel: up to 64 candidate splits of a node, any mix of columns and thresholds. Evaluating it gives, for each of
// them, the exact depth-one optimum of its left rows and of its right rows.
#pragma once

#include <vector>

#include "run/context.hpp"
#include "sweeps/node.hpp"

namespace provetree {

struct Lane {
    Index column;    // index into the node's columns; lanes of a panel are sorted by (column, position)
    Index position;  // rows going left
    Weight reach;  // up to this many errors beyond those of interest are worth knowing: they settle neighbouring splits
};

// Errors (weights) on one side of a split.
struct SideErrors {
    Weight leaf;   // as a single leaf
    Weight stump;  // with at most one split, whatever the leaf sizes; a lower bound beyond the errors of interest
    Weight feasible_split;        // with exactly one split that respects the minimum leaf size; -1 where there is none
    bool feasible_leaf;           // enough rows for a leaf
    Weight labelled[2] = {0, 0};  // as a leaf that predicts the first or the second class; only under rules
};

struct LaneResult {
    SideErrors left, right;
};

class Panel {
  public:
    explicit Panel(Context& context) : context_(context) {}
    // Forgets what was kept about the node before; call it once for each node.
    void start() {
        n_pairs_ = 0;
        columns_.clear();
    }
    // At most kLanes lanes. Splits with more than `of_interest` + reach errors may be given bounds instead.
    void evaluate(const Node& node, const Lane* lanes, int n_lanes, Weight of_interest, LaneResult* results);

  private:
    bool mark_row_by_row(const Node& node, const Lane* lanes, int n_lanes);
    void mark_left_rows(const Node& node, const Lane* lanes, int n_lanes);
    void evaluate_two_classes(const Node& node, const Lane* lanes, int n_lanes, LaneResult* results);
    bool evaluate_pairs(const Node& node, const Lane* lanes, int n_lanes, Weight of_interest, LaneResult* results);
    void evaluate_many_classes(const Node& node, const Lane* lanes, int n_lanes, LaneResult* results);
    void evaluate_columns(const Node& node, const std::vector<const NodeColumn*>& columns, const Lane* lanes,
                          int n_lanes, LaneResult* results);
    // Under rules (sweeps/ruled_panel.cpp):
    void evaluate_ruled(const Node& node, const Lane* lanes, int n_lanes, LaneResult* results);
    void evaluate_below(const Node& node, const Lane* lanes, int n_lanes, LaneResult* results);
    void evaluate_directions(const Node& node, const Lane* lanes, int n_lanes, LaneResult* results);
    void evaluate_plainly(const Node& node, int n_lanes, LaneResult* results);
    void swept(Index rows) {
        context_.counters.row_steps += rows;
        context_.monitor.work(rows);
    }

    // A node's columns with the rows of two classes only, made when first wanted.
    struct PairColumns {
        int up, down;
        std::vector<std::uint32_t> storage;
        std::vector<SweepColumn> columns;
    };
    const std::vector<SweepColumn>& pair_columns(const Node& node, int up, int down, Weight rows);
    // All columns of a node as sweeps of two classes see them, made when first wanted.
    const std::vector<SweepColumn>& all_columns(const Node& node);

    Context& context_;
    std::vector<SweepColumn> columns_;
    std::vector<LaneResult> at_price_;
    std::vector<const NodeColumn*> ruled_, every_;  // columns that second splits may be on
    std::vector<PairColumns> pairs_;
    std::size_t n_pairs_ = 0;
    std::vector<std::uint64_t> left_masks_;
    std::vector<unsigned char> scratch_;
};

}  // namespace provetree
