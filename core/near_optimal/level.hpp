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
    bool on_bits = false;
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
    std::uint64_t bytes = 0;  // of the splits
    std::uint64_t sides = 0;  // nodes counted
};

// The splits of a node did not fit in the memory that they may take.
struct OutOfMemory {};

// Takes the splits of a node: into a sum, and where they are wanted into a list.
class LevelSum {
  public:
    LevelSum(const LevelRequest& request, Level& level)
        : sum_(request.rules, level.trees), limit_(request.limit), keeps_(request.keeps_splits),
          memory_limit_(request.memory_limit), level_(level) {}

    void take(const Question& question, const SideTrees& left, const SideTrees& right) {
        if (!sum_.add(question, left, right, limit_) || !keeps_) return;
        level_.splits.push_back({question,
                                 {left.leaf, left.label, left.grown, {}},
                                 {right.leaf, right.label, right.grown, {}},
                                 sum_.last_least_with()});
        level_.bytes += sizeof(LevelSplit) + (left.grown.size() + right.grown.size()) * sizeof(CostCount) +
                        sum_.last_least_with().size() * sizeof(std::pair<Index, Cost>);
        if (level_.bytes > memory_limit_) throw OutOfMemory{};
    }

  private:
    TreeSum sum_;
    Cost limit_;
    bool keeps_;
    std::uint64_t memory_limit_;
    Level& level_;
};

}  // namespace provetree
