// The root of the bit search; see bits/bit_root.hpp.
#include "bits/bit_root.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <vector>

namespace provetree {

namespace {

constexpr double kLeastSets = 10'000;  // sets of conditions below which threads take longer to start than they save
constexpr std::chrono::seconds kBetweenTelling{15};

// Solves splits of the root for whoever has them.
class BitWorker final : public SplitWorker {
  public:
    BitWorker(BitRecursion& recursion, const BitRoot& root) : recursion_(recursion), root_(root) {}

    SplitAnswer solve(const SplitTask& task) override {
        BitNode& node = recursion_.nodes().root();
        const Division share{task.left, task.right, task.split.left_splits};
        const std::uint32_t feature = recursion_.nodes().feature_at({task.split.column, task.split.rank});
        SideCosts sides{task.least_left, task.least_right};
        SplitAnswer answer;
        answer.best = recursion_.solve_split(node, share, feature, sides, task.cut, 0);
        answer.least_left = sides.left;
        answer.least_right = sides.right;
        // The root will raise what its other splits cost at least. That is work of this thread.
        if (sides.sum() > 0 && root_.raises()) recursion_.nodes().report_raise(node);
        return answer;
    }

  private:
    BitRecursion& recursion_;
    const BitRoot& root_;
};

// A thread beside the one that called the search, with what it needs of its own.
struct BitThread {
    BitThread(BitRecursion& leader, const BitRoot& root, BitProof& proof, Team& team, std::size_t number)
        : monitor(team,
                  [this, &proof, number, file = leader.context().checkpoint] {
                      if (file) tell(proof, number, *file);
                      return true;
                  }),
          context(leader.context(), monitor,
                  leader.context().memory_limit / static_cast<std::uint64_t>(leader.context().n_jobs)),
          recursion(context, leader.nodes().kernel(), leader.loss()), worker(recursion, root) {
        leader.bottoms().share_with(recursion.bottoms());
    }

    // Now and then, for the checkpoint.
    void tell(BitProof& proof, std::size_t number, const CheckpointFile& file) {
        if (CheckpointFile::Clock::now() < next_telling) return;
        proof.tell(number, recursion.proven().known());
        next_telling =
            CheckpointFile::Clock::now() + std::min<CheckpointFile::Clock::duration>(kBetweenTelling, file.between());
    }

    CheckpointFile::Clock::time_point next_telling{};
    Monitor monitor;
    Context context;
    BitRecursion recursion;
    BitWorker worker;
};

}  // namespace

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
        KnownNode::Point& point = checkpoint.root.points.emplace_back();
        point.split = {feature.column, split.second, feature.rank};
        point.left = sides.left;
        point.right = sides.right;
    }
    if (with_sets) {
        checkpoint.sets = recursion_.proven().known();
        const std::lock_guard<std::mutex> held(lock_);
        for (const auto& [thread, sets] : of_threads_)
            checkpoint.sets.insert(checkpoint.sets.end(), sets.begin(), sets.end());
    }
    context.checkpoint->write(checkpoint);
}

BitRoot::BitRoot(BitRecursion& recursion, Shape shape, Cost limit, Incumbent& found)
    : recursion_(recursion), node_(recursion.nodes().root()), shape_(shape.on(static_cast<Index>(node_.size()))),
      limit_(limit), found_(found), best_{recursion.loss().leaf(node_.leaf_error()), nullptr, 0},
      reported_(best_.upper) {}

RootTasks::Next BitRoot::next(Cost, bool, SplitTask& task) {
    if (over_) return Next::kOver;
    const Cost cut = std::min(limit_, best_.upper);
    const bool any = splits_->next(cut, [&](std::uint32_t feature, const Division& share, SideCosts& sides) {
        return proof_ && proof_->recall(feature, share, sides);
    });
    if (!any) return Next::kNothing;
    const Feature& split = recursion_.nodes().features()[splits_->feature()];
    const Division& share = splits_->share();
    task.number = splits_->feature();
    task.split = {split.column, share.left_splits, split.rank};
    task.left = share.left;
    task.right = share.right;
    task.least_left = splits_->sides().left;
    task.least_right = splits_->sides().right;
    task.bound = splits_->sides().sum() + recursion_.loss().split_penalty;
    task.cut = cut;
    return Next::kTask;
}

bool BitRoot::settle(SplitTask& task, SplitAnswer& answer) {
    const std::uint32_t feature = static_cast<std::uint32_t>(task.number);
    const SideCosts sides{answer.least_left, answer.least_right};
    if (sides.sum() > 0) splits_->raise_apart(feature, sides);
    splits_->tried(feature, task.split.left_splits, sides);
    if (best_.offer(answer.best)) {
        found_.offer(best_);
        over_ = proof_ && recursion_.leaves_no_errors(best_.upper);
    }
    if (proof_ && !over_) proof_->note(feature, task.split.left_splits, sides);
    return true;
}

void BitRoot::report(Cost) {
    if (best_.upper < reported_) {
        reported_ = best_.upper;
        if (listener_ && *listener_) (*listener_)(reported_, 0);
    }
    if (proof_ && !over_) proof_->save_if_due(found_);
}

Proven BitRoot::solve() {
    if (proof_ && threads_pay()) return solve_by_threads();
    BitWorker worker(recursion_, *this);
    SerialExecutor executor(worker);
    return solve_by(executor);
}

Proven BitRoot::solve_by(Executor& executor) {
    if (std::optional<Proven> answer = recursion_.answer_at_hand(node_, shape_, limit_, 0)) return *std::move(answer);
    splits_.emplace(recursion_.splits_of(node_, shape_, std::min(limit_, best_.upper), 0));
    Context& context = recursion_.context();
    if (context.text_tasks()) executor.pass_as_text(context.profile_bytes);
    {
        // Meanwhile the file is looked after from inside the search, too.
        const auto release = [](CheckpointFile* file) { file->keep_by(nullptr); };
        const std::unique_ptr<CheckpointFile, decltype(release)> file(proof_ ? context.checkpoint : nullptr, release);
        if (file) file->keep_by([&] { executor.with_root([&] { proof_->save_if_due(found_); }); });
        Cost left = kInfinite;
        executor.run(*this, left);
    }
    if (over_) return {0, best_.upper, best_.plan};
    return recursion_.conclude(node_, shape_, limit_, best_, splits_->least(), 0);
}

bool BitRoot::threads_pay() const {
    const Context& context = recursion_.context();
    // Whoever listens hears of closings from one thread, in its order.
    if (context.n_jobs == 1 || shape_.depth < 3 || context.closings.heard()) return false;
    const double features = static_cast<double>(recursion_.nodes().features().size());
    return context.eager_threads() || (shape_.depth >= 4 && std::pow(features, shape_.depth - 2) >= kLeastSets);
}

Proven BitRoot::solve_by_threads() {
    BitWorker worker(recursion_, *this);
    ThreadExecutor executor(worker, recursion_.context().monitor);
    const std::vector<KnownSet> known =
        recursion_.context().checkpoint ? recursion_.proven().known() : std::vector<KnownSet>();
    std::vector<std::unique_ptr<BitThread>> threads;
    for (int i = 1; i < recursion_.context().n_jobs; ++i) {
        threads.push_back(std::make_unique<BitThread>(recursion_, *this, *proof_, executor.team(), threads.size()));
        threads.back()->recursion.proven().add(known);
        executor.add(threads.back()->worker);
    }
    Proven proven;
    std::exception_ptr failure;
    try {
        proven = solve_by(executor);
    } catch (...) {
        failure = std::current_exception();
    }
    // What they have done counts as done by this one.
    for (const auto& thread : threads) {
        recursion_.context().counters.add(thread->context.counters);
        recursion_.proven().add(thread->recursion.proven());
    }
    proof_->forget_threads();
    if (failure) std::rethrow_exception(failure);
    return proven;
}

}  // namespace provetree
