// The search of a root: its splits are tasks that an executor has solved, by this thread alone or by several.
//
// The root keeps the tree to beat, survives a stop with what it has, and in a proof takes over trees found beside it,
// tells what is proven, and keeps it on disk. Its sides can be solved on a sample of the rows.
#pragma once

#include "intervals/node_solver.hpp"
#include "proof/checkpoint.hpp"
#include "run/request.hpp"

namespace provetree {

class LazyRows;

// What the search by intervals can be given beside the request.
struct RootOptions {
    TieChoice* ties = nullptr;            // where the split goes that the tie rule prefers; null: any will do
    LazyRows* lazy = nullptr;             // the sides are solved on this sample of the rows, which grows
    Relatives known{};                    // bounds of these very rows, of subsets or of supersets
    const Checkpoint* earlier = nullptr;  // what an earlier process has left on disk, or a search of more columns
};

// Where the search is stopped, its bounds are valid but apart.
RootAnswer search_root(NodeSolver& solver, const Node& node, const RootRequest& request, const RootOptions& options);

}  // namespace provetree
