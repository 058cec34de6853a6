// The trees found so far. Subtrees are shared between itemsets, so nodes are counted and reused; a leaf needs no node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace provetree::itemsets {

// A node of the pool, or one of the two special trees.
using TreeId = std::int32_t;
inline constexpr TreeId kLeafTree = -1;
inline constexpr TreeId kNoTree = -2;

class TreePool {
  public:
    struct Node {
        std::int32_t attribute;
        TreeId without;  // the rows that do not have the attribute
        TreeId with;
        std::uint32_t owners;
    };

    // A new node with one owner; it becomes an owner of both subtrees.
    TreeId make(std::int32_t attribute, TreeId without, TreeId with) {
        retain(without);
        retain(with);
        const Node node{attribute, without, with, 1};
        if (free_.empty()) {
            nodes_.push_back(node);
            return static_cast<TreeId>(nodes_.size() - 1);
        }
        const TreeId id = free_.back();
        free_.pop_back();
        nodes_[id] = node;
        return id;
    }

    void retain(TreeId id) {
        if (id >= 0) ++nodes_[id].owners;
    }

    void release(TreeId id) {
        if (id < 0) return;
        Node& node = nodes_[id];
        if (--node.owners != 0) return;
        free_.push_back(id);
        const TreeId without = node.without, with = node.with;
        release(without);
        release(with);
    }

    const Node& at(TreeId id) const { return nodes_[id]; }
    std::size_t bytes() const { return nodes_.size() * (sizeof(Node) + sizeof(TreeId)); }

  private:
    std::deque<Node> nodes_;
    std::vector<TreeId> free_;
};

// Owns one reference to a tree.
class TreeHandle {
  public:
    TreeHandle() = default;
    TreeHandle(TreePool& pool, TreeId owned) : pool_(&pool), id_(owned) {}
    TreeHandle(TreeHandle&& other) noexcept : pool_(other.pool_), id_(std::exchange(other.id_, kNoTree)) {}
    TreeHandle& operator=(TreeHandle&& other) noexcept {
        std::swap(pool_, other.pool_);
        std::swap(id_, other.id_);
        return *this;
    }
    ~TreeHandle() {
        if (pool_ != nullptr) pool_->release(id_);
    }

    TreeId id() const { return id_; }

  private:
    TreePool* pool_ = nullptr;
    TreeId id_ = kNoTree;
};

}  // namespace provetree::itemsets
