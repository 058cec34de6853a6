// The cache of itemsets: a tree and its error, or NO_TREE and the bound for which none was found. Keys are compared
// item by item. When the memory allowed is used up, the longer unused half of the largest level is dropped: entries
// only save time, so the answer does not depend on them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "itemsets/tree_pool.hpp"

namespace provetree::itemsets {

// 2 * attribute + 1 for an attribute, 2 * attribute for its negation.
using Item = std::uint32_t;
using Itemset = std::span<const Item>;  // in rising order

struct CacheEntry {
    double value = 0.0;  // the error of the tree, or the bound no tree was found for
    TreeId tree = kNoTree;
    std::uint32_t hash = 0;
};

// Entries of itemsets of one length: open addressing over arrays that grow by doubling.
class ItemsetTable {
  public:
    explicit ItemsetTable(std::size_t length) : length_(length) {}

    CacheEntry* find(Itemset key, std::uint32_t hash) {
        if (entries_.empty()) return nullptr;
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t slot = hash & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
            const std::size_t number = slots_[slot] - 1;
            if (entries_[number].hash == hash &&
                std::equal(key.begin(), key.end(), keys_.begin() + static_cast<std::ptrdiff_t>(number * length_)))
                return &entries_[number];
        }
        return nullptr;
    }
    // The key must not be there yet.
    void insert(Itemset key, const CacheEntry& entry) {
        if (entries_.size() == capacity_) grow();
        const std::size_t mask = slots_.size() - 1;
        std::size_t slot = entry.hash & mask;
        while (slots_[slot] != 0) slot = (slot + 1) & mask;
        keys_.insert(keys_.end(), key.begin(), key.end());
        entries_.push_back(entry);
        slots_[slot] = static_cast<std::uint32_t>(entries_.size());
    }
    std::size_t size() const { return entries_.size(); }
    std::size_t bytes() const { return bytes_at(capacity_); }
    // Bytes after the next insert.
    std::size_t bytes_next() const { return bytes_at(entries_.size() < capacity_ ? capacity_ : grown()); }
    const std::vector<CacheEntry>& entries() const { return entries_; }

  private:
    std::size_t bytes_at(std::size_t capacity) const {
        return capacity * (sizeof(CacheEntry) + length_ * sizeof(Item) + 2 * sizeof(std::uint32_t));
    }
    std::size_t grown() const { return capacity_ == 0 ? 16 : 2 * capacity_; }
    void grow() {
        capacity_ = grown();
        keys_.reserve(capacity_ * length_);
        entries_.reserve(capacity_);
        slots_.assign(2 * capacity_, 0);
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t number = 0; number < entries_.size(); ++number) {
            std::size_t slot = entries_[number].hash & mask;
            while (slots_[slot] != 0) slot = (slot + 1) & mask;
            slots_[slot] = static_cast<std::uint32_t>(number + 1);
        }
    }

    std::size_t length_;
    std::size_t capacity_ = 0;
    std::vector<Item> keys_;
    std::vector<CacheEntry> entries_;
    std::vector<std::uint32_t> slots_;  // twice the capacity; number of the entry plus one, or zero
};

inline std::uint32_t hash_of(Itemset key) {
    std::uint64_t h = 0x9e3779b97f4a7c15ULL ^ key.size();
    for (Item item : key) {
        h ^= item;
        h *= 0xff51afd7ed558ccdULL;
        h ^= h >> 32;
    }
    h *= 0xc4ceb9fe1a85ec53ULL;
    return static_cast<std::uint32_t>(h >> 32);
}

class ItemsetCache {
  public:
    ItemsetCache(TreePool& pool, std::size_t memory_limit) : pool_(pool), memory_limit_(memory_limit) {}

    // The entry of an itemset, or null. Valid until the next call.
    const CacheEntry* find(Itemset key) {
        Level& at = level(key.size());
        const std::uint32_t hash = hash_of(key);
        if (const CacheEntry* entry = at.young.find(key, hash)) return entry;
        const CacheEntry* entry = at.old.find(key, hash);
        if (entry == nullptr) return nullptr;
        // Moved to the young generation if that needs no new memory, which might drop the very entry.
        if (at.young.bytes_next() == at.young.bytes()) {
            pool_.retain(entry->tree);
            return insert(at, key, *entry);
        }
        return entry;
    }
    // Keeps a result; an earlier one of the same itemset is replaced.
    void store(Itemset key, TreeId tree, double value) {
        Level& at = level(key.size());
        const CacheEntry entry{value, tree, hash_of(key)};
        pool_.retain(tree);
        if (CacheEntry* known = at.young.find(key, entry.hash)) {
            pool_.release(known->tree);
            *known = entry;
        } else {
            make_room(at);
            insert(at, key, entry);
        }
        // Trees take memory too, and so does a table that alone is larger than what is allowed.
        while (bytes_ + pool_.bytes() > memory_limit_ && evict()) {
        }
    }
    std::size_t size() const {
        std::size_t entries = 0;
        for (const Level& at : levels_) entries += at.young.size() + at.old.size();
        return entries;
    }
    std::uint64_t evicted() const { return evicted_; }
    std::size_t bytes() const { return bytes_; }

  private:
    // Two generations: what is used moves to the young one, what stays in the old one is dropped next.
    struct Level {
        explicit Level(std::size_t length) : young(length), old(length) {}
        ItemsetTable young;
        ItemsetTable old;
        std::size_t bytes() const { return young.bytes() + old.bytes(); }
    };

    Level& level(std::size_t length) {
        while (levels_.size() <= length) levels_.emplace_back(levels_.size());
        return levels_[length];
    }
    CacheEntry* insert(Level& at, Itemset key, const CacheEntry& entry) {
        const std::size_t before = at.young.bytes();
        at.young.insert(key, entry);
        bytes_ += at.young.bytes() - before;
        return at.young.find(key, entry.hash);
    }
    void make_room(Level& at) {
        // Before a table grows, not after: the old and the new arrays exist side by side for a moment.
        while (at.young.bytes_next() > at.young.bytes() &&
               bytes_ + at.young.bytes_next() + pool_.bytes() > memory_limit_ && evict()) {
        }
    }
    bool evict() {
        const auto largest = std::max_element(levels_.begin(), levels_.end(),
                                              [](const Level& a, const Level& b) { return a.bytes() < b.bytes(); });
        if (largest == levels_.end() || largest->bytes() == 0) return false;
        const std::size_t before = largest->bytes();
        for (const CacheEntry& entry : largest->old.entries()) pool_.release(entry.tree);
        evicted_ += largest->old.size();
        const std::size_t length = largest - levels_.begin();
        largest->old = std::exchange(largest->young, ItemsetTable(length));
        bytes_ -= before - largest->bytes();
        return true;
    }

    TreePool& pool_;
    std::size_t memory_limit_;
    std::vector<Level> levels_;
    std::size_t bytes_ = 0;
    std::uint64_t evicted_ = 0;
};

}  // namespace provetree::itemsets
