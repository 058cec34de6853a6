// What is proven for sets of conditions, between threads and processes; see bits/proven_sets.hpp.
#include "bits/proven_sets.hpp"

namespace provetree {

namespace {

constexpr std::size_t kMostSets = 100'000;  // on disk; what is beyond is found again

}  // namespace

void ProvenSets::add(const ProvenSets& others) {
    for (int depth = 0; depth <= kMostDepth; ++depth) {
        others.of(depth).for_each_key([&](const Key& key, const Proven& theirs) {
            Proven& ours = of(depth).at(key);
            if (theirs.lower > ours.lower || theirs.upper < ours.upper) ours = theirs;
        });
    }
}

std::vector<KnownSet> ProvenSets::known() const {
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

void ProvenSets::add(const std::vector<KnownSet>& sets) {
    for (const KnownSet& set : sets)
        if (set.depth >= 3 && set.depth <= kMostDepth)
            of(set.depth).at({{set.low, set.high}, set.splits}) = {set.lower, set.upper, set.plan};
}

}  // namespace provetree
