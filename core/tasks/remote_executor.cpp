// Tasks that are solved elsewhere; see tasks/remote_executor.hpp.
#include "tasks/remote_executor.hpp"

namespace provetree {

namespace {

// While one of these lives, the calling thread has the root.
class Holding {
  public:
    explicit Holding(bool& held) : held_(held) { held_ = true; }
    ~Holding() { held_ = false; }
    Holding(const Holding&) = delete;
    Holding& operator=(const Holding&) = delete;

  private:
    bool& held_;
};

}  // namespace

void RemoteExecutor::run(RootTasks& root, Cost& left) {
    const Monitor::Leading leading(context_.monitor, team_);
    exchange_.begin(job_);
    try {
        Texts texts;
        while (true) {
            {
                const Holding root_is_here(has_root_);
                root.report(least_busy());
                if (!fill(root, texts)) break;
            }
            TaskExchange::Traded traded = exchange_.trade(texts, root.cut());
            texts.clear();
            wanted_ = traded.wanted;
            at_hand_ = traded.at_hand;
            {
                const Holding root_is_here(has_root_);
                for (const auto& answer : traded.answers) take(root, answer, texts);
            }
            context_.monitor.look_now();
        }
    } catch (...) {
        left = least_busy();
        exchange_.end();
        throw;
    }
    left = kInfinite;
    exchange_.end();
}

void RemoteExecutor::with_root(const std::function<void()>& use) {
    if (has_root_) return;
    const Holding root_is_here(has_root_);
    use();
}

// As many tasks as may be out. False where the search is over.
bool RemoteExecutor::fill(RootTasks& root, Texts& texts) {
    while (out_.size() < wanted_) {
        SplitTask task;
        const RootTasks::Next next = root.next(least_busy(), idle(out_.size(), at_hand_), task);
        if (next == RootTasks::Next::kOver) return false;
        if (next == RootTasks::Next::kNothing) return !out_.empty();
        put_out(task, texts);
    }
    return true;
}

void RemoteExecutor::put_out(const SplitTask& task, Texts& texts) {
    const std::uint64_t number = given_++;
    texts.emplace_back(number, pack(task));
    bounds_.insert(task.bound);
    out_.emplace(number, task);
}

void RemoteExecutor::take(RootTasks& root, const std::pair<std::uint64_t, std::string>& text, Texts& texts) {
    const auto at = out_.find(text.first);
    if (at == out_.end()) return;  // a second answer to the same task
    SplitAnswer answer = unpack_answer(text.second, context_.profile_bytes);
    SplitTask task = std::move(at->second);
    bounds_.erase(bounds_.find(task.bound));
    out_.erase(at);
    team_.steps += answer.steps;
    context_.counters.add(answer.done);
    if (!root.settle(task, answer)) put_out(task, texts);
}

}  // namespace provetree
