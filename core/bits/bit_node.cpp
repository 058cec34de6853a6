// Making and counting nodes of the bit search; see bits/bit_node.hpp.
#include "bits/bit_node.hpp"

#include <bit>

namespace provetree {

namespace {

std::vector<Feature> features_of(const Table& table) {
    std::vector<Feature> features;
    for (Index c = 0; c < table.columns; ++c) {
        for (Index rank = 0; rank < table.tops[c]; ++rank) features.push_back({c, rank});
    }
    return features;
}

// Scratch only ever grows: what it held does not matter.
template <class T>
void make_room(LineVector<T>& scratch, std::size_t size) {
    if (scratch.size() < size) scratch.resize(size);
}

// Four literals with one more among them. Those above it move up by one place, the last one out.
std::uint64_t inserted(std::uint64_t word, std::uint32_t literal) {
    int place = 0;
    while ((word >> (16 * place) & 0xffff) < literal) ++place;
    const std::uint64_t below = (std::uint64_t{1} << (16 * place)) - 1;
    return (word & below) | (std::uint64_t{literal} << (16 * place)) | (word & ~below) << 16;
}

}  // namespace

ConditionSet ConditionSet::with(std::uint32_t literal) const {
    if (low >> 48 < literal) return {low, inserted(high, literal)};
    return {inserted(low, literal), high << 16 | low >> 48};
}

std::size_t ConditionSet::Hash::operator()(const ConditionSet& set) const {
    std::uint64_t hash = set.low * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 29;
    hash = (hash ^ set.high) * 0xbf58476d1ce4e5b9ull;
    return static_cast<std::size_t>(hash ^ hash >> 32);
}

BitNodes::BitNodes(Context& context, const BitKernel& kernel)
    : context_(context), kernel_(kernel), features_(features_of(context.table)),
      circle_(static_cast<int>(features_.size())),
      least_leaf_(static_cast<int>(std::clamp<std::int64_t>(context.min_leaf, 1, INT16_MAX))),
      by_differences_(context.table.n_classes == 2 && least_leaf_ == 1), lanes_(circle_.lanes),
      word_stride_(by_differences_ ? circle_.lanes + circle_.margin : circle_.lanes),
      blocks_(circle_.lanes / kFeatureBlock) {
    const Table& table = context.table;
    make_masks();
    root_.n_classes = table.n_classes;
    std::size_t begun = 0;
    for (int c = 0; c < table.n_classes; ++c) {
        for (Index row = 0; row < table.rows; ++row)
            if (table.classes[row] == c)
                root_.rows.insert(root_.rows.end(), static_cast<std::size_t>(table.counts[row]), row);
        root_.first_row[++begun] = static_cast<int>(root_.rows.size());
    }
    stumps_.resize(4 * static_cast<std::size_t>(lanes_));
    both_.resize(static_cast<std::size_t>(lanes_));
    if (by_differences_) room_.resize(2 * static_cast<std::size_t>(circle_.room_of_side()));
    count(root_);
}

void BitNodes::make_masks() {
    constexpr std::size_t kRowsAtOnce = 512;
    const Table& table = context_.table;
    const std::size_t row_masks = static_cast<std::size_t>(mask_stride(blocks_)), rows = table.rows;
    masks_.assign(rows * row_masks, 0);
    for (std::size_t first = 0; first < features_.size(); first += kFeatureBlock) {
        const std::size_t last = std::min(features_.size(), first + kFeatureBlock);
        for (std::size_t begin = 0; begin < rows; begin += kRowsAtOnce) {
            const std::size_t count = std::min(kRowsAtOnce, rows - begin);
            std::uint32_t masks[kRowsAtOnce] = {};
            for (std::size_t f = first; f < last; ++f) {
                const Index* const ranks = table.ranks + static_cast<std::size_t>(features_[f].column) * rows + begin;
                kernel_.mark_above(ranks, count, features_[f].rank, std::uint32_t{1} << (f - first), masks);
            }
            for (std::size_t i = 0; i < count; ++i) masks_[(begin + i) * row_masks + first / kFeatureBlock] = masks[i];
        }
    }
}

BitNode& BitNodes::child_at(std::size_t level, bool has) {
    while (children_.size() <= 2 * level + 1) children_.push_back(std::make_unique<BitNode>());
    return *children_[2 * level + (has ? 1 : 0)];
}

void BitNodes::make_child(const BitNode& parent, std::uint32_t feature, bool has, BitNode& child) {
    make_room(child.rows, static_cast<std::size_t>(parent.size()) + 16);
    child.n_classes = parent.n_classes;
    int kept = 0;
    for (std::size_t c = 0; c < static_cast<std::size_t>(parent.n_classes); ++c) {
        kept += kernel_.select(
            parent.rows.data() + parent.first_row[c], parent.all[c],
            parent.bits.data() +
                static_cast<std::size_t>(parent.first_word[c]) * static_cast<std::size_t>(word_stride_) + feature,
            word_stride_, has, child.rows.data() + kept);
        child.first_row[c + 1] = kept;
    }
    child.parent = parent.number;
    child.split_by = feature;
    child.split_right = has;
    count(child);
}

void BitNodes::choose(const BitNode& from, const std::vector<std::uint8_t>& marked, BitNode& chosen) {
    chosen.conditions = from.conditions;
    chosen.n_classes = from.n_classes;
    chosen.rows.clear();
    for (std::size_t c = 0; c < static_cast<std::size_t>(from.n_classes); ++c) {
        for (int i = from.first_row[c]; i < from.first_row[c + 1]; ++i) {
            const std::uint32_t row = from.rows[static_cast<std::size_t>(i)];
            if (marked[row]) chosen.rows.push_back(row);
        }
        chosen.first_row[c + 1] = static_cast<int>(chosen.rows.size());
    }
    count(chosen);
}

void BitNodes::count(BitNode& node) {
    node.number = ++numbered_;
    node.has_pairs = false;
    const std::size_t classes = static_cast<std::size_t>(node.n_classes),
                      stride = static_cast<std::size_t>(word_stride_);
    for (std::size_t c = 0; c < classes; ++c) {
        const int rows = node.first_row[c + 1] - node.first_row[c];
        node.first_word[c + 1] = node.first_word[c] + (rows + 15) / 16;
        node.all[c] = static_cast<std::int16_t>(rows);
    }
    make_room(node.bits, static_cast<std::size_t>(node.words()) * stride);
    for (std::size_t c = 0; c < classes; ++c)
        kernel_.pack(masks_.data(), blocks_, node.rows.data() + node.first_row[c], node.all[c],
                     node.bits.data() + static_cast<std::size_t>(node.first_word[c]) * stride, word_stride_);
    if (by_differences_) kernel_.wrap_words(words_of(node), circle_);
    make_room(node.counts, classes * static_cast<std::size_t>(lanes_));
    kernel_.count(words_of(node), lanes_, node.counts.data());
    context_.monitor.work(static_cast<std::size_t>(node.size()) * static_cast<std::size_t>(blocks_) / 4);
}

void BitNodes::count_pairs(BitNode& node) {
    if (node.has_pairs) return;
    node.has_pairs = true;
    if (by_differences_) {
        make_room(node.pairs, static_cast<std::size_t>(circle_.pairs()));
        kernel_.count_differences(words_of(node), circle_, node.pairs.data());
    } else {
        make_room(node.pairs,
                  static_cast<std::size_t>(node.n_classes) * features_.size() * static_cast<std::size_t>(lanes_));
        kernel_.count_pairs(words_of(node), static_cast<int>(features_.size()), node.pairs.data());
    }
    context_.monitor.work(features_.size() * static_cast<std::size_t>(blocks_ * node.words()) / 2);
}

SplitErrors BitNodes::split_errors(const BitNode& node, std::uint32_t feature) const {
    Weight right = 0, largest_right = 0, largest_left = 0;
    const std::int16_t* counts = node.counts.data() + feature;
    for (std::size_t c = 0; c < static_cast<std::size_t>(node.n_classes); ++c, counts += lanes_) {
        right += *counts;
        largest_right = std::max<Weight>(largest_right, *counts);
        largest_left = std::max<Weight>(largest_left, node.all[c] - *counts);
    }
    const Weight left = node.size() - right;
    return {left - largest_left, right - largest_right, left, right};
}

std::vector<std::uint32_t> BitNodes::promising_order(const BitNode& node) {
    const std::size_t lanes = static_cast<std::size_t>(lanes_), classes = static_cast<std::size_t>(node.n_classes);
    sums_.assign(3 * lanes, 0);
    float *const with = sums_.data(), *const squares_with = with + lanes, *const squares_without = squares_with + lanes;
    for (std::size_t c = 0; c < classes; ++c) {
        const std::int16_t* counts = node.counts.data() + c * lanes;
        const float all = node.all[c];
        for (std::size_t f = 0; f < lanes; ++f) {
            const float here = counts[f], others = all - here;
            with[f] += here;
            squares_with[f] += here * here;
            squares_without[f] += others * others;
        }
    }
    const float all = static_cast<float>(node.size()), least = static_cast<float>(least_leaf_);
    // What is at least zero has the order of its bits. The larger the sum of both, the purer the sides.
    float* const impurity = squares_with;
    for (std::size_t f = 0; f < lanes; ++f) {
        const float without = all - with[f];
        impurity[f] = std::max(
            0.0f, all - (squares_with[f] / std::max(with[f], 1.0f) + squares_without[f] / std::max(without, 1.0f)));
    }
    scored_.clear();
    for (std::size_t f = 0; f < features_.size(); ++f)
        if (with[f] >= least && all - with[f] >= least)
            scored_.push_back(std::uint64_t{std::bit_cast<std::uint32_t>(impurity[f])} << 32 | f);
    std::sort(scored_.begin(), scored_.end());
    std::vector<std::uint32_t> order(scored_.size());
    for (std::size_t i = 0; i < scored_.size(); ++i) order[i] = static_cast<std::uint32_t>(scored_[i]);
    return order;
}

BitNodes::Floors BitNodes::no_floors(const BitNode& node) {
    const std::size_t lanes = static_cast<std::size_t>(lanes_);
    Floors floors;
    if (!spare_floors_.empty()) {
        floors = std::move(spare_floors_.back());
        spare_floors_.pop_back();
    }
    floors.with.assign(lanes, 0);
    floors.without.assign(lanes, 0);
    floors.rows_with.assign(lanes, 0);
    for (std::size_t c = 0; c < static_cast<std::size_t>(node.n_classes); ++c)
        for (std::size_t f = 0; f < lanes; ++f)
            floors.rows_with[f] = static_cast<std::int16_t>(floors.rows_with[f] + node.counts[c * lanes + f]);
    return floors;
}

void BitNodes::raise_floors(BitNode& node, std::uint32_t feature, const SideCosts& least, Cost cost_of_row,
                            std::size_t level, Floors& floors) {
    // A side of the split that was counted just now tells how its feature goes with the others.
    const auto counted = [&](bool has) {
        const BitNode& child = child_at(level, has);
        return child.parent == node.number && child.split_by == feature ? &child : nullptr;
    };
    const std::size_t lanes = static_cast<std::size_t>(lanes_);
    const BitNode *has = counted(true), *lacks = has ? nullptr : counted(false);
    if (has || lacks) {
        const BitNode& side = has ? *has : *lacks;
        std::copy(side.counts.begin(), side.counts.begin() + lanes_, both_.begin());
        for (std::size_t c = 1; c < static_cast<std::size_t>(node.n_classes); ++c)
            for (std::size_t f = 0; f < lanes; ++f)
                both_[f] = static_cast<std::int16_t>(both_[f] + side.counts[c * lanes + f]);
        if (lacks)
            for (std::size_t f = 0; f < lanes; ++f)
                both_[f] = static_cast<std::int16_t>(floors.rows_with[f] - both_[f]);
    } else {
        kernel_.count_with_feature(words_of(node), lanes_, static_cast<int>(feature), both_.data());
    }
    raise_by(node, feature, least, cost_of_row, both_.data(), floors);
    report_raise(node);
}

void BitNodes::raise_floors_apart(BitNode& node, std::uint32_t feature, const SideCosts& least, Cost cost_of_row,
                                  LineVector<std::int16_t>& both, Floors& floors) const {
    make_room(both, static_cast<std::size_t>(lanes_));
    kernel_.count_with_feature(words_of(node), lanes_, static_cast<int>(feature), both.data());
    raise_by(node, feature, least, cost_of_row, both.data(), floors);
}

void BitNodes::report_raise(const BitNode& node) {
    context_.monitor.work(static_cast<std::size_t>(blocks_ * (node.words() + 4)));
}

void BitNodes::raise_by(const BitNode& node, std::uint32_t feature, const SideCosts& least, Cost cost_of_row,
                        const std::int16_t* both, Floors& floors) const {
    const std::int32_t with = floors.rows_with[feature];
    const SplitProof proof{static_cast<std::int32_t>(least.right), static_cast<std::int32_t>(least.left), with,
                           static_cast<std::int32_t>(node.size()) - with};
    kernel_.raise_floors(lanes_, proof, static_cast<std::int32_t>(cost_of_row), floors.rows_with.data(), both,
                         floors.with.data(), floors.without.data());
}

void BitNodes::best_stumps(BitNode& own, const BitNode& rest, const BitNode* parent, BitStumps of_own,
                           BitStumps of_rest) {
    const int features = static_cast<int>(features_.size());
    const std::int16_t* pairs = parent ? parent->pairs.data() : nullptr;
    if (by_differences_) {
        kernel_.best_stumps_by_differences(words_of(own), own.counted(), rest.counted(), pairs, circle_, room_.data(),
                                           of_own, of_rest);
    } else {
        std::fill(stumps_.begin(), stumps_.end(), std::int16_t{0});
        kernel_.best_stumps(words_of(own), own.counted(), rest.counted(), pairs, features, least_leaf_, of_own,
                            of_rest);
    }
    context_.counters.depth_two_solves += (of_own.with ? 1 : 0) + (of_rest.with ? 1 : 0);
    context_.counters.row_steps += features_.size() * static_cast<std::size_t>(blocks_ * own.words());
    context_.monitor.work(features_.size() * static_cast<std::size_t>(blocks_ * (own.words() + 4)) / 2);
}

ErrorsOfTwo BitNodes::fewest_errors(const BitNode& node, BitStumps stumps) const {
    std::int32_t errors[3];
    kernel_.fewest_errors(node.counted(), node.n_classes, static_cast<int>(features_.size()), lanes_, least_leaf_,
                          stumps, errors);
    return {{static_cast<std::int16_t>(errors[0]), static_cast<std::int16_t>(errors[1]),
             static_cast<std::int16_t>(errors[2])}};
}

void BitNodes::solve_bottoms(BitNode& parent, std::uint32_t feature, bool left, bool right, std::size_t level,
                             ErrorsOfTwo& of_left, ErrorsOfTwo& of_right) {
    const SplitErrors leaves = split_errors(parent, feature);
    const bool count_right = leaves.size_right <= leaves.size_left;
    const bool want_own = count_right ? right : left, want_rest = count_right ? left : right;
    BitNode &own = child_at(level, count_right), &rest = child_at(level, !count_right);
    make_child(parent, feature, count_right, own);
    if (want_rest) {
        count_pairs(parent);
        const std::size_t classes = static_cast<std::size_t>(parent.n_classes),
                          numbers = classes * static_cast<std::size_t>(lanes_);
        make_room(rest.counts, numbers);
        for (std::size_t i = 0; i < numbers; ++i)
            rest.counts[i] = static_cast<std::int16_t>(parent.counts[i] - own.counts[i]);
        rest.n_classes = parent.n_classes;
        rest.parent = parent.number;
        rest.split_by = feature;
        for (std::size_t c = 0; c < classes; ++c) rest.all[c] = static_cast<std::int16_t>(parent.all[c] - own.all[c]);
    }
    std::int16_t* at = stumps_.data();
    const BitStumps of_own = want_own ? BitStumps{at, at + lanes_} : BitStumps{},
                    of_rest = want_rest ? BitStumps{at + 2 * lanes_, at + 3 * lanes_} : BitStumps{};
    best_stumps(own, rest, &parent, of_own, of_rest);
    if (want_own) (count_right ? of_right : of_left) = fewest_errors(own, of_own);
    if (want_rest) (count_right ? of_left : of_right) = fewest_errors(rest, of_rest);
}

ErrorsOfTwo BitNodes::solve_bottom(BitNode& node) {
    best_stumps(node, node, nullptr, stumps(), {});
    return fewest_errors(node, stumps());
}

}  // namespace provetree
