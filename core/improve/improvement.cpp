// Turns between the proof and the search for better trees; see improve/improvement.hpp.
#include "improve/improvement.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <vector>

namespace provetree {

namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr double kMostOfThread = 0.7;  // more than any share
constexpr double kMostOfClient = 0.1;  // of the time of a thread that feeds workers elsewhere

// Steps that the proof has to itself: about a second and a half at depths three and four, half of one on bits, a
// tenth below. Steps of measured losses take longer, and their proofs with a split budget or a penalty take so long
// that better trees cannot wait.
std::uint64_t first_turn(const Context& context, Shape shape, const Loss& loss, bool by_bits) {
    if (context.eager_improvement()) return 1;
    if (shape.depth <= 3 || (shape.depth == 4 && !by_bits)) return 400'000'000;
    // A loss that counts splits charges less than a unit for them where the user has no penalty.
    const bool sized = shape.splits < Shape::full(shape.depth) || loss.split_penalty >= loss.unit_scale;
    if (context.table.measure && sized) return 4'000'000;
    if (context.table.measure && by_bits) return 400'000'000;
    return by_bits ? 200'000'000 : 20'000'000;
}

// A tree with k splits predicts at most k + 1 classes: the rows of all other classes are errors.
Weight errors_of_classes_without_leaf(const Table& table, Shape shape) {
    const std::size_t n_classes = static_cast<std::size_t>(table.n_classes);
    const std::size_t leaves = static_cast<std::size_t>(std::min<std::int64_t>(shape.splits, table.n_classes)) + 1;
    if (leaves >= n_classes) return 0;
    std::vector<Weight> by_class(n_classes, 0);
    for (Index i = 0; i < table.rows; ++i)
        by_class[static_cast<std::size_t>(table.classes[i])] += static_cast<Weight>(table.weights[i]);
    std::sort(by_class.begin(), by_class.end());
    return std::accumulate(by_class.begin(), by_class.end() - static_cast<std::ptrdiff_t>(leaves), Weight{0});
}

// Numbers the groups of rows that are equal in every column, refined column by column; gives how many there are.
Index group_equal_rows(Context& context, std::vector<Index>& group) {
    const Table& table = context.table;
    group.assign(table.rows, 0);
    std::unordered_map<std::uint64_t, Index> numbers;
    Index groups = 1;
    for (Index c = 0; c < table.columns && groups < table.rows; ++c) {
        const Index* ranks = ranks_of(table, c);
        numbers.clear();
        for (Index i = 0; i < table.rows; ++i)
            group[i] = numbers.try_emplace(std::uint64_t{group[i]} << 32 | ranks[i], static_cast<Index>(numbers.size()))
                           .first->second;
        groups = static_cast<Index>(numbers.size());
        context.monitor.work(10 * std::uint64_t{table.rows});
    }
    return groups;
}

// Rows that are equal in every column end in one leaf: all but those of their heaviest class are errors.
Weight errors_of_equal_rows(Context& context) {
    const Table& table = context.table;
    std::vector<Index> group;
    if (group_equal_rows(context, group) == table.rows) return 0;
    struct Row {
        Index group;
        std::int32_t cls;
        Weight weight;
    };
    std::vector<Row> rows(table.rows);
    for (Index i = 0; i < table.rows; ++i)
        rows[i] = {group[i], table.classes[i], static_cast<Weight>(table.weights[i])};
    std::sort(rows.begin(), rows.end(),
              [](const Row& a, const Row& b) { return a.group != b.group ? a.group < b.group : a.cls < b.cls; });
    Weight errors = 0;
    for (std::size_t begin = 0, end; begin < rows.size(); begin = end) {
        Weight total = 0, most = 0, of_class = 0;
        for (end = begin; end < rows.size() && rows[end].group == rows[begin].group; ++end) {
            if (end > begin && rows[end].cls != rows[end - 1].cls) of_class = 0;
            of_class += rows[end].weight;
            total += rows[end].weight;
            most = std::max(most, of_class);
        }
        errors += total - most;
    }
    return errors;
}

}  // namespace

Improvement::Improvement(Context& context, const Node* root, Shape shape, const Loss& loss, const Incumbent& start,
                         Policy policy, Listener listener, Bound bound)
    : context_(context), root_(root), shape_(shape), loss_(loss), start_(start), policy_(policy),
      listener_(std::move(listener)), bound_(std::move(bound)) {
    if (context.off(kNoImprovement) || shape.depth < 3 || start.upper <= 0) return;
    turns_.emplace(context_.monitor, first_turn(context, shape, loss, policy.by_bits), [this] { return turn(); });
}

void Improvement::begin() {
    if (!root_) {
        NodeBuilder(context_.table, context_.kernel, context_.min_leaf).build_root(own_root_);
        root_ = &own_root_;
    }
    if (!root_->measure) {
        const Weight errors =
            std::max(errors_of_classes_without_leaf(context_.table, shape_), errors_of_equal_rows(context_));
        context_.found.bound = std::max(context_.found.bound, loss_.tree(errors, 0));
    }
    listener_(start_.upper);
    // The budget of the left child is what the search of the root divides: the least that is enough.
    const auto keep = [this](Cost cost, const PlanPtr& plan, std::int64_t left_splits) {
        if (!context_.found.offer({cost, plan, left_budget(shape_, left_splits)})) return;
        ++context_.counters.improvements;
        listener_(cost);
    };
    improver_ = std::make_unique<Improver>(context_, *root_, shape_, loss_, start_, keep);
}

// The part of all steps that goes into better trees.
double Improvement::share() const {
    if (context_.eager_improvement()) return 0.5;
    if (policy_.hopeless) return share_after_vain_rounds(0.3, 0.6);
    // Proofs of depth three mostly end, and their own trees are soon the best: there better trees have little to gain.
    // The same is true of deeper proofs that are well on their way.
    if (shape_.depth <= 3) return 0.05;
    return share_after_vain_rounds(0.05, 3 * lower() > upper() ? 0.05 : 0.3);
}

double Improvement::share_after_vain_rounds(double at_least, double at_first) const {
    return std::max(at_least, at_first * std::pow(0.93, static_cast<double>(improver_->rounds_in_vain())));
}

// Whether workers elsewhere need this thread now: it feeds them, and they are many.
bool Improvement::feeding() const { return context_.exchange && seconds_ > kMostOfClient * context_.monitor.seconds(); }

std::uint64_t Improvement::turn() {
    if (feeding()) return context_.monitor.steps() + 1;
    const double began = context_.monitor.seconds();
    const std::uint64_t next = turns_until_due();
    seconds_ += context_.monitor.seconds() - began;
    return next;
}

std::uint64_t Improvement::turns_until_due() {
    const Closings::Heard silence(context_.closings);  // what it looks at is no part of the proof
    const Monitor& monitor = context_.monitor;
    std::uint64_t& steps = context_.counters.improvement_steps;
    if (!improver_ && !proven()) begin();
    if (improver_ && context_.found.upper < start_.upper)
        improver_->go_on_from(context_.found.upper, context_.found.plan);
    const std::uint64_t before = steps, start = monitor.own_steps();
    while (!proven()) {
        if (improver_->finished()) return kNever;
        improver_->step();
        steps = before + monitor.own_steps() - start;
        context_.counters.improvement_rounds = improver_->rounds();
        if (proven()) break;
        // Of several threads it is one that takes the turns for all; it has its part in the proof nevertheless.
        const double part = static_cast<double>(steps), all = static_cast<double>(monitor.steps()),
                     own = static_cast<double>(monitor.own_steps());
        const double next = std::max(part / share(), all + part / kMostOfThread - own);
        if (next >= all || context_.exchange) return static_cast<std::uint64_t>(std::max(next, all)) + 1;
    }
    if (policy_.ends) throw StopSearch{StopReason::kTreeIsOptimal};
    return kNever;
}

}  // namespace provetree
