// Works a plan out on the rows of a node: flat arrays, exact cost. Stumps are chosen by the tie rule here.
#pragma once

#include "loss/loss.hpp"
#include "run/context.hpp"
#include "sweeps/node.hpp"
#include "tree/plan.hpp"

namespace provetree {

FlatTree finish_plan(Context& context, NodeBuilder& builder, Levels& levels, const Node& root, const PlanPtr& plan,
                     const Loss& loss);

}  // namespace provetree
