// The best two levels of splits above the leaves. The thresholds of a column send nested sets of items to the left, so
// the items are taken from right to left one by one, and with them their worth in the groups of the two nodes below: an
// item moves once per column, not once per threshold.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "colgen/instance.hpp"

namespace provetree::colgen {

// A split above two leaves.
struct LastSplit {
    std::int64_t value = -1;
    int candidate = -1;
    std::array<int, 2> targets{};
};

// A split and the two below it.
struct TwoSplits {
    std::int64_t value = -1;
    int candidate = -1;
    LastSplit left, right;
};

// kTargets: their number where it is known at compile time, 0 where it is not.
template <int kTargets>
class TwoLevels {
  public:
    // profit: items x targets, >= 0; allowed_target: leaves x targets; allowed_candidate: all candidates of the tree.
    TwoLevels(const Instance& instance, const std::int64_t* profit, int targets, const std::uint8_t* allowed_candidate,
              const std::uint8_t* allowed_target)
        : instance_(instance), profit_(profit), allowed_candidate_(allowed_candidate), allowed_target_(allowed_target),
          any_(targets) {}

    // The best tree worth more than `floor` (which may be anything below zero); a negative value says that there is
    // none. `leaf` is the first of the four leaves below the node. `rank` gives each candidate of the node its place
    // among equals, negative where it is not to be tried, and `most` what its two sides are worth at most.
    TwoSplits best(int node, int leaf, const std::vector<std::int32_t>& items, std::int64_t floor,
                   const std::vector<int>& rank, const std::vector<std::array<std::int64_t, 2>>& most) {
        const Node& top = instance_.node(node);
        const Node* below[2] = {&instance_.node(2 * node + 1), &instance_.node(2 * node + 2)};
        TwoSplits found;
        int place = 0;
        for (const Group& group : top.groups) {
            bool wanted = false;
            for (int i = 0; i < group.count; ++i) wanted |= rank[group.first + i] >= 0;
            if (!wanted) continue;
            sort_items(items, group);
            for (const int right : {0, 1}) clear(*below[right], right);
            for (const std::int32_t i : items) move(*below[1], 1, i, 1);
            for (int i = 0, next = 0; i < group.count; ++i) {
                for (; next < start_[i + 1]; ++next) {
                    move(*below[0], 0, sorted_[next], 1);
                    move(*below[1], 1, sorted_[next], -1);
                }
                const auto a = static_cast<std::size_t>(group.first + i);
                if (rank[a] < 0) continue;
                // Of equal trees the one of the lowest rank counts.
                const std::int64_t least = found.candidate < 0 ? floor + 1 : found.value + (rank[a] > place ? 1 : 0);
                if (most[a][0] + most[a][1] < least) continue;
                const LastSplit left = best_split(*below[0], 0, leaf);
                if (left.value < 0 || left.value + most[a][1] < least) continue;
                const LastSplit right = best_split(*below[1], 1, leaf + 2);
                if (right.value < 0 || left.value + right.value < least) continue;
                found = {left.value + right.value, group.first + i, left, right};
                place = rank[a];
            }
        }
        return found;
    }

  private:
    std::size_t targets() const { return kTargets > 0 ? kTargets : any_; }

    // start_[i]: where the items begin that the i-th candidate of the group is the first to send left.
    void sort_items(const std::vector<std::int32_t>& items, const Group& group) {
        start_.assign(group.count + 2, 0);
        for (const std::int32_t i : items) ++start_[group.bucket[i] + std::size_t{1}];
        for (std::size_t k = 1; k < start_.size(); ++k) start_[k] += start_[k - 1];
        sorted_.resize(items.size());
        at_.assign(start_.begin(), start_.end() - 1);
        for (const std::int32_t i : items) sorted_[at_[group.bucket[i]]++] = i;
    }

    void clear(const Node& node, int right) {
        std::size_t bins = 0;
        for (const Group& group : node.groups) bins += group.count + 1;
        bins_[right].assign(bins * targets(), 0);
        total_[right].assign(targets(), 0);
    }

    void move(const Node& node, int right, std::int32_t item, int sign) {
        const std::int64_t* worth = profit_ + item * targets();
        std::int64_t* bins = bins_[right].data();
        for (const Group& group : node.groups) {
            std::int64_t* bin = bins + group.bucket[item] * targets();
            for (std::size_t t = 0; t < targets(); ++t) bin[t] += sign * worth[t];
            bins += (group.count + 1) * targets();
        }
        for (std::size_t t = 0; t < targets(); ++t) total_[right][t] += sign * worth[t];
    }

    LastSplit best_split(const Node& node, int right, int leaf) {
        LastSplit found;
        const std::int64_t* bins = bins_[right].data();
        const std::uint8_t* allowed[2] = {allowed_target_ + leaf * targets(), allowed_target_ + (leaf + 1) * targets()};
        for (const Group& group : node.groups) {
            sum_.assign(targets(), 0);
            for (int i = 0; i < group.count; ++i) {
                const std::int64_t* bin = bins + i * targets();
                std::int64_t value[2] = {-1, -1};
                for (std::size_t t = 0; t < targets(); ++t) {
                    sum_[t] += bin[t];
                    if (allowed[0][t] && sum_[t] > value[0]) value[0] = sum_[t];
                    if (allowed[1][t] && total_[right][t] - sum_[t] > value[1]) value[1] = total_[right][t] - sum_[t];
                }
                if (value[0] < 0 || value[1] < 0 || value[0] + value[1] <= found.value) continue;
                if (!allowed_candidate_[node.offset + group.first + i]) continue;
                found.value = value[0] + value[1];
                found.candidate = group.first + i;
                found.targets = {first_of(allowed[0], value[0], false, right),
                                 first_of(allowed[1], value[1], true, right)};
            }
            bins += (group.count + 1) * targets();
        }
        return found;
    }

    // The first target with this value on a side of the split that `sum_` stands for.
    int first_of(const std::uint8_t* allowed, std::int64_t value, bool other_side, int right) const {
        std::size_t t = 0;
        while (!allowed[t] || (other_side ? total_[right][t] - sum_[t] : sum_[t]) != value) ++t;
        return static_cast<int>(t);
    }

    const Instance& instance_;
    const std::int64_t* profit_;
    const std::uint8_t* allowed_candidate_;
    const std::uint8_t* allowed_target_;
    std::size_t any_;
    std::vector<std::int32_t> sorted_;
    std::vector<int> start_, at_;
    std::vector<std::int64_t> bins_[2];   // worth by group, bucket and target, of the items on each side
    std::vector<std::int64_t> total_[2];  // and by target
    std::vector<std::int64_t> sum_;       // scratch
};

}  // namespace provetree::colgen
