// Depth three on tables of few values; see measures/cells.hpp. Depth two is in measures/cells_two.cpp.
#include "measures/cells.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "sweeps/depth_one.hpp"

namespace provetree {

bool CellSolver::fits(Shape shape) {
    if (shape.depth < 2 || shape.depth > 3 || context_.off(kNoBits)) return false;
    if (!looked_) {
        looked_ = true;
        if (CellRows::fit(context_.table)) rows_ = std::make_unique<CellRows>(context_.table);
        if (rows_ && context_.constrained()) {
            min_leaf_ = context_.min_leaf;
            if (!rows_->weights_count()) rows_.reset();
        }
    }
    return rows_ != nullptr;
}

void CellSolver::list(const Node& node, Shape shape, Levels::Children& kids) {
    kids.cells.clear();
    kids.frame = 0;
    // Children are as deep as this, or less deep.
    if (!fits(Shape::of(shape.depth - 1, shape.splits - 1)) || !own_.list_cells(*rows_, node)) return;
    kids.cells = own_.cells();
    const bool framed =
        shape.depth == 4 && !context_.off(kNoFrames) && CellRows::features(context_.table) <= CellFrame::kMostFeatures;
    if (framed && frame_.take(*rows_, node, own_.key())) kids.frame = frame_.number();
}

void CellSolver::divide(const Node& node, Index column, Index rank, Levels::Children& kids) const {
    if (kids.frame) return divide_frame(node, column, rank, kids);
    CellRows::Cell sums[2];
    for (Node* side : {&kids.left, &kids.right}) {
        side->cells.clear();
        side->in_frame = {};
    }
    for (Index number : kids.cells) {
        const int to = rows_->ranks(number)[column] > rank;
        (to ? kids.right : kids.left).cells.push_back(number);
        sums[to] += rows_->cell(number);
    }
    make_side(node, sums[0], kids.left);
    make_side(node, sums[1], kids.right);
}

// The sides of a split of the frame, whose cells nobody may ask for.
void CellSolver::divide_frame(const Node& node, Index column, Index rank, Levels::Children& kids) const {
    const CellNode& cells = frame_.node();
    const int c = cells.place_of(column);
    int at = cells.first_split(c);
    while (at + 1 < cells.first_split(c + 1) && cells.split(at + 1).rank <= rank) ++at;
    const CellNode::Split& split = cells.split(at);
    for (bool has : {true, false}) {
        Node& side = has == split.has_below ? kids.left : kids.right;
        CellRows::Cell sums = has ? frame_.having(split.feature) : frame_.total();
        if (!has) sums -= frame_.having(split.feature);
        side.cells.clear();
        side.in_frame = {kids.frame, split.feature, has, 0};
        side.in_frame.cells = static_cast<Index>(CellPart::side_of(frame_, side.in_frame).cells);
        make_side(node, sums, side);
    }
}

void CellSolver::make_side(const Node& node, const CellRows::Cell& sums, Node& side) const {
    side.measure = node.measure;
    side.unit_weights = node.unit_weights;
    side.largest_weight = node.largest_weight;
    side.rows = sums.rows;
    side.weight = sums.reach;
    side.count = sums.count;
    side.members = 0;
    side.columns.clear();
    Leaf leaf;
    leaf += sums;
    side.leaf_units = units_of(leaf);
}

std::optional<Outcome> CellSolver::solve(const Node& node, const NodeRequest& request, const Loss& loss) {
    // The root at depth two tells where it stands when it is stopped, which the panels can do. Stumps are for those who
    // have columns, where there are any.
    if (!node.of_cells() && (request.level == 0 || !fits(request.shape))) return std::nullopt;
    if (!find_cells(node, request.shape)) return std::nullopt;
    use(loss);
    if (request.shape.depth == 3) {
        if (const Outcome* solved = outcomes_.find(key(), request)) return *solved;
        begin_three();
        const Outcome outcome = solve_three(node, request);
        // Their profiles must leave room for those of the nodes at hand.
        if (context_.profile_bytes > context_.memory_limit / 2) outcomes_.clear();
        outcomes_.keep(key(), request, outcome);
        return outcome;
    }
    begin_two();
    Outcome outcome;
    outcome.take(best_two(order_, static_cast<int>(request.shape.splits)));
    outcome.lower = outcome.relaxed = std::min(request.limit, outcome.upper);
    if (min_leaf_) {
        const TwoBounds bounds = bounds_of(kept_, own_.all().squares);
        outcome.relaxed = std::min(outcome.lower, bounds.least[request.shape.splits - 1]);
    }
    return outcome;
}

// Whether the node is made of cells: those of a side of a split of the frame, or its own.
bool CellSolver::find_cells(const Node& node, Shape shape) {
    const FrameSide& side = node.in_frame;
    side_ = {};
    if (!side.frame) return own_.list_cells(*rows_, node);
    if (side.frame != frame_.number()) throw std::logic_error("A node of cells has lost its frame.");
    if (shape.depth == 3) {
        side_ = side;
        side_key_ = CellPart::side_of(frame_, side).key;
        return true;
    }
    frame_.list(side.feature, side.has, order_);
    for (Index& cell : order_) cell = frame_.node().cell(cell);
    own_.list_cells(*rows_, order_);
    return true;
}

void CellSolver::begin_three() {
    if (side_.frame) {
        part_.take_side(frame_, side_);
        return begin(frame_.node());
    }
    own_.take(*rows_);
    part_.take_all(own_);
    begin(own_);
}

void CellSolver::begin_two() {
    own_.take(*rows_);
    begin(own_);
    order_.resize(own_.size());
    std::iota(order_.begin(), order_.end(), Index{0});
}

void CellSolver::use(const Loss& loss) {
    if (loss.unit_scale == loss_.unit_scale && loss.split_penalty == loss_.split_penalty) return;
    outcomes_.clear();
    // The choice among equally good trees makes all costs so many times as large, and each split one dearer. Where
    // splits get much dearer, old bounds would be too low to be of use.
    const Cost factor = loss_.unit_scale ? loss.unit_scale / loss_.unit_scale : 0,
               dearer = loss.split_penalty - factor * loss_.split_penalty;
    if (factor > 0 && factor * loss_.unit_scale == loss.unit_scale && (dearer == 0 || dearer == 1))
        store_.scale(factor, dearer);
    else
        store_.clear();
    loss_ = loss;
}

void CellSolver::begin(const CellNode& node) {
    node_ = &node;
    to_cost_ = rows_->measure().units_per_square() * static_cast<double>(loss_.unit_scale) * node.scale();
    have_all_ = false;
    if (node.splits() == features_) return;
    // Lanes after the last feature stay 0.
    features_ = node.splits();
    const std::ptrdiff_t needed = (features_ + 2 * kCellPadding - 1) / kCellPadding * kCellPadding;
    const std::size_t lanes = static_cast<std::size_t>(needed);
    if (needed > stride_) {
        stride_ = needed;
        for (LineVector<float>& of : lanes_) of.assign(lanes * lanes, 0);
        for (LineVector<float>* of : {&side_weights_, &side_targets_}) of->assign(lanes, 0);
        for (LineVector<float>& of : stumps_) of.assign(lanes, 0);
        row_.assign(lanes, 0);
        return;
    }
    for (LineVector<float>& of : lanes_)
        for (std::ptrdiff_t i = 0; i < features_; ++i)
            std::fill_n(&of[static_cast<std::size_t>(i * stride_ + features_)], kCellPadding, 0.0f);
    for (LineVector<float>* of : {&side_weights_, &side_targets_})
        std::fill_n(&(*of)[static_cast<std::size_t>(features_)], kCellPadding, 0.0f);
    std::fill_n(&row_[static_cast<std::size_t>(features_)], kCellPadding, std::int64_t{0});
}

void CellSolver::count_work(std::uint64_t cells) {
    const std::uint64_t pairs = static_cast<std::uint64_t>(features_) * static_cast<std::uint64_t>(features_) / 8;
    context_.counters.row_steps += pairs + cells;
    context_.monitor.work(pairs + cells);
}

Outcome CellSolver::solve_three(const Node& node, const NodeRequest& request) {
    shares_.clear();
    for (const Division& of : divisions(request.shape))
        shares_.push_back({static_cast<int>(of.left.splits), static_cast<int>(of.right.splits), of.left_splits});
    reach_ = std::min(request.limit, leaf_cost(context_, node, loss_));
    start_bounds();
    if (!context_.off(kNoInheritance)) inherit(request.relatives.inner, request.shape);
    for (int column : columns_by_promise()) {
        propagate(column);
        first_.clear();
        const int first = part_.first_split(column), last = part_.first_split(column + 1) - 1;
        settle(column, first, last, {nullptr, -1}, {nullptr, last - first + 1}, 0);
    }
    return prove(node, request);
}

// What is known of the sides of all splits before any of them is looked at.
void CellSolver::start_bounds() {
    known_.resize(2 * static_cast<std::size_t>(part_.splits()));
    const bool leaves = shares_.front().below == 0 || shares_.back().above == 0;
    for (int split = 0; split < part_.splits(); ++split) {
        const CellSums& below = part_.split(split).below;
        for (int side : {kBelow, kAbove}) {
            Known& here = known(split, side) = {};
            here.sums = side == kBelow ? below : part_.all() - below;
            store_.fetch(here.sums.key);
        }
    }
    for (int split = 0; split < part_.splits(); ++split) {
        for (int side : {kBelow, kAbove}) {
            Known& here = known(split, side);
            if (leaves) bound_leaf(here);
            if (!large_enough(cell_weight(here.sums.packed))) std::fill_n(here.sized, 4, kInfinite);
            if (const TwoBounds* stored = store_.find(here.sums.key)) learn(here, *stored);
        }
    }
}

void CellSolver::bound_leaf(Known& of) const {
    const double target = cell_target(of.sums.packed), weight = cell_weight(of.sums.packed);
    const double squares = static_cast<double>(of.sums.squares) * node_->square_step();
    const double least = squares - target * target / weight - node_->error();
    of.least[0] = static_cast<Cost>(std::max(0.0, least * to_cost_));
}

void CellSolver::learn(Known& of, const TwoBounds& bounds) {
    for (int splits = 1; splits <= 3; ++splits) {
        raise(of.least[splits], bounds.least[splits - 1]);
        raise(of.sized[splits], bounds.sized[splits - 1]);
    }
    of.gap = bounds.gap;
}

// More rows never cost less: what a subset of the node has proven of its splits.
void CellSolver::inherit(const Profile* inner, Shape shape) {
    if (!inner || inner->shape.depth != shape.depth || inner->shape.splits != shape.splits) return;
    std::optional<Index> column;
    int first = 0, end = 0, split = 0;  // of the column; the first one at the rank of a point or after it
    const auto take = [&](Index of_column, std::int64_t left_splits, const auto& point) {
        if (column != of_column) {
            column = of_column;
            const int c = part_.place_of(of_column);
            split = first = c < 0 ? 0 : part_.first_split(c);
            end = c < 0 ? 0 : part_.first_split(c + 1);
        }
        const auto share = std::find_if(shares_.begin(), shares_.end(),
                                        [&](const Share& of) { return of.left_splits == left_splits; });
        if (first == end || share == shares_.end()) return;
        if (split > first && part_.split(split - 1).rank >= point.rank) split = first;  // of the next share
        while (split < end && part_.split(split).rank < point.rank) ++split;
        if (split < end) raise(known(split, kBelow).least[share->below], point.left);
        // The last one at the rank or before it.
        const int before = split < end && part_.split(split).rank == point.rank ? split : split - 1;
        if (before >= first) raise(known(before, kAbove).least[share->above], point.right);
    };
    for (const CellPoint& point : inner->cells) take(point.column, point.left_splits, point);
    for (const DeepFamily& family : inner->deep)
        for (const DeepPoint& point : family.points) take(family.id, family.left_splits, point);
}

// More rows never cost less: what the neighbours of a split say of it.
void CellSolver::propagate(int column) {
    const int first = part_.first_split(column), end = part_.first_split(column + 1);
    const bool full = shares_.size() == 1;
    for (int splits = full ? shares_[0].below : 0; splits <= 3; ++splits) {
        for (int i = first + 1; i < end; ++i) raise(known(i, kBelow).least[splits], known(i - 1, kBelow).least[splits]);
        for (int i = end - 1; i > first; --i) raise(known(i - 1, kAbove).least[splits], known(i, kAbove).least[splits]);
    }
}

Cost CellSolver::bound(int split) const {
    Cost least = kInfinite;
    for (const Share& share : shares_) least = std::min(least, bound(split, share));
    return least;
}

// The columns whose best single split keeps most come first: a good tree closes more of the others.
const std::vector<int>& CellSolver::columns_by_promise() {
    promises_.clear();
    for (int c = 0; c < part_.columns(); ++c) {
        double most = 0;
        for (int split = part_.first_split(c); split < part_.first_split(c + 1); ++split) {
            double kept = 0;
            for (int side : {kBelow, kAbove}) {
                const std::int64_t sum = known(split, side).sums.packed;
                const double target = cell_target(sum);
                kept += target * target / cell_weight(sum);
            }
            most = std::max(most, kept);
        }
        promises_.emplace_back(-most, c);
    }
    std::sort(promises_.begin(), promises_.end());
    promising_.clear();
    for (const auto& [promise, column] : promises_) promising_.push_back(column);
    return promising_;
}

// Bounds splits first .. last of a column as far as they are open, the middle one first: what is proven there bounds
// the others. `low` and `high` are the nearest cells there are.
void CellSolver::settle(int column, int first, int last, Base low, Base high, std::size_t depth) {
    while (first <= last && bound(first) >= reach_) ++first;
    while (first <= last && bound(last) >= reach_) --last;
    if (first > last) return;
    int middle = first + (last - first) / 2;
    while (bound(middle) >= reach_) ++middle;
    const bool summed = evaluate(column, middle, low, high, depth);
    propagate(column);
    const Base here{summed && !side_.frame ? cells_[depth].data() : nullptr, middle - part_.first_split(column)};
    settle(column, first, middle - 1, low, summed ? here : high, depth + 1);
    settle(column, middle + 1, last, summed ? here : low, high, depth + 1);
}

// Bounds both sides of a split, as far as they are needed. Whether its cells were summed for that.
bool CellSolver::evaluate(int column, int split, Base low, Base high, std::size_t depth) {
    Known &below = known(split, kBelow), &above = known(split, kAbove);
    // The larger side first: its bound is the likelier to settle the split alone.
    const bool above_first = cell_weight(above.sums.packed) > cell_weight(below.sums.packed);
    bool summed = false;
    for (Side side : {above_first ? kAbove : kBelow, above_first ? kBelow : kAbove}) {
        if (known(split, side).gap < kInfinite) continue;
        if (bound(split) >= reach_) return summed;
        if (!summed) sum_part(column, split, low, high, depth);
        summed = true;
        bound_side(split, side);
    }
    for (const Share& share : shares_)
        if (share.below && share.above)
            reach_ = std::min(reach_, bound(split, share) + below.gap + above.gap + of_equals());
    return summed;
}

void CellSolver::sum_all() {
    have_all_ = true;
    if (side_.frame) {
        const std::int64_t* all = frame_.cells_of(side_.feature, side_.feature);
        if (!side_.has) {
            all = rest_of(frame_.all_cells(), all, all_cells_);
        }
        return sum_pairs(all, all_pairs(), all_singles_);
    }
    all_cells_.assign(kernel_cells(features_) + kCellPadding, 0);
    order_.resize(node_->size());
    std::iota(order_.begin(), order_.end(), Index{0});
    first_.clear();
    node_->add(all_cells_.data(), order_.data(), order_.data() + order_.size());
    sum_pairs(all_cells_.data(), all_pairs(), all_singles_);
    count_work(node_->size());
}

// Pair sums of the rows on one side of a split.
void CellSolver::sum_part(int column, int split, Base low, Base high, std::size_t depth) {
    side_.frame ? sum_in_frame(split) : sum_up_to(column, split, low, high, depth);
}

// The kernel's cells of all less those of a part.
const std::int64_t* CellSolver::rest_of(const std::int64_t* all, const std::int64_t* part,
                                        LineVector<std::int64_t>& rest) const {
    const std::size_t count = kernel_cells(features_);
    rest.resize(count + kCellPadding);
    for (std::size_t i = 0; i < count; ++i) rest[i] = all[i] - part[i];
    return rest.data();
}

void CellSolver::sum_in_frame(int split) {
    const CellPart::Split& of = part_.split(split);
    const std::int64_t* cells = frame_.cells_of(side_.feature, of.feature);
    if (!side_.has) {
        cells = rest_of(frame_.cells_of(of.feature, of.feature), cells, exact_cells_);
    }
    count_work(0);
    summed_ = of.has_below ? kBelow : kAbove;
    sum_pairs(cells, part_pairs(), singles_);
}

// From the nearest cells there are: of the rows below it.
void CellSolver::sum_up_to(int column, int split, Base low, Base high, std::size_t depth) {
    if (!have_all_) sum_all();
    if (first_.empty()) own_.sort_by(*rows_, column, order_, first_);
    if (cells_.size() <= depth) cells_.resize(depth + 1);
    const std::size_t count = kernel_cells(features_);
    cells_[depth].resize(count + kCellPadding);
    std::int64_t* const cells = cells_[depth].data();
    const auto members_to = [&](int value) { return order_.data() + first_[static_cast<std::size_t>(value + 1)]; };
    const Index *from = members_to(low.upto), *here = members_to(split - part_.first_split(column)),
                *to = members_to(high.upto);
    if (here - from <= to - here) {
        if (low.cells)
            std::copy_n(low.cells, count, cells);
        else
            std::fill_n(cells, count, 0);
        own_.add(cells, from, here);
    } else {
        std::copy_n(high.cells ? high.cells : all_cells_.data(), count, cells);
        own_.subtract(cells, here, to);
    }
    count_work(static_cast<std::uint64_t>(std::min(here - from, to - here)));
    summed_ = kBelow;
    sum_pairs(cells, part_pairs(), singles_);
}

void CellSolver::bound_side(int split, Side side) {
    Known& of = known(split, side);
    if (side != summed_ && !have_all_) sum_all();
    kernel_.best_two(side_of(of.sums.packed, side != summed_), features_, stride_, stumps(), kept_);
    ++context_.counters.depth_two_solves;
    count_work(0);
    const TwoBounds bounds = bounds_of(kept_, of.sums.squares);
    store_.keep(of.sums.key, bounds);
    learn(of, bounds);
}

// Solves what the bounds have left from exact sums, the lowest bound first.
Outcome CellSolver::prove(const Node& node, const NodeRequest& request) {
    Outcome best;
    best.upper = leaf_cost(context_, node, loss_);
    std::vector<Candidate> candidates;
    for (int split = 0; split < part_.splits(); ++split)
        for (const Share& share : shares_)
            if (const Cost least = bound(split, share); least < reach_) candidates.push_back({least, split, share});
    if (request.bounds_only && !min_leaf_) {
        best.lower = reach_;  // other splits cost as much
        for (const Candidate& candidate : candidates) best.lower = std::min(best.lower, candidate.bound);
        best.relaxed = best.lower;
        if (request.keep_profile) best.profile = make_profile(node, request.shape);
        return best;
    }
    std::sort(candidates.begin(), candidates.end());
    TieChoice choice;
    for (const Candidate& candidate : candidates) {
        if (candidate.bound >= std::min(best.upper + of_equals(), request.limit)) break;
        offer(best_below(candidate), part_.id(part_.split(candidate.split).column), side_members_, best, choice);
    }
    best.lower = best.relaxed = std::min(request.limit, best.upper);
    if (min_leaf_) {
        for (int c = 0; c < part_.columns(); ++c) propagate(c);
        best.relaxed = std::min({best.lower, leaf_cost_of(node, loss_), least_relaxed()});
    }
    if (request.keep_profile) best.profile = make_profile(node, request.shape);
    return best;
}

// What trees cost at least whatever the leaf sizes are: also those that begin with a split which is not feasible.
Cost CellSolver::least_relaxed() const {
    Cost least = kInfinite;
    for (int split = 0; split < part_.splits(); ++split)
        for (const Share& share : shares_)
            least = std::min(least, known(split, kBelow).least[share.below] + known(split, kAbove).least[share.above]);
    return least + loss_.split_penalty;
}

void CellSolver::list_sides(const CellPart::Split& split) {
    if (side_.frame) {
        for (Side side : {kBelow, kAbove})
            frame_.list(side_.feature, side_.has, split.feature, split.has_below == (side == kBelow),
                        side_members_[side]);
        return;
    }
    for (Members& members : side_members_) members.clear();
    const Index id = part_.id(split.column);
    for (Index i = 0; i < node_->size(); ++i) side_members_[rows_->ranks(node_->cell(i))[id] > split.rank].push_back(i);
}

// The best tree that begins with a split.
Incumbent CellSolver::best_below(const Candidate& candidate) {
    const CellPart::Split& split = part_.split(candidate.split);
    const Index id = part_.id(split.column);
    list_sides(split);
    const Share& share = candidate.share;
    const Incumbent left = best_two(side_members_[kBelow], share.below),
                    right = best_two(side_members_[kAbove], share.above);
    const auto bounds = min_leaf_ ? &Known::sized : &Known::least;
    raise((known(candidate.split, kBelow).*bounds)[share.below], left.upper);
    raise((known(candidate.split, kAbove).*bounds)[share.above], right.upper);
    return {left.upper + right.upper + loss_.split_penalty, split_plan(id, split.rank, left.plan, right.plan),
            share.left_splits};
}

ProfilePtr CellSolver::make_profile(const Node& node, Shape shape) {
    std::shared_ptr<Profile> profile = new_profile(context_, shape, node);
    if (!profile) return nullptr;
    profile->cells.reserve(shares_.size() * static_cast<std::size_t>(part_.splits()));
    for (int c = 0; c < part_.columns(); ++c) {
        propagate(c);
        for (const Share& share : shares_) {
            for (int split = part_.first_split(c); split < part_.first_split(c + 1); ++split) {
                const Known &below = known(split, kBelow), &above = known(split, kAbove);
                profile->cells.push_back({part_.id(c), part_.split(split).rank, below.sums.rows(),
                                          static_cast<std::int32_t>(share.left_splits), below.sums.reach(),
                                          below.least[share.below], above.least[share.above]});
            }
        }
    }
    return counted(context_, std::move(profile));
}

}  // namespace provetree
