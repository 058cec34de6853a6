// Lazy rows: a search whose children are solved on a sample of the rows that grows when it must.
//
// What is proven on some of the rows holds for all of them, because more rows never cost less. A tree that looks good
// on the sample is tried on the whole table; the rows it gets wrong there join the sample, and the split is solved
// again. So the proof covers the whole table, while on data with little noise most rows are never swept.
//
// Under rules as well: a tree that keeps them on all rows does so on some, with the same labels, and pays no more for
// its columns there. Leaves that keep directions keep the labels that they have on the sample.
#pragma once

#include <vector>

#include "loss/loss.hpp"
#include "run/context.hpp"
#include "sweeps/finisher.hpp"
#include "sweeps/node.hpp"
#include "tree/plan.hpp"

namespace provetree {

class LazyRows {
  public:
    // Starts with an even sample and some of the rows that `first`, a tree with so many errors, gets wrong.
    LazyRows(Context& context, NodeBuilder& builder, Levels& levels, const Node& all, const PlanPtr& first,
             Weight errors, const Loss& loss);

    // Starts with the rows of an earlier search.
    LazyRows(Context& context, NodeBuilder& builder, Levels& levels, const Node& all,
             const std::vector<std::uint8_t>& marked, const Loss& loss);

    // Whether a sample is worth its trouble: many rows, few of them wrong in the best tree so far.
    static bool worthwhile(const Context& context, const Node& all, Weight errors);

    const Node& sample() const { return complete_ ? all_ : sample_; }
    bool complete() const { return complete_; }
    const std::vector<std::uint8_t>& marked() const { return marked_; }  // by row: whether it is in the sample

    // All rows, with the weights of the sample: by these rows the bounds between two splits were proven.
    const Node& view() const { return view_; }

    // A tree of the sample, tried on all rows.
    struct Trial {
        Cost cost;     // on all rows
        PlanPtr plan;  // the same tree with every split worked out
    };
    Trial try_on_all(const PlanPtr& plan);

    // Adds rows that the tree tried last gets wrong, if it costs more than on the sample; returns their weight.
    Weight grow(Cost wanted);
    // The same in two steps: so many rows of several trees are marked, then they all join.
    void mark_wrong(std::size_t most);
    Weight join_marked();

    // Adds the first and the last row of a column where the sample lacks them; returns their weight.
    Weight include_ends(const NodeColumn& column);

  private:
    LazyRows(Context& context, NodeBuilder& builder, Levels& levels, const Node& all, const Loss& loss);
    void add(Index row);
    void rebuild();
    void send_down(const FlatTree& tree, const std::vector<Index>& upto);

    Context& context_;
    NodeBuilder& builder_;
    Levels& levels_;
    const Node& all_;
    Loss loss_;
    Node sample_, view_;
    bool complete_ = false;
    std::vector<std::uint8_t> marked_;
    Index marked_count_ = 0;
    std::vector<std::uint32_t> leaf_of_;  // of each row in the tree tried last
    std::vector<Index> wrong_;            // rows outside the sample that the tree tried last gets wrong
    std::vector<std::vector<Weight>> weight_before_;
};

}  // namespace provetree
