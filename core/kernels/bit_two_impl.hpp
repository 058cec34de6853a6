// The part of the bit kernel that two classes allow: differences of class counts instead of counts, and every pair of
// features counted once.
//
// Rows with difference d (rows of the first class less rows of the second), cut into parts with differences x and d -
// x, are classified right (n + |x| + |d - x|) / 2 times, and |x| + |d - x| is the largest of |d|, 2x - d and d - 2x. So
// of all second splits below a feature only the largest and the least x matter.
//
// The features stand on a circle: lane l at step r pairs feature l with feature l + r, and the steps up to half way
// round meet every pair.
#pragma once

#include "kernels/bit_impl.hpp"

namespace provetree {
namespace {

// The largest and the least difference that a second split leaves, for rows with a feature (x) and for rows without it
// (y); 0 is always among them.
struct Extremes {
    Lanes most_x{}, least_x{}, most_y{}, least_y{};

    static constexpr int kWords = 4 * kBitLanes;
    void load(const std::int16_t* from) { __builtin_memcpy(this, from, sizeof *this); }
    void store(std::int16_t* to) const { __builtin_memcpy(to, this, sizeof *this); }

    void take(Lanes x, Lanes y) {
        most_x = larger<std::int16_t>(most_x, x);
        least_x = smaller<std::int16_t>(least_x, x);
        most_y = larger<std::int16_t>(most_y, y);
        least_y = smaller<std::int16_t>(least_y, y);
    }
};

// What is known of one side (the rows counted, or the rest of their parent) while its pairs are gone through.
struct Side {
    const std::int16_t* singles;  // difference of each feature, around the circle from -margin on
    std::int16_t* pairs;          // rows by step, `row` apart; lane 0 at the pointer
    std::int16_t* extremes;       // Extremes of every vector of features

    std::int16_t* extremes_at(int f) const { return extremes + f / kBitLanes * Extremes::kWords; }
};

// Rows of words `bits` on that have both features, in steps r .. r + kSteps - 1, added to the sums or taken from them.
template <int kSteps, int kSign>
[[gnu::always_inline]] inline void add_rows(const std::uint16_t* bits, int stride, int words, int r, Lanes* sums) {
#if defined(__AVX512BITALG__)
    for (int w = 0; w < words; ++w, bits += stride) {
        const Lanes here = load_lanes(bits);
        for (int s = 0; s < kSteps; ++s) {
            const Lanes ones = ones_in(here & load_lanes(bits + r + s));
            sums[s] = kSign > 0 ? sums[s] + ones : sums[s] - ones;
        }
    }
#else
    while (words > 0) {
        const int some = words < CountedBits::kMostWords ? words : CountedBits::kMostWords;
        CountedBits counted[kSteps];
        for (int w = 0; w < some; ++w, bits += stride) {
            const Lanes here = load_lanes(bits);
            for (int s = 0; s < kSteps; ++s) counted[s].add(here & load_lanes(bits + r + s));
        }
        for (int s = 0; s < kSteps; ++s) sums[s] += kSign > 0 ? counted[s].total() : -counted[s].total();
        words -= some;
    }
#endif
}

// Steps r .. r + kSteps - 1 of the features from lane f on.
template <int kSteps>
inline void differences(const BitWords& words, int f, int r, Lanes* sums) {
    for (int s = 0; s < kSteps; ++s) sums[s] = Lanes{};
    const std::uint16_t* bits = words.bits + f;
    const int stride = words.stride, first = words.first_word[1], all = words.first_word[2];
    add_rows<kSteps, 1>(bits, stride, first, r, sums);
    add_rows<kSteps, -1>(bits + first * stride, stride, all - first, r, sums);
}

#if defined(__AVX512BW__)
// Where on a circle of fewer features than lanes the lanes from `begin` on are.
inline __m512i places_from(int begin, int features) {
    typedef std::uint16_t Places __attribute__((vector_size(kVectorBytes)));
    Places places;
    for (int lane = 0; lane < kBitLanes; ++lane) places[lane] = static_cast<std::uint16_t>(lane);
    const std::uint16_t all = static_cast<std::uint16_t>(features);
    places += static_cast<std::uint16_t>((begin % features + features) % features);
    for (int last = features - 1 + kBitLanes; last >= features; last -= features)
        places -= (Places)(places >= all) & all;
    return (__m512i)places;
}
#endif

void wrap_words(const BitWords& words, const FeatureCircle& circle) {
    std::uint16_t* bits = words.bits;
#if defined(__AVX512BW__)
    if (circle.half > 0 && circle.features < kBitLanes) {  // one feature alone has no margin
        const __m512i here = places_from(0, circle.features), after = places_from(kBitLanes, circle.features);
        for (int w = 0; w < words.first_word[2]; ++w, bits += words.stride) {
            const __m512i word = _mm512_loadu_si512(bits);
            _mm512_storeu_si512(bits, _mm512_permutexvar_epi16(here, word));
            _mm512_storeu_si512(bits + kBitLanes, _mm512_permutexvar_epi16(after, word));
        }
        return;
    }
#endif
    for (int w = 0; w < words.first_word[2]; ++w, bits += words.stride) {
        if (circle.features < kBitLanes) {
            for (int at = circle.features; at < words.stride; ++at) bits[at] = bits[at - circle.features];
            continue;
        }
        for (int at = circle.features; at < words.stride; at += kBitLanes) {
            const int to = at < words.stride - kBitLanes ? at : words.stride - kBitLanes;
            store_lanes(bits + to, load_lanes(bits + to - circle.features));
        }
    }
}

void count_differences(const BitWords& words, const FeatureCircle& circle, std::int16_t* pairs) {
    for (int f = 0; f < circle.lanes; f += kBitLanes) {
        int r = 1;
        Lanes sums[4];
        for (; r + 3 <= circle.half; r += 4) {
            differences<4>(words, f, r, sums);
            for (int s = 0; s < 4; ++s)
                store_lanes(pairs + static_cast<std::ptrdiff_t>(r + s - 1) * circle.lanes + f, sums[s]);
        }
        for (; r <= circle.half; ++r) {
            differences<1>(words, f, r, sums);
            store_lanes(pairs + static_cast<std::ptrdiff_t>(r - 1) * circle.lanes + f, sums[0]);
        }
    }
}

// Differences of single features around the circle, from -margin on.
inline const std::int16_t* spread_singles(const BitCounts& counts, const FeatureCircle& circle, std::int16_t* room) {
    std::int16_t* singles = room + circle.margin;
    for (int f = 0; f < circle.lanes; f += kBitLanes)
        store_lanes(singles + f, load_lanes(counts.of_feature + f) - load_lanes(counts.of_feature + circle.lanes + f));
#if defined(__AVX512BW__)
    if (circle.half > 0 && circle.features < kBitLanes) {  // one feature alone has no margin
        const __m512i given = _mm512_loadu_si512(singles);
        for (int at = -kBitLanes; at <= kBitLanes; at += kBitLanes)
            _mm512_storeu_si512(singles + at, _mm512_permutexvar_epi16(places_from(at, circle.features), given));
        return singles;
    }
#endif
    if (circle.features < kBitLanes) {
        for (int at = circle.features; at < circle.lanes + circle.half; ++at)
            singles[at] = singles[at - circle.features];
        for (int at = -1; at >= -circle.half; --at) singles[at] = singles[at + circle.features];
        return singles;
    }
    for (int at = circle.features; at < circle.lanes + circle.half; at += kBitLanes)
        store_lanes(singles + at, load_lanes(singles + at - circle.features));
    for (int at = -kBitLanes; at > -circle.half - kBitLanes; at -= kBitLanes)
        store_lanes(singles + at, load_lanes(singles + at + circle.features));
    return singles;
}

// For every feature the most rows that a second split, or none, classifies correctly on either side of it.
inline void close(const BitCounts& counts, const FeatureCircle& circle, const Side& side, BitStumps stumps) {
    const Lanes total = broadcast<std::int16_t>(static_cast<std::int16_t>(counts.all[0] + counts.all[1]));
    const Lanes difference = broadcast<std::int16_t>(static_cast<std::int16_t>(counts.all[0] - counts.all[1]));
    for (int f = 0; f < circle.lanes; f += kBitLanes) {
        Extremes seen;
        seen.load(side.extremes_at(f));
        const Lanes with = load_lanes(counts.of_feature + f) + load_lanes(counts.of_feature + circle.lanes + f),
                    without = total - with;
        const Lanes x = load_lanes(side.singles + f), y = difference - x;
        // In this order of additions nothing leaves the range of the counts.
        const Lanes gain_x = larger<std::int16_t>((seen.most_x - x) + seen.most_x, (x - seen.least_x) - seen.least_x);
        const Lanes gain_y = larger<std::int16_t>((seen.most_y - y) + seen.most_y, (y - seen.least_y) - seen.least_y);
        // Halved before they are added: both are odd or both are even.
        const auto half_of_sum = [](Lanes a, Lanes b) { return ((a & b) + ((a ^ b) >> 1)); };
        store_lanes(stumps.with + f, half_of_sum(with, gain_x));
        store_lanes(stumps.without + f, half_of_sum(without, gain_y));
    }
}

template <bool kOwn, bool kRest>
void best_stumps_of_two(const BitWords given, const std::int16_t* __restrict parent_pairs, const FeatureCircle circle,
                        const Side own, const Side rest) {
    const std::ptrdiff_t row = circle.margin + circle.lanes;
    // Copies, which no store can change.
    const int first_word[3] = {given.first_word[0], given.first_word[1], given.first_word[2]};
    const BitWords words{given.bits, given.stride, given.n_classes, first_word};
    // A pair as it concerns the feature of the lane.
    for (int f = 0; f < circle.lanes; f += kBitLanes) {
        Extremes of_own, of_rest;
        const auto take = [&](int r, Lanes both) {
            if constexpr (kOwn) {
                store_lanes(own.pairs + r * row + f, both);
                of_own.take(both, load_lanes(own.singles + f + r) - both);
            }
            if constexpr (kRest) {
                const Lanes others =
                    load_lanes(parent_pairs + static_cast<std::ptrdiff_t>(r - 1) * circle.lanes + f) - both;
                store_lanes(rest.pairs + r * row + f, others);
                of_rest.take(others, load_lanes(rest.singles + f + r) - others);
            }
        };
        int r = 1;
        Lanes sums[4];
        for (; r + 3 <= circle.half; r += 4) {
            differences<4>(words, f, r, sums);
            for (int s = 0; s < 4; ++s) take(r + s, sums[s]);
        }
        for (; r <= circle.half; ++r) {
            differences<1>(words, f, r, sums);
            take(r, sums[0]);
        }
        if constexpr (kOwn) of_own.store(own.extremes_at(f));
        if constexpr (kRest) of_rest.store(rest.extremes_at(f));
    }
    // The same pair as it concerns the other feature, r lanes on; lanes before the first are those at the end of the
    // circle.
    const auto other_way_round = [&](const Side side) {
        for (int r = 1; r <= circle.half; ++r)
            for (int begin = -kBitLanes; begin > -r - kBitLanes; begin -= kBitLanes)
                store_lanes(side.pairs + r * row + begin, load_lanes(side.pairs + r * row + circle.features + begin));
        for (int f = 0; f < circle.lanes; f += kBitLanes) {
            Extremes seen;
            seen.load(side.extremes_at(f));
            for (int r = 1; r <= circle.half; ++r) {
                const Lanes both = load_once(side.pairs + r * row + f - r);
                seen.take(both, load_lanes(side.singles + f - r) - both);
            }
            seen.store(side.extremes_at(f));
        }
    };
    if constexpr (kOwn) other_way_round(own);
    if constexpr (kRest) other_way_round(rest);
}

void best_stumps_by_differences(const BitWords& words, const BitCounts& own, const BitCounts& rest,
                                const std::int16_t* parent_pairs, const FeatureCircle& circle, std::int16_t* room,
                                BitStumps of_own, BitStumps of_rest) {
    const auto side_in = [&](std::int16_t* at, const BitCounts& counts) {
        std::int16_t* singles = at + 4 * circle.lanes;
        // Behind the singles, and what is stored beyond their end, come the steps, each with its margin first. There is
        // no step 0.
        std::int16_t* pairs = singles + 2 * circle.margin + kFeatureBlock;
        return Side{spread_singles(counts, circle, singles), pairs, at};
    };
    const bool with_own = of_own.with != nullptr, with_rest = of_rest.with != nullptr;
    Side sides[2] = {};
    if (with_own) sides[0] = side_in(room, own);
    if (with_rest) sides[1] = side_in(room + circle.room_of_side(), rest);
    if (with_own && with_rest)
        best_stumps_of_two<true, true>(words, parent_pairs, circle, sides[0], sides[1]);
    else if (with_own)
        best_stumps_of_two<true, false>(words, parent_pairs, circle, sides[0], sides[1]);
    else
        best_stumps_of_two<false, true>(words, parent_pairs, circle, sides[0], sides[1]);
    if (with_own) close(own, circle, sides[0], of_own);
    if (with_rest) close(rest, circle, sides[1], of_rest);
}

constexpr BitKernel make_bit_kernel() {
    return BitKernel{compare,
                     mark_above,
                     pack,
                     select,
                     wrap_words,
                     count,
                     count_pairs,
                     best_stumps,
                     count_differences,
                     best_stumps_by_differences,
                     count_with_feature,
                     raise_floors,
                     fewest_errors};
}

}  // namespace
}  // namespace provetree
