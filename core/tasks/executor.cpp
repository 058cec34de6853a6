// Executors of the splits of a root; see tasks/executor.hpp.
#include "tasks/executor.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace provetree {

void SerialExecutor::run(RootTasks& root, Cost& left) {
    SplitTask task;
    while (root.next(kInfinite, false, task) == RootTasks::Next::kTask) {
        left = task.bound;
        for (bool settled = false; !settled;) {
            worker_.prepare(task);
            SplitAnswer answer = solved(worker_, task);
            settled = root.settle(task, answer);
        }
        left = kInfinite;
        root.report(kInfinite);
    }
}

void ThreadExecutor::run(RootTasks& root, Cost& left) {
    busy_.assign(others_.size() + 1, kInfinite);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < others_.size(); ++i)
        threads.emplace_back([this, &root, i] { work(root, *others_[i], i + 1); });
    {
        const Monitor::Leading leading(monitor_, team_);
        work(root, leader_, 0);
        for (std::thread& thread : threads) thread.join();
    }
    left = least_busy();
    if (failure_) std::rethrow_exception(failure_);
}

void ThreadExecutor::with_root(const std::function<void()>& use) {
    if (leader_has_root_) return;
    const std::lock_guard<std::mutex> held(lock_);
    leader_has_root_ = true;
    use();
    leader_has_root_ = false;
}

Cost ThreadExecutor::least_busy() const { return *std::min_element(busy_.begin(), busy_.end()); }

std::size_t ThreadExecutor::n_busy() const {
    return static_cast<std::size_t>(
        std::count_if(busy_.begin(), busy_.end(), [](Cost bound) { return bound < kInfinite; }));
}

void ThreadExecutor::work(RootTasks& root, SplitWorker& worker, std::size_t who) {
    const bool leads = who == 0;
    std::unique_lock<std::mutex> held(lock_);
    leader_has_root_ |= leads;
    try {
        while (!over_) {
            if (leads) root.report(least_busy());
            SplitTask task;
            const RootTasks::Next next = root.next(least_busy(), idle(n_busy(), busy_.size()), task);
            if (next == RootTasks::Next::kTask) {
                busy_[who] = task.bound;
                solve(root, worker, task, held);
                busy_[who] = kInfinite;
                changed_.notify_all();
            } else {
                over_ = next == RootTasks::Next::kOver || least_busy() >= kInfinite;
                if (over_)
                    team_.stop = true;
                else
                    wait(held, leads);
            }
        }
    } catch (...) {
        if (!held.owns_lock()) held.lock();
        // A thread that was told to stop is not the reason for it. What the thread was at stays in busy_: it is open.
        if (!over_) failure_ = std::current_exception();
        over_ = true;
        team_.stop = true;
        leader_has_root_ |= leads;
        worker.abandoned();
    }
    if (leads) leader_has_root_ = false;
    changed_.notify_all();
}

// Nobody holds the root while a task is solved.
void ThreadExecutor::solve(RootTasks& root, SplitWorker& worker, SplitTask& task, std::unique_lock<std::mutex>& held) {
    const bool leads = &worker == &leader_;
    while (true) {
        worker.prepare(task);
        if (leads) leader_has_root_ = false;
        held.unlock();
        SplitAnswer answer = solved(worker, task);
        held.lock();
        if (leads) leader_has_root_ = true;
        if (root.settle(task, answer)) return;
    }
}

// Until another thread leaves something. The leader watches the limits meanwhile.
void ThreadExecutor::wait(std::unique_lock<std::mutex>& held, bool leads) {
    ++team_.waiting;
    if (leads)
        changed_.wait_for(held, std::chrono::milliseconds(5));
    else
        changed_.wait(held);
    --team_.waiting;
    if (!leads) return;
    leader_has_root_ = false;
    held.unlock();
    monitor_.look_now();
    held.lock();
    leader_has_root_ = true;
}

}  // namespace provetree
