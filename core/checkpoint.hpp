// What a long proof leaves on disk, so that another process can go on with it: the best tree, and the bounds of the splits of the root that were
// tried. The file is replaced as a whole, so a process that is killed at any moment leaves the old one or the new one, and it carries a fingerprint of
// the problem and a sum over its content.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node.hpp"
#include "plan.hpp"
#include "types.hpp"

namespace provetree {

struct Checkpoint {
    // Bounds of the two sides of a split of the root, whatever the sample of rows they were proven on.
    struct Point {
        Index column;
        std::int64_t left_splits;  // the budget of the left child
        Index rank;
        Cost left, right;
    };
    Cost upper = kInfinite;
    PlanPtr plan;
    std::vector<Point> points;
};

// What a problem is told by: the table, the limits and the objective.
std::uint64_t fingerprint_of(const Table& table, int max_depth, std::int64_t max_splits, std::int64_t min_leaf, const Objective& objective);

class CheckpointFile {
  public:
    using Clock = std::chrono::steady_clock;

    CheckpointFile(std::string path, std::uint64_t fingerprint, double seconds_between);

    // What the file holds; nothing where there is none. Throws std::invalid_argument where it is damaged or belongs to another problem.
    std::optional<Checkpoint> read() const;
    // Whether it is time to write again.
    bool due() const { return Clock::now() >= next_; }
    void write(const Checkpoint& checkpoint);
    void remove() const;

  private:
    std::string path_;
    std::uint64_t fingerprint_;
    Clock::duration between_;
    Clock::time_point next_;
};

}  // namespace provetree
