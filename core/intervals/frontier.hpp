// The search of one node of depth three or more while it goes on: what is open, what is settled, the best tree so far.
//
// An interval lies between two settled splits of one column and one division of the split budget. Its lower bound comes
// from its ends; the interval of the lowest bound is shrunk by the Lipschitz bounds, a split in its middle is tried,
// and its two halves go back into the heap. The search ends when the lowest bound is no better than the best tree.
//
// The frontier solves nothing itself: it makes a task of a split and takes the answer.
#pragma once

#include <algorithm>
#include <deque>
#include <queue>
#include <vector>

#include "loss/loss.hpp"
#include "proof/checkpoint.hpp"
#include "run/context.hpp"
#include "sweeps/labelled_sides.hpp"
#include "sweeps/open_splits.hpp"
#include "sweeps/profile.hpp"
#include "tasks/split_task.hpp"
#include "tree/outcome.hpp"

namespace provetree {

// What is known of a node with many columns before any of its splits is tried.
struct Survey {
    Cost whole = 0;                    // what all rows cost with a level less, at least
    std::vector<std::uint32_t> order;  // by column of the node, the most promising first; empty where nothing is known
};

// What the rows of blocks of a column cost by themselves, up to the end of one of them, without penalties for splits.
//
// A tree for the rows before x serves the rows before a < x and those between, and pays its penalties once. So it costs
// at least what the best tree for the former does, with penalties, and what the best one for the latter gets wrong:
// l(x) >= l(a) + F(rows between a and x), and the same for the other side and for block after block.
struct BlockEnd {
    Index position;
    Cost sum;
};

inline bool by_position(const DeepPoint& a, const DeepPoint& b) { return a.position < b.position; }

// Merges points of one position, tightens all from their neighbours and drops those that say nothing more than these.
void tidy(std::vector<DeepPoint>& points, const Loss& loss);

// What the relatives know of the splits of a column with one division of the split budget, by position in the node.
std::vector<DeepPoint> hints_from(Relatives relatives, const Node& node, const NodeColumn& column,
                                  std::int64_t left_splits, const Loss& loss);

// What a side of a split that was solved to its end leaves on disk.
KnownNode record_of(const Outcome& outcome, Shape shape, Index rows);

// The preferred split of a tree.
TieChoice choice_of(const Context& context, const Node& node, const Incumbent& best);

class Frontier {
  public:
    struct Interval {
        Cost bound;
        std::uint32_t family;
        std::uint32_t a, b;  // numbers of the points at its ends
        Index size;
        Positions open;       // all splits that can still win lie between these
        std::uint32_t order;  // of its column, the most promising first
        bool operator<(const Interval& other) const {
            if (bound != other.bound) return bound > other.bound;
            return order != other.order ? order > other.order : size < other.size;
        }
    };
    // A split that is tried.
    struct Attempt {
        Interval interval{};
        Index position = 0;
    };
    static constexpr std::uint32_t kNoPoint = ~std::uint32_t{0};

    // `start` is the tree to beat. With `ties` the split that the tie rule prefers is looked for, too. The weights of
    // the node may change later, where they are those of a sample.
    Frontier(Context& context, const Loss& loss, const Node& node, const NodeRequest& request, const Incumbent& start,
             TieChoice* ties);

    // Lists all splits; to be called first.
    void open(const Survey& survey);

    // The split to try next. False where nothing is open that can still win. `beside`: where all that is open is being
    // tried, what lies beside one of these splits is opened before its answer is there.
    bool next(Attempt& attempt, bool beside = false);
    // The split with all that is known of its sides.
    SplitTask task_of(const Attempt& attempt) const;
    // Keeps what was found out about a split, and what is still open beside it. `same_rows`: the rows it was solved on
    // are those of the node; otherwise they are a part of them.
    void settle(const Attempt& attempt, const SplitAnswer& answer, bool same_rows);

    // Takes over what blocks of a column cost by themselves: their ends, and the sums up to them, the first of which is
    // {0, 0}.
    void take_blocks(Index column, const std::vector<BlockEnd>& ends);

    // A split of that cost becomes the best so far.
    void accept(const Attempt& attempt, Cost cost, PlanPtr plan);
    // Takes over a tree that was found elsewhere, where it is better.
    void offer(const Incumbent& found);
    // Less is asked for than before: trees of this cost and more are of no use any longer.
    void lower_limit(Cost limit) { limit_ = std::min(limit_, limit); }
    // The sample has grown by rows of this weight: weights between splits are those of the new sample, trees of the old
    // one may get the new rows wrong, and what was proven on it holds for fewer rows now.
    void sample_has_grown(Weight added);

    // The answer, once nothing is open.
    Outcome finished(bool keep_profile);
    // Bounds of all splits that are settled, for relatives of the node.
    ProfilePtr make_profile() const;

    // What it leaves on disk, and how another one goes on from there once its splits are listed
    // (intervals/frontier_record.cpp). What is known holds for all rows of the node, because it was proven on these
    // rows or on some of them. Trees are taken over where the rows are the same.
    KnownNode record() const;
    void take_up(const KnownNode& known);

    const Node& node() const { return node_; }
    const Outcome& outcome() const { return outcome_; }
    Shape shape() const { return shape_; }
    std::size_t level() const { return level_; }
    Cost limit() const { return limit_; }
    std::uint64_t sample() const { return sample_; }
    SplitName name_of(std::uint32_t family, Index position) const {
        return {column(family).id, families_[family].share.left_splits, column(family).ranks[position - 1]};
    }
    // The least bound of what is open and not being tried.
    Cost least_open() const;
    // Trees below this are looked for; with ties also those equal to the best.
    Cost cut() const {
        return std::min(limit_, ties_ && outcome_.upper < kInfinite ? outcome_.upper + 1 : outcome_.upper);
    }
    // Under the tie rule a column after the preferred one must be strictly better.
    Cost cut(std::uint32_t family) const {
        return ties_ && ties_->any && column(family).id > ties_->column ? std::min(limit_, outcome_.upper) : cut();
    }

  private:
    // The splits of one column with one division of the split budget.
    struct Family {
        Index column;  // index into the node's columns
        Division share;
        std::vector<DeepPoint> hints;  // bounds taken over from relatives, by position: they settle no split
        std::uint32_t order;
        std::vector<std::uint32_t> settled;  // numbers of points
        std::vector<BlockEnd> blocks;        // by position; empty where they are not known
        // What the blocks between two positions cost.
        Cost between(Index from, Index upto) const;
    };
    // A split that was handed out, and the number of its point where that was needed before its answer.
    struct Trying {
        Attempt attempt;
        std::uint32_t early = kNoPoint;
    };
    // What is open between two points: the least bound (with the penalty), the stretch that has it, and all of it.
    struct Opening {
        Cost bound = 0;
        Positions stretch{}, all{};
    };

    // The points before the first and after the last split of a family.
    static std::uint32_t low_end(std::uint32_t family) { return 2 * family; }
    static std::uint32_t high_end(std::uint32_t family) { return 2 * family + 1; }
    const NodeColumn& column(std::uint32_t family) const { return node_.columns[families_[family].column]; }

    int direction_of(const NodeColumn& column) const {
        return context_.rules ? context_.rules->direction(column.id) : 0;
    }
    // What asking about a column costs here, beside the penalty of a split.
    Cost price_of(const NodeColumn& column) const {
        return context_.rules ? loss_.leaf(context_.rules->price(column.id, node_.paid)) : 0;
    }
    // What the leaf beside a split with a direction gets wrong; null where there is none, or where it is not counted.
    const LabelledSides* labelled(std::uint32_t family) const {
        const Index c = families_[family].column;
        return labelled_.empty() || !direction_of(node_.columns[c]) ? nullptr : &labelled_[c];
    }
    bool leaf_on_right(std::uint32_t family) const { return families_[family].share.right.depth == 0; }
    void count_leaves();
    std::uint32_t add_point(std::uint32_t family, DeepPoint&& point);
    void count_relaxed(const DeepPoint& point);
    bool look_between(std::uint32_t family, const DeepPoint& a, const DeepPoint& b, Positions within,
                      Opening& opening) const;
    // The interval between two points, as far as it is open within these positions. False where it is closed.
    bool find_interval(std::uint32_t family, std::uint32_t a, std::uint32_t b, Positions within, Interval& interval);
    void push(std::uint32_t family, std::uint32_t a, std::uint32_t b, Positions within);
    bool next_resumed(Attempt& attempt);
    bool next_open(Attempt& attempt);
    bool open_beside();
    std::uint32_t early_point_of(const Attempt& attempt);
    bool is_early(std::uint32_t point) const;
    std::uint32_t no_longer_tried(const Attempt& attempt);
    void tighten(std::uint32_t early, DeepPoint&& answer);
    Index choose_position(const Interval& interval, const Opening& opening) const;
    Index widest_tie(const Interval& interval) const;
    Cost bound_of_small_sides() const;
    void close(std::uint32_t family, Positions closed, Cost bound, Reason reason);
    // Of taking up what is known:
    bool still_settled(const KnownNode& known);
    DeepPoint placed(const KnownNode& known, const KnownNode::Point& of, std::uint32_t family, Index position) const;
    void settle_known(std::uint32_t family, std::vector<DeepPoint> ends, const KnownNode& known);
    void list_between(std::uint32_t family, std::uint32_t a, std::uint32_t b, const KnownNode& known);
    void close_beside(std::uint32_t family, std::uint32_t a, std::uint32_t b, Positions within, Positions open);

    Context& context_;
    const Loss& loss_;
    const Node& node_;
    Shape shape_;
    Cost limit_;
    Relatives relatives_;
    std::size_t level_;
    PairBounds* pairs_;
    SideOf side_;
    TieChoice* ties_;
    Outcome outcome_;
    Cost relaxed_;  // least relaxed bound of the splits settled
    std::vector<Family> families_;
    std::vector<LabelledSides> labelled_;  // by column of the node; empty where no column has a direction
    std::deque<DeepPoint> points_;         // stable: intervals refer to them by number
    std::priority_queue<Interval> heap_;
    std::vector<Trying> trying_;
    std::vector<Attempt> resumed_;  // splits that an earlier search was at: they are tried before all others
    std::uint64_t sample_ = 0;      // times the sample of rows has grown
};

}  // namespace provetree
