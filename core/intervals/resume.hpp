// What a search whose proof is kept on disk knows of the nodes between the root and the one it is at. Private to
// TreeSearch.
//
// One split of the root can take hours. So each thread keeps its way down: the searches it is inside of, the split that
// each of them is trying, and the side of it that is done already. When the file is due, all of them are written; a
// search that goes on takes each of them up when it comes to the same node again, and tries the same splits first. Only
// searches with a file have a chain: without one nothing of this is done.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "intervals/frame.hpp"
#include "proof/checkpoint.hpp"

namespace provetree {

struct TreeSearch::Chain {
    using Clock = CheckpointFile::Clock;

    // What the threads of one search have in common.
    class Common {
      public:
        Common(CheckpointFile& of, std::vector<KnownNode> known)
            : file(of), known_(std::move(known)), left_(known_.size()) {}

        CheckpointFile& file;
        std::mutex* root_lock = nullptr;  // over the search of the root, while several threads are at it

        // What the file knew of a node.
        std::optional<KnownNode> known(const std::vector<KnownNode::Step>& way);
        // A split is solved: nodes below it are not met again.
        void forget(const std::vector<KnownNode::Step>& way, const SplitName& split);
        // A thread that does not lead tells what it is at.
        void publish(std::size_t who, std::optional<SplitName> at_root, std::vector<KnownNode> nodes);
        // Adds what the others told and what is known still of nodes that are not among those below.
        void add_to(Checkpoint& checkpoint);

      private:
        struct Told {
            std::optional<SplitName> at_root;
            std::vector<KnownNode> nodes;
        };
        std::mutex lock_;
        std::vector<KnownNode> known_;
        std::atomic<std::size_t> left_;
        std::vector<Told> told_;  // by thread
    };

    // A node on the way down and the split that is tried there.
    struct Link {
        const Frame* frame = nullptr;  // null where its search has not begun
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

    Chain(const TreeSearch& of, std::shared_ptr<Common> with, std::size_t number)
        : search(of), common(std::move(with)), who(number), next_(Clock::now()) {}

    void begin(std::size_t level, const SplitName& split);
    void go(std::size_t level, bool right) { links[level].step.right = right; }
    void side_done(std::size_t level, const Outcome& outcome, Shape shape, Index rows);
    void split_done(std::size_t level);
    // What is known from before about the node that the splits tried lead to.
    std::optional<KnownNode> known(std::size_t level) const { return common->known(way(level)); }
    // All nodes below the root on this way, and those a stop has left behind.
    std::vector<KnownNode> nodes() const;
    std::optional<SplitName> at_root() const;
    // A thread that does not lead tells the others, if it is time or if it must.
    void tell(bool at_once);

    const TreeSearch& search;
    std::shared_ptr<Common> common;
    std::size_t who;
    std::vector<Link> links;          // by level
    std::vector<KnownNode> stranded;  // left by searches that a stop has unwound

  private:
    std::vector<KnownNode::Step> way(std::size_t level) const;
    void add_nodes(std::size_t level, std::vector<KnownNode>& nodes) const;
    friend class Visit;

    Clock::time_point next_;
};

// A search of a node is on the chain from `arrive` on until it ends. That of the root opens the chain, and closes it.
class TreeSearch::Visit {
  public:
    Visit(TreeSearch& search, Frame& frame, bool opens);
    ~Visit();
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

    // Its splits are listed: takes up what is known of them.
    void arrive();
    // A stop unwinds the search: what it knows stays. (The root writes it.)
    void strand();

  private:
    TreeSearch& search_;
    Frame& frame_;
    bool opens_;
    std::shared_ptr<Chain> chain_;
};

}  // namespace provetree
