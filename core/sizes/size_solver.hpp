// Solves nodes for all sizes of trees at once. Nodes of depth three and more are searched (sizes/size_search.hpp),
// those of depth two swept.
#pragma once

#include "intervals/lazy_rows.hpp"
#include "loss/loss.hpp"
#include "run/context.hpp"
#include "sizes/size_answer.hpp"
#include "sizes/size_profile.hpp"
#include "sweeps/depth_two.hpp"
#include "sweeps/node.hpp"

namespace provetree {

// What a solved node of this depth leaves behind.
template <int Depth>
struct SizeProfileOf {
    using Type = SizeProfile<kSizes<Depth - 1>>;
};
template <>
struct SizeProfileOf<2> {
    using Type = Profile;
};
template <int Depth>
using ProfileOf = typename SizeProfileOf<Depth>::Type;

// What is asked of the solver of a node: for each size the best tree, exactly where it costs less than its limit.
template <int Depth>
struct SizeRequest {
    PerSize<kSizes<Depth>> limits{};  // they may not rise with the size
    const ProfileOf<Depth>* inner = nullptr;
    const ProfileOf<Depth>* outer = nullptr;
    const SizeAnswer<Depth>* start = nullptr;  // trees to begin with
    bool keep_profile = false;
    std::size_t level = 0;  // from 0 at the root
};

class SizeSolver {
  public:
    SizeSolver(Context& context, NodeBuilder& builder, const Loss& loss)
        : context_(context), builder_(builder), loss_(loss), depth_two_(context) {}

    // Depth 2 to 4. Where the search is stopped, the answer holds the best trees so far. A sample of the node's rows
    // may be searched in their place.
    template <int Depth>
    std::shared_ptr<const ProfileOf<Depth>> solve(const Node& node, const SizeRequest<Depth>& request,
                                                  SizeAnswer<Depth>& answer, LazyRows* lazy = nullptr);

    Context& context() { return context_; }
    const Loss& loss() const { return loss_; }
    // Divides the rows of a node into the sides of a split.
    Levels::Children& divide(const Node& node, const NodeColumn& column, Index position, std::size_t level);

  private:
    ProfilePtr solve_two(const Node& node, const SizeRequest<2>& request, SizeAnswer<2>& answer);

    Context& context_;
    NodeBuilder& builder_;
    Loss loss_;
    DepthTwo depth_two_;
    Levels levels_;
};

}  // namespace provetree
