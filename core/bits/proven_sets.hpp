// What the bit search has proven for sets of conditions, whatever order the conditions came in, in tables of limited
// memory.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/flat_map.hpp"
#include "bits/bit_node.hpp"
#include "proof/checkpoint.hpp"
#include "tree/plan.hpp"

namespace provetree {

// Bounds of the best tree of a node, and the tree. Solved where they are equal.
struct Proven {
    Cost lower = 0, upper = kInfinite;
    PlanPtr plan;

    bool solved() const { return lower >= upper; }
};

// A bound, and the tree where there is one: a table for each depth below a set.
class ProvenSets {
  public:
    static constexpr int kMostDepth = 6;

    explicit ProvenSets(std::size_t bytes_of_depth) : by_depth_(kMostDepth + 1, Known(bytes_of_depth)) {}

    const Proven* find(const ConditionSet& set, Shape shape) const { return of(shape.depth).find({set, shape.splits}); }
    void put(const ConditionSet& set, Shape shape, const Proven& proven) {
        of(shape.depth).at({set, shape.splits}) = proven;
    }
    void clear() {
        for (Known& known : by_depth_) known.clear();
    }
    // Trees are forgotten. Bounds stay, `factor` times what they were.
    void keep_bounds(Cost factor) {
        for (Known& known : by_depth_)
            known.for_each([&](const Key&, Proven& one) { one = {one.lower * factor, kInfinite, nullptr}; });
    }
    // Trees are forgotten. Costs become those that were multiplied by `factor`, with `of_split` more for each split: a
    // tree of so many splits costs at least (bound - of_split * splits) / factor, rounded up as costs are whole.
    void coarsen_bounds(Cost factor, Cost of_split) {
        for (Known& known : by_depth_)
            known.for_each([&](const Key& key, Proven& one) {
                const Cost rest = one.lower - of_split * key.splits;
                one = {rest > 0 ? (rest + factor - 1) / factor : 0, kInfinite, nullptr};
            });
    }
    // Takes over what another thread has proven.
    void add(const ProvenSets& others) {
        for (int depth = 0; depth <= kMostDepth; ++depth) {
            others.of(depth).for_each_key([&](const Key& key, const Proven& theirs) {
                Proven& ours = of(depth).at(key);
                if (theirs.lower > ours.lower || theirs.upper < ours.upper) ours = theirs;
            });
        }
    }

    // For the checkpoint: the sets that something is proven for, those with the most levels below them first.
    std::vector<KnownSet> known() const {
        std::vector<KnownSet> sets;
        for (int depth = kMostDepth; depth >= 3; --depth) {
            of(depth).for_each_key([&](const Key& key, const Proven& proven) {
                if (proven.lower <= 0 || sets.size() >= kMostSets) return;
                sets.push_back({key.set.low, key.set.high, depth, key.splits, proven.lower,
                                proven.solved() ? proven.upper : kInfinite, proven.solved() ? proven.plan : nullptr});
            });
        }
        return sets;
    }
    void add(const std::vector<KnownSet>& sets) {
        for (const KnownSet& set : sets)
            if (set.depth >= 3 && set.depth <= kMostDepth)
                of(set.depth).at({{set.low, set.high}, set.splits}) = {set.lower, set.upper, set.plan};
    }

  private:
    static constexpr std::size_t kMostSets = 100'000;  // on disk; what is beyond is found again

    // What is proven holds for one split budget.
    struct Key {
        ConditionSet set;
        std::int64_t splits = 0;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const {
            return ConditionSet::Hash{}({key.set.low, key.set.high ^ static_cast<std::uint64_t>(key.splits)});
        }
    };
    using Known = FlatMap<Key, Proven, KeyHash>;

    Known& of(int depth) { return by_depth_[static_cast<std::size_t>(depth)]; }
    const Known& of(int depth) const { return by_depth_[static_cast<std::size_t>(depth)]; }

    std::vector<Known> by_depth_;
};

// Depth two below sets of conditions, as far as it is counted: the table of one thread, or one that several share.
class Bottoms {
  public:
    explicit Bottoms(std::size_t most_bytes) : own_(most_bytes), most_bytes_(most_bytes) {}

    // `exact`: counted on all rows that are searched now, and not on a smaller sample of them, where there may be fewer
    // errors.
    bool find(const ConditionSet& set, ErrorsOfTwo& errors, bool& exact) const {
        if (!shared_) return copied(own_.find(key_of(set)), errors, exact);
        Part& part = part_of(set);
        const std::lock_guard<Part> hold(part);
        return copied(part.known.find(key_of(set)), errors, exact);
    }

    // Whether it pays to say beforehand what will be looked up: not where the table is near anyway, nor where threads
    // share it.
    bool far() const { return !shared_ && own_.bytes() > kNearBytes; }
    void fetch(const ConditionSet& set) const { own_.fetch(key_of(set)); }

    void put(const ConditionSet& set, const ErrorsOfTwo& errors) {
        if (!shared_) {
            own_.at(key_of(set)) = {errors, sample_};
            return;
        }
        Part& part = part_of(set);
        const std::lock_guard<Part> hold(part);
        part.known.at(key_of(set)) = {errors, sample_};
    }

    // Not while others use it.
    void clear() {
        own_.clear();
        shared_.reset();
    }
    // From now on a larger sample of the rows is searched.
    void grow_sample() { ++sample_; }

    // From now on this table and `other` are one. What they know already is not taken over.
    void share_with(Bottoms& other) {
        if (!shared_) {
            shared_ = std::make_shared<std::vector<Part>>(kParts);
            for (Part& part : *shared_) part.known = Known(most_bytes_ / kParts);
        }
        other.shared_ = shared_;
        other.sample_ = sample_;
    }

  private:
    struct Bottom {
        ErrorsOfTwo errors;
        std::int16_t sample;
    };
    // Depth two has at most so many conditions above it, which are one half of a set.
    static_assert(ProvenSets::kMostDepth - 2 <= 4);
    static std::uint64_t key_of(const ConditionSet& set) { return set.low; }
    struct KeyHash {
        std::size_t operator()(std::uint64_t key) const { return ConditionSet::Hash{}({key, 0}); }
    };
    using Known = FlatMap<std::uint64_t, Bottom, KeyHash>;
    // Each part has a lock of its own: threads seldom meet, and never for long.
    struct Part {
        Known known{0};
        std::atomic_flag held = ATOMIC_FLAG_INIT;
        void lock() {
            while (held.test_and_set(std::memory_order_acquire)) {
            }
        }
        void unlock() { held.clear(std::memory_order_release); }
    };
    static constexpr std::size_t kParts = 64, kNearBytes = std::size_t{1} << 20;

    bool copied(const Bottom* found, ErrorsOfTwo& errors, bool& exact) const {
        if (!found) return false;
        errors = found->errors;
        exact = found->sample == sample_;
        return true;
    }
    // By other bits of the hash than those that choose the slot.
    Part& part_of(const ConditionSet& set) const { return (*shared_)[(ConditionSet::Hash{}(set) >> 40) % kParts]; }

    Known own_;
    std::size_t most_bytes_;
    std::int16_t sample_ = 0;  // counts the samples
    std::shared_ptr<std::vector<Part>> shared_;
};

}  // namespace provetree
