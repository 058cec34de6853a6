// The worker's side of a search whose splits are solved elsewhere: a task as text in, its answer as text out. One of
// these serves one table and one thread, task after task.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "table/table.hpp"

namespace provetree {

class TaskSolver {
  public:
    // `memory_limit`: bytes that kept bounds may take.
    TaskSolver(const Table& merged, const std::string& job, std::uint64_t memory_limit, const std::string& kernel);
    ~TaskSolver();
    TaskSolver(const TaskSolver&) = delete;
    TaskSolver& operator=(const TaskSolver&) = delete;

    // The answer. A task whose sides are deep enough to be divided is handed back after so many seconds, or steps, with
    // what is known by then. Nothing where it was stopped.
    std::optional<std::string> solve(const std::string& task, double seconds, std::uint64_t steps);

    // From other threads, at any time: trees of this cost and more are of no use any longer; nothing is.
    void lower_cut(std::int64_t cut);
    void stop();

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace provetree
