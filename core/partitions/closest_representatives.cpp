// CRM. Only pairs with a cluster that is not taboo yet can change anything: against another class they make it taboo,
// against a free cluster of its own class they merge. So each free cluster keeps the closest such partner. When
// partners merge or become taboo this may be out of date; what was found is then still a lower bound, and the cluster
// looks again when it comes to the top of the heap.
#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "partitions/clusters.hpp"

namespace provetree::partitions {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Merger {
  public:
    Merger(const Points& points, Monitor& monitor)
        : points_(points), monitor_(monitor), clusters(points), taboo_(points.size(), 0), version_(points.size(), 0),
          best_(points.size(), Pair{kInfinity, 0, 0}), seen_version_(points.size(), 0), place_(points.size()) {
        const std::size_t n = points.size();
        active_.resize(n);
        coordinates_.resize(n * points.width());
        for (std::size_t i = 0; i < n; ++i) {
            active_[i] = place_[i] = static_cast<Row>(i);
            put(static_cast<Row>(i), static_cast<Row>(i));
        }
    }

    void run() {
        for (std::size_t i = 0; i < points_.size(); ++i) look(static_cast<Row>(i));
        while (!events_.empty()) {
            const Event event = events_.top();
            events_.pop();
            const Row g = event.cluster;
            if (gone(g) || taboo_[at(g)] || event.pair < best_[at(g)] || best_[at(g)] < event.pair) continue;
            const Row partner = event.pair.low == g ? event.pair.high : event.pair.low;
            const bool stale = gone(partner) || version_[at(partner)] != seen_version_[at(g)] ||
                               (same_class(g, partner) && taboo_[at(partner)]);
            if (stale)
                look(g);
            else if (same_class(g, partner))
                merge(g, partner);
            else
                taboo_[at(g)] = taboo_[at(partner)] = 1;
            monitor_.work(1);
        }
    }

  private:
    struct Event {
        Pair pair;
        Row cluster;
        friend bool operator<(const Event& a, const Event& b) { return b.pair < a.pair; }
    };

    static std::size_t at(Row i) { return i; }
    bool gone(Row g) const { return place_[at(g)] < 0; }
    bool same_class(Row a, Row b) const { return points_.label(a) == points_.label(b); }

    // Writes the medoid of a cluster into the table of active clusters.
    void put(Row g, Row medoid) {
        const std::size_t n = points_.size();
        for (std::size_t c = 0; c < points_.width(); ++c)
            coordinates_[c * n + at(place_[at(g)])] = points_.at(medoid, c);
    }

    // Distances from a cluster's medoid to those of all active clusters, by their place.
    void measure(Row g) {
        from_here_.resize(active_.size());
        distances_by_column(coordinates_.data(), points_.size(), active_.size(), points_.width(), at(place_[at(g)]),
                            from_here_.data());
        monitor_.work(active_.size());
    }

    void remember(Row g, const Pair& pair, Row partner) {
        best_[at(g)] = pair;
        seen_version_[at(g)] = version_[at(partner)];
        events_.push({pair, g});
    }

    // Finds the closest partner of a free cluster; `measured`: the distances are known already.
    void look(Row g, bool measured = false) {
        if (!measured) measure(g);
        Pair best{kInfinity, 0, 0};
        Row partner = -1;
        for (std::size_t k = 0; k < active_.size(); ++k) {
            const Row h = active_[k];
            if (h == g || from_here_[k] > best.distance || (same_class(g, h) && taboo_[at(h)])) continue;
            const Pair pair = make_pair_of(from_here_[k], g, h);
            if (partner < 0 || pair < best) {
                best = pair;
                partner = h;
            }
        }
        if (partner >= 0) remember(g, best, partner);
    }

    void merge(Row a, Row b) {
        const Row kept = clusters.merge(a, b, monitor_), dropped = kept == a ? b : a;
        const std::size_t hole = at(place_[at(dropped)]), last = active_.size() - 1, n = points_.size();
        for (std::size_t c = 0; c < points_.width(); ++c) coordinates_[c * n + hole] = coordinates_[c * n + last];
        active_[hole] = active_[last];
        place_[at(active_[hole])] = static_cast<Row>(hole);
        place_[at(dropped)] = -1;
        active_.pop_back();
        ++version_[at(kept)];
        put(kept, clusters.medoid(kept));
        measure(kept);
        for (std::size_t k = 0; k < active_.size(); ++k) {
            const Row h = active_[k];
            if (h == kept || taboo_[at(h)]) continue;
            const Pair pair = make_pair_of(from_here_[k], kept, h);
            if (pair < best_[at(h)]) remember(h, pair, kept);
        }
        look(kept, true);
    }

    const Points& points_;
    Monitor& monitor_;

  public:
    Clusters clusters;

  private:
    std::vector<char> taboo_;
    std::vector<std::uint32_t> version_;       // how often the medoid of a cluster may have moved
    std::vector<Pair> best_;                   // of each free cluster: its closest partner, or a lower bound on it
    std::vector<std::uint32_t> seen_version_;  // the partner's version when it was found
    std::vector<Row> place_;                   // of each cluster among the active ones; -1: merged into another
    std::vector<Row> active_;
    std::vector<double> coordinates_;  // of the medoids of active clusters, column by column
    std::vector<double> from_here_;
    std::priority_queue<Event> events_;
};

}  // namespace

Partitioned closest_representatives(const Points& points, Monitor& monitor) {
    bool complete = true;
    Merger merger(points, monitor);
    try {
        merger.run();
    } catch (const StopSearch&) {
        complete = false;
    }
    return merger.clusters.take(complete);
}

}  // namespace provetree::partitions
