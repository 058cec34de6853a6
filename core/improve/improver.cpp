// Large-neighbourhood search with an exact inner solver; see improve/improver.hpp.
#include "improve/improver.hpp"

#include <algorithm>

#include "intervals/root_search.hpp"
#include "sweeps/depth_one.hpp"

namespace provetree {

namespace {

// Subtrees of this depth are solved by the exact search, with a cap on its effort; anything shallower is solved
// whenever it is grown.
constexpr int kSolvedDepth = 3;
constexpr std::uint64_t kFirstEffort = 20'000'000;
constexpr std::uint64_t kMostEffort = 64 * kFirstEffort;
constexpr int kShifts = 6;            // proposals near the split at hand
constexpr int kOtherSplits = 8;       // proposals anywhere
constexpr Cost kWorthPolishing = 12;  // a tree that costs a twelfth more may still win once its subtrees are solved
constexpr int kPatience = 2;

}  // namespace

Improver::Improver(Context& context, const Node& root, Shape shape, const Loss& loss, const Incumbent& start,
                   Listener listener)
    : context_(context), builder_(context.table, context.kernel, context.min_leaf), solver_(context, builder_, loss),
      inner_(context, builder_, loss), root_(root), shape_(shape.on(root.rows)),
      binding_(shape_.splits < Shape::full(shape_.depth)), grower_(solver_, binding_), listener_(std::move(listener)),
      current_(outline(start.plan, shape_.depth)), best_cost_(start.upper) {}

void Improver::go_on_from(Cost cost, const PlanPtr& plan) {
    if (cost >= best_cost_) return;
    best_cost_ = cost;
    current_ = outline(plan, shape_.depth);
    best_ = nullptr;
    tasks_.clear();
    improved_ = false;
    patience_ = 0;
    rounds_in_vain_ = 0;
}

void Improver::step() {
    if (finished()) return;
    const Closings::Heard silence(context_.closings);
    if (!best_) {
        take(grower_.grow(root_, shape_, current_.get(), {}, kInfinite, 0));
        best_ = current_;  // even where the tree to beat costs less: then only better ones are told
        list_tasks(*current_, {});
        return;
    }
    if (tasks_.empty()) return finish_round();
    const Task task = std::move(tasks_.back());
    tasks_.pop_back();
    if (task.exact)
        solve_again(task.path);
    else
        exchange(task.path);
    if (stop_) throw *stop_;
}

SubtreePtr Improver::at(const Path& path) const {
    SubtreePtr subtree = current_;
    for (char side : path)
        if (subtree) subtree = side == 'l' ? subtree->left : subtree->right;
    return subtree;
}

// The children of a node in the levels of the search, unless they lie there already.
void Improver::split_into_levels(const Node& node, const Subtree& subtree, std::size_t level) {
    const Candidate split = placed(node, subtree.column, subtree.rank);
    Levels::Children& kids = solver_.levels().at(level);
    builder_.split(node, node.columns[split.column], split.position, kids.left, kids.right);
    context_.counters.nodes += 2;
    context_.monitor.work(std::uint64_t{node.rows} * (node.columns.size() + 1) / 2);
}

const Node& Improver::descend(const Path& path) {
    const Node* node = &root_;
    const Subtree* subtree = current_.get();
    for (std::size_t level = 0; level < path.size(); ++level) {
        Levels::Children& kids = solver_.levels().at(level);
        if (level >= path_.size() || path_[level].subtree != subtree || path_[level].node != node) {
            path_.resize(level);
            split_into_levels(*node, *subtree, level);
            path_.push_back({subtree, node});
        }
        node = path[level] == 'l' ? &kids.left : &kids.right;
        subtree = path[level] == 'l' ? subtree->left.get() : subtree->right.get();
    }
    path_.resize(path.size());  // whoever works on this node uses the levels below it
    return *node;
}

SubtreePtr Improver::with(const SubtreePtr& subtree, const Path& path, std::size_t from, const SubtreePtr& part) const {
    if (from == path.size()) return part;
    Subtree changed = *subtree;
    SubtreePtr& side = path[from] == 'l' ? changed.left : changed.right;
    const SubtreePtr before = side;
    side = with(side, path, from + 1, part);
    changed.cost += side->cost - before->cost;
    changed.splits += side->splits - before->splits;
    changed.exact = false;
    return std::make_shared<const Subtree>(changed);
}

void Improver::take(const SubtreePtr& tree) {
    path_.clear();
    current_ = tree;
    if (current_->cost >= best_cost_) return;
    best_ = current_;
    best_cost_ = current_->cost;
    rounds_in_vain_ = 0;
    listener_(best_cost_, best_->plan(), best_->branches() ? best_->left->splits : Shape::full(shape_.depth));
}

void Improver::list_tasks(const Subtree& subtree, const Path& path) {
    if (subtree.cost <= solver_.loss().split_penalty || subtree.exact) return;
    // The last task listed is the first one done: upper splits are exchanged after everything below them was solved.
    const int depth = remaining(path);
    if (depth > kSolvedDepth || path.empty()) tasks_.push_back({path, false});
    if (depth <= kSolvedDepth) {
        if (subtree.effort < kMostEffort) tasks_.push_back({path, true});
        return;
    }
    if (!subtree.branches()) return;
    list_tasks(*subtree.left, path + 'l');
    list_tasks(*subtree.right, path + 'r');
}

void Improver::finish_round() {
    if (improved_) {
        patience_ = kPatience;
    } else if (--patience_ <= 0) {
        ++rounds_in_vain_;
        start_again();
        patience_ = 1;
    }
    improved_ = false;
    list_tasks(*current_, {});
}

void Improver::solve_again(const Path& path) {
    const SubtreePtr subtree = at(path);
    if (!subtree || subtree->exact) return;
    std::int64_t spare = shape_.splits - current_->splits;
    const SubtreePtr better =
        solved(descend(path), subtree, std::clamp(2 * subtree->effort, kFirstEffort, kMostEffort), spare);
    improved_ |= better->cost < subtree->cost;
    take(with(current_, path, 0, better));
}

// The subtree solved by the exact search for three levels, or as far as the effort goes. Where the split budget binds,
// the splits that are to spare may be used up.
SubtreePtr Improver::solved(const Node& node, const SubtreePtr& subtree, std::uint64_t effort, std::int64_t& spare) {
    const int depth = std::min(kSolvedDepth, shape_.depth);
    const Shape shape =
        Shape::of(depth, binding_ ? subtree->splits + std::max<std::int64_t>(0, spare) : Shape::full(depth))
            .on(node.rows);
    const RootRequest request{.shape = shape, .start = {subtree->cost, subtree->plan()}};
    const Monitor::EffortCap cap(context_.monitor, effort);
    const RootAnswer answer = search_root(inner_, node, request, {});
    const Outcome& outcome = answer.outcome;
    const std::optional<StopReason> stopped = answer.stopped;
    const bool own_cap = stopped == StopReason::kEffortUsed && cap.binds();
    if (stopped && !own_cap) stop_ = StopSearch{*stopped};
    Subtree result = *subtree;
    if (outcome.upper < subtree->cost) result = found_subtree(outcome.upper, binding_ ? shape.splits : 0, outcome.plan);
    spare -= result.splits - subtree->splits;
    result.exact = !stopped;
    result.effort = subtree->effort + effort;
    return std::make_shared<const Subtree>(result);
}

// All subtrees of depth three solved.
SubtreePtr Improver::polished(const Node& node, const SubtreePtr& subtree, int depth, std::size_t level,
                              std::int64_t& spare) {
    if (subtree->exact || subtree->cost <= solver_.loss().split_penalty || stop_) return subtree;
    if (depth <= kSolvedDepth) return solved(node, subtree, kFirstEffort, spare);
    if (!subtree->branches()) return subtree;
    split_into_levels(node, *subtree, level);
    Levels::Children& kids = solver_.levels().at(level);
    Subtree changed = *subtree;
    changed.left = polished(kids.left, subtree->left, depth - 1, level + 1, spare);
    changed.right = polished(kids.right, subtree->right, depth - 1, level + 1, spare);
    changed.cost += changed.left->cost - subtree->left->cost + changed.right->cost - subtree->right->cost;
    changed.splits += changed.left->splits - subtree->left->splits + changed.right->splits - subtree->right->splits;
    return std::make_shared<const Subtree>(changed);
}

std::vector<Candidate> Improver::proposals(const Node& node, const Subtree& subtree) {
    std::vector<Candidate> all;
    const auto propose = [&](Index column, std::int64_t position) {
        const NodeColumn& one = node.columns[column];
        if (one.first_split > one.last_split) return;
        const Index inside = static_cast<Index>(std::clamp<std::int64_t>(position, one.first_split, one.last_split));
        if (const Index found = nearest_split(one, inside, {one.first_split, one.last_split}))
            all.push_back({0, column, found});
    };
    const auto about = [&](Index position, Index reach) {
        return static_cast<std::int64_t>(position) + static_cast<std::int64_t>(random(2 * std::uint64_t{reach} + 1)) -
               reach;
    };
    const Candidate here = subtree.split ? placed(node, subtree.column, subtree.rank) : Candidate{0, 0, 0};
    if (here.position)
        for (int i = 0; i < kShifts; ++i)
            propose(here.column, about(here.position, std::max<Index>(1, node.rows >> (2 + i))));
    const std::vector<Candidate> ranked = ranked_splits(context_, node, random(2) ? Purity::kGini : Purity::kEntropy);
    for (int i = 0; i < kOtherSplits && !ranked.empty(); ++i) {
        const Candidate& one = ranked[std::min(random(ranked.size()), random(ranked.size()))];
        propose(one.column, i % 3 == 0 ? one.position : about(one.position, std::max<Index>(1, node.rows >> (i % 3))));
    }
    std::erase_if(all,
                  [&](const Candidate& one) { return one.column == here.column && one.position == here.position; });
    return all;
}

void Improver::exchange(const Path& path) {
    const SubtreePtr subtree = at(path);
    if (!subtree) return;
    const int depth = remaining(path);
    const Node& node = descend(path);
    const Shape shape = Shape::of(depth, budget(*subtree));
    if (shape.depth == 0) return;  // no splits are left for it
    Cost limit = subtree->cost + subtree->cost / kWorthPolishing + 1;
    SubtreePtr best;
    for (const Candidate& split : proposals(node, *subtree)) {
        const bool along = subtree->branches() && (node.columns[split.column].id == subtree->column || random(2));
        BranchingPreference preference;
        preference.purity = random(2) ? Purity::kGini : Purity::kEntropy;
        if (const SubtreePtr grown = grower_.grow_below(node, shape, split, along ? subtree.get() : nullptr, preference,
                                                        limit, path.size())) {
            best = grown;
            limit = grown->cost;
        }
    }
    if (!best) return;
    std::int64_t spare = shape.splits - best->splits;
    if (best->cost >= subtree->cost) best = polished(node, best, depth, path.size(), spare);
    if (best->cost > subtree->cost) return;
    improved_ |= best->cost < subtree->cost;
    take(with(current_, path, 0, best));
}

BranchingPreference Improver::next_preference() {
    BranchingPreference preference;
    preference.purity = restarts_ % 4 == 0 ? Purity::kEntropy : Purity::kGini;
    const std::uint64_t discrepancies = restarts_ / 16 + (restarts_ > 2);
    for (std::uint64_t i = 0; i < discrepancies; ++i)
        preference.discrepancies.push_back({1 + random(7), 1 + random(3)});
    return preference;
}

// The best tree with one of its upper splits thrown away for another one.
SubtreePtr Improver::shaken() {
    current_ = best_;
    path_.clear();
    Path path;
    const int upper = std::max(1, shape_.depth - kSolvedDepth);
    for (std::uint64_t levels = random(static_cast<std::uint64_t>(upper)); levels > 0 && at(path)->branches(); --levels)
        path += random(2) ? 'l' : 'r';
    const SubtreePtr subtree = at(path);
    const Node& node = descend(path);
    const std::vector<Candidate> splits = proposals(node, *subtree);
    if (splits.empty()) return best_;
    const bool along = subtree->branches() && random(2);
    const SubtreePtr grown =
        grower_.grow_below(node, Shape::of(remaining(path), budget(*subtree)), splits[random(splits.size())],
                           along ? subtree.get() : nullptr, {}, kInfinite, path.size());
    return grown ? with(best_, path, 0, grown) : best_;
}

void Improver::start_again() {
    ++restarts_;
    SubtreePtr tree =
        restarts_ % 3 == 1 ? grower_.grow(root_, shape_, nullptr, next_preference(), kInfinite, 0) : shaken();
    take(tree ? tree : best_);
}

}  // namespace provetree
