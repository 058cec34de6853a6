// IGP. Each pair belongs to the row that is closer to another class: the pairs of a row are then in order of their
// distance, and a heap over the rows gives all pairs in order. A row keeps a few of its next pairs; when they are used
// up it looks for more, passing over rows of its own cluster by then.
#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>
#include <vector>

#include "partitions/clusters.hpp"

namespace provetree::partitions {

namespace {

constexpr std::size_t kPairsAtATime = 64;

double ratio(double distance, double to_other) {
    return to_other > 0 ? distance / to_other : std::numeric_limits<double>::infinity();
}

class PairStreams {
  public:
    // Measures the distance of each row to another class, and in the same pass finds its first pairs.
    PairStreams(const Points& points, const Clusters& clusters, Monitor& monitor)
        : points_(points), clusters_(clusters), monitor_(monitor),
          to_other_(points.size(), std::numeric_limits<double>::infinity()), waiting_(points.size()),
          last_(points.size(), Pair{-1, 0, 0}) {
        for (std::size_t i = 0; i < points.size(); ++i) {
            const Row row = static_cast<Row>(i);
            points_.distances(row, from_here_);
            double least = to_other_[i];
            for (std::size_t j = 0; j < points.size(); ++j)
                if (points_.label(static_cast<Row>(j)) != points_.label(row)) least = std::min(least, from_here_[j]);
            to_other_[i] = least;
            collect(row, [](Row) { return true; });
            monitor_.work(points.size());
        }
        // Only now it is known which row of a pair owns it. A row that is left without pairs looks again.
        for (std::size_t i = 0; i < points.size(); ++i) {
            std::vector<Pair>& pairs = waiting_[i];
            if (pairs.size() == kPairsAtATime) last_[i] = pairs.front();
            const bool complete = pairs.size() < kPairsAtATime;
            std::erase_if(pairs, [&](const Pair& pair) {
                return !owns(static_cast<Row>(i), other_of(pair, static_cast<Row>(i)));
            });
            exhausted_.push_back(complete);
        }
    }

    double to_other(Row row) const { return to_other_[row]; }

    // The next pair of a row, if there is one of a ratio below one.
    bool next(Row row, Pair& pair) {
        const std::size_t at = row;
        std::vector<Pair>& pairs = waiting_[at];
        if (pairs.empty()) {
            if (exhausted_[at]) return false;
            points_.distances(row, from_here_);
            const Row own = clusters_.of(row);
            collect(row, [&](Row other) { return owns(row, other) && clusters_.of(other) != own; });
            monitor_.work(points_.size());
            if (pairs.size() < kPairsAtATime) exhausted_[at] = true;
            if (pairs.empty()) return false;
            last_[at] = pairs.front();
        }
        pair = pairs.back();
        pairs.pop_back();
        return true;
    }

  private:
    static Row other_of(const Pair& pair, Row row) { return pair.low == row ? pair.high : pair.low; }

    bool owns(Row row, Row other) const {
        const double mine = to_other(row), theirs = to_other(other);
        return std::tie(mine, row) < std::tie(theirs, other);
    }

    // The closest pairs of a row after the last one it had, the closest at the end; distances are measured already.
    template <class Wanted>
    void collect(Row row, Wanted wanted) {
        const double limit = to_other(row);
        std::vector<Pair>& pairs = waiting_[row];
        const Pair last = last_[row];
        for (std::size_t j = 0; j < points_.size(); ++j) {
            const Row other = static_cast<Row>(j);
            // Most rows fail here: too far for a full heap, or further than another class.
            if (pairs.size() == kPairsAtATime && from_here_[j] > pairs.front().distance) continue;
            if (!(ratio(from_here_[j], limit) < 1) || other == row || points_.label(other) != points_.label(row))
                continue;
            const Pair pair = make_pair_of(from_here_[j], row, other);
            if (!(last < pair) || !wanted(other)) continue;
            if (pairs.size() < kPairsAtATime) {
                pairs.push_back(pair);
                std::push_heap(pairs.begin(), pairs.end());
            } else if (pair < pairs.front()) {
                std::pop_heap(pairs.begin(), pairs.end());
                pairs.back() = pair;
                std::push_heap(pairs.begin(), pairs.end());
            }
        }
        std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return b < a; });
    }

    const Points& points_;
    const Clusters& clusters_;
    Monitor& monitor_;
    std::vector<double> to_other_;
    std::vector<std::vector<Pair>> waiting_;
    std::vector<Pair> last_;       // of each row, the last pair that was collected
    std::vector<char> exhausted_;  // whether there are no pairs after that
    std::vector<double> from_here_;
};

struct Event {
    double ratio;
    Pair pair;
    Row owner;
    // The smallest first, in a queue that gives the largest.
    friend bool operator<(const Event& a, const Event& b) {
        return std::tie(b.ratio, b.pair) < std::tie(a.ratio, a.pair);
    }
};

}  // namespace

Partitioned improved_greedy(const Points& points, Monitor& monitor) {
    bool complete = true;
    Clusters clusters(points);
    try {
        PairStreams streams(points, clusters, monitor);
        const auto other = [&](Row i) { return streams.to_other(i); };
        std::priority_queue<Event> events;
        const auto push = [&](Row row) {
            Pair pair{};
            if (streams.next(row, pair)) events.push({ratio(pair.distance, other(row)), pair, row});
        };
        for (std::size_t i = 0; i < points.size(); ++i) push(static_cast<Row>(i));
        while (!events.empty()) {
            const Event event = events.top();
            events.pop();
            const Row a = clusters.of(event.pair.low), b = clusters.of(event.pair.high);
            if (a != b) {
                const Row first = clusters.medoid(a), second = clusters.medoid(b);
                if (ratio(points.distance(first, second), std::min(other(first), other(second))) < 1)
                    clusters.merge(a, b, monitor);
            }
            push(event.owner);
            monitor.work(1);
        }
    } catch (const StopSearch&) {
        complete = false;
    }
    return clusters.take(complete);
}

}  // namespace provetree::partitions
