// Counts trees on bits, where columns have few values and the weights of rows are their counts: all thresholds are
// binary features, and how many rows of each class have two of them gives every tree of two levels.
#pragma once

#include <array>
#include <vector>

#include "base/raw_vector.hpp"
#include "kernels/bit_kernel.hpp"
#include "near_optimal/level.hpp"
#include "near_optimal/stump_lists.hpp"
#include "run/context.hpp"

namespace provetree {

class BitCounter {
  public:
    // The path of the request must be empty, and its depth two or three.
    BitCounter(Context& context, const ColumnRules& rules, const LevelRequest& request);
    // Counts; what is stopped on its way has counted some of the splits.
    void count();
    Level take() {
        sum_.settle(level_);
        return std::move(level_);
    }
    static bool fits(const Table& table, const LevelRequest& request);

  private:
    struct Rows {
        LineVector<std::uint32_t> rows;  // class by class, with slack at the end
        std::array<int, kMostBitClasses + 1> first{};
    };
    // Rows of each class in all, and those that have two features.
    struct Pairs {
        std::array<int, kMostBitClasses> all{};
        LineVector<std::int16_t> counts;
    };
    // Rows of each class on one side of a split, and those of them that have a feature.
    struct Side {
        std::array<int, kMostBitClasses> all{};
        std::vector<int> have;  // class by class
        int rows = 0;
    };
    struct Candidate {
        int feature;
        Index high;  // the rank above it
        Cost left, right;
    };

    void make_masks();
    void make_root();
    bool has(std::uint32_t row, int feature) const;
    void choose(const Rows& from, int feature, bool with, Rows& out) const;
    void count_pairs(const Rows& rows, Pairs& out);
    void rest_of(const Pairs& whole, const Pairs& part, Pairs& out) const;
    const std::int16_t* pairs_of(const Pairs& pairs, int cls, int feature) const;
    void sides_of(const Pairs& pairs, int feature, Side& left, Side& right) const;
    void whole_of(const Pairs& pairs, Side& side) const;
    // Every split of the rows of a side that counts: use(feature, rows to the left, the rank above it).
    template <class Use>
    void for_each_split(const Side& side, const Use& use) const;
    Cost leaf_cost(const Side& side) const;
    int label(const Side& side) const;
    void best_stumps(const Pairs& pairs, int feature, int& left, int& right) const;
    Cost find_candidates(const Pairs& pairs, std::vector<Candidate>& out);
    void list_stumps(const Side& side, Cost limit, SideTrees& out);
    template <class Take>
    void count_two(const Pairs& pairs, const std::vector<Candidate>& candidates, Cost limit, const Take& take);
    void count_side(const Pairs& pairs, const std::vector<Candidate>& candidates, Cost limit, SideTrees& out);
    void count_three();
    Question question(int feature, Index high) const;

    Context& context_;
    const ColumnRules& rules_;
    const LevelRequest& request_;
    Loss loss_;
    const BitKernel& kernel_;
    int n_classes_, n_features_ = 0, lanes_ = 0, blocks_ = 0;
    std::vector<Index> column_of_, rank_of_;  // of each feature
    std::vector<int> first_feature_;          // of each column, and the end
    LineVector<std::uint32_t> masks_;
    LineVector<std::uint16_t> bits_;
    Rows root_, chosen_;
    Pairs root_pairs_, with_, without_;
    std::array<std::vector<std::int16_t>, kMostBitClasses> single_;  // of the node at hand: rows with each feature
    Side left_side_, right_side_;
    SideTrees left_, right_, left_trees_, right_trees_;
    std::vector<StumpFound> found_;
    LevelSum sum_;
    Level level_;
};

}  // namespace provetree
