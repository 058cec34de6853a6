// The root of the bit search: its splits as tasks, in promising order, and what their answers change. One thread or
// several solve them.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "bits/bit_recursion.hpp"
#include "proof/checkpoint.hpp"
#include "run/request.hpp"
#include "tasks/executor.hpp"

namespace provetree {

// What a search leaves on disk and takes up from there: the bounds of the splits of the root, and what is proven for
// sets of conditions below it.
class BitProof {
  public:
    explicit BitProof(BitRecursion& recursion) : recursion_(recursion) {}

    void resume(const Checkpoint& checkpoint);
    void clear() { sides_.clear(); }

    // Raises what the sides of a split of the root cost at least by what is known from an earlier search. Says whether
    // it knows the split.
    bool recall(std::uint32_t feature, const Division& share, SideCosts& sides) const;
    void note(std::uint32_t feature, std::int64_t left_splits, const SideCosts& sides) {
        if (recursion_.context().checkpoint) sides_[{feature, left_splits}] = sides;
    }

    // `with_sets`: what is proven for sets of conditions holds for all rows, and is saved, too.
    void save(const Incumbent& best, bool with_sets) const;
    void save_if_due(const Incumbent& best) const;

    // What other threads have proven for sets of conditions, by thread; each thread tells it now and then.
    void tell(std::size_t thread, std::vector<KnownSet> sets) {
        const std::lock_guard<std::mutex> held(lock_);
        of_threads_[thread] = std::move(sets);
    }
    void forget_threads() { of_threads_.clear(); }

  private:
    BitRecursion& recursion_;
    std::map<std::pair<std::uint32_t, std::int64_t>, SideCosts> sides_;  // by feature and the left child's budget
    std::map<std::size_t, std::vector<KnownSet>> of_threads_;
    mutable std::mutex lock_;  // over of_threads_
};

class BitRoot final : public RootTasks {
  public:
    // Trees of all rows that cost less than `limit` are looked for. `found` is given each that is better than it, so
    // that it is the best one where the search is stopped, too.
    BitRoot(BitRecursion& recursion, Shape shape, Cost limit, Incumbent& found);

    // The same as a proof: it goes on from an earlier one, is kept, tells of better trees, uses the threads where that
    // pays, and ends with the first tree without errors.
    BitRoot(BitRecursion& recursion, Shape shape, Incumbent& found, BitProof& proof, const Listener& listener)
        : BitRoot(recursion, shape, found.upper, found) {
        proof_ = &proof;
        listener_ = &listener;
    }

    Proven solve();
    // Whether what is proven for a split bounds the others.
    bool raises() const { return splits_->raises(); }

    Next next(Cost busy, bool idle, SplitTask& task) override;
    bool settle(SplitTask& task, SplitAnswer& answer) override;
    void report(Cost busy) override;
    Cost cut() const override { return std::min(limit_, best_.upper); }

  private:
    bool threads_pay() const;
    Proven solve_by(Executor& executor);
    Proven solve_by_threads();

    BitRecursion& recursion_;
    BitNode& node_;
    Shape shape_;
    Cost limit_;
    Incumbent& found_;
    Incumbent best_;  // of this search; the leaf at first
    std::optional<SplitLoop> splits_;
    bool over_ = false;
    BitProof* proof_ = nullptr;
    const Listener* listener_ = nullptr;
    Cost reported_;  // the best cost that was reported
};

}  // namespace provetree
