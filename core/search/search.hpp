// The whole search of one problem: greedy start, proof of the optimal cost, then the tree among the optimal ones that
// the tie rule prefers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/limits.hpp"
#include "certify/claims.hpp"
#include "loss/loss.hpp"
#include "proof/handover.hpp"
#include "run/context.hpp"
#include "table/table.hpp"
#include "tree/plan.hpp"

namespace provetree {

struct SearchOptions {
    int max_depth = 3;
    std::int64_t max_splits = 7;
    std::int64_t min_leaf = 1;
    Loss loss;
    Cost rounded_units = 0;  // that the sweeps of a measure may be wrong by, for each leaf
    double time_limit = 0;
    std::uint64_t max_work = 0;      // row steps after which the search ends; 0: no limit
    std::uint64_t memory_limit = 0;  // bytes that kept bounds may take; the nodes themselves are bounded by the depth
    Cost below = kInfinite;          // trees that cost less are looked for: where there is none, that is what is proven
    HandoverPtr known;               // from a search of the same rows with more columns; null: nothing
    bool hands_over = false;         // what is proven of the root's splits, from depth three on
    PlanPtr initial;                 // a tree to begin with, within the limits; null: none
    int n_jobs = 1;                  // threads
    std::string checkpoint;          // file that the proof is kept in and taken up from; empty: none
    double checkpoint_seconds = 20;
    unsigned switches = 0;
    std::optional<Rules> rules;        // that the tree must keep; not of measured losses
    bool certify = false;              // leave claims from which anyone can see what is proven; not of measured losses
    TaskExchange* exchange = nullptr;  // has the splits of the root solved elsewhere, by sweeps
    ClosingListener* closings = nullptr;  // told what the proof closes, which is then made by one thread
    std::string kernel = "auto";
};

struct ProgressPoint {
    double seconds;
    Cost cost;
    Cost bound;
};

struct SearchResult {
    FlatTree tree;
    Cost lower_bound = 0;
    Status status = Status::kOptimal;
    bool tie_rule_complete = false;
    Loss proof_loss;  // what bounds of regions are told in: it may count splits to choose among equally good trees
    std::vector<ProgressPoint> history;
    Counters counters;
    HandoverPtr handover;  // null: not asked for, not proven, or proven on bits
    Certified certified;   // where it was asked for; its weights are those of the rows of the table given
    double certify_seconds = 0;
};

// Called about every 20 ms with the latest progress; returns false to interrupt.
using Tick = std::function<bool(const ProgressPoint&)>;

// Throws std::invalid_argument where the options cannot be met at all (fewer rows than one leaf needs).
SearchResult run_search(const Table& table, const SearchOptions& options, const Tick& tick);

}  // namespace provetree
