// Ordering of sums and ratios; see streamed/sum_columns.hpp. Products and sums are rounded one after the other here, as
// in Python: the build switches contraction off for this file.
#include "streamed/sum_columns.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace provetree {

namespace {

constexpr double kNoise = 1e-12;  // as in Python: sums so close to each other, by their size, are equal
constexpr std::uint64_t kSign = std::uint64_t{1} << 63;

// Doubles in the order of their values as unsigned integers, and back; + 0.0 turns -0.0 into 0.0.
std::uint64_t key_of(double value) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(value + 0.0);
    return bits & kSign ? ~bits : bits | kSign;
}
double value_of(std::uint64_t key) { return std::bit_cast<double>(key & kSign ? key ^ kSign : ~key); }

// Ranks of sorted values: `distance(value)` is how far the next one must be to be another.
template <class Distance>
Index rank_groups(const std::vector<Keyed>& sorted, Index* ranks, const Distance& distance) {
    Index rank = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        ranks[i] = rank;
        if (i + 1 == sorted.size()) break;
        const double next = value_of(sorted[i + 1].key);
        rank += next - value_of(sorted[i].key) > distance(next);
    }
    return sorted.empty() ? 0 : rank + 1;
}

// Whether a group is so wide that its values are not equal but for rounding.
bool has_wide_group(const std::vector<Keyed>& sorted, const Index* ranks, double width) {
    std::size_t begin = 0;
    for (std::size_t i = 1; i <= sorted.size(); ++i) {
        if (i < sorted.size() && ranks[i] == ranks[begin]) continue;
        if (value_of(sorted[i - 1].key) - value_of(sorted[begin].key) > width) return true;
        begin = i;
    }
    return false;
}

}  // namespace

SumColumns::SumColumns(const RawTable& table, std::vector<TwoColumns> sums, const Node& root, const Kernel& kernel,
                       std::int64_t min_leaf)
    : table_(table), sums_(std::move(sums)), root_(root), kernel_(kernel), min_leaf_(min_leaf) {
    std::vector<bool> lacks(table.features, false);
    for (std::size_t row = 0; row < table.rows; ++row)
        for (std::size_t f = 0; f < table.features; ++f)
            if (std::isnan(table.at(row, f))) lacks[f] = true;
    for (std::size_t s = 0; s < sums_.size(); ++s) {
        const bool both = lacks[sums_[s].first] || lacks[sums_[s].second];
        if (both) made_of_.push_back({s, true});
        made_of_.push_back({s, false});
    }
}

// The rows that have the sum, by their sums. Returns the largest size of one, of which roundings are a part.
double SumColumns::sort_values(const TwoColumns& sum, const std::uint32_t* order, std::vector<Keyed>& sorted) const {
    sorted.clear();
    double largest = 0;
    for (std::size_t i = 0; i < table_.rows; ++i) {
        const std::size_t row = order ? order[i] & entry::kRowMask : i;
        const double x = table_.at(row, sum.first), y = table_.at(row, sum.second);
        if (std::isnan(x) || std::isnan(y)) continue;
        const double ax = sum.a * x, by = sum.b * y;
        const double value = sum.is_ratio ? x / y : ax + by;
        largest = std::max(largest, std::abs(ax) + std::abs(by));
        sorted.push_back({key_of(value), static_cast<std::uint32_t>(row)});
    }
    if (!order) radix_sort(sorted);
    return largest;
}

bool SumColumns::load(std::size_t c, LoadedColumn& into, const std::uint32_t* known) const {
    const TwoColumns& sum = sums_[made_of_[c].sum];
    const Index rows = root_.rows;
    const std::size_t stride = kRoomBefore + rows + kRoomAfter;
    into.storage.resize(2 * stride);
    NodeColumn& column = into.column;
    column.order = into.storage.data() + kRoomBefore;
    column.ranks = column.order + stride;
    column.weight_before = nullptr;
    const double largest = sort_values(sum, known, into.sorted);
    const Index n = static_cast<Index>(into.sorted.size()), n_missing = rows - n;
    const bool first = made_of_[c].missing_first;
    Index* const ranks = column.ranks + (first ? n_missing : 0);
    Index n_ranks;
    if (sum.is_ratio) {
        n_ranks = rank_groups(into.sorted, ranks, [](double next) { return kNoise * next; });
    } else {
        const double noise = kNoise * largest;
        n_ranks = rank_groups(into.sorted, ranks, [noise](double) { return noise; });
        if (has_wide_group(into.sorted, ranks, noise / 4))
            n_ranks = rank_groups(into.sorted, ranks, [](double) { return 0.0; });
    }
    const auto entry_of = [&](std::uint32_t row) {
        return row | entry::class_code(root_.classes[row]) << entry::kClassShift;
    };
    std::uint32_t* const order = column.order + (first ? n_missing : 0);
    for (Index i = 0; i < n; ++i) order[i] = entry_of(into.sorted[i].index);
    if (n_missing > 0) {
        std::uint32_t* lacking = column.order + (first ? 0 : n);
        for (std::uint32_t row = 0; row < rows; ++row) {
            if (std::isnan(table_.at(row, sum.first)) || std::isnan(table_.at(row, sum.second)))
                *lacking++ = entry_of(row);
        }
        if (first)
            for (Index i = 0; i < n; ++i) ++ranks[i];
        std::fill_n(column.ranks + (first ? 0 : n), n_missing, first ? Index{0} : n_ranks);
    }
    if (rows == 0 || column.ranks[0] == column.ranks[rows - 1]) return false;
    seal_order(kernel_, column.order, column.ranks, rows, min_leaf_ > 1, column.checks, column.groups);
    column.no_ties = column.groups == rows;
    limit_sides(root_, min_leaf_, column);
    if (!root_.unit_weights) {
        into.weights.resize(rows + std::size_t{1});
        column.weight_before = into.weights.data();
        Weight before = 0;
        for (Index i = 0; i < rows; ++i) {
            column.weight_before[i] = before;
            before += root_.weights[column.order[i] & entry::kRowMask];
        }
        column.weight_before[rows] = before;
    }
    return true;
}

}  // namespace provetree
