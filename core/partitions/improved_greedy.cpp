// IGP. Each pair belongs to the row that is closer to another class: the pairs of a row are then in order of their distance, and a heap over the rows
// gives all pairs in order. A row keeps a few of its next pairs; when they are used up it looks for more, passing over rows of its own cluster by then.
#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>

#include "partitions/clusters.hpp"
#include "partitions/partitioning.hpp"

namespace provetree::partitions {

namespace {

constexpr std::size_t kPairsAtATime = 32;

double ratio(double distance, double to_other) { return to_other > 0 ? distance / to_other : std::numeric_limits<double>::infinity(); }

class PairStreams {
  public:
    PairStreams(const Points& points, const std::vector<double>& to_other, const Clusters& clusters, Monitor& monitor)
        : points_(points), to_other_(to_other), clusters_(clusters), monitor_(monitor), waiting_(points.size()), last_(points.size(), Pair{-1, 0, 0}) {}

    // The next pair of a row, if there is one of a ratio below one.
    bool next(Row row, Pair& pair) {
        std::vector<Pair>& pairs = waiting_[static_cast<std::size_t>(row)];
        if (pairs.empty()) {
            if (!(to_other_[static_cast<std::size_t>(row)] > 0)) return false;
            refill(row, pairs);
            if (pairs.empty()) return false;
        }
        pair = pairs.back();
        pairs.pop_back();
        last_[static_cast<std::size_t>(row)] = pair;
        return true;
    }

  private:
    bool owns(Row row, Row other) const {
        const double mine = to_other_[static_cast<std::size_t>(row)], theirs = to_other_[static_cast<std::size_t>(other)];
        return std::tie(mine, row) < std::tie(theirs, other);
    }

    void refill(Row row, std::vector<Pair>& pairs) {
        const std::size_t n = points_.size();
        points_.distances(row, from_here_);
        const double limit = to_other_[static_cast<std::size_t>(row)];
        const Row own = clusters_.of(row);
        for (std::size_t j = 0; j < n; ++j) {
            const Row other = static_cast<Row>(j);
            // Rows nearer than the closest one of another class are of this class.
            if (!(ratio(from_here_[j], limit) < 1) || points_.label(other) != points_.label(row)) continue;
            if (!owns(row, other) || clusters_.of(other) == own) continue;
            const Pair pair = make_pair_of(from_here_[j], row, other);
            if (!(last_[static_cast<std::size_t>(row)] < pair)) continue;
            // A heap of the smallest pairs, the largest of them on top.
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
        monitor_.work(n);
    }

    const Points& points_;
    const std::vector<double>& to_other_;
    const Clusters& clusters_;
    Monitor& monitor_;
    std::vector<std::vector<Pair>> waiting_;
    std::vector<Pair> last_;
    std::vector<double> from_here_;
};

struct Event {
    double ratio;
    Pair pair;
    Row owner;
    // The smallest first, in a queue that gives the largest.
    friend bool operator<(const Event& a, const Event& b) { return std::tie(b.ratio, b.pair) < std::tie(a.ratio, a.pair); }
};

}  // namespace

Partitioned improved_greedy(const Points& points, Monitor& monitor) {
    Partitioned result;
    Clusters clusters(points);
    try {
        const std::vector<double> to_other = distance_to_other_class(points, monitor);
        const auto other = [&](Row i) { return to_other[static_cast<std::size_t>(i)]; };
        PairStreams streams(points, to_other, clusters, monitor);
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
                if (ratio(points.distance(first, second), std::min(other(first), other(second))) < 1) clusters.merge(a, b, monitor);
            }
            push(event.owner);
            monitor.work(1);
        }
    } catch (const StopSearch& stop) {
        result.complete = false;
        result.interrupted = stop.reason == Status::kInterrupted;
    }
    result.medoid = clusters.medoids_by_row();
    result.cluster = clusters.take_clusters();
    return result;
}

}  // namespace provetree::partitions
