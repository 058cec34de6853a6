// A split that takes too long for one worker: the splits of its sides are tasks of their own. It is solved as
// `NodeSolver::solve_sides` would solve it, except that what a side's frontier hands out is solved elsewhere, several
// splits at a time. One of these splits may be divided again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "intervals/frontier.hpp"
#include "intervals/node_solver.hpp"
#include "tasks/split_task.hpp"

namespace provetree {

class DividedSplit {
  public:
    // What an earlier process knew of the node at the end of a path; nothing where it knew nothing.
    using Recall = std::function<std::optional<KnownNode>(const std::vector<KnownNode::Step>& path)>;

    // `parent` is the node that the task divides. `found`: what is known of its sides, one of them being open.
    DividedSplit(NodeSolver& solver, const Node& parent, const SplitTask& task, SplitAnswer found,
                 const Recall& recall);

    enum class Next { kTask, kNothing, kDone };
    // A task, numbered by `number`. `cut`: what trees that begin with the split have to cost less than, now. `beside`:
    // as in Frontier::next. Nothing: answers are to come. Done: `answer` has all there is.
    Next next(Cost cut, bool beside, std::uint64_t& number, SplitTask& task);
    // Keeps the answer to a task that came from here; false where it did not.
    bool settle(const SplitTask& task, SplitAnswer& answer);

    const SplitTask& task() const { return task_; }
    SplitAnswer& answer() { return answer_; }
    // What it leaves on disk.
    void add_to(std::vector<KnownNode>& nodes) const;

  private:
    struct Below {
        Frontier::Attempt attempt;
        std::unique_ptr<DividedSplit> split;
    };

    const Node& rows(bool right) const { return right ? right_ : left_; }
    Outcome& outcome(bool right) { return right ? answer_.right : answer_.left; }
    std::vector<KnownNode::Step> path_to(bool right) const;
    void begin_side(bool right, Cost limit);
    void end_side(Outcome&& found);
    void compose();
    bool ask_those_below(bool beside, std::uint64_t& number, SplitTask& task, Next& next);

    NodeSolver& solver_;
    SplitTask task_;
    SplitAnswer answer_;
    Recall recall_;
    Node left_, right_;
    bool left_first_ = true;
    Cost budget_ = 0;  // of both sides
    bool in_second_ = false, done_ = false;
    // Of the side that is searched:
    Cost limit_ = 0;  // by the cut that the task was given out with
    ProfilePtr known_;
    std::optional<Frontier> frontier_;
    std::map<std::uint64_t, Frontier::Attempt> tried_;
    std::map<std::uint64_t, Below> below_;
};

}  // namespace provetree
