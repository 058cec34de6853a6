// Splits with a leaf on one side; see sizes/leaf_sides.hpp.
#include "sizes/leaf_sides.hpp"

#include <algorithm>

namespace provetree {

namespace {

constexpr std::uint32_t kMixed = ~std::uint32_t{0};

// One pass over a column.
class LeafPass {
  public:
    LeafPass(const Node& node, const NodeColumn& column, std::vector<Weight>& before)
        : node_(node), column_(column), before_(before) {
        before_.assign(node.by_class.size(), 0);
    }

    void run(LeafSides& sides) {
        std::uint32_t last = kMixed;
        for (Index at = 0; at < node_.rows;) {
            const std::uint32_t next = class_of_group(at);
            if (at > 0) {
                const Weight left = node_.weight_left(column_, at), right = node_.weight - left;
                Weight most_left = 0, most_right = 0;
                for (std::size_t cls = 0; cls < before_.size(); ++cls) {
                    most_left = std::max(most_left, before_[cls]);
                    most_right = std::max(most_right, node_.by_class[cls] - before_[cls]);
                }
                // A label is any class of the largest weight.
                const bool moves_on = next != kMixed && before_[next] == most_left;
                const bool moves_back = last != kMixed && node_.by_class[last] - before_[last] == most_right;
                if (!moves_on) sides.left.push_back({at, left - most_left});
                if (!moves_back) sides.right.push_back({at, right - most_right});
            }
            for (const Index rank = column_.ranks[at]; at < node_.rows && column_.ranks[at] == rank; ++at)
                before_[class_at(at)] += node_.weights[column_.order[at] & entry::kRowMask];
            last = next;
        }
    }

  private:
    std::uint32_t class_at(Index position) const { return node_.classes[column_.order[position] & entry::kRowMask]; }
    // The class of a group of ties, or kMixed.
    std::uint32_t class_of_group(Index begin) const {
        const std::uint32_t cls = class_at(begin);
        for (Index i = begin + 1; i < node_.rows && column_.ranks[i] == column_.ranks[begin]; ++i)
            if (class_at(i) != cls) return kMixed;
        return cls;
    }

    const Node& node_;
    const NodeColumn& column_;
    std::vector<Weight>& before_;  // weight of each class among the rows passed
};

}  // namespace

void list_leaf_sides(const Node& node, std::vector<LeafSides>& columns) {
    columns.resize(node.columns.size());
    std::vector<Weight> before;
    for (std::size_t c = 0; c < node.columns.size(); ++c) {
        columns[c].left.clear();
        columns[c].right.clear();
        LeafPass(node, node.columns[c], before).run(columns[c]);
    }
}

}  // namespace provetree
