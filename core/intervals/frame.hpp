// The search of one node while it goes on: its intervals, the points evaluated, the best tree so far. Private to
// TreeSearch.
#pragma once

#include <algorithm>
#include <deque>
#include <queue>
#include <vector>

#include "intervals/interval_search.hpp"

namespace provetree {

inline bool by_position(const DeepPoint& a, const DeepPoint& b) { return a.position < b.position; }

// Merges points of one position, tightens all from their neighbours and drops those that say nothing their neighbours
// do not.
void tidy(std::vector<DeepPoint>& points, Cost scale);

// The search of one node.
struct TreeSearch::Frame {
    const Node& node;
    Shape shape;
    Cost limit;
    std::size_t level;
    TieChoice* ties;
    LazyRows* lazy;
    Outcome outcome;
    Cost relaxed = kInfinite;  // least relaxed bound of the splits evaluated
    std::vector<Family> families;
    std::vector<std::int64_t> left_splits;              // per family: the budget of the left child, as it was divided
    std::deque<DeepPoint> points;                       // stable: intervals refer to them by number
    std::vector<std::vector<std::uint32_t>> points_of;  // per family, those evaluated
    std::priority_queue<Interval> heap;
    std::uint64_t sample_number = 0;  // times the sample of rows has grown
    // Splits that an earlier search was at, with the intervals they are in: they are tried before all others.
    struct Resumed {
        Interval interval;
        Index position;
    };
    std::vector<Resumed> resumed;

    // The least bound of what is open and not being tried.
    Cost least_open() const {
        Cost least = heap.empty() ? kInfinite : heap.top().bound;
        for (const Resumed& first : resumed) least = std::min(least, first.interval.bound);
        return least;
    }
    // Trees below this are looked for; with ties also those equal to the best.
    Cost cut() const { return std::min(limit, ties && outcome.upper < kInfinite ? outcome.upper + 1 : outcome.upper); }
    const NodeColumn& column(std::uint32_t family) const { return node.columns[families[family].column]; }
    // Under the tie rule a column after the preferred one must be strictly better.
    Cost cut(std::uint32_t family) const {
        return ties && ties->any && column(family).id > ties->column ? std::min(limit, outcome.upper) : cut();
    }
};

// A split that is tried, with what was known about it when that began: several threads try splits of one node at once.
struct TreeSearch::Attempt {
    Interval interval;
    Index position;
    DeepPoint low, high;  // the ends of the interval
    Cost cut;             // trees below this are looked for
    Weight weight;        // of the rows going left
    std::uint64_t sample_number;
    Weight sample_weight;
};

}  // namespace provetree
