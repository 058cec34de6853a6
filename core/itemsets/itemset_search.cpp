// The two recursive procedures, line by line as in the paper, and what they stand on. Comments name the lines.
#include "itemsets/itemset_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "itemsets/cache.hpp"

namespace provetree::itemsets {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double entropy_term(std::int64_t n) { return n > 0 ? static_cast<double>(n) * std::log2(static_cast<double>(n)) : 0.0; }

// Totals up to here are looked up: logarithms would take most of the time of small nodes.
constexpr std::int64_t kMostTerms = 1 << 16;

class ItemsetSearch {
  public:
    ItemsetSearch(const Transactions& transactions, LeafCost& leaf_cost, const Options& options,
                  const std::function<bool(const Progress&)>& tick)
        : transactions_(transactions), leaf_cost_(leaf_cost), options_(options),
          monitor_(options.time_limit, [&] { return !tick || tick(now(best_cost_)); }),
          cache_(pool_, options.memory_limit) {}

    Result run() {
        Frame& root = frame(0);
        transactions_.all_rows(root.cover);
        root.totals.resize(transactions_.classes());
        transactions_.totals(root.cover, root.totals.data());
        if (options_.branching != Branching::kDataOrder)
            for (std::int64_t n = 0;
                 n <= std::min(kMostTerms, std::accumulate(root.totals.begin(), root.totals.end(), std::int64_t{0}));
                 ++n)
                terms_.push_back(entropy_term(n));
        best_cost_ = leaf_of(0, root.totals.data()).cost;
        if (stop_) throw StopSearch{*stop_};  // interrupted before anything is known of any tree
        history_.push_back(now(best_cost_));

        Result result;
        {
            const Answer best = options_.algorithm == Algorithm::kDL8 ? recurse_dl8(0, root.totals.data())
                                                                      : recurse_dl85(0, kInfinity, root.totals.data());
            result.cost = best.cost;
            const bool proven = !stop_ || best.cost <= options_.lower_bound;
            result.status = proven ? Status::kOptimal : status_of(*stop_);
            result.lower_bound = proven ? best.cost : options_.lower_bound;
            counters_.cached = cache_.size();
            counters_.evicted = cache_.evicted();
            for (const ItemsetTable& of_length : visited_) counters_.itemsets_visited += of_length.size();
            // The tree is worked out on the rows before it leaves: what the search claims must be what it costs.
            const double cost = write(best.tree.id(), 0, result);
            if (cost != result.cost)
                throw std::logic_error("The itemset search claims a cost that its tree does not have.");
        }
        if (history_.back().cost != result.cost || history_.back().bound != result.lower_bound)
            history_.push_back({monitor_.seconds(), result.cost, result.lower_bound});
        result.history = std::move(history_);
        result.counters = counters_;
        return result;
    }

  private:
    struct Answer {
        double cost = 0.0;
        TreeHandle tree;  // kNoTree: none within the bound
    };
    // What one depth of the recursion works with; kept between calls.
    struct Frame {
        Cover cover;
        std::vector<std::int64_t> totals;      // by class
        std::vector<std::int64_t> with;        // totals of the rows that have each attribute, attribute-major
        std::vector<std::int64_t> without;     // totals of one attribute's other rows
        std::vector<std::int64_t> scores;      // what attributes are ordered by
        std::vector<std::int32_t> attributes;  // with enough support on both sides, in the order of branching
    };

    Progress now(double cost) const { return {monitor_.seconds(), cost, std::min(options_.lower_bound, cost)}; }

    // Weight times entropy of a set with these class totals.
    double entropy(const std::int64_t* totals) const {
        const auto term = [this](std::int64_t n) {
            return n < static_cast<std::int64_t>(terms_.size()) ? terms_[n] : entropy_term(n);
        };
        std::int64_t sum = 0;
        double terms = 0.0;
        for (int c = 0; c < transactions_.classes(); ++c) {
            sum += totals[c];
            terms += term(totals[c]);
        }
        return term(sum) - terms;
    }

    Answer recurse_dl8(std::size_t depth, const std::int64_t* totals) {
        enter(depth);
        // Lines 6-8. A stop answers with leaves, as line 6 of Algorithm 2 does.
        if (!stop_)
            if (const CacheEntry* entry = cache_.find(key())) return from_cache(*entry);
        const Leaf leaf = leaf_of(depth, totals);
        // Lines 9-10.
        if (stopped(leaf_cost_.effort()) || leaf.cost == 0.0 || at_greatest_depth(depth)) return leaf_answer(leaf.cost);
        // Line 11.
        Answer best = leaf_answer(leaf.cost);
        open(depth, totals);
        for (std::size_t i = 0; i < frame(depth).attributes.size() && !hurried(); ++i) {
            const std::int32_t attribute = frame(depth).attributes[i];
            const Answer without = child(depth, attribute, false, kInfinity);
            if (without.cost > best.cost) continue;  // line 15
            const Answer with = child(depth, attribute, true, kInfinity);
            const double cost = without.cost + with.cost;
            if (cost > best.cost) continue;  // line 17
            best = {cost, TreeHandle(pool_, pool_.make(attribute, without.tree.id(), with.tree.id()))};
            improved(depth, cost);
        }
        store(best, best.cost);  // line 19
        return best;
    }

    Answer recurse_dl85(std::size_t depth, double upper_bound, const std::int64_t* totals) {
        enter(depth);
        const Leaf leaf = leaf_of(depth, totals);
        // Lines 6-7: the leaf is returned even where it costs more than the bound.
        if (stopped(leaf_cost_.effort()) || leaf.cost == 0.0 || at_greatest_depth(depth)) return leaf_answer(leaf.cost);
        // Lines 8-10.
        if (const CacheEntry* entry = cache_.find(key()))
            if (entry->tree != kNoTree || upper_bound <= entry->value) return from_cache(*entry);
        // Line 11.
        Answer best = no_tree();
        double bound = upper_bound;
        open(depth, totals);
        for (std::size_t i = 0; i < frame(depth).attributes.size() && !hurried(); ++i) {
            const std::int32_t attribute = frame(depth).attributes[i];
            const Answer without = child(depth, attribute, false, bound);                  // line 14
            if (without.tree.id() == kNoTree || without.cost > bound) continue;            // lines 15-17
            const Answer with = child(depth, attribute, true, rest(bound, without.cost));  // line 18
            if (with.tree.id() == kNoTree) continue;                                       // lines 19-20
            const double cost = without.cost + with.cost;                                  // line 21
            if (cost <= bound) {                                                           // lines 22-25
                best = {cost, TreeHandle(pool_, pool_.make(attribute, without.tree.id(), with.tree.id()))};
                bound = below(cost);
                improved(depth, cost);
            }
            if (cost == 0.0) break;  // lines 26-27
        }
        // The paper's pseudo-code forgets the leaf here: rows that cannot be split any further would have no tree at
        // all, and where leaves have a price a single leaf may be the best tree. For errors it is never better than a
        // split, so looking at it last visits what the paper visits.
        if (leaf.cost <= bound) best = leaf_answer(leaf.cost);
        store(best, best.tree.id() == kNoTree ? upper_bound : best.cost);  // lines 28-29
        return best;
    }

    // The child of the frame at `depth` that adds an item of the attribute.
    Answer child(std::size_t depth, std::int32_t attribute, bool positive, double upper_bound) {
        Frame& parent = frame(depth);
        const std::size_t classes = parent.totals.size();
        const std::int64_t* totals = parent.with.data() + attribute * classes;
        if (!positive) {
            for (std::size_t c = 0; c < classes; ++c) parent.without[c] = parent.totals[c] - totals[c];
            totals = parent.without.data();
        }
        if (at_greatest_depth(depth + 1) && !leaf_cost_.needs_rows() && !options_.count_itemsets) {
            // Most calls are those at the greatest depth, which give leaves: a short cut to the same.
            ++counters_.calls;
            const Leaf leaf = leaf_of(depth + 1, totals);
            stopped(leaf_cost_.effort());
            return leaf_answer(leaf.cost);
        }
        path_.push_back(2 * static_cast<Item>(attribute) + (positive ? 1 : 0));
        Answer answer = options_.algorithm == Algorithm::kDL8 ? recurse_dl8(depth + 1, totals)
                                                              : recurse_dl85(depth + 1, upper_bound, totals);
        path_.pop_back();
        return answer;
    }

    void enter(std::size_t depth) {
        ++counters_.calls;
        if (!options_.count_itemsets) return;
        while (visited_.size() <= depth) visited_.emplace_back(visited_.size());
        const Itemset itemset = key();
        const std::uint32_t hash = hash_of(itemset);
        if (visited_[depth].find(itemset, hash) == nullptr) visited_[depth].insert(itemset, {0.0, kNoTree, hash});
    }

    Leaf leaf_of(std::size_t depth, const std::int64_t* totals) {
        if (leaf_cost_.needs_rows()) {
            Frame& here = frame(depth);
            if (depth > 0)
                transactions_.restrict(frame(depth - 1).cover, path_.back() / 2, path_.back() % 2 != 0, here.cover);
            transactions_.row_numbers(here.cover, row_numbers_);
        }
        try {
            return leaf_cost_.of(totals, row_numbers_);
        } catch (const StopSearch& stop) {
            // The user's function was interrupted: this leaf has no known cost, so no tree may use it.
            if (!stop_) stop_ = stop.reason;
            return {kInfinity, 0};
        }
    }

    // Lines 12-13: the attributes with enough rows on both sides, in the order of branching.
    void open(std::size_t depth, const std::int64_t* totals) {
        ++counters_.searched;
        Frame& here = frame(depth);
        const std::size_t classes = transactions_.classes(), attributes = transactions_.attributes();
        if (depth > 0) {
            here.totals.assign(totals, totals + classes);
            transactions_.restrict(frame(depth - 1).cover, path_.back() / 2, path_.back() % 2 != 0, here.cover);
        }
        here.with.resize(attributes * classes);
        here.without.resize(classes);
        here.attributes.clear();
        here.scores.resize(attributes);
        const std::int64_t support = transactions_.size(here.cover);
        for (std::size_t attribute = 0; attribute < attributes; ++attribute) {
            const std::int64_t with =
                transactions_.count(here.cover, attribute, here.with.data() + attribute * classes);
            if (with >= options_.min_support && support - with >= options_.min_support)
                here.attributes.push_back(static_cast<std::int32_t>(attribute));
            if (stopped(here.cover.words.size() + 4)) return;
        }
        order(here);
    }

    void order(Frame& here) {
        if (options_.branching == Branching::kDataOrder) return;
        const int classes = transactions_.classes();
        std::int64_t weight = 0;
        for (std::int64_t total : here.totals) weight += total;
        // Entropies are rounded to whole units of 2^-32 bit, so that attributes which gain the same keep the order of
        // the data whatever the last digits of the logarithms are.
        for (std::int32_t attribute : here.attributes) {
            const std::int64_t* with = here.with.data() + attribute * here.totals.size();
            for (int c = 0; c < classes; ++c) here.without[c] = here.totals[c] - with[c];
            const double left_over = (entropy(here.without.data()) + entropy(with)) / static_cast<double>(weight);
            const std::int64_t score = std::llround(left_over * 4294967296.0);
            here.scores[attribute] = options_.branching == Branching::kInformationGain ? score : -score;
        }
        std::stable_sort(here.attributes.begin(), here.attributes.end(),
                         [&here](std::int32_t a, std::int32_t b) { return here.scores[a] < here.scores[b]; });
    }

    bool at_greatest_depth(std::size_t depth) const { return std::cmp_equal(depth, options_.max_depth); }
    Answer leaf_answer(double cost) { return {cost, TreeHandle(pool_, kLeafTree)}; }
    Answer no_tree() { return {kInfinity, TreeHandle(pool_, kNoTree)}; }

    Answer from_cache(const CacheEntry& entry) {
        ++counters_.cache_hits;
        if (entry.tree == kNoTree) return no_tree();
        pool_.retain(entry.tree);
        return {entry.value, TreeHandle(pool_, entry.tree)};
    }

    Itemset key() {
        key_.assign(path_.begin(), path_.end());
        std::sort(key_.begin(), key_.end());
        return key_;
    }

    Frame& frame(std::size_t depth) {
        while (frames_.size() <= depth) frames_.push_back(std::make_unique<Frame>());
        return *frames_[depth];
    }

    bool stopped(std::uint64_t row_steps) {
        if (stop_) return true;
        try {
            monitor_.work(row_steps);
        } catch (const StopSearch& stop) {
            stop_ = stop.reason;
        }
        return stop_.has_value();
    }

    // After a stop the rest of the attributes is still tried with leaves below them, unless leaves take the user's own
    // time.
    bool hurried() const { return stop_.has_value() && leaf_cost_.effort() > 1; }

    void improved(std::size_t depth, double cost) {
        if (depth != 0 || cost >= best_cost_) return;
        best_cost_ = cost;
        history_.push_back(now(cost));
    }

    void store(const Answer& answer, double value) {
        // After a stop, answers are leaves for want of time: they prove nothing about the itemset.
        if (stop_ || (answer.tree.id() == kNoTree && !options_.cache_partial_results)) return;
        cache_.store(key(), answer.tree.id(), value);
        counters_.memory_peak = std::max<std::uint64_t>(counters_.memory_peak, cache_.bytes() + pool_.bytes());
    }

    // The largest bound a tree that is better than `cost` keeps.
    double below(double cost) const { return leaf_cost_.whole() ? cost - 1.0 : std::nextafter(cost, -kInfinity); }

    // What is left of a bound after a branch of this cost.
    double rest(double bound, double cost) const {
        if (leaf_cost_.whole() || bound == kInfinity) return bound - cost;
        // Sums of real costs are rounded: a branch that costs a little more than the difference may still give a sum
        // within the bound. Too high a bound only costs time, as the sum itself is compared in the end.
        return std::nextafter(std::nextafter(bound, kInfinity) - cost, kInfinity);
    }

    // Writes the tree in preorder and returns what it costs, worked out from its leaves.
    double write(TreeId id, std::size_t depth, Result& result) {
        Frame& here = frame(depth);
        here.totals.resize(transactions_.classes());
        if (depth > 0)
            transactions_.restrict(frame(depth - 1).cover, path_.back() / 2, path_.back() % 2 != 0, here.cover);
        transactions_.totals(here.cover, here.totals.data());
        if (id < 0) {
            row_numbers_.clear();
            if (leaf_cost_.needs_rows()) transactions_.row_numbers(here.cover, row_numbers_);
            const Leaf leaf = leaf_cost_.of(here.totals.data(), row_numbers_);
            result.attribute.push_back(-1);
            result.label.push_back(leaf.label);
            return leaf.cost;
        }
        const TreePool::Node node = pool_.at(id);
        result.attribute.push_back(node.attribute);
        result.label.push_back(-1);
        path_.push_back(2 * static_cast<Item>(node.attribute));
        const double without = write(node.without, depth + 1, result);
        path_.back() += 1;
        const double with = write(node.with, depth + 1, result);
        path_.pop_back();
        return without + with;
    }

    const Transactions& transactions_;
    LeafCost& leaf_cost_;
    const Options& options_;
    Monitor monitor_;
    TreePool pool_;
    ItemsetCache cache_;
    std::vector<std::unique_ptr<Frame>> frames_;
    std::vector<Item> path_;  // in the order of the path
    std::vector<Item> key_;   // the same items in rising order
    std::vector<ItemsetTable> visited_;
    std::vector<std::int64_t> row_numbers_;
    std::vector<double> terms_;  // n * log2(n)
    std::optional<StopReason> stop_;
    double best_cost_ = 0.0;
    std::vector<Progress> history_;
    Counters counters_;
};

}  // namespace

Result search_itemsets(const Transactions& transactions, LeafCost& leaf_cost, const Options& options,
                       const std::function<bool(const Progress&)>& tick) {
    return ItemsetSearch(transactions, leaf_cost, options, tick).run();
}

}  // namespace provetree::itemsets
