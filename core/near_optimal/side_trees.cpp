// Pairs of trees; see near_optimal/side_trees.hpp.
#include "near_optimal/side_trees.hpp"

namespace provetree {

namespace {

const TreeCounts& trees_with(const SideTrees& side, Index feature) {
    static const TreeCounts kNone;
    const auto at = std::lower_bound(side.with.begin(), side.with.end(), feature,
                                     [](const FeatureTrees& each, Index wanted) { return each.feature < wanted; });
    return at != side.with.end() && at->feature == feature ? at->trees : kNone;
}

}  // namespace

void TreePairs::pairs(const SideTrees& left, const TreeCounts& left_grown, const SideTrees& right,
                      const TreeCounts& right_grown, double margin, Cost limit, TreeCounts& out) {
    const Cost room = limit - rules_.split_penalty;
    out.clear();
    const auto put = [&](Cost cost, Wide count, double widest) {
        if (cost <= room) out.push_back({cost + rules_.split_penalty, count, std::min(widest, margin)});
    };
    if (rules_.redundant || left.label != right.label) put(left.leaf + right.leaf, 1, kWidestMargin);
    for (const CostCount& r : right_grown) put(left.leaf + r.cost, r.count, r.margin);
    for (const CostCount& l : left_grown) {
        const std::size_t before = out.size();
        put(l.cost + right.leaf, l.count, l.margin);
        for (const CostCount& r : right_grown) {
            if (l.cost + r.cost > room) break;
            put(l.cost + r.cost, checked_product(l.count, r.count), std::min(l.margin, r.margin));
        }
        limits_.monitor.work(8 * (out.size() - before));
        limits_.check(out.size());
    }
    tidy_trees(out);
}

void TreePairs::all(const Question& split, const SideTrees& left, const SideTrees& right, Cost limit, TreeCounts& out) {
    pairs(left, left.grown, right, right.grown, split.margin, limit, out);
}

void TreePairs::without(const SideTrees& side, Index feature, TreeCounts& out) {
    out = side.grown;
    remove_trees(out, trees_with(side, feature));
}

void TreePairs::with(Index feature, const SideTrees& left, const SideTrees& right, Cost limit, const TreeCounts& every,
                     TreeCounts& out) {
    without(left, feature, left_);
    without(right, feature, right_);
    pairs(left, left_, right, right_, kWidestMargin, limit, without_);
    out = every;
    remove_trees(out, without_);
}

void TreeSum::add_with(Index feature, const TreeCounts& trees) {
    if (trees.empty()) return;
    least_with_.emplace_back(feature, trees.front().cost);
    auto at = std::lower_bound(with_.begin(), with_.end(), feature,
                               [](const FeatureTally& each, Index wanted) { return each.feature < wanted; });
    if (at == with_.end() || at->feature != feature) at = with_.insert(at, {feature, {}});
    entries_ -= at->trees.size();
    at->trees.add(trees);
    entries_ += at->trees.size();
}

void TreeSum::settle(SideTrees& to) {
    to.grown = std::move(grown_.settle());
    to.with.clear();
    for (FeatureTally& each : with_) to.with.push_back({each.feature, std::move(each.trees.settle())});
    grown_.clear();
    with_.clear();
    entries_ = 0;
}

// Nothing is added where a limit ends it on the way.
bool TreeSum::add(const Question& split, const SideTrees& left, const SideTrees& right, Cost limit) {
    pairs_.all(split, left, right, limit, every_);
    least_with_.clear();
    if (every_.empty()) return false;
    some_.clear();
    const auto find_others = [&](Index feature) {
        if (feature == split.feature) return;
        some_.push_back({feature, {}});
        pairs_.with(feature, left, right, limit, every_, some_.back().trees);
    };
    auto l = left.with.begin();
    auto r = right.with.begin();
    while (l != left.with.end() || r != right.with.end()) {
        const Index feature =
            r == right.with.end() || (l != left.with.end() && l->feature <= r->feature) ? l->feature : r->feature;
        if (l != left.with.end() && l->feature == feature) ++l;
        if (r != right.with.end() && r->feature == feature) ++r;
        find_others(feature);
    }
    limits_.monitor.work(8 * every_.size() * (1 + some_.size()));
    limits_.check(entries_ + every_.size() * (2 + some_.size()));
    entries_ -= grown_.size();
    grown_.add(every_);
    entries_ += grown_.size();
    add_with(split.feature, every_);
    for (const FeatureTrees& each : some_) add_with(each.feature, each.trees);
    return true;
}

}  // namespace provetree
