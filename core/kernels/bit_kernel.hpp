// The bit kernel: binary features as bits over rows, sixteen rows to a word, words column by column, so that one vector holds a word of many features.
// Compiled once per instruction set, as the sweeps are; all versions give the same answers.
#pragma once

#include <cstdint>
#include <string>

namespace provetree {

// Features are padded to whole vectors of the widest kernel.
inline constexpr int kFeatureBlock = 32;

// Classes that the kernel keeps room for.
inline constexpr int kMostBitClasses = 8;

// The rows of a node: bits[w * stride + f] holds feature f of sixteen rows of one class; words of class c are first_word[c] .. first_word[c + 1] - 1.
struct BitWords {
    const std::uint16_t* bits;
    int stride;
    int n_classes;
    const int* first_word;
};

// Class counts of a node: of_feature[c * stride + f] rows of class c have feature f, of all[c].
struct BitCounts {
    const std::int16_t* of_feature;
    const std::int16_t* all;
};

// For every feature as a split: the most rows that one more split classifies correctly among those with it and those without it.
struct BitStumps {
    std::int16_t* with;
    std::int16_t* without;
};

struct BitKernel {
    // Turns rows (32 features to a mask, `blocks` masks to a row) into the words of a node: sixteen rows each, the last padded with zeros.
    void (*pack)(const std::uint32_t* masks, int blocks, const std::uint32_t* rows, int count, std::uint16_t* bits, int stride);

    // Rows among `count` whose bit of one feature (words `stride` apart) is set, or is not; returns how many. Outputs need 16 entries of slack.
    int (*select)(const std::uint32_t* rows, int count, const std::uint16_t* bits, int stride, bool has, std::uint32_t* chosen);

    // counts[c * stride + f]: rows of class c that have feature f.
    void (*count)(const BitWords& words, std::int16_t* counts);

    // counts[(c * features + i) * stride + j]: rows of class c that have both features, for j from the block of i on.
    void (*count_pairs)(const BitWords& words, int features, std::int16_t* counts);

    // The best stumps below every feature, on the rows of `words`, or on the rows of a parent that are not among them (`rest`, with the parent's pair
    // counts), or both. Either output may have null pointers. Callers start the outputs at 0.
    void (*best_stumps)(const BitWords& words, const BitCounts& own, const BitCounts& rest, const std::int16_t* parent_pairs, int features, BitStumps of_own,
                        BitStumps of_rest);

    // Fewest errors of trees of depth two with at most one, two and three splits, from a node's counts and the best stumps below every feature.
    void (*fewest_errors)(const BitCounts& counts, int n_classes, int features, int stride, BitStumps stumps, std::int32_t errors[3]);
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
