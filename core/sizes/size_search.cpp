// The search of one node for all sizes; see sizes/size_search.hpp.
#include "sizes/size_search.hpp"

#include <algorithm>
#include <utility>

#include "sweeps/depth_one.hpp"

namespace provetree {

namespace {

// Children are asked to prove somewhat more than their split needs, which closes more of its neighbours: a quarter of
// the distance to the nearer end. A vector proves more than one entry anyway, so more slack than that is wasted.
constexpr Cost kPartOfDistance = 4;

// Rows that join a sample for each error that a tree of it lacks to be too costly, and besides.
constexpr Cost kRowsPerError = 1, kRowsBesides = 2;

template <int K>
void raise(PerSize<K>& bounds, const PerSize<K>& others, Cost less = 0) {
    for (std::size_t i = 0; i < bounds.size(); ++i) bounds[i] = std::max(bounds[i], others[i] - less);
}

template <int K>
const SizePoint<K>* first_after(const std::vector<SizePoint<K>>& points, Index position) {
    return points.data() + (std::upper_bound(points.begin(), points.end(), position,
                                             [](Index x, const SizePoint<K>& point) { return x < point.position; }) -
                            points.begin());
}

}  // namespace

template <int Depth>
SizeSearch<Depth>::SizeSearch(SizeSolver& solver, const Node& node, const SizeRequest<Depth>& request,
                              SizeAnswer<Depth>& answer, LazyRows* lazy)
    : solver_(solver), context_(solver.context()), loss_(solver.loss()), node_(node), request_(request), lazy_(lazy),
      answer_(answer), limits_(request.limits) {
    relaxed_.fill(kInfinite);
    by_leaves_ = !context_.off(kNoLeafSides) && !context_.constrained() && !node.measure;
    if (by_leaves_) pairs_.first = 1;
}

template <int Depth>
std::shared_ptr<const ProfileOf<Depth>> SizeSearch<Depth>::run() {
    try {
        survey();
    } catch (const StopSearch&) {
        take_survey();
        throw;
    }
    open();
    Interval interval{};
    try {
        for (OpenSizes open; next(interval, open);) {
            const NodeColumn* const column = find_column(node(), interval.column);
            if (const Index position = choose(*column, open)) try_split(interval, position);
        }
    } catch (const StopSearch&) {
        stop(interval);
        throw;
    }
    finish();
    if (!request_.keep_profile || lazy_) return nullptr;
    return make_profile();
}

// ---- the survey

template <int Depth>
void SizeSearch<Depth>::survey() {
    whole_.begin(answer_.lower[0], answer_.relaxed[0]);
    if (!context_.off(kNoSurvey)) {
        SizeRequest<Depth - 1> request;
        request.level = request_.level;
        // The survey stands in for all pairs of small sides, so it is asked for what the node is. Limits do not rise
        // with the size.
        for (std::size_t s = 0; s < kOfSide; ++s)
            request.limits[s] = limits_[context_.off(kLowSurveyLimits) ? kOfTree - 1 : s];
        solver_.template solve<Depth - 1>(node_, request, whole_, lazy_);
        surveyed_ = true;
        // Sides of at most D - 1 leaves each make a tree of a level less: the survey has seen them all.
        if (!context_.off(kNoSettledPairs)) pairs_.settled = Depth - 1;
    }
    take_survey();
}

template <int Depth>
void SizeSearch<Depth>::take_survey() {
    for (std::size_t s = 0; s < kOfSide; ++s) answer_.offer(s, whole_.upper[s], whole_.plan[s]);
    answer_.share_trees();
    // Trees of up to D leaves have at most D - 1 levels.
    for (std::size_t s = 1; s < Depth; ++s) {
        answer_.lower[s] = std::max(answer_.lower[s], whole_.lower[s]);
        answer_.relaxed[s] = std::max(answer_.relaxed[s], whole_.relaxed[s]);
    }
}

// What all rows cost with a level less. Between splits of a sample only what holds for the sample may be used, but the
// survey settles small sizes, and pairs of them, on all rows: there the sample's own depth two has the say.
template <int Depth>
PerSize<SizeSearch<Depth>::kSide> SizeSearch<Depth>::bounds_at_ends() {
    PerSize<kSide> ends = whole_.relaxed;
    if (!sampled() || context_.off(kSurveyOfAllRows)) return ends;
    SizeRequest<2> request;
    request.limits.fill(answer_.upper[0]);
    request.level = request_.level;
    SizeAnswer<2> two;
    solver_.solve<2>(node(), request, two);
    for (std::size_t s = 0; s < kOfSide; ++s) {
        const Cost own = two.relaxed[std::min<std::size_t>(s, 3)];
        ends[s] = s < 3 || Depth == 3 ? own : std::min(ends[s], own);
    }
    return ends;
}

// ---- what is open

template <int Depth>
void SizeSearch<Depth>::open() {
    if (!sampled() && !context_.off(kNoInheritance) && (request_.inner || request_.outer))
        for (const NodeColumn& column : node_.columns)
            hints_.push_back(size_hints(node_, column, request_.inner, request_.outer, loss_, lipschitz()));
    if (by_leaves_) list_leaf_sides(node(), leaves_);
    refresh_cuts();
    Tried low, high;
    low.right = high.left = bounds_at_ends();
    high.position = node().rows;
    high.weight = node().weight;
    tried_ = {low, high};
    for (const NodeColumn& column : node().columns) push(column.id, 0, 1, {1, node().rows - 1});
}

template <int Depth>
void SizeSearch<Depth>::refresh_cuts() {
    for (std::size_t s = 0; s < kOfTree; ++s) {
        const bool settled = s == 0 || (surveyed_ && s < Depth);
        cut_[s] = settled ? 0 : std::min(limits_[s], answer_.upper[s]);
    }
}

template <int Depth>
void SizeSearch<Depth>::open_leaves(const NodeColumn& column, const LeafSides& leaves, const SizePoint<kSide>& a,
                                    const SizePoint<kSide>& b, OpenSizes& open) {
    const std::size_t first =
        context_.off(kNoPairsOfLeaves) ? std::max<std::size_t>(1, pairs_.settled) : pairs_.settled;
    const auto scan = [&](const std::vector<LeafSplit>& splits, bool leaf_is_left) {
        auto at = std::upper_bound(splits.begin(), splits.end(), a.position,
                                   [](Index x, const LeafSplit& split) { return x < split.position; });
        for (; at != splits.end() && at->position < b.position; ++at) {
            const Weight weight = node().weight_left(column, at->position);
            const Cost away = !lipschitz()   ? kInfinite
                              : leaf_is_left ? loss_.slack(weight - a.weight)
                                             : loss_.slack(b.weight - weight);
            const Cost leaf = loss_.leaf(at->leaf);
            Cost gap = 0;
            for (std::size_t j = first; j < kOfSide; ++j) {
                const Cost other =
                    leaf_is_left ? std::max(b.right[j], a.right[j] - away) : std::max(a.left[j], b.left[j] - away);
                gap = std::max(gap, cut_[j + 1] - leaf - other);
            }
            if (gap <= 0) continue;
            open.add({at->position, at->position}, gap);
            open_leaves_.push_back(at->position);
        }
    };
    scan(leaves.left, true);
    scan(leaves.right, false);
}

// What is open between two tried splits, by way of the hints between them.
template <int Depth>
OpenSizes SizeSearch<Depth>::look(const NodeColumn& column, std::uint32_t a, std::uint32_t b, Positions within) {
    const std::size_t c = static_cast<std::size_t>(&column - node().columns.data());
    const SizePoint<kSide>&low = tried_[a], &high = tried_[b];
    OpenSizes open;
    open_leaves_.clear();
    const auto add_between = [&](const SizePoint<kSide>& from, const SizePoint<kSide>& to) {
        open_between<kSide, kAll>(column, from, to, pairs_, cut_, loss_, lipschitz(), open);
        if (by_leaves_) open_leaves(column, leaves_[c], from, to, open);
    };
    SizePoint<kSide> before = low;
    if (!hints_.empty()) {
        const SizePoint<kSide>*hint = first_after<kSide>(hints_[c], low.position),
              *end = hints_[c].data() + hints_[c].size();
        for (; hint != end && hint->position < high.position; ++hint) {
            SizePoint<kSide> here = *hint;
            raise<kSide>(here.left, before.left);
            raise<kSide>(here.right, high.right);
            if (lipschitz()) {
                raise<kSide>(here.left, high.left, loss_.slack(high.weight - here.weight));
                raise<kSide>(here.right, before.right, loss_.slack(here.weight - before.weight));
            }
            add_between(before, here);
            const Cost gap = gap_at<kSide, kAll>(here, {0, pairs_.settled}, cut_);
            if (gap > 0 && here.position >= column.first_split && here.position <= column.last_split)
                open.add({here.position, here.position}, gap);
            before = here;
        }
    }
    add_between(before, high);
    open.all = {std::max(open.all.first, within.first), std::min(open.all.last, within.last)};
    return open;
}

template <int Depth>
void SizeSearch<Depth>::push(Index id, std::uint32_t a, std::uint32_t b, Positions within) {
    const NodeColumn* const column = find_column(node(), id);
    if (!column || tried_[b].position - tried_[a].position < 2) return;
    const OpenSizes open = look(*column, a, b, within);
    if (open.all.empty()) return;
    heap_.push_back({open.gap, id, a, b, open.all});
    std::push_heap(heap_.begin(), heap_.end());
}

// The interval of the widest gap, as it stands now.
template <int Depth>
bool SizeSearch<Depth>::next(Interval& interval, OpenSizes& open) {
    while (!heap_.empty()) {
        std::pop_heap(heap_.begin(), heap_.end());
        interval = heap_.back();
        heap_.pop_back();
        const NodeColumn* const column = find_column(node(), interval.column);
        if (!column) continue;
        open = look(*column, interval.a, interval.b, interval.open);
        if (open.all.empty()) continue;
        interval.open = open.all;
        const bool others_first = open.gap < interval.gap && !heap_.empty() && open.gap < heap_.front().gap;
        interval.gap = open.gap;
        if (!others_first) return true;
        heap_.push_back(interval);
        std::push_heap(heap_.begin(), heap_.end());
    }
    return false;
}

// The middle of what is open; where that is leaves alone, the one of these nearest to it.
template <int Depth>
Index SizeSearch<Depth>::choose(const NodeColumn& column, const OpenSizes& open) const {
    const Index middle = open.all.middle();
    Index nearest = 0;
    const auto away = [&](Index x) { return x > middle ? x - middle : middle - x; };
    if (!open.deep)
        for (const Index x : open_leaves_)
            if (x >= open.all.first && x <= open.all.last && (!nearest || away(x) < away(nearest))) nearest = x;
    return nearest ? nearest : nearest_split(column, middle, open.all);
}

// ---- one split

template <int Depth>
void SizeSearch<Depth>::try_split(const Interval& interval, Index position) {
    Attempt attempt;
    attempt.interval = interval;
    attempt.point.column = interval.column;
    attempt.point.position = position;
    attempt.point.rank = column_of(node(), interval.column).ranks[position - 1];
    ++context_.counters.intervals;
    do {
        bound_sides(attempt);
        solve_sides(attempt);
    } while (sampled() && try_on_all(attempt));
    if (!sampled()) take_trees(attempt);
    settle(attempt);
}

// What is known of both sides before they are solved.
template <int Depth>
void SizeSearch<Depth>::bound_sides(Attempt& attempt) const {
    const NodeColumn& column = column_of(node(), attempt.interval.column);
    Tried& at = attempt.point;
    const Tried &low = tried_[attempt.interval.a], &high = tried_[attempt.interval.b];
    at.weight = node().weight_left(column, at.position);
    const auto from_below = [&](const SizePoint<kSide>& below) {
        raise<kSide>(at.left, below.left);
        if (lipschitz()) raise<kSide>(at.right, below.right, loss_.slack(at.weight - below.weight));
    };
    const auto from_above = [&](const SizePoint<kSide>& above) {
        raise<kSide>(at.right, above.right);
        if (lipschitz()) raise<kSide>(at.left, above.left, loss_.slack(above.weight - at.weight));
    };
    from_below(low);
    from_above(high);
    at.inner_left = low.inner_left;
    at.outer_right = low.outer_right;
    at.inner_right = high.inner_right;
    at.outer_left = high.outer_left;
    if (hints_.empty()) return;
    // The nearest hints may say more than the ends of the interval.
    const auto& hints = hints_[static_cast<std::size_t>(&column - node().columns.data())];
    const SizePoint<kSide>*begin = hints.data(), *after = first_after<kSide>(hints, at.position);
    if (after != begin) from_below(after[-1]);
    if (after != begin && after[-1].position == at.position) from_above(after[-1]);
    if (after != begin + hints.size()) from_above(*after);
}

template <int Depth>
void SizeSearch<Depth>::solve_sides(Attempt& attempt) {
    const NodeColumn& column = column_of(node(), attempt.interval.column);
    const Levels::Children& kids = solver_.divide(node(), column, attempt.point.position, request_.level);
    attempt.of_left.begin(leaf_cost(context_, kids.left, loss_), leaf_cost_of(kids.left, loss_));
    attempt.of_right.begin(leaf_cost(context_, kids.right, loss_), leaf_cost_of(kids.right, loss_));
    attempt.point.left[0] = attempt.of_left.relaxed[0];
    attempt.point.right[0] = attempt.of_right.relaxed[0];
    attempt.left = attempt.point.left;
    attempt.right = attempt.point.right;
    attempt.left[0] = attempt.of_left.upper[0];
    attempt.right[0] = attempt.of_right.upper[0];
    // The larger side first: its bounds are the likelier to settle the split alone.
    const bool left_first = kids.left.rows >= kids.right.rows;
    try {
        solve_side(attempt, left_first ? kids.left : kids.right, !left_first);
        solve_side(attempt, left_first ? kids.right : kids.left, left_first);
    } catch (const StopSearch&) {
        if (!sampled()) take_trees(attempt);
        throw;
    }
}

template <int Depth>
void SizeSearch<Depth>::solve_side(Attempt& attempt, const Node& rows, bool right) {
    Tried& at = attempt.point;
    const Tried &low = tried_[attempt.interval.a], &high = tried_[attempt.interval.b];
    PerSize<kSide>& mine = right ? attempt.right : attempt.left;
    const PerSize<kSide>& other = right ? attempt.left : attempt.right;
    const Weight distance = std::min(at.weight - low.weight, high.weight - at.weight);
    const Cost slack = context_.off(kNoSlack) ? 0 : loss_.slack(distance) / kPartOfDistance;
    SizeRequest<Depth - 1> request;
    bool any = false;
    for (std::size_t i = kOfSide; i-- > 0;) {
        Cost most = 0;
        for (std::size_t j = 0; j < kOfSide; ++j) {
            const Cost cut = cut_[i + j + 1];
            if (cut > 0 && pairs_(i, j)) most = std::max(most, cut + std::min(slack, cut) - other[j]);
        }
        // No pair is better where this side alone costs as much as the best tree with a leaf beside it.
        if (cut_[i + 1] > 0) most = std::min(most, cut_[i + 1]);
        if (i + 1 < kOfSide) most = std::max(most, request.limits[i + 1]);
        request.limits[i] = most;
        any |= i > 0 && most > mine[i];
    }
    if (!any) return;
    request.keep_profile = true;
    request.level = request_.level + 1;
    request.inner = (right ? at.inner_right : at.inner_left).get();
    request.outer = (right ? at.outer_right : at.outer_left).get();
    SizeAnswer<Depth - 1>& answer = right ? attempt.of_right : attempt.of_left;
    SideProfile profile = solver_.template solve<Depth - 1>(rows, request, answer);
    raise<kSide>(mine, answer.lower);
    raise<kSide>(right ? at.right : at.left, answer.relaxed);
    if (!profile) return;
    (right ? at.inner_right : at.inner_left) = profile;
    (right ? at.outer_right : at.outer_left) = std::move(profile);
}

template <int Depth>
void SizeSearch<Depth>::take_trees(Attempt& attempt) {
    bool better = false;
    for (std::size_t i = 0; i < kOfSide; ++i) {
        for (std::size_t j = 0; j < kOfSide; ++j) {
            const Cost cost = attempt.of_left.upper[i] + attempt.of_right.upper[j];
            if (cost >= answer_.upper[i + j + 1]) continue;
            better = true;
            answer_.offer(i + j + 1, cost,
                          split_plan(attempt.point.column, attempt.point.rank, attempt.of_left.plan[i],
                                     attempt.of_right.plan[j]));
        }
    }
    if (!better) return;
    answer_.share_trees();
    refresh_cuts();
}

// Tries the trees of a sample that would be better on all rows. True where the sample has grown, because one of them
// costs more there: then the split is to be solved again.
template <int Depth>
bool SizeSearch<Depth>::try_on_all(Attempt& attempt) {
    PerSize<kAll> best = cut_;
    std::array<std::pair<std::size_t, std::size_t>, kOfTree> sides{};
    for (std::size_t i = 0; i < kOfSide; ++i) {
        for (std::size_t j = 0; j < kOfSide; ++j) {
            const Cost cost = attempt.of_left.upper[i] + attempt.of_right.upper[j];
            if (cost >= best[i + j + 1]) continue;
            best[i + j + 1] = cost;
            sides[i + j + 1] = {i, j};
        }
    }
    bool grows = false;
    for (std::size_t s = 1; s < kOfTree; ++s) {
        if (best[s] >= std::min(cut_[s], answer_.upper[s])) continue;
        const auto [i, j] = sides[s];
        const LazyRows::Trial trial = lazy_->try_on_all(
            split_plan(attempt.point.column, attempt.point.rank, attempt.of_left.plan[i], attempt.of_right.plan[j]));
        if (answer_.offer(s, trial.cost, trial.plan)) answer_.share_trees();
        const Cost lacks = std::min(limits_[s], answer_.upper[s]) - best[s];
        if (lacks <= 0) continue;
        lazy_->mark_wrong(static_cast<std::size_t>(loss_.errors_for(lacks) * kRowsPerError + kRowsBesides));
        grows = true;
    }
    refresh_cuts();
    if (grows) {
        lazy_->join_marked();
        sample_has_grown(attempt);
    }
    return grows;
}

// Bounds and profiles of subsets hold on more rows; those of supersets do not, and positions are others.
template <int Depth>
void SizeSearch<Depth>::sample_has_grown(Attempt& attempt) {
    if (by_leaves_) list_leaf_sides(node(), leaves_);
    const Positions everywhere{1, node().rows - 1};
    const auto place = [&](Tried& point) {
        const NodeColumn& column = column_of(node(), point.column);
        point.position = Node::rows_up_to(column, point.rank, 0, node().rows);
        point.weight = node().weight_left(column, point.position);
        point.outer_left = point.outer_right = nullptr;
    };
    for (std::size_t k = 2; k < tried_.size(); ++k) place(tried_[k]);
    tried_[1].position = node().rows;
    tried_[1].weight = node().weight;
    place(attempt.point);
    attempt.interval.open = everywhere;
    for (Interval& interval : heap_) interval.open = everywhere;
}

template <int Depth>
void SizeSearch<Depth>::settle(Attempt& attempt) {
    if (context_.constrained())
        for (std::size_t i = 0; i < kOfSide; ++i)
            for (std::size_t j = 0; j < kOfSide; ++j)
                relaxed_[i + j + 1] = std::min(relaxed_[i + j + 1], attempt.point.left[i] + attempt.point.right[j]);
    const std::uint32_t number = static_cast<std::uint32_t>(tried_.size());
    const Interval& interval = attempt.interval;
    tried_.push_back(std::move(attempt.point));
    push(interval.column, interval.a, number, interval.open);
    push(interval.column, number, interval.b, interval.open);
}

// ---- the end

template <int Depth>
void SizeSearch<Depth>::finish() {
    const PerSize<kAll> small = context_.constrained() ? bound_of_small_sides() : PerSize<kAll>{};
    for (std::size_t s = surveyed_ ? Depth : 1; s < kOfTree; ++s) {
        const Cost proven = std::min(limits_[s], answer_.upper[s]);
        answer_.lower[s] = std::max(answer_.lower[s], proven);
        Cost relaxed = std::min({proven, answer_.relaxed[0], relaxed_[s], small[s]});
        // Pairs of small sides were left to the survey.
        if (pairs_.settled > 0 && s < 2 * pairs_.settled) relaxed = std::min(relaxed, whole_.relaxed[s]);
        answer_.relaxed[s] = std::max<Cost>(0, relaxed);
    }
    if (!context_.constrained()) answer_.relaxed = answer_.lower;
    answer_.share_bounds();
}

// What is proven where the search is stopped while an interval is tried.
template <int Depth>
void SizeSearch<Depth>::stop(const Interval& trying) {
    PerSize<kAll> least = answer_.upper;
    const auto bound = [&](const Interval& interval) {
        const Tried &a = tried_[interval.a], &b = tried_[interval.b];
        for (std::size_t i = 0; i < kOfSide; ++i) {
            for (std::size_t j = 0; j < kOfSide; ++j) {
                if (!pairs_(i, j)) continue;
                const OpenRange range = open_range({a.left[i], a.right[j], a.weight}, {b.left[i], b.right[j], b.weight},
                                                   kInfinite, loss_, lipschitz());
                least[i + j + 1] = std::min(least[i + j + 1], range.bound);
            }
        }
    };
    bound(trying);
    for (const Interval& interval : heap_) bound(interval);
    for (std::size_t s = surveyed_ ? Depth : 1; s < kOfTree; ++s)
        answer_.lower[s] = std::max(answer_.lower[s], std::min(limits_[s], least[s]));
    answer_.share_bounds();
}

// Splits that leave a side too small for a leaf are never tried, but trees without a minimum leaf size may use them.
// The small side may cost nothing; the large one contains that side of every split further in.
template <int Depth>
PerSize<SizeSearch<Depth>::kAll> SizeSearch<Depth>::bound_of_small_sides() const {
    PerSize<kAll> least;
    least.fill(kInfinite);
    for (std::size_t c = 0; c < node().columns.size(); ++c) {
        const NodeColumn& column = node().columns[c];
        PerSize<kSide> left{}, right{};
        const auto look_at = [&](const SizePoint<kSide>& point) {
            if (point.position + 1 >= column.first_split) raise<kSide>(right, point.right);
            if (point.position <= column.last_split + 1) raise<kSide>(left, point.left);
        };
        if (!hints_.empty())
            for (const SizePoint<kSide>& hint : hints_[c]) look_at(hint);
        for (std::size_t k = 2; k < tried_.size(); ++k)
            if (tried_[k].column == column.id) look_at(tried_[k]);
        // A group of ties that goes on beyond them leaves no such split.
        const Index rows = node().rows;
        const bool before = column.first_split <= rows && column.ranks[0] != column.ranks[column.first_split - 1],
                   after = column.last_split < rows && column.ranks[column.last_split] != column.ranks[rows - 1];
        for (std::size_t s = 1; s < kOfTree; ++s) {
            const std::size_t other = std::min(s, kOfSide) - 1;
            if (before) least[s] = std::min(least[s], right[other]);
            if (after) least[s] = std::min(least[s], left[other]);
        }
    }
    return least;
}

template <int Depth>
std::shared_ptr<const ProfileOf<Depth>> SizeSearch<Depth>::make_profile() const {
    if (context_.off(kNoInheritance) || context_.profile_bytes >= context_.memory_limit) return nullptr;
    auto profile = std::make_shared<ProfileOf<Depth>>(context_.profile_bytes);
    profile->rows = node_.rows;
    profile->weight = node_.weight;
    profile->columns.resize(node_.columns.size());
    for (std::size_t c = 0; c < node_.columns.size(); ++c) {
        profile->columns[c].id = node_.columns[c].id;
        if (!hints_.empty()) profile->columns[c].points = hints_[c];
    }
    for (std::size_t k = 2; k < tried_.size(); ++k) {
        const NodeColumn* const column = find_column(node_, tried_[k].column);
        profile->columns[static_cast<std::size_t>(column - node_.columns.data())].points.push_back(tried_[k]);
    }
    for (std::size_t c = 0; c < node_.columns.size(); ++c) {
        auto& points = profile->columns[c].points;
        std::sort(points.begin(), points.end(),
                  [](const SizePoint<kSide>& a, const SizePoint<kSide>& b) { return a.position < b.position; });
        for (SizePoint<kSide>& point : points) point.rank = node_.columns[c].ranks[point.position - 1];
    }
    profile->account();
    context_.counters.profile_bytes_peak = std::max(context_.counters.profile_bytes_peak, context_.profile_bytes);
    return profile;
}

template class SizeSearch<3>;
template class SizeSearch<4>;

}  // namespace provetree
