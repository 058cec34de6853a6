// What the bit search leaves on disk; see bits/bit_proof.hpp.
#include "bits/bit_proof.hpp"

#include <algorithm>

namespace provetree {

void BitProof::resume(const Checkpoint& checkpoint) {
    const BitNodes& nodes = recursion_.nodes();
    for (const KnownNode::Point& point : checkpoint.root.points) {
        const Feature wanted{point.split.column, point.split.rank};
        const std::uint32_t feature = nodes.feature_at(wanted);
        if (feature < nodes.features().size() && nodes.features()[feature] == wanted)
            sides_[{feature, point.split.left_splits}] = {point.left, point.right};
    }
    recursion_.proven().add(checkpoint.sets);
}

bool BitProof::recall(std::uint32_t feature, const Division& share, SideCosts& sides) const {
    const auto known = sides_.find({feature, share.left_splits});
    if (known == sides_.end()) return false;
    sides.left = std::max(sides.left, known->second.left);
    sides.right = std::max(sides.right, known->second.right);
    return true;
}

void BitProof::note(std::uint32_t feature, std::int64_t left_splits, const SideCosts& sides) {
    if (recursion_.context().checkpoint) sides_[{feature, left_splits}] = sides;
}

void BitProof::save_if_due(const Incumbent& best) const {
    const CheckpointFile* file = recursion_.context().checkpoint;
    if (file && file->due()) save(best, true);
}

void BitProof::save(const Incumbent& best, bool with_sets) const {
    Context& context = recursion_.context();
    if (!context.checkpoint) return;
    Checkpoint checkpoint = checkpoint_of(context);
    checkpoint.root.best = {best.upper, best.plan, 0};
    for (const auto& [split, sides] : sides_) {
        const Feature& feature = recursion_.nodes().features()[split.first];
        KnownNode::Point point{};
        point.split = {feature.column, split.second, feature.rank};
        point.left = sides.left;
        point.right = sides.right;
        checkpoint.root.points.push_back(std::move(point));
    }
    if (with_sets) {
        checkpoint.sets = recursion_.proven().known();
        const std::lock_guard<std::mutex> held(lock_);
        for (const auto& [thread, sets] : of_threads_)
            checkpoint.sets.insert(checkpoint.sets.end(), sets.begin(), sets.end());
    }
    context.checkpoint->write(checkpoint);
}

void BitProof::tell(std::size_t thread, std::vector<KnownSet> sets) {
    const std::lock_guard<std::mutex> held(lock_);
    of_threads_[thread] = std::move(sets);
}

}  // namespace provetree
