// Depth two below sets of conditions, as far as the bit search has counted it: the table of one thread, or one that
// several threads share.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/flat_map.hpp"
#include "bits/bit_node.hpp"

namespace provetree {

// Depth two below a set of conditions, as counted on a sample of the rows; on a larger one there are at least as many
// errors.
struct Bottom {
    ErrorsOfTwo errors;
    std::int16_t sample;
};

class Bottoms {
  public:
    explicit Bottoms(std::size_t most_bytes) : own_(most_bytes), most_bytes_(most_bytes) {}

    bool find(const ConditionSet& set, Bottom& bottom) const {
        if (!shared_) return copied(own_.find(set), bottom);
        Part& part = part_of(set);
        const Hold hold(part);
        return copied(part.known.find(set), bottom);
    }

    void put(const ConditionSet& set, const Bottom& bottom) {
        if (!shared_) {
            own_.at(set) = bottom;
            return;
        }
        Part& part = part_of(set);
        const Hold hold(part);
        part.known.at(set) = bottom;
    }

    // Not while others use it.
    void clear() {
        own_.clear();
        shared_.reset();
    }

    // From now on this table and `other` are one. What they know already is not taken over.
    void share_with(Bottoms& other) {
        if (!shared_) {
            shared_ = std::make_shared<std::vector<Part>>(kParts);
            for (Part& part : *shared_) part.known = Known(most_bytes_ / kParts);
        }
        other.shared_ = shared_;
    }

  private:
    using Known = FlatMap<ConditionSet, Bottom, ConditionSet::Hash>;
    // Each part has a lock of its own: threads seldom meet, and never for long.
    struct Part {
        Known known{0};
        std::atomic_flag held = ATOMIC_FLAG_INIT;
    };
    struct Hold {
        explicit Hold(Part& taken) : part(taken) {
            while (part.held.test_and_set(std::memory_order_acquire)) {
            }
        }
        ~Hold() { part.held.clear(std::memory_order_release); }
        Hold(const Hold&) = delete;
        Hold& operator=(const Hold&) = delete;
        Part& part;
    };
    static constexpr std::size_t kParts = 64;

    static bool copied(const Bottom* found, Bottom& bottom) {
        if (found) bottom = *found;
        return found != nullptr;
    }
    // By other bits of the hash than those that choose the slot.
    Part& part_of(const ConditionSet& set) const { return (*shared_)[(ConditionSet::Hash{}(set) >> 40) % kParts]; }

    Known own_;
    std::size_t most_bytes_;
    std::shared_ptr<std::vector<Part>> shared_;
};

}  // namespace provetree
