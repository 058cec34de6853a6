// Separation of row cuts; see colgen/row_separation.hpp.
#include "colgen/row_separation.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace provetree::colgen {

namespace {

struct Range {
    std::int32_t low, high;
};

class Search {
  public:
    Search(const Instance& instance, const PathList& paths, const SeparationInput& input, Monitor& monitor)
        : instance_(instance), paths_(paths), in_(input), monitor_(monitor) {}

    SeparationResult run() {
        std::vector<Range> ranges;
        for (const std::int32_t count : in_.thresholds_per_column) ranges.push_back({0, count});
        std::vector<int> all(paths_.size);
        std::iota(all.begin(), all.end(), 0);
        result_.bound = in_.least;
        branch(ranges, all);
        if (!result_.rows.empty()) result_.bound = std::max(result_.bound, result_.rows.front().value);
        return std::move(result_);
    }

  private:
    // What the free decisions ask of the row: it must not be right of `left`, and must be right of `right` - 1.
    struct Wish {
        std::int32_t left = std::numeric_limits<std::int32_t>::max(), right = 0;
    };
    using Decisions = std::vector<std::pair<int, bool>>;  // (candidate of the tree, goes right)

    double bar() const { return result_.rows.size() < in_.most_rows ? in_.least : result_.rows.front().value; }

    double free_value(int node, int level, std::vector<int>& chosen, const std::vector<Range>& ranges,
                      Decisions& decisions) {
        if (level == instance_.depth()) return paths_.total(chosen);
        double total = 0;
        for_each_candidate(instance_, paths_, level, chosen,
                           [&](int a, std::vector<int>& left, std::vector<int>& right) {
                               const int flat = instance_.node(node).offset + a;
                               const Range range = ranges[in_.column[flat]];
                               double value[2] = {-1, -1};
                               Decisions below[2];
                               if (range.low <= in_.threshold[flat])
                                   value[0] = free_value(2 * node + 1, level + 1, left, ranges, below[0]);
                               if (range.high > in_.threshold[flat])
                                   value[1] = free_value(2 * node + 2, level + 1, right, ranges, below[1]);
                               const bool to_right = value[1] > value[0];
                               if (value[to_right] <= 0) return;
                               decisions.emplace_back(flat, to_right);
                               decisions.insert(decisions.end(), below[to_right].begin(), below[to_right].end());
                               total += value[to_right];
                           });
        return total;
    }

    void branch(std::vector<Range>& ranges, std::vector<int>& paths) {
        monitor_.work(paths.size() * 64 + 64);
        Decisions decisions;
        std::vector<int> copy = paths;
        const double value = free_value(0, 0, copy, ranges, decisions);
        if (!(value > bar())) return;
        if (++result_.nodes > in_.most_nodes) {
            result_.bound = std::max(result_.bound, value);
            return;
        }
        std::vector<Wish> wishes(ranges.size());
        for (const auto& [flat, right] : decisions) {
            Wish& wish = wishes[in_.column[flat]];
            if (right)
                wish.right = std::max(wish.right, in_.threshold[flat] + 1);
            else
                wish.left = std::min(wish.left, in_.threshold[flat]);
        }
        std::size_t worst = 0;
        while (worst < ranges.size() && wishes[worst].left >= wishes[worst].right) ++worst;
        if (worst == ranges.size()) {
            FoundRow row{value, {}};
            for (std::size_t c = 0; c < ranges.size(); ++c)
                row.place.push_back(
                    std::max(std::max(ranges[c].low, wishes[c].right), std::min(ranges[c].high, wishes[c].left)));
            keep(std::move(row));
            return;
        }
        const Range whole = ranges[worst];
        ranges[worst].high = wishes[worst].left;  // not right of it, or right of it
        branch(ranges, paths);
        ranges[worst] = {wishes[worst].left + 1, whole.high};
        branch(ranges, paths);
        ranges[worst] = whole;
    }

    void keep(FoundRow row) {
        for (const FoundRow& known : result_.rows)
            if (known.place == row.place) return;
        result_.rows.push_back(std::move(row));
        std::stable_sort(result_.rows.begin(), result_.rows.end(),
                         [](const FoundRow& a, const FoundRow& b) { return a.value > b.value; });
        if (result_.rows.size() > in_.most_rows) result_.rows.pop_back();
    }

    const Instance& instance_;
    const PathList& paths_;
    const SeparationInput& in_;
    Monitor& monitor_;
    SeparationResult result_;
};

}  // namespace

SeparationResult separate_rows(const Instance& instance, const PathList& paths, const SeparationInput& input,
                               Monitor& monitor) {
    return Search(instance, paths, input, monitor).run();
}

}  // namespace provetree::colgen
