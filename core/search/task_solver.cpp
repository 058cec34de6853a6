// The worker's side of a search; see search/task_solver.hpp.
#include "search/task_solver.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "intervals/node_solver.hpp"
#include "intervals/pair_bounds.hpp"
#include "table/unmerged.hpp"
#include "tasks/split_task.hpp"

namespace provetree {

struct TaskSolver::Parts {
    Parts(const Table& merged, const Job& of_job, std::uint64_t memory_limit, const std::string& kernel)
        : job(of_job), unmerged(merged), monitor(std::numeric_limits<double>::infinity(), [this] { return go_on(); }),
          context(unmerged.table, choose_kernel(kernel), job.min_leaf, job.switches, memory_limit, monitor),
          builder(context.table, context.kernel, context.min_leaf), solver(context, builder, job.loss) {
        context.remembers_sets = job.remembers_sets;
        builder.build_root(root);
        solver.heed(&cut);
    }

    bool go_on() const {
        if (stopped) return false;
        if (monitor.seconds() >= deadline) throw StopSearch{StopReason::kHandedBack};
        return true;
    }
    const Node& rows_of(const SplitTask& task);
    PairBounds* pairs_of(const SplitTask& task);
    SplitAnswer solve(const SplitTask& task, double seconds, std::uint64_t steps);

    Job job;
    Unmerged unmerged;
    double deadline = std::numeric_limits<double>::infinity();
    std::atomic<bool> stopped{false};
    std::atomic<Cost> cut{kInfinite};
    Monitor monitor;
    Context context;
    NodeBuilder builder;
    NodeSolver solver;
    Node root, sample;
    std::unique_ptr<PairBounds> pairs;               // what tasks have proven here, for those that follow
    std::shared_ptr<const std::string> sample_rows;  // that the sample was made of
};

// All rows, or the sample that the task is about.
const Node& TaskSolver::Parts::rows_of(const SplitTask& task) {
    if (!task.sample_rows) return root;
    if (!sample_rows || *sample_rows != *task.sample_rows) {
        std::vector<std::vector<Weight>> unused(root.columns.size(), std::vector<Weight>(std::size_t{root.rows} + 1));
        builder.choose(root, rows_of_letters(*task.sample_rows, root.rows), sample, unused);
        sample_rows = task.sample_rows;
    }
    return sample;
}

// Tasks about splits of the root prove things of rows that pass two splits, each for all that follow. Those further
// down are about other rows.
PairBounds* TaskSolver::Parts::pairs_of(const SplitTask& task) {
    if (!task.path.empty()) return nullptr;
    const Shape shape{std::max(task.left.depth, task.right.depth) + 1, task.left.splits + task.right.splits + 1};
    if (!pairs) pairs = solver.pairs_below(root, shape, nullptr);
    return pairs.get();
}

SplitAnswer TaskSolver::Parts::solve(const SplitTask& task, double seconds, std::uint64_t steps) {
    const Node* node = &rows_of(task);
    std::size_t level = 0;
    const auto divide = [&](const SplitName& split) {
        const NodeColumn* column = find_column(*node, split.column);
        if (!column || column->ranks[0] > split.rank || column->ranks[node->rows - 1] <= split.rank)
            throw std::invalid_argument("A task is about another table.");
        solver.divide(*node, split, level);
    };
    for (const KnownNode::Step& step : task.path) {
        divide(step.split);
        node = step.right ? &solver.levels().at(level).right : &solver.levels().at(level).left;
        ++level;
    }
    divide(task.split);
    const bool can_be_divided = std::max(task.left.depth, task.right.depth) >= 3;
    deadline = can_be_divided ? monitor.seconds() + seconds : std::numeric_limits<double>::infinity();
    std::optional<Monitor::Sharing> sharing;
    if (can_be_divided) sharing.emplace(monitor, Monitor::kNever, steps);
    solver.hand_back_at(level);
    return solver.solve_sides(task, node->columns.size(), level, pairs_of(task));
}

TaskSolver::TaskSolver(const Table& merged, const std::string& job, std::uint64_t memory_limit,
                       const std::string& kernel)
    : parts_(std::make_unique<Parts>(merged, unpack_job(job), memory_limit, kernel)) {}

TaskSolver::~TaskSolver() = default;

std::optional<std::string> TaskSolver::solve(const std::string& text, double seconds, std::uint64_t steps) {
    Parts& parts = *parts_;
    parts.context.counters = {};
    const std::uint64_t before = parts.monitor.steps();
    try {
        SplitAnswer answer = parts.solve(unpack_task(text, parts.context.profile_bytes), seconds, steps);
        answer.done = parts.context.counters;
        answer.steps = parts.monitor.steps() - before;
        return pack(answer);
    } catch (const StopSearch&) {
        return std::nullopt;
    }
}

void TaskSolver::lower_cut(std::int64_t cut) {
    Cost known = parts_->cut.load();
    while (cut < known && !parts_->cut.compare_exchange_weak(known, cut)) {
    }
}

void TaskSolver::stop() { parts_->stopped = true; }

}  // namespace provetree
