// Better trees while the proof is out of reach: large-neighbourhood search with an exact inner solver.
//
// A tree is a set of upper splits; what hangs below them is solved, not guessed: two levels always to the optimum,
// three levels by the exact search with a cap on its effort. Three kinds of steps change a tree:
//   - A subtree of depth three is solved again in place, with more effort each time it comes up.
//   - An upper split is exchanged for one of several others, and everything below it is grown again, along the old
//     splits or afresh. The most promising of these trees gets its subtrees of depth three solved before it is
//     compared.
//   - Where nothing helps any more, the search starts again: from another greedy tree, which differs in a few places
//     from the ranking of the columns, or from the best tree with one upper split thrown away.
// All decisions depend on counted steps and on a fixed sequence of numbers, so the same work gives the same tree.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/splitmix.hpp"
#include "improve/grower.hpp"
#include "intervals/node_solver.hpp"
#include "loss/loss.hpp"
#include "run/context.hpp"

namespace provetree {

class Improver {
  public:
    // Told about each better tree: its cost, its plan, and the splits of its left side where the split budget binds.
    using Listener = std::function<void(Cost, const PlanPtr&, std::int64_t)>;

    // The root and its table must outlive the improver; `start` is the tree to beat.
    Improver(Context& context, const Node& root, Shape shape, const Loss& loss, const Incumbent& start,
             Listener listener);

    // One step, of bounded effort. A stop of the search is passed on; the best tree so far has been told by then.
    void step();

    // Goes on from a better tree that was found elsewhere.
    void go_on_from(Cost cost, const PlanPtr& plan);

    // Rounds from a start to a tree that no step improved, since the last better tree; and whether nothing is left to
    // improve.
    std::uint64_t rounds_in_vain() const { return rounds_in_vain_; }
    std::uint64_t rounds() const { return restarts_ + 1; }
    bool finished() const { return best_cost_ <= 0 || shape_.depth < 3; }

  private:
    using Path = std::string;  // 'l' and 'r' from the root down
    struct Task {
        Path path;
        bool exact;  // solve the subtree again, or exchange its first split
    };

    int remaining(const Path& path) const { return shape_.depth - static_cast<int>(path.size()); }
    std::int64_t budget(const Subtree& subtree) const {
        return binding_ ? subtree.splits + shape_.splits - current_->splits : Shape::full(shape_.depth);
    }
    SubtreePtr at(const Path& path) const;  // null where the tree at hand no longer has such a part
    const Node& descend(const Path& path);
    void split_into_levels(const Node& node, const Subtree& subtree, std::size_t level);
    SubtreePtr with(const SubtreePtr& subtree, const Path& path, std::size_t from, const SubtreePtr& part) const;
    void take(const SubtreePtr& tree);
    void list_tasks(const Subtree& subtree, const Path& path);
    void solve_again(const Path& path);
    SubtreePtr solved(const Node& node, const SubtreePtr& subtree, std::uint64_t effort, std::int64_t& spare);
    SubtreePtr polished(const Node& node, const SubtreePtr& subtree, int depth, std::size_t level, std::int64_t& spare);
    void exchange(const Path& path);
    std::vector<Candidate> proposals(const Node& node, const Subtree& subtree);
    void finish_round();
    void start_again();
    SubtreePtr shaken();
    BranchingPreference next_preference();
    std::uint64_t random(std::uint64_t below) { return splitmix(state_ += kSplitmixStep) % below; }

    Context& context_;
    NodeBuilder builder_;
    NodeSolver solver_;  // whose levels hold the path to the node at hand
    NodeSolver inner_;   // solves subtrees, on levels of its own
    const Node& root_;
    Shape shape_;
    bool binding_;
    Grower grower_;
    Listener listener_;
    // Whose children lie in the levels of search_ now.
    struct Step {
        const Subtree* subtree;
        const Node* node;
    };
    std::vector<Step> path_;

    SubtreePtr current_, best_;
    Cost best_cost_;
    std::vector<Task> tasks_;         // last first
    bool improved_ = false;           // in this round
    int patience_ = 0;                // rounds without improvement before the search starts again
    std::optional<StopSearch> stop_;  // met while a subtree was solved: passed on once its result is kept
    std::uint64_t rounds_in_vain_ = 0, restarts_ = 0;
    std::uint64_t state_ = kSplitmixStep;  // of the sequence of numbers
};

}  // namespace provetree
