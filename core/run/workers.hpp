// Several threads at the root of one search: the lock over what they have in common, waiting for one another, and how
// one that fails ends it for all.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>

#include "base/limits.hpp"

namespace provetree {

struct CommonWork {
    std::mutex lock;
    std::condition_variable changed;
    Team team;
    int busy = 0;  // threads that are solving
    bool over = false;
    std::exception_ptr failure;

    void end() {
        over = true;
        team.stop = true;
    }

    // There is nothing to take: the end, unless another thread may leave something. The leader, whose monitor is given,
    // watches the limits meanwhile.
    void wait(std::unique_lock<std::mutex>& held, Monitor* of_leader) {
        if (over) return;
        if (busy == 0) {
            over = true;
        } else if (of_leader) {
            changed.wait_for(held, std::chrono::milliseconds(5));
            held.unlock();
            of_leader->look_now();
            held.lock();
        } else {
            changed.wait(held);
        }
    }

    // To be called where an exception was caught.
    void fail(std::unique_lock<std::mutex>& held) {
        if (!held.owns_lock()) held.lock();
        // A thread that was told to stop is not the reason for it.
        if (!over) failure = std::current_exception();
        end();
    }
};

}  // namespace provetree
