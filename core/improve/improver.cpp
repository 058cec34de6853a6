// Large-neighbourhood search with an exact inner solver; see improver.hpp.
#include "improve/improver.hpp"

#include <algorithm>

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
    : context_(context),
      builder_(context.table, context.kernel, context.min_leaf),
      search_(context, builder_),
      inner_(context, builder_),
      root_(root),
      shape_(shape.on(root.rows)),
      binding_(shape_.splits < Shape::full(shape_.depth)),
      grower_(context, builder_, search_, binding_),
      listener_(std::move(listener)),
      current_(outline(start.plan, shape_.depth)),
      best_cost_(start.upper) {
    search_.loss = inner_.loss = loss;
}

std::uint64_t Improver::random(std::uint64_t below) {
    // splitmix64
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return (z ^ (z >> 31)) % below;
}

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

// ---------------------------------------------------------------- the tree at hand

LimbPtr Improver::at(const Path& path) const {
    LimbPtr limb = current_;
    for (char side : path)
        if (limb) limb = side == 'l' ? limb->left : limb->right;
    return limb;
}

// The children of a node in the levels of the search, unless they lie there already.
void Improver::split_into_levels(const Node& node, const Limb& limb, std::size_t level) {
    const Candidate split = placed(node, limb.column, limb.rank);
    Levels::Children& kids = search_.levels.at(level);
    builder_.split(node, node.columns[split.column], split.position, kids.left, kids.right);
    context_.counters.nodes += 2;
    context_.monitor.work(std::uint64_t{node.rows} * (node.columns.size() + 1) / 2);
}

const Node& Improver::descend(const Path& path) {
    const Node* node = &root_;
    const Limb* limb = current_.get();
    for (std::size_t level = 0; level < path.size(); ++level) {
        Levels::Children& kids = search_.levels.at(level);
        if (level >= way_.size() || way_[level].limb != limb || way_[level].node != node) {
            way_.resize(level);
            split_into_levels(*node, *limb, level);
            way_.push_back({limb, node});
        }
        node = path[level] == 'l' ? &kids.left : &kids.right;
        limb = path[level] == 'l' ? limb->left.get() : limb->right.get();
    }
    way_.resize(path.size());  // whoever works on this node uses the levels below it
    return *node;
}

LimbPtr Improver::with(const LimbPtr& limb, const Path& path, std::size_t from, const LimbPtr& part) const {
    if (from == path.size()) return part;
    Limb changed = *limb;
    LimbPtr& side = path[from] == 'l' ? changed.left : changed.right;
    const LimbPtr before = side;
    side = with(side, path, from + 1, part);
    changed.cost += side->cost - before->cost;
    changed.splits += side->splits - before->splits;
    changed.exact = false;
    return std::make_shared<const Limb>(changed);
}

void Improver::replace(const Path& path, const LimbPtr& part) { take(with(current_, path, 0, part)); }

void Improver::take(const LimbPtr& tree) {
    way_.clear();
    current_ = tree;
    if (current_->cost >= best_cost_) return;
    best_ = current_;
    best_cost_ = current_->cost;
    rounds_in_vain_ = 0;
    listener_(best_cost_, best_->plan(), best_->branches() ? best_->left->splits : Shape::full(shape_.depth));
}

// ---------------------------------------------------------------- rounds

void Improver::list_tasks(const Limb& limb, const Path& path) {
    if (limb.cost <= search_.loss.split_penalty || limb.exact) return;
    // The last task listed is the first one done: upper splits are exchanged after everything below them was solved.
    const int depth = remaining(path);
    if (depth > kSolvedDepth || path.empty()) tasks_.push_back({path, false});
    if (depth <= kSolvedDepth) {
        if (limb.effort < kMostEffort) tasks_.push_back({path, true});
        return;
    }
    if (!limb.branches()) return;
    list_tasks(*limb.left, path + 'l');
    list_tasks(*limb.right, path + 'r');
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
    const LimbPtr limb = at(path);
    if (!limb || limb->exact) return;
    std::int64_t spare = shape_.splits - current_->splits;
    const LimbPtr better = solved(descend(path), limb, std::clamp(2 * limb->effort, kFirstEffort, kMostEffort), spare);
    improved_ |= better->cost < limb->cost;
    replace(path, better);
}

// The subtree solved by the exact search for three levels, or as far as the effort goes. Where the split budget binds,
// the splits that are to spare may be used up.
LimbPtr Improver::solved(const Node& node, const LimbPtr& limb, std::uint64_t effort, std::int64_t& spare) {
    Outcome start;
    start.upper = limb->cost;
    start.plan = limb->plan();
    std::unique_ptr<StopSearch> stopped;
    const int depth = std::min(kSolvedDepth, shape_.depth);
    const Shape shape =
        Shape::of(depth, binding_ ? limb->splits + std::max<std::int64_t>(0, spare) : Shape::full(depth)).on(node.rows);
    const Monitor::EffortCap cap(context_.monitor, effort);
    const Outcome outcome = inner_.solve_root(node, shape, start, nullptr, stopped, nullptr, nullptr);
    const bool own_cap = stopped && stopped->reason == StopReason::kEffortUsed && cap.binds();
    if (stopped && !own_cap) stop_ = *stopped;
    Limb result = *limb;
    if (outcome.upper < limb->cost) {
        result = {};
        result.cost = outcome.upper;
        result.splits = binding_ ? shape.splits : 0;
        result.bottom = outcome.plan;
        result.split = outcome.plan && !outcome.plan->stump;
        if (result.split) {
            result.column = outcome.plan->column;
            result.rank = outcome.plan->rank;
        }
    }
    spare -= result.splits - limb->splits;
    result.exact = !stopped;
    result.effort = limb->effort + effort;
    return std::make_shared<const Limb>(result);
}

// All subtrees of depth three solved.
LimbPtr Improver::polished(const Node& node, const LimbPtr& limb, int depth, std::size_t level, std::int64_t& spare) {
    if (limb->exact || limb->cost <= search_.loss.split_penalty || stop_) return limb;
    if (depth <= kSolvedDepth) return solved(node, limb, kFirstEffort, spare);
    if (!limb->branches()) return limb;
    split_into_levels(node, *limb, level);
    Levels::Children& kids = search_.levels.at(level);
    Limb changed = *limb;
    changed.left = polished(kids.left, limb->left, depth - 1, level + 1, spare);
    changed.right = polished(kids.right, limb->right, depth - 1, level + 1, spare);
    changed.cost += changed.left->cost - limb->left->cost + changed.right->cost - limb->right->cost;
    changed.splits += changed.left->splits - limb->left->splits + changed.right->splits - limb->right->splits;
    return std::make_shared<const Limb>(changed);
}

// ---------------------------------------------------------------- other splits

std::vector<Candidate> Improver::proposals(const Node& node, const Limb& limb) {
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
    const Candidate here = limb.split ? placed(node, limb.column, limb.rank) : Candidate{0, 0, 0};
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
    const LimbPtr limb = at(path);
    if (!limb) return;
    const int depth = remaining(path);
    const Node& node = descend(path);
    const Shape shape = Shape::of(depth, budget(*limb));
    if (shape.depth == 0) return;  // no splits are left for it
    Cost limit = limb->cost + limb->cost / kWorthPolishing + 1;
    LimbPtr best;
    for (const Candidate& split : proposals(node, *limb)) {
        const bool along = limb->branches() && (node.columns[split.column].id == limb->column || random(2));
        Taste taste;
        taste.purity = random(2) ? Purity::kGini : Purity::kEntropy;
        if (const LimbPtr grown = grower_.grow_below(node, shape, split, along ? limb->left.get() : nullptr,
                                                     along ? limb->right.get() : nullptr, taste, limit, path.size())) {
            best = grown;
            limit = grown->cost;
        }
    }
    if (!best) return;
    std::int64_t spare = shape.splits - best->splits;
    if (best->cost >= limb->cost) best = polished(node, best, depth, path.size(), spare);
    if (best->cost > limb->cost) return;
    improved_ |= best->cost < limb->cost;
    replace(path, best);
}

// ---------------------------------------------------------------- starting again

Taste Improver::next_taste() {
    Taste taste;
    taste.purity = restarts_ % 4 == 0 ? Purity::kEntropy : Purity::kGini;
    const std::uint64_t discrepancies = restarts_ / 16 + (restarts_ > 2);
    for (std::uint64_t i = 0; i < discrepancies; ++i) taste.discrepancies.push_back({1 + random(7), 1 + random(3)});
    return taste;
}

// The best tree with one of its upper splits thrown away for another one.
LimbPtr Improver::shaken() {
    current_ = best_;
    way_.clear();
    Path path;
    const int upper = std::max(1, shape_.depth - kSolvedDepth);
    for (std::uint64_t levels = random(static_cast<std::uint64_t>(upper)); levels > 0 && at(path)->branches(); --levels)
        path += random(2) ? 'l' : 'r';
    const LimbPtr limb = at(path);
    const Node& node = descend(path);
    const std::vector<Candidate> splits = proposals(node, *limb);
    if (splits.empty()) return best_;
    const bool along = limb->branches() && random(2);
    const LimbPtr grown = grower_.grow_below(node, Shape::of(remaining(path), budget(*limb)),
                                             splits[random(splits.size())], along ? limb->left.get() : nullptr,
                                             along ? limb->right.get() : nullptr, {}, kInfinite, path.size());
    return grown ? with(best_, path, 0, grown) : best_;
}

void Improver::start_again() {
    ++restarts_;
    LimbPtr tree = restarts_ % 3 == 1 ? grower_.grow(root_, shape_, nullptr, next_taste(), kInfinite, 0) : shaken();
    take(tree ? tree : best_);
}

}  // namespace provetree
