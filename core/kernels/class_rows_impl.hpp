// The rows of a block of the class kernel, to be walked for a lane: as bits where nearly all of them weigh one; see
// class_impl.hpp. Included by one source file per instruction set.
#pragma once

#include "kernels/class_bits_impl.hpp"
#include "kernels/class_kernel.hpp"
#include "kernels/entry.hpp"

namespace provetree {
namespace {

inline Index row_of(std::uint32_t item) { return item & entry::kRowMask; }
inline int code_of(Slot slot) { return slot & (kSlotStride - 1); }
// Whether a row is on that side of a lane.
inline bool on_side(Slot slot, int lane, int side) { return (code_of(slot) <= lane) == (side == 0); }

// Splits inside a block, for one side of a lane.
struct alignas(64) InsideSplits {
    static constexpr std::size_t kRoom = kMostBlockRows + 16;
    float cost[kRoom];
    std::int32_t zeros[kRoom], ones[kRoom];
    Index end[kRoom];
    std::uint64_t tied;  // bits of numbers that are no splits
};

// How many splits are worked out at once: as many as a vector of any instruction set holds, or more.
constexpr int kStep = 16;
typedef std::uint8_t Bytes __attribute__((vector_size(kStep)));
typedef std::int32_t Numbers __attribute__((vector_size(4 * kStep)));
constexpr Numbers kStepNumbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr std::uint64_t kOneInEach = 0x0101010101010101;

inline std::uint64_t prefix_counts(unsigned byte) {
    std::uint64_t counts;
    std::memcpy(&counts, kPrefixCounts.of[byte], sizeof counts);
    return counts;
}

// Rows of a block before its last group.
class BlockRows {
  public:
    int count = 0;
    bool few_heavy = true;  // whether heavy rows are few, and not much heavier
    bool no_ties = false;
    // Of the block's first rows: ones less zeros, at least and at most, for both sides of each lane.
    struct alignas(64) Balances {
        std::int8_t least[2][kLanes], most[2][kLanes];
    } balances;

    // Reads the rows of a block before its last group of ties.
    void take(const ClassLanes& lanes, const ClassColumn& column, const ClassBlock& block, Index begin) {
        if (begin_ == begin && count) return;
        begin_ = begin;
        count = static_cast<int>(block.last_group - begin);
        heavy_ = 0;
        int extra = 0;
        balanced_ = false;
        ones_ = ends_ = 0;
        for (int i = 0; i < count; ++i) {
            const Index at = begin + static_cast<Index>(i);
            const Slot slot = lanes.slots[row_of(column.order[at])];
            slots_[i] = slot;
            codes_[i] = static_cast<std::int8_t>(code_of(slot));
            ones_ |= std::uint64_t{slot >= kSlotStride} << i;
            splits_[i] = column.ranks[at] != column.ranks[at + 1];
            ends_ |= std::uint64_t{splits_[i]} << i;
            if (block.unit) continue;
            const std::int32_t weight = lanes.weights[row_of(column.order[at])];
            weights_[i] = weight;
            heavy_ |= std::uint64_t{weight != 1} << i;
            extra = smaller_of<std::int32_t>(extra + smaller_of<std::int32_t>(weight - 1, kMostExtra), kMostExtra);
        }
        few_heavy = extra < kMostExtra && __builtin_popcountll(heavy_) <= kFewHeavy;
        no_ties = ends_ == low_bits(count);
    }

    // Ones less zeros among the block's first rows, in bytes: a block has no more than kMostBlockRows before its last
    // group, and few heavy rows weigh less than kMostExtra more.
    void find_balances(int padded) {
        if (balanced_) return;
        balanced_ = true;
        using Byte = std::int8_t;
        using Bytes = Vector<Byte>;
        for (int first = 0; first < padded; first += kWidth<Byte>) {
            Bytes lane;
            for (int i = 0; i < kWidth<Byte>; ++i) lane[i] = static_cast<Byte>(first + i);
            Bytes left{}, all{}, least_left{}, least_right{}, most_left{}, most_right{};
            for (int i = 0; i < count; ++i) {
                const Slot slot = slots_[i];
                const int weight = heavy_ >> i & 1 ? weights_[i] : 1;
                const Bytes step = broadcast<Byte>(static_cast<Byte>(slot >= kSlotStride ? weight : -weight));
                left += step & (Bytes)(lane >= broadcast<Byte>(static_cast<Byte>(code_of(slot))));
                all += step;
                if (!splits_[i]) continue;
                least_left = smaller<Byte>(least_left, left);
                most_left = larger<Byte>(most_left, left);
                least_right = smaller<Byte>(least_right, all - left);
                most_right = larger<Byte>(most_right, all - left);
            }
            std::memcpy(balances.least[0] + first, &least_left, sizeof left);
            std::memcpy(balances.most[0] + first, &most_left, sizeof left);
            std::memcpy(balances.least[1] + first, &least_right, sizeof left);
            std::memcpy(balances.most[1] + first, &most_right, sizeof left);
        }
    }

    // Class weights of the left leaf at every split of a side inside the block, from those before it; returns how many
    // there are. Numbers up to a multiple of kStep are 0.
    int step_by_rows(int lane, int side, std::int32_t* left, InsideSplits& inside) const {
        int splits = 0;
        bool grown = false;  // since the last split
        for (int i = 0; i < count; ++i) {
            const Slot slot = slots_[i];
            const bool here = on_side(slot, lane, side), one = slot >= kSlotStride;
            const Index at = begin_ + static_cast<Index>(i);
            const std::int32_t more = weights_[i];
            left[0] += here & !one ? more : 0;
            left[1] += here & one ? more : 0;
            grown |= here;
            inside.zeros[splits] = left[0];
            inside.ones[splits] = left[1];
            inside.end[splits] = at + 1;
            const bool split = grown & splits_[i];
            splits += split;
            grown &= !split;
        }
        for (int k = splits; k % kStep; ++k) inside.zeros[k] = inside.ones[k] = 0;
        return splits;
    }

    // The same where all but few rows of the block have weight one: the ones up to a row are bits to be counted. There
    // is a number for each row of the side; `tied` tells those that are not the last of the side in their group of
    // ties.
    int step_by_bits(int lane, int side, const std::int32_t* left, bool ends_wanted, InsideSplits& inside) const {
        std::uint64_t here = at_most(codes_, lane);
        if (side) here = ~here;
        here &= low_bits(count);
        const int splits = __builtin_popcountll(here);
        const std::uint64_t ones = picked(ones_, here);
        std::int32_t before = left[1], rows = left[0] + left[1] + 1;
        for (int first = 0; first < splits; first += kStep) {
            const unsigned low = static_cast<unsigned>(ones >> first & 0xff),
                           high = static_cast<unsigned>(ones >> (first + 8) & 0xff);
            const std::uint64_t halves[2] = {prefix_counts(low),
                                             prefix_counts(high) + kOneInEach * kPrefixCounts.of[low][7]};
            Bytes counts;
            std::memcpy(&counts, halves, sizeof counts);
            const Numbers at = kStepNumbers + first, y = __builtin_convertvector(counts, Numbers) + before;
            const Numbers within = at < splits, more_ones = y & within, more_zeros = (rows + at - y) & within;
            std::memcpy(inside.ones + first, &more_ones, sizeof more_ones);
            std::memcpy(inside.zeros + first, &more_zeros, sizeof more_zeros);
            before = y[kStep - 1];
        }
        // What a heavy row weighs more counts from its own split on.
        for (std::uint64_t heavy = heavy_ & here; heavy; heavy &= heavy - 1) {
            const int i = __builtin_ctzll(heavy), first = __builtin_popcountll(here & low_bits(i));
            std::int32_t* const sums = ones_ >> i & 1 ? inside.ones : inside.zeros;
            for (int k = first; k < splits; ++k) sums[k] += weights_[i] - 1;
        }
        // A row is tied with the next one of the side unless that is the first of its group.
        if (!no_ties && here) inside.tied = ~(picked(first_of_groups(here), here) >> 1) & (low_bits(splits) >> 1);
        if (!ends_wanted) return splits;
        Index* end = inside.end;
        for (; here; here &= here - 1) *end++ = begin_ + static_cast<Index>(__builtin_ctzll(here)) + 1;
        return splits;
    }

  private:
    // The lowest of these bits in each group of ties: x & -x, worked out in all groups at once. The end of each group
    // is a bit of x, so that nothing is carried from one to the next.
    std::uint64_t first_of_groups(std::uint64_t bits) const {
        const std::uint64_t x = bits | ends_;
        return bits & (~x + (ends_ << 1 | 1));
    }

    // Heavy rows of a block that are few, and what they weigh more than one: sums over the block fit into a byte.
    static constexpr int kFewHeavy = 6, kMostExtra = 60;

    Index begin_ = 0;
    bool balanced_ = false;
    std::uint64_t ones_ = 0;   // a bit for each row of class 1
    std::uint64_t ends_ = 0;   // a bit for each row that ends a group of ties
    std::uint64_t heavy_ = 0;  // a bit for each row whose weight is not one
    alignas(64) std::int8_t codes_[kMostBlockRows];
    Slot slots_[kMostBlockRows];
    std::int32_t weights_[kMostBlockRows];  // unless all rows of the block have weight one
    bool splits_[kMostBlockRows];           // whether a split follows the row
};

}  // namespace
}  // namespace provetree
