// Who solves the splits of the root: the calling thread alone, or several threads. The root hands out tasks and keeps
// the answers; a worker solves a task without knowing where it came from. Another executor can send tasks elsewhere.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/limits.hpp"
#include "tasks/split_task.hpp"

namespace provetree {

// The root of a search: which split to try next, and what its answer changes. Called by one thread at a time.
class RootTasks {
  public:
    virtual ~RootTasks() = default;

    enum class Next {
        kTask,     // here it is
        kNothing,  // nothing to hand out: the end, unless an answer that is still to come leaves something
        kOver,     // the end, whatever is still being solved
    };
    // `busy`: the least bound of the tasks that are being solved; kInfinite where there are none. `idle`: so many have
    // nothing to do that a task which another one may turn out to have made needless is better than none.
    virtual Next next(Cost busy, bool idle, SplitTask& task) = 0;
    // Keeps an answer. False: more rows are to be looked at, and the task, brought up to date, has to be solved again.
    virtual bool settle(SplitTask& task, SplitAnswer& answer) = 0;
    // Between two tasks, by the thread that called the search: what is proven is told and kept.
    virtual void report(Cost busy) = 0;
    // Trees of this cost and more are of no use any longer.
    virtual Cost cut() const = 0;
};

class SplitWorker {
  public:
    virtual ~SplitWorker() = default;
    // Before a task is solved, while nobody else has the root: takes from it what it needs.
    virtual void prepare(const SplitTask&) {}
    virtual SplitAnswer solve(const SplitTask& task) = 0;
    // A stop or an error has unwound the worker; it will not be called again.
    virtual void abandoned() {}
};

// Runs the tasks of a root. A stop or an error in any thread ends it for all, and is thrown again.
class Executor {
  public:
    virtual ~Executor() = default;
    // Solves tasks until there are none. `left`: the least bound of the tasks that a stop has left unsolved.
    virtual void run(RootTasks& root, Cost& left) = 0;
    // Calls `use` while no other thread has the root; does nothing where the calling thread has it already, further up
    // its stack. For the thread that called `run` only.
    virtual void with_root(const std::function<void()>& use) = 0;
    // From now on tasks and answers pass as text, as they would to another machine; their profiles count in `held`.
    void pass_as_text(ByteCount& held) { text_ = &held; }

  protected:
    // Whether most of those who could work at tasks would wait. Where it is fewer of them, needless tasks would keep
    // them from those that are about to come: that took longer on 16 threads.
    static bool idle(std::size_t tasks, std::size_t workers) { return 2 * tasks < workers; }
    SplitAnswer solved(SplitWorker& worker, const SplitTask& task) const {
        if (!text_) return worker.solve(task);
        SplitTask read = unpack_task(pack(task), *text_);
        read.node = task.node;
        return unpack_answer(pack(worker.solve(read)), *text_);
    }

  private:
    ByteCount* text_ = nullptr;
};

// The calling thread alone.
class SerialExecutor final : public Executor {
  public:
    explicit SerialExecutor(SplitWorker& worker) : worker_(worker) {}
    void run(RootTasks& root, Cost& left) override;
    void with_root(const std::function<void()>& use) override { use(); }

  private:
    SplitWorker& worker_;
};

// The calling thread, which watches the limits for all, and others beside it.
class ThreadExecutor final : public Executor {
  public:
    ThreadExecutor(SplitWorker& leader, Monitor& of_leader) : leader_(leader), monitor_(of_leader) {}
    // Workers are made before `run`, each with a monitor of this team.
    Team& team() { return team_; }
    void add(SplitWorker& worker) { others_.push_back(&worker); }
    void run(RootTasks& root, Cost& left) override;
    void with_root(const std::function<void()>& use) override;

  private:
    void work(RootTasks& root, SplitWorker& worker, std::size_t who);
    void solve(RootTasks& root, SplitWorker& worker, SplitTask& task, std::unique_lock<std::mutex>& held);
    void wait(std::unique_lock<std::mutex>& held, bool leads);
    Cost least_busy() const;
    std::size_t n_busy() const;

    SplitWorker& leader_;
    Monitor& monitor_;
    std::vector<SplitWorker*> others_;
    Team team_;
    std::mutex lock_;  // over the root and all below
    std::condition_variable changed_;
    std::vector<Cost> busy_;  // by thread: the bound of the task it is at; kInfinite where it waits
    bool over_ = false;
    bool leader_has_root_ = false;
    std::exception_ptr failure_;
};

}  // namespace provetree
