// What a counter of trees gives: the trees of a node by cost, and on demand each of its splits with those of both
// sides.
#pragma once

#include <cstdint>
#include <vector>

#include "base/limits.hpp"
#include "near_optimal/side_trees.hpp"

namespace provetree {

// The step from a node to one of its sides.
struct Step {
    Index column, rank;
    bool left;
};

struct LevelRequest {
    int depth = 3;
    Cost limit = 0;  // trees of at most this cost
    std::int64_t min_leaf = 1;
    Cost error_scale = 1;
    TreeRules rules;
    std::vector<Step> path;  // from the root to the node
    bool keeps_splits = true;
    double time_limit = 0;
    std::uint64_t memory_limit = 0;
    std::string kernel = "auto";
    unsigned switches = 0;

    // Entries of all sums together: so many bytes each once Python has them.
    std::uint64_t most_entries() const { return memory_limit / 256; }
};

struct LevelSplit {
    Question question;
    SideTrees left, right;                           // without the trees by feature
    std::vector<std::pair<Index, Cost>> least_with;  // the least cost of its trees that ask about a feature
};

enum class LevelStatus { kComplete, kTimeLimit, kInterrupted, kMemoryLimit, kTooMany };

struct Level {
    SideTrees trees;
    std::vector<LevelSplit> splits;
    LevelStatus status = LevelStatus::kComplete;
    std::uint64_t entries = 0;  // of the splits
    std::uint64_t sides = 0;    // nodes counted
};

// Takes the splits of a node: into a sum, and where they are wanted into a list.
class LevelSum {
  public:
    LevelSum(const LevelRequest& request, Monitor& monitor)
        : limits_{monitor, request.most_entries()}, sum_(request.rules, limits_), limit_(request.limit),
          keeps_(request.keeps_splits) {}

    void take(const Question& question, const SideTrees& left, const SideTrees& right) {
        if (!sum_.add(question, left, right, limit_) || !keeps_) return;
        splits_.push_back({question,
                           {left.leaf, left.label, left.grown, {}},
                           {right.leaf, right.label, right.grown, {}},
                           sum_.last_least_with()});
        entries_ += 1 + left.grown.size() + right.grown.size() + sum_.last_least_with().size();
        limits_.check(entries_ + sum_.entries());
    }
    // Hands over what was taken.
    void settle(Level& level) {
        sum_.settle(level.trees);
        level.splits = std::move(splits_);
        level.entries = entries_;
    }

  private:
    SumLimits limits_;
    TreeSum sum_;
    Cost limit_;
    bool keeps_;
    std::vector<LevelSplit> splits_;
    std::uint64_t entries_ = 0;
};

}  // namespace provetree
