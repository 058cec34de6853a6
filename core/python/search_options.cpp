// Options of a search: by name, each checked.
#include <functional>
#include <string>

#include "loss/measure.hpp"
#include "python/bindings.hpp"
#include "search/search.hpp"

namespace provetree {

namespace {

// A tree given in preorder, -1 for a leaf.
PlanPtr plan_of(const std::vector<std::int64_t>& column, const std::vector<std::int64_t>& rank, const Table& table) {
    if (column.empty() && rank.empty()) return nullptr;
    std::size_t next = 0;
    const std::function<PlanPtr(int)> read = [&](int depth) -> PlanPtr {
        if (next >= column.size() || column.size() != rank.size() ||
            column[next] >= static_cast<std::int64_t>(table.columns) || depth > 1000)
            throw nb::value_error(
                "The initial tree must be given in preorder, with known columns and one rank for each node.");
        const std::size_t at = next++;
        if (column[at] < 0) return nullptr;
        PlanPtr left = read(depth + 1), right = read(depth + 1);
        return split_plan(static_cast<Index>(column[at]), static_cast<Index>(std::max<std::int64_t>(0, rank[at])),
                          std::move(left), std::move(right));
    };
    PlanPtr plan = read(0);
    if (next != column.size()) throw nb::value_error("The initial tree has nodes after its end.");
    return plan;
}

// Takes options out of what was given, one after the other.
class Given {
  public:
    explicit Given(const nb::kwargs& given) : given_(given) {}

    // False where the option was not given.
    template <class T>
    bool take(const char* name, T& into) {
        if (!given_.contains(name)) return false;
        ++taken_;
        if (!nb::try_cast<T>(given_[name], into))
            throw nb::type_error(("The option '" + std::string(name) + "' of search has the wrong type.").c_str());
        return true;
    }
    template <class T>
    void need(const char* name, T& into) {
        if (!take(name, into)) throw nb::type_error(("search needs the option '" + std::string(name) + "'.").c_str());
    }
    void end() const {
        if (taken_ < given_.size()) throw nb::type_error("search was given an option that it does not know.");
    }

  private:
    const nb::kwargs& given_;
    std::size_t taken_ = 0;
};

// Units are larger than what the sweeps round; a few roundings meet in a leaf.
constexpr Cost kRoundedUnits = 8;

// All splits together, and the factor the tie rule multiplies costs by, must stay far from overflow.
void check_scale(const SearchOptions& options) {
    const double splits = static_cast<double>(Shape::of(options.max_depth, options.max_splits).splits);
    const double largest = (static_cast<double>(options.loss.error_scale) * static_cast<double>(kMaxTotalWeight) +
                            static_cast<double>(options.loss.split_penalty) * (splits + 1)) *
                           (splits + 2);
    must(largest <= static_cast<double>(kInfinite),
         "The cost scale is too large: error_scale, split_penalty and the number of splits would overflow 64-bit "
         "costs.");
}

// What knows nothing of rules is switched off: other ways to search, better trees on the way, choices among equals.
constexpr unsigned kUnderRules = kNoBits | kNoTieRule | kNoImprovement | kNoWide;

// What paths pay once, and the numbers of the prices that each column asks for.
void take_prices(const std::vector<std::int64_t>& prices, const std::vector<std::vector<std::int64_t>>& priced,
                 const Table& table, Rules& rules) {
    if (prices.empty()) return;
    must(prices.size() <= 64 && priced.size() == table.columns,
         "search needs at most 64 prices, and a list of them for each column.");
    for (const std::int64_t price : prices) {
        must(price >= 0 && price <= kMaxTotalWeight, "A price must be a weight from 0 up.");
        rules.prices.push_back(static_cast<Weight>(price));
    }
    for (const auto& of_column : priced) {
        std::uint64_t bits = 0;
        for (const std::int64_t number : of_column) {
            must(number >= 0 && number < static_cast<std::int64_t>(prices.size()),
                 "A price must be one of those given.");
            bits |= std::uint64_t{1} << number;
        }
        rules.priced.push_back(bits);
    }
}

// A direction for each column, and the groups that each column is in.
void take_rules(const std::vector<std::int64_t>& directions, const std::vector<std::vector<std::int64_t>>& groups,
                const std::vector<std::int64_t>& prices, const std::vector<std::vector<std::int64_t>>& priced,
                const Table& table, SearchOptions& options) {
    must(!table.measure && !options.certify && options.checkpoint.empty(),
         "search keeps rules for errors only, without certificates and checkpoints.");
    must((directions.empty() || directions.size() == table.columns) &&
             (groups.empty() || groups.size() == table.columns),
         "search needs a direction and a list of groups for each column.");
    must(directions.empty() || table.n_classes == 2, "search keeps directions for two classes only.");
    Rules rules;
    for (const std::int64_t direction : directions) {
        must(direction >= -1 && direction <= 1, "A direction must be -1, 0 or 1.");
        rules.directions.push_back(static_cast<std::int8_t>(direction));
    }
    std::int64_t most = 0;
    for (const auto& of_column : groups)
        for (const std::int64_t group : of_column) {
            must(group >= 0 && group < (std::int64_t{1} << 24), "A group must be a number from 0 on.");
            most = std::max(most, group);
        }
    for (const auto& of_column : groups) {
        PathGroups bits(static_cast<std::size_t>(most / 64 + 1), 0);
        for (const std::int64_t group : of_column)
            bits[static_cast<std::size_t>(group / 64)] |= std::uint64_t{1} << (group % 64);
        rules.groups.push_back(std::move(bits));
    }
    take_prices(prices, priced, table, rules);
    options.switches |= kUnderRules;
    options.n_jobs = 1;  // splits that are handed on below the root know no rules
    // Lanes of one panel must have the same columns below them.
    if (rules.grouped()) options.switches |= kNoPacking;
    options.rules = std::move(rules);
}

}  // namespace

SearchOptions search_options_of(const nb::kwargs& kwargs, const Table& table) {
    Given given(kwargs);
    SearchOptions options;
    std::shared_ptr<Handover> known;
    std::vector<std::int64_t> initial_column, initial_rank, directions, prices;
    std::vector<std::vector<std::int64_t>> groups, priced;
    given.need("max_depth", options.max_depth);
    given.need("max_splits", options.max_splits);
    given.need("min_samples_leaf", options.min_leaf);
    given.need("error_scale", options.loss.error_scale);
    given.need("split_penalty", options.loss.split_penalty);
    given.need("time_limit", options.time_limit);
    given.need("memory_limit", options.memory_limit);
    given.take("kernel", options.kernel);
    given.take("switches", options.switches);
    given.take("max_work", options.max_work);
    given.take("initial_column", initial_column);
    given.take("initial_rank", initial_rank);
    given.take("n_jobs", options.n_jobs);
    given.take("below", options.below);
    given.take("certify", options.certify);
    given.take("known", known);
    given.take("hands_over", options.hands_over);
    given.take("checkpoint", options.checkpoint);
    given.take("checkpoint_seconds", options.checkpoint_seconds);
    given.take("directions", directions);
    given.take("groups", groups);
    given.take("prices", prices);
    given.take("priced", priced);
    given.end();
    must(options.below >= 0, "search needs a cost from 0 up in 'below'.");
    must(options.max_depth >= 0 && options.max_splits >= 0 && options.loss.error_scale >= 1 &&
             options.loss.split_penalty >= 0,
         "search needs max_depth, max_splits, split_penalty >= 0 and error_scale >= 1.");
    options.max_splits = std::min<std::int64_t>(options.max_splits, table.rows);
    if (table.measure) {
        must(options.loss.error_scale == 1, "search takes error_scale = 1 with a loss other than errors.");
        options.loss.error_scale = table.measure->units_per_reach();
        options.loss.unit_scale = 1;
        options.rounded_units = table.measure->is_exact() ? 0 : kRoundedUnits;
    }
    if (!directions.empty() || !groups.empty() || !prices.empty())
        take_rules(directions, groups, prices, priced, table, options);
    options.known = std::move(known);
    options.initial = plan_of(initial_column, initial_rank, table);
    check_scale(options);
    return options;
}

}  // namespace provetree
