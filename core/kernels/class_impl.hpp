// The class kernel; see class_kernel.hpp. Included by one source file per instruction set.
#pragma once

#include "kernels/class_costs_impl.hpp"
#include "kernels/entry.hpp"

namespace provetree {
namespace {

template <class Loss>
class ClassSweep {
  public:
    ClassSweep(ClassLanes& lanes, const ClassColumn& column) : lanes_(lanes), column_(column) {}

    void run() {
        const std::size_t strides = static_cast<std::size_t>(lanes_.classes) * kSlotStride * sizeof(std::int32_t);
        std::memset(lanes_.buckets, 0, strides);
        std::memset(lanes_.before, 0, strides);
        std::memset(lanes_.all_before, 0, static_cast<std::size_t>(lanes_.classes) * sizeof(std::int32_t));
        for (std::size_t b = 0; b < column_.n_blocks; ++b) {
            block_ = column_.blocks[b];
            add_rows();
            sum_lanes();
            for (int lane = 0; lane < lanes_.lanes; lane += kFloats)
                for (int side = 0; side < 2; ++side) look(lane, side);
            if (lanes_.counts) count_rows();
            begin_ = block_.end;
            swap(lanes_.before, lanes_.now);
            swap(lanes_.all_before, lanes_.all);
        }
    }

  private:
    template <class T>
    static void swap(T& a, T& b) {
        const T kept = a;
        a = b;
        b = kept;
    }

    static Index row_of(std::uint32_t item) { return item & entry::kRowMask; }
    std::int32_t weight_of(Index row) const { return lanes_.weights ? lanes_.weights[row] : 1; }

    void add_rows() {
        const std::uint32_t* const order = column_.order;
        const Slot* const slots = lanes_.slots;
        std::int32_t* const buckets = lanes_.buckets;
        if (lanes_.weights) {
            for (Index i = begin_; i < block_.end; ++i) {
                const Index row = row_of(order[i]);
                buckets[slots[row]] += lanes_.weights[row];
            }
        } else {
            for (Index i = begin_; i < block_.end; ++i) ++buckets[slots[row_of(order[i])]];
        }
    }

    // By the stretch between candidates alone.
    void count_rows() {
        for (Index i = begin_; i < block_.end; ++i) {
            const Index row = row_of(column_.order[i]);
            counts_before_[lanes_.slots[row] & (kSlotStride - 1)] += lanes_.counts[row];
        }
    }

    // From buckets to lanes.
    void sum_lanes() {
        for (int c = 0; c < lanes_.classes; ++c) {
            const std::int32_t* const bucket = lanes_.buckets + c * kSlotStride;
            std::int32_t* const now = lanes_.now + c * kSlotStride;
            std::int32_t sum = 0;
            for (int lane = 0; lane < lanes_.lanes; ++lane) now[lane] = sum += bucket[lane];
            lanes_.all[c] = sum + bucket[lanes_.lanes];
        }
    }

    static void grow(Leaves& leaves, Floats weight) {
        leaves.weight = leaves.weight + weight;
        leaves.summary = Loss::add(leaves.summary, weight);
    }

    // Looks at the split after the block and, where a better one can be there, inside it.
    void look(int first, int side) {
        const BlockSide classes{lanes_, side, first};
        BlockEnd& kept = before_[side][first / kFloats];
        BlockEnds ends;
        if (begin_ == 0) {
            kept = {};
            for (int c = 0; c < lanes_.classes; ++c) grow(kept.right, classes.rest_before(c));
        }
        for (int c = 0; c < lanes_.classes; ++c) {
            grow(ends.left_after, classes.after(c));
            grow(ends.right_after, classes.rest_after(c));
        }
        ends.left_before = kept.left;
        ends.right_before = kept.right;
        const Floats left = Loss::cost(ends.left_after.weight, ends.left_after.summary),
                     right = Loss::cost(ends.right_after.weight, ends.right_after.summary), cost = left + right;
        const Floats below = load_floats(lanes_.feasible_below[side] + first), right_weight = ends.right_after.weight;
        // More rows never cost less: so much any split of the block costs, and the one after it.
        // Where a side has no row in the block there is nothing to see, and none after its last row.
        unsigned open = bits_of((kept.left_cost + right < below) & (ends.left_after.weight > kept.left.weight));
        kept = {ends.left_after, ends.right_after, left};
        if (!open) return;
        for (unsigned good = open & bits_of((cost < below) & (right_weight > 0)); good; good &= good - 1) {
            const int lane = __builtin_ctz(good);
            settle(first + lane, side, block_.end, cost[lane]);
        }
        if (block_.last_group == begin_) return;
        open &= bits_of(Loss::least_inside(classes, ends) < load_floats(lanes_.feasible_below[side] + first));
        for (; open; open &= open - 1) look_inside(first + __builtin_ctz(open), side);
    }

    static bool on_side(Slot slot, int lane, int side) { return ((slot & (kSlotStride - 1)) <= lane) == (side == 0); }

    // Class weights on one side of a lane before the block, into `leaf`; returns their sum.
    std::int32_t leaf_before(int lane, int side, std::int32_t* leaf) const {
        std::int32_t weight = 0;
        for (int c = 0; c < lanes_.classes; ++c) {
            const std::int32_t left = lanes_.before[c * kSlotStride + lane];
            weight += leaf[c] = side ? lanes_.all_before[c] - left : left;
        }
        return weight;
    }
    // The rows of the side that are not in `leaf`.
    void rest_of(int lane, int side, const std::int32_t* leaf, std::int32_t* rest) const {
        for (int c = 0; c < lanes_.classes; ++c) rest[c] = lanes_.whole[side][c * kSlotStride + lane] - leaf[c];
    }

    // Estimates every split inside the block, for one side of a lane.
    void look_inside(int lane, int side) {
        std::int32_t* const left = lanes_.left_leaf;
        std::int32_t* const right = lanes_.right_leaf;
        std::int32_t weight = leaf_before(lane, side, left);
        Growing growing;
        growing.start(lanes_, left);
        int rows = 0;
        Index rank = 0;
        for (Index i = begin_; i < block_.last_group; ++i) {
            const Index row = row_of(column_.order[i]);
            const Slot slot = lanes_.slots[row];
            if (!on_side(slot, lane, side)) continue;
            // Between ties there is no split.
            if (rows && rank == column_.ranks[i]) inside_.split[rows - 1] = 0;
            rank = column_.ranks[i];
            const int c = slot >> kSlotShift;
            const std::int32_t more = weight_of(row);
            growing.add(lanes_, left[c], more);
            left[c] += more;
            weight += more;
            inside_.cls[rows] = c;
            inside_.weight[rows] = more;
            inside_.end[rows] = i + 1;
            inside_.split[rows] = -1;
            inside_.left_weight[rows] = static_cast<float>(weight);
            inside_.left_summary[rows] = growing.summary();
            ++rows;
        }
        if (!rows) return;
        rest_of(lane, side, left, right);
        weight = lanes_.weight[side][lane] - weight;
        growing.start(lanes_, right);
        for (int k = rows; k-- > 0;) {
            inside_.right_weight[k] = static_cast<float>(weight);
            inside_.right_summary[k] = growing.summary();
            const std::int32_t more = inside_.weight[k];
            std::int32_t& of_class = right[inside_.cls[k]];
            growing.add(lanes_, of_class, more);
            of_class += more;
            weight += more;
        }
        settle_inside(lane, side, rows);
    }

    void settle_inside(int lane, int side, int rows) {
        for (int first = 0; first < rows; first += kFloats) {
            const Floats cost =
                Loss::cost(load_floats(inside_.left_weight + first), load_floats(inside_.left_summary + first)) +
                Loss::cost(load_floats(inside_.right_weight + first), load_floats(inside_.right_summary + first));
            Ints split;
            std::memcpy(&split, inside_.split + first, sizeof split);
            unsigned good = bits_of(split & (cost < lanes_.feasible_below[side][lane]));
            if (rows - first < kFloats) good &= (1u << (rows - first)) - 1;
            for (; good; good &= good - 1) {
                const int k = __builtin_ctz(good);
                settle(lane, side, inside_.end[first + k], cost[k]);
            }
        }
    }

    // The split of a side after the rows before `end`, in whole units, where the estimate may be a best one.
    void settle(int lane, int side, Index end, float estimate) {
        if (!(estimate < lanes_.feasible_below[side][lane])) return;
        std::int32_t* const left = lanes_.left_leaf;
        leaf_before(lane, side, left);
        for (Index i = begin_; i < end; ++i) {
            const Index row = row_of(column_.order[i]);
            if (on_side(lanes_.slots[row], lane, side)) left[lanes_.slots[row] >> kSlotShift] += weight_of(row);
        }
        const bool feasible = !lanes_.counts || has_enough_rows(lane, side, end);
        if (!feasible && !(estimate < lanes_.below[side][lane])) return;
        rest_of(lane, side, left, lanes_.right_leaf);
        const Cost units = lanes_.units(lanes_.measure, left) + lanes_.units(lanes_.measure, lanes_.right_leaf);
        improve(units, lanes_.best[side][lane], lanes_.below[side][lane], lanes_.allowance[side][lane]);
        if (feasible)
            improve(units, lanes_.feasible[side][lane], lanes_.feasible_below[side][lane],
                    lanes_.allowance[side][lane]);
    }

    void improve(Cost units, Cost& best, float& below, float allowance) {
        if (units >= best) return;
        best = units;
        below = units ? static_cast<float>(static_cast<double>(units) * lanes_.unit) + allowance : -1;
        ++lanes_.improved;
    }

    // Whether both sides of that split have the rows that a leaf needs.
    bool has_enough_rows(int lane, int side, Index end) const {
        std::int64_t left = 0;
        for (int bucket = 0; bucket <= lanes_.lanes; ++bucket)
            if ((bucket <= lane) == (side == 0)) left += counts_before_[bucket];
        for (Index i = begin_; i < end; ++i) {
            const Index row = row_of(column_.order[i]);
            if (on_side(lanes_.slots[row], lane, side)) left += lanes_.counts[row];
        }
        return left >= lanes_.min_leaf && lanes_.count[side][lane] - left >= lanes_.min_leaf;
    }

    using Growing = typename Loss::Growing;
    // A vector of lanes before the block: the leaves on both sides of the split there, and the cost of the left one.
    struct BlockEnd {
        Leaves left, right;
        Floats left_cost{};
    };
    // The rows of a block on one side of a lane.
    struct alignas(64) Inside {
        float left_weight[kMostBlockRows], left_summary[kMostBlockRows];
        float right_weight[kMostBlockRows], right_summary[kMostBlockRows];
        std::int32_t split[kMostBlockRows];  // -1 where a split may follow the row
        std::int32_t weight[kMostBlockRows], cls[kMostBlockRows];
        Index end[kMostBlockRows];
    };

    ClassLanes& lanes_;
    const ClassColumn& column_;
    Index begin_ = 0;
    ClassBlock block_{};
    std::int64_t counts_before_[kLanes + 1] = {};
    BlockEnd before_[2][kLanes / kFloats];
    Inside inside_;
};

template <class Loss>
void sweep_lanes(ClassLanes& lanes, const ClassColumn& column) {
    ClassSweep<Loss>(lanes, column).run();
}

constexpr ClassKernel make_class_kernel() {
    return {&sweep_lanes<Gini>, &sweep_lanes<Entropy>, &sweep_lanes<Pessimistic>};
}

}  // namespace
}  // namespace provetree
