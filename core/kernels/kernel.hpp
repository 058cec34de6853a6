// The primitives that are compiled once per instruction set (baseline, AVX2, AVX-512) and chosen at run time.
// All versions give the same answers; only their speed differs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/types.hpp"

namespace provetree {

// A column of a node as a sweep sees it: entries in the column's order (see entry.hpp).
struct SweepColumn {
    const std::uint32_t* order;
    Index rows;
    Index checks;          // how many entries carry the check flag
    bool every_row_valid;  // no ties: each position is a split, so a sweep may look at every row
    // A long run of ties, empty where there is none. Sweeps of two classes pass it by: they go from both ends up to it,
    // once totals are known.
    Index run_begin = 0, run_end = 0;
};

// Two classes: extremes, over all columns swept, of the running sum (weight of the one class minus weight of the other)
// among each lane's left and right rows, and the total of that sum. Callers start extremes at 0 (the empty prefix). A
// column with a run of ties needs the totals and leaves them as they are.
struct alignas(64) TwoClassSums {
    std::int32_t max_left[kLanes];
    std::int32_t min_left[kLanes];
    std::int32_t max_right[kLanes];
    std::int32_t min_right[kLanes];
    std::int32_t total_left[kLanes];
    std::int32_t total_right[kLanes];
};

// Any number of classes: the largest correctly classified weight of a depth-one tree on each lane's left and right rows
// over all columns swept, with and without the minimum leaf size, and of a single leaf. Callers start the best values
// at 0 (constrained: kNoSplit).
struct alignas(64) ManyClassSums {
    std::int32_t best_left[kLanes];
    std::int32_t best_right[kLanes];
    std::int32_t feasible_left[kLanes];
    std::int32_t feasible_right[kLanes];
    std::int32_t leaf_left[kLanes];
    std::int32_t leaf_right[kLanes];
    std::int32_t rows_left[kLanes];   // only filled under a minimum leaf size
    std::int32_t rows_right[kLanes];  // likewise
};
inline constexpr std::int32_t kNoSplit = -(1 << 30);

// What the rows of a node are, by row number.
struct RowData {
    const std::uint32_t* classes;
    const Weight* weights;
    const std::int32_t* counts;
};

// The splits of a panel: the column of each lane, and the highest rank that goes left. Lanes beyond `lanes` are unused.
struct alignas(64) LaneRanks {
    std::uint16_t column[kLanes] = {};
    std::uint16_t rank[kLanes] = {};
    int lanes = 0;
};

// How wide the running sums of a sweep must be.
enum class LaneWidth { k8, k16, k32 };

// Memory that sweep_classes needs: a vector (of up to 64 bytes) per class and two per checked position.
inline std::size_t sweep_scratch_bytes(std::size_t n_classes, std::size_t checks) {
    return (2 * n_classes + 2 * checks + 2) * 64;
}

struct Kernel {
    const char* name;

    // Two classes, all weights one: 8-bit lanes, widened block by block. Rows of class code `up` count up, of `down`
    // down, others not at all.
    void (*sweep_unit)(const SweepColumn& column, const std::uint64_t* left_masks, int up, int down, int lanes,
                       TwoClassSums& sums);

    // Two classes, any weights. steps[row] is the signed weight; k8 needs |step| <= 127.
    void (*sweep_weighted)(const SweepColumn& column, const std::uint64_t* left_masks, const std::int32_t* steps,
                           LaneWidth width, int lanes, TwoClassSums& sums);

    // Any number of classes; min_leaf > 1 also fills the feasible values. scratch holds sweep_scratch_bytes().
    void (*sweep_classes)(const SweepColumn& column, const std::uint64_t* left_masks, const RowData& rows,
                          int n_classes, std::int32_t min_leaf, LaneWidth width, int lanes, unsigned char* scratch,
                          ManyClassSums& sums);

    // Sends the entries of a sorted order (and their ranks) to the two children. new_rows[row] is the row's number in
    // its child, with the top bit set for the right child. Outputs need 16 entries of slack.
    void (*partition)(const std::uint32_t* order, const Index* ranks, Index rows, const std::uint32_t* new_rows,
                      std::uint32_t* left_order, Index* left_ranks, std::uint32_t* right_order, Index* right_ranks);

    // Marks each row with the lanes in which it goes left: those whose rank in their column is at most the lane's. The
    // ranks of row ids[i] of the table stand at ranks + ids[i] * width. Null where it takes longer than lane by lane.
    void (*mark_rows)(const std::uint16_t* ranks, int width, const Index* ids, Index rows, const LaneRanks& lanes,
                      std::uint64_t* left_masks);

    // Keeps the entries of the rows that are chosen: new_rows[row] is the row's number among them, with the top bit set
    // for the others. before[i] is told how many come before entry i. Outputs need 16 entries of slack.
    void (*choose)(const std::uint32_t* order, const Index* ranks, Index rows, const std::uint32_t* new_rows,
                   std::uint32_t* chosen_order, Index* chosen_ranks, std::int32_t* before);

    // Keeps the entries whose class code is one of two; returns how many. Outputs need 16 entries of slack.
    Index (*keep_classes)(const std::uint32_t* order, const Index* ranks, Index rows, int one, int other,
                          std::uint32_t* kept_order, Index* kept_ranks);

    // Adds the number of entries of each class code below n_codes to counts; there are no others.
    void (*count_codes)(const std::uint32_t* order, Index rows, int n_codes, std::int32_t counts[8]);

    // Sets the check flags of an order from its ranks and class codes; tells how many were set and how many groups of
    // ties there are. ranks[-1] and ranks[rows], ranks[rows + 1] must exist and differ from their neighbours. With
    // every_end, each end of a group of ties is checked.
    void (*flag)(std::uint32_t* order, const Index* ranks, Index rows, bool every_end, Index& checks, Index& groups);
};

// Kernels this machine can run, slowest first: "baseline", then "avx2", "avx512" where present.
std::vector<std::string> available_kernels();

// The kernel of that name, the fastest one for "auto"; throws std::invalid_argument where the name is unknown or cannot
// run here.
const Kernel& choose_kernel(const std::string& name);

namespace kernels {
extern const Kernel baseline;
#if defined(PROVETREE_X86_KERNELS)
extern const Kernel avx2;
extern const Kernel avx512;
#endif
}  // namespace kernels

}  // namespace provetree
