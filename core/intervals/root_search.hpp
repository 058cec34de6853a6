// The search of a root: its splits are tasks that an executor has solved, by this thread alone or by several.
//
// The root keeps the tree to beat, survives a stop with what it has, and in a proof takes over trees found beside it,
// tells what is proven, and keeps it on disk. Its sides can be solved on a sample of the rows.
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "intervals/frontier.hpp"
#include "intervals/node_solver.hpp"
#include "proof/checkpoint.hpp"
#include "run/request.hpp"
#include "tasks/executor.hpp"

namespace provetree {

class LazyRows;
class ResumeNotes;
class ResumeStack;

// What the search by intervals can be given beside the request.
struct RootOptions {
    TieChoice* ties = nullptr;            // where the split goes that the tie rule prefers; null: any will do
    LazyRows* lazy = nullptr;             // the sides are solved on this sample of the rows, which grows
    const Checkpoint* earlier = nullptr;  // what an earlier process has left on disk, for a proof with a file
};

// Where the search is stopped, its bounds are valid but apart.
RootAnswer search_root(NodeSolver& solver, const Node& node, const RootRequest& request, const RootOptions& options);

// The root of depth three or more while it is searched.
class RootSearch final : public RootTasks {
  public:
    RootSearch(NodeSolver& solver, const Node& node, const RootRequest& request, const RootOptions& options);
    ~RootSearch() override;

    RootAnswer run();

    Next next(Cost busy, SplitTask& task) override;
    bool settle(SplitTask& task, SplitAnswer& answer) override;
    void report(Cost busy) override;

  private:
    class Worker;
    struct OtherThread;

    SplitTask task_of(const Frontier::Attempt& attempt);
    bool holds_on_all_rows(const Frontier::Attempt& attempt, const SplitTask& task, SplitAnswer& answer);
    void solve_tasks(Cost& left);
    Outcome stopped(StopReason reason, Cost left);
    void save();
    bool proof() const { return request_.role == Role::kProof; }

    NodeSolver& solver_;
    Context& context_;
    const Loss& loss_;
    const Node& node_;
    const RootRequest& request_;
    const RootOptions& options_;
    NodeRequest asked_;
    Frontier frontier_;
    std::map<std::uint64_t, Frontier::Attempt> tried_;  // splits that are being solved, by the number of their task
    std::uint64_t tasks_ = 0, settled_ = 0;
    Cost proven_ = 0;
    bool listed_ = false;  // whether the frontier has all splits
    // Of a proof that is kept on disk; null otherwise.
    CheckpointFile* file_ = nullptr;
    Executor* executor_ = nullptr;  // while it runs
    std::unique_ptr<ResumeNotes> notes_;
    std::unique_ptr<ResumeStack> stack_;
};

}  // namespace provetree
