// Nodes of any depth for all sizes; see sizes/size_solver.hpp.
#include "sizes/size_solver.hpp"

#include "sizes/size_search.hpp"
#include "sweeps/depth_one.hpp"

namespace provetree {

namespace {

// Answers where no split can pay or none is asked for; says whether that is so.
template <int Depth>
bool answer_at_once(const Context& context, const Node& node, const SizeRequest<Depth>& request,
                    SizeAnswer<Depth>& answer) {
    const Cost leaf = answer.upper[0], relaxed = answer.relaxed[0];
    if ((relaxed <= 0 && leaf < kInfinite) || node.columns.empty()) {
        answer.lower.fill(leaf);
        answer.relaxed.fill(relaxed);
        return true;
    }
    if (context.constrained() && node.count < 2 * context.min_leaf) {
        // Only the leaf is feasible, but the relaxed problem may still split: it is bounded by no errors at all.
        answer.lower.fill(leaf);
        return true;
    }
    return *std::max_element(request.limits.begin() + 1, request.limits.end()) <= 0;
}

}  // namespace

template <int Depth>
std::shared_ptr<const ProfileOf<Depth>> SizeSolver::solve(const Node& node, const SizeRequest<Depth>& request,
                                                          SizeAnswer<Depth>& answer, LazyRows* lazy) {
    answer.begin(leaf_cost(context_, node, loss_), leaf_cost_of(node, loss_));
    if (answer_at_once(context_, node, request, answer)) return nullptr;
    if (request.start)
        for (std::size_t s = 1; s < answer.upper.size(); ++s)
            answer.offer(s, request.start->upper[s], request.start->plan[s]);
    if constexpr (Depth == 2)
        return solve_two(node, request, answer);
    else
        return SizeSearch<Depth>(*this, node, request, answer, lazy).run();
}

ProfilePtr SizeSolver::solve_two(const Node& node, const SizeRequest<2>& request, SizeAnswer<2>& answer) {
    const NodeRequest asked{.shape = {2, 3},
                            .relatives = {request.inner, request.outer},
                            .keep_profile = request.keep_profile,
                            .level = request.level};
    const auto& limits = request.limits;
    const auto take = [&](std::size_t size, const Bounded& found) {
        answer.lower[size] = found.lower;
        answer.relaxed[size] = context_.constrained() ? found.relaxed : found.lower;
        answer.offer(size, found.upper, found.plan);
    };
    const auto take_all = [&](const TwoSizes& found) {
        take(1, found.two);
        take(2, found.three);
        take(3, found.four);
        answer.share_trees();
    };
    TwoSizes found;
    try {
        found = depth_two_.solve_sizes(node, asked, {limits[1], limits[2], limits[3]}, loss_);
    } catch (const StopSearch&) {
        take_all(depth_two_.sizes_so_far());
        throw;
    }
    take_all(found);
    answer.share_bounds();
    return found.profile;
}

Levels::Children& SizeSolver::divide(const Node& node, const NodeColumn& column, Index position, std::size_t level) {
    Levels::Children& kids = levels_.at(level);
    builder_.split(node, column, position, kids.left, kids.right);
    context_.counters.nodes += 2;
    context_.monitor.work(std::uint64_t{node.rows} * (node.columns.size() + 1) / 2);
    return kids;
}

template std::shared_ptr<const ProfileOf<2>> SizeSolver::solve<2>(const Node&, const SizeRequest<2>&, SizeAnswer<2>&,
                                                                  LazyRows*);
template std::shared_ptr<const ProfileOf<3>> SizeSolver::solve<3>(const Node&, const SizeRequest<3>&, SizeAnswer<3>&,
                                                                  LazyRows*);
template std::shared_ptr<const ProfileOf<4>> SizeSolver::solve<4>(const Node&, const SizeRequest<4>&, SizeAnswer<4>&,
                                                                  LazyRows*);

}  // namespace provetree
