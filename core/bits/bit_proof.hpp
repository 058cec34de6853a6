// What the bit search leaves on disk and takes up from there: the bounds of the splits of the root, and what is proven
// for sets of conditions below it.
#pragma once

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "bits/bit_recursion.hpp"
#include "proof/checkpoint.hpp"

namespace provetree {

class BitProof {
  public:
    explicit BitProof(BitRecursion& recursion) : recursion_(recursion) {}

    void resume(const Checkpoint& checkpoint);
    void clear() { sides_.clear(); }

    // Raises what the sides of a split of the root cost at least by what is known from an earlier search. Says whether
    // it knows the split.
    bool recall(std::uint32_t feature, const Division& share, SideCosts& sides) const;
    void note(std::uint32_t feature, std::int64_t left_splits, const SideCosts& sides);

    // `with_sets`: what is proven for sets of conditions holds for all rows, and is saved, too.
    void save(const Incumbent& best, bool with_sets) const;
    void save_if_due(const Incumbent& best) const;

    // What other threads have proven for sets of conditions, by thread; each thread tells it now and then.
    void tell(std::size_t thread, std::vector<KnownSet> sets);
    void forget_threads() { of_threads_.clear(); }

  private:
    BitRecursion& recursion_;
    std::map<std::pair<std::uint32_t, std::int64_t>, SideCosts> sides_;  // by feature and the left child's budget
    std::map<std::size_t, std::vector<KnownSet>> of_threads_;
    mutable std::mutex lock_;  // over of_threads_
};

}  // namespace provetree
