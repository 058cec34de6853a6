// The search by sweeps where every column has a direction: rows that every better tree than the one at hand gets wrong
// (sweeps/opposed_rows.hpp) are left out and counted.
//
// With `counted` for these rows, a tree costs what it costs on the others and `counted`, unless it has some of the rows
// right; then it costs less than that, but no less than the tree at hand. So a tree that is better than the tree at
// hand on all rows is so on those that are left, by as much, and the other way round: the optimum is the same.
#include <algorithm>
#include <optional>
#include <utility>

#include "search/method.hpp"
#include "sweeps/opposed_rows.hpp"
#include "table/fewer_rows.hpp"

namespace provetree {

namespace {

constexpr Weight kFewestDecided = 8;  // one error in so many: fewer are not worth another table

class ByUndecidedRows final : public Method {
  public:
    ByUndecidedRows(Context& context, const Loss& loss, std::unique_ptr<Method> whole)
        : context_(context), loss_(loss), whole_(std::move(whole)) {}

    Cost leaf_cost() const override { return whole_->leaf_cost(); }
    void resume(const Checkpoint& checkpoint) override { whole_->resume(checkpoint); }
    Incumbent start(Shape shape, Cost limit) override { return whole_->start(shape, limit); }
    RootAnswer prove(const RootRequest& request) override;
    FlatTree finish(const PlanPtr& plan) override { return whole_->finish(plan); }
    const Node* root() const override { return whole_->root(); }
    PlanPtr preferred(Shape shape, const Outcome& best) override { return whole_->preferred(shape, best); }
    PlanPtr preferred(Shape shape, Outcome best, const Loss& refined, Cost factor, bool& complete) override {
        return whole_->preferred(shape, std::move(best), refined, factor, complete);
    }
    Certified certify(const CertifyRequest& request) override { return whole_->certify(request); }

  private:
    std::optional<RootAnswer> prove_on_fewer(const RootRequest& request);
    RootAnswer nothing_below(Cost cut, const RootRequest& request) const;
    RootAnswer prove_without(const OpposedRows& opposed, Cost cut, const RootRequest& request);

    Context& context_;
    const Loss loss_;
    std::unique_ptr<Method> whole_;
};

RootAnswer ByUndecidedRows::prove(const RootRequest& request) {
    // A minimum leaf size counts all rows, and whoever listens is told of all rows.
    const bool possible = !context_.off(kNoOpposedRows) && !context_.constrained() && !context_.closings.heard() &&
                          OpposedRows::possible(context_, *whole_->root());
    if (possible) {
        if (std::optional<RootAnswer> answer = prove_on_fewer(request)) return *std::move(answer);
    }
    return whole_->prove(request);
}

// Nothing where too few rows are decided.
std::optional<RootAnswer> ByUndecidedRows::prove_on_fewer(const RootRequest& request) {
    const Node& root = *whole_->root();
    const Cost cut = std::min(request.start.upper, request.limit);
    // What splits pay beside errors. A tree with so many errors is no better than the cut; nor is a leaf, which was
    // looked at first.
    const Cost most = cut - loss_.split_penalty;
    const Weight errors = static_cast<Weight>(
        std::clamp<Cost>((most + loss_.error_scale - 1) / loss_.error_scale, 0, Cost{root.weight} + 1));
    const bool always = context_.tiny_samples();
    const Weight enough = always ? 0 : errors - errors / 4;  // rows are settled where the pairs say nearly all
    OpposedRows opposed(context_, root);
    try {
        if (!always && !opposed.likely(enough)) return {};
        opposed.pair();
        if (opposed.least() >= enough) opposed.settle(errors);
    } catch (const StopSearch&) {
        return {};  // the search that follows meets the same stop at once
    }
    const bool settled = opposed.least() >= errors;
    if (!settled && opposed.weight_wrong() <= (always ? 0 : errors / kFewestDecided)) return {};
    context_.counters.rows_decided = opposed.count_wrong();
    return settled ? nothing_below(cut, request) : prove_without(opposed, cut, request);
}

RootAnswer ByUndecidedRows::nothing_below(Cost cut, const RootRequest& request) const {
    RootAnswer answer;
    answer.outcome.take(request.start);
    answer.outcome.lower = answer.outcome.relaxed = cut;
    context_.counters.sampled_rows = whole_->root()->rows;
    if (request.listener) request.listener(answer.outcome.upper, cut);
    return answer;
}

RootAnswer ByUndecidedRows::prove_without(const OpposedRows& opposed, Cost cut, const RootRequest& request) {
    const Cost counted = loss_.leaf(opposed.weight_wrong());
    const FewerRows fewer(context_.table, opposed.wrong());
    Context context(context_, fewer.table);
    const std::unique_ptr<Method> method = by_sweeps(context, loss_, false, false);
    RootRequest rest = request;
    rest.hands_over = false;
    rest.start.upper -= counted;
    if (request.limit < kInfinite) rest.limit -= counted;
    if (request.listener)
        rest.listener = [&](Cost upper, Cost lower) {
            request.listener(upper + counted, std::min(lower + counted, cut));
        };
    rest.start.offer(method->start(request.shape, rest.limit));
    RootAnswer answer = method->prove(rest);
    Outcome& outcome = answer.outcome;
    for (Cost* cost : {&outcome.upper, &outcome.lower, &outcome.relaxed}) *cost += counted;
    // From the cut on, trees may have some of the rows right that better ones get wrong: they cost less than they seem.
    if (outcome.upper >= cut) outcome.take(request.start);
    outcome.lower = outcome.relaxed = std::min(outcome.lower, cut);
    outcome.profile = nullptr;
    context_.counters.add(context.counters);
    context_.counters.sampled_rows = context.counters.sampled_rows;
    return answer;
}

}  // namespace

std::unique_ptr<Method> by_undecided_rows(Context& context, const Loss& loss, std::unique_ptr<Method> whole) {
    return std::make_unique<ByUndecidedRows>(context, loss, std::move(whole));
}

}  // namespace provetree
