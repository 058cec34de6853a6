// Losses of class weights as the class kernel estimates them, in vectors of single precision: what leaves cost, and
// what a stump with its split inside a block costs at least.
//
// A loss sums up the class weights of a leaf in one number besides its weight (`Summary`), from which `cost` follows.
// Relative errors of single operations are below 2^-23, so an estimate of a leaf of weight W is wrong by less than
// 4e-6 W: Gini and pessimistic errors are sums and products of a handful of numbers up to W, and entropy is a sum of
// W_c times differences of logarithms below 21, each right to 2^-20. Entropy by tables is better than that.
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

// Class weights on one side of a vector of lanes, before and after a block. Differences are taken of whole numbers.
struct BlockSide {
    const ClassLanes& of;
    int side, first_lane;

    Floats after(int c) const { return as_floats(among(of.now, of.all, c)); }
    Floats rest_after(int c) const { return as_floats(whole(c) - among(of.now, of.all, c)); }
    Floats rest_before(int c) const { return as_floats(whole(c) - among(of.before, of.all_before, c)); }
    // The rows of the block.
    Floats inside(int c) const { return as_floats(among(of.now, of.all, c) - among(of.before, of.all_before, c)); }
    Ints whole(int c) const { return load(of.whole[side], c); }

    static Floats as_floats(Ints numbers) { return __builtin_convertvector(numbers, Floats); }

  private:
    Ints load(const std::int32_t* by_class, int c) const {
        Ints numbers;
        std::memcpy(&numbers, by_class + c * kSlotStride + first_lane, sizeof numbers);
        return numbers;
    }
    Ints among(const std::int32_t* left, const std::int32_t* all, int c) const {
        const Ints numbers = load(left, c);
        return side ? all[c] - numbers : numbers;
    }
};

// A leaf at one end of a block, in each lane: its weight and its summary.
struct Leaves {
    Floats weight{}, summary{};
};
// The rows before a split and those after it, at both ends of a block.
struct BlockEnds {
    Leaves left_before, left_after, right_before, right_after;
};

// A concave loss costs on the rows `left` and more rows x at least what it costs on `left` alone, plus x_c times the
// least slope of class c on the way. Both sides of a split inside the block get the block's rows d_c between them, so
// each of them counts with the lesser slope of the two.
struct Gini {
    // The summary is the sum of squares.
    static Floats add(Floats summary, Floats weight) { return summary + weight * weight; }
    static Floats cost(Floats weight, Floats summary) { return weight - summary / most(weight, broadcast<float>(1)); }

    // The slope of class c is 1 - 2 p_c + the sum of squared shares. No share exceeds that of adding class c alone, and
    // no sum of squares is below that of `left`, over the largest weight squared.
    static Floats least_inside(const BlockSide& side, const BlockEnds& ends) {
        const Floats left = ends.left_before.weight, right = ends.right_after.weight;
        const Floats rest = 1 + ends.left_before.summary / (ends.left_after.weight * ends.left_after.weight + 1e-30f),
                     other =
                         1 + ends.right_after.summary / (ends.right_before.weight * ends.right_before.weight + 1e-30f);
        Floats bound = cost(left, ends.left_before.summary) + cost(right, ends.right_after.summary);
        for (int c = 0; c < side.of.classes; ++c) {
            const Floats after = side.after(c), more = side.inside(c), right_most = side.rest_before(c);
            const Floats slope =
                least(rest - 2 * after / (left + more + 1e-30f), other - 2 * right_most / (right + more + 1e-30f));
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
    // The summary is the sum of x ln x.
    static Floats xlogx(Floats x) { return x * logarithm(most(x, broadcast<float>(1))); }
    static Floats add(Floats summary, Floats weight) { return summary + xlogx(weight); }
    static Floats cost(Floats weight, Floats summary) { return xlogx(weight) - summary; }

    // The slope of class c is -ln p_c.
    static Floats least_inside(const BlockSide& side, const BlockEnds& ends) {
        const Floats left = ends.left_before.weight, right = ends.right_after.weight;
        Floats bound = cost(left, ends.left_before.summary) + cost(right, ends.right_after.summary);
        for (int c = 0; c < side.of.classes; ++c) {
            const Floats after = side.after(c), more = side.inside(c), right_most = side.rest_before(c);
            const Floats share = most(after / (left + more + 1e-30f), right_most / (right + more + 1e-30f));
            bound = bound - more * logarithm(most(share, broadcast<float>(1e-12f)));
        }
        return bound;
    }

    struct Growing {
        double sum = 0;
        static double of(const ClassLanes& lanes, std::int32_t x) {
            if (static_cast<std::size_t>(x) < lanes.xlogx_size) return lanes.xlogx[x];
            return x * __builtin_log(x);
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
    static Floats add(Floats summary, Floats weight) { return most(summary, weight); }
    static Floats cost(Floats weight, Floats summary) {
        const Floats errors = weight - summary;
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

    // With t of the block's rows on the left, its errors are at least max(those before, W + t - the largest class
    // after the block), and so on the right. Between the places where one of these bends both are linear in t, and a
    // sum of concave functions is least at an end.
    static Floats least_inside(const BlockSide&, const BlockEnds& ends) {
        const Floats left = ends.left_before.weight, right = ends.right_after.weight,
                     rows = ends.left_after.weight - left;
        const Floats left_factor = factor(left), right_factor = factor(right);
        const Floats left_errors = left - ends.left_before.summary, right_errors = right - ends.right_after.summary;
        const auto at = [&](Floats t) {
            const Floats on_left = left + t, on_right = right + (rows - t);
            return left_factor * upper(on_left, most(left_errors, on_left - ends.left_after.summary)) +
                   right_factor * upper(on_right, most(right_errors, on_right - ends.right_before.summary));
        };
        const Floats bend = ends.left_after.summary - ends.left_before.summary,
                     other = rows - (ends.right_before.summary - ends.right_after.summary);
        return least(least(at(Floats{}), at(rows)), least(at(bend), at(other)));
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
