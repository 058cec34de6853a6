// What a long proof leaves on disk, so that another process can go on with it: the best tree, and the bounds of splits
// that were tried at the root and at nodes being searched below it. The file is replaced as a whole, so a process that
// is killed leaves the old one or the new one. It carries a fingerprint of the problem and a sum over its content.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/types.hpp"
#include "loss/loss.hpp"
#include "sweeps/node.hpp"
#include "sweeps/profile.hpp"
#include "tree/plan.hpp"

namespace provetree {

struct Context;

// What is known of a node whose search is not over, or of a side of a split whose other side is still searched.
struct KnownNode {
    struct Step {
        SplitName split;
        bool right;
        bool operator==(const Step&) const = default;
    };
    // Bounds of the two sides of a split, whatever the sample of rows they were proven on. Settled: the split was
    // tried, and no tree that begins with it costs less than `cut`.
    struct Point {
        SplitName split;
        Cost left, right;
        bool settled = false;
        Cost left_upper = kInfinite, right_upper = kInfinite;  // costs of trees of the sides
        // Bounds of the splits of the sides, where they help what is open beside; `whole`: about all their rows.
        ProfilePtr of_left, of_right;
        bool whole = false;
    };
    std::vector<Step> path;  // from the root; none for the root itself
    Shape shape;
    Index rows = 0;
    Weight weight = 0;  // of the sample where there is one
    Incumbent best;
    Cost cut = 0;
    bool by_tie_rule = false;      // of the trees of that cost, the plan is the one preferred so far
    Cost lower = 0, relaxed = 0;   // of the whole node
    std::vector<SplitName> tried;  // splits that are being solved
    std::vector<Point> points;
};

// What the bit search has proven for a set of conditions, by the numbers it has for them.
struct KnownSet {
    std::uint64_t low = 0, high = 0;
    int depth = 0;
    std::int64_t splits = 0;
    Cost lower = 0, upper = kInfinite;
    PlanPtr plan;
};

struct Checkpoint {
    Cost bound = 0;           // no tree costs less
    std::uint64_t steps = 0;  // that the proof has taken so far
    KnownNode root;
    std::vector<KnownNode> below;
    std::vector<KnownSet> sets;
    std::vector<std::uint8_t> sample;  // by row: whether it is in the sample; empty where all rows are searched

    bool first_version = false;  // of the file it was read from: bounds of the root that either search can use

    // Whether it was left by the search on bits, or by the one by sweeps, or says nothing that only one of them can
    // use. The search by sweeps alone says how many rows the root has.
    bool by_sweeps() const { return root.rows > 0; }
    bool by_bits() const;
    // Keeps what holds for any search: the bound, the steps and the tree. Bounds of the bit search are about trees
    // with a minimum leaf size, which the sweeps must not hand to neighbouring splits.
    void forget_method();
};

// What a problem is told by: the table, the limits and the loss.
std::uint64_t fingerprint_of(const Table& table, int max_depth, std::int64_t max_splits, std::int64_t min_leaf,
                             const Loss& loss);

// What every proof keeps: its bound and its steps so far.
Checkpoint checkpoint_of(const Context& context);

class CheckpointFile {
  public:
    using Clock = std::chrono::steady_clock;

    CheckpointFile(std::string path, std::uint64_t fingerprint, double seconds_between);

    // What the file holds; nothing where there is none. Throws std::invalid_argument where it is damaged or belongs to
    // another problem. Its profiles are counted in `held`.
    std::optional<Checkpoint> read(ByteCount& held) const;
    std::invalid_argument damaged() const;
    // Whether it is time to write again.
    bool due() const { return Clock::now() >= next_; }
    Clock::duration between() const { return between_; }
    void write(const Checkpoint& checkpoint);
    void remove() const;

    // Who writes when it is time, if anybody: `look` is called now and then, from inside the search.
    void keep_by(std::function<void()> keeper) { keeper_ = std::move(keeper); }
    void look() const {
        if (keeper_ && due()) keeper_();
    }

  private:
    std::string path_;
    std::uint64_t fingerprint_;
    Clock::duration between_;
    Clock::time_point next_;
    std::function<void()> keeper_;
};

}  // namespace provetree
