// What every part of one search shares: table, constraints, kernel, limits, counters. One per call, nothing global.
#pragma once

#include <cstdint>
#include <optional>

#include "base/byte_count.hpp"
#include "base/limits.hpp"
#include "base/types.hpp"
#include "kernels/kernel.hpp"
#include "run/closing.hpp"
#include "run/rules.hpp"
#include "table/rank_rows.hpp"
#include "table/table.hpp"
#include "tree/outcome.hpp"

namespace provetree {

class CheckpointFile;
class TaskExchange;

// Parts that can be switched off one by one, so that tests can show that none of them changes the answer.
enum Switch : unsigned {
    kNoLipschitz = 1u << 0,    // bounds from the weight between two splits
    kNoSlack = 1u << 1,        // raised budgets of children
    kNoInheritance = 1u << 2,  // bounds taken over from nested row sets
    kNoPacking = 1u << 3,      // several columns in one panel
    kNoStart = 1u << 4,        // greedy first tree
    kNoTieRule = 1u << 5,      // canonical choice among optimal trees
    kNoClassCounts = 1u << 6,  // bounds from the two largest classes of a side
    kNoLazyRows = 1u << 7,     // children solved on a sample of the rows
    kNoBits = 1u << 8,         // the search on binary features
    kNoImprovement = 1u << 9,  // better trees looked for while the proof takes long
    kNoWide = 1u << 10,        // what tables with many columns get
    kNoSplitPairs = 1u << 14,  // bounds of rows that pass two splits, whichever of them comes first
    kNoBlocks = 1u << 18,      // what the rows between two splits cost by themselves, or beside those of a block
    kNoFrames = 1u << 31,      // sums over pairs of columns that all nodes below one share
    // Of searches under rules, and of those for trees below a cost:
    kNoSplitOrder = 1u << 15,   // of two splits with a direction, only one order is looked for
    kNoOpposedRows = 1u << 16,  // rows of which every tree that keeps directions gets one of two wrong
    kNoColumnRuns = 1u << 17,   // what trees of one column cost is known before they are searched
    // Of the search of all sizes:
    kNoSurvey = 1u << 11,        // the node's own rows with a level less, first
    kNoSettledPairs = 1u << 12,  // pairs of small sides left to the survey
    kNoLeafSides = 1u << 13,     // exact costs of leaves beside a subtree
    // For tests: samples of rows on every table, and as small as can be; better trees looked for from the first step
    // on; every table treated as one with many columns.
    kTinySamples = 1u << 20,
    kEagerImprovement = 1u << 21,
    kEagerThreads = 1u << 22,  // threads on bits in every table, and splits shared that take hardly any time
    kAlwaysWide = 1u << 23,
    kTextTasks = 1u << 24,   // splits of the root pass as text
    kNoSharing = 1u << 19,   // a split that takes one thread long stays with it
    kTinyBlocks = 1u << 30,  // blocks of two rows, from the second split on, and of class losses everywhere
    // For tests of the search of all sizes: each takes away a care without which its proof is wrong.
    kLowSurveyLimits = 1u << 25,  // the survey is asked for less than it stands in for
    kSurveyOfAllRows = 1u << 26,  // what holds for all rows is used between splits of a sample
    kNoColumnEnds = 1u << 27,     // samples may lack the ends of columns
    kNoPairsOfLeaves = 1u << 28,  // two leaves are left to a survey that there may not be
    // The same, for tests of the search of one size:
    kPairsOfOldSamples = 1u << 29,  // bounds of rows that pass two splits are taken for those of the sample of today
};

// The names that Python knows the switches by. The first ones switch a part off; the others are for tests alone.
struct NamedSwitch {
    Switch bit;
    const char* name;
};
inline constexpr NamedSwitch kPartSwitches[] = {
    {kNoLipschitz, "lipschitz"},
    {kNoSlack, "slack"},
    {kNoInheritance, "inheritance"},
    {kNoPacking, "packing"},
    {kNoStart, "start"},
    {kNoTieRule, "tie_rule"},
    {kNoClassCounts, "class_counts"},
    {kNoLazyRows, "lazy_rows"},
    {kNoBits, "bits"},
    {kNoImprovement, "improvement"},
    {kNoWide, "wide"},
    {kNoSplitPairs, "split_pairs"},
    {kNoBlocks, "blocks"},
    {kNoFrames, "frames"},
};
inline constexpr NamedSwitch kRuleSwitches[] = {
    {kNoSplitOrder, "split_order"},
    {kNoOpposedRows, "opposed_rows"},
    {kNoColumnRuns, "column_runs"},
};
inline constexpr NamedSwitch kTestSwitches[] = {
    {kTinySamples, "tiny_samples"},   {kEagerImprovement, "eager_improvement"},
    {kEagerThreads, "eager_threads"}, {kAlwaysWide, "always_wide"},
    {kTextTasks, "text_tasks"},       {kTinyBlocks, "tiny_blocks"},
    {kNoSharing, "no_sharing"},
};

inline constexpr NamedSwitch kSizeSwitches[] = {
    {kNoLipschitz, "lipschitz"}, {kNoSlack, "slack"},      {kNoInheritance, "inheritance"},
    {kNoPacking, "packing"},     {kNoStart, "start"},      {kNoClassCounts, "class_counts"},
    {kNoLazyRows, "lazy_rows"},  {kNoWide, "wide"},        {kNoSurvey, "survey"},
    {kNoSettledPairs, "pairs"},  {kNoLeafSides, "leaves"},
};
inline constexpr NamedSwitch kUnsoundSwitches[] = {
    {kPairsOfOldSamples, "pairs_of_old_samples"},
};
inline constexpr NamedSwitch kUnsoundSizeSwitches[] = {
    {kLowSurveyLimits, "low_survey_limits"},
    {kSurveyOfAllRows, "survey_of_all_rows"},
    {kNoColumnEnds, "no_column_ends"},
    {kNoPairsOfLeaves, "no_pairs_of_leaves"},
};

struct Counters {
    std::uint64_t nodes = 0;             // nodes built
    std::uint64_t intervals = 0;         // splits tried with subtrees below both sides
    std::uint64_t depth_two_solves = 0;  // exact depth-two problems
    std::uint64_t panels = 0;            // panels evaluated
    std::uint64_t lanes = 0;             // candidate splits in them
    std::uint64_t row_steps = 0;         // rows x columns x panels swept
    std::uint64_t samples = 0;           // times the sample of rows grew
    std::uint64_t sampled_rows = 0;      // rows of the last sample; all of them where there was none
    std::uint64_t shared = 0;            // splits that took one thread long, and that others joined in at
    std::uint64_t rows_decided = 0;      // rows that every better tree than the first one gets wrong: they are counted
    ByteCount profile_bytes_peak;
    std::uint64_t improvement_steps = 0;   // row steps spent on better trees rather than on the proof
    std::uint64_t improvements = 0;        // better trees found that way
    std::uint64_t targets = 0;             // searches for trees below a target
    std::uint64_t improvement_rounds = 0;  // starts of the improvement

    // Adds what another thread of the same search did.
    void add(const Counters& other) {
        nodes += other.nodes;
        intervals += other.intervals;
        depth_two_solves += other.depth_two_solves;
        panels += other.panels;
        lanes += other.lanes;
        row_steps += other.row_steps;
        samples += other.samples;
        if (other.profile_bytes_peak > profile_bytes_peak) profile_bytes_peak = other.profile_bytes_peak;
    }
};

inline constexpr std::size_t kManyColumns = 64;

// What was found beside the search of the root: the best tree, and a bound that no tree is below.
struct Found : Incumbent {
    Cost bound = 0;
};

struct Context {
    Context(const Table& of_table, const Kernel& of_kernel, std::int64_t least_rows, unsigned off, std::uint64_t bytes,
            Monitor& of_monitor)
        : table(of_table), kernel(of_kernel), min_leaf(least_rows), switches(off), memory_limit(bytes),
          monitor(of_monitor) {}
    // Of a part of the same search, with counters of its own: another thread, or a search on some of the rows. What
    // its profiles take counts together with the others'.
    Context(Context& whole, Monitor& of_monitor) : Context(whole, of_monitor, whole.memory_limit) {}
    // Of the same search on some of the rows, in the same turn; what it counts is its own.
    Context(Context& whole, const Table& of_table)
        : table(of_table), kernel(whole.kernel), min_leaf(whole.min_leaf), switches(whole.switches),
          memory_limit(whole.memory_limit), monitor(whole.monitor), rules(whole.rules),
          profile_bytes(whole.profile_bytes), remembers_sets(whole.remembers_sets) {}
    Context(Context& whole, Monitor& of_monitor, std::uint64_t bytes)
        : table(whole.table), kernel(whole.kernel), min_leaf(whole.min_leaf), switches(whole.switches),
          memory_limit(bytes), monitor(of_monitor), rules(whole.rules), profile_bytes(whole.profile_bytes),
          remembers_sets(whole.remembers_sets) {}
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    const Table& table;
    const Kernel& kernel;
    std::int64_t min_leaf;
    unsigned switches;
    std::uint64_t memory_limit;
    Monitor& monitor;
    const Rules* rules = nullptr;  // that trees must keep; null: none
    Counters counters{};
    ByteCount own_bytes{};
    ByteCount& profile_bytes = own_bytes;  // held by profiles now; profiles are only kept below memory_limit
    int n_jobs = 1;                        // threads of the search of the root
    bool remembers_sets = false;           // of rows, where they are likely to be met again
    bool certifies = false;                // the root keeps what a certificate is made from
    Found found{};                         // the search of the root takes it over
    Closings closings{};

    CheckpointFile* checkpoint = nullptr;  // where the search of the root leaves what it has proven
    TaskExchange* exchange = nullptr;      // has the splits of the root solved elsewhere
    std::uint64_t earlier_steps = 0;       // of the processes before this one
    std::uint64_t all_steps() const { return earlier_steps + monitor.steps(); }

    // Made when first wanted.
    const RankRows& rank_rows() {
        if (!rank_rows_) rank_rows_.emplace(table);
        return *rank_rows_;
    }

    bool constrained() const { return min_leaf > 1; }
    bool off(Switch part) const { return (switches & part) != 0; }
    bool eager_improvement() const { return (switches & kEagerImprovement) != 0; }
    bool eager_threads() const { return (switches & kEagerThreads) != 0; }
    bool text_tasks() const { return (switches & kTextTasks) != 0; }
    bool tiny_samples() const { return (switches & kTinySamples) != 0; }
    // Whether so many columns make it cheap, beside the panels, to ask each one what it can do alone.
    bool wide(std::size_t columns) const {
        return !off(kNoWide) && (columns >= kManyColumns || (columns > 0 && (switches & kAlwaysWide) != 0));
    }

  private:
    std::optional<RankRows> rank_rows_;
};

}  // namespace provetree
