// Depth two over more columns than are kept: the exact optimum of a root whose sums are ordered when they are wanted.
//
// A round chooses splits of many columns and marks the rows on their left. Then every column is ordered once and swept
// below all of these splits; what lies between two evaluated splits is bounded from both, as in sweeps/depth_two.hpp.
// Memory is that of the rows, of the marks of a round, and of as many orders as there is room for.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "loss/loss.hpp"
#include "run/context.hpp"
#include "streamed/sum_columns.hpp"
#include "sweeps/panel.hpp"

namespace provetree {

// The fewest errors of a split of one column, whatever the leaf sizes and with the minimum; more than all rows where
// there is no split.
struct ColumnStump {
    Weight relaxed, feasible;
};

// What is proven of all trees with two or three splits, and the columns of the best one where it beats what was known.
struct StreamedAnswer {
    Cost upper = kInfinite, lower = 0;
    bool complete = false;  // not: it was stopped
    StopReason reason = StopReason::kTimeLimit;
    std::vector<std::size_t> sums;  // of the best tree
    std::size_t rounds = 0, ordered = 0;
};

class StreamedTwo {
  public:
    // `room`: bytes for orders that are kept.
    StreamedTwo(Context& context, const Node& root, const SumColumns& sums, const Loss& loss, std::int64_t splits,
                std::size_t room);

    // Of each column: those of the root first, then the sums.
    std::vector<ColumnStump> stumps();
    // Proves that no tree costs less than `known`, or finds the best that does.
    StreamedAnswer prove(Cost known, const std::vector<ColumnStump>& stumps);
    // Where the proof stands, for those who look on.
    Cost upper() const { return upper_; }
    Cost lower() const { return std::min(lower_, upper_); }

  private:
    // Bounds at an evaluated split, or at an end of a column.
    struct Point {
        Weight weight;  // of the rows going left
        Weight leaf_left, leaf_right, stump_left, stump_right;
        bool nothing_after = false;  // what is open between it and the next holds no split

        static constexpr auto sides() {
            using Pair = std::pair<Weight Point::*, Weight Point::*>;
            return std::array<Pair, 2>{Pair{&Point::leaf_left, &Point::leaf_right},
                                       Pair{&Point::stump_left, &Point::stump_right}};
        }
    };
    struct Region {
        std::size_t column, point;  // behind this point
        Weight from, upto;          // weights on the left that are open
        Cost bound;
    };
    struct Split {
        std::size_t column;
        Weight weight;
    };
    // 64 splits, the rows on their left, and what is below them.
    struct Marked {
        std::vector<Split> splits;
        std::vector<std::uint64_t> masks;
        TwoClassSums two;
        ManyClassSums many;
    };
    struct KeptOrder {
        RawVector<std::uint32_t> order;
        Index checks = 0;
        bool no_ties = false;
    };
    struct Best {
        Split split{};
        bool split_left = false, split_right = false, any = false;
    };

    std::size_t n_columns() const { return root_.columns.size() + sums_.size(); }
    const NodeColumn* load(std::size_t c);
    template <class Use>
    void each_order(const Use& use);
    ColumnStump stump_of(const NodeColumn& column);
    Cost side_cost(Weight leaf, Weight stump, bool split) const;
    bool range_between(const Point& a, const Point& b, Region& region) const;
    void find_regions();
    void choose_regions(std::size_t& each);
    void mark_splits(std::size_t each);
    void add_splits(const Region& region, const NodeColumn& column, std::size_t wanted);
    void mark(const NodeColumn& column, Marked& panel, std::size_t begin);
    void start_sums();
    void sweep(const SweepColumn& column, Marked& panel);
    LaneResult result_of(const Marked& panel, int lane) const;
    void take_results();
    void consider(const Split& split, const LaneResult& result);
    Cost side_of_tree(const SideErrors& side, bool split) const;
    std::vector<std::size_t> sums_of_best();
    void find_columns_below(std::vector<std::size_t>& columns);

    Context& context_;
    const Node& root_;
    const SumColumns& sums_;
    const Loss loss_;
    const std::int64_t splits_;
    std::size_t room_;
    bool keeps_all_ = true;  // there was room for every order so far
    bool two_classes_;
    LaneWidth width_two_, width_many_;
    LoadedColumn loaded_;
    std::vector<KeptOrder> kept_;
    std::vector<std::uint8_t> constant_;  // columns found to be
    std::vector<std::vector<Point>> points_;
    std::vector<Weight> stump_;
    std::vector<Region> regions_;
    std::vector<std::uint32_t> chosen_;
    std::vector<Marked> panels_;
    std::size_t n_panels_ = 0;
    std::vector<unsigned char> scratch_;
    std::vector<Weight> seen_, after_;
    Cost upper_ = kInfinite, lower_ = 0;
    Weight best_stump_ = 0;
    Best best_;
    StreamedAnswer answer_;
};

}  // namespace provetree
