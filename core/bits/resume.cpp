// What the bit search leaves on disk and takes up from there: the bounds of the splits of the root, and what is proven
// for sets of conditions below it.
#include <algorithm>

#include "bits/workers.hpp"

namespace provetree {

namespace {

constexpr std::size_t kMostSets = 100'000;  // on disk; what is beyond is found again
constexpr std::chrono::seconds kBetweenTelling{15};

}  // namespace

void BitSearch::resume(const Checkpoint& checkpoint) {
    for (const KnownNode::Point& point : checkpoint.root.points) {
        const Feature wanted{point.split.column, point.split.rank};
        const std::uint32_t feature = nodes_.feature_at(wanted);
        if (feature < features_.size() && features_[feature] == wanted)
            root_sides_[{feature, point.split.left_splits}] = {point.left, point.right};
    }
    take_up(checkpoint.sets);
}

void BitSearch::take_up(const std::vector<KnownSet>& sets) {
    for (const KnownSet& set : sets)
        if (set.depth >= 3 && static_cast<std::size_t>(set.depth) < proven_.size())
            proven_[static_cast<std::size_t>(set.depth)].at({{set.low, set.high}, set.splits}) = {set.lower, set.upper,
                                                                                                  set.plan};
}

std::vector<KnownSet> BitSearch::known_sets() const {
    std::vector<KnownSet> sets;
    for (std::size_t depth = proven_.size(); depth-- > 3;) {
        proven_[depth].for_each_key([&](const Key& key, const Proven& proven) {
            if (proven.lower <= 0 || sets.size() >= kMostSets) return;
            const bool solved = proven.lower >= proven.upper;
            sets.push_back({key.set.low, key.set.high, static_cast<int>(depth), key.splits, proven.lower,
                            solved ? proven.upper : kInfinite, solved ? proven.plan : nullptr});
        });
    }
    return sets;
}

void BitSearch::recall(std::uint32_t feature, const Division& share, Sides& sides) const {
    const auto known = root_sides_.find({feature, share.left_splits});
    if (known == root_sides_.end()) return;
    sides.left = std::max(sides.left, known->second.left);
    sides.right = std::max(sides.right, known->second.right);
}

void BitSearch::note(std::uint32_t feature, const Division& share, const Sides& sides) {
    if (context_.checkpoint) root_sides_[{feature, share.left_splits}] = sides;
}

void BitSearch::keep_if_due(const Proven& best) const {
    if (context_.checkpoint && context_.checkpoint->due()) save(best.upper < root_best_.upper ? best : root_best_);
}

void BitSearch::keep_proof(const Listener* listener) {
    kept_ = listener != nullptr;
    if (!context_.checkpoint) return;
    if (!listener) {
        context_.checkpoint->keep_by(nullptr);
        return;
    }
    context_.checkpoint->keep_by([this] {
        if (crew_ && !lock_is_free_) return;
        std::unique_lock<std::mutex> held;
        if (crew_) held = std::unique_lock<std::mutex>(crew_->lock);
        keep_if_due(crew_ ? crew_->best : root_best_);
    });
}

void BitSearch::save(const Proven& best) const {
    Checkpoint checkpoint = checkpoint_of(context_);
    checkpoint.root.best = {best.upper, best.plan};
    for (const auto& [split, sides] : root_sides_) {
        const Feature& feature = features_[split.first];
        checkpoint.root.points.push_back({{feature.column, split.second, feature.rank},
                                          sides.left,
                                          sides.right,
                                          false,
                                          kInfinite,
                                          kInfinite,
                                          {},
                                          {},
                                          false});
    }
    if (kept_) checkpoint.sets = known_sets();
    if (kept_ && crew_)
        for (const std::vector<KnownSet>& told : crew_->told)
            checkpoint.sets.insert(checkpoint.sets.end(), told.begin(), told.end());
    context_.checkpoint->write(checkpoint);
}

// A thread that does not lead tells what it has proven, now and then.
void BitSearch::Mate::tell(Crew& crew) {
    const CheckpointFile* file = crew.leader.context_.checkpoint;
    if (!file || !search.lock_is_free_ || CheckpointFile::Clock::now() < next_telling) return;
    std::vector<KnownSet> sets = search.known_sets();
    const std::lock_guard<std::mutex> held(crew.lock);
    crew.told[who] = std::move(sets);
    next_telling =
        CheckpointFile::Clock::now() + std::min<CheckpointFile::Clock::duration>(kBetweenTelling, file->between());
}

}  // namespace provetree
