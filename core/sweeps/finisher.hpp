// Works a plan out on the rows of a node: flat arrays, exact cost. Stumps are chosen by the tie rule here.
#pragma once

#include "loss/loss.hpp"
#include "run/context.hpp"
#include "sweeps/node.hpp"
#include "tree/plan.hpp"

namespace provetree {

class Finisher {
  public:
    Finisher(Context& context, NodeBuilder& builder, Levels& levels)
        : context_(context), builder_(builder), levels_(levels) {}

    FlatTree finish(const Node& root, const PlanPtr& plan, const Loss& loss);

  private:
    std::int32_t add(const Node& node, const Plan* plan, std::size_t level);

    Context& context_;
    NodeBuilder& builder_;
    Loss loss_;
    Levels& levels_;
    FlatTree tree_;
    Cost errors_ = 0;
};

}  // namespace provetree
