// The bit search of the root by several threads: each takes the next split of the root and solves both of its sides on
// its own. The best tree and the bounds of the root's splits are common; whoever reads or changes them holds the lock,
// and nobody holds it while solving.
//
// The first thread is the one that called the search: it alone tells the listener and watches the limits. What the
// others have proven is handed to it.
#include "bits/workers.hpp"

#include <algorithm>
#include <cmath>

namespace provetree {

namespace {

constexpr double kLeastSets = 10'000;  // sets of conditions below which threads take longer to start than they save

}  // namespace

bool BitSearch::worth_a_crew(Shape shape) const {
    if (context_.n_jobs == 1 || shape.depth < 3) return false;
    return context_.eager_threads() ||
           (shape.depth >= 4 && std::pow(static_cast<double>(features_.size()), shape.depth - 2) >= kLeastSets);
}

BitSearch::Proven BitSearch::solve_together(Shape shape, Cost limit) {
    BitNode& root = nodes_.root();
    shape = shape.on(static_cast<Index>(root.size()));
    const std::vector<Division> shares = divisions(shape);
    const std::vector<std::uint32_t> order = nodes_.promising_order(root);
    Crew crew(*this);
    for (std::uint32_t feature : order)
        for (const Division& share : shares) crew.tasks.push_back({feature, share});
    crew.best.upper = loss_.error_scale * root.leaf_error();
    crew.floors = floors_of(root, order, std::min(limit, crew.best.upper));
    crew.raise = splits_bound_each_other(shares);
    crew.limit = limit;
    std::vector<std::unique_ptr<Mate>> mates;
    const std::uint64_t memory_limit = context_.memory_limit / static_cast<std::uint64_t>(context_.n_jobs);
    const std::size_t size = static_cast<std::size_t>(context_.n_jobs);
    for (std::size_t who = 1; who < size; ++who)
        mates.push_back(std::make_unique<Mate>(context_, nodes_.kernel(), loss_, memory_limit, crew, who));
    crew.told.resize(size);
    const std::vector<KnownSet> known = context_.checkpoint ? known_sets() : std::vector<KnownSet>();
    for (const auto& mate : mates) {
        mate->search.take_up(known);
        of_two_.share_with(mate->search.of_two_);
        mate->search.sample_ = sample_;
    }
    for (const auto& mate : mates)
        mate->thread = std::thread([&crew, search = &mate->search] { search->take_part(crew, false); });
    const Monitor::Leading leading(context_.monitor, crew.team);
    crew_ = &crew;
    take_part(crew, true);
    crew_ = nullptr;
    for (const auto& mate : mates) {
        mate->thread.join();
        context_.counters.add(mate->context.counters);
        for (std::size_t depth = 0; depth < proven_.size(); ++depth)
            mate->search.proven_[depth].for_each_key([&](const Key& key, const Proven& theirs) {
                Proven& ours = proven_[depth].at(key);
                if (theirs.lower > ours.lower || theirs.upper < ours.upper) ours = theirs;
            });
    }
    if (crew.failure) std::rethrow_exception(crew.failure);
    return crew.best;
}

void BitSearch::take_part(Crew& crew, bool leads) {
    BitNode& root = nodes_.root();
    std::unique_lock<std::mutex> held(crew.lock);
    Cost told = kInfinite;
    try {
        while (!crew.over) {
            if (leads && crew.best.upper < told) {
                told = crew.best.upper;
                if (told < root_best_.upper) root_best_ = crew.best;
                if (listener_ && *listener_) (*listener_)(told, 0);
            }
            if (crew.next == crew.tasks.size()) {
                lock_is_free_ = true;  // whenever the monitor looks
                crew.wait(held, leads ? &context_.monitor : nullptr);
                lock_is_free_ = false;
                continue;
            }
            const Crew::Task task = crew.tasks[crew.next++];
            const Cost cut = std::min(crew.limit, crew.best.upper);
            Sides sides{crew.floors.without[task.feature], crew.floors.with[task.feature]};
            crew.leader.recall(task.feature, task.share, sides);
            if (sides.left + sides.right + loss_.split_penalty >= cut) continue;
            ++crew.busy;
            held.unlock();
            lock_is_free_ = true;
            const Proven tried = solve_split(root, task.share, task.feature, sides, cut, 0);
            lock_is_free_ = false;
            held.lock();
            --crew.busy;
            if (crew.raise && sides.left + sides.right > 0)
                nodes_.raise_floors(root, task.feature, sides.left, sides.right, loss_.error_scale, 0, crew.floors);
            if (tried.upper < crew.best.upper) {
                crew.best = tried;
                // A tree without errors ends it: the rest is done by fewest_splits.
                if (leaves_no_errors(tried.upper)) {
                    if (leads && tried.upper < root_best_.upper) root_best_ = tried;
                    crew.end();
                }
            }
            crew.leader.note(task.feature, task.share, sides);
            if (leads) keep_if_due(crew.best);
            crew.changed.notify_all();
        }
    } catch (...) {
        crew.fail(held);
    }
    crew.changed.notify_all();
}

}  // namespace provetree
