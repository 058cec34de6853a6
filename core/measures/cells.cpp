// Depth three on tables of few values; see measures/cells.hpp. Depth two is in measures/cells_two.cpp.
#include "measures/cells.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "sweeps/depth_one.hpp"

namespace provetree {

namespace {

constexpr std::size_t kBelow = 0, kAbove = 1;

}  // namespace

bool CellSolver::fits(Shape shape) {
    if (shape.depth < 2 || shape.depth > 3 || context_.off(kNoBits) || context_.constrained()) return false;
    if (!looked_) {
        looked_ = true;
        if (CellRows::fit(context_.table)) rows_ = std::make_unique<CellRows>(context_.table);
    }
    return rows_ != nullptr;
}

std::optional<Outcome> CellSolver::solve(const Node& node, const NodeRequest& request, const Loss& loss) {
    // The root at depth two tells where it stands when it is stopped, which the panels can do.
    if (request.level == 0 || !fits(request.shape) || !begin(node, loss)) return std::nullopt;
    if (request.shape.depth == 3) return solve_three(node, request);
    Members all(node_.size());
    std::iota(all.begin(), all.end(), Index{0});
    Outcome outcome;
    outcome.take(best_two(node, all, static_cast<int>(request.shape.splits)));
    outcome.lower = outcome.relaxed = std::min(request.limit, outcome.upper);
    return outcome;
}

bool CellSolver::begin(const Node& node, const Loss& loss) {
    if (!node_.take(*rows_, node)) return false;
    if (loss.unit_scale != loss_.unit_scale || loss.split_penalty != loss_.split_penalty) store_.clear();
    loss_ = loss;
    to_cost_ = rows_->measure().units_per_square() * static_cast<double>(loss.unit_scale) * node_.scale();
    lay_out();
    return true;
}

void CellSolver::lay_out() {
    features_ = node_.features();
    stride_ = (features_ + 2 * kCellPadding - 1) / kCellPadding * kCellPadding;
    const std::size_t lanes = static_cast<std::size_t>(stride_), size = lanes * static_cast<std::size_t>(features_);
    // Lanes after the last feature stay 0.
    for (LineVector<float>& of : lanes_) of.assign(size + kCellPadding, 0);
    for (LineVector<float>* of : {&side_weights_, &side_targets_}) of->assign(lanes, 0);
    for (LineVector<float>& of : stumps_) of.assign(lanes, 0);
    row_.assign(2 * lanes, 0);
    have_all_ = false;
}

void CellSolver::count_work(std::uint64_t cells) {
    const std::uint64_t pairs = static_cast<std::uint64_t>(features_) * static_cast<std::uint64_t>(features_) / 8;
    context_.counters.row_steps += pairs + cells;
    context_.monitor.work(pairs + cells);
}

// ---- depth three ----

Outcome CellSolver::solve_three(const Node& node, const NodeRequest& request) {
    list_shares(request.shape);
    reach_ = std::min(request.limit, leaf_cost_of(node, loss_));
    start_bounds();
    if (!context_.off(kNoInheritance)) inherit(node, request.relatives.inner, request.shape);
    for (int column : columns_by_promise()) {
        const CellColumns& columns = node_.columns();
        propagate(column);
        first_.clear();
        settle(column, columns.first_feature(column), columns.first_feature(column + 1) - 1, {nullptr, -1},
               {nullptr, columns.first_value[column + 1] - columns.first_value[column] - 1}, 0);
    }
    return prove(node, request);
}

void CellSolver::list_shares(Shape shape) {
    shares_.clear();
    for (const Division& of : divisions(shape))
        shares_.push_back({static_cast<int>(of.left.splits), static_cast<int>(of.right.splits), of.left_splits});
}

// What is known of the sides of all splits before any of them is looked at.
void CellSolver::start_bounds() {
    const std::size_t features = static_cast<std::size_t>(features_);
    for (int side = 0; side < kSides; ++side) {
        for (std::vector<Cost>& of : least_[side]) of.assign(features, 0);
        gap_[side].assign(features, kInfinite);
        packed_[side].resize(features);
        squares_[side].resize(features);
        keys_[side].resize(features);
    }
    const CellColumns& columns = node_.columns();
    for (int c = 0; c < columns.columns; ++c) {
        std::int64_t packed = 0;
        double squares = 0;
        CellKey key;
        for (int u = columns.first_value[c]; u + 1 < columns.first_value[c + 1]; ++u) {
            const CellNode::Value& value = node_.value(u);
            const std::size_t feature = static_cast<std::size_t>(u - c);
            packed += value.packed;
            squares += value.squares;
            key += value.key;
            packed_[kBelow][feature] = packed;
            packed_[kAbove][feature] = node_.packed() - packed;
            squares_[kBelow][feature] = squares;
            squares_[kAbove][feature] = node_.squares() - squares;
            keys_[kBelow][feature] = key;
            keys_[kAbove][feature] = node_.key() - key;
            for (int side = 0; side < kSides; ++side) {
                const std::int64_t sum = packed_[side][feature];
                const double target = cell_target(sum), weight = cell_weight(sum);
                const double cost = squares_[side][feature] - target * target / weight - node_.error();
                least_[side][0][feature] = static_cast<Cost>(std::max(0.0, cost * to_cost_));
                if (const TwoBounds* known = store_.find(keys_[side][feature])) know(u - c, side, *known);
            }
        }
    }
}

void CellSolver::know(int feature, int side, const TwoBounds& bounds) {
    const std::size_t at = static_cast<std::size_t>(feature);
    for (std::size_t splits = 1; splits <= 3; ++splits)
        least_[side][splits][at] = std::max(least_[side][splits][at], bounds.least[splits - 1]);
    gap_[side][at] = bounds.gap;
}

// More rows never cost less: what a subset of the node has proven of its splits.
void CellSolver::inherit(const Node& node, const Profile* inner, Shape shape) {
    if (!inner || inner->shape.depth != shape.depth || inner->shape.splits != shape.splits) return;
    const CellColumns& columns = node_.columns();
    for (const DeepFamily& family : inner->deep) {
        const NodeColumn* column = find_column(node, family.id);
        const auto share = std::find_if(shares_.begin(), shares_.end(),
                                        [&](const Share& of) { return of.left_splits == family.left_splits; });
        if (!column || share == shares_.end()) continue;
        const int c = static_cast<int>(column - node.columns.data());
        const int first = columns.first_feature(c), end = columns.first_feature(c + 1);
        std::vector<Cost>&below = least_[kBelow][share->below], &above = least_[kAbove][share->above];
        for (const DeepPoint& point : family.points) {
            int feature = first;
            while (feature < end && node_.value(node_.value_below(feature)).rank < point.rank) ++feature;
            if (feature < end)
                below[static_cast<std::size_t>(feature)] =
                    std::max(below[static_cast<std::size_t>(feature)], point.left);
            const bool same = feature < end && node_.value(node_.value_below(feature)).rank == point.rank;
            if (const int before = same ? feature : feature - 1; before >= first)
                above[static_cast<std::size_t>(before)] =
                    std::max(above[static_cast<std::size_t>(before)], point.right);
        }
    }
}

void CellSolver::propagate(int column) {
    const std::size_t first = static_cast<std::size_t>(node_.columns().first_feature(column)),
                      end = static_cast<std::size_t>(node_.columns().first_feature(column + 1));
    for (int splits = 0; splits <= 3; ++splits) {
        std::vector<Cost>&below = least_[kBelow][splits], &above = least_[kAbove][splits];
        for (std::size_t i = first + 1; i < end; ++i) below[i] = std::max(below[i], below[i - 1]);
        for (std::size_t i = end - 1; i > first; --i) above[i - 1] = std::max(above[i - 1], above[i]);
    }
}

Cost CellSolver::bound(int feature) const {
    const std::size_t at = static_cast<std::size_t>(feature);
    Cost least = kInfinite;
    for (const Share& share : shares_)
        least = std::min(least, least_[kBelow][share.below][at] + least_[kAbove][share.above][at]);
    return least + loss_.split_penalty;
}

// The columns whose best single split keeps most come first: a good tree closes more of the others.
std::vector<int> CellSolver::columns_by_promise() const {
    std::vector<std::pair<double, int>> promises;
    const CellColumns& columns = node_.columns();
    for (int c = 0; c < columns.columns; ++c) {
        double most = 0;
        for (int i = columns.first_feature(c); i < columns.first_feature(c + 1); ++i) {
            double kept = 0;
            for (int side = 0; side < kSides; ++side) {
                const std::int64_t sum = packed_[side][static_cast<std::size_t>(i)];
                kept += static_cast<double>(cell_target(sum)) * cell_target(sum) / cell_weight(sum);
            }
            most = std::max(most, kept);
        }
        promises.emplace_back(-most, c);
    }
    std::sort(promises.begin(), promises.end());
    std::vector<int> order;
    for (const auto& [promise, column] : promises) order.push_back(column);
    return order;
}

// Evaluates features first .. last of a column as far as they are open, the middle one first: what is proven there
// bounds the others. `low` and `high` are the nearest sums there are.
void CellSolver::settle(int column, int first, int last, Base low, Base high, std::size_t depth) {
    while (first <= last && bound(first) >= reach_) ++first;
    while (first <= last && bound(last) >= reach_) --last;
    if (first > last) return;
    int middle = first + (last - first) / 2;
    while (bound(middle) >= reach_) ++middle;
    const bool summed = evaluate(column, middle, low, high, depth);
    propagate(column);
    const Base here{summed ? sums_[depth].data() : nullptr, middle - node_.columns().first_feature(column)};
    settle(column, first, middle - 1, low, summed ? here : high, depth + 1);
    settle(column, middle + 1, last, summed ? here : low, high, depth + 1);
}

// Bounds both sides of a feature, as far as they are needed. Whether its sums were worked out for that.
bool CellSolver::evaluate(int column, int feature, Base low, Base high, std::size_t depth) {
    const std::size_t at = static_cast<std::size_t>(feature);
    const bool larger_above = cell_weight(packed_[kAbove][at]) > cell_weight(packed_[kBelow][at]);
    bool summed = false;
    for (int turn = 0; turn < kSides; ++turn) {
        const int side = larger_above ? 1 - turn : turn;
        if (gap_[side][at] < kInfinite) continue;
        if (bound(feature) >= reach_) return summed;
        if (!summed) {
            sum_up_to(column, feature, low, high, depth);
            summed = true;
        }
        bound_side(feature, side);
    }
    for (const Share& share : shares_) {
        const Cost gap_below = share.below ? gap_[kBelow][at] : kInfinite,
                   gap_above = share.above ? gap_[kAbove][at] : kInfinite;
        if (gap_below >= kInfinite || gap_above >= kInfinite) continue;
        reach_ = std::min(reach_, least_[kBelow][share.below][at] + gap_below + least_[kAbove][share.above][at] +
                                      gap_above + loss_.split_penalty);
    }
    return summed;
}

// Pair sums of the rows below a feature, from the nearest sums.
void CellSolver::sum_up_to(int column, int feature, Base low, Base high, std::size_t depth) {
    const CellColumns& columns = node_.columns();
    const std::size_t values = static_cast<std::size_t>(columns.values()), size = values * values;
    if (!have_all_) {
        have_all_ = true;
        all_sums_.assign(size, 0);
        node_.add(all_sums_.data(), node_.cells(), 0, node_.size());
        sum_pairs(all_sums_.data(), all_pairs());
        sum_singles(all_sums_.data(), all_singles_);
        count_work(node_.size());
    }
    if (first_.empty()) node_.sort_by(column, sorted_, first_);
    if (sums_.size() <= depth) sums_.resize(depth + 1);
    sums_[depth].resize(size);
    std::int64_t* const sums = sums_[depth].data();
    const int upto = feature - columns.first_feature(column);
    const auto cells_to = [&](int value) { return first_[static_cast<std::size_t>(value + 1)]; };
    const Index from = cells_to(low.upto), here = cells_to(upto), to = cells_to(high.upto);
    if (here - from <= to - here) {
        copy_sums(low.sums, sums);
        node_.add(sums, sorted_, from, here);
    } else {
        copy_sums(high.sums ? high.sums : all_sums_.data(), sums);
        node_.subtract(sums, sorted_, here, to);
    }
    // The column itself: all rows of its values up to here, and none of the others.
    const int first = columns.first_value[column], end = columns.first_value[column + 1];
    for (int u = 0; u < end; ++u) {
        const std::size_t begin = static_cast<std::size_t>(u) * values;
        for (int v = std::max(u, first); v < (u < first ? end : columns.values()); ++v) {
            const int of_column = u < first ? v : u;
            sums[begin + static_cast<std::size_t>(v)] =
                of_column <= first + upto ? all_sums_[begin + static_cast<std::size_t>(v)] : 0;
        }
    }
    count_work(std::min(here - from, to - here));
    sum_pairs(sums, part_pairs());
    sum_singles(sums, singles_);
}

void CellSolver::copy_sums(const std::int64_t* from, std::int64_t* to) const {
    // Only the later columns of a row are ever used.
    const CellColumns& columns = node_.columns();
    const std::size_t values = static_cast<std::size_t>(columns.values());
    for (int c = 0; c < columns.columns; ++c) {
        const std::size_t first = static_cast<std::size_t>(columns.first_value[c]);
        for (int u = columns.first_value[c]; u < columns.first_value[c + 1]; ++u) {
            const std::size_t begin = static_cast<std::size_t>(u) * values;
            if (from)
                std::copy(from + begin + first, from + begin + values, to + begin + first);
            else
                std::fill(to + begin + first, to + begin + values, 0);
        }
    }
}

void CellSolver::bound_side(int feature, int side) {
    const std::size_t at = static_cast<std::size_t>(feature);
    const bool rest = side == static_cast<int>(kAbove);
    CellSide of = side_of(packed_[side][at]);
    of.whole = rest ? all_pairs() : PairSums{nullptr, nullptr};
    set_singles(rest);
    float kept[3];
    kernel_.best_two(of, features_, stride_, stumps(), kept);
    ++context_.counters.depth_two_solves;
    count_work(0);
    const TwoBounds bounds = bounds_of(kept, squares_[side][at]);
    store_.keep(keys_[side][at], bounds);
    know(feature, side, bounds);
}

// Solves what the bounds have left from exact sums, the lowest bound first.
Outcome CellSolver::prove(const Node& node, const NodeRequest& request) {
    Outcome best;
    best.upper = leaf_cost_of(node, loss_);
    std::vector<Candidate> candidates;
    for (int feature = 0; feature < features_; ++feature) {
        const std::size_t at = static_cast<std::size_t>(feature);
        for (std::size_t k = 0; k < shares_.size(); ++k) {
            const Share& share = shares_[k];
            const Cost of = least_[kBelow][share.below][at] + least_[kAbove][share.above][at] + loss_.split_penalty;
            if (of < reach_) candidates.push_back({of, feature, k});
        }
    }
    std::sort(candidates.begin(), candidates.end());
    Members below, above;
    for (const Candidate& candidate : candidates) {
        if (candidate.bound >= std::min(best.upper, request.limit)) break;
        const std::size_t at = static_cast<std::size_t>(candidate.feature);
        const int column = node_.column_of(candidate.feature), value = node_.value_below(candidate.feature);
        const Share& share = shares_[candidate.share];
        below.clear();
        above.clear();
        for (Index i = 0; i < node_.size(); ++i) (node_.values_of(i)[column] <= value ? below : above).push_back(i);
        const Incumbent left = best_two(node, below, share.below), right = best_two(node, above, share.above);
        for (const auto& [side, splits, upper] :
             {std::tuple{kBelow, share.below, left.upper}, std::tuple{kAbove, share.above, right.upper}})
            least_[side][splits][at] = std::max(least_[side][splits][at], upper);
        const Index id = node.columns[static_cast<std::size_t>(column)].id;
        if (const Cost cost = left.upper + right.upper + loss_.split_penalty; cost < best.upper)
            best.take({cost, split_plan(id, node_.value(value).rank, left.plan, right.plan), share.left_splits});
    }
    best.lower = best.relaxed = std::min(request.limit, best.upper);
    if (request.keep_profile) best.profile = make_profile(node, request.shape);
    return best;
}

ProfilePtr CellSolver::make_profile(const Node& node, Shape shape) {
    std::shared_ptr<Profile> profile = new_profile(context_, shape, node);
    if (!profile) return nullptr;
    const CellColumns& columns = node_.columns();
    for (int c = 0; c < columns.columns; ++c) {
        propagate(c);
        const NodeColumn& column = node.columns[static_cast<std::size_t>(c)];
        for (const Share& share : shares_) {
            DeepFamily& family = profile->deep.emplace_back(DeepFamily{column.id, share.left_splits, {}});
            for (int feature = columns.first_feature(c); feature < columns.first_feature(c + 1); ++feature) {
                const std::size_t at = static_cast<std::size_t>(feature);
                const CellNode::Value& value = node_.value(node_.value_below(feature));
                DeepPoint& point = family.points.emplace_back();
                point.rank = value.rank;
                point.position = value.position;
                point.weight = node.weight_left(column, value.position);
                point.left = least_[kBelow][share.below][at];
                point.right = least_[kAbove][share.above][at];
            }
        }
    }
    return counted(context_, std::move(profile));
}

}  // namespace provetree
