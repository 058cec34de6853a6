// Closing a region: every pruning of the search goes through here, so that a proof can be watched, checked and written
// down. Nothing is done, and nothing kept, where nobody listens.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/types.hpp"
#include "tree/plan.hpp"

namespace provetree {

// Why no tree of a region has to be looked for.
enum class Reason : std::uint8_t {
    kLeaf,           // whole node: no split can pay for itself, or none is left
    kTooFewRows,     // whole node: a split would leave a side smaller than a leaf may be
    kNoBudget,       // whole node: its parent cannot afford any cost at all
    kKnown,          // whole node, or split: proven before, in another order of conditions or by an earlier process
    kSolved,         // whole node: solved to the end
    kBetweenSplits,  // splits between two that are bounded: monotone and Lipschitz bounds
    kSplitBound,     // one split: what is known of its sides before it is tried
    kTried,          // one split: both sides solved, or one of them so dear that the other does not matter
    kTieRule,        // splits that can only tie, and that the tie rule does not prefer
    kSample,         // split: proven on a sample of the rows, which bounds all of them
};
inline constexpr const char* kReasonNames[] = {"leaf",           "too_few_rows", "no_budget", "known",    "solved",
                                               "between_splits", "split_bound",  "tried",     "tie_rule", "sample"};

// Splits of a node: all of them (`whole`), or of a column between two ranks, with one division of the budget.
struct Region {
    std::size_t level = 0;  // of the node, from 0 at the root
    bool whole = false;
    Index column = 0;
    Index first_rank = 0, last_rank = 0;  // inclusive: splits "rank <= k" with first_rank <= k <= last_rank
    std::int64_t left_splits = -1;        // budget of the left child; -1: any
    Shape shape{};                        // of trees of the node

    static Region all_splits(std::size_t level, Shape shape) { return {.level = level, .whole = true, .shape = shape}; }
};

// One step on the path from the root to a node.
struct PathStep {
    Index column;
    Index rank;
    bool right;
};

// Whoever wants to know what was closed, and why.
class ClosingListener {
  public:
    virtual ~ClosingListener() = default;
    // No tree of the node on this path that begins with a split of the region costs less than `bound`.
    virtual void closed(const std::vector<PathStep>& path, const Region& region, Cost bound, Reason reason) = 0;
};

// How a search is compiled: a silent one has no code for telling, and runs where nobody listens.
enum class Telling : bool { kSilent, kAloud };

// The one way to close a region. Keeps the path to the node at hand, but only where somebody listens.
class Closings {
  public:
    bool heard() const { return listener_ != nullptr; }

    // While it lives, closings are told to this listener; null: to nobody, for searches beside the proof.
    class Heard {
      public:
        explicit Heard(Closings& closings, ClosingListener* by = nullptr)
            : closings_(closings), before_(std::exchange(closings.listener_, by)) {}
        ~Heard() { closings_.listener_ = before_; }
        Heard(const Heard&) = delete;
        Heard& operator=(const Heard&) = delete;

      private:
        Closings& closings_;
        ClosingListener* before_;
    };

    // The search goes from a node at `level` to one side of a split.
    template <Telling telling = Telling::kAloud>
    void descend(std::size_t level, const PathStep& step) {
        if (telling == Telling::kSilent || !listener_) return;
        path_.resize(level);
        path_.push_back(step);
    }
    // `region` is a function that makes the region: it is not called where nobody listens.
    template <Telling telling = Telling::kAloud, class MakeRegion>
    void close(const MakeRegion& region, Cost bound, Reason reason) {
        if (telling == Telling::kSilent) return;
        if (listener_) [[unlikely]]
            tell(region(), bound, reason);
    }

  private:
    void tell(const Region& region, Cost bound, Reason reason) {
        if (!region.whole && region.first_rank > region.last_rank) return;
        if (path_.size() > region.level) path_.resize(region.level);
        listener_->closed(path_, region, bound, reason);
    }

    ClosingListener* listener_ = nullptr;
    std::vector<PathStep> path_;
};

}  // namespace provetree
