// When to look for better trees: not before the proof has had its chance, then in turns with it, less and less where
// nothing better turns up.
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
        // The search has a limit, and proofs of its depth rarely end: better trees matter most.
        bool hopeless = false;
        bool by_bits = false;  // the proof is that of the search on bits or by cells, which are fast
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

}  // namespace provetree
