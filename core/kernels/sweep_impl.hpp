// The sweep kernel: walk a node's rows in one column's order and keep the running class sums of up to 64 candidate
// splits side by side, one per vector lane, so that one pass answers the depth-one problem on this column for the left
// and the right side of every candidate. Included by one source file per instruction set; see kernel.hpp for what each
// function promises.
#pragma once

#include <limits>

#include "kernels/entry.hpp"
#include "kernels/kernel.hpp"
#include "kernels/order_impl.hpp"
#include "kernels/simd.hpp"

namespace provetree {
namespace {

// Sums of 8-bit lanes are unsigned and begin in the middle of what they can hold: every instruction set has the larger
// and the smaller of such lanes, and zero and all bits are values that change no extreme.
using Byte = std::uint8_t;
template <class T>
constexpr int kMiddle = kUnsigned<T> ? 128 : 0;
// The largest sum, of either sign, that lanes have room for.
template <class T>
constexpr std::int32_t kRoom = kUnsigned<T> ? 127 : std::numeric_limits<T>::max();

// Vectors of 8-bit lanes that a sweep takes along together, as many as there are registers for.
#if defined(__AVX512BW__)
constexpr int kMostTogether = 1;
#elif defined(__aarch64__)
constexpr int kMostTogether = 4;
#else
constexpr int kMostTogether = 2;
#endif

// Running sums of some vectors of lanes since the start of a block, and their extremes at the checked positions of the
// block.
template <class T, int kVectors>
struct BlockState {
    Vector<T> left[kVectors], max_left[kVectors], min_left[kVectors], max_right[kVectors], min_right[kVectors];
    Vector<T> all{};  // sum over all rows: what is not left is right. It begins at twice the middle, which is zero.

    [[gnu::always_inline]] BlockState() {
        for (int v = 0; v < kVectors; ++v) {
            left[v] = broadcast<T>(static_cast<T>(kMiddle<T>));
            max_left[v] = max_right[v] = broadcast<T>(std::numeric_limits<T>::min());
            min_left[v] = min_right[v] = broadcast<T>(std::numeric_limits<T>::max());
        }
    }

    [[gnu::always_inline]] void add_left(std::uint64_t bits, Vector<T> step) {
        left[0] = add_where<T, 0>(left[0], bits, step);
        if constexpr (kVectors > 1) left[1] = add_where<T, 1>(left[1], bits, step);
        if constexpr (kVectors > 2) left[2] = add_where<T, 2>(left[2], bits, step);
        if constexpr (kVectors > 3) left[3] = add_where<T, 3>(left[3], bits, step);
    }

    [[gnu::always_inline]] void add(std::uint64_t bits, Vector<T> step) {
        add_left(bits, step);
        all += step;
    }

    [[gnu::always_inline]] void look() {
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
            const Vector<T> right = all - left[v];
            max_left[v] = larger<T>(max_left[v], left[v]);
            min_left[v] = smaller<T>(min_left[v], left[v]);
            max_right[v] = larger<T>(max_right[v], right);
            min_right[v] = smaller<T>(min_right[v], right);
        }
    }

    [[gnu::always_inline]] void look_if(bool check) {
        const Wanted<T> wanted(check);
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
            const Vector<T> right = all - left[v];
            max_left[v] = larger_if<T>(max_left[v], left[v], wanted);
            min_left[v] = smaller_if<T>(min_left[v], left[v], wanted);
            max_right[v] = larger_if<T>(max_right[v], right, wanted);
            min_right[v] = smaller_if<T>(min_right[v], right, wanted);
        }
    }
};

// Steps of rows of weight one, by class code.
template <class T>
struct UnitSteps {
    Vector<T> steps[8] = {};
    std::int32_t ones[8] = {};
    UnitSteps(int up, int down) {
        steps[up] = broadcast<T>(1);
        steps[down] = broadcast<T>(static_cast<T>(-1));
        ones[up] = 1;
        ones[down] = -1;
    }
    std::int32_t one(std::uint32_t item, std::uint32_t) const { return ones[item >> entry::kClassShift]; }
    Vector<T> operator()(std::uint32_t item, std::uint32_t) const { return steps[item >> entry::kClassShift]; }
    // The end of the longest block of rows from i on, of those that begin at `first`, whose sum cannot leave the lanes.
    template <bool kBackward>
    Index block_end(const std::uint32_t*, Index i, Index, Index end) const {
        return sizeof(T) == 1 ? smaller_of<Index>(end, i + static_cast<Index>(kRoom<T>)) : end;
    }
};

template <class T>
struct WeightedSteps {
    const std::int32_t* steps;
    std::int32_t one(std::uint32_t, std::uint32_t row) const { return steps[row]; }
    Vector<T> operator()(std::uint32_t, std::uint32_t row) const { return broadcast<T>(static_cast<T>(steps[row])); }
    template <bool kBackward>
    Index block_end(const std::uint32_t* order, Index i, Index first, Index rows) const {
        if (sizeof(T) != 1) return rows;
        std::int32_t room = kRoom<T>;
        Index end = i;
        for (; end < rows; ++end) {
            const std::int32_t step = steps[order[kBackward ? first + rows - 1 - end : end] & entry::kRowMask];
            room -= step < 0 ? -step : step;
            if (room < 0) break;
        }
        return end;
    }
};

// A mispredicted branch costs about as much as looking at this many rows, so rare checks are branched on and frequent
// ones are not.
constexpr Index kRowsPerMispredict = 8;

// Where the sums of the lanes that are swept together stand.
template <class T, int kVectors>
struct Standing {
    std::int32_t left[kVectors * kWidth<T>] = {};
    std::int32_t all = 0;
};

// The rows of a part of a column in the order in which they are swept: forwards, or with kBackward from the last to the
// first.
template <bool kBackward>
struct PartOrder {
    const std::uint32_t* order;
    Index ends;  // first row + last row

    std::uint32_t entry(Index i) const { return order[kBackward ? ends - i : i]; }
    // A flag says that a split after its row is to be looked at: going backwards it stands with the row that comes
    // next.
    bool checked(Index i, std::uint32_t item) const {
        return ((kBackward ? order[ends - i - 1] : item) & entry::kCheck) != 0;
    }
};

// How often splits are to be looked at.
enum class Checks { kEveryRow, kFrequent, kRare };

// Adds rows `i` .. `end` - 1 to a block; returns whether a split was looked at.
template <class T, int kVectors, bool kBackward, class Steps>
[[gnu::always_inline]] inline bool sweep_block(const PartOrder<kBackward> rows, Index i, Index end, Checks checks,
                                               const std::uint64_t* left_masks, int shift, const Steps& steps,
                                               BlockState<T, kVectors>& block) {
    if (checks == Checks::kEveryRow) {
#pragma GCC unroll 4
        for (; i < end; ++i) {
            const std::uint32_t item = rows.entry(i), row = item & entry::kRowMask;
            block.add(left_masks[row] >> shift, steps(item, row));
            block.look();
        }
        return true;
    }
    bool looked = false;
    if (checks == Checks::kFrequent) {
#pragma GCC unroll 4
        for (; i < end; ++i) {
            const std::uint32_t item = rows.entry(i), row = item & entry::kRowMask;
            const bool check = rows.checked(i, item);
            block.add(left_masks[row] >> shift, steps(item, row));
            block.look_if(check);
            looked |= check;
        }
        return looked;
    }
    // Between checks only the left sums need a vector: the sum over all rows is the same in every lane.
    std::int32_t all_rows = 0;
#pragma GCC unroll 4
    for (; i < end; ++i) {
        const std::uint32_t item = rows.entry(i), row = item & entry::kRowMask;
        block.add_left(left_masks[row] >> shift, steps(item, row));
        all_rows += steps.one(item, row);
        if (rows.checked(i, item)) {
            block.all = broadcast<T>(static_cast<T>(all_rows));
            block.look();
            looked = true;
        }
    }
    block.all = broadcast<T>(static_cast<T>(all_rows));
    return looked;
}

// The extremes of a block, which begins where the sums stand, among those of the column.
template <class T, int kVectors, bool kBackward>
[[gnu::always_inline]] inline void take_extremes(const BlockState<T, kVectors>& block,
                                                 const Standing<T, kVectors>& standing, int first_lane,
                                                 TwoClassSums& sums) {
    constexpr int kSwept = kVectors * kWidth<T>;
    T max_left[kSwept], min_left[kSwept], max_right[kSwept], min_right[kSwept];
    std::memcpy(max_left, &block.max_left, sizeof max_left);
    std::memcpy(min_left, &block.min_left, sizeof max_left);
    std::memcpy(max_right, &block.max_right, sizeof max_left);
    std::memcpy(min_right, &block.min_right, sizeof max_left);
    for (int lane = 0; lane < kSwept; ++lane) {
        const int at = first_lane + lane;
        const std::int32_t base_left = standing.left[lane] - kMiddle<T>,
                           base_right = standing.all - standing.left[lane] - kMiddle<T>;
        std::int32_t high_left = base_left + max_left[lane], low_left = base_left + min_left[lane];
        std::int32_t high_right = base_right + max_right[lane], low_right = base_right + min_right[lane];
        if constexpr (kBackward) {
            const std::int32_t most_left = sums.total_left[at] - low_left,
                               most_right = sums.total_right[at] - low_right;
            low_left = sums.total_left[at] - high_left;
            low_right = sums.total_right[at] - high_right;
            high_left = most_left;
            high_right = most_right;
        }
        sums.max_left[at] = larger_of<std::int32_t>(sums.max_left[at], high_left);
        sums.min_left[at] = smaller_of<std::int32_t>(sums.min_left[at], low_left);
        sums.max_right[at] = larger_of<std::int32_t>(sums.max_right[at], high_right);
        sums.min_right[at] = smaller_of<std::int32_t>(sums.min_right[at], low_right);
    }
}

// Rows `begin` .. `end_row` - 1 of a column. Going backwards the sums are those of the rows after a position, and what
// is before it is the rest of the totals.
template <class T, int kVectors, bool kBackward, class Steps>
void sweep_part(const SweepColumn& column, Index begin, Index end_row, const std::uint64_t* left_masks,
                const Steps& steps, int first_lane, Standing<T, kVectors>& standing, TwoClassSums& sums) {
    const bool frequent =
        std::uint64_t{column.checks} * kRowsPerMispredict > column.rows - (column.run_end - column.run_begin);
    const Checks checks = !frequent ? Checks::kRare : column.every_row_valid ? Checks::kEveryRow : Checks::kFrequent;
    constexpr int kSwept = kVectors * kWidth<T>;
    const int shift = kSwept == kLanes ? 0 : first_lane;  // a constant where all lanes are swept together
    const PartOrder<kBackward> rows{column.order, begin + end_row - 1};
    for (Index i = begin; i < end_row;) {
        const Index end = steps.template block_end<kBackward>(column.order, i, begin, end_row);
        BlockState<T, kVectors> block;
        if (sweep_block(rows, i, end, checks, left_masks, shift, steps, block))
            take_extremes<T, kVectors, kBackward>(block, standing, first_lane, sums);
        T left[kSwept], all[kWidth<T>];
        std::memcpy(left, &block.left, sizeof left);
        std::memcpy(all, &block.all, sizeof all);
        for (int lane = 0; lane < kSwept; ++lane) standing.left[lane] += left[lane] - kMiddle<T>;
        // Twice the middle of 8-bit lanes is zero in them, so their sum over all rows has a sign.
        standing.all += kUnsigned<T> ? static_cast<std::int8_t>(all[0]) : all[0];
        i = end;
    }
}

template <class T, int kVectors, class Steps>
void sweep_together(const SweepColumn& column, const std::uint64_t* left_masks, const Steps& steps, int first_lane,
                    TwoClassSums& sums) {
    Standing<T, kVectors> standing;
    if (column.run_begin < column.run_end) {
        sweep_part<T, kVectors, false>(column, 0, column.run_begin, left_masks, steps, first_lane, standing, sums);
        Standing<T, kVectors> from_the_end;
        sweep_part<T, kVectors, true>(column, column.run_end, column.rows, left_masks, steps, first_lane, from_the_end,
                                      sums);
        return;
    }
    sweep_part<T, kVectors, false>(column, 0, column.rows, left_masks, steps, first_lane, standing, sums);
    for (int lane = 0; lane < kVectors * kWidth<T>; ++lane) {
        sums.total_left[first_lane + lane] = standing.left[lane];
        sums.total_right[first_lane + lane] = standing.all - standing.left[lane];
    }
}

template <class T, class Steps>
void sweep_two_classes(const SweepColumn& column, const std::uint64_t* left_masks, const Steps& steps, int lanes,
                       TwoClassSums& sums) {
    constexpr int kTogether = sizeof(T) == 1 ? kMostTogether : 1;
    for (int first_lane = 0; first_lane < lanes;) {
        const int vectors = (lanes - first_lane + kWidth<T> - 1) / kWidth<T>;
        if (kTogether == 4 && vectors > 2) {
            sweep_together<T, kTogether>(column, left_masks, steps, first_lane, sums);
            first_lane += kTogether * kWidth<T>;
        } else if (kTogether >= 2 && vectors > 1) {
            constexpr int kTwo = kTogether < 2 ? 1 : 2;
            sweep_together<T, kTwo>(column, left_masks, steps, first_lane, sums);
            first_lane += kTwo * kWidth<T>;
        } else {
            sweep_together<T, 1>(column, left_masks, steps, first_lane, sums);
            first_lane += kWidth<T>;
        }
    }
}

void sweep_unit(const SweepColumn& column, const std::uint64_t* left_masks, int up, int down, int lanes,
                TwoClassSums& sums) {
    sweep_two_classes<Byte>(column, left_masks, UnitSteps<Byte>(up, down), lanes, sums);
}

void sweep_weighted(const SweepColumn& column, const std::uint64_t* left_masks, const std::int32_t* steps,
                    LaneWidth width, int lanes, TwoClassSums& sums) {
    switch (width) {
        case LaneWidth::k8: return sweep_two_classes<Byte>(column, left_masks, WeightedSteps<Byte>{steps}, lanes, sums);
        case LaneWidth::k16:
            return sweep_two_classes<std::int16_t>(column, left_masks, WeightedSteps<std::int16_t>{steps}, lanes, sums);
        case LaneWidth::k32:
            return sweep_two_classes<std::int32_t>(column, left_masks, WeightedSteps<std::int32_t>{steps}, lanes, sums);
    }
}

// Running sums of one vector of lanes for any number of classes, and the largest of them.
template <class T, bool Constrained>
struct ClassSums {
    using V = Vector<T>;
    const SweepColumn& column;
    const std::uint64_t* left_masks;
    const RowData& rows;
    int first_lane;
    V* class_left;  // of each class: sum over the lane's left rows, and over all rows
    T* class_all;
    V top_left{}, top_right{};  // of the largest class
    V rows_left{};              // counted under a minimum leaf size only
    T rows_all = 0;

    [[gnu::always_inline]] void clear(int n_classes) {
        for (int cls = 0; cls < n_classes; ++cls) {
            class_left[cls] = V{};
            class_all[cls] = 0;
        }
        top_left = top_right = rows_left = V{};
        rows_all = 0;
    }
    [[gnu::always_inline]] std::uint32_t class_at(Index i) const {
        return rows.classes[column.order[i] & entry::kRowMask];
    }
    // A row joins the sums `left` and `all` of its class.
    [[gnu::always_inline]] void add(std::uint32_t row, V& left, T& all) {
        const std::uint64_t bits = left_masks[row] >> first_lane;
        left = add_where<T>(left, bits, broadcast<T>(static_cast<T>(rows.weights[row])));
        all = static_cast<T>(all + rows.weights[row]);
        if constexpr (Constrained) {
            rows_left = add_where<T>(rows_left, bits, broadcast<T>(static_cast<T>(rows.counts[row])));
            rows_all = static_cast<T>(rows_all + rows.counts[row]);
        }
    }
    [[gnu::always_inline]] void keep(std::uint32_t cls, V left, T all) {
        class_left[cls] = left;
        class_all[cls] = all;
        top_left = larger<T>(top_left, left);
        top_right = larger<T>(top_right, broadcast<T>(all) - left);
    }
};

// The forward pass: stores the largest class sums, left and right, at each checked position. Returns the end of what is
// stored.
template <class T, bool Constrained>
[[gnu::always_inline]] inline Vector<T>* sweep_forwards(ClassSums<T, Constrained>& sums, Vector<T>* store) {
    const SweepColumn& column = sums.column;
    for (Index i = 0; i < column.rows;) {
        const std::uint32_t cls = sums.class_at(i);
        Vector<T> left = sums.class_left[cls];
        T all = sums.class_all[cls];
        bool check;
        do {
            const std::uint32_t item = column.order[i];
            sums.add(item & entry::kRowMask, left, all);
            check = (item & entry::kCheck) != 0;
            ++i;
        } while (!check && i < column.rows && sums.class_at(i) == cls);
        sums.keep(cls, left, all);
        if (check) {
            store[0] = sums.top_left;
            store[1] = sums.top_right;
            store += 2;
        }
    }
    return store;
}

// The best splits of one vector of lanes, by correct weight; those that leave both leaves enough rows by themselves.
template <class T>
struct BestSplits {
    using V = Vector<T>;
    static constexpr T kNever = std::numeric_limits<T>::min();
    V left{}, right{}, feasible_left = broadcast<T>(kNever), feasible_right = feasible_left;

    [[gnu::always_inline]] void take(V here_left, V here_right) {
        left = larger<T>(left, here_left);
        right = larger<T>(right, here_right);
    }
    [[gnu::always_inline]] void take_feasible(V here_left, V here_right, V left_fits, V right_fits) {
        feasible_left = larger<T>(feasible_left, (here_left & left_fits) | (~left_fits & broadcast<T>(kNever)));
        feasible_right = larger<T>(feasible_right, (here_right & right_fits) | (~right_fits & broadcast<T>(kNever)));
    }
};

// The backward pass, which takes up what the forward pass has stored, last first; `total_left` and `total_right` are
// all rows of the sides.
template <class T, bool Constrained>
[[gnu::always_inline]] inline void sweep_backwards(ClassSums<T, Constrained>& sums, const Vector<T>* store,
                                                   Vector<T> least, Vector<T> total_left, Vector<T> total_right,
                                                   BestSplits<T>& best) {
    using V = Vector<T>;
    const SweepColumn& column = sums.column;
    for (Index i = column.rows; i > 0;) {
        if (column.order[i - 1] & entry::kCheck) {
            store -= 2;
            const V left = store[0] + sums.top_left, right = store[1] + sums.top_right;
            best.take(left, right);
            if constexpr (Constrained) {
                const V rows_left = sums.rows_left, rows_right = broadcast<T>(sums.rows_all) - rows_left;
                const V left_fits = (V)(rows_left >= least) & (V)((total_left - rows_left) >= least);
                const V right_fits = (V)(rows_right >= least) & (V)((total_right - rows_right) >= least);
                best.take_feasible(left, right, left_fits, right_fits);
            }
        }
        const std::uint32_t cls = sums.class_at(i - 1);
        V left = sums.class_left[cls];
        T all = sums.class_all[cls];
        do {
            sums.add(column.order[i - 1] & entry::kRowMask, left, all);
            --i;
        } while (i > 0 && !(column.order[i - 1] & entry::kCheck) && sums.class_at(i - 1) == cls);
        sums.keep(cls, left, all);
    }
}

// Any number of classes. The correct weight of a split is (largest class sum before it) + (largest class sum after it).
// Both maxima only grow along their own pass, so a row touches only its own class: a forward pass stores the first at
// each checked position, a backward pass adds the second.
template <class T, bool Constrained>
void sweep_many_classes(const SweepColumn& column, const std::uint64_t* left_masks, const RowData& rows, int n_classes,
                        std::int32_t min_leaf, int lanes, unsigned char* scratch, ManyClassSums& sums) {
    using V = Vector<T>;
    const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(scratch) % alignof(V);
    V* const class_left = reinterpret_cast<V*>(scratch + (misaligned ? alignof(V) - misaligned : 0));
    V* const before = class_left + n_classes;
    T* const class_all = reinterpret_cast<T*>(before + 2 * static_cast<std::size_t>(column.checks));
    const V least = broadcast<T>(static_cast<T>(smaller_of<std::int32_t>(min_leaf, std::numeric_limits<T>::max())));
    for (int first_lane = 0; first_lane < lanes; first_lane += kWidth<T>) {
        ClassSums<T, Constrained> running{column, left_masks, rows, first_lane, class_left, class_all};
        running.clear(n_classes);
        const V* const store = sweep_forwards(running, before);
        const V leaf_left = running.top_left, leaf_right = running.top_right;
        const V total_left = running.rows_left, total_right = broadcast<T>(running.rows_all) - running.rows_left;
        running.clear(n_classes);
        BestSplits<T> best;
        sweep_backwards(running, store, least, total_left, total_right, best);
        for (int lane = 0; lane < kWidth<T>; ++lane) {
            const int at = first_lane + lane;
            sums.best_left[at] = larger_of<std::int32_t>(sums.best_left[at], best.left[lane]);
            sums.best_right[at] = larger_of<std::int32_t>(sums.best_right[at], best.right[lane]);
            sums.leaf_left[at] = leaf_left[lane];
            sums.leaf_right[at] = leaf_right[lane];
            if constexpr (Constrained) {
                if (best.feasible_left[lane] != best.kNever)
                    sums.feasible_left[at] = larger_of<std::int32_t>(sums.feasible_left[at], best.feasible_left[lane]);
                if (best.feasible_right[lane] != best.kNever)
                    sums.feasible_right[at] =
                        larger_of<std::int32_t>(sums.feasible_right[at], best.feasible_right[lane]);
                sums.rows_left[at] = total_left[lane];
                sums.rows_right[at] = total_right[lane];
            }
        }
    }
}

void sweep_classes(const SweepColumn& column, const std::uint64_t* left_masks, const RowData& rows, int n_classes,
                   std::int32_t min_leaf, LaneWidth width, int lanes, unsigned char* scratch, ManyClassSums& sums) {
    const auto sweep = width == LaneWidth::k32 ? min_leaf > 1 ? sweep_many_classes<std::int32_t, true>
                                                              : sweep_many_classes<std::int32_t, false>
                       : min_leaf > 1          ? sweep_many_classes<std::int16_t, true>
                                               : sweep_many_classes<std::int16_t, false>;
    sweep(column, left_masks, rows, n_classes, min_leaf, lanes, scratch, sums);
}

constexpr Kernel make_kernel(const char* name) {
    return Kernel{name,      sweep_unit, sweep_weighted, sweep_classes, partition,
                  mark_rows, choose,     keep_classes,   count_codes,   flag};
}

}  // namespace
}  // namespace provetree
