// The search of the root by several threads: each takes the interval of the lowest bound, solves both sides of a split
// on its own, and puts the halves back. The intervals, the points and the best tree are common; whoever reads or
// changes them holds the lock, and nobody holds it while solving.
//
// The first thread is the one that called the search: it alone tells the listener, watches the limits, and takes turns
// with the improvement.
#include "run/workers.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "intervals/frame.hpp"
#include "intervals/lazy_rows.hpp"
#include "intervals/resume.hpp"

namespace provetree {

struct TreeSearch::Crew : CommonWork {
    explicit Crew(std::size_t size) : at(size, kInfinite) {}

    std::vector<Cost> at;  // bound of the interval that each thread is at; kInfinite where it waits

    Cost least() const { return *std::min_element(at.begin(), at.end()); }
};

// What a thread needs of its own.
struct TreeSearch::Mate {
    Mate(Context& leader, const Loss& loss, Team& team, const Chain* of_leader, std::size_t who)
        : monitor(team,
                  [this] {
                      if (search.chain_) search.chain_->tell(false);
                      return true;
                  }),
          context(leader, monitor),
          builder(context.table, context.kernel, context.min_leaf),
          search(context, builder) {
        search.loss = loss;
        if (of_leader) search.chain_ = std::make_shared<Chain>(search, of_leader->common, who);
    }
    Monitor monitor;
    Context context;
    NodeBuilder builder;
    TreeSearch search;
    std::thread thread;
};

void TreeSearch::search_together(Frame& frame, const Listener& listener, Cost& current, Cost& proven) {
    const std::size_t size = static_cast<std::size_t>(context_.n_jobs);
    Crew crew(size);
    std::vector<std::unique_ptr<Mate>> mates;
    for (std::size_t who = 1; who < size; ++who)
        mates.push_back(std::make_unique<Mate>(context_, loss, crew.team, chain_.get(), who));
    if (chain_) chain_->common->root_lock = &crew.lock;
    for (std::size_t who = 1; who < size; ++who) {
        Mate& mate = *mates[who - 1];
        mate.thread = std::thread([&frame, &crew, &mate, who] {
            Cost nothing = 0;
            mate.search.take_part(frame, crew, who, nullptr, nothing);
        });
    }
    const Monitor::Leading leading(context_.monitor, crew.team);
    take_part(frame, crew, 0, &listener, proven);
    for (const auto& mate : mates) {
        mate->thread.join();
        context_.counters.add(mate->context.counters);
    }
    if (chain_) chain_->common->root_lock = nullptr;
    current = crew.least();
    if (crew.failure) std::rethrow_exception(crew.failure);
}

void TreeSearch::take_part(Frame& frame, Crew& crew, std::size_t who, const Listener* listener, Cost& proven) {
    std::unique_lock<std::mutex> held(crew.lock);
    try {
        while (!crew.over) {
            if (listener) tell(frame, *listener, crew.least(), proven);
            Interval interval{};
            Index position = 0;
            if (!next(frame, interval, position)) {
                // A tree that was found meanwhile can make all in vain that the others are at.
                if (crew.least() >= frame.cut()) crew.end();
                crew.wait(held, listener ? &context_.monitor : nullptr);
                continue;
            }
            crew.at[who] = interval.bound;
            ++crew.busy;
            Sides sides{};
            for (bool again = false;; again = true) {
                const Attempt attempt = prepare(frame, interval, position);
                held.unlock();
                sides = solve_sides(frame, attempt, again ? &sides : nullptr);
                held.lock();
                if (settle(frame, attempt, sides)) break;
            }
            crew.at[who] = kInfinite;
            --crew.busy;
            crew.changed.notify_all();
        }
    } catch (...) {
        crew.fail(held);  // what the thread was at stays in `at`: it is open
        if (chain_ && !listener) chain_->tell(true);
    }
    crew.changed.notify_all();
}

}  // namespace provetree
