// The candidate problem of column generation: a complete tree of a fixed depth, the candidate splits of each of its
// nodes, and the items that walk through it. An item is a set of training rows that no candidate tells apart, or an
// unlabelled row of a cut.
//
// Nodes are numbered as in a heap (children of j: 2j+1 and 2j+2), leaves from left to right. The candidates of a node
// are sorted by column, then by threshold, so that those of one column form a group: an item's place in a group says
// which of its candidates send it left.
#pragma once

#include <cstdint>
#include <vector>

namespace provetree::colgen {

// The candidates [first, first + count) of a node that share a column. Candidate first + i sends an item left exactly
// when i >= bucket[item].
struct Group {
    int first = 0;
    int count = 0;
    std::vector<std::uint16_t> bucket;
};

struct Node {
    int offset = 0;  // of its first candidate among all candidates of the tree
    int count = 0;
    std::vector<Group> groups;
    std::vector<int> group_of;  // by candidate

    const Group& group(int a) const { return groups[group_of[a]]; }
    // The items of `from` that go to one side of a candidate; `to` may be the same list.
    void take_side(int a, bool right, const std::vector<std::int32_t>& from, std::vector<std::int32_t>& to) const {
        const std::uint16_t* const bucket = group(a).bucket.data();
        const int place = a - group(a).first;
        to.resize(from.size());
        std::size_t kept = 0;
        for (const std::int32_t i : from) {
            to[kept] = i;
            kept += (place < bucket[i]) == right;
        }
        to.resize(kept);
    }
};

class Instance {
  public:
    // group_sizes: for each node the sizes of its groups, one node after another; groups_per_node says how many belong
    // to each node.
    Instance(int depth, const std::vector<int>& groups_per_node, const std::vector<int>& group_sizes);

    // buckets: one value per group of the tree (node after node) for each new item, item-major. Returns the number of
    // the first new item.
    int add_items(const std::uint16_t* buckets, std::size_t n_items);

    int depth() const { return depth_; }
    int n_nodes() const { return static_cast<int>(nodes_.size()); }
    int n_leaves() const { return 1 << depth_; }
    int n_items() const { return n_items_; }
    int n_groups() const { return n_groups_; }
    int n_candidates() const { return n_candidates_; }
    const Node& node(int j) const { return nodes_[j]; }

    bool goes_left(int j, int candidate, int item) const {
        const Group& group = node(j).group(candidate);
        return candidate - group.first >= group.bucket[item];
    }
    // The node at a level on the way to a leaf, the first leaf below a node, and whether a way goes right at a level.
    int node_at(int leaf, int level) const { return (1 << level) - 1 + (leaf >> (depth_ - level)); }
    int first_leaf(int node, int level) const { return (node - ((1 << level) - 1)) << (depth_ - level); }
    bool right_at(int leaf, int level) const { return ((leaf >> (depth_ - 1 - level)) & 1) != 0; }

    // Whether an item follows a path: the candidates chosen at the nodes on the way to a leaf, root first.
    bool follows(int item, int leaf, const std::int32_t* candidates) const {
        for (int level = 0; level < depth_; ++level)
            if (goes_left(node_at(leaf, level), candidates[level], item) == right_at(leaf, level)) return false;
        return true;
    }

  private:
    int depth_;
    int n_items_ = 0;
    int n_groups_ = 0;
    int n_candidates_ = 0;
    std::vector<Node> nodes_;
};

}  // namespace provetree::colgen
