// A split whose sides are searched by several workers; see intervals/divided_split.hpp.
#include "intervals/divided_split.hpp"

#include <algorithm>
#include <utility>

namespace provetree {

DividedSplit::DividedSplit(NodeSolver& solver, const Node& parent, const SplitTask& task, SplitAnswer found,
                           const Recall& recall)
    : solver_(solver), task_(task), answer_(std::move(found)), recall_(recall),
      budget_(task.cut - solver.loss().split_penalty + task.slack) {
    const NodeColumn& column = column_of(parent, task.split.column);
    solver.builder().split(parent, column, Node::rows_up_to(column, task.split.rank, 0, parent.rows), left_, right_);
    left_first_ = left_.rows >= right_.rows;
    answer_.least_left = std::max(answer_.least_left, task.least_left);
    answer_.least_right = std::max(answer_.least_right, task.least_right);
    const bool first = !left_first_;  // whether the first side is the right one
    if (first ? answer_.right_open : answer_.left_open)
        begin_side(first, budget_ - (first ? task_.least_left : task_.least_right));
    else
        end_side(std::move(outcome(first)));
}

std::vector<KnownNode::Step> DividedSplit::path_to(bool right) const {
    std::vector<KnownNode::Step> path = task_.path;
    path.push_back({task_.split, right});
    return path;
}

void DividedSplit::begin_side(bool right, Cost limit) {
    // The same limits as in NodeSolver::solve_sides.
    limit_ = std::min(limit, task_.cut);
    known_ = std::exchange(outcome(right).profile, nullptr);  // of these very rows
    const ProfilePtr &inner = right ? task_.inner_right : task_.inner_left,
                     &outer = right ? task_.outer_right : task_.outer_left;
    const NodeRequest request{
        .shape = right ? task_.right : task_.left,
        .limit = std::min(limit_, (right ? task_.most_right : task_.most_left) + 1),
        .relatives = known_ ? Relatives{known_.get(), known_.get()} : Relatives{inner.get(), outer.get()},
        .keep_profile = true,
        .level = task_.path.size() + 1};
    const Node& node = rows(right);
    NodeSolver::Begun begun = solver_.begin(node, request);
    if (begun.outcome) return end_side(*std::move(begun.outcome));
    frontier_.emplace(solver_.context(), solver_.loss(), node, begun.request, begun.leaf, nullptr);
    frontier_->open(solver_.survey(node.columns, node, begun.request));
    const std::optional<KnownNode> earlier = recall_ ? recall_(path_to(right)) : std::nullopt;
    const Shape shape = frontier_->shape();
    if (earlier && earlier->shape.depth == shape.depth && earlier->shape.splits == shape.splits)
        frontier_->take_up(*earlier);
}

void DividedSplit::end_side(Outcome&& found) {
    const bool right = in_second_ == left_first_;
    frontier_.reset();
    outcome(right) = std::move(found);
    Cost& least = right ? answer_.least_right : answer_.least_left;
    least = std::max(least, outcome(right).relaxed);
    if (in_second_) return compose();
    in_second_ = true;
    const Cost rest = budget_ - outcome(right).lower, known = right ? task_.least_left : task_.least_right;
    if (rest <= known) return compose();
    if (right ? answer_.left_open : answer_.right_open)
        begin_side(!right, rest);
    else
        compose();
}

void DividedSplit::compose() {
    done_ = true;
    answer_.left_open = answer_.right_open = false;
    if (answer_.left.upper < kInfinite && answer_.right.upper < kInfinite)
        answer_.best = {std::min(kInfinite, answer_.left.upper + answer_.right.upper + solver_.loss().split_penalty),
                        split_plan(task_.split.column, task_.split.rank, answer_.left.plan, answer_.right.plan),
                        task_.split.left_splits};
}

DividedSplit::Next DividedSplit::next(Cost cut, bool beside, std::uint64_t& number, SplitTask& task) {
    while (!done_) {
        // Where the cut has fallen, trees of the side must cost so much less: a lower limit asks for less.
        if (cut < task_.cut) frontier_->lower_limit(limit_ - (task_.cut - cut));
        Next below = Next::kNothing;
        if (ask_those_below(beside, number, task, below)) return below;
        Frontier::Attempt attempt;
        if (frontier_->next(attempt, beside)) {
            const std::uint64_t sample = task_.sample;
            task = frontier_->task_of(attempt);
            task.number = number++;
            task.path = path_to(in_second_ == left_first_);
            task.node = &rows(in_second_ == left_first_);
            task.sample = sample;
            task.sample_rows = task_.sample_rows;
            tried_.emplace(task.number, attempt);
            return Next::kTask;
        }
        if (!tried_.empty() || !below_.empty()) return Next::kNothing;
        end_side(frontier_->finished(true));
    }
    return Next::kDone;
}

// True where there is a task among the splits that were divided again. Those that are done are settled.
bool DividedSplit::ask_those_below(bool beside, std::uint64_t& number, SplitTask& task, Next& next) {
    for (auto at = below_.begin(); at != below_.end();) {
        Below& one = at->second;
        next = one.split->next(frontier_->cut(one.attempt.interval.family), beside, number, task);
        if (next == Next::kTask) return true;
        if (next == Next::kDone) {
            frontier_->settle(one.attempt, one.split->answer(), true);
            at = below_.erase(at);
        } else {
            ++at;
        }
    }
    return false;
}

bool DividedSplit::settle(const SplitTask& task, SplitAnswer& answer) {
    const auto at = tried_.find(task.number);
    if (at == tried_.end())
        return std::any_of(below_.begin(), below_.end(),
                           [&](auto& one) { return one.second.split->settle(task, answer); });
    if (answer.open())
        below_.emplace(task.number,
                       Below{at->second, std::make_unique<DividedSplit>(solver_, rows(in_second_ == left_first_), task,
                                                                        std::move(answer), recall_)});
    else
        frontier_->settle(at->second, answer, true);
    tried_.erase(at);
    return true;
}

void DividedSplit::add_to(std::vector<KnownNode>& nodes) const {
    if (!frontier_) return;
    const bool right = in_second_ == left_first_;
    KnownNode node = frontier_->record();
    node.path = path_to(right);
    nodes.push_back(std::move(node));
    if (in_second_) {
        const Outcome& first = right ? answer_.left : answer_.right;
        const Shape shape = (right ? task_.left : task_.right).on(rows(!right).rows);
        if (shape.depth >= 3) {
            KnownNode side = record_of(first, shape, rows(!right).rows);
            side.path = path_to(!right);
            nodes.push_back(std::move(side));
        }
    }
    for (const auto& [number, one] : below_) one.split->add_to(nodes);
}

}  // namespace provetree
