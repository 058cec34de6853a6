// What is known of sets of cells as nodes of depth two and three, by the key of the set: a node is met by every order
// of the splits above it, and by other splits that send the same rows there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/types.hpp"
#include "measures/cell_rows.hpp"
#include "sweeps/profile.hpp"
#include "tree/outcome.hpp"

namespace provetree {

// What trees of depth two with at most one, two and three splits cost: at least `least`, and at most `gap` more.
struct TwoBounds {
    Cost least[3] = {0, 0, 0};
    Cost sized[3] = {0, 0, 0};  // the same with the minimum leaf size, where there is one
    Cost gap = kInfinite;
};

class CellStore {
  public:
    explicit CellStore(std::uint64_t most_bytes) : most_(most_bytes / sizeof(Entry)) {}

    void clear() {
        entries_.clear();
        used_ = 0;
    }
    // Costs are `factor` times what they were from now on, and each split costs `dearer` more than that. A tree costs
    // at least the first, and has at most three splits: so least times factor bounds it, and the best one costs at most
    // factor times (least + gap) and three times dearer.
    void scale(Cost factor, Cost dearer) {
        for (Entry& entry : entries_) {
            for (Cost& least : entry.bounds.least) least *= factor;
            for (Cost& sized : entry.bounds.sized)
                if (sized < kInfinite) sized *= factor;
            if (entry.bounds.gap < kInfinite) entry.bounds.gap = factor * entry.bounds.gap + 3 * dearer;
        }
    }
    // Has what `find` will look at brought near, while others are.
    void fetch(const CellKey& key) const {
        if (!entries_.empty()) __builtin_prefetch(&entries_[key.low & (entries_.size() - 1)]);
    }
    const TwoBounds* find(const CellKey& key) const {
        if (entries_.empty()) return nullptr;
        for (std::size_t i = 0; i < kProbes; ++i) {
            const Entry& entry = entries_[(key.low + i) & (entries_.size() - 1)];
            if (entry.key == key) return &entry.bounds;
        }
        return nullptr;
    }
    // Where its places are taken and nothing more may be taken, it takes the place of another.
    void keep(const CellKey& key, const TwoBounds& bounds) {
        if (used_ * 2 >= entries_.size()) grow();
        if (entries_.empty()) return;
        put({key, bounds});
    }

  private:
    static constexpr std::size_t kProbes = 4, kFewest = 1024;
    struct Entry {
        CellKey key;
        TwoBounds bounds;
    };

    void put(const Entry& kept) {
        const std::size_t mask = entries_.size() - 1;
        for (std::size_t i = 0; i < kProbes; ++i) {
            Entry& entry = entries_[(kept.key.low + i) & mask];
            const bool free = entry.key == CellKey{};
            if (!free && !(entry.key == kept.key)) continue;
            used_ += free;
            entry = kept;
            return;
        }
        entries_[(kept.key.low + kept.key.high % kProbes) & mask] = kept;
    }
    void grow() {
        const std::size_t size = entries_.empty() ? kFewest : 2 * entries_.size();
        if (size > most_) return;
        std::vector<Entry> old(size);
        old.swap(entries_);
        used_ = 0;
        for (const Entry& entry : old)
            if (!(entry.key == CellKey{})) put(entry);
    }

    std::size_t most_, used_ = 0;
    std::vector<Entry> entries_;
};

// Nodes of depth three that were solved.
class SolvedCells {
  public:
    explicit SolvedCells(std::uint64_t most_bytes) : most_(most_bytes / kBytes) {}

    void clear() { solved_.clear(); }
    // What was proven of trees of this shape, where it is exact or reaches the limit, or tells as much as is asked;
    // null otherwise.
    const Outcome* find(const CellKey& key, const NodeRequest& request) const {
        const auto at = solved_.find(key);
        if (at == solved_.end() || at->second.splits != request.shape.splits) return nullptr;
        const Outcome& outcome = at->second.outcome;
        const bool enough = outcome.lower >= request.limit || (request.bounds_only && at->second.is_close);
        return outcome.lower >= outcome.upper || enough ? &outcome : nullptr;
    }
    void keep(const CellKey& key, const NodeRequest& request, const Outcome& outcome) {
        if (solved_.size() >= most_) solved_.clear();
        solved_[key] = {request.shape.splits, outcome, outcome.lower < request.limit};
    }

  private:
    static constexpr std::uint64_t kBytes = 512;  // of one, with its tree
    struct Solved {
        std::int64_t splits;
        Outcome outcome;
        bool is_close;  // `lower` is the optimum, but for what the kernel can be off
    };
    struct Hash {
        std::size_t operator()(const CellKey& key) const { return static_cast<std::size_t>(key.low); }
    };

    std::size_t most_;
    std::unordered_map<CellKey, Solved, Hash> solved_;
};

}  // namespace provetree
