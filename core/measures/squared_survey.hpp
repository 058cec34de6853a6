// A survey under squared error: bounds for the splits of all columns, from sums over pairs of families of columns.
//
// A panel sweeps all columns for the splits of one. Where a feature is many columns, as one of categories is, that
// takes long. A survey counts each pair of families once for both ways round, with numbers cut into groups of rows.
#pragma once

#include <cstdint>
#include <vector>

#include "base/raw_vector.hpp"
#include "kernels/pair_kernel.hpp"
#include "kernels/squared_kernel.hpp"
#include "measures/column_families.hpp"
#include "measures/lanes.hpp"

namespace provetree {

class SquaredSurvey {
  public:
    using Points = std::vector<std::vector<MeasuredPoint>>;

    SquaredSurvey(Context& context, const Measure& measure)
        : context_(context), measure_(measure), kernel_(choose_pair_kernel(context.kernel.name)) {}

    // Whether it costs less than panels for so many of the node's columns.
    bool pays(const Node& node, std::size_t open_columns);

    // Forgets the node before.
    void start() { looked_ = false; }

    // `wanted`: the columns of the node to be bounded. `rows` and `targets`: of the node, around a centre. Null where
    // the weights are too large.
    const Points* look(const Node& node, const std::vector<std::uint8_t>& wanted, const SquaredRow* rows,
                       const SquaredTarget* targets);

    // After a survey: what each family can do below the splits of a panel.
    void take_lanes(Index column, const Index* positions, int n);
    // The least that the best stump on a column of the family costs below a lane, in units; 0 without a survey.
    double stump_bound(std::size_t family, int side, int lane) const {
        return bounds_[family * 2 * kLanes + static_cast<std::size_t>(side * kLanes + lane)];
    }
    bool looked() const { return looked_; }
    std::size_t families() const { return n_present_; }
    // Of a column of the node.
    std::size_t family_of(Index column) const { return family_of_[column]; }

  private:
    // Sums over rows: exact but for the squares.
    struct Sums {
        std::int64_t weight = 0, sum = 0;
        double squares = 0;
        void operator+=(const Sums& more) {
            weight += more.weight;
            sum += more.sum;
            squares += more.squares;
        }
    };
    // A split of a column of the node that a lane stands for.
    struct Place {
        Index position;
        int lane;
    };
    struct Family {
        std::vector<std::uint8_t> of_row;
        int codes = 0;
        std::vector<std::int64_t> follows;
        std::vector<int> code;
        std::vector<PairBlock> blocks;
        std::vector<Sums> of_code, of_lane;
        LineVector<double> total_weight, total_target, weight[2], mean[2];
        LineVector<double> found[2];
        LineVector<double> best[2];  // of each family below the lanes of this one: savings, then costs
        std::size_t stride = 0;
        bool wanted = true;
        double promise = 0;  // what the best of its lanes saves by itself
        PairFamily below(std::size_t family) {
            double *const left = best[0].data() + family * stride, *const right = best[1].data() + family * stride;
            return {of_row.data(),
                    codes,
                    static_cast<int>(code.size()),
                    follows.data(),
                    code.data(),
                    blocks.data(),
                    total_weight.data(),
                    total_target.data(),
                    {weight[0].data(), weight[1].data()},
                    {mean[0].data(), mean[1].data()},
                    {found[0].data(), found[1].data()},
                    {left, right},
                    wanted};
        }
    };

    // Rows of a column, from one end of ties to another, that have one code.
    struct Group {
        Index end;
        PairBlock block;
    };
    // A family of the table and the places of its columns in the node.
    struct Present {
        ColumnFamily::Kind kind;
        std::vector<Index> columns;
    };

    void find_families(const Node& node);
    int groups_of(const Node& node) const;
    bool take_rows(const Node& node, const SquaredRow* rows, const SquaredTarget* targets);
    void take_categories(const Node& node, const std::vector<Index>& columns, Family& family);
    void take_ordered(const Node& node, Index column, Family& family);
    void take_missing(const Node& node, Index first, Index last, Family& family);
    void spread_groups(Index rows);
    // Cuts the first so many rows of a column into groups.
    void cut_into_groups(const NodeColumn& column, Index rows, Family& family);
    static void add_lane(Family& family, bool follows, int code, const PairBlock& block);
    void sum_lanes(const Node& node, const SquaredRow* rows, Family& family) const;
    void bound_pairs(const Node& node);
    void take_points(const Node& node);
    double leaf_units(const Sums& sums) const;
    double stump_units(const Sums& sums, double best) const;
    double best_of(const Family& family, int side, int lane) const;
    void make_bounds();

    Context& context_;
    const Measure& measure_;
    const PairKernel& kernel_;
    std::vector<ColumnFamily> families_;  // of the table
    bool know_families_ = false;
    // Of the node.
    std::vector<Present> present_;
    std::size_t n_present_ = 0;
    bool looked_ = false;
    int groups_ = 0;
    Sums all_;
    int shift_ = 0;        // a coarse step is a step times this power of two
    double smallest_ = 0;  // in coarse steps: more than rounding makes of d = 0
    double rounding_ = 0;  // of sums of squares
    std::vector<std::int64_t> packed_;
    std::vector<double> squares_, coarse_, weights_of_;
    std::vector<Group> cut_;
    std::vector<Index> due_;
    std::vector<std::size_t> by_promise_;
    std::vector<Family> surveyed_;
    LineVector<std::int64_t> cells_;
    LineVector<double> weights_, targets_;
    Points points_;
    // By column of the node.
    std::vector<std::size_t> family_of_;
    std::vector<std::vector<Place>> places_;
    std::vector<double> bounds_;  // by family, side and lane of a panel
};

}  // namespace provetree
