// A split of the root as a task, and its answer: plain data. Threads hand them over in memory; other processes and
// machines get them as text (`pack`, `unpack_task`, `unpack_answer`).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/byte_count.hpp"
#include "loss/loss.hpp"
#include "proof/checkpoint.hpp"
#include "run/context.hpp"
#include "sweeps/profile.hpp"
#include "tree/outcome.hpp"

namespace provetree {

// Both sides of one split, to be solved for trees that together cost less than `cut`.
struct SplitTask {
    std::uint64_t number = 0;  // by which the root knows what the answer is about
    SplitName split;
    Shape left, right;                     // of the sides
    Cost bound = 0;                        // what trees that begin with the split, or with one near it, cost at least
    Cost cut = kInfinite;                  // trees below this are looked for; what the split costs is part of it
    Cost price = 0;                        // of the column of the split, where its path has not paid it; under rules
    Cost least_left = 0, least_right = 0;  // what the sides cost at least
    // The rest is for the search by sweeps.
    Cost slack = 0;  // the budget of the sides is raised by this, so that their bounds say more
    Cost most_left = kInfinite, most_right = kInfinite;           // what trees of the sides are known to cost at most
    ProfilePtr inner_left, outer_left, inner_right, outer_right;  // bounds of subsets and supersets of the sides
    std::uint64_t sample = 0;  // number of the sample of rows that the sides are solved on
    Weight sample_weight = 0;
    // Of a split further down: its node, for workers that share the memory of the root. It stays where it is until all
    // answers about its splits are there.
    const Node* node = nullptr;
    // For workers that do not share the memory of the root: how the node of the split is reached from the root (a split
    // of the root itself: no steps), and the rows of the sample, four to a letter; null: all rows.
    std::vector<KnownNode::Step> path;
    std::shared_ptr<const std::string> sample_rows;
};

struct SplitAnswer {
    Outcome left, right;                   // as far as they were solved
    Cost least_left = 0, least_right = 0;  // what the sides cost at least: known before, or proven
    Incumbent best;                        // the best tree that begins with the split; kInfinite where none was found
    // Sides that a cap on effort has left unsolved. What was found out about them is in their profiles.
    bool left_open = false, right_open = false;
    Counters done{};          // what a worker elsewhere has counted
    std::uint64_t steps = 0;  // and the steps that it took

    bool open() const { return left_open || right_open; }
};

// What all tasks of one search have in common.
struct Job {
    Loss loss;
    std::int64_t min_leaf = 1;
    unsigned switches = 0;
    bool remembers_sets = false;
};

std::string pack(const SplitTask& task);
std::string pack(const SplitAnswer& answer);
std::string pack(const Job& job);
// The profiles that come with them are counted in `held`. Throws std::invalid_argument where the text is neither.
SplitTask unpack_task(const std::string& text, ByteCount& held);
SplitAnswer unpack_answer(const std::string& text, ByteCount& held);
Job unpack_job(const std::string& text);

// Rows of a sample as letters, and back. Throws std::invalid_argument where the letters are not of so many rows.
std::string letters_of(const std::vector<std::uint8_t>& marked);
std::vector<std::uint8_t> rows_of_letters(const std::string& letters, Index rows);

}  // namespace provetree
