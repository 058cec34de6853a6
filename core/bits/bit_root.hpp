// The root of the bit search: its splits as tasks, in promising order, and what their answers change. One thread or
// several solve them.
#pragma once

#include <optional>

#include "bits/bit_proof.hpp"
#include "bits/bit_recursion.hpp"
#include "run/request.hpp"
#include "tasks/executor.hpp"

namespace provetree {

class BitRoot final : public RootTasks {
  public:
    // Trees of all rows that cost less than `limit` are looked for. `found` is given each that is better than it, so
    // that it is the best one where the search is stopped, too.
    BitRoot(BitRecursion& recursion, Shape shape, Cost limit, Incumbent& found);

    // The search ends with the first tree without errors.
    void end_without_errors() { ends_without_errors_ = true; }
    // The search is a proof: it goes on from an earlier one, is kept, and tells of better trees.
    void prove(BitProof& proof, const Listener& listener);

    // By this thread alone.
    Proven solve();
    // By several, where that pays.
    Proven solve_by_threads(BitProof& proof);
    // Whether what is proven for a split bounds the others.
    bool raises() const { return splits_->raises(); }

    Next next(Cost busy, SplitTask& task) override;
    bool settle(SplitTask& task, SplitAnswer& answer) override;
    void report(Cost busy) override;

  private:
    bool threads_pay() const;
    Proven solve_by(Executor& executor);

    BitRecursion& recursion_;
    BitNode& node_;
    Shape shape_;
    Cost limit_;
    Incumbent& found_;
    Incumbent best_;  // of this search; the leaf at first
    std::optional<SplitLoop> splits_;
    bool ends_without_errors_ = false, over_ = false;
    BitProof* proof_ = nullptr;
    const Listener* listener_ = nullptr;
    Cost reported_;  // the best cost that was reported
};

}  // namespace provetree
