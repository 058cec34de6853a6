// The cache of itemsets: a tree and its error, or NO_TREE and the bound for which none was found. Keys are compared
// item by item. When the memory allowed is used up, the longer unused half of the largest level is dropped: entries
// only save time, so the answer does not depend on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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

    CacheEntry* find(Itemset key, std::uint32_t hash);
    // The key must not be there yet.
    void insert(Itemset key, const CacheEntry& entry);
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
    void grow();

    std::size_t length_;
    std::size_t capacity_ = 0;
    std::vector<Item> keys_;
    std::vector<CacheEntry> entries_;
    std::vector<std::uint32_t> slots_;  // twice the capacity; number of the entry plus one, or zero
};

std::uint32_t hash_of(Itemset key);

class ItemsetCache {
  public:
    ItemsetCache(TreePool& pool, std::size_t memory_limit) : pool_(pool), memory_limit_(memory_limit) {}

    // The entry of an itemset, or null. Valid until the next call.
    const CacheEntry* find(Itemset key);
    // Keeps a result; an earlier one of the same itemset is replaced.
    void store(Itemset key, TreeId tree, double value);
    std::size_t size() const;
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

    Level& level(std::size_t length);
    CacheEntry* insert(Level& level, Itemset key, const CacheEntry& entry);
    void make_room(Level& level);
    bool evict();

    TreePool& pool_;
    std::size_t memory_limit_;
    std::vector<Level> levels_;
    std::size_t bytes_ = 0;
    std::uint64_t evicted_ = 0;
};

}  // namespace provetree::itemsets
