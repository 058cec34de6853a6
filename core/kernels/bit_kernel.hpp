// The bit kernel: binary features as bits over rows, sixteen rows to a word, words column by column, so that one vector
// holds a word of many features. Compiled once per instruction set, as the sweeps are; all versions give the same
// answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace provetree {

// Features are padded to whole vectors of the widest kernel.
inline constexpr int kFeatureBlock = 32;

// Classes that the kernel keeps room for.
inline constexpr int kMostBitClasses = 8;

// The rows of a node: bits[w * stride + f] holds feature f of sixteen rows of one class; words of class c are
// first_word[c] .. first_word[c + 1] - 1.
struct BitWords {
    std::uint16_t* bits;
    int stride;
    int n_classes;
    const int* first_word;
};

// How two-class nodes are laid out: the features stand on a circle, so that the words of a node go on with the first
// features after the last. A pair of features is one of the steps 1 .. half from one of them to the other.
struct FeatureCircle {
    int features;
    int lanes;   // features, padded
    int half;    // steps that meet every pair
    int margin;  // half, padded: how far words go on after the last lane

    explicit FeatureCircle(int count)
        : features(count),
          lanes(count < kFeatureBlock ? kFeatureBlock : (count + kFeatureBlock - 1) / kFeatureBlock * kFeatureBlock),
          half(count / 2), margin((half + kFeatureBlock - 1) / kFeatureBlock * kFeatureBlock) {}

    std::ptrdiff_t pairs() const { return static_cast<std::ptrdiff_t>(half) * lanes; }
    // 16-bit numbers that best_stumps_by_differences needs as scratch, for each side.
    std::ptrdiff_t room_of_side() const {
        return 5 * lanes + 2 * margin + kFeatureBlock + static_cast<std::ptrdiff_t>(half) * (margin + lanes);
    }
};

// Class counts of a node: of_feature[c * lanes + f] rows of class c have feature f (lanes: features, padded), of
// all[c].
struct BitCounts {
    const std::int16_t* of_feature;
    const std::int16_t* all;
};

// For every feature as a split: the most rows that one more split classifies correctly among those with it and those
// without it.
struct BitStumps {
    std::int16_t* with = nullptr;
    std::int16_t* without = nullptr;
};

// What a split of a node was proven to cost on both sides, the rows with its feature and those without it, and how many
// these are.
struct SplitProof {
    std::int32_t cost_with, cost_without, rows_with, rows_without;
};

// Rows have an even number of masks, so that two can be read as one number.
inline int mask_stride(int blocks) { return (blocks + 1) / 2 * 2; }

struct BitKernel {
    // Bit i of `differs` and `neither` (64 to a word): whether number i of x is another than the first, and than both.
    // NaN differs from everything.
    void (*compare)(const double* x, const double* first, const double* second, std::size_t count,
                    std::uint64_t* differs, std::uint64_t* neither);

    // Sets the bit in the masks of the rows whose rank is above this one.
    void (*mark_above)(const std::uint32_t* ranks, std::size_t count, std::uint32_t rank, std::uint32_t bit,
                       std::uint32_t* masks);

    // Turns rows (32 features to a mask, `blocks` masks to a row, rows mask_stride(blocks) apart) into the words of a
    // node: sixteen rows each, the last padded with zeros.
    void (*pack)(const std::uint32_t* masks, int blocks, const std::uint32_t* rows, int count, std::uint16_t* bits,
                 int stride);

    // Rows among `count` whose bit of one feature (words `stride` apart) is set, or is not; returns how many. Outputs
    // need 16 entries of slack.
    int (*select)(const std::uint32_t* rows, int count, const std::uint16_t* bits, int stride, bool has,
                  std::uint32_t* chosen);

    // Two classes: lets the words of a node go on around the circle.
    void (*wrap_words)(const BitWords& words, const FeatureCircle& circle);

    // counts[c * lanes + f]: rows of class c that have feature f.
    void (*count)(const BitWords& words, int lanes, std::int16_t* counts);

    // counts[(c * features + i) * stride + j]: rows of class c that have both features, for j from the block of i on.
    void (*count_pairs)(const BitWords& words, int features, std::int16_t* counts);

    // The best stumps below every feature, on the rows of `words`, or on the rows of a parent that are not among them
    // (`rest`, with the parent's pair counts), or both. Either output may have null pointers. Callers start the outputs
    // at 0, which is what a feature without a stump whose leaves have `min_leaf` rows keeps.
    void (*best_stumps)(const BitWords& words, const BitCounts& own, const BitCounts& rest,
                        const std::int16_t* parent_pairs, int features, int min_leaf, BitStumps of_own,
                        BitStumps of_rest);

    // Two classes: pairs[(r - 1) * lanes + f]: rows of class 0 less rows of class 1 that have feature f and the feature
    // r steps on.
    void (*count_differences)(const BitWords& words, const FeatureCircle& circle, std::int16_t* pairs);

    // Two classes: as best_stumps, with the parent's differences. `room` has room for both sides.
    void (*best_stumps_by_differences)(const BitWords& words, const BitCounts& own, const BitCounts& rest,
                                       const std::int16_t* parent_pairs, const FeatureCircle& circle,
                                       std::int16_t* room, BitStumps of_own, BitStumps of_rest);

    // both[f]: rows that have this feature and feature f.
    void (*count_with_feature)(const BitWords& words, int lanes, int feature, std::int16_t* both);

    // Raises what both sides of every split of a node cost at least, by what is proven for one of them: a tree for the
    // rows of one side is a tree for those of another, wrong at most on every row that only the other has. with[f]:
    // rows that have feature f; both[f]: and the one of the proof.
    void (*raise_floors)(int lanes, const SplitProof& proof, std::int32_t error_scale, const std::int16_t* with,
                         const std::int16_t* both, std::int32_t* floor_with, std::int32_t* floor_without);

    // Fewest errors of trees of depth two with at most one, two and three splits, from a node's counts and the best
    // stumps below every feature. Every leaf has `min_leaf` rows, at least one.
    void (*fewest_errors)(const BitCounts& counts, int n_classes, int features, int lanes, int min_leaf,
                          BitStumps stumps, std::int32_t errors[3]);
};

// The bit kernel that goes with the sweeps of that name (see choose_kernel).
const BitKernel& choose_bit_kernel(const std::string& name);

namespace kernels {
extern const BitKernel bits_baseline;
#if defined(PROVETREE_X86_KERNELS)
extern const BitKernel bits_avx2;
extern const BitKernel bits_avx512;
extern const BitKernel bits_avx512_bitalg;
#endif
}  // namespace kernels

}  // namespace provetree
