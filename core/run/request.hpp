// What is asked of the search of a root, and what it answers.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/limits.hpp"
#include "tree/outcome.hpp"

namespace provetree {

struct Handover;

// Told the best cost and the proven bound whenever either may have improved.
using Listener = std::function<void(Cost upper, Cost lower)>;

enum class Role {
    kProof,   // the proof itself: it takes over trees found beside it, uses the threads and keeps the checkpoint
    kChoice,  // the choice among optimal trees: it uses the threads as well
    kAside,   // a search that serves another one: by one thread, without a checkpoint
};

struct RootRequest {
    Shape shape;
    Incumbent start;  // the tree to beat
    Role role = Role::kAside;
    Listener listener{};      // of a proof; may be empty
    Cost limit = kInfinite;   // trees below it are looked for: where there is none, the limit is what is proven
    bool hands_over = false;  // leave the bounds of the splits of the root
};

struct RootAnswer {
    Outcome outcome;                           // where the search was stopped, its bounds are valid but apart
    std::optional<StopReason> stopped;         // none: the search came to its end
    std::shared_ptr<const Handover> handover;  // of a search that came to its end, where it was asked for
};

}  // namespace provetree
