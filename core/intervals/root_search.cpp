// The search of a root; see intervals/root_search.hpp.
#include "intervals/root_search.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "intervals/divided_split.hpp"
#include "intervals/frontier.hpp"
#include "intervals/lazy_rows.hpp"
#include "intervals/resume_stack.hpp"
#include "proof/handover.hpp"
#include "tasks/executor.hpp"
#include "tasks/remote_executor.hpp"

namespace provetree {

namespace {

// Seconds after which a split is shared with threads that have nothing to do; in tests, steps.
constexpr double kOwnSeconds = 0.1;
constexpr std::uint64_t kEagerSteps = 2'000;

// The root of depth three or more while it is searched.
class RootSearch final : public RootTasks {
  public:
    RootSearch(NodeSolver& solver, const Node& node, const RootRequest& request, const RootOptions& options);
    ~RootSearch() override;

    RootAnswer run();

    Next next(Cost busy, bool idle, SplitTask& task) override;
    bool settle(SplitTask& task, SplitAnswer& answer) override;
    void report(Cost busy) override;
    Cost cut() const override { return frontier_.cut(); }

  private:
    class Worker;
    struct OtherThread;

    SplitTask task_of(const Frontier::Attempt& attempt);
    bool holds_on_all_rows(const Frontier::Attempt& attempt, const SplitTask& task, SplitAnswer& answer);
    void solve_tasks(Cost& left);
    void run_by(Executor& executor, Cost& left);
    bool next_task(bool beside, SplitTask& task);
    bool next_of_divided(bool beside, SplitTask& task);
    void renew(SplitTask& task, const SplitAnswer& answer);
    bool keep(SplitTask& task, SplitAnswer& answer);
    Cost least_divided() const;
    bool remote() const { return proof() && context_.exchange && !context_.closings.heard(); }
    Outcome stopped(StopReason reason, Cost left);
    void save();
    HandoverPtr handover() const;
    bool proof() const { return request_.role == Role::kProof; }

    NodeSolver& solver_;
    Context& context_;
    const Loss& loss_;
    const Node& node_;
    const RootRequest& request_;
    const RootOptions& options_;
    NodeRequest asked_;
    Frontier frontier_;
    bool shares_ = false;                   // threads join in at the sides of a split that takes one of them long
    std::unique_ptr<OtherThread> divider_;  // divides such splits, for whoever has the root
    std::map<std::uint64_t, Frontier::Attempt> tried_;  // splits that are being solved, by the number of their task
    std::map<std::uint64_t, DividedSplit> divided_;     // those of them that were too long for one worker
    std::vector<SplitTask> again_;                      // divided splits whose answer does not stand with all rows
    std::shared_ptr<const std::string> sample_rows_;    // for workers elsewhere; of the sample numbered so
    std::uint64_t sample_of_rows_ = ~std::uint64_t{0};
    std::atomic<Cost> cut_now_{kInfinite};  // for threads that are at a split
    std::uint64_t tasks_ = 0, settled_ = 0;
    bool alone_ = false;              // one thread searches
    std::uint64_t blocks_asked_ = 0;  // tasks given out when blocks were last thought of
    Cost proven_ = 0;
    bool listed_ = false;  // whether the frontier has all splits
    // Of a proof that is kept on disk; null otherwise.
    CheckpointFile* file_ = nullptr;
    Executor* executor_ = nullptr;  // while it runs
    std::unique_ptr<ResumeNotes> notes_;
    std::unique_ptr<ResumeStack> stack_;
};

// Solves splits of the root by one solver.
class RootSearch::Worker final : public SplitWorker {
  public:
    // `leader`: of the thread that leads, where this one is another.
    Worker(const RootSearch& root, NodeSolver& solver, const Worker* leader)
        : root_(root), solver_(solver),
          pairs_(leader && !leader->pairs_
                     ? nullptr
                     : solver.pairs_below(root.node_, root.asked_.shape, leader ? leader->pairs_.get() : nullptr)) {}

    // The sample may grow at any time: its rows are divided while nobody else has the root.
    void prepare(const SplitTask& task) override {
        if (!task.path.empty()) return;
        if (const LazyRows* lazy = root_.options_.lazy) solver_.divide(lazy->sample(), task.split, 0);
    }
    SplitAnswer solve(const SplitTask& task) override {
        const Shared shared(*this, task);
        if (const std::size_t level = task.path.size()) {
            solver_.divide(*task.node, task.split, level);
            return solver_.solve_sides(task, task.node->columns.size(), level);
        }
        if (!root_.options_.lazy) {
            if (!std::exchange(begun_, true)) solver_.begin_sides(root_.node_, root_.request_.shape, 0);
            solver_.divide_next(root_.node_, task.split, 0);
        }
        const std::size_t columns = root_.options_.lazy ? root_.context_.table.columns : root_.node_.columns.size();
        return solver_.solve_sides(task, columns, 0, pairs_.get());
    }
    void abandoned() override {
        if (on_abandoned) on_abandoned->tell(true);
    }

    ResumeStack* on_abandoned = nullptr;  // of a thread that does not lead: tells what it was at

  private:
    // While a split is solved whose sides others may join in.
    class Shared {
      public:
        Shared(Worker& worker, const SplitTask& task) {
            if (!worker.root_.shares_ || std::max(task.left.depth, task.right.depth) < 3) return;
            Monitor& monitor = worker.solver_.context().monitor;
            worker.solver_.hand_back_at(task.path.size());
            sharing_.emplace(monitor, kOwnSeconds,
                             worker.root_.context_.eager_threads() ? kEagerSteps : Monitor::kNoCap);
        }

      private:
        std::optional<Monitor::Sharing> sharing_;
    };

    const RootSearch& root_;
    NodeSolver& solver_;
    bool begun_ = false;
    std::unique_ptr<PairBounds> pairs_;
};

// What a thread beside the calling one needs of its own.
struct RootSearch::OtherThread {
    OtherThread(RootSearch& root, Team& team, std::size_t who, const Worker& leader)
        : monitor(team,
                  [this] {
                      if (stack) stack->tell(false);
                      return true;
                  }),
          context(root.context_, monitor), builder(context.table, context.kernel, context.min_leaf, context.rules),
          solver(context, builder, root.loss_), worker(root, solver, &leader), counters(root.context_.counters) {
        context.certifies = root.context_.certifies;
        if (!root.notes_) return;
        stack.emplace(*root.notes_, who);
        solver.note_in(&*stack);
        worker.on_abandoned = &*stack;
    }
    ~OtherThread() { counters.add(context.counters); }

    Monitor monitor;
    Context context;
    NodeBuilder builder;
    NodeSolver solver;
    std::optional<ResumeStack> stack;
    Worker worker;
    Counters& counters;  // of the whole search
};

RootSearch::RootSearch(NodeSolver& solver, const Node& node, const RootRequest& request, const RootOptions& options)
    : solver_(solver), context_(solver.context()), loss_(solver.loss()), node_(node), request_(request),
      options_(options),
      asked_{request.shape.on(node.rows), request.limit, options.known, !options.ties || context_.certifies, 0},
      frontier_(context_, loss_, options.lazy ? options.lazy->view() : node, asked_, request.start, options.ties) {
    if (!proof() || !context_.checkpoint) return;
    file_ = context_.checkpoint;
    notes_ = std::make_unique<ResumeNotes>(*file_, options.earlier ? options.earlier->below : std::vector<KnownNode>{});
    stack_ = std::make_unique<ResumeStack>(*notes_, 0);
    solver_.note_in(stack_.get());
    file_->keep_by([this] {
        if (executor_) executor_->with_root([this] { save(); });
    });
}

RootSearch::~RootSearch() {
    if (!file_) return;
    file_->keep_by(nullptr);
    solver_.note_in(nullptr);
}

RootAnswer RootSearch::run() {
    RootAnswer answer;
    Cost left = 0;  // the least bound of what is being tried
    try {
        const Node& rows = options_.lazy ? options_.lazy->sample() : node_;
        frontier_.open(solver_.survey(frontier_.node().columns, rows, asked_));
        listed_ = true;
        const KnownNode* const known = options_.earlier ? &options_.earlier->root : nullptr;
        if (stack_)
            stack_->enter_root(frontier_, known);
        else if (known)
            frontier_.take_up(*known);
        solve_tasks(left);
        context_.counters.intervals += std::exchange(settled_, 0);
        if (request_.hands_over) answer.handover = handover();
        answer.outcome = frontier_.finished(asked_.keep_profile);
        context_.closings.close([&] { return Region::all_splits(0, request_.shape); }, answer.outcome.lower,
                                Reason::kSolved);
    } catch (const StopSearch& stop) {
        answer.stopped = stop.reason;
        context_.counters.intervals += std::exchange(settled_, 0);
        answer.outcome = stopped(stop.reason, left);
    }
    return answer;
}

// A proof that is listened to is done by one thread, so that one path leads to what is closed.
void RootSearch::solve_tasks(Cost& left) {
    if (remote()) {
        RemoteExecutor elsewhere(*context_.exchange, context_,
                                 pack(Job{loss_, context_.min_leaf, context_.switches, context_.remembers_sets}));
        return run_by(elsewhere, left);
    }
    Worker leader(*this, solver_, nullptr);
    const bool by_several = request_.role != Role::kAside && !context_.closings.heard();
    const std::size_t threads = by_several ? static_cast<std::size_t>(std::max(1, context_.n_jobs)) : 1;
    SerialExecutor alone(leader);
    ThreadExecutor together(leader, context_.monitor);
    std::vector<std::unique_ptr<OtherThread>> others;
    for (std::size_t who = 1; who < threads; ++who) {
        others.push_back(std::make_unique<OtherThread>(*this, together.team(), who, leader));
        together.add(others.back()->worker);
    }
    alone_ = threads == 1;
    // Where costs are rounded, what is known tells equal trees apart: the tree would depend on who shared what.
    shares_ = !alone_ && !file_ && !context_.rules && !context_.table.measure && !context_.off(kNoSharing);
    if (shares_) divider_ = std::make_unique<OtherThread>(*this, together.team(), threads, leader);
    if (alone_) return run_by(alone, left);
    solver_.heed(&cut_now_);
    for (const auto& other : others) other->solver.heed(&cut_now_);
    try {
        run_by(together, left);
    } catch (...) {
        solver_.heed(nullptr);
        throw;
    }
    solver_.heed(nullptr);
}

void RootSearch::run_by(Executor& executor, Cost& left) {
    executor_ = &executor;
    if (context_.text_tasks()) executor_->pass_as_text(context_.profile_bytes);
    try {
        executor_->run(*this, left);
    } catch (...) {
        executor_ = nullptr;
        left = std::min(left, least_divided());
        throw;
    }
    executor_ = nullptr;
}

// What is known when a stop has ended the search.
Outcome RootSearch::stopped(StopReason reason, Cost left) {
    if (proof()) frontier_.offer(context_.found);
    if (file_) save();
    Outcome outcome = frontier_.outcome();
    outcome.lower = std::min({outcome.upper, frontier_.limit(), left, frontier_.least_open()});
    outcome.lower = outcome.relaxed = std::max(outcome.lower, proven_);
    // The tie rule makes use of what is known, although a tree found beside this search has ended it; so do
    // certificates.
    if (asked_.keep_profile && listed_ && (reason == StopReason::kTreeIsOptimal || context_.certifies))
        outcome.profile = frontier_.make_profile();
    return outcome;
}

RootTasks::Next RootSearch::next(Cost busy, bool idle, SplitTask& task) {
    cut_now_.store(frontier_.cut(), std::memory_order_relaxed);
    // What cannot turn out to be needless comes first.
    if (next_task(false, task) || (idle && next_task(true, task))) return Next::kTask;
    // A tree that was found meanwhile can make all in vain that the others are at.
    return std::min(busy, least_divided()) >= frontier_.cut() ? Next::kOver : Next::kNothing;
}

bool RootSearch::next_task(bool beside, SplitTask& task) {
    if (next_of_divided(beside, task)) return true;
    // What holds for all rows does not go with the weights of a sample.
    if (alone_ && !options_.lazy && std::exchange(blocks_asked_, tasks_) != tasks_)
        solver_.add_blocks(frontier_, node_, tasks_);
    Frontier::Attempt attempt;
    if (!frontier_.next(attempt, beside)) return false;
    task = task_of(attempt);
    task.number = tasks_++;
    tried_.emplace(task.number, attempt);
    return true;
}

// Splits that were too long come first: they were the most promising ones. Those that are done are settled here.
bool RootSearch::next_of_divided(bool beside, SplitTask& task) {
    for (auto at = divided_.begin(); at != divided_.end();) {
        DividedSplit& split = at->second;
        const std::uint32_t family = tried_.at(at->first).interval.family;
        const DividedSplit::Next next = split.next(frontier_.cut(family), beside, tasks_, task);
        if (next == DividedSplit::Next::kTask) {
            task.bound = split.task().bound;  // what it bounds is the root, not a node below
            return true;
        }
        if (next == DividedSplit::Next::kNothing) {
            ++at;
            continue;
        }
        SplitTask whole = split.task();
        SplitAnswer answer = std::move(split.answer());
        at = divided_.erase(at);
        if (!keep(whole, answer)) again_.push_back(std::move(whole));
    }
    if (again_.empty()) return false;
    task = std::move(again_.back());
    again_.pop_back();
    return true;
}

Cost RootSearch::least_divided() const {
    Cost least = kInfinite;
    for (const auto& [number, split] : divided_) least = std::min(least, split.task().bound);
    for (const SplitTask& task : again_) least = std::min(least, task.bound);
    return least;
}

SplitTask RootSearch::task_of(const Frontier::Attempt& attempt) {
    const SplitName split = frontier_.name_of(attempt.interval.family, attempt.position);
    if (options_.lazy) {
        // Both sides need a row of the sample, so that the split is one of the sample, too.
        const Node& sample = options_.lazy->sample();
        const NodeColumn* same = find_column(sample, split.column);
        const Index position = same ? Node::rows_up_to(*same, split.rank, 0, sample.rows) : 0;
        if (position == 0 || position == sample.rows)
            frontier_.sample_has_grown(options_.lazy->include_ends(column_of(frontier_.node(), split.column)));
    }
    SplitTask task = frontier_.task_of(attempt);
    if (options_.lazy && remote() && !options_.lazy->complete()) {
        if (sample_of_rows_ != frontier_.sample())
            sample_rows_ = std::make_shared<const std::string>(letters_of(options_.lazy->marked()));
        sample_of_rows_ = frontier_.sample();
        task.sample_rows = sample_rows_;
    }
    return task;
}

bool RootSearch::settle(SplitTask& task, SplitAnswer& answer) {
    if (!task.path.empty()) {
        for (auto& [number, split] : divided_)
            if (split.settle(task, answer)) break;
        return true;
    }
    if (!answer.open()) return keep(task, answer);
    // What was found out on a sample that has grown since helps with the new one.
    if (options_.lazy && task.sample != frontier_.sample()) {
        renew(task, answer);
        return false;
    }
    context_.counters.shared += divider_ != nullptr;
    divided_.try_emplace(task.number, divider_ ? divider_->solver : solver_,
                         options_.lazy ? options_.lazy->sample() : node_, task, std::move(answer),
                         notes_ ? [this](const Path& path) { return notes_->known(path); } : DividedSplit::Recall{});
    return true;
}

// The task with what is known by now, and with what was found on fewer rows for the same split.
void RootSearch::renew(SplitTask& task, const SplitAnswer& answer) {
    const std::uint64_t number = task.number;
    task = task_of(tried_.at(number));
    task.number = number;
    task.least_left = std::max(task.least_left, answer.least_left);
    task.least_right = std::max(task.least_right, answer.least_right);
    if (answer.left.profile) task.inner_left = answer.left.profile;
    if (answer.right.profile) task.inner_right = answer.right.profile;
}

// Keeps an answer that is complete.
bool RootSearch::keep(SplitTask& task, SplitAnswer& answer) {
    const Frontier::Attempt attempt = tried_.at(task.number);
    if (options_.lazy && !holds_on_all_rows(attempt, task, answer)) {
        renew(task, answer);
        return false;
    }
    frontier_.settle(attempt, answer, task.sample == frontier_.sample());
    if (remote() && notes_) notes_->forget({}, task.split);
    tried_.erase(task.number);
    ++settled_;
    return true;
}

// Whether the answer stands with all rows there are; false where the split has to be solved on a larger sample.
bool RootSearch::holds_on_all_rows(const Frontier::Attempt& attempt, const SplitTask& task, SplitAnswer& answer) {
    const Cost cut = frontier_.cut(attempt.interval.family);
    LazyRows& lazy = *options_.lazy;
    if (task.sample != frontier_.sample()) {
        if (answer.best.upper < cut) return false;
        // The bounds hold, for these are more rows; the trees may get the new ones wrong.
        const Cost more = loss_.slack(frontier_.node().weight - task.sample_weight);
        answer.left.upper = std::min(kInfinite, answer.left.upper + more);
        answer.right.upper = std::min(kInfinite, answer.right.upper + more);
        return true;
    }
    // A split that would win on the sample is tried on all rows.
    if (lazy.complete()) return true;
    if (answer.best.upper >= cut) {
        // What costs no less than the limit on the sample was not tried: it is no tree of all rows.
        answer.best.upper = std::max(answer.best.upper, frontier_.outcome().upper);
        return true;
    }
    const LazyRows::Trial trial = lazy.try_on_all(answer.best.plan);
    if (trial.cost == answer.best.upper) {
        answer.best.plan = trial.plan;
        return true;
    }
    // Not the best of this split, but perhaps better than what there was.
    if (trial.cost < frontier_.outcome().upper) frontier_.accept(attempt, trial.cost, trial.plan);
    frontier_.sample_has_grown(lazy.grow(frontier_.cut(attempt.interval.family) - answer.best.upper));
    return false;
}

// Takes over what was found beside this search, and tells what is proven.
void RootSearch::report(Cost busy) {
    if (!proof()) return;
    frontier_.offer(context_.found);
    const Outcome& outcome = frontier_.outcome();
    context_.found.offer(outcome);
    const Cost open = std::min({busy, least_divided(), frontier_.least_open()});
    proven_ = std::max(proven_, std::min({outcome.upper, open, frontier_.limit()}));
    if (request_.listener) request_.listener(outcome.upper, proven_);
    if (file_ && file_->due()) save();
}

constexpr std::size_t kMostProfilePoints = 300'000;  // of the sides of splits, in one file

std::size_t points_in(const ProfilePtr& profile) {
    if (!profile) return 0;
    std::size_t points = profile->cells.size();
    for (const PanelColumn& column : profile->panel) points += column.points.size();
    for (const MeasuredColumn& column : profile->measured) points += column.points.size();
    for (const DeepFamily& family : profile->deep) points += family.points.size();
    return points;
}

// Drops what is known of the sides of splits beyond what a file should hold.
void limit_profiles(KnownNode& node, std::size_t& room) {
    for (KnownNode::Point& point : node.points) {
        const std::size_t points = points_in(point.of_left) + points_in(point.of_right);
        if (points > room)
            point.of_left = point.of_right = nullptr;
        else
            room -= points;
    }
}

// The bounds of all splits tried.
HandoverPtr RootSearch::handover() const {
    Handover proven{loss_, context_.table.columns, frontier_.record(), {}};
    if (options_.lazy && !options_.lazy->complete()) proven.sample = options_.lazy->marked();
    return std::make_shared<const Handover>(std::move(proven));
}

// Leaves the best tree on disk, and the bounds that are known of the root and of the nodes searched below it.
void RootSearch::save() {
    if (!stack_->begun()) return;  // it has not taken up yet what the file knows
    Checkpoint checkpoint = checkpoint_of(context_);
    checkpoint.root = frontier_.record();
    if (options_.lazy && !options_.lazy->complete()) checkpoint.sample = options_.lazy->marked();
    checkpoint.root.best.offer(context_.found);
    if (const std::optional<SplitName> split = stack_->at_root()) checkpoint.root.tried.push_back(*split);
    checkpoint.below = stack_->nodes();
    if (remote()) {
        for (const auto& [number, attempt] : tried_)
            checkpoint.root.tried.push_back(frontier_.name_of(attempt.interval.family, attempt.position));
        for (const auto& [number, split] : divided_) split.add_to(checkpoint.below);
    }
    notes_->add_to(checkpoint);
    std::size_t room = kMostProfilePoints;
    limit_profiles(checkpoint.root, room);
    for (KnownNode& below : checkpoint.below) limit_profiles(below, room);
    file_->write(checkpoint);
}

}  // namespace

RootAnswer search_root(NodeSolver& solver, const Node& node, const RootRequest& request, const RootOptions& options) {
    Context& context = solver.context();
    std::optional<Closings::Heard> silence;
    if (request.role != Role::kProof) silence.emplace(context.closings);
    const Shape shape = request.shape.on(node.rows);
    RootAnswer answer;
    Outcome& outcome = answer.outcome;
    outcome.take(request.start);
    if (options.ties) *options.ties = choice_of(context, node, request.start);
    if (request.start.upper <= 0) {
        outcome.lower = outcome.relaxed = outcome.upper;  // nothing costs less than nothing
        context.closings.close([&] { return Region::all_splits(0, request.shape); }, 0, Reason::kNoBudget);
        return answer;
    }
    if (shape.depth >= 3 && !node.columns.empty()) return RootSearch(solver, node, request, options).run();
    const NodeRequest asked{.shape = shape, .keep_profile = !options.ties};
    try {
        outcome = options.ties && shape.depth == 2 ? solver.solve_with_ties(node, asked, {}, *options.ties)
                                                   : solver.solve(node, asked);
    } catch (const StopSearch& stop) {
        answer.stopped = stop.reason;
        if (shape.depth == 2) {
            const Outcome& standing = solver.standing();
            outcome.lower = outcome.relaxed = std::max(outcome.lower, standing.lower);
            outcome.offer(standing);
        }
        return answer;
    }
    if (request.role == Role::kProof && request.listener) request.listener(outcome.upper, outcome.lower);
    return answer;
}

}  // namespace provetree
