// Tasks that are solved elsewhere: by other processes, on this machine or on others. The calling thread keeps the root;
// whoever has the workers gets tasks as text and brings back answers as text.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "run/context.hpp"
#include "tasks/executor.hpp"

namespace provetree {

// Who has the workers.
class TaskExchange {
  public:
    virtual ~TaskExchange() = default;

    struct Traded {
        std::vector<std::pair<std::uint64_t, std::string>> answers;  // by the number that the task was given with
        std::size_t wanted = 0;                                      // tasks that may be out at a time from now on
        std::size_t at_hand = 0;                                     // tasks that can be worked at at a time
    };
    // A search begins; what was out before is no longer wanted. `job`: what its tasks have in common.
    virtual void begin(const std::string& job) = 0;
    // Hands tasks out and waits for a moment, some milliseconds, for answers. Trees of `cut` and more are of no use to
    // anybody. Throws StopSearch where there is nobody left to solve anything.
    virtual Traded trade(const std::vector<std::pair<std::uint64_t, std::string>>& tasks, Cost cut) = 0;
    // Nothing that is out is wanted any more.
    virtual void end() noexcept = 0;
};

class RemoteExecutor final : public Executor {
  public:
    RemoteExecutor(TaskExchange& exchange, Context& context, std::string job)
        : exchange_(exchange), context_(context), job_(std::move(job)) {}
    void run(RootTasks& root, Cost& left) override;
    void with_root(const std::function<void()>& use) override;

  private:
    using Texts = std::vector<std::pair<std::uint64_t, std::string>>;

    bool fill(RootTasks& root, Texts& texts);
    void take(RootTasks& root, const std::pair<std::uint64_t, std::string>& answer, Texts& texts);
    void put_out(const SplitTask& task, Texts& texts);
    Cost least_busy() const { return bounds_.empty() ? kInfinite : *bounds_.begin(); }

    TaskExchange& exchange_;
    Context& context_;
    std::string job_;
    Team team_;  // those elsewhere
    std::map<std::uint64_t, SplitTask> out_;
    std::multiset<Cost> bounds_;  // of the tasks that are out
    std::uint64_t given_ = 0;
    std::size_t wanted_ = 0, at_hand_ = 0;  // as the exchange says
    bool has_root_ = false;
};

}  // namespace provetree
