// The paths of a proof that is kept on disk; see intervals/resume_stack.hpp.
#include "intervals/resume_stack.hpp"

#include <algorithm>
#include <utility>

namespace provetree {

std::optional<KnownNode> ResumeNotes::known(const Path& path) {
    if (left_.load(std::memory_order_relaxed) == 0) return std::nullopt;
    const std::lock_guard<std::mutex> held(lock_);
    for (const KnownNode& node : known_)
        if (node.path == path) return node;
    return std::nullopt;
}

void ResumeNotes::forget(const Path& path, const SplitName& split) {
    if (left_.load(std::memory_order_relaxed) == 0) return;
    const std::lock_guard<std::mutex> held(lock_);
    std::erase_if(known_, [&](const KnownNode& node) {
        return node.path.size() > path.size() && std::equal(path.begin(), path.end(), node.path.begin()) &&
               node.path[path.size()].split == split;
    });
    left_ = known_.size();
}

void ResumeNotes::publish(std::size_t who, std::optional<SplitName> at_root, std::vector<KnownNode> nodes) {
    const std::lock_guard<std::mutex> held(lock_);
    if (told_.size() <= who) told_.resize(who + 1);
    told_[who] = {at_root, std::move(nodes)};
}

void ResumeNotes::add_to(Checkpoint& checkpoint) {
    const std::lock_guard<std::mutex> held(lock_);
    const auto add = [&](const KnownNode& node) {
        const bool there = std::any_of(checkpoint.below.begin(), checkpoint.below.end(),
                                       [&](const KnownNode& other) { return other.path == node.path; });
        if (!there) checkpoint.below.push_back(node);
    };
    for (const Told& told : told_) {
        // What was told some seconds ago may be done by now.
        if (!told.at_root) continue;
        const bool done =
            std::any_of(checkpoint.root.points.begin(), checkpoint.root.points.end(),
                        [&](const KnownNode::Point& point) { return point.settled && point.split == *told.at_root; });
        if (done) continue;
        checkpoint.root.tried.push_back(*told.at_root);
        for (const KnownNode& node : told.nodes) add(node);
    }
    for (const KnownNode& node : known_) add(node);
}

void ResumeStack::put(const Frontier& frontier) {
    entries_.resize(frontier.level());
    entries_.emplace_back().frontier = &frontier;
}

void ResumeStack::enter_root(Frontier& root, const KnownNode* known) {
    if (known) root.take_up(*known);
    put(root);
}

void ResumeStack::enter(Frontier& frontier) {
    const std::optional<KnownNode> known = notes_.known(path_to(frontier.level()));
    if (known && known->shape.depth == frontier.shape().depth && known->shape.splits == frontier.shape().splits)
        frontier.take_up(*known);
    put(frontier);
}

void ResumeStack::unwind(const Frontier& frontier) {
    const std::size_t level = frontier.level();
    if (entries_.size() > level && entries_[level].frontier == &frontier) add_nodes(level, unwound_);
    leave(level);
}

void ResumeStack::leave(std::size_t level) {
    if (entries_.size() > level) entries_.resize(level);
}

void ResumeStack::begin(std::size_t level, const SplitName& split) {
    if (entries_.size() <= level) entries_.resize(level + 1);
    Entry& entry = entries_[level];
    entry.trying = true;
    entry.step = {split, false};
    entry.done.reset();
}

void ResumeStack::side_done(std::size_t level, const Outcome& outcome, Shape shape, Index rows) {
    shape = shape.on(rows);
    Entry& entry = entries_[level];
    if (shape.depth >= 3) entry.done = Entry::Side{entry.step, outcome, shape, rows};
}

void ResumeStack::split_done(std::size_t level) {
    Entry& entry = entries_[level];
    notes_.forget(path_to(level), entry.step.split);
    entry.trying = false;
    entry.done.reset();
}

Path ResumeStack::path_to(std::size_t level) const {
    Path path;
    for (std::size_t l = 0; l < level; ++l) path.push_back(entries_[l].step);
    return path;
}

std::optional<SplitName> ResumeStack::at_root() const {
    if (entries_.empty() || !entries_[0].trying) return std::nullopt;
    return entries_[0].step.split;
}

// What the search of a node at that level knows, and what it knows of the side that is done.
void ResumeStack::add_nodes(std::size_t level, std::vector<KnownNode>& nodes) const {
    const Entry& entry = entries_[level];
    if (level > 0 && entry.frontier) {
        KnownNode node = entry.frontier->record();
        node.path = path_to(level);
        if (entry.trying) node.tried.push_back(entry.step.split);
        nodes.push_back(std::move(node));
    }
    if (!entry.trying || !entry.done) return;
    KnownNode node = record_of(entry.done->outcome, entry.done->shape, entry.done->rows);
    node.path = path_to(level);
    node.path.push_back(entry.done->step);
    nodes.push_back(std::move(node));
}

std::vector<KnownNode> ResumeStack::nodes() const {
    std::vector<KnownNode> all = unwound_;
    for (std::size_t level = 0; level < entries_.size(); ++level) add_nodes(level, all);
    return all;
}

void ResumeStack::tell(bool at_once) {
    constexpr std::chrono::seconds kBetweenTelling{5};
    if (!at_once && Clock::now() < next_) return;
    notes_.publish(who_, at_root(), nodes());
    next_ = Clock::now() + std::min<Clock::duration>(kBetweenTelling, notes_.file().between());
}

}  // namespace provetree
