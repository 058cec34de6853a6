// What a proof that is kept on disk notes of the nodes between the root and the one that each thread is at.
//
// One split of the root can take hours. So each thread notes its path: the searches it is inside of, the split that
// each of them is trying, and the side of it that is done already. When the file is due, all of them are written; a
// search that goes on takes each of them up when it comes to the same node again, and tries the same splits first. Only
// proofs with a file have these stacks: without one nothing of this is done.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "intervals/frontier.hpp"
#include "proof/checkpoint.hpp"

namespace provetree {

using Path = std::vector<KnownNode::Step>;  // from the root

// What the threads of one proof have in common.
class ResumeNotes {
  public:
    // `known`: what the file knew of nodes below the root.
    ResumeNotes(CheckpointFile& file, std::vector<KnownNode> known)
        : file_(file), known_(std::move(known)), left_(known_.size()) {}

    CheckpointFile& file() { return file_; }
    // What the file knew of a node.
    std::optional<KnownNode> known(const Path& path);
    // A split is solved: nodes below it are not met again.
    void forget(const Path& path, const SplitName& split);
    // A thread that does not lead tells what it is at.
    void publish(std::size_t who, std::optional<SplitName> at_root, std::vector<KnownNode> nodes);
    // Adds what the others told and what is known still of nodes that are not among those below.
    void add_to(Checkpoint& checkpoint);

  private:
    struct Told {
        std::optional<SplitName> at_root;
        std::vector<KnownNode> nodes;
    };
    CheckpointFile& file_;
    std::mutex lock_;
    std::vector<KnownNode> known_;
    std::atomic<std::size_t> left_;
    std::vector<Told> told_;  // by thread
};

// The path of one thread.
class ResumeStack {
  public:
    ResumeStack(ResumeNotes& notes, std::size_t who) : notes_(notes), who_(who), next_(Clock::now()) {}

    // The root's splits are listed: takes up what is known of them. Its search is on the stack until the end.
    void enter_root(Frontier& root, const KnownNode* known);
    // Whether the root is on the stack already.
    bool begun() const { return !entries_.empty(); }

    // A split is tried, and one side of it after the other.
    void begin(std::size_t level, const SplitName& split);
    void go(std::size_t level, bool right) { entries_[level].step.right = right; }
    void side_done(std::size_t level, const Outcome& outcome, Shape shape, Index rows);
    void split_done(std::size_t level);

    // All nodes below the root on this path, and those a stop has left behind.
    std::vector<KnownNode> nodes() const;
    std::optional<SplitName> at_root() const;
    // A thread that does not lead tells the others, if it is time or if it must.
    void tell(bool at_once);

    // The search of a node below the root has its splits listed: takes up what is known of them. It is on the stack
    // until it leaves, or until an exception unwinds it: then what it knows stays.
    void enter(Frontier& frontier);
    void leave(std::size_t level);
    void unwind(const Frontier& frontier);

  private:
    using Clock = CheckpointFile::Clock;

    // A node on the path, and the split that is tried there.
    struct Entry {
        const Frontier* frontier = nullptr;  // null where its search has not begun
        bool trying = false;
        KnownNode::Step step{};
        // The side that was solved first, where it is deep enough to be kept.
        struct Side {
            KnownNode::Step step;
            Outcome outcome;
            Shape shape;
            Index rows;
        };
        std::optional<Side> done;
    };

    void put(const Frontier& frontier);
    Path path_to(std::size_t level) const;
    void add_nodes(std::size_t level, std::vector<KnownNode>& nodes) const;

    ResumeNotes& notes_;
    std::size_t who_;
    std::vector<Entry> entries_;      // by level
    std::vector<KnownNode> unwound_;  // left by searches that a stop has unwound
    Clock::time_point next_;
};

}  // namespace provetree
