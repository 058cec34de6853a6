// A hash table of proven bounds with a cap on its memory: when it is full it forgets everything and starts again, which
// costs time but no truth. Keys are compared whole, never by their hash alone. A key made without arguments stands for
// a free slot and must not be used.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace provetree {

template <class Key, class Value, class Hash>
class FlatMap {
  public:
    explicit FlatMap(std::size_t most_bytes) : most_slots_(1) {
        while (most_slots_ * 2 * sizeof(Slot) <= most_bytes) most_slots_ *= 2;
    }

    // Has the slot of a key brought near, for a later call: in a large table that is what takes the time.
    void fetch(const Key& key) const {
#if defined(__GNUC__)
        if (!slots_.empty()) __builtin_prefetch(&slots_[Hash{}(key)&mask_]);
#endif
    }

    const Value* find(const Key& key) const {
        if (slots_.empty()) return nullptr;
        for (std::size_t at = Hash{}(key)&mask_;; at = (at + 1) & mask_) {
            if (slots_[at].key == key) return &slots_[at].value;
            if (slots_[at].key == Key{}) return nullptr;
        }
    }

    // The value of a key, made where there is none. The reference holds until the next call.
    Value& at(const Key& key) {
        if (2 * (size_ + 1) > slots_.size()) grow();
        for (std::size_t at = Hash{}(key)&mask_;; at = (at + 1) & mask_) {
            Slot& slot = slots_[at];
            if (slot.key == key) return slot.value;
            if (slot.key == Key{}) {
                slot.key = key;
                slot.value = {};
                ++size_;
                return slot.value;
            }
        }
    }

    template <class Change>
    void for_each(const Change& change) {
        for (Slot& slot : slots_)
            if (!(slot.key == Key{})) change(slot.key, slot.value);
    }

    template <class Use>
    void for_each_key(const Use& use) const {
        for (const Slot& slot : slots_)
            if (!(slot.key == Key{})) use(slot.key, slot.value);
    }

    void clear() {
        slots_.clear();
        size_ = 0;
    }

    std::size_t bytes() const { return slots_.size() * sizeof(Slot); }

  private:
    struct Slot {
        Key key{};
        Value value{};
    };

    void grow() {
        if (slots_.size() >= most_slots_ && !slots_.empty()) {
            slots_.assign(slots_.size(), Slot{});
            size_ = 0;
            return;
        }
        std::vector<Slot> old = std::exchange(
            slots_, std::vector<Slot>(
                        slots_.empty() ? kFirstSlots
                                       : std::min(slots_.size() * kGrowth, std::max(most_slots_, slots_.size() * 2))));
        mask_ = slots_.size() - 1;
        size_ = 0;
        for (Slot& slot : old)
            if (!(slot.key == Key{})) at(slot.key) = std::move(slot.value);
    }

    static constexpr std::size_t kFirstSlots = 1024, kGrowth = 4;
    std::vector<Slot> slots_;
    std::size_t size_ = 0, mask_ = 0, most_slots_;
};

}  // namespace provetree
