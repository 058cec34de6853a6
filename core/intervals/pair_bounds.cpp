// What is proven of rows that pass two splits; see intervals/pair_bounds.hpp.
#include "intervals/pair_bounds.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "intervals/frontier.hpp"

namespace provetree {

void PairBounds::on_rows(Weight weight) {
    publish();
    weight_ = weight;
}

void PairBounds::publish() {
    if (new_.empty()) return;
    {
        const std::unique_lock<std::shared_mutex> held(kept_->lock);
        for (const NewPoint& found : new_) {
            std::vector<Point>& points = kept_->lists[found.list];
            if (points.size() >= kMostPoints || context_.profile_bytes >= context_.memory_limit) continue;
            points.push_back(found.point);
            kept_->bytes += sizeof(Point);
            context_.profile_bytes += sizeof(Point);
        }
    }
    new_.clear();
    context_.counters.profile_bytes_peak = std::max(context_.counters.profile_bytes_peak, context_.profile_bytes);
}

void PairBounds::keep(const SideOf& one, const SideOf& other, Cost bound, Weight weight) {
    if (one.column == other.column || bound <= 0 || context_.profile_bytes >= context_.memory_limit) return;
    const bool in_order = one.column < other.column;
    const SideOf &lower = in_order ? one : other, &higher = in_order ? other : one;
    new_.push_back({list(lower, higher), {{lower.rank, higher.rank}, weight, weight_, bound}});
}

void PairBounds::find_positions(const Node& node, const NodeColumn& column) {
    const Index top = column.ranks[node.rows - 1];
    position_of_.resize(std::size_t{top} + 1);
    for (Index position = 0, rank = 0; rank <= top; ++rank) {
        while (position < node.rows && column.ranks[position] <= rank) ++position;
        position_of_[rank] = position;
    }
}

// Places what is known of either side of each split, by position in the node; false: nothing is.
bool PairBounds::place(const SideOf& side, const Node& node, const NodeColumn& column, const Loss& loss) {
    const bool side_first = side.column < column.id, lipschitz = !context_.off(kNoLipschitz);
    bool any = false;
    const std::shared_lock<std::shared_mutex> held(kept_->lock);
    for (const bool right : {false, true}) {
        const SideOf other{column.id, 0, right};
        const std::vector<Point>& points = kept_->lists[side_first ? list(side, other) : list(other, side)];
        if (points.empty()) continue;
        if (!std::exchange(any, true)) {
            find_positions(node, column);
            for (auto& at : at_) at.assign(std::size_t{node.rows} + 1, 0);
        }
        for (const Point& point : points) {
            if (point.divided > weight_) continue;  // another thread has a later sample than this one
            const Index of_side = point.rank[side_first ? 0 : 1], of_column = point.rank[side_first ? 1 : 0];
            const Index position = of_column < position_of_.size() ? position_of_[of_column] : node.rows;
            // The same side of the same split of the column, so the other split alone tells which rows have more.
            const bool within = side.right ? of_side >= side.rank : of_side <= side.rank;
            Cost bound = point.bound;  // fewer rows cost no more
            if (!within) {
                const bool same_sample = point.divided == weight_ || context_.off(kPairsOfOldSamples);
                if (!lipschitz || !same_sample) continue;
                // The best tree of the rows here gets at most those wrong that were there beside them.
                const Weight left = node.weight_left(column, position), here = right ? node.weight - left : left;
                bound -= loss.slack(point.weight - here);
            }
            at_[right][position] = std::max(at_[right][position], bound);
        }
    }
    return any;
}

// Keeps only what says more than its neighbours do: the left side grows with the position, the right side shrinks.
void PairBounds::drop_implied() {
    const auto drop = [](Cost& bound, Cost& reached) {
        if (bound <= reached) bound = 0;
        reached = std::max(reached, bound);
    };
    Cost reached = 0;
    for (Cost& bound : at_[0]) drop(bound, reached);
    reached = 0;
    for (auto bound = at_[1].rbegin(); bound != at_[1].rend(); ++bound) drop(*bound, reached);
}

void PairBounds::add_hints(const SideOf& side, const Node& node, const NodeColumn& column, const Loss& loss,
                           std::vector<DeepPoint>& hints) {
    if (side.column == column.id || !place(side, node, column, loss)) return;
    // At either end one side has no rows, and is no split.
    for (auto& at : at_) at.front() = at.back() = 0;
    drop_implied();
    const std::size_t before = hints.size();
    for (Index position = 1; position < node.rows; ++position) {
        if (at_[0][position] <= 0 && at_[1][position] <= 0) continue;
        DeepPoint& point = hints.emplace_back();
        point.position = position;
        point.rank = column.ranks[position - 1];
        point.weight = node.weight_left(column, position);
        point.left = at_[0][position];
        point.right = at_[1][position];
    }
    if (hints.size() > before) tidy(hints, loss);
}

}  // namespace provetree
