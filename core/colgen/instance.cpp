// Candidate problems; see colgen/instance.hpp.
#include "colgen/instance.hpp"

#include <stdexcept>

namespace provetree::colgen {

Instance::Instance(int depth, const std::vector<int>& groups_per_node, const std::vector<int>& group_sizes)
    : depth_(depth) {
    if (depth < 1 || depth > 12) throw std::invalid_argument("A candidate problem has a depth from 1 to 12.");
    nodes_.resize((std::size_t{1} << depth) - 1);
    if (groups_per_node.size() != nodes_.size())
        throw std::invalid_argument("groups_per_node needs one entry per node of the tree.");
    std::size_t next = 0;
    for (std::size_t j = 0; j < nodes_.size(); ++j) {
        Node& node = nodes_[j];
        node.offset = n_candidates_;
        if (groups_per_node[j] < 1) throw std::invalid_argument("Every node needs a candidate.");
        for (int g = 0; g < groups_per_node[j]; ++g) {
            if (next >= group_sizes.size() || group_sizes[next] < 1 || group_sizes[next] > 65535)
                throw std::invalid_argument("Bad sizes of groups.");
            Group group;
            group.first = node.count;
            group.count = group_sizes[next++];
            node.count += group.count;
            node.group_of.insert(node.group_of.end(), group.count, g);
            node.groups.push_back(std::move(group));
        }
        n_candidates_ += node.count;
    }
    if (next != group_sizes.size()) throw std::invalid_argument("group_sizes has more entries than there are groups.");
    n_groups_ = static_cast<int>(next);
}

int Instance::add_items(const std::uint16_t* buckets, std::size_t n_items) {
    const int first = n_items_;
    for (std::size_t i = 0; i < n_items; ++i)
        for (std::size_t j = 0, at = i * n_groups_; j < nodes_.size(); ++j)
            for (const Group& group : nodes_[j].groups)
                if (buckets[at++] > group.count) throw std::invalid_argument("A bucket is larger than its group.");
    for (Node& node : nodes_)
        for (Group& group : node.groups) group.bucket.reserve(group.bucket.size() + n_items);
    for (std::size_t i = 0; i < n_items; ++i)
        for (std::size_t j = 0, at = i * n_groups_; j < nodes_.size(); ++j)
            for (Group& group : nodes_[j].groups) group.bucket.push_back(buckets[at++]);
    n_items_ += static_cast<int>(n_items);
    return first;
}

}  // namespace provetree::colgen
