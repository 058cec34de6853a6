// Losses of class weights as the class kernel estimates them, in vectors of single precision: what leaves cost, and
// what a stump with its split inside a block costs at least.
//
// A loss sums up the class weights of a leaf in one number besides its weight (`summary`), from which `cost` follows.
// How wrong an estimate can be, for a leaf of weight W and K classes, with u = 2^-24:
// - Gini: shares of W, and a sum of K squares over W: less than (K + 4) u W.
// - Entropy: K + 1 terms x (ln x - centre), which add up to at most (ln K + 1) W < 8 W in size, each right to 2 u in
//   the table and to 44 u x where the logarithm, below 21, is worked out; their sum is right to 8 K u W more. Together
//   less than (100 + 8 K) u W.
// - Pessimistic errors: a handful of products and roots of numbers up to 2 W: less than 30 u W.
// - Lower bounds of entropy: terms up to 7 W in size, each right to 4 u of it, less a share that is rounded up.
// Bounds add a term for each class on top: x_c times a slope below 28, right to 4 u of it and 4 u x_c.
// All are below (1e-5 + 5e-7 K) W.
#pragma once

#include "kernels/class_kernel.hpp"
#include "kernels/simd.hpp"

#if defined(__SSE2__) && !defined(__AVX2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace provetree {
namespace {

using Floats = Vector<float>;
using Ints = Vector<std::int32_t>;
constexpr int kFloats = kWidth<float>;

inline Floats load_floats(const float* from) {
    Floats numbers;
    std::memcpy(&numbers, from, sizeof numbers);
    return numbers;
}
inline Floats chosen(Ints wanted, Floats yes, Floats no) {
    return (Floats)((wanted & (Ints)yes) | (~wanted & (Ints)no));
}
inline Floats least(Floats a, Floats b) { return chosen(a < b, a, b); }
inline Floats most(Floats a, Floats b) { return chosen(a > b, a, b); }

// A bit for each lane whose comparison holds.
inline unsigned bits_of(Ints holds) {
#if defined(__AVX512BW__)
    return _mm512_movepi32_mask((__m512i)holds);
#elif defined(__AVX2__)
    return static_cast<unsigned>(_mm256_movemask_ps((__m256)holds));
#elif defined(__SSE2__)
    return static_cast<unsigned>(_mm_movemask_ps((__m128)holds));
#else
    unsigned bits = 0;
    for (int lane = 0; lane < kFloats; ++lane) bits |= static_cast<unsigned>(holds[lane] != 0) << lane;
    return bits;
#endif
}

inline Floats as_floats(Ints numbers) { return __builtin_convertvector(numbers, Floats); }
inline Ints load_whole(const std::int32_t* from) {
    Ints numbers;
    std::memcpy(&numbers, from, sizeof numbers);
    return numbers;
}

inline Floats look_up(const float* table, Ints at) {
#if defined(__AVX512BW__)
    return (Floats)_mm512_i32gather_ps((__m512i)at, table, 4);
#elif defined(__AVX2__)
    return (Floats)_mm256_i32gather_ps(table, (__m256i)at, 4);
#else
    Floats numbers;
    for (int lane = 0; lane < kFloats; ++lane) numbers[lane] = table[at[lane]];
    return numbers;
#endif
}

inline Floats square_root(Floats x) {
#if defined(__AVX512BW__)
    return (Floats)_mm512_sqrt_ps((__m512)x);
#elif defined(__AVX2__)
    return (Floats)_mm256_sqrt_ps((__m256)x);
#elif defined(__SSE2__)
    return (Floats)_mm_sqrt_ps((__m128)x);
#elif defined(__aarch64__)
    return (Floats)vsqrtq_f32((float32x4_t)x);
#else
    for (int lane = 0; lane < kFloats; ++lane) x[lane] = __builtin_sqrtf(x[lane]);
    return x;
#endif
}

#if defined(__AVX512BW__)
// The numbers of a table of 32 at the low five bits of each index.
inline Floats look_up_few(const float* table, Ints at) {
    return (Floats)_mm512_permutex2var_ps(_mm512_loadu_ps(table), (__m512i)at, _mm512_loadu_ps(table + 16));
}
// 1 / x, made too large by up to 2^-12 of it.
inline Floats inverse_at_least(Floats x) { return (Floats)_mm512_rcp14_ps((__m512)x) * 1.000125f; }
#endif

// The natural logarithm of numbers of at least 1e-30: a polynomial between the square roots of a half and of two.
inline Floats logarithm(Floats x) {
    const Ints bits = (Ints)x;
    Floats exponent = __builtin_convertvector((bits >> 23) - 126, Floats);
    Floats m = (Floats)((bits & 0x7fffff) | 0x3f000000);
    const Ints low = m < 0.70710678f;
    m = m + (Floats)(low & (Ints)m) - 1;
    exponent = exponent - (Floats)(low & (Ints)broadcast<float>(1));
    Floats y = 7.0376836292e-2f * m - 1.1514610310e-1f;
    y = y * m + 1.1676998740e-1f;
    y = y * m - 1.2420140846e-1f;
    y = y * m + 1.4249322787e-1f;
    y = y * m - 1.6668057665e-1f;
    y = y * m + 2.0000714765e-1f;
    y = y * m - 2.4999993993e-1f;
    y = y * m + 3.3333331174e-1f;
    const Floats square = m * m;
    return (m + (y * m * square - 0.5f * square)) + exponent * 0.69314718f;
}

// A leaf in each lane: its weight, and what its loss sums up of the class weights.
struct Leaves {
    Ints weight{};
    Floats summary{};
};

// One side of a vector of lanes at both ends of a block: class weights of its rows before the split and after it.
struct BlockSide {
    const ClassLanes& lanes;
    int side, first_lane;
    const std::int32_t *left_before, *left_after, *all_before, *all_after;

    Ints whole(int c) const { return load_whole(lanes.whole[side] + c * kLanes + first_lane); }
    Ints before(int c) const { return among(left_before, all_before, c); }
    Ints after(int c) const { return among(left_after, all_after, c); }
    Ints inside(int c) const { return after(c) - before(c); }
    Ints rest_before(int c) const { return whole(c) - before(c); }
    Ints rest_after(int c) const { return whole(c) - after(c); }

  private:
    Ints among(const std::int32_t* left, const std::int32_t* all, int c) const {
        const Ints numbers = load_whole(left + c * kLanes + first_lane);
        return side ? all[c] - numbers : numbers;
    }
};

// Leaves of one side of a vector of lanes: before a block, after it, and what remains of the side then.
template <class Loss>
struct BlockEnds {
    Leaves before, after, rest_before, rest_after;
    explicit BlockEnds(const BlockSide& side) {
        for (int c = 0; c < side.lanes.classes; ++c) {
            grow(side.lanes, before, side.before(c));
            grow(side.lanes, after, side.after(c));
            grow(side.lanes, rest_before, side.rest_before(c));
            grow(side.lanes, rest_after, side.rest_after(c));
        }
    }
    static void grow(const ClassLanes& lanes, Leaves& leaves, Ints of_class) {
        leaves.weight += of_class;
        leaves.summary = Loss::join(leaves.summary, Loss::part(lanes, of_class));
    }
};

template <class Loss>
Floats cost_of(const ClassLanes& lanes, const Leaves& leaves) {
    return Loss::cost(lanes, leaves.weight, leaves.summary);
}
template <class Loss>
Floats cost_of_two(const ClassLanes& lanes, Ints zeros, Ints ones) {
    return Loss::cost(lanes, zeros + ones, Loss::join(Loss::part(lanes, zeros), Loss::part(lanes, ones)));
}

// What a leaf of two classes costs at least, for less than its cost takes.
template <class Loss>
Floats lower_of_two(const ClassLanes& lanes, Ints zeros, Ints ones) {
    if constexpr (Loss::kHasLower)
        return Loss::lower_of_two(lanes, zeros, ones);
    else
        return cost_of_two<Loss>(lanes, zeros, ones);
}

// Two classes: what the ones less the zeros of the block's first rows come to at least and at most, on one side of a
// vector of lanes.
struct Balance {
    Ints least, most;
};

// Two classes under a concave loss. With x zeros and y ones of the block on the left, the leaves inside the block lie
// where 0 <= x <= zeros, 0 <= y <= ones and least <= y - x <= most: a polygon of six corners, at one of which concave
// functions are least. Two of them are the ends of the block.
template <class Loss>
Floats least_of_corners(const BlockSide& side, const Balance& balance) {
    const Ints zeros = side.inside(0), ones = side.inside(1);
    const auto cost = Loss::concave(side);
    Floats bound = least(least(cost(-balance.least, Ints{}), cost(zeros, zeros + balance.least)),
                         least(cost(Ints{}, balance.most), cost(ones - balance.most, ones)));
    // Both ends are splits that have been looked at, in full; with a minimum leaf size they may have been refused.
    if (Loss::kConcave && !side.lanes.counts) return bound;
    return least(bound, least(cost(Ints{}, Ints{}), cost(zeros, ones)));
}

// The same without a balance: a rectangle, two corners of which are the ends of the block.
template <class Loss>
Floats least_without_balance(const BlockSide& side) {
    const auto cost = Loss::concave(side);
    return least(cost(side.inside(0), Ints{}), cost(Ints{}, side.inside(1)));
}

// The cost, or less, for losses that are concave: what is less at the corners bounds what is inside, too.
template <class Loss>
struct ConcaveCost {
    const ClassLanes& lanes;
    Ints zeros, ones, rest_zeros, rest_ones;
    explicit ConcaveCost(const BlockSide& side)
        : lanes(side.lanes), zeros(side.before(0)), ones(side.before(1)), rest_zeros(side.rest_before(0)),
          rest_ones(side.rest_before(1)) {}
    Floats operator()(Ints x, Ints y) const {
        return lower_of_two<Loss>(lanes, zeros + x, ones + y) +
               lower_of_two<Loss>(lanes, rest_zeros - x, rest_ones - y);
    }
};

// Many classes under a concave loss: rows x more than those before the block cost at least x_c times the least slope of
// class c on the way, and so on the other side. The block's rows of a class are divided between both sides, so each of
// them counts with the lesser slope of the two.
struct Gini {
    static constexpr bool kConcave = true, kHasLower = false;
    static ConcaveCost<Gini> concave(const BlockSide& side) { return ConcaveCost<Gini>(side); }
    // The summary is the sum of squares.
    static Floats part(const ClassLanes&, Ints weight) { return as_floats(weight) * as_floats(weight); }
    static Floats join(Floats a, Floats b) { return a + b; }
    static constexpr float kLeast = 0;  // of a leaf that is not empty
    static Floats cost(const ClassLanes&, Ints weight, Floats summary) {
        const Floats size = as_floats(weight);
        return size - summary / most(size, broadcast<float>(1));
    }

    // The slope of class c is 1 - 2 p_c + the sum of squared shares. No share exceeds that of adding class c alone, and
    // no sum of squares is below that before the block, over the largest weight squared.
    static Floats least_inside(const BlockSide& side) {
        const BlockEnds<Gini> ends(side);
        const Floats left = as_floats(ends.before.weight), right = as_floats(ends.rest_after.weight),
                     left_most = as_floats(ends.after.weight), right_most = as_floats(ends.rest_before.weight);
        const Floats left_squares = 1 + ends.before.summary / (left_most * left_most + 1e-30f),
                     right_squares = 1 + ends.rest_after.summary / (right_most * right_most + 1e-30f);
        Floats bound = cost_of<Gini>(side.lanes, ends.before) + cost_of<Gini>(side.lanes, ends.rest_after);
        for (int c = 0; c < side.lanes.classes; ++c) {
            const Floats more = as_floats(side.inside(c));
            const Floats slope = least(left_squares - 2 * as_floats(side.after(c)) / (left + more + 1e-30f),
                                       right_squares - 2 * as_floats(side.rest_before(c)) / (right + more + 1e-30f));
            bound = bound + more * most(slope, Floats{});
        }
        return bound;
    }

    // A leaf that grows row by row.
    struct Growing {
        double squares = 0;
        void start(const ClassLanes& lanes, const std::int32_t* by_class) {
            squares = 0;
            for (int c = 0; c < lanes.classes; ++c) squares += static_cast<double>(by_class[c]) * by_class[c];
        }
        void add(const ClassLanes&, std::int32_t was, std::int32_t weight) {
            squares += static_cast<double>(weight) * (2.0 * was + weight);
        }
        float summary() const { return static_cast<float>(squares); }
    };
};

struct Entropy {
    static constexpr bool kConcave = true;
#if defined(__AVX512BW__)
    // By a parabola below the entropy of shares, which is closest around the share at hand; see entropy_parabolas.
    static constexpr bool kHasLower = true;
    static Floats lower_of_two(const ClassLanes& lanes, Ints zeros, Ints ones) {
        const Floats lesser = as_floats(smaller<std::int32_t>(zeros, ones));
        const Floats weight = as_floats(larger<std::int32_t>(zeros + ones, Ints{} + 1));
        const Floats share = lesser * inverse_at_least(weight);
        const Ints at = __builtin_convertvector(share * (2 * kParabolas - 0.1f), Ints);
        return lesser * (look_up_few(lanes.parabolas, at) - look_up_few(lanes.parabolas + kParabolas, at) * share);
    }
#else
    static constexpr bool kHasLower = false;
#endif
    static ConcaveCost<Entropy> concave(const BlockSide& side) { return ConcaveCost<Entropy>(side); }
    // The summary is the sum of x (ln x - centre).
    static Floats part(const ClassLanes& lanes, Ints weight) {
        if (lanes.xlogx) return look_up(lanes.xlogx, weight);
        const Floats x = as_floats(weight);
        return x * (logarithm(most(x, broadcast<float>(1))) - lanes.centre);
    }
    static Floats join(Floats a, Floats b) { return a + b; }
    static constexpr float kLeast = 0;
    static Floats cost(const ClassLanes& lanes, Ints weight, Floats summary) { return part(lanes, weight) - summary; }

    // The slope of class c is -ln p_c.
    static Floats least_inside(const BlockSide& side) {
        const BlockEnds<Entropy> ends(side);
        const Floats left = as_floats(ends.before.weight), right = as_floats(ends.rest_after.weight);
        Floats bound = cost_of<Entropy>(side.lanes, ends.before) + cost_of<Entropy>(side.lanes, ends.rest_after);
        for (int c = 0; c < side.lanes.classes; ++c) {
            const Floats more = as_floats(side.inside(c));
            const Floats share = most(as_floats(side.after(c)) / (left + more + 1e-30f),
                                      as_floats(side.rest_before(c)) / (right + more + 1e-30f));
            bound = bound - more * logarithm(most(share, broadcast<float>(1e-12f)));
        }
        return bound;
    }

    struct Growing {
        double sum = 0;
        static double of(const ClassLanes& lanes, std::int32_t x) {
            if (lanes.xlogx) return static_cast<double>(lanes.xlogx[x]);
            return x ? x * (__builtin_log(x) - static_cast<double>(lanes.centre)) : 0;
        }
        void start(const ClassLanes& lanes, const std::int32_t* by_class) {
            sum = 0;
            for (int c = 0; c < lanes.classes; ++c) sum += of(lanes, by_class[c]);
        }
        void add(const ClassLanes& lanes, std::int32_t was, std::int32_t weight) {
            sum += of(lanes, was + weight) - of(lanes, was);
        }
        float summary() const { return static_cast<float>(sum); }
    };
};

struct Pessimistic {
    static constexpr float kZ = 0.67448975f, kSquare = kZ * kZ;

    // The summary is the largest class; e errors are all the others.
    static Floats part(const ClassLanes&, Ints weight) { return as_floats(weight); }
    static Floats join(Floats a, Floats b) { return most(a, b); }
    static constexpr float kLeast = 0.75f;
    static Floats cost(const ClassLanes&, Ints rows, Floats summary) {
        const Floats weight = as_floats(rows), errors = weight - summary;
        const Floats some = upper(weight, errors) * weight / (weight + kSquare);
        const Ints pure = errors < 0.5f;
        if (!bits_of(pure)) return some;
        return chosen(pure, without_errors(weight), some);
    }
    // W (1 - (1/4)^(1/W)), by the series of the exponential in ln 4 / W. An empty leaf costs nothing.
    static Floats without_errors(Floats weight) {
        const Floats t = 1.38629436f / most(weight, broadcast<float>(1));
        Floats sum{};
        float factor[12] = {1};
        for (int k = 1; k < 12; ++k) factor[k] = -factor[k - 1] / static_cast<float>(k + 1);
        for (int k = 11; k >= 0; --k) sum = sum * t + factor[k];
        return (Floats)((weight > 0.5f) & (Ints)(1.38629436f * sum));
    }
    // A(W, e) = m + z^2/2 + z sqrt(m - m^2 / W + z^2/4) with m = e + 1/2. A leaf with errors costs W / (W + z^2) A. A
    // is concave in W and e together, as m^2 / W is convex, and does not fall in either.
    static Floats upper(Floats weight, Floats errors) {
        const Floats m = errors + 0.5f;
        return m + kSquare / 2 +
               kZ * square_root(most(m - m * m / most(weight, broadcast<float>(1)), Floats{}) + kSquare / 4);
    }
    // The least of W / (W + 0.52) A over leaves of at least this weight; all of them cost at least as much: without
    // errors, W = 1 costs 0.75 and has A = 1.135, and the others cost W / (W + z^2) A or more.
    static Floats factor(Floats weight) { return weight / (weight + 0.52f); }

    static constexpr bool kConcave = false, kHasLower = false;
    // A concave function of the class weights that no cost is below, for both leaves of the splits of a block: errors
    // are the lesser of two linear functions. Neither side is empty.
    struct Below {
        Floats zeros, ones, rest_zeros, rest_ones, left_factor, right_factor;
        explicit Below(const BlockSide& side)
            : zeros(as_floats(side.before(0))), ones(as_floats(side.before(1))),
              rest_zeros(as_floats(side.rest_before(0))), rest_ones(as_floats(side.rest_before(1))) {
            const Floats one = broadcast<float>(1);
            left_factor = factor(most(zeros + ones, one));
            right_factor = factor(most(as_floats(side.rest_after(0) + side.rest_after(1)), one));
        }
        Floats operator()(Ints x, Ints y) const {
            const Floats more_zeros = as_floats(x), more_ones = as_floats(y);
            return left_factor * of(zeros + more_zeros, ones + more_ones) +
                   right_factor * of(rest_zeros - more_zeros, rest_ones - more_ones);
        }
        static Floats of(Floats a, Floats b) { return upper(a + b, least(a, b)); }
    };
    static Below concave(const BlockSide& side) { return Below(side); }

    // Many classes. With t of the block's rows on the left, its errors are at least max(those before, W + t - the
    // largest class after the block), and so on the right. Between the places where one of these bends both are linear
    // in t, and a sum of concave functions is least at an end. Neither side is empty.
    static Floats least_inside(const BlockSide& side) {
        const BlockEnds<Pessimistic> ends(side);
        const Floats left = as_floats(ends.before.weight), right = as_floats(ends.rest_after.weight),
                     rows = as_floats(ends.after.weight - ends.before.weight), one = broadcast<float>(1);
        const Floats left_factor = factor(most(left, one)), right_factor = factor(most(right, one));
        const Floats left_errors = left - ends.before.summary, right_errors = right - ends.rest_after.summary;
        const Floats first = chosen(left < one, one, Floats{}), last = rows - chosen(right < one, one, Floats{});
        const auto at = [&](Floats wanted) {
            const Floats t = least(most(wanted, first), last), on_left = left + t, on_right = right + (rows - t);
            return left_factor * upper(on_left, most(left_errors, on_left - ends.after.summary)) +
                   right_factor * upper(on_right, most(right_errors, on_right - ends.rest_before.summary));
        };
        const Floats bend = ends.after.summary - ends.before.summary,
                     other_bend = rows - (ends.rest_before.summary - ends.rest_after.summary);
        return least(least(at(first), at(last)), least(at(bend), at(other_bend)));
    }

    struct Growing {
        std::int32_t largest = 0;
        void start(const ClassLanes& lanes, const std::int32_t* by_class) {
            largest = 0;
            for (int c = 0; c < lanes.classes; ++c) largest = larger_of(largest, by_class[c]);
        }
        void add(const ClassLanes&, std::int32_t was, std::int32_t weight) {
            largest = larger_of(largest, was + weight);
        }
        float summary() const { return static_cast<float>(largest); }
    };
};

}  // namespace
}  // namespace provetree
