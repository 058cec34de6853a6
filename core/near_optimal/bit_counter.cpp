// Counting trees on bits; see near_optimal/bit_counter.hpp.
#include "near_optimal/bit_counter.hpp"

#include <algorithm>

namespace provetree {

namespace {

constexpr std::size_t kMostFeatures = 768;
constexpr std::int64_t kMostRows = 32767;  // counts are 16-bit

}  // namespace

bool BitCounter::fits(const Table& table, const LevelRequest& request) {
    if ((request.switches & kNoBits) || !request.path.empty() || request.depth < 2) return false;
    if (table.n_classes > kMostBitClasses) return false;
    std::int64_t total = 0;
    for (Index i = 0; i < table.rows; ++i) {
        if (table.weights[i] != table.counts[i]) return false;
        total += table.weights[i];
    }
    std::size_t features = 0;
    for (Index top : table.tops) features += top;
    return total <= kMostRows && features <= kMostFeatures && features <= 12 * std::size_t{table.columns};
}

BitCounter::BitCounter(Context& context, const ColumnRules& rules, const LevelRequest& request)
    : context_(context), rules_(rules), request_(request),
      loss_{.error_scale = request.error_scale, .split_penalty = request.rules.split_penalty},
      kernel_(choose_bit_kernel(request.kernel)), n_classes_(std::max(1, context.table.n_classes)),
      sum_(request, context.monitor) {
    for (Index c = 0; c < context.table.columns; ++c) {
        first_feature_.push_back(n_features_);
        for (Index rank = 0; rank < context.table.tops[c]; ++rank, ++n_features_) {
            column_of_.push_back(c);
            rank_of_.push_back(rank);
        }
    }
    first_feature_.push_back(n_features_);
    lanes_ = std::max(1, (n_features_ + kFeatureBlock - 1) / kFeatureBlock) * kFeatureBlock;
    blocks_ = lanes_ / kFeatureBlock;
    make_masks();
    make_root();
}

// A row has a feature where its rank is above that of the threshold: it goes right.
void BitCounter::make_masks() {
    const Table& table = context_.table;
    const std::size_t stride = static_cast<std::size_t>(mask_stride(blocks_));
    masks_.assign(table.rows * stride, 0);
    for (int f = 0; f < n_features_; ++f) {
        const Index* const ranks = table.ranks + static_cast<std::size_t>(column_of_[f]) * table.rows;
        for (Index row = 0; row < table.rows; ++row)
            if (ranks[row] > rank_of_[f]) masks_[row * stride + f / kFeatureBlock] |= 1u << (f % kFeatureBlock);
    }
}

void BitCounter::make_root() {
    const Table& table = context_.table;
    std::vector<std::uint32_t> rows;
    for (int c = 0; c < n_classes_; ++c) {
        for (Index row = 0; row < table.rows; ++row)
            if (table.classes[row] == c) rows.insert(rows.end(), static_cast<std::size_t>(table.counts[row]), row);
        root_.first[c + 1] = static_cast<int>(rows.size());
    }
    root_.rows.assign(rows.size() + 16, 0);
    std::copy(rows.begin(), rows.end(), root_.rows.begin());
    count_pairs(root_, root_pairs_);
}

bool BitCounter::has(std::uint32_t row, int feature) const {
    const std::size_t stride = static_cast<std::size_t>(mask_stride(blocks_));
    return masks_[row * stride + feature / kFeatureBlock] >> (feature % kFeatureBlock) & 1;
}

void BitCounter::choose(const Rows& from, int feature, bool with, Rows& out) const {
    out.rows.resize(from.rows.size());
    int kept = 0;
    for (int c = 0; c < n_classes_; ++c) {
        out.first[c] = kept;
        for (int i = from.first[c]; i < from.first[c + 1]; ++i)
            if (has(from.rows[i], feature) == with) out.rows[kept++] = from.rows[i];
    }
    out.first[n_classes_] = kept;
}

const std::int16_t* BitCounter::pairs_of(const Pairs& pairs, int cls, int feature) const {
    return pairs.counts.data() + (static_cast<std::size_t>(cls) * n_features_ + feature) * lanes_;
}

void BitCounter::count_pairs(const Rows& rows, Pairs& out) {
    std::array<int, kMostBitClasses + 1> first_word{};
    for (int c = 0; c < n_classes_; ++c)
        first_word[c + 1] = first_word[c] + (rows.first[c + 1] - rows.first[c] + 15) / 16;
    bits_.resize(static_cast<std::size_t>(first_word[n_classes_] + 1) * lanes_);
    for (int c = 0; c < n_classes_; ++c) {
        out.all[c] = rows.first[c + 1] - rows.first[c];
        kernel_.pack(masks_.data(), blocks_, rows.rows.data() + rows.first[c], out.all[c],
                     bits_.data() + static_cast<std::size_t>(first_word[c]) * lanes_, lanes_);
    }
    out.counts.resize(static_cast<std::size_t>(n_classes_) * n_features_ * lanes_);
    kernel_.count_pairs({bits_.data(), lanes_, n_classes_, first_word.data()}, n_features_, out.counts.data());
    for (int c = 0; c < n_classes_; ++c) {
        std::int16_t* const of_class = out.counts.data() + static_cast<std::size_t>(c) * n_features_ * lanes_;
        for (int i = 0; i < n_features_; ++i)
            for (int j = 0; j < i; ++j)
                of_class[static_cast<std::size_t>(i) * lanes_ + j] = of_class[static_cast<std::size_t>(j) * lanes_ + i];
    }
    context_.monitor.work(static_cast<std::uint64_t>(n_features_) * blocks_ * first_word[n_classes_] / 2);
}

void BitCounter::rest_of(const Pairs& whole, const Pairs& part, Pairs& out) const {
    for (int c = 0; c < n_classes_; ++c) out.all[c] = whole.all[c] - part.all[c];
    out.counts.resize(whole.counts.size());
    for (std::size_t i = 0; i < whole.counts.size(); ++i)
        out.counts[i] = static_cast<std::int16_t>(whole.counts[i] - part.counts[i]);
}

void BitCounter::sides_of(const Pairs& pairs, int feature, Side& left, Side& right) const {
    left.have.resize(static_cast<std::size_t>(n_classes_) * n_features_);
    right.have.resize(left.have.size());
    left.rows = right.rows = 0;
    for (int c = 0; c < n_classes_; ++c) {
        const std::int16_t* const both = pairs_of(pairs, c, feature);
        right.all[c] = both[feature];
        left.all[c] = pairs.all[c] - both[feature];
        left.rows += left.all[c];
        right.rows += right.all[c];
        for (int t = 0; t < n_features_; ++t) {
            const std::size_t at = static_cast<std::size_t>(c) * n_features_ + t;
            right.have[at] = both[t];
            left.have[at] = pairs_of(pairs, c, t)[t] - both[t];
        }
    }
}

void BitCounter::whole_of(const Pairs& pairs, Side& side) const {
    side.all = pairs.all;
    side.rows = 0;
    side.have.resize(static_cast<std::size_t>(n_classes_) * n_features_);
    for (int c = 0; c < n_classes_; ++c) {
        side.rows += side.all[c];
        for (int t = 0; t < n_features_; ++t)
            side.have[static_cast<std::size_t>(c) * n_features_ + t] = pairs_of(pairs, c, t)[t];
    }
}

template <class Use>
void BitCounter::for_each_split(const Side& side, const Use& use) const {
    CategoriesSeen categories;
    const auto left_of = [&](int t) {
        int left = side.rows;
        for (int c = 0; c < n_classes_; ++c) left -= side.have[static_cast<std::size_t>(c) * n_features_ + t];
        return left;
    };
    for (Index column = 0; column < context_.table.columns; ++column) {
        const int begin = first_feature_[column], end = first_feature_[column + 1];
        if (begin == end) continue;
        const bool repeats = rules_.repeats(column);
        if (repeats && left_of(end - 1) == side.rows) continue;  // no value is missing
        for (int t = begin, left = 0, next = 0; t < end; ++t, left = next) {
            next = left_of(t);
            if (next == left || next == side.rows) continue;
            if (next < request_.min_leaf || side.rows - next < request_.min_leaf) continue;
            int high = t + 1;
            while (high < end && left_of(high) == next) ++high;
            // Missing or not: the column that this one repeats asks that.
            if (repeats && high == end) continue;
            if (rules_.is_category(column) &&
                !categories.is_new(rules_.feature(column), static_cast<Index>(next), static_cast<Index>(side.rows)))
                continue;
            use(t, next, high < end ? rank_of_[high] : context_.table.tops[column]);
        }
    }
}

Cost BitCounter::leaf_cost(const Side& side) const {
    return loss_.leaf(side.rows - *std::max_element(side.all.begin(), side.all.begin() + n_classes_));
}

int BitCounter::label(const Side& side) const {
    return static_cast<int>(std::max_element(side.all.begin(), side.all.begin() + n_classes_) - side.all.begin());
}

Question BitCounter::question(int feature, Index high) const {
    const Index column = column_of_[feature], low = rank_of_[feature];
    return {column, low, rules_.feature(column), rules_.margin(column, low, high)};
}

// The fewest errors of one more split, or none, on both sides of a feature.
void BitCounter::best_stumps(const Pairs& pairs, int feature, int& left, int& right) const {
    std::int16_t best_left = std::numeric_limits<std::int16_t>::max(), best_right = best_left;
    if (n_classes_ == 2) {
        const std::int16_t *const zeros = pairs_of(pairs, 0, feature), *const ones = pairs_of(pairs, 1, feature);
        const auto right0 = zeros[feature], right1 = ones[feature];
        const auto left0 = static_cast<std::int16_t>(pairs.all[0] - right0);
        const auto left1 = static_cast<std::int16_t>(pairs.all[1] - right1);
        for (int t = 0; t < n_features_; ++t) {
            const std::int16_t a0 = zeros[t], a1 = ones[t];
            const auto b0 = static_cast<std::int16_t>(single_[0][t] - a0);
            const auto b1 = static_cast<std::int16_t>(single_[1][t] - a1);
            const auto r =
                static_cast<std::int16_t>(std::min(a0, a1) + std::min<std::int16_t>(right0 - a0, right1 - a1));
            const auto l = static_cast<std::int16_t>(std::min(b0, b1) + std::min<std::int16_t>(left0 - b0, left1 - b1));
            best_right = std::min(best_right, r);
            best_left = std::min(best_left, l);
        }
    } else {
        for (int t = 0; t < n_features_; ++t) {
            int most[4] = {0, 0, 0, 0}, sums = 0, lefts = 0;
            for (int c = 0; c < n_classes_; ++c) {
                const std::int16_t* const both = pairs_of(pairs, c, feature);
                const int in_right = both[feature], in_left = pairs.all[c] - in_right;
                const int a = both[t], b = single_[c][t] - a;
                sums += in_right;
                lefts += in_left;
                most[0] = std::max(most[0], a);
                most[1] = std::max(most[1], in_right - a);
                most[2] = std::max(most[2], b);
                most[3] = std::max(most[3], in_left - b);
            }
            best_right = std::min(best_right, static_cast<std::int16_t>(sums - most[0] - most[1]));
            best_left = std::min(best_left, static_cast<std::int16_t>(lefts - most[2] - most[3]));
        }
    }
    left = best_left;
    right = best_right;
}

// The splits of a node with what their sides cost at least with one more level; returns the least of all its trees.
Cost BitCounter::find_candidates(const Pairs& pairs, std::vector<Candidate>& out) {
    ++level_.sides;
    for (int c = 0; c < n_classes_; ++c) {
        single_[c].resize(static_cast<std::size_t>(n_features_));
        for (int t = 0; t < n_features_; ++t) single_[c][t] = pairs_of(pairs, c, t)[t];
    }
    Side whole;
    whole_of(pairs, whole);
    out.clear();
    Cost lower = leaf_cost(whole);
    for_each_split(whole, [&](int feature, int, Index high) {
        int left = 0, right = 0;
        best_stumps(pairs, feature, left, right);
        int leaf_left = whole.rows, leaf_right = 0, most_left = 0, most_right = 0;
        for (int c = 0; c < n_classes_; ++c) {
            leaf_right += single_[c][feature];
            most_right = std::max<int>(most_right, single_[c][feature]);
            most_left = std::max<int>(most_left, pairs.all[c] - single_[c][feature]);
        }
        leaf_left -= leaf_right + most_left;
        leaf_right -= most_right;
        const Candidate found{feature, high, std::min(loss_.leaf(leaf_left), loss_.stump(left)),
                              std::min(loss_.leaf(leaf_right), loss_.stump(right))};
        out.push_back(found);
        lower = std::min(lower, found.left + found.right + loss_.split_penalty);
    });
    context_.monitor.work(static_cast<std::uint64_t>(n_features_) * n_features_ / 4);
    return lower;
}

void BitCounter::list_stumps(const Side& side, Cost limit, SideTrees& out) {
    found_.clear();
    const auto consider = [&](int t, int next, Index high) {
        int most_left = 0, most_right = 0, label_left = 0, label_right = 0;
        for (int c = 0; c < n_classes_; ++c) {
            const int right = side.have[static_cast<std::size_t>(c) * n_features_ + t], left = side.all[c] - right;
            if (left > most_left) most_left = left, label_left = c;
            if (right > most_right) most_right = right, label_right = c;
        }
        const Cost cost = loss_.stump(next - most_left + side.rows - next - most_right);
        if (cost > limit || (!request_.rules.redundant && label_left == label_right)) return;
        found_.push_back({question(t, high), cost, label_left, label_right});
    };
    if (limit >= loss_.split_penalty) for_each_split(side, consider);
    trees_of_stumps(leaf_cost(side), label(side), found_, out);
}

template <class Take>
void BitCounter::count_two(const Pairs& pairs, const std::vector<Candidate>& candidates, Cost limit, const Take& take) {
    const Cost room = limit - loss_.split_penalty;
    for (const Candidate& split : candidates) {
        if (split.left + split.right > room) continue;
        sides_of(pairs, split.feature, left_side_, right_side_);
        list_stumps(left_side_, room - split.right, left_);
        list_stumps(right_side_, room - split.left, right_);
        take(question(split.feature, split.high));
        context_.monitor.work(static_cast<std::uint64_t>(n_features_) * n_classes_ * 4);
    }
}

void BitCounter::count_side(const Pairs& pairs, const std::vector<Candidate>& candidates, Cost limit, SideTrees& out) {
    Side whole;
    whole_of(pairs, whole);
    out.clear(leaf_cost(whole), label(whole));
    TreeSum sum(request_.rules, {context_.monitor, request_.most_entries()});
    count_two(pairs, candidates, limit, [&](const Question& split) { sum.add(split, left_, right_, limit); });
    sum.settle(out);
}

void BitCounter::count_three() {
    const Cost room = request_.limit - loss_.split_penalty;
    Side whole;
    whole_of(root_pairs_, whole);
    std::vector<Candidate> of_with, of_without;
    for_each_split(whole, [&](int feature, int next, Index high) {
        // The smaller side is counted; the other is the rest.
        const bool counts_with = whole.rows - next <= next;
        choose(root_, feature, counts_with, chosen_);
        count_pairs(chosen_, counts_with ? with_ : without_);
        if (counts_with)
            rest_of(root_pairs_, with_, without_);
        else
            rest_of(root_pairs_, without_, with_);
        const Cost left = find_candidates(without_, of_without), right = find_candidates(with_, of_with);
        if (left + right > room) return;
        count_side(without_, of_without, room - right, left_trees_);
        count_side(with_, of_with, room - left, right_trees_);
        sum_.take(question(feature, high), left_trees_, right_trees_);
    });
}

void BitCounter::count() {
    Side whole;
    whole_of(root_pairs_, whole);
    const Cost leaf = leaf_cost(whole);
    level_.trees.clear(whole.rows >= request_.min_leaf && leaf <= request_.limit ? leaf : kInfinite, label(whole));
    if (request_.depth == 3) {
        count_three();
    } else {
        std::vector<Candidate> candidates;
        find_candidates(root_pairs_, candidates);
        count_two(root_pairs_, candidates, request_.limit,
                  [&](const Question& split) { sum_.take(split, left_, right_); });
    }
}

}  // namespace provetree
