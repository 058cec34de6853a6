// A bound from rows that are hard to tell apart; see hard_rows.hpp.
#include "improve/hard_rows.hpp"

#include <algorithm>
#include <memory>

#include "finisher.hpp"
#include "greedy.hpp"
#include "route.hpp"

namespace provetree {

namespace {

constexpr Index kFirstRows = 280;
constexpr std::uint64_t kFirstEffort = 20'000'000;
constexpr Cost kFirstLimit = 12;  // the part of the first tree's cost that is looked at first: even that takes most of the time of the next ones
constexpr Index kNoRow = ~Index{0};

// The row nearest to `from` that is of the class and not marked yet, by the sum over the columns of the share of all ranks that lie between.
Index nearest_row(const Table& table, const std::vector<double>& scale, Index from, std::int32_t wanted, const std::vector<std::uint8_t>& marked) {
    Index nearest = kNoRow;
    double least = 0;
    for (Index row = 0; row < table.rows; ++row) {
        if (marked[row] || table.classes[row] != wanted) continue;
        double distance = 0;
        for (Index c = 0; c < table.columns && (nearest == kNoRow || distance < least); ++c) {
            const Index* ranks = table.ranks + static_cast<std::size_t>(c) * table.rows;
            distance += scale[c] * static_cast<double>(std::max(ranks[row], ranks[from]) - std::min(ranks[row], ranks[from]));
        }
        if (nearest != kNoRow && distance >= least) continue;
        nearest = row;
        least = distance;
    }
    return nearest;
}

}  // namespace

HardRows::HardRows(Context& leader, const Node& root, Shape shape, const Objective& objective)
    : context_{leader.table, leader.kernel, 1, leader.switches, leader.memory_limit, leader.monitor, {}, {}, leader.profile_bytes},
      builder_(leader.table, leader.kernel, 1),
      search_(context_, builder_),
      root_(root),
      shape_(shape),
      wanted_(leader.eager_improvement() ? 4 : kFirstRows),
      effort_(leader.eager_improvement() ? 1000 : kFirstEffort) {
    search_.objective = objective;
}

void HardRows::choose(const PlanPtr& best) {
    const Table& table = context_.table;
    // All rows are what the proof itself is about.
    if (wanted_ >= table.rows) {
        finished_ = true;
        return;
    }
    const FlatTree tree = Finisher(context_, builder_, search_.levels).finish(root_, best, search_.objective);
    std::vector<Index> wrong;
    std::vector<std::int32_t> taken_for;
    for (Index row = 0; row < table.rows; ++row) {
        const std::int32_t label = tree.label[leaf_of(tree, table, row)];
        if (label == table.classes[row]) continue;
        wrong.push_back(row);
        taken_for.push_back(label);
    }
    std::vector<double> scale;
    for (Index c = 0; c < table.columns; ++c) {
        const Index* ranks = table.ranks + static_cast<std::size_t>(c) * table.rows;
        scale.push_back(1.0 / (1.0 + *std::max_element(ranks, ranks + table.rows)));
    }
    std::vector<std::uint8_t> marked(table.rows, 0);
    Index count = 0;
    const auto add = [&](Index row) {
        marked[row] = 1;
        ++count;
    };
    const std::size_t step = std::max<std::size_t>(1, 2 * wrong.size() / wanted_);
    for (std::size_t i = 0; i < wrong.size() && count < wanted_; i += step) add(wrong[i]);
    for (bool any = true; any && count < wanted_;) {
        any = false;
        for (std::size_t i = 0; i < wrong.size() && count < wanted_; i += step) {
            const Index row = nearest_row(table, scale, wrong[i], taken_for[i], marked);
            context_.monitor.work(std::uint64_t{table.rows} * table.columns);
            if (row == kNoRow) continue;
            add(row);
            any = true;
        }
    }
    std::vector<std::vector<Weight>> unused(root_.columns.size(), std::vector<Weight>(static_cast<std::size_t>(root_.rows) + 1));
    builder_.choose(root_, marked, rows_, unused);
    context_.monitor.work(std::uint64_t{table.rows} * table.columns);
    finished_ = rows_.columns.empty();
    if (finished_) return;
    search_.known_of_root = nullptr;
    Greedy greedy(context_, builder_, search_);
    start_ = greedy.grow_with_exact_bottoms(rows_, shape_, greedy.grow(rows_, shape_));
    limit_ = std::max(bound_ + 1, start_.upper / kFirstLimit);
    chosen_ = true;
}

void HardRows::search(const PlanPtr& best) {
    if (!chosen_) choose(best);
    if (finished_) return;
    const std::uint64_t cap = context_.monitor.effort_cap();
    context_.monitor.cap_effort(std::min(cap, context_.monitor.steps() + effort_));
    std::unique_ptr<StopSearch> stopped;
    const Outcome outcome = search_.solve_root(rows_, shape_, start_, nullptr, stopped, nullptr, nullptr, limit_);
    const bool own_cap = stopped && stopped->reason == Status::kOptimal && context_.monitor.effort_cap() < cap;
    context_.monitor.cap_effort(cap);
    bound_ = std::max(bound_, outcome.lower);
    if (stopped && !own_cap) throw *stopped;
    if (stopped) {
        effort_ *= 2;
    } else if (outcome.upper <= limit_) {
        // The best tree of these rows is known: they have no more to say.
        chosen_ = false;
        wanted_ *= 2;
    } else {
        if (outcome.profile) search_.known_of_root = outcome.profile;
        limit_ += std::max<Cost>(1, limit_ / 2);
    }
}

}  // namespace provetree
