// The class kernel; see class_kernel.hpp. Included by one source file per instruction set.
#pragma once

#include "base/turns.hpp"
#include "kernels/class_costs_impl.hpp"
#include "kernels/class_rows_impl.hpp"

namespace provetree {
namespace {

inline int padded_lanes(const ClassLanes& lanes) { return (lanes.lanes + kFloats - 1) / kFloats * kFloats; }

inline std::size_t cells_of_block(const ClassLanes& lanes) {
    return static_cast<std::size_t>(lanes.classes) * kSlotStride;
}
// Only those that the lanes in use read.
inline void clear_cells(std::int32_t* cells, std::size_t blocks, const ClassLanes& lanes) {
    const std::size_t bytes = static_cast<std::size_t>(padded_lanes(lanes)) * sizeof(std::int32_t);
    for (std::size_t at = 0; at < blocks * cells_of_block(lanes); at += kSlotStride) {
        std::memset(cells + at, 0, bytes);
        cells[at + kLanes] = 0;
    }
}

template <class Loss>
class ClassSweep {
  public:
    ClassSweep(ClassLanes& lanes, const ClassColumn& column)
        : lanes_(lanes), column_(column), padded_(padded_lanes(lanes)) {}

    // The first look: the ends of large blocks.
    void look_from_afar() {
        take_large();
        const std::size_t classes = static_cast<std::size_t>(lanes_.classes);
        std::memset(level_.sums.left, 0, classes * kLanes * sizeof(std::int32_t));
        std::memset(level_.sums.all, 0, classes * sizeof(std::int32_t));
        if (lanes_.counts) std::memset(level_.sums.counts, 0, sizeof *level_.sums.counts);
        for (int lane = 0; lane < padded_; ++lane)
            level_.sums.costs[0].left[0][lane] = level_.sums.costs[0].left[1][lane] = Loss::kLeast;
        look_between();
    }
    // The second look.
    void look_closer() {
        take_large();
        look_again();
    }

  private:
    using Growing = typename Loss::Growing;
    static constexpr float kNever = kNoEstimate;

    // Neighbouring blocks that are looked at together.
    struct Level {
        const ClassBlock* blocks;
        std::size_t size;
        Index begin;
        ClassSums sums;
        bool large;         // made of several blocks, which are looked into one by one
        std::size_t known;  // the end of this one has been looked at
    };
    void take_large() {
        const bool large = column_.blocks_each > 1;
        level_ = {column_.large, column_.n_large, 0, column_.sums, large, column_.n_large};
        open_ = ~0u;
    }

    std::int32_t weight_of(Index row) const { return lanes_.weights ? lanes_.weights[row] : 1; }
    Index begin_of(std::size_t block) const { return block ? level_.blocks[block - 1].end : level_.begin; }
    bool is_open(int first) const { return open_ >> (first / kFloats) & 1; }

    // Sums after so many blocks.
    std::int32_t* left_after(std::size_t blocks) const {
        return level_.sums.left + blocks * static_cast<unsigned>(lanes_.classes) * kLanes;
    }
    std::int32_t* all_after(std::size_t blocks) const {
        return level_.sums.all + blocks * static_cast<unsigned>(lanes_.classes);
    }
    BlockSide side_of(std::size_t block, int first, int side) const {
        return {lanes_, side, first, left_after(block), left_after(block + 1), all_after(block), all_after(block + 1)};
    }

    // Rows of a block by class and code. Several blocks are counted before their sums are read.
    const std::int32_t* cells_of(std::size_t block) {
        const std::size_t size = cells_of_block(lanes_);
        if (level_.blocks == column_.large && column_.cells) return column_.cells + block * size;
        const std::size_t at = block % static_cast<unsigned>(lanes_.cell_blocks);
        if (at == 0) {
            const std::size_t n =
                smaller_of<std::size_t>(level_.size - block, static_cast<unsigned>(lanes_.cell_blocks));
            clear_cells(lanes_.cells, n, lanes_);
            std::size_t i = 0;
            for (; i + 1 < n; i += 2) add_rows_of_two(block + i, lanes_.cells + i * size, size);
            if (i < n) add_rows(block + i, begin_of(block + i), lanes_.cells + i * size);
        }
        return lanes_.cells + at * size;
    }
    // From a row of the block on.
    void add_rows(std::size_t block, Index begin, std::int32_t* cells) const {
        const std::uint32_t* const order = column_.order;
        const Slot* const slots = lanes_.slots;
        const Index end = level_.blocks[block].end;
        if (level_.blocks[block].unit) {
            for (Index i = begin; i < end; ++i) ++cells[slots[row_of(order[i])]];
        } else {
            for (Index i = begin; i < end; ++i) cells[slots[row_of(order[i])]] += lanes_.weights[row_of(order[i])];
        }
    }
    // Of two blocks in turns: neighbours often have the same cell, and would wait for each other.
    void add_rows_of_two(std::size_t block, std::int32_t* cells, std::size_t size) const {
        Index begin = begin_of(block), next = level_.blocks[block].end;
        if (level_.blocks[block].unit && level_.blocks[block + 1].unit) {
            const std::uint32_t* const order = column_.order;
            const Slot* const slots = lanes_.slots;
            std::int32_t* const others = cells + size;
            const Index both = smaller_of(next - begin, level_.blocks[block + 1].end - next);
            for (const Index end = begin + both; begin < end; ++begin, ++next) {
                ++cells[slots[row_of(order[begin])]];
                ++others[slots[row_of(order[next])]];
            }
        }
        add_rows(block, begin, cells);
        add_rows(block + 1, next, cells + size);
    }

    void count_rows(std::size_t block) {
        ClassCounts* const counts = level_.sums.counts + block + 1;
        *counts = counts[-1];
        for (Index i = begin_of(block); i < level_.blocks[block].end; ++i) {
            const Index row = row_of(column_.order[i]);
            counts->of[code_of(lanes_.slots[row])] += lanes_.counts[row];
        }
    }

    // From cells to lanes.
    void sum_lanes(std::size_t block) {
        const std::int32_t* const cells = cells_of(block);
        for (int c = 0; c < lanes_.classes; ++c) {
            const std::int32_t* const cell = cells + c * kSlotStride;
            const std::int32_t in_lanes =
                add_up(cell, padded_, left_after(block) + c * kLanes, left_after(block + 1) + c * kLanes);
            all_after(block + 1)[c] = all_after(block)[c] + in_lanes + cell[kLanes];
        }
    }

    // Adds the rows of the blocks and settles the best split between two of them, of each side of each lane.
    void look_between() {
        for (int side = 0; side < 2; ++side)
            for (int lane = 0; lane < padded_; ++lane) between_.least[side][lane] = kNever;
        for (int first = 0; first < padded_; first += kFloats)
            for (int side = 0; side < 2; ++side) weight_before_[side][first / kFloats] = weight_at_start(first, side);
        for (std::size_t block = 0; block < level_.size; ++block) {
            sum_lanes(block);
            if (lanes_.counts) count_rows(block);
            for (int first = 0; first < padded_; first += kFloats)
                for (int side = 0; side < 2 && is_open(first); ++side) look_after(block, first, side);
        }
        for (int lane = 0; lane < lanes_.lanes; ++lane)
            for (int side = 0; side < 2; ++side) {
                if (!(between_.least[side][lane] < lanes_.feasible_below[side][lane])) continue;
                const std::size_t block = static_cast<std::size_t>(between_.at[side][lane]);
                settle_after(block, lane, side, between_.least[side][lane]);
                level_.sums.costs[block].split[side][lane] = kNever;
            }
    }
    Ints weight_at_start(int first, int side) const {
        Ints weight{};
        const BlockSide at_start{lanes_, side, first, left_after(0), left_after(0), all_after(0), all_after(0)};
        for (int c = 0; c < lanes_.classes; ++c) weight += at_start.before(c);
        return weight;
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
        keep_split(block, classes, is_split(block, classes, left.weight, right.weight), left_cost + right_cost);
    }

    // The same for two classes: estimates only where the split may be better than the best so far.
    void look_lower(std::size_t block, const BlockSide& classes) {
        const Ints zeros = classes.after(0), ones = classes.after(1), rest_zeros = classes.rest_after(0),
                   rest_ones = classes.rest_after(1);
        const Floats left = lower_of_two<Loss>(lanes_, zeros, ones),
                     right = lower_of_two<Loss>(lanes_, rest_zeros, rest_ones);
        keep_leaves(block, classes, left, right);
        const Ints wanted = is_split(block, classes, zeros + ones, rest_zeros + rest_ones) &
                            (left + right < load_floats(lanes_.feasible_below[classes.side] + classes.first_lane));
        if (bits_of(wanted))
            keep_split(block, classes, wanted,
                       cost_of_two<Loss>(lanes_, zeros, ones) + cost_of_two<Loss>(lanes_, rest_zeros, rest_ones));
        else
            store(level_.sums.costs[block].split[classes.side] + classes.first_lane, broadcast<float>(kNever));
    }

    // A side without a row in the block has been looked at, and none after its last row is a split.
    Ints is_split(std::size_t block, const BlockSide& classes, Ints left_weight, Ints right_weight) {
        Ints& before = weight_before_[classes.side][classes.first_lane / kFloats];
        const Ints grown = left_weight > before;
        before = left_weight;
        if (block == level_.known) return Ints{};
        return grown & (right_weight > 0);
    }

    void keep_leaves(std::size_t block, const BlockSide& classes, Floats left_cost, Floats right_cost) {
        const Floats least_leaf = broadcast<float>(Loss::kLeast);
        ClassCosts* const costs = level_.sums.costs + block;
        store(costs[1].left[classes.side] + classes.first_lane, most(left_cost, least_leaf));
        store(costs[0].right[classes.side] + classes.first_lane, most(right_cost, least_leaf));
    }

    void keep_split(std::size_t block, const BlockSide& classes, Ints wanted, Floats estimate) {
        const int side = classes.side, first = classes.first_lane;
        const Floats cost = chosen(wanted, estimate, broadcast<float>(kNever));
        store(level_.sums.costs[block].split[side] + first, cost);
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
            if (level_.large || !bits_of(bound < below)) return bound;
        }
        const Ints zeros = classes.inside(0), ones = classes.inside(1);
        if (level_.large) return least_of_corners<Loss>(classes, {-zeros, ones});
        rows_.take(lanes_, column_, level_.blocks[block], begin_of(block));
        if (!rows_.few_heavy) return least_of_corners<Loss>(classes, {-zeros, ones});
        rows_.find_balances(padded_);
        // Lanes that only fill up the vector must stay within bounds, too.
        const Ints last = ones - zeros,
                   lowest = smaller<std::int32_t>(widened(rows_.balances.least[side] + first), last),
                   highest = larger<std::int32_t>(widened(rows_.balances.most[side] + first), last);
        return least_of_corners<Loss>(classes,
                                      {larger<std::int32_t>(lowest, -zeros), smaller<std::int32_t>(highest, ones)});
    }

    static Ints widened(const std::int8_t* from) {
        typedef std::int8_t Few __attribute__((vector_size(kFloats)));
        Few few;
        std::memcpy(&few, from, sizeof few);
        return __builtin_convertvector(few, Ints);
    }

    // Looks after and inside the blocks that can hold a better split than the best so far.
    void look_again() {
        for (std::size_t block = 0; block < level_.size; ++block) {
            unsigned vectors = 0;  // to be looked into
            for (int first = 0; first < padded_; first += kFloats)
                for (int side = 0; side < 2 && is_open(first); ++side) {
                    settle_ends(block, first, side);
                    unsigned open = open_lanes(block, first, side);
                    if (level_.large)
                        vectors |= unsigned{open != 0} << (first / kFloats);
                    else
                        for (; open; open &= open - 1) walk(block, first + __builtin_ctz(open), side);
                }
            if (vectors) look_into(block, vectors);
        }
    }

    void settle_ends(std::size_t block, int first, int side) {
        const float* const split = level_.sums.costs[block].split[side] + first;
        unsigned good = bits_of(load_floats(split) < load_floats(lanes_.feasible_below[side] + first));
        for (; good; good &= good - 1) {
            const int k = __builtin_ctz(good);
            settle_after(block, first + k, side, split[k]);
        }
    }

    unsigned open_lanes(std::size_t block, int first, int side) {
        if (level_.blocks[block].last_group == begin_of(block)) return 0;
        if (lanes_.all_blocks) return (1u << smaller_of(kFloats, larger_of(lanes_.lanes - first, 0))) - 1;
        // More rows never cost less.
        const ClassCosts& costs = level_.sums.costs[block];
        const Floats below = load_floats(lanes_.feasible_below[side] + first);
        const unsigned open =
            bits_of(load_floats(costs.left[side] + first) + load_floats(costs.right[side] + first) < below);
        return open ? open & bits_of(least_inside(block, first, side, below) < below) : 0;
    }

    // The blocks of a large one, for some vectors of lanes.
    void look_into(std::size_t large, unsigned vectors) {
        const Level outer = level_;
        const std::size_t first = large * column_.blocks_each,
                          last = smaller_of<std::size_t>(first + column_.blocks_each, column_.n_blocks);
        const Index begin = begin_of(large);
        start_chunk(outer.sums, large);
        open_ = vectors;
        level_ = {column_.blocks + first, 0, begin, lanes_.chunk, false, 0};
        for (std::size_t at = first; at < last; at += level_.size) {
            if (at > first) {
                level_.begin = level_.blocks[level_.size - 1].end;
                level_.blocks += level_.size;
                start_chunk(lanes_.chunk, level_.size);
            }
            level_.size = smaller_of<std::size_t>(last - at, static_cast<unsigned>(lanes_.chunk_blocks));
            level_.known = last - 1 - at;
            look_between();
            look_again();
        }
        level_ = outer;
        open_ = ~0u;
    }

    // What is after so many blocks is before the chunk.
    void start_chunk(const ClassSums& from, std::size_t after) {
        const std::size_t classes = static_cast<std::size_t>(lanes_.classes);
        const ClassSums& to = lanes_.chunk;
        std::memcpy(to.left, from.left + after * classes * kLanes, classes * kLanes * sizeof(std::int32_t));
        std::memcpy(to.all, from.all + after * classes, classes * sizeof(std::int32_t));
        to.costs[0] = from.costs[after];
        if (lanes_.counts) to.counts[0] = from.counts[after];
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
        if (!splits) return;
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

    // Returns how many splits there are, or 0 where none is good enough.
    int walk_two(std::size_t block, int lane, int side) {
        std::int32_t left[2], rest[2];
        leaf_before(block, lane, side, left);
        rest_of(lane, side, left, rest);
        const std::int32_t all[2] = {left[0] + rest[0], left[1] + rest[1]};
        rows_.take(lanes_, column_, level_.blocks[block], begin_of(block));
        const int splits = rows_.few_heavy ? rows_.step_by_bits(lane, side, left, !may_hold(), inside_)
                                           : rows_.step_by_rows(lane, side, left, inside_);
        const float below = lanes_.feasible_below[side][lane];
        unsigned good = 0;
        for (int first = 0; first < splits; first += kFloats) {
            const Ints zeros = load_whole(inside_.zeros + first), ones = load_whole(inside_.ones + first);
            const Ints rest_zeros = all[0] - zeros, rest_ones = all[1] - ones;
            Floats cost = lower_of_two<Loss>(lanes_, zeros, ones) + lower_of_two<Loss>(lanes_, rest_zeros, rest_ones);
            if (Loss::kHasLower && bits_of(cost < below))
                cost = cost_of_two<Loss>(lanes_, zeros, ones) + cost_of_two<Loss>(lanes_, rest_zeros, rest_ones);
            store(inside_.cost + first, cost);
            good |= bits_of(cost < below);
        }
        if (!good) return 0;
        if (!rows_.few_heavy || rows_.no_ties) return splits;
        for (std::uint64_t tied = inside_.tied; tied; tied &= tied - 1) inside_.cost[__builtin_ctzll(tied)] = kNever;
        return splits;
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
        for (Index i = begin_of(block); i < level_.blocks[block].last_group; ++i) {
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
        if (!may_hold()) return settle(block, lane, side, level_.blocks[block].end, estimate);
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
        const bool at_end = end == level_.blocks[block].end;
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
            if ((code <= lane) == (side == 0)) left += level_.sums.counts[block].of[code];
        for (Index i = begin_of(block); i < end; ++i) {
            const Index row = row_of(column_.order[i]);
            if (on_side(lanes_.slots[row], lane, side)) left += lanes_.counts[row];
        }
        return left >= lanes_.min_leaf && lanes_.count[side][lane] - left >= lanes_.min_leaf;
    }

    // The least estimate of a split after a block, and which block that is.
    struct alignas(64) Between {
        float least[2][kLanes];
        std::int32_t at[2][kLanes];
    };
    struct alignas(64) Many {
        float left[InsideSplits::kRoom], right[InsideSplits::kRoom];
        std::int32_t weight[InsideSplits::kRoom], more[InsideSplits::kRoom], cls[InsideSplits::kRoom];
        bool tied[InsideSplits::kRoom];
    };

    ClassLanes& lanes_;
    const ClassColumn& column_;
    const int padded_;
    Level level_{};
    unsigned open_ = ~0u;  // vectors of lanes that are looked at
    Between between_;
    Ints weight_before_[2][kLanes / kFloats];  // of each side, in the rows so far
    BlockRows rows_;
    InsideSplits inside_;
    Many many_;
};

// Rows are taken as they lie in memory, which is faster than in the order of a column.
inline void count_class_rows(const ClassCount& one, const ClassCount& other, const ClassLanes& lanes, Index n_rows) {
    const Slot* const slots = lanes.slots;
    const std::int32_t* const weights = lanes.weights;
    const auto count = [=](std::size_t row, const ClassCount& column) {
        column.cells[std::size_t{column.places[row]} + slots[row]] += weights ? weights[row] : 1;
    };
    clear_cells(one.cells, one.n_blocks, lanes);
    if (!other.places) return in_turns(n_rows, [=](Index, std::size_t row) { count(row, one); });
    clear_cells(other.cells, other.n_blocks, lanes);
    in_turns(n_rows, [=](Index, std::size_t row) {
        count(row, one);
        count(row, other);
    });
}

template <class Loss>
void look_between_large(ClassLanes& lanes, const ClassColumn& column) {
    ClassSweep<Loss>(lanes, column).look_from_afar();
}
template <class Loss>
void look_inside_large(ClassLanes& lanes, const ClassColumn& column) {
    ClassSweep<Loss>(lanes, column).look_closer();
}
template <class Loss>
constexpr ClassLooks looks_of() {
    return {&look_between_large<Loss>, &look_inside_large<Loss>};
}

constexpr ClassKernel make_class_kernel() {
    return {looks_of<Gini>(), looks_of<Entropy>(), looks_of<Pessimistic>(), &count_class_rows};
}

}  // namespace
}  // namespace provetree
