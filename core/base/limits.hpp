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
#include <utility>

namespace provetree {

// How a search ended.
enum class Status { kOptimal, kTimeLimit, kInterrupted, kWorkLimit, kNothingBelow };

// Why a search is unwound before its end.
enum class StopReason {
    kTimeLimit,
    kInterrupted,
    kWorkLimit,
    kEffortUsed,     // a cap on the effort of one part of the search, which its caller has set
    kHandedBack,     // others can join in at what is left
    kTreeIsOptimal,  // a tree as good as the bound was found beside the proof
    kNothingBelow,   // no tree costs less than what was asked for: no stop, but no optimum either
};

// How a search ended that was unwound for this reason.
inline Status status_of(StopReason reason) {
    switch (reason) {
        case StopReason::kTimeLimit: return Status::kTimeLimit;
        case StopReason::kInterrupted: return Status::kInterrupted;
        case StopReason::kWorkLimit: return Status::kWorkLimit;
        case StopReason::kNothingBelow: return Status::kNothingBelow;
        default: return Status::kOptimal;
    }
}

// Thrown to unwind the search; whoever holds a valid bound and the best tree catches it.
struct StopSearch {
    StopReason reason;
};

// Several threads at one search: one leads, and the others stop when it says so.
struct Team {
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> steps{0};  // done by the others and not yet counted by the leader
    std::atomic<int> waiting{0};          // threads that have nothing to do
};

class Monitor {
  public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::uint64_t kNoCap = std::numeric_limits<std::uint64_t>::max();
    static constexpr double kNever = std::numeric_limits<double>::infinity();

    // `tick` is called about every 20 ms; it returns false to interrupt the search.
    Monitor(double time_limit, std::function<bool()> tick)
        : start_(Clock::now()), time_limit_(time_limit), tick_(std::move(tick)) {}

    // Of a thread that does not lead: no limits of its own.
    explicit Monitor(Team& team, std::function<bool()> tick = nullptr)
        : start_(Clock::now()), time_limit_(std::numeric_limits<double>::infinity()), tick_(std::move(tick)),
          team_(&team) {}
    // Heeds the limits now, whatever was worked; or once so many steps more are done.
    void look_now() { look(); }
    void look_after(std::uint64_t steps) { next_look_ = std::min(next_look_, steps_ + steps); }

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
    bool effort_capped() const { return effort_cap_ != kNoCap; }

    // While one of these lives, no stop is thrown: for the few milliseconds in which a tree is put together.
    class NoStops {
      public:
        explicit NoStops(Monitor& monitor) : monitor_(monitor), before_(std::exchange(monitor.heeding_, false)) {}
        ~NoStops() { monitor_.heeding_ = before_; }
        NoStops(const NoStops&) = delete;
        NoStops& operator=(const NoStops&) = delete;

      private:
        Monitor& monitor_;
        bool before_;
    };

    // While it lives, the search is unwound once `steps` more steps are done, or sooner where another cap is lower.
    class EffortCap {
      public:
        EffortCap(Monitor& monitor, std::uint64_t steps)
            : monitor_(monitor),
              before_(std::exchange(monitor.effort_cap_, std::min(monitor.effort_cap_, monitor.steps_ + steps))) {}
        ~EffortCap() { monitor_.effort_cap_ = before_; }
        EffortCap(const EffortCap&) = delete;
        EffortCap& operator=(const EffortCap&) = delete;
        // Whether it is this cap that ends the work, and not one set before it.
        bool binds() const { return monitor_.effort_cap_ < before_; }

      private:
        Monitor& monitor_;
        std::uint64_t before_;
    };

    // While it lives, the search is unwound to be handed back: once so many steps more are done, or once it has gone on
    // for so many seconds and others of the team have nothing to do.
    class Sharing {
      public:
        Sharing(Monitor& monitor, double seconds, std::uint64_t steps) : monitor_(monitor) {
            monitor.shares_from_ = monitor.seconds() + seconds;
            if (steps >= kNoCap - monitor.steps_) return;
            monitor.shares_from_step_ = monitor.steps_ + steps;
            monitor.look_after(steps);
        }
        ~Sharing() {
            monitor_.shares_from_ = kNever;
            monitor_.shares_from_step_ = kNoCap;
        }
        Sharing(const Sharing&) = delete;
        Sharing& operator=(const Sharing&) = delete;

      private:
        Monitor& monitor_;
    };

    // While it lives, a second job is done in turns with the search: `job` is called from inside the search when
    // `first` steps are done, and returns the number of steps at which it wants to be called again.
    class Turns {
      public:
        Turns(Monitor& monitor, std::uint64_t first, std::function<std::uint64_t()> job) : monitor_(monitor) {
            monitor.next_turn_ = first;
            monitor.next_look_ = std::min(monitor.next_look_, first);
            monitor.job_ = std::move(job);
        }
        ~Turns() { monitor_.job_ = nullptr; }
        Turns(const Turns&) = delete;
        Turns& operator=(const Turns&) = delete;

      private:
        Monitor& monitor_;
    };

    // While it lives, this monitor leads a team and counts its steps.
    class Leading {
      public:
        Leading(Monitor& monitor, Team& team) : monitor_(monitor) {
            monitor.leads_ = true;
            monitor.team_ = &team;
        }
        ~Leading() { monitor_.team_ = nullptr; }
        Leading(const Leading&) = delete;
        Leading& operator=(const Leading&) = delete;

      private:
        Monitor& monitor_;
    };

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
            if (team_->stop) throw StopSearch{StopReason::kInterrupted};
        }
        next_look_ = steps_ + kStepsBetweenLooks;
        for (std::uint64_t due : {work_limit_, next_turn_})
            if (due > steps_) next_look_ = std::min(next_look_, due);
        if (!heeding_) return;
        if (steps_ >= effort_cap_) throw StopSearch{StopReason::kEffortUsed};
        if (steps_ >= work_limit_) throw StopSearch{StopReason::kWorkLimit};
        const double now = seconds();
        if (now >= time_limit_) throw StopSearch{StopReason::kTimeLimit};
        if (is_to_be_shared(now)) throw StopSearch{StopReason::kHandedBack};
        if (now >= next_tick_) {
            next_tick_ = now + kSecondsBetweenTicks;
            if (tick_ && !tick_()) throw StopSearch{StopReason::kInterrupted};
        }
        if (job_ && !in_turn_ && steps_ >= next_turn_) {
            in_turn_ = true;
            next_turn_ = job_();
            in_turn_ = false;
            next_look_ = std::min(next_look_, std::max(next_turn_, steps_ + 1));
        }
    }

    // The second job is no part of it.
    bool is_to_be_shared(double now) const {
        if (in_turn_) return false;
        return steps_ >= shares_from_step_ || (now >= shares_from_ && team_ && team_->waiting > 0);
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
    std::uint64_t effort_cap_ = kNoCap;
    double shares_from_ = kNever;
    std::uint64_t shares_from_step_ = kNoCap;
};

}  // namespace provetree
