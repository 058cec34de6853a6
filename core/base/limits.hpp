// When to stop: time limit, interrupts and an optional cap on effort, checked from inside the search often enough that
// a stop takes effect within milliseconds. Also lets a second job take turns with the search. Effort is counted in row
// steps, so a cap on it is as deterministic as the search itself.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>

namespace provetree {

enum class Status { kOptimal, kTimeLimit, kInterrupted, kWorkLimit };

// Thrown to unwind the search; whoever holds a valid bound and the best tree catches it. kOptimal: a tree as good as
// the bound was found beside the proof, or the cap on effort was reached, which is only set once the optimal cost is
// proven.
struct StopSearch {
    Status reason;
};

// Several threads at one search: one leads, and the others stop when it says so.
struct Team {
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> steps{0};  // done by the others and not yet counted by the leader
};

class Monitor {
  public:
    using Clock = std::chrono::steady_clock;

    // `tick` is called about every 20 ms; it returns false to interrupt the search.
    Monitor(double time_limit, std::function<bool()> tick)
        : start_(Clock::now()), time_limit_(time_limit), tick_(std::move(tick)) {}

    // Of a thread that does not lead: no limits of its own.
    explicit Monitor(Team& team, std::function<bool()> tick = nullptr)
        : start_(Clock::now()),
          time_limit_(std::numeric_limits<double>::infinity()),
          tick_(std::move(tick)),
          team_(&team) {}
    // From now on this monitor counts the steps of a team; null ends it.
    void lead(Team* team) {
        leads_ = true;
        team_ = team;
    }
    // Heeds the limits now, whatever was worked.
    void look_now() { look(); }

    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

    // Reports that about `row_steps` elementary steps are done.
    void work(std::uint64_t row_steps) {
        steps_ += row_steps;
        if (steps_ >= next_look_) look();
    }

    std::uint64_t steps() const { return steps_; }
    // Without those of the team.
    std::uint64_t own_steps() const { return steps_ - steps_of_team_; }
    // Ends the search when so many steps are done.
    void limit_work(std::uint64_t steps) {
        work_limit_ = steps;
        next_look_ = std::min(next_look_, steps);
    }
    bool late() const { return steps_ >= work_limit_ || seconds() >= time_limit_; }
    void cap_effort(std::uint64_t steps) { effort_cap_ = steps; }
    std::uint64_t effort_cap() const { return effort_cap_; }
    bool effort_capped() const { return effort_cap_ != std::numeric_limits<std::uint64_t>::max(); }
    // Between these two no stop is thrown: for the last few milliseconds in which a tree is put together.
    void ignore_stops() { heeding_ = false; }
    void heed_stops() { heeding_ = true; }
    // A second job that is done in turns with the search: `job` is called when that many steps are done, from inside
    // the search, and returns the number of steps at which it wants to be called again.
    void take_turns(std::uint64_t first, std::function<std::uint64_t()> job) {
        next_turn_ = first;
        next_look_ = std::min(next_look_, first);
        job_ = std::move(job);
    }
    void end_turns() { job_ = nullptr; }

  private:
    void look() {
        if (team_ && leads_) {
            const std::uint64_t theirs = team_->steps.exchange(0, std::memory_order_relaxed);
            steps_ += theirs;
            steps_of_team_ += theirs;
        }
        if (team_ && !leads_) {
            team_->steps.fetch_add(steps_ - told_steps_, std::memory_order_relaxed);
            told_steps_ = steps_;
            if (team_->stop) throw StopSearch{Status::kInterrupted};
        }
        next_look_ = steps_ + kStepsBetweenLooks;
        for (std::uint64_t due : {work_limit_, next_turn_})
            if (due > steps_) next_look_ = std::min(next_look_, due);
        if (!heeding_) return;
        if (steps_ >= effort_cap_) throw StopSearch{Status::kOptimal};
        if (steps_ >= work_limit_) throw StopSearch{Status::kWorkLimit};
        const double now = seconds();
        if (now >= time_limit_) throw StopSearch{Status::kTimeLimit};
        if (now >= next_tick_) {
            next_tick_ = now + kSecondsBetweenTicks;
            if (tick_ && !tick_()) throw StopSearch{Status::kInterrupted};
        }
        if (job_ && !in_turn_ && steps_ >= next_turn_) {
            in_turn_ = true;
            next_turn_ = job_();
            in_turn_ = false;
            next_look_ = std::min(next_look_, std::max(next_turn_, steps_ + 1));
        }
    }

    // The slowest kernel needs about 50 ns for a row step: a look at least every few milliseconds.
    static constexpr std::uint64_t kStepsBetweenLooks = 50'000;
    static constexpr double kSecondsBetweenTicks = 0.02;

    Clock::time_point start_;
    double time_limit_;
    std::uint64_t work_limit_ = std::numeric_limits<std::uint64_t>::max();
    std::function<bool()> tick_;
    std::function<std::uint64_t()> job_;
    std::uint64_t next_turn_ = 0;
    bool in_turn_ = false;  // stays set where the job is unwound by a stop: the search is over then
    double next_tick_ = kSecondsBetweenTicks;
    Team* team_ = nullptr;
    bool leads_ = false;
    std::uint64_t told_steps_ = 0;
    bool heeding_ = true;
    std::uint64_t steps_ = 0;
    std::uint64_t steps_of_team_ = 0;
    std::uint64_t next_look_ = kStepsBetweenLooks;
    std::uint64_t effort_cap_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace provetree
