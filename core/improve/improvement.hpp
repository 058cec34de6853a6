// When to look for better trees: not before the proof has had its chance, then in turns with it, less and less where
// nothing better turns up. Where proofs take long, a part of the proof's turns goes to a bound from targets far below
// the best tree.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "improve/improver.hpp"
#include "loss/loss.hpp"
#include "run/context.hpp"
#include "sweeps/depth_two.hpp"

namespace provetree {

class Improvement {
  public:
    struct Policy {
        bool hopeless =
            false;  // the search has a limit and its depth is one at which proofs rarely end: better trees matter most
        bool by_bits = false;  // the proof is that of the search on bits, which is fast
        bool ends = false;     // a tree as good as the bound ends the search
    };
    // Told about better trees and better bounds.
    using Listener = std::function<void(Cost cost)>;
    // Whether the cost is proven already, so that there is nothing to gain.
    using Proven = std::function<bool()>;

    // `root` may be null: then it is built when it is needed.
    Improvement(Context& context, const Node* root, Shape shape, const Loss& loss, const Incumbent& start,
                Policy policy, Listener listener, Proven proven);
    Improvement(const Improvement&) = delete;
    Improvement& operator=(const Improvement&) = delete;

  private:
    std::uint64_t turn();
    double share() const;
    void begin();
    void keep(Cost cost, const PlanPtr& plan, std::int64_t left_splits);

    Context& context_;
    const Node* root_;
    Node own_root_;
    Shape shape_;
    Loss loss_;
    Incumbent start_;
    Policy policy_;
    Listener listener_;
    Proven proven_;
    std::unique_ptr<Improver> improver_;
    std::optional<Monitor::Turns> turns_;
};

// A lower bound on the weight of the errors that costs one pass over the table: rows that are equal in every column but
// not in class, and classes that no leaf is left for.
Weight cheap_error_bound(Context& context, Shape shape);

}  // namespace provetree
