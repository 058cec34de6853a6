// The class kernel; see class_kernel.hpp. Included by one source file per instruction set.
#pragma once

#include "kernels/class_bits_impl.hpp"
#include "kernels/class_costs_impl.hpp"
#include "kernels/entry.hpp"

namespace provetree {
namespace {

template <class Loss>
class ClassSweep {
  public:
    ClassSweep(ClassLanes& lanes, const ClassColumn& column)
        : lanes_(lanes), column_(column), padded_((lanes.lanes + kFloats - 1) / kFloats * kFloats) {}

    void run() {
        const std::size_t classes = static_cast<std::size_t>(lanes_.classes);
        std::memset(lanes_.buckets, 0, classes * kSlotStride * sizeof(std::int32_t));
        std::memset(lanes_.left, 0, classes * kLanes * sizeof(std::int32_t));
        std::memset(lanes_.all, 0, classes * sizeof(std::int32_t));
        std::memset(counts_[0], 0, sizeof counts_[0]);
        for (int lane = 0; lane < padded_; ++lane) costs_[0].left[0][lane] = costs_[0].left[1][lane] = Loss::kLeast;
        for (std::size_t at = 0; at < column_.n_blocks; at += chunk_) {
            blocks_ = column_.blocks + at;
            chunk_ = smaller_of<std::size_t>(column_.n_blocks - at, static_cast<unsigned>(lanes_.chunk_blocks));
            look_between();
            look_again();
            leave_chunk();
        }
    }

  private:
    using Growing = typename Loss::Growing;
    static constexpr float kNever = kNoEstimate;
    // Heavy rows of a block that are few, and what they weigh more than one: sums over the block fit into a byte.
    static constexpr int kFewHeavy = 6, kMostExtra = 60;

    static Index row_of(std::uint32_t item) { return item & entry::kRowMask; }
    static int code_of(Slot slot) { return slot & (kSlotStride - 1); }
    static bool on_side(Slot slot, int lane, int side) { return (code_of(slot) <= lane) == (side == 0); }
    std::int32_t weight_of(Index row) const { return lanes_.weights ? lanes_.weights[row] : 1; }
    Index begin_of(std::size_t block) const { return block ? blocks_[block - 1].end : begin_; }

    // Sums after so many blocks of the chunk.
    std::int32_t* left_after(std::size_t blocks) const {
        return lanes_.left + blocks * static_cast<unsigned>(lanes_.classes) * kLanes;
    }
    std::int32_t* all_after(std::size_t blocks) const {
        return lanes_.all + blocks * static_cast<unsigned>(lanes_.classes);
    }
    BlockSide side_of(std::size_t block, int first, int side) const {
        return {lanes_, side, first, left_after(block), left_after(block + 1), all_after(block), all_after(block + 1)};
    }

    void add_rows(std::size_t block) {
        const std::uint32_t* const order = column_.order;
        const Slot* const slots = lanes_.slots;
        std::int32_t* const buckets = lanes_.buckets;
        const Index end = blocks_[block].end;
        if (blocks_[block].unit) {
            for (Index i = begin_of(block); i < end; ++i) ++buckets[slots[row_of(order[i])]];
        } else {
            for (Index i = begin_of(block); i < end; ++i)
                buckets[slots[row_of(order[i])]] += lanes_.weights[row_of(order[i])];
        }
    }

    void count_rows(std::size_t block) {
        std::int64_t* const counts = counts_[block + 1];
        std::memcpy(counts, counts_[block], sizeof counts_[block]);
        for (Index i = begin_of(block); i < blocks_[block].end; ++i) {
            const Index row = row_of(column_.order[i]);
            counts[code_of(lanes_.slots[row])] += lanes_.counts[row];
        }
    }

    // From buckets to lanes.
    void sum_lanes(std::size_t block) {
        for (int c = 0; c < lanes_.classes; ++c) {
            const std::int32_t* const bucket = lanes_.buckets + c * kSlotStride;
            std::int32_t* const left = left_after(block + 1) + c * kLanes;
            add_up(bucket, padded_, left);
            all_after(block + 1)[c] = left[padded_ - 1] + bucket[kLanes];
        }
    }

    // Adds the rows of the chunk and settles the best split between two of its blocks, of each side of each lane.
    void look_between() {
        for (int side = 0; side < 2; ++side)
            for (int lane = 0; lane < padded_; ++lane) between_.least[side][lane] = kNever;
        for (std::size_t block = 0; block < chunk_; ++block) {
            add_rows(block);
            sum_lanes(block);
            if (lanes_.counts) count_rows(block);
            for (int first = 0; first < padded_; first += kFloats)
                for (int side = 0; side < 2; ++side) look_after(block, first, side);
        }
        for (int lane = 0; lane < lanes_.lanes; ++lane)
            for (int side = 0; side < 2; ++side) {
                if (!(between_.least[side][lane] < lanes_.feasible_below[side][lane])) continue;
                const std::size_t block = static_cast<std::size_t>(between_.at[side][lane]);
                settle_after(block, lane, side, between_.least[side][lane]);
            }
    }

    // The split after a block.
    void look_after(std::size_t block, int first, int side) {
        const BlockSide classes = side_of(block, first, side);
        if (Loss::kHasLower && lanes_.classes == 2) return look_lower(block, classes);
        Leaves left, right;
        for (int c = 0; c < lanes_.classes; ++c) {
            BlockEnds<Loss>::grow(lanes_, left, classes.after(c));
            BlockEnds<Loss>::grow(lanes_, right, classes.rest_after(c));
        }
        const Floats left_cost = cost_of<Loss>(lanes_, left), right_cost = cost_of<Loss>(lanes_, right);
        keep_leaves(block, classes, left_cost, right_cost);
        keep_split(block, classes, is_split(classes, left.weight, right.weight), left_cost + right_cost);
    }

    // The same for two classes: estimates only where the split may be better than the best so far.
    void look_lower(std::size_t block, const BlockSide& classes) {
        const Ints zeros = classes.after(0), ones = classes.after(1), rest_zeros = classes.rest_after(0),
                   rest_ones = classes.rest_after(1);
        const Floats left = lower_of_two<Loss>(lanes_, zeros, ones),
                     right = lower_of_two<Loss>(lanes_, rest_zeros, rest_ones);
        keep_leaves(block, classes, left, right);
        const Ints wanted = is_split(classes, zeros + ones, rest_zeros + rest_ones) &
                            (left + right < load_floats(lanes_.feasible_below[classes.side] + classes.first_lane));
        if (bits_of(wanted))
            keep_split(block, classes, wanted,
                       cost_of_two<Loss>(lanes_, zeros, ones) + cost_of_two<Loss>(lanes_, rest_zeros, rest_ones));
        else
            store(costs_[block].split[classes.side] + classes.first_lane, broadcast<float>(kNever));
    }

    // A side without a row in the block has been looked at, and none after its last row is a split.
    Ints is_split(const BlockSide& classes, Ints left_weight, Ints right_weight) {
        Ints& before = weight_before_[classes.side][classes.first_lane / kFloats];
        const Ints grown = left_weight > before;
        before = left_weight;
        return grown & (right_weight > 0);
    }

    void keep_leaves(std::size_t block, const BlockSide& classes, Floats left_cost, Floats right_cost) {
        const Floats least_leaf = broadcast<float>(Loss::kLeast);
        store(costs_[block + 1].left[classes.side] + classes.first_lane, most(left_cost, least_leaf));
        store(costs_[block].right[classes.side] + classes.first_lane, most(right_cost, least_leaf));
    }

    void keep_split(std::size_t block, const BlockSide& classes, Ints wanted, Floats estimate) {
        const int side = classes.side, first = classes.first_lane;
        const Floats cost = chosen(wanted, estimate, broadcast<float>(kNever));
        store(costs_[block].split[side] + first, cost);
        float* const least_yet = between_.least[side] + first;
        Ints at = load_whole(between_.at[side] + first);
        Floats least_cost = load_floats(least_yet);
        const Ints better = cost < least_cost;
        least_cost = least(cost, least_cost);
        at = (better & static_cast<std::int32_t>(block)) | (~better & at);
        store(least_yet, least_cost);
        std::memcpy(between_.at[side] + first, &at, sizeof at);
    }

    static void store(float* to, Floats numbers) { std::memcpy(to, &numbers, sizeof numbers); }

    // What splits inside a block cost at least, of the lanes where that is less than `below`.
    Floats least_inside(std::size_t block, int first, int side, Floats below) {
        const BlockSide classes = side_of(block, first, side);
        if (lanes_.classes != 2) return Loss::least_inside(classes);
        if (Loss::kHasLower && !lanes_.counts) {
            const Floats bound = least_without_balance<Loss>(classes);
            if (!bits_of(bound < below)) return bound;
        }
        take_rows(block);
        const Ints zeros = classes.inside(0), ones = classes.inside(1);
        if (!rows_.few_heavy) return least_of_corners<Loss>(classes, {-zeros, ones});
        find_balances();
        // Lanes that only fill up the vector must stay within bounds, too.
        const Ints last = ones - zeros, lowest = smaller<std::int32_t>(widened(balances_.least[side] + first), last),
                   highest = larger<std::int32_t>(widened(balances_.most[side] + first), last);
        return least_of_corners<Loss>(classes,
                                      {larger<std::int32_t>(lowest, -zeros), smaller<std::int32_t>(highest, ones)});
    }

    static Ints widened(const std::int8_t* from) {
        typedef std::int8_t Few __attribute__((vector_size(kFloats)));
        Few few;
        std::memcpy(&few, from, sizeof few);
        return __builtin_convertvector(few, Ints);
    }

    // Reads the rows of a block before its last group of ties.
    void take_rows(std::size_t block) {
        const Index begin = begin_of(block);
        if (rows_.begin == begin && rows_.count) return;
        rows_.begin = begin;
        rows_.count = static_cast<int>(blocks_[block].last_group - begin);
        rows_.heavy = 0;
        int extra = 0;
        rows_.balanced = false;
        rows_.ones = rows_.ends = 0;
        for (int i = 0; i < rows_.count; ++i) {
            const Index at = begin + static_cast<Index>(i);
            const Slot slot = lanes_.slots[row_of(column_.order[at])];
            rows_.slots[i] = slot;
            rows_.codes[i] = static_cast<std::int8_t>(code_of(slot));
            rows_.ones |= std::uint64_t{slot >= kSlotStride} << i;
            rows_.splits[i] = column_.ranks[at] != column_.ranks[at + 1];
            rows_.ends |= std::uint64_t{rows_.splits[i]} << i;
            if (blocks_[block].unit) continue;
            const std::int32_t weight = weight_of(row_of(column_.order[at]));
            rows_.weights[i] = weight;
            rows_.heavy |= std::uint64_t{weight != 1} << i;
            extra = smaller_of<std::int32_t>(extra + smaller_of<std::int32_t>(weight - 1, kMostExtra), kMostExtra);
        }
        rows_.few_heavy = extra < kMostExtra && __builtin_popcountll(rows_.heavy) <= kFewHeavy;
        rows_.no_ties = rows_.ends == low_bits(rows_.count);
    }

    // Ones less zeros among the block's first rows, in bytes: a block has no more than kMostBlockRows before its last
    // group, and few heavy rows weigh less than kMostExtra more.
    void find_balances() {
        if (rows_.balanced) return;
        rows_.balanced = true;
        using Byte = std::int8_t;
        using Bytes = Vector<Byte>;
        for (int first = 0; first < padded_; first += kWidth<Byte>) {
            Bytes lane;
            for (int i = 0; i < kWidth<Byte>; ++i) lane[i] = static_cast<Byte>(first + i);
            Bytes left{}, all{}, least_left{}, least_right{}, most_left{}, most_right{};
            for (int i = 0; i < rows_.count; ++i) {
                const Slot slot = rows_.slots[i];
                const int weight = rows_.heavy >> i & 1 ? rows_.weights[i] : 1;
                const Bytes step = broadcast<Byte>(static_cast<Byte>(slot >= kSlotStride ? weight : -weight));
                left += step & (Bytes)(lane >= broadcast<Byte>(static_cast<Byte>(code_of(slot))));
                all += step;
                if (!rows_.splits[i]) continue;
                least_left = smaller<Byte>(least_left, left);
                most_left = larger<Byte>(most_left, left);
                least_right = smaller<Byte>(least_right, all - left);
                most_right = larger<Byte>(most_right, all - left);
            }
            std::memcpy(balances_.least[0] + first, &least_left, sizeof left);
            std::memcpy(balances_.most[0] + first, &most_left, sizeof left);
            std::memcpy(balances_.least[1] + first, &least_right, sizeof left);
            std::memcpy(balances_.most[1] + first, &most_right, sizeof left);
        }
    }

    // Looks after and inside the blocks that can hold a better split than the best so far.
    void look_again() {
        for (std::size_t block = 0; block < chunk_; ++block)
            for (int first = 0; first < padded_; first += kFloats)
                for (int side = 0; side < 2; ++side) {
                    const float* const below = lanes_.feasible_below[side] + first;
                    const float* const split = costs_[block].split[side] + first;
                    unsigned good = bits_of(load_floats(split) < load_floats(below));
                    for (; good; good &= good - 1) {
                        const int k = __builtin_ctz(good);
                        if (between_.at[side][first + k] == static_cast<std::int32_t>(block)) continue;
                        settle_after(block, first + k, side, split[k]);
                    }
                    if (blocks_[block].last_group == begin_of(block)) continue;
                    // More rows never cost less.
                    const Floats bound =
                        load_floats(costs_[block].left[side] + first) + load_floats(costs_[block].right[side] + first);
                    unsigned open = bits_of(bound < load_floats(below));
                    if (!open) continue;
                    open &= bits_of(least_inside(block, first, side, load_floats(below)) < load_floats(below));
                    for (; open; open &= open - 1) walk(block, first + __builtin_ctz(open), side);
                }
    }

    // The last sums become those before the next chunk.
    void leave_chunk() {
        const std::size_t classes = static_cast<std::size_t>(lanes_.classes);
        std::memcpy(lanes_.left, left_after(chunk_), classes * kLanes * sizeof(std::int32_t));
        std::memcpy(lanes_.all, all_after(chunk_), classes * sizeof(std::int32_t));
        costs_[0] = costs_[chunk_];
        if (lanes_.counts) std::memcpy(counts_[0], counts_[chunk_], sizeof counts_[0]);
        begin_ = blocks_[chunk_ - 1].end;
    }

    // Class weights on one side of a lane before a block, into `leaf`.
    void leaf_before(std::size_t block, int lane, int side, std::int32_t* leaf) const {
        const std::int32_t *const left = left_after(block) + lane, *const all = all_after(block);
        for (int c = 0; c < lanes_.classes; ++c) leaf[c] = side ? all[c] - left[c * kLanes] : left[c * kLanes];
    }
    // The rows of the side that are not in `leaf`.
    void rest_of(int lane, int side, const std::int32_t* leaf, std::int32_t* rest) const {
        for (int c = 0; c < lanes_.classes; ++c) rest[c] = lanes_.whole[side][c * kLanes + lane] - leaf[c];
    }

    // Estimates every split inside a block, for one side of a lane.
    void walk(std::size_t block, int lane, int side) {
        const int splits = lanes_.classes == 2 ? walk_two(block, lane, side) : walk_many(block, lane, side);
        // The least of the estimates that may be a best one is settled first: few others can be better then.
        for (;;) {
            float least_cost = lanes_.feasible_below[side][lane];
            int best = -1;
            for (int first = 0; first < splits; first += kFloats)
                for (unsigned good = bits_of(load_floats(inside_.cost + first) < least_cost); good; good &= good - 1) {
                    const int k = first + __builtin_ctz(good);
                    if (k >= splits || inside_.cost[k] >= least_cost) continue;
                    least_cost = inside_.cost[k];
                    best = k;
                }
            if (best < 0) return;
            if (may_hold())
                hold(lane, side, {inside_.zeros[best], inside_.ones[best]}, least_cost);
            else
                settle(block, lane, side, inside_.end[best], least_cost);
            inside_.cost[best] = kNever;
        }
    }

    int walk_two(std::size_t block, int lane, int side) {
        std::int32_t left[2], rest[2];
        leaf_before(block, lane, side, left);
        rest_of(lane, side, left, rest);
        const std::int32_t all[2] = {left[0] + rest[0], left[1] + rest[1]};
        const int splits = rows_.few_heavy ? step_by_bits(lane, side, left) : step_by_rows(lane, side, left);
        for (int k = splits; k % kFloats; ++k) inside_.zeros[k] = inside_.ones[k] = 0;
        const float below = lanes_.feasible_below[side][lane];
        for (int first = 0; first < splits; first += kFloats) {
            const Ints zeros = load_whole(inside_.zeros + first), ones = load_whole(inside_.ones + first);
            const Ints rest_zeros = all[0] - zeros, rest_ones = all[1] - ones;
            Floats cost = lower_of_two<Loss>(lanes_, zeros, ones) + lower_of_two<Loss>(lanes_, rest_zeros, rest_ones);
            if (Loss::kHasLower && bits_of(cost < below))
                cost = cost_of_two<Loss>(lanes_, zeros, ones) + cost_of_two<Loss>(lanes_, rest_zeros, rest_ones);
            store(inside_.cost + first, cost);
        }
        if (!rows_.few_heavy || rows_.no_ties) return splits;
        for (std::uint64_t tied = inside_.tied; tied; tied &= tied - 1) inside_.cost[__builtin_ctzll(tied)] = kNever;
        return splits;
    }

    // Class weights of the left leaf at every split of a side inside the block, from those before it; returns how many
    // there are.
    int step_by_rows(int lane, int side, std::int32_t* left) {
        int splits = 0;
        bool grown = false;  // since the last split
        for (int i = 0; i < rows_.count; ++i) {
            const Slot slot = rows_.slots[i];
            const bool here = on_side(slot, lane, side), one = slot >= kSlotStride;
            const Index at = rows_.begin + static_cast<Index>(i);
            const std::int32_t more = rows_.weights[i];
            left[0] += here & !one ? more : 0;
            left[1] += here & one ? more : 0;
            grown |= here;
            inside_.zeros[splits] = left[0];
            inside_.ones[splits] = left[1];
            inside_.end[splits] = at + 1;
            const bool split = grown & rows_.splits[i];
            splits += split;
            grown &= !split;
        }
        return splits;
    }

    // The same where all but few rows of the block have weight one: the ones up to a row are bits to be counted. There
    // is a number for each row of the side; `tied` tells those that are not the last of the side in their group of
    // ties.
    int step_by_bits(int lane, int side, const std::int32_t* left) {
        std::uint64_t here = at_most(rows_.codes, lane);
        if (side) here = ~here;
        here &= low_bits(rows_.count);
        const int splits = __builtin_popcountll(here);
        const std::uint64_t ones = picked(rows_.ones, here);
        std::int32_t before = left[1], rows = left[0] + left[1] + 1;
        for (int first = 0; first < splits; first += 8) {
            const unsigned byte = static_cast<unsigned>(ones >> first & 0xff);
            for (int k = 0; k < 8; ++k) {
                const std::int32_t y = before + kPrefixCounts.of[byte][k];
                inside_.ones[first + k] = y;
                inside_.zeros[first + k] = rows + first + k - y;
            }
            before += __builtin_popcount(byte);
        }
        // What a heavy row weighs more counts from its own split on.
        for (std::uint64_t heavy = rows_.heavy & here; heavy; heavy &= heavy - 1) {
            const int i = __builtin_ctzll(heavy), first = __builtin_popcountll(here & low_bits(i));
            std::int32_t* const sums = rows_.ones >> i & 1 ? inside_.ones : inside_.zeros;
            for (int k = first; k < splits; ++k) sums[k] += rows_.weights[i] - 1;
        }
        // A row is tied with the next one of the side unless that is the first of its group.
        if (!rows_.no_ties && here)
            inside_.tied = ~(picked(first_of_groups(here), here) >> 1) & (low_bits(splits) >> 1);
        if (may_hold()) return splits;
        Index* end = inside_.end;
        for (; here; here &= here - 1) *end++ = rows_.begin + static_cast<Index>(__builtin_ctzll(here)) + 1;
        return splits;
    }

    // The lowest of these bits in each group of ties: x & -x, worked out in all groups at once. The end of each group
    // is a bit of x, so that nothing is carried from one to the next.
    std::uint64_t first_of_groups(std::uint64_t bits) const {
        const std::uint64_t x = bits | rows_.ends;
        return bits & (~x + (rows_.ends << 1 | 1));
    }

    int walk_many(std::size_t block, int lane, int side) {
        std::int32_t* const left = lanes_.left_leaf;
        std::int32_t* const right = lanes_.right_leaf;
        leaf_before(block, lane, side, left);
        Growing growing;
        growing.start(lanes_, left);
        int rows = 0;
        std::int32_t weight = 0;
        for (int c = 0; c < lanes_.classes; ++c) weight += left[c];
        Index rank = 0;
        for (Index i = begin_of(block); i < blocks_[block].last_group; ++i) {
            const Index row = row_of(column_.order[i]);
            const Slot slot = lanes_.slots[row];
            if (!on_side(slot, lane, side)) continue;
            const int c = slot >> kSlotShift;
            const std::int32_t more = weight_of(row);
            growing.add(lanes_, left[c], more);
            left[c] += more;
            if (rows) many_.tied[rows - 1] = rank == column_.ranks[i];
            rank = column_.ranks[i];
            many_.cls[rows] = c;
            many_.more[rows] = more;
            many_.weight[rows] = weight += more;
            many_.left[rows] = growing.summary();
            inside_.end[rows] = i + 1;
            ++rows;
        }
        if (!rows) return 0;
        many_.tied[rows - 1] = false;
        rest_of(lane, side, left, right);
        growing.start(lanes_, right);
        for (int k = rows; k-- > 0;) {
            many_.right[k] = growing.summary();
            std::int32_t& of_class = right[many_.cls[k]];
            growing.add(lanes_, of_class, many_.more[k]);
            of_class += many_.more[k];
        }
        std::int32_t all = 0;
        for (int c = 0; c < lanes_.classes; ++c) all += lanes_.whole[side][c * kLanes + lane];
        for (int k = rows; k % kFloats; ++k) many_.weight[k] = 0;
        for (int first = 0; first < rows; first += kFloats) {
            const Ints weights = load_whole(many_.weight + first);
            store(inside_.cost + first, Loss::cost(lanes_, weights, load_floats(many_.left + first)) +
                                            Loss::cost(lanes_, all - weights, load_floats(many_.right + first)));
        }
        for (int k = 0; k < rows; ++k)
            if (many_.tied[k]) inside_.cost[k] = kNever;
        return rows;
    }

    // The split of a side after a block, where the estimate may be a best one.
    void settle_after(std::size_t block, int lane, int side, float estimate) {
        if (!may_hold()) return settle(block, lane, side, blocks_[block].end, estimate);
        std::int32_t left[2];
        leaf_before(block + 1, lane, side, left);
        hold(lane, side, {left[0], left[1]}, estimate);
    }

    // Two classes without a minimum leaf size: units are worked out only for the estimates that remain. An estimate is
    // dropped for one that is lower by twice the allowance, which is more than both can be wrong by.
    bool may_hold() const { return lanes_.classes == 2 && !lanes_.counts; }
    void hold(int lane, int side, ClassLanes::TwoClasses left, float estimate) {
        float &held = lanes_.held[side][lane], &below = lanes_.below[side][lane];
        if (!(estimate < below)) return;
        const float allowance = lanes_.allowance[side][lane];
        if (estimate + 2 * allowance <= held) {
            held = estimate;
            lanes_.held_left[side][lane] = left;
            below = smaller_of(below, estimate + 2 * allowance);
            ++lanes_.improved;
        } else {
            const std::int32_t leaf[2] = {left.zeros, left.ones};
            std::int32_t rest[2];
            rest_of(lane, side, leaf, rest);
            const Cost units = lanes_.units(lanes_.measure, leaf) + lanes_.units(lanes_.measure, rest);
            if (units < lanes_.best[side][lane]) {
                lanes_.best[side][lane] = units;
                below = smaller_of(below, below_units(units, allowance));
            }
        }
        lanes_.feasible_below[side][lane] = below;
    }
    float below_units(Cost units, float allowance) const {
        return units ? static_cast<float>(static_cast<double>(units) * lanes_.unit) + allowance : -1;
    }

    // The split of a side after the rows before `end`, which is in the block or ends it, in whole units: where the
    // estimate may be a best one.
    void settle(std::size_t block, int lane, int side, Index end, float estimate) {
        if (!(estimate < lanes_.feasible_below[side][lane])) return;
        const bool feasible = !lanes_.counts || has_enough_rows(block, lane, side, end);
        if (!feasible && !(estimate < lanes_.below[side][lane])) return;
        std::int32_t *const left = lanes_.left_leaf, *const right = lanes_.right_leaf;
        const bool at_end = end == blocks_[block].end;
        leaf_before(block + at_end, lane, side, left);
        for (Index i = begin_of(block); !at_end && i < end; ++i) {
            const Index row = row_of(column_.order[i]);
            if (on_side(lanes_.slots[row], lane, side)) left[lanes_.slots[row] >> kSlotShift] += weight_of(row);
        }
        rest_of(lane, side, left, right);
        const Cost units = lanes_.units(lanes_.measure, left) + lanes_.units(lanes_.measure, right);
        const float allowance = lanes_.allowance[side][lane];
        improve(units, lanes_.best[side][lane], lanes_.below[side][lane], allowance);
        if (feasible) improve(units, lanes_.feasible[side][lane], lanes_.feasible_below[side][lane], allowance);
    }

    void improve(Cost units, Cost& best, float& below, float allowance) {
        if (units >= best) return;
        best = units;
        below = below_units(units, allowance);
        ++lanes_.improved;
    }

    // Whether both sides of that split have the rows that a leaf needs.
    bool has_enough_rows(std::size_t block, int lane, int side, Index end) const {
        std::int64_t left = 0;
        for (int code = 0; code <= kLanes; ++code)
            if ((code <= lane) == (side == 0)) left += counts_[block][code];
        for (Index i = begin_of(block); i < end; ++i) {
            const Index row = row_of(column_.order[i]);
            if (on_side(lanes_.slots[row], lane, side)) left += lanes_.counts[row];
        }
        return left >= lanes_.min_leaf && lanes_.count[side][lane] - left >= lanes_.min_leaf;
    }

    // After so many blocks of the chunk: what the rows of a side before that cost at least, and those after the next
    // block. Neither are empty in a split.
    struct alignas(64) Costs {
        float left[2][kLanes], right[2][kLanes];
        float split[2][kLanes];  // after the next block; kNever where there is none
    };
    // The least estimate of a split after a block of the chunk, and which block that is.
    struct alignas(64) Between {
        float least[2][kLanes];
        std::int32_t at[2][kLanes];
    };
    // Rows of a block before its last group.
    struct Rows {
        Index begin = 0;
        int count = 0;
        bool few_heavy = true;  // whether heavy rows are few, and not much heavier
        bool balanced = false;
        bool no_ties = false;
        std::uint64_t ones = 0;   // a bit for each row of class 1
        std::uint64_t ends = 0;   // a bit for each row that ends a group of ties
        std::uint64_t heavy = 0;  // a bit for each row whose weight is not one
        alignas(64) std::int8_t codes[kMostBlockRows];
        Slot slots[kMostBlockRows];
        std::int32_t weights[kMostBlockRows];  // unless all rows of the block have weight one
        bool splits[kMostBlockRows];           // whether a split follows the row
    };
    struct alignas(64) Balances {
        std::int8_t least[2][kLanes], most[2][kLanes];
    };
    static constexpr std::size_t kRoom = kMostBlockRows + kFloats;
    // Splits inside a block.
    struct alignas(64) Inside {
        float cost[kRoom];
        std::int32_t zeros[kRoom], ones[kRoom];
        Index end[kRoom];
        std::uint64_t tied;  // bits of numbers that are no splits
    };
    struct alignas(64) Many {
        float left[kRoom], right[kRoom];
        std::int32_t weight[kRoom], more[kRoom], cls[kRoom];
        bool tied[kRoom];
    };

    ClassLanes& lanes_;
    const ClassColumn& column_;
    const int padded_;
    const ClassBlock* blocks_ = nullptr;  // of the chunk
    std::size_t chunk_ = 0;
    Index begin_ = 0;  // of the chunk
    Costs costs_[kMostChunkBlocks + 1];
    std::int64_t counts_[kMostChunkBlocks + 1][kLanes + 1];  // of each stretch between candidates
    Between between_;
    Ints weight_before_[2][kLanes / kFloats] = {};  // of each side, in the rows so far
    Rows rows_;
    Balances balances_;
    Inside inside_;
    Many many_;
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
