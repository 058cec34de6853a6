// Pairs of trees; see near_optimal/side_trees.hpp.
#include "near_optimal/side_trees.hpp"

namespace provetree {

namespace {

// A product of two lists of costs is found unordered: sorted, and equal costs added.
void tidy(TreeCounts& found, TreeCounts& out) {
    std::sort(found.begin(), found.end(), [](const CostCount& a, const CostCount& b) { return a.cost < b.cost; });
    out.clear();
    for (const CostCount& each : found) {
        if (!out.empty() && out.back().cost == each.cost) {
            out.back().count = checked_sum(out.back().count, each.count);
            out.back().margin = std::max(out.back().margin, each.margin);
        } else {
            out.push_back(each);
        }
    }
}

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
    found_.clear();
    const auto put = [&](Cost cost, Wide count, double widest) {
        if (cost <= room) found_.push_back({cost + rules_.split_penalty, count, std::min(widest, margin)});
    };
    if (rules_.redundant || left.label != right.label) put(left.leaf + right.leaf, 1, kWidestMargin);
    for (const CostCount& r : right_grown) put(left.leaf + r.cost, r.count, r.margin);
    for (const CostCount& l : left_grown) {
        put(l.cost + right.leaf, l.count, l.margin);
        for (const CostCount& r : right_grown) {
            if (l.cost + r.cost > room) break;
            put(l.cost + r.cost, checked_product(l.count, r.count), std::min(l.margin, r.margin));
        }
    }
    tidy(found_, out);
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
    const auto at = std::lower_bound(sum_.with.begin(), sum_.with.end(), feature,
                                     [](const FeatureTrees& each, Index wanted) { return each.feature < wanted; });
    if (at != sum_.with.end() && at->feature == feature)
        add_trees(at->trees, trees, scratch_);
    else
        sum_.with.insert(at, {feature, trees});
}

bool TreeSum::add(const Question& split, const SideTrees& left, const SideTrees& right, Cost limit) {
    pairs_.all(split, left, right, limit, every_);
    least_with_.clear();
    if (every_.empty()) return false;
    add_trees(sum_.grown, every_, scratch_);
    add_with(split.feature, every_);
    const auto add_other = [&](Index feature) {
        if (feature == split.feature) return;
        pairs_.with(feature, left, right, limit, every_, some_);
        add_with(feature, some_);
    };
    auto l = left.with.begin();
    auto r = right.with.begin();
    while (l != left.with.end() || r != right.with.end()) {
        const Index feature =
            r == right.with.end() || (l != left.with.end() && l->feature <= r->feature) ? l->feature : r->feature;
        if (l != left.with.end() && l->feature == feature) ++l;
        if (r != right.with.end() && r->feature == feature) ++r;
        add_other(feature);
    }
    return true;
}

}  // namespace provetree
