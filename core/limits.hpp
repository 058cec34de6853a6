// When to stop: time limit, interrupts and an optional cap on effort, checked from inside the search often enough that a stop takes effect
// within milliseconds. Effort is counted in row steps, so a cap on it is as deterministic as the search itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>

namespace provetree {

enum class Status { kOptimal, kTimeLimit, kInterrupted };

// Thrown to unwind the search; whoever holds a valid bound and the best tree catches it. kOptimal: the cap on effort was reached, which is only
// set once the optimal cost is proven.
struct StopSearch {
    Status reason;
};

class Monitor {
  public:
    using Clock = std::chrono::steady_clock;

    // `tick` is called about every 20 ms; it returns false to interrupt the search.
    Monitor(double time_limit, std::function<bool()> tick) : start_(Clock::now()), time_limit_(time_limit), tick_(std::move(tick)) {}

    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

    // Reports that about `row_steps` elementary steps are done.
    void work(std::uint64_t row_steps) {
        steps_ += row_steps;
        if (steps_ >= next_look_) look();
    }

    std::uint64_t steps() const { return steps_; }
    bool late() const { return seconds() >= time_limit_; }
    void cap_effort(std::uint64_t steps) { effort_cap_ = steps; }
    bool effort_capped() const { return effort_cap_ != std::numeric_limits<std::uint64_t>::max(); }
    // Between these two no stop is thrown: for the last few milliseconds in which a tree is put together.
    void ignore_stops() { heeding_ = false; }
    void heed_stops() { heeding_ = true; }

  private:
    void look() {
        next_look_ = steps_ + kStepsBetweenLooks;
        if (!heeding_) return;
        if (steps_ >= effort_cap_) throw StopSearch{Status::kOptimal};
        const double now = seconds();
        if (now >= time_limit_) throw StopSearch{Status::kTimeLimit};
        if (now >= next_tick_) {
            next_tick_ = now + kSecondsBetweenTicks;
            if (tick_ && !tick_()) throw StopSearch{Status::kInterrupted};
        }
    }

    // The slowest kernel needs about 50 ns for a row step: a look at least every few milliseconds.
    static constexpr std::uint64_t kStepsBetweenLooks = 50'000;
    static constexpr double kSecondsBetweenTicks = 0.02;

    Clock::time_point start_;
    double time_limit_;
    std::function<bool()> tick_;
    double next_tick_ = kSecondsBetweenTicks;
    bool heeding_ = true;
    std::uint64_t steps_ = 0;
    std::uint64_t next_look_ = kStepsBetweenLooks;
    std::uint64_t effort_cap_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace provetree
