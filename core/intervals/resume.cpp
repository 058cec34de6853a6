// The chain of nodes of a proof that is kept on disk; see intervals/resume.hpp.
#include "intervals/resume.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "intervals/lazy_rows.hpp"

namespace provetree {

namespace {

constexpr std::size_t kMostPoints = 100'000;         // of one node, on disk; what is beyond is found again
constexpr std::size_t kMostProfilePoints = 300'000;  // of the sides of splits, in one file
constexpr std::chrono::seconds kBetweenTelling{5};

// Fewer points, where there are too many: bounds taken over first, then evenly. Each of them is true by itself.
void thin_out(std::vector<KnownNode::Point>& points) {
    if (points.size() <= kMostPoints) return;
    std::erase_if(points, [](const KnownNode::Point& point) { return !point.settled; });
    const std::size_t step = (points.size() + kMostPoints - 1) / kMostPoints;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < points.size(); i += step) points[kept++] = points[i];
    points.resize(kept);
}

std::size_t points_in(const ProfilePtr& profile) {
    std::size_t points = 0;
    if (!profile) return points;
    for (const PanelColumn& column : profile->panel) points += column.points.size();
    for (const DeepFamily& family : profile->deep) points += family.points.size();
    return points;
}

// Drops what is known of the sides of splits beyond what a file should hold.
void limit_profiles(KnownNode& node, std::size_t& room) {
    for (KnownNode::Point& point : node.points) {
        const std::size_t points = points_in(point.of_left) + points_in(point.of_right);
        if (points > room)
            point.of_left = point.of_right = nullptr;
        else
            room -= points;
    }
}

}  // namespace

std::optional<KnownNode> TreeSearch::Chain::Common::known(const std::vector<KnownNode::Step>& way) {
    if (left_.load(std::memory_order_relaxed) == 0) return std::nullopt;
    const std::lock_guard<std::mutex> held(lock_);
    for (const KnownNode& node : known_)
        if (node.way == way) return node;
    return std::nullopt;
}

void TreeSearch::Chain::Common::forget(const std::vector<KnownNode::Step>& way, const SplitName& split) {
    if (left_.load(std::memory_order_relaxed) == 0) return;
    const std::lock_guard<std::mutex> held(lock_);
    std::erase_if(known_, [&](const KnownNode& node) {
        return node.way.size() > way.size() && std::equal(way.begin(), way.end(), node.way.begin()) &&
               node.way[way.size()].split == split;
    });
    left_ = known_.size();
}

void TreeSearch::Chain::Common::publish(std::size_t who, std::optional<SplitName> at_root,
                                        std::vector<KnownNode> nodes) {
    const std::lock_guard<std::mutex> held(lock_);
    if (told_.size() <= who) told_.resize(who + 1);
    told_[who] = {at_root, std::move(nodes)};
}

void TreeSearch::Chain::Common::add_to(Checkpoint& checkpoint) {
    const std::lock_guard<std::mutex> held(lock_);
    const auto add = [&](const KnownNode& node) {
        const bool there = std::any_of(checkpoint.below.begin(), checkpoint.below.end(),
                                       [&](const KnownNode& other) { return other.way == node.way; });
        if (!there) checkpoint.below.push_back(node);
    };
    for (const Told& told : told_) {
        // What was told some seconds ago may be done by now.
        if (!told.at_root) continue;
        const bool done =
            std::any_of(checkpoint.root.points.begin(), checkpoint.root.points.end(),
                        [&](const KnownNode::Point& point) { return point.settled && point.split == *told.at_root; });
        if (done) continue;
        checkpoint.root.tried.push_back(*told.at_root);
        for (const KnownNode& node : told.nodes) add(node);
    }
    for (const KnownNode& node : known_) add(node);
}

void TreeSearch::Chain::begin(std::size_t level, const SplitName& split) {
    if (links.size() <= level) links.resize(level + 1);
    Link& link = links[level];
    link.trying = true;
    link.step = {split, false};
    link.done.reset();
}

void TreeSearch::Chain::side_done(std::size_t level, const Outcome& outcome, Shape shape, Index rows) {
    shape = shape.on(rows);
    Link& link = links[level];
    if (shape.depth >= 3) link.done = Link::Side{link.step, outcome, shape, rows};
}

void TreeSearch::Chain::split_done(std::size_t level) {
    Link& link = links[level];
    common->forget(way(level), link.step.split);
    link.trying = false;
    link.done.reset();
}

std::vector<KnownNode::Step> TreeSearch::Chain::way(std::size_t level) const {
    std::vector<KnownNode::Step> steps;
    for (std::size_t l = 0; l < level; ++l) steps.push_back(links[l].step);
    return steps;
}

std::optional<SplitName> TreeSearch::Chain::at_root() const {
    if (links.empty() || !links[0].trying) return std::nullopt;
    return links[0].step.split;
}

// What the search of a node at that level knows, and what it knows of the side that is done.
void TreeSearch::Chain::add_nodes(std::size_t level, std::vector<KnownNode>& nodes) const {
    const Link& link = links[level];
    if (level > 0 && link.frame) {
        KnownNode node = search.known_of(*link.frame);
        node.way = way(level);
        if (link.trying) node.tried.push_back(link.step.split);
        nodes.push_back(std::move(node));
    }
    if (!link.trying || !link.done) return;
    const Link::Side& side = *link.done;
    KnownNode node;
    node.way = way(level);
    node.way.push_back(side.step);
    node.shape = side.shape;
    node.rows = side.rows;
    node.best.take(side.outcome);
    node.lower = side.outcome.lower;
    node.relaxed = side.outcome.relaxed;
    if (side.outcome.profile) {
        node.weight = side.outcome.profile->weight;
        for (const DeepFamily& family : side.outcome.profile->deep)
            for (const DeepPoint& point : family.points)
                node.points.push_back({{family.id, family.left_splits, point.rank},
                                       point.left,
                                       point.right,
                                       false,
                                       kInfinite,
                                       kInfinite,
                                       {},
                                       {},
                                       false});
        thin_out(node.points);
    }
    nodes.push_back(std::move(node));
}

std::vector<KnownNode> TreeSearch::Chain::nodes() const {
    std::vector<KnownNode> all = stranded;
    for (std::size_t level = 0; level < links.size(); ++level) add_nodes(level, all);
    return all;
}

void TreeSearch::Chain::tell(bool at_once) {
    if (!at_once && Clock::now() < next_) return;
    common->publish(who, at_root(), nodes());
    next_ = Clock::now() + std::min<Clock::duration>(kBetweenTelling, common->file.between());
}

// What is known of a node now, as it is kept on disk.
KnownNode TreeSearch::known_of(const Frame& frame) const {
    KnownNode known;
    known.shape = frame.shape;
    known.rows = frame.node.rows;
    known.weight = frame.node.weight;
    known.best.take(frame.outcome);
    known.cut = std::min(frame.limit, frame.outcome.upper);
    known.by_tie_rule = frame.ties != nullptr;
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t f = 0; f < frame.families.size(); ++f) {
        const NodeColumn& column = frame.column(f);
        const auto name = [&](Index position) {
            return SplitName{column.id, frame.left_splits[f], column.ranks[position - 1]};
        };
        numbers = frame.points_of[f];
        std::sort(numbers.begin(), numbers.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return by_position(frame.points[a], frame.points[b]); });
        // What is known of the sides of a split helps its neighbours only, where they are open.
        const auto open = [&](std::uint32_t a, std::uint32_t b) {
            const DeepPoint &low = frame.points[a], &high = frame.points[b];
            Opening opening{};
            return high.position - low.position >= 2 &&
                   look_between(frame, f, low, high, {0, frame.node.rows}, opening);
        };
        bool open_before = numbers.empty() || open(2 * f, numbers[0]);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const DeepPoint& point = frame.points[numbers[i]];
            const bool open_after = open(numbers[i], i + 1 < numbers.size() ? numbers[i + 1] : 2 * f + 1);
            KnownNode::Point kept{name(point.position), point.left, point.right, true, point.left_upper,
                                  point.right_upper,    {},         {},          false};
            if (open_before || open_after) {
                kept.of_left = point.inner_left;
                kept.of_right = point.inner_right;
                kept.whole = point.inner_left == point.outer_left && point.inner_right == point.outer_right;
            }
            known.points.push_back(std::move(kept));
            open_before = open_after;
        }
        for (const DeepPoint& hint : frame.families[f].hints)
            if (hint.position > 0 && hint.position < frame.node.rows)
                known.points.push_back(
                    {name(hint.position), hint.left, hint.right, false, kInfinite, kInfinite, {}, {}, false});
    }
    thin_out(known.points);
    for (const Frame::Resumed& first : frame.resumed) {
        const NodeColumn& column = frame.column(first.interval.family);
        known.tried.push_back({column.id, frame.left_splits[first.interval.family], column.ranks[first.position - 1]});
    }
    return known;
}

TreeSearch::Visit::Visit(TreeSearch& search, Frame& frame, bool opens) : search_(search), frame_(frame), opens_(opens) {
    CheckpointFile* file = search.context_.checkpoint;
    if (opens && file) {
        search.chain_ =
            std::make_shared<Chain>(search, std::make_shared<Chain::Common>(*file, search.known_proof.below), 0);
        file->keep_by([this] {
            std::unique_lock<std::mutex> held;
            if (std::mutex* lock = chain_->common->root_lock) held = std::unique_lock<std::mutex>(*lock);
            search_.save(frame_);
        });
    }
    chain_ = search.chain_;
}

TreeSearch::Visit::~Visit() {
    if (!chain_) return;
    if (chain_->links.size() > frame_.level) chain_->links.resize(frame_.level);
    if (!opens_) return;
    chain_->common->file.keep_by(nullptr);
    search_.chain_ = nullptr;
}

void TreeSearch::Visit::arrive() {
    if (!chain_) return;
    if (opens_) {
        search_.take_up(frame_, search_.known_proof.root);
    } else if (const std::optional<KnownNode> known = chain_->known(frame_.level)) {
        if (known->shape.depth == frame_.shape.depth && known->shape.splits == frame_.shape.splits)
            search_.take_up(frame_, *known);
    }
    chain_->links.resize(frame_.level);
    chain_->links.emplace_back().frame = &frame_;
}

void TreeSearch::Visit::strand() {
    if (!chain_ || opens_ || chain_->links.size() <= frame_.level || chain_->links[frame_.level].frame != &frame_)
        return;
    chain_->add_nodes(frame_.level, chain_->stranded);
}

// Leaves the best tree and the bounds of all splits tried, or known from before, on disk: those of the root and of the
// nodes that are searched below it.
void TreeSearch::save(const Frame& frame) const {
    if (chain_->links.empty() || chain_->links[0].frame != &frame)
        return;  // it has not taken up yet what the file knows
    Checkpoint checkpoint = checkpoint_of(context_);
    checkpoint.root = known_of(frame);
    if (frame.lazy && !frame.lazy->complete()) checkpoint.sample = frame.lazy->marked();
    checkpoint.root.best.offer(context_.found);
    if (const std::optional<SplitName> split = chain_->at_root()) checkpoint.root.tried.push_back(*split);
    checkpoint.below = chain_->nodes();
    chain_->common->add_to(checkpoint);
    std::size_t room = kMostProfilePoints;
    limit_profiles(checkpoint.root, room);
    for (KnownNode& node : checkpoint.below) limit_profiles(node, room);
    context_.checkpoint->write(checkpoint);
}

// Goes on with a node where an earlier search was. Its bounds hold for all rows that this one has, because they were
// proven on these rows or on some of them. Trees are taken over where the rows are the same.
void TreeSearch::take_up(Frame& frame, const KnownNode& known) {
    if (context_.off(kNoInheritance)) return;
    const Node& node = frame.node;
    const Cost penalty = loss.split_penalty;
    const bool same_rows = known.rows == node.rows, same_sample = same_rows && known.weight == node.weight;
    bool same_choice = false;
    if (same_rows && known.best.plan &&
        (known.best.upper < frame.outcome.upper || (frame.ties && known.best.upper == frame.outcome.upper))) {
        frame.outcome.take(known.best);
        if (frame.ties) *frame.ties = choice_of(node, frame.outcome);
        same_choice = known.by_tie_rule;
    }
    const Cost now = std::min(frame.limit, frame.outcome.upper);
    // Splits that were tried are settled for good, unless more is asked for than was then. Under the tie rule, a tree
    // that costs as much is less.
    const bool settled =
        same_rows && (frame.ties ? now < known.cut || (now == known.cut && same_choice) : now <= known.cut);
    std::map<std::pair<Index, std::int64_t>, std::vector<const KnownNode::Point*>> by_family;
    for (const KnownNode::Point& point : known.points)
        by_family[{point.split.column, point.split.left_splits}].push_back(&point);
    frame.heap = {};
    for (std::uint32_t f = 0; f < frame.families.size(); ++f) {
        const NodeColumn& column = frame.column(f);
        std::vector<DeepPoint>& hints = frame.families[f].hints;
        std::vector<DeepPoint> ends;
        for (const KnownNode::Point* of : by_family[{column.id, frame.left_splits[f]}]) {
            const Index position = Node::rows_up_to(column, of->split.rank, 0, node.rows);
            if (position == 0 || position == node.rows) continue;
            DeepPoint point{
                of->split.rank, position, node.weight_left(column, position), of->left, of->right, {}, {}, {}, {}};
            point.inner_left = of->of_left;
            point.inner_right = of->of_right;
            if (same_sample) {
                point.left_upper = of->left_upper;
                point.right_upper = of->right_upper;
                if (of->whole) {
                    point.outer_left = of->of_left;
                    point.outer_right = of->of_right;
                }
            }
            (settled && of->settled ? ends : hints).push_back(std::move(point));
        }
        if (!hints.empty()) tidy(hints, loss.error_scale);
        // What its bounds close is settled as well.
        if (!settled) {
            const auto open = std::stable_partition(hints.begin(), hints.end(), [&](const DeepPoint& hint) {
                return hint.left + hint.right + penalty < frame.cut(f) || hint.position == 0 ||
                       hint.position == node.rows;
            });
            std::move(open, hints.end(), std::back_inserter(ends));
            hints.erase(open, hints.end());
        }
        take_up(frame, f, std::move(ends), known);
    }
    const Cost proven = same_rows ? known.lower : known.relaxed;
    if (proven > 0 && proven >= now) {
        frame.heap = {};
        frame.resumed.clear();
        frame.relaxed = std::min(frame.relaxed, known.relaxed);
    }
}

// The same of one column: the points are those where it is settled, and between them it is open. Splits that were being
// solved come first.
void TreeSearch::take_up(Frame& frame, std::uint32_t family, std::vector<DeepPoint> ends, const KnownNode& known) {
    const NodeColumn& column = frame.column(family);
    std::stable_sort(ends.begin(), ends.end(), by_position);
    ends.erase(std::unique(ends.begin(), ends.end(),
                           [](const DeepPoint& a, const DeepPoint& b) { return a.position == b.position; }),
               ends.end());
    const auto between = [&](std::uint32_t a, std::uint32_t b) {
        const DeepPoint &low = frame.points[a], &high = frame.points[b];
        for (const SplitName& split : known.tried) {
            if (split.column != column.id || split.left_splits != frame.left_splits[family]) continue;
            const Index position = Node::rows_up_to(column, split.rank, 0, frame.node.rows);
            if (position <= low.position || position >= high.position) continue;
            Opening opening{};
            if (!look_between(frame, family, low, high, {0, frame.node.rows}, opening)) return;
            const Interval interval{
                opening.bound, family, a, b, high.position - low.position, opening.all, frame.families[family].order};
            frame.resumed.push_back({interval, position});
            return;
        }
        push(frame, family, a, b, {0, frame.node.rows});
    };
    std::uint32_t last = 2 * family;
    for (DeepPoint& point : ends) {
        const std::uint32_t number = static_cast<std::uint32_t>(frame.points.size());
        frame.relaxed = std::min(frame.relaxed, point.left + point.right + loss.split_penalty);
        frame.points.push_back(std::move(point));
        frame.points_of[family].push_back(number);
        between(last, number);
        last = number;
    }
    between(last, 2 * family + 1);
}

// The split that an earlier search was at, as long as there is one. False where there is none, or where it is open no
// more.
bool TreeSearch::next_resumed(Frame& frame, Interval& interval, Index& position) const {
    while (!frame.resumed.empty()) {
        const Frame::Resumed first = frame.resumed.back();
        frame.resumed.pop_back();
        Opening opening{};
        if (!look_between(frame, first.interval.family, frame.points[first.interval.a], frame.points[first.interval.b],
                          first.interval.open, opening))
            continue;
        interval = first.interval;
        position = first.position;
        if (position >= opening.all.first && position <= opening.all.last) return true;
        frame.heap.push(interval);
    }
    return false;
}

}  // namespace provetree
