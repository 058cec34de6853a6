// Sums of doubles that are rounded once, but for sums whose terms cancel beyond two hundred bits.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace provetree {

// Each level holds what the one above it rounded off (Ogita, Rump and Oishi, "Accurate sum and dot product", 2005).
class ExactSum {
  public:
    // Terms are rounded before: a product must not be merged with the addition, so it comes from memory.
    void add(const double& term) {
        double rest = term;
        for (double& level : levels_) rest = add_to(level, rest);
        last_ += rest;
    }

    // Many terms go to sums beside each other, so that no addition waits for the one before it.
    void add(const std::vector<double>& terms) {
        double sums[kLevels + 1][kLanes] = {};
        std::size_t i = 0;
        for (; i + kLanes <= terms.size(); i += kLanes) {
            for (std::size_t lane = 0; lane < kLanes; ++lane) {
                double rest = terms[i + lane];
                for (std::size_t level = 0; level < kLevels; ++level) rest = add_to(sums[level][lane], rest);
                sums[kLevels][lane] += rest;
            }
        }
        for (; i < terms.size(); ++i) add(terms[i]);
        for (const auto& level : sums)
            for (const double& sum : level) add(sum);
    }

    double rounded() const {
        // Largest first: once nothing more is rounded off, the levels do not overlap and the first two decide.
        std::array<double, kLevels + 1> parts;
        for (std::size_t i = 0; i < kLevels; ++i) parts[i] = levels_[i];
        parts[kLevels] = last_;
        for (std::size_t pass = 0; pass < kLevels; ++pass)
            for (std::size_t i = kLevels; i-- > 0;) parts[i + 1] = add_to(parts[i], parts[i + 1]);
        // Half way between two doubles, what is below decides.
        std::size_t next = 1;
        while (next < kLevels && parts[next] == 0) ++next;
        const double below = next < kLevels ? parts[next + 1] : 0;
        if ((parts[next] < 0 && below < 0) || (parts[next] > 0 && below > 0)) {
            const double twice = 2 * parts[next], moved = parts[0] + twice;
            if (moved - parts[0] == twice) return moved;
        }
        return parts[0];
    }

  private:
    static constexpr std::size_t kLevels = 3, kLanes = 8;

    // Adds to a sum and tells what was rounded off.
    static double add_to(double& sum, double term) {
        const double before = sum;
        sum = before + term;
        const double added = sum - before;
        return (before - (sum - added)) + (term - added);
    }

    std::array<double, kLevels> levels_{};
    double last_ = 0;
};

}  // namespace provetree
