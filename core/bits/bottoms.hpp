// Depth two below sets of conditions, as far as the bit search has counted it: the table of one thread, or one that
// several threads share.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/flat_map.hpp"
#include "bits/bit_node.hpp"

namespace provetree {

class Bottoms {
  public:
    explicit Bottoms(std::size_t most_bytes) : own_(most_bytes), most_bytes_(most_bytes) {}

    // `exact`: counted on all rows that are searched now, and not on a smaller sample of them, where there may be fewer
    // errors.
    bool find(const ConditionSet& set, ErrorsOfTwo& errors, bool& exact) const {
        if (!shared_) return copied(own_.find(set), errors, exact);
        Part& part = part_of(set);
        const Hold hold(part);
        return copied(part.known.find(set), errors, exact);
    }

    void put(const ConditionSet& set, const ErrorsOfTwo& errors) {
        if (!shared_) {
            own_.at(set) = {errors, sample_};
            return;
        }
        Part& part = part_of(set);
        const Hold hold(part);
        part.known.at(set) = {errors, sample_};
    }

    // Not while others use it.
    void clear() {
        own_.clear();
        shared_.reset();
    }
    // From now on a larger sample of the rows is searched.
    void grow_sample() { ++sample_; }

    // From now on this table and `other` are one. What they know already is not taken over.
    void share_with(Bottoms& other) {
        if (!shared_) {
            shared_ = std::make_shared<std::vector<Part>>(kParts);
            for (Part& part : *shared_) part.known = Known(most_bytes_ / kParts);
        }
        other.shared_ = shared_;
        other.sample_ = sample_;
    }

  private:
    struct Bottom {
        ErrorsOfTwo errors;
        std::int16_t sample;
    };
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

    bool copied(const Bottom* found, ErrorsOfTwo& errors, bool& exact) const {
        if (!found) return false;
        errors = found->errors;
        exact = found->sample == sample_;
        return true;
    }
    // By other bits of the hash than those that choose the slot.
    Part& part_of(const ConditionSet& set) const { return (*shared_)[(ConditionSet::Hash{}(set) >> 40) % kParts]; }

    Known own_;
    std::size_t most_bytes_;
    std::int16_t sample_ = 0;  // counts the samples
    std::shared_ptr<std::vector<Part>> shared_;
};

}  // namespace provetree
