// The driver of a search: open, start, prove, choose, check; see search/search.hpp.
#include "search/search.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "improve/improvement.hpp"
#include "measures/cell_rows.hpp"
#include "proof/checkpoint.hpp"
#include "search/method.hpp"
#include "search/one_column.hpp"
#include "table/unmerged.hpp"
#include "tree/route.hpp"

namespace provetree {

namespace {

// The tie rule may take this much effort (row steps) on its own, and beyond that as much as the proof took.
// Deterministic, unlike a time. A step on bits takes longer: its effort is some three milliseconds.
constexpr std::uint64_t kTieRuleSteps = 30'000'000, kTieRuleStepsOfBits = 1'000'000;

// Trees of so many splits are looked for by themselves in tables of so few rows where no errors are left: that takes
// milliseconds.
constexpr std::int64_t kFewSplits = 3;
constexpr Index kFewRows = 1500;

// The greatest depth that cells prove in seconds.
constexpr int kDepthOfCells = 5;

constexpr std::size_t kLongestHistory = 4096;

[[noreturn]] void defect(const std::string& what) {
    throw std::logic_error("provetree core: " + what + "; please report this.");
}

// Throws where a tree is deeper, or has more splits or smaller leaves, than it may.
void check_limits(const FlatTree& tree, Shape allowed, std::int64_t min_leaf, const Table& table) {
    bool within = tree.splits <= allowed.splits && tree.depth() <= allowed.depth;
    if (within && min_leaf > 1) {
        std::vector<std::int64_t> counts(tree.column.size(), 0);
        for (Index row = 0; row < table.rows; ++row) counts[leaf_of(tree, table, row)] += table.counts[row];
        for (std::size_t at = 0; at < counts.size(); ++at) within &= tree.column[at] >= 0 || counts[at] >= min_leaf;
    }
    if (!within) defect("a tree exceeds its limits");
}

// What a search decides once, before it begins.
struct SearchPlan {
    // `rows` as they are searched. `known_cost`: what an optimal tree costs, where an earlier search has proven it.
    SearchPlan(const SearchOptions& options, bool on_bits, Index rows, Cost known_cost)
        : allowed(Shape::of(options.max_depth, options.max_splits)), shape(allowed.on(rows)),
          deep(shape.depth > kDepthAtOnce && !on_bits), known(deep ? known_cost : 0),
          tie_rule(!(options.switches & kNoTieRule) && known <= 0), at_once(tie_rule && shape.depth <= kDepthAtOnce),
          limited(options.max_work > 0 || options.time_limit < std::numeric_limits<double>::infinity()),
          factor(allowed.splits + 1), users(options.loss), refined(users.counting_splits(factor)),
          loss(at_once ? refined : users), unit(at_once ? factor : 1),
          below(options.below < kInfinite / unit ? options.below * unit : kInfinite),
          tolerance(loss.measured(options.rounded_units) * (allowed.splits + 1)) {}

    // Up to this depth the cost and the fewest splits are proven in one search, which takes hardly longer. In deeper
    // trees the fewest splits can be far harder to prove than the cost, so the cost comes first.
    static constexpr int kDepthAtOnce = 4;

    Shape allowed;  // by the user
    Shape shape;    // the same on so many rows
    bool deep;      // by sweeps, and deeper than what is proven at once
    Cost known;     // the optimal cost where it is known: the search ends with the first tree that has it; 0 otherwise
    bool tie_rule;  // among equally good trees, the one that the tie rule prefers
    bool at_once;   // the cost and the fewest splits are proven in one search
    bool limited;   // the search may end before its proof
    // Fewest splits among the cheapest trees: costs are multiplied by `factor`, so that a split counts as a unit, and
    // all splits of a tree together are less than one unit of the user's cost.
    Cost factor;
    Loss users, refined;
    Loss loss;   // of the proof
    Cost unit;   // of the proof's costs, in the user's
    Cost below;  // trees that cost less are looked for, in the proof's costs; kInfinite: the best one
    // What is proven holds to so much of the proof's costs, because sweeps under a measure may round.
    Cost tolerance;
};

// Whether the tree is found again by one thread where the tie rule does not settle it. A proof that goes on from a file
// has met other trees on its way than one thread would.
bool rebuilds(const SearchOptions& options) {
    return (options.n_jobs > 1 || options.exchange) && !options.max_work && options.checkpoint.empty() &&
           !(options.switches & kNoTieRule);
}

// One search from beginning to end.
class Driver {
  public:
    // Where the cost of an optimal tree is `known`, a deep search by sweeps ends with the first tree that has it.
    Driver(const Table& merged, const SearchOptions& options, const Tick& tick, Cost known);

    SearchResult run() {
        open();
        start();
        prove();
        if (plan_.at_once) choose();
        check();
        if (!plan_.at_once) choose_with_fewest_splits();
        if (options_.certify) certify();
        result_.counters = context_.counters;
        return std::move(result_);
    }

  private:
    void open();
    void open_checkpoint();
    void start();
    void take_initial(const PlanPtr& plan);
    void prove();
    bool prove_few_splits();
    void prove_shape();
    void settle();
    void choose();
    void check();
    void choose_with_fewest_splits();
    void certify();
    void tell(Cost upper, Cost lower);
    void limit_tie_rule();
    FlatTree finish(const PlanPtr& plan);
    // Under a measure, whether the tie rule found no tree of the proven cost: what it looks at may be rounded otherwise
    // than what proved it. The tree that was proven stands then.
    bool lost_to_rounding(Cost cost, Cost proven) const { return cost > proven + plan_.tolerance; }
    // What a tree costs the user, given its cost under the loss of a proof.
    Cost user_cost(const FlatTree& tree, const Loss& loss) const {
        return plan_.users.tree(loss.amount_of(tree.cost, tree.splits), tree.splits);
    }

    const SearchOptions& options_;
    const Tick& tick_;
    const Table& merged_;
    bool by_bits_;
    std::optional<Unmerged> unmerged_;
    const Table& table_;  // as it is searched
    SearchPlan plan_;
    ProgressPoint latest_{0, kInfinite, 0};
    std::optional<CheckpointFile> file_;
    std::optional<Checkpoint> earlier_;
    Monitor monitor_;
    Context context_;
    std::optional<Monitor::EffortCap> tie_rule_cap_;
    std::unique_ptr<Method> method_;
    Incumbent start_;
    Shape searched_;  // the shape that was proven
    Outcome outcome_;
    ProfilePtr known_;                  // what the search of the root knows of its splits, for a certificate
    std::optional<FlatTree> finished_;  // the chosen tree, where it has been worked out
    std::optional<StopReason> stopped_;
    SearchResult result_;
};

Driver::Driver(const Table& merged, const SearchOptions& options, const Tick& tick, Cost known)
    : options_(options), tick_(tick), merged_(merged),
      by_bits_(bits_fit(merged, options.max_depth, options.switches) &&
               Shape::of(options.max_depth, options.max_splits).on(merged.rows).depth >= 3),
      unmerged_(by_bits_ ? std::nullopt : std::make_optional<Unmerged>(merged)),
      table_(by_bits_ ? merged : unmerged_->table), plan_(options, by_bits_, table_.rows, known),
      monitor_(options.time_limit,
               [this] {
                   if (file_) file_->look();
                   return !tick_ || tick_(latest_);
               }),
      context_(table_, choose_kernel(options.kernel), options.min_leaf, options.switches, options.memory_limit,
               monitor_) {
    if (options.max_work) monitor_.limit_work(options.max_work);
    // A limit on work is there to give the same tree every time, which threads cannot.
    context_.n_jobs = options.max_work || options.closings ? 1 : std::max(1, options.n_jobs);
    context_.remembers_sets =
        plan_.deep && (plan_.users.split_penalty > 0 || plan_.shape.splits < Shape::full(plan_.shape.depth));
    context_.certifies = options.certify;
    if (!options.max_work && !options.certify && !options.rules) context_.exchange = options.exchange;
    context_.rules = options.rules ? &*options.rules : nullptr;
    // Sets of rows are remembered without the path that led to them.
    if (options.rules && options.rules->follows_paths()) context_.remembers_sets = false;
    result_.proof_loss = plan_.loss;
}

void Driver::open() {
    {
        const Monitor::NoStops whole(monitor_);
        if (by_bits_)
            method_ = by_bits(context_, choose_bit_kernel(options_.kernel), plan_.loss);
        else
            method_ = by_sweeps(context_, plan_.loss, plan_.at_once, plan_.limited);
        if (context_.rules && context_.rules->directed())
            method_ = by_undecided_rows(context_, plan_.loss, std::move(method_));
    }
    if (method_->leaf_cost() >= kInfinite)
        throw std::invalid_argument("The table has fewer rows than the minimum leaf size.");
    if (!options_.checkpoint.empty()) open_checkpoint();
    if (options_.known && !by_bits_ && options_.known->fits(plan_.loss, table_, plan_.shape))
        method_->resume({.root = options_.known->root, .below = {}, .sets = {}, .sample = options_.known->sample});
}

void Driver::open_checkpoint() {
    file_.emplace(options_.checkpoint,
                  fingerprint_of(merged_, options_.max_depth, options_.max_splits, options_.min_leaf, plan_.loss),
                  options_.checkpoint_seconds);
    earlier_ = file_->read(context_.profile_bytes);
    if (!earlier_) file_->write({});  // a file that cannot be written is told of at once
    context_.checkpoint = &*file_;
    if (!earlier_) return;
    if (by_bits_ ? earlier_->by_sweeps() : earlier_->by_bits()) earlier_->forget_method();
    if (!earlier_->sample.empty() && earlier_->sample.size() != table_.rows) throw file_->damaged();
    if (plan_.shape.depth >= 3) method_->resume(*earlier_);
    context_.found.bound = earlier_->bound;
    context_.earlier_steps = earlier_->steps;
}

void Driver::start() {
    start_ = method_->start(plan_.shape, plan_.below);
    if (earlier_ && earlier_->root.best.plan) take_initial(earlier_->root.best.plan);
    if (options_.initial) take_initial(options_.initial);
    tell(start_.upper, 0);
}

// A tree that is given, where it is better than the one grown.
void Driver::take_initial(const PlanPtr& plan) {
    const FlatTree tree = finish(plan);
    check_limits(tree, plan_.allowed, context_.min_leaf, table_);
    if (tree.column[0] < 0) return;
    start_.offer({tree.cost, plan, left_budget(plan_.shape, tree.splits_below(tree.left[0]))});
}

void Driver::prove() {
    outcome_.take(start_);
    {
        const Closings::Heard heard(context_.closings, options_.closings);
        if (!prove_few_splits() && !stopped_) prove_shape();
    }
    settle();
    if (options_.certify && outcome_.profile && outcome_.profile->shape.depth >= 3) known_ = outcome_.profile;
    if (!stopped_ && plan_.tie_rule) limit_tie_rule();
}

// Where a tree without errors is at hand, whatever is better has fewer splits: one more at a time, as long as they are
// few. True where that proves the optimum.
bool Driver::prove_few_splits() {
    const bool no_errors = start_.upper <= (table_.measure ? plan_.loss.measured(1) : plan_.loss.leaf(1));
    if (!plan_.at_once || by_bits_ || !no_errors || table_.rows >= kFewRows || file_) return false;
    for (std::int64_t k = 1; k <= kFewSplits && k < plan_.shape.splits; ++k) {
        searched_ = Shape::of(plan_.shape.depth, k);
        const RootAnswer answer = method_->prove({searched_, start_});
        stopped_ = answer.stopped;
        if (stopped_) {
            outcome_ = {};
            outcome_.take(start_);
            return false;
        }
        outcome_ = answer.outcome;
        if (outcome_.upper <= plan_.loss.tree(0, k)) return true;
    }
    return false;
}

void Driver::prove_shape() {
    searched_ = plan_.shape;
    if (plan_.below < kInfinite && !context_.closings.heard() && !context_.off(kNoColumnRuns) &&
        least_of_one_column(table_, plan_.shape, plan_.loss) >= plan_.below) {
        outcome_.lower = std::min(plan_.below, outcome_.upper);
        stopped_ = StopReason::kNothingBelow;
        return;
    }
    Cost proven = plan_.known;
    // A tree as good as the bound ends a deep proof, which may be far from the end of the split that it is at. A proof
    // with ties has to go on.
    // A split budget that binds makes proofs of measured losses as long as those of deeper trees.
    const bool sized = context_.table.measure && plan_.shape.splits < Shape::full(plan_.shape.depth);
    // Cells prove all but the first two levels at once, so that depth five mostly ends.
    const bool by_cells = !sized && plan_.shape.depth <= kDepthOfCells && CellRows::fit(table_);
    const bool long_proof = (plan_.deep && !by_cells) || (sized && plan_.shape.depth > 3);
    const Improvement::Policy policy{plan_.limited && long_proof, by_bits_ || by_cells, plan_.deep && !file_};
    const Improvement improvement(
        context_, method_->root(), plan_.shape, plan_.loss, start_, policy, [&](Cost cost) { tell(cost, proven); },
        [&] { return proven; });
    const auto end_where_known = [&](Cost upper) {
        if (plan_.known > 0 && upper <= plan_.known) throw StopSearch{StopReason::kTreeIsOptimal};
    };
    outcome_.lower = 0;
    try {
        end_where_known(start_.upper);
        const auto listen = [&](Cost upper, Cost lower) {
            proven = std::max(proven, lower);
            tell(upper, lower);
            end_where_known(upper);
        };
        RootAnswer answer =
            method_->prove({plan_.shape, start_, Role::kProof, listen, plan_.below, options_.hands_over});
        outcome_ = std::move(answer.outcome);
        stopped_ = answer.stopped;
        result_.handover = std::move(answer.handover);
        if (!stopped_ && outcome_.lower < outcome_.upper) stopped_ = StopReason::kNothingBelow;
    } catch (const StopSearch& stop) {
        stopped_ = stop.reason;
    }
}

// What was found beside the proof counts, too.
void Driver::settle() {
    const Found& found = context_.found;
    if (stopped_) outcome_.lower = std::max({outcome_.lower, found.bound, plan_.known});
    const Cost proven = outcome_.upper;
    if (!stopped_ && found.bound > proven + plan_.tolerance) defect("a bound exceeds the proven optimum");
    if (outcome_.offer(found) && !stopped_ && outcome_.upper + plan_.tolerance < proven)
        defect("a tree costs less than the proven optimum");
    const bool tree_ended_it = stopped_ == StopReason::kTreeIsOptimal && !plan_.at_once;
    if (tree_ended_it && outcome_.lower >= outcome_.upper) stopped_.reset();
}

// The tree among the optimal ones that the tie rule prefers, after a proof that counted splits.
void Driver::choose() {
    if (stopped_) return;
    tell(outcome_.upper, outcome_.upper);
    try {
        PlanPtr preferred = method_->preferred(searched_, outcome_);
        if (plan_.tolerance > 0) {
            FlatTree tree = finish(preferred);
            if (lost_to_rounding(tree.cost, outcome_.upper)) return;
            finished_ = std::move(tree);
        }
        outcome_.plan = std::move(preferred);
        result_.tie_rule_complete = true;
    } catch (const StopSearch&) {
        // The proof stands; only the choice among equally good trees was cut short.
    }
}

// The last look before a result leaves: its tree is worked out on the rows, and costs what the search claims.
void Driver::check() {
    result_.tree = finished_ ? *std::move(finished_) : finish(outcome_.plan);
    FlatTree& tree = result_.tree;
    const Cost tolerance = plan_.tolerance;
    if (tree.cost > outcome_.upper + tolerance || (!stopped_ && tree.cost < outcome_.upper - tolerance))
        defect("a tree does not cost what the search claims");
    if (tolerance > 0 && !stopped_) outcome_.upper = tree.cost;
    check_limits(tree, plan_.allowed, context_.min_leaf, table_);
    tree.cost = user_cost(tree, plan_.loss);
    result_.lower_bound = std::min(tree.cost, (stopped_ ? outcome_.lower : outcome_.upper) / plan_.unit);
    const bool proven = !stopped_ || result_.lower_bound >= tree.cost;
    result_.status = proven ? Status::kOptimal : status_of(*stopped_);
    if (result_.status == Status::kOptimal && result_.lower_bound < tree.cost)
        defect("a search ended without its proof");
    tell(tree.cost * plan_.unit, result_.lower_bound * plan_.unit);
    if (file_ && result_.status == Status::kOptimal) file_->remove();
}

// The same choice after a proof of the cost alone.
void Driver::choose_with_fewest_splits() {
    // Whether a tree without errors has the fewest splits can hardly be settled. One thread tries, where there are
    // several.
    const bool left_to_one = rebuilds(options_) && plan_.deep && outcome_.upper <= 0 && result_.tree.splits > 0;
    if (stopped_ || !plan_.tie_rule || left_to_one) return;
    const std::int64_t splits = result_.tree.splits;
    outcome_.upper = plan_.refined.tree(plan_.users.amount_of(result_.tree.cost, splits), splits);
    FlatTree tree = finish(
        method_->preferred(plan_.shape, std::move(outcome_), plan_.refined, plan_.factor, result_.tie_rule_complete));
    tree.cost = user_cost(tree, plan_.refined);
    if (plan_.tolerance > 0 && lost_to_rounding(tree.cost * plan_.unit, result_.lower_bound * plan_.unit)) {
        result_.tie_rule_complete = false;
        return;
    }
    if (std::abs(tree.cost - result_.lower_bound) * plan_.unit > plan_.tolerance)
        defect("the tree chosen by the tie rule is not optimal");
    result_.lower_bound = tree.cost;
    result_.tree = std::move(tree);
}

// Claims that no tree costs less than the bound of the result.
void Driver::certify() {
    const auto begin = Monitor::Clock::now();
    tie_rule_cap_.reset();
    if (table_.measure) throw std::invalid_argument("Certificates are for errors, not for other losses.");
    const bool proven = result_.status == Status::kOptimal;
    Certified& certified = result_.certified;
    certified = method_->certify(
        {plan_.allowed, result_.lower_bound, plan_.users, {std::exchange(known_, nullptr), plan_.unit}, proven});
    // Rows that were taken apart are one row again.
    if (!certified.weights.empty() && table_.rows != merged_.rows) {
        std::vector<std::int64_t> weights(merged_.rows, 0);
        std::size_t at = 0;
        for (Index row = 0; row < merged_.rows; ++row)
            for (std::int64_t i = 0; i < merged_.weights[row]; ++i) weights[row] += certified.weights[at++];
        certified.weights = std::move(weights);
    }
    result_.certify_seconds = std::chrono::duration<double>(Monitor::Clock::now() - begin).count();
}

// Proof and improvement tell of their own best trees and bounds: what was told before stands.
void Driver::tell(Cost upper, Cost lower) {
    upper = std::min(upper, context_.found.upper);
    lower = std::max(lower, context_.found.bound);
    // A tree has fewer splits than a unit, so whole units are the cost itself, and bounds round down.
    const Cost cost = std::min(latest_.cost, upper / plan_.unit), bound = std::max(latest_.bound, lower / plan_.unit);
    if (bound >= cost && plan_.at_once) limit_tie_rule();
    if (cost == latest_.cost && bound == latest_.bound) return;
    latest_ = {monitor_.seconds(), cost, bound};
    std::vector<ProgressPoint>& history = result_.history;
    if (history.size() >= kLongestHistory) {  // a long search keeps every second point
        std::size_t kept = 0;
        for (std::size_t i = 0; i < history.size(); i += 2) history[kept++] = history[i];
        history.resize(kept);
    }
    history.push_back(latest_);
}

void Driver::limit_tie_rule() {
    const std::uint64_t own = by_bits_ ? kTieRuleStepsOfBits : kTieRuleSteps;
    if (!monitor_.effort_capped()) tie_rule_cap_.emplace(monitor_, std::max(own, context_.all_steps()));
}

FlatTree Driver::finish(const PlanPtr& plan) {
    const Monitor::NoStops whole(monitor_);
    return method_->finish(plan);
}

// The tree that one thread finds. Where the tie rule was not completed, several threads end with whichever of the best
// trees was found first.
void rebuild_by_one(SearchResult& result, const Table& table, SearchOptions options, double seconds, const Tick& tick) {
    options.n_jobs = 1;
    options.exchange = nullptr;
    options.certify = false;
    options.time_limit -= seconds;
    if (options.time_limit <= 0) return;
    const ProgressPoint done{seconds, result.tree.cost, result.lower_bound};
    const Tick still_done = [&](const ProgressPoint&) { return !tick || tick(done); };
    SearchResult alone = Driver(table, options, still_done, result.tree.cost).run();
    result.counters.add(alone.counters);
    if (alone.status != Status::kOptimal) return;
    const Cost tolerance = SearchPlan(options, false, table.rows, 0).tolerance;
    if (std::abs(alone.tree.cost - result.tree.cost) > tolerance)
        defect("one thread finds another optimum than several");
    result.tree = std::move(alone.tree);
    result.lower_bound = result.tree.cost;
    result.tie_rule_complete = alone.tie_rule_complete;
}

}  // namespace

SearchResult run_search(const Table& table, const SearchOptions& options, const Tick& tick) {
    const auto begin = Monitor::Clock::now();
    SearchResult result = Driver(table, options, tick, 0).run();
    const bool open_tie = result.status == Status::kOptimal && !result.tie_rule_complete && result.tree.splits > 0;
    if (rebuilds(options) && open_tie)
        rebuild_by_one(result, table, options, std::chrono::duration<double>(Monitor::Clock::now() - begin).count(),
                       tick);
    return result;
}

}  // namespace provetree
