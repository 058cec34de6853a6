// When to look for better trees: not before the proof has had its chance, then in turns with it, less and less where
// nothing better turns up.
#pragma once

#include <algorithm>
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
        // The search has a limit, and proofs of its depth rarely end: better trees matter most.
        bool hopeless = false;
        bool by_bits = false;  // the proof is that of the search on bits or by cells, which are fast
        bool ends = false;     // a tree as good as the bound ends the search
    };
    // Told about better trees and better bounds.
    using Listener = std::function<void(Cost cost)>;
    // What the proof has proven so far.
    using Bound = std::function<Cost()>;

    // `root` may be null: then it is built when it is needed.
    Improvement(Context& context, const Node* root, Shape shape, const Loss& loss, const Incumbent& start,
                Policy policy, Listener listener, Bound bound);
    Improvement(const Improvement&) = delete;
    Improvement& operator=(const Improvement&) = delete;

  private:
    std::uint64_t turn();
    std::uint64_t turns_until_due();
    bool feeding() const;
    double share() const;
    double share_after_vain_rounds(double at_least, double at_first) const;
    Cost lower() const { return std::max(bound_(), context_.found.bound); }
    Cost upper() const { return std::min(start_.upper, context_.found.upper); }
    bool proven() const { return lower() >= upper(); }  // there is nothing to gain
    void begin();

    Context& context_;
    const Node* root_;
    Node own_root_;
    Shape shape_;
    Loss loss_;
    Incumbent start_;
    Policy policy_;
    Listener listener_;
    Bound bound_;
    std::unique_ptr<Improver> improver_;
    std::optional<Monitor::Turns> turns_;
    double seconds_ = 0;  // of all turns
};

}  // namespace provetree
