// What is proven of the grandchildren of a node: of the rows that pass two splits, whichever of the two comes first.
//
// The rows with a <= x and b <= y are met below the split of a, and again below that of b. With F(R) the least cost of
// any tree of the grandchildren's depth on the rows R, and P the rows that something was proven of:
//
// - P within R: F(R) >= F(P), because the best tree of R costs no more on some of its rows;
// - R within P: F(R) >= F(P) - weight of P without R, because the best tree of R gets at most these wrong on P.
//
// Losses other than errors have both as well: a row adds nothing below zero and at most its reach, which is its weight.
//
// Rows of a sample stay in it. So P of an earlier sample is within what the same two splits let pass now, and tells of
// R in the first way only; P of a later sample tells nothing. What samples weigh tells which is the later one.
#pragma once

#include <memory>
#include <shared_mutex>
#include <vector>

#include "loss/loss.hpp"
#include "run/context.hpp"
#include "sweeps/node.hpp"
#include "sweeps/profile.hpp"

namespace provetree {

class PairBounds {
  public:
    // Kept only while all that the search holds for relatives takes less than its limit on memory.
    explicit PairBounds(Context& context)
        : context_(context), columns_(context.table.columns), kept_(std::make_shared<Kept>(context.profile_bytes)) {
        kept_->lists.resize(std::size_t{columns_} * columns_ * 4);
    }
    // Of another thread at the same node: what one proves both know.
    PairBounds(Context& context, const PairBounds& other)
        : context_(context), columns_(other.columns_), kept_(other.kept_) {}

    // To be called with the weight of the rows that are divided, before each split: it tells one sample from the next.
    // What was kept since the split before is known from now on.
    void on_rows(Weight weight);

    // The rows of one side of a split that are on one side of another, of this weight, cost at least this.
    void keep(const SideOf& one, const SideOf& other, Cost bound, Weight weight);

    // Adds what is known of the splits of a column to the hints of a node, which is one side of a split.
    void add_hints(const SideOf& side, const Node& node, const NodeColumn& column, const Loss& loss,
                   std::vector<DeepPoint>& hints);

  private:
    static constexpr std::size_t kMostPoints = 4096;  // of a list; each is read for each node

    struct Point {
        Index rank[2];  // of the lower column, of the higher one
        Weight weight;
        Weight divided;  // weight of the rows that were divided: of the sample, or of all
        Cost bound;
    };
    struct NewPoint {
        std::size_t list;
        Point point;
    };
    // What all threads know.
    struct Kept {
        explicit Kept(ByteCount& of_search) : held(of_search) {}
        ~Kept() { held -= bytes; }
        Kept(const Kept&) = delete;
        Kept& operator=(const Kept&) = delete;

        std::shared_mutex lock;
        std::vector<std::vector<Point>> lists;
        std::uint64_t bytes = 0;
        ByteCount& held;
    };
    void publish();
    bool place(const SideOf& side, const Node& node, const NodeColumn& column, const Loss& loss);
    void find_positions(const Node& node, const NodeColumn& column);
    void drop_implied();
    std::size_t list(const SideOf& lower, const SideOf& higher) const {
        return (std::size_t{lower.column} * columns_ + higher.column) * 4 + lower.right * 2 + higher.right;
    }

    Context& context_;
    Index columns_;
    std::shared_ptr<Kept> kept_;
    std::vector<NewPoint> new_;  // not yet known to others
    Weight weight_ = 0;
    std::vector<Cost> at_[2];         // by position in the node: bounds of either side
    std::vector<Index> position_of_;  // by rank: rows of the node up to it
};

}  // namespace provetree
