// The kernels that every processor can run, against plain loops: compiled for another processor and run under an
// emulator by test_other_processors.py. With two numbers as arguments it sweeps a thousand rows so many times and packs
// them so many times, so that the instructions of a row can be counted.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/bit_kernel.hpp"
#include "kernels/entry.hpp"
#include "kernels/kernel.hpp"

namespace {

using namespace provetree;

std::mt19937 generator(7);
int below(int limit) { return static_cast<int>(generator() % static_cast<unsigned>(limit)); }

void require(bool holds, const char* what) {
    if (holds) return;
    std::printf("differs from its twin: %s\n", what);
    std::exit(1);
}

// A sorted column of rows with ties and class codes, with room around its ranks as the kernels want it.
struct Column {
    std::vector<std::uint32_t> order, classes;
    std::vector<Index> room;
    Index *ranks, checks = 0, groups = 0;
    bool every_row = true;

    Column(int rows, int n_classes, int tie_odds)
        : order(static_cast<std::size_t>(rows) + 16), classes(static_cast<std::size_t>(rows)),
          room(static_cast<std::size_t>(rows) + 20), ranks(room.data() + 1) {
        std::vector<std::uint32_t> rows_in_order(classes.size());
        for (std::size_t i = 0; i < classes.size(); ++i) {
            rows_in_order[i] = static_cast<std::uint32_t>(i);
            classes[i] = static_cast<std::uint32_t>(below(n_classes));
        }
        std::shuffle(rows_in_order.begin(), rows_in_order.end(), generator);
        Index rank = 1;
        for (std::size_t i = 0; i < classes.size(); ++i) {
            const bool tied = i > 0 && tie_odds > 0 && below(tie_odds) == 0;
            every_row &= !tied;
            ranks[i] = rank += i > 0 && !tied;
            order[i] = rows_in_order[i] | entry::class_code(classes[rows_in_order[i]]) << entry::kClassShift;
        }
        ranks[-1] = 0;
        ranks[rows] = rank + 1;
        ranks[rows + 1] = rank + 2;
        kernels::baseline.flag(order.data(), ranks, static_cast<Index>(rows), false, checks, groups);
    }
    SweepColumn swept() const { return {order.data(), static_cast<Index>(classes.size()), checks, every_row}; }
    std::uint32_t row(std::size_t i) const { return order[i] & entry::kRowMask; }
};

std::vector<std::uint64_t> random_masks(std::size_t rows) {
    std::vector<std::uint64_t> masks(rows);
    for (std::uint64_t& mask : masks) mask = std::uint64_t{generator()} << 32 | generator();
    return masks;
}

TwoClassSums swept_plainly(const Column& column, const std::vector<std::uint64_t>& masks,
                           const std::vector<std::int32_t>& steps) {
    TwoClassSums sums{};
    for (int lane = 0; lane < kLanes; ++lane) {
        std::int32_t left = 0, right = 0;
        for (std::size_t i = 0; i < column.classes.size(); ++i) {
            const std::uint32_t row = column.row(i);
            (masks[row] >> lane & 1 ? left : right) += steps[row];
            if (column.ranks[i] == column.ranks[i + 1]) continue;
            sums.max_left[lane] = std::max(sums.max_left[lane], left);
            sums.min_left[lane] = std::min(sums.min_left[lane], left);
            sums.max_right[lane] = std::max(sums.max_right[lane], right);
            sums.min_right[lane] = std::min(sums.min_right[lane], right);
        }
        sums.total_left[lane] = left;
        sums.total_right[lane] = right;
    }
    return sums;
}

// The end of a column may or may not be looked at: its sums are the totals, which everybody knows.
void include_ends(TwoClassSums& sums) {
    for (int lane = 0; lane < kLanes; ++lane) {
        sums.max_left[lane] = std::max(sums.max_left[lane], sums.total_left[lane]);
        sums.min_left[lane] = std::min(sums.min_left[lane], sums.total_left[lane]);
        sums.max_right[lane] = std::max(sums.max_right[lane], sums.total_right[lane]);
        sums.min_right[lane] = std::min(sums.min_right[lane], sums.total_right[lane]);
    }
}

bool same(const TwoClassSums& swept, const TwoClassSums& b, int lanes) {
    TwoClassSums a = swept;
    include_ends(a);
    const auto all = [](const TwoClassSums& sums, int which) {
        return reinterpret_cast<const std::int32_t*>(&sums) + which * kLanes;
    };
    for (int which = 0; which < 6; ++which)
        if (!std::equal(all(a, which), all(a, which) + lanes, all(b, which))) return false;
    return true;
}

void test_sweeps(int rows, int tie_odds, int lanes) {
    const Column column(rows, 2, tie_odds);
    const std::vector<std::uint64_t> masks = random_masks(column.classes.size());
    std::vector<std::int32_t> units(column.classes.size()), weights(units.size());
    const int most = below(3) == 0 ? 127 : 4;
    for (std::size_t r = 0; r < units.size(); ++r) {
        units[r] = column.classes[r] == 1 ? 1 : -1;
        weights[r] = units[r] * (1 + below(most));
    }
    TwoClassSums sums{};
    kernels::baseline.sweep_unit(column.swept(), masks.data(), 1, 0, lanes, sums);
    require(same(sums, swept_plainly(column, masks, units), lanes), "sweep_unit");
    for (const LaneWidth width : {LaneWidth::k8, LaneWidth::k16, LaneWidth::k32}) {
        if (width == LaneWidth::k16 && rows * most > 32000) continue;
        sums = {};
        kernels::baseline.sweep_weighted(column.swept(), masks.data(), weights.data(), width, lanes, sums);
        require(same(sums, swept_plainly(column, masks, weights), lanes), "sweep_weighted");
    }
}

void test_sides(int rows) {
    const Column column(rows, 5, 3);
    std::vector<std::uint32_t> new_rows(column.classes.size());
    std::uint32_t next[2] = {};
    for (std::uint32_t& moved : new_rows) {
        const std::uint32_t side = static_cast<std::uint32_t>(below(2));
        moved = next[side]++ | side << 31;
    }
    std::vector<std::uint32_t> sides[2], kept(new_rows.size() + 16);
    std::vector<Index> ranks[2], kept_ranks(kept.size());
    for (int side = 0; side < 2; ++side) {
        sides[side].resize(kept.size());
        ranks[side].resize(kept.size());
    }
    kernels::baseline.partition(column.order.data(), column.ranks, static_cast<Index>(rows), new_rows.data(),
                                sides[0].data(), ranks[0].data(), sides[1].data(), ranks[1].data());
    std::vector<std::uint32_t> chosen(kept.size());
    std::vector<Index> chosen_ranks(kept.size());
    std::vector<std::int32_t> before(new_rows.size());
    kernels::baseline.choose(column.order.data(), column.ranks, static_cast<Index>(rows), new_rows.data(),
                             chosen.data(), chosen_ranks.data(), before.data());
    const Index count = kernels::baseline.keep_classes(column.order.data(), column.ranks, static_cast<Index>(rows), 1,
                                                       3, kept.data(), kept_ranks.data());
    std::int32_t counts[8] = {}, counted[8] = {};
    kernels::baseline.count_codes(column.order.data(), static_cast<Index>(rows), 5, counts);
    std::size_t at[2] = {}, k = 0;
    for (std::size_t i = 0; i < column.classes.size(); ++i) {
        const std::uint32_t item = column.order[i], moved = new_rows[item & entry::kRowMask], side = moved >> 31;
        const std::uint32_t made = (moved & entry::kRowMask) | (item & entry::kClassMask);
        require(sides[side][at[side]] == made && ranks[side][at[side]] == column.ranks[i], "partition");
        require(before[i] == static_cast<std::int32_t>(at[0]), "choose");
        if (side == 0) require(chosen[at[0]] == made && chosen_ranks[at[0]] == column.ranks[i], "choose");
        ++at[side];
        const std::uint32_t code = item >> entry::kClassShift;
        ++counted[code];
        if (code == 1 || code == 3) require(k < count && kept[k++] == item, "keep_classes");
    }
    require(k == count && std::equal(counts, counts + 8, counted), "count_codes");
}

// The rows of a node of two classes, as bits: what the kernels make of them against counting row by row.
struct BitNode {
    int features, rows[2], first_word[3];
    FeatureCircle circle;
    std::vector<std::uint32_t> masks;
    std::vector<std::uint16_t> bits;
    std::vector<std::uint32_t> numbers;
    int blocks, stride;

    BitNode(int n_features, int n_rows, int odds)
        : features(n_features), circle(n_features), blocks((n_features + 31) / 32),
          stride(circle.lanes + circle.margin) {
        rows[0] = below(n_rows + 1);
        rows[1] = n_rows - rows[0];
        masks.resize(static_cast<std::size_t>(n_rows) * static_cast<std::size_t>(mask_stride(blocks)) + 2);
        for (int r = 0; r < n_rows; ++r)
            for (int f = 0; f < features; ++f)
                if (below(odds) == 0) masks[place(r, f)] |= 1u << (f % 32);
        for (int r = 0; r < n_rows; ++r) numbers.push_back(static_cast<std::uint32_t>(r));
        std::shuffle(numbers.begin(), numbers.end(), generator);
        numbers.resize(numbers.size() + 16);
        first_word[0] = 0;
        first_word[1] = (rows[0] + 15) / 16;
        first_word[2] = first_word[1] + (rows[1] + 15) / 16;
        bits.resize(static_cast<std::size_t>(first_word[2] + 1) * static_cast<std::size_t>(stride) + 64);
        for (int c = 0; c < 2; ++c)
            kernels::bits_baseline.pack(masks.data(), blocks, numbers.data() + (c ? rows[0] : 0), rows[c],
                                        bits.data() + first_word[c] * stride, stride);
    }
    std::size_t place(int row, int feature) const {
        return static_cast<std::size_t>(row) * static_cast<std::size_t>(mask_stride(blocks)) +
               static_cast<std::size_t>(feature / 32);
    }
    bool has(std::uint32_t row, int feature) const {
        return masks[place(static_cast<int>(row), feature)] >> (feature % 32) & 1;
    }
    int count(int cls, int f, int g) const {
        int found = 0;
        for (int i = 0; i < rows[cls]; ++i) {
            const std::uint32_t row = numbers[static_cast<std::size_t>(i + (cls ? rows[0] : 0))];
            found += has(row, f) && has(row, g);
        }
        return found;
    }
    BitWords words() { return {bits.data(), stride, 2, first_word}; }
};

// The most rows that leaves on both sides of a second feature get right, of rows with (or without) the first.
int best_stump(const BitNode& node, int f, bool with) {
    int best = 0;
    for (int g = 0; g < node.features; ++g) {
        int yes[2], no[2];
        for (int c = 0; c < 2; ++c) {
            const int of_f = with ? node.count(c, f, f) : node.rows[c] - node.count(c, f, f);
            yes[c] = with ? node.count(c, f, g) : node.count(c, g, g) - node.count(c, f, g);
            no[c] = of_f - yes[c];
        }
        best = std::max(best, std::max(yes[0], yes[1]) + std::max(no[0], no[1]));
    }
    return best;
}

void test_bits(int features, int n_rows, int odds) {
    BitNode node(features, n_rows, odds);
    const BitKernel& kernel = kernels::bits_baseline;
    for (int c = 0; c < 2; ++c)
        for (int i = 0; i < node.rows[c]; ++i)
            for (int f = 0; f < features; ++f) {
                const std::uint32_t row = node.numbers[static_cast<std::size_t>(i + (c ? node.rows[0] : 0))];
                const int word = node.bits[static_cast<std::size_t>((node.first_word[c] + i / 16) * node.stride + f)];
                require((word >> (i % 16) & 1) == node.has(row, f), "pack");
            }
    std::vector<std::uint32_t> chosen(node.numbers.size() + 16);
    const int f = below(features);
    const int taken =
        kernel.select(node.numbers.data(), node.rows[0], node.bits.data() + f, node.stride, true, chosen.data());
    require(taken == node.count(0, f, f), "select");
    for (int i = 0; i < taken; ++i) require(node.has(chosen[static_cast<std::size_t>(i)], f), "select");

    const FeatureCircle& circle = node.circle;
    std::vector<std::int16_t> counts(static_cast<std::size_t>(2 * circle.lanes) + 64);
    kernel.wrap_words(node.words(), circle);
    kernel.count(node.words(), circle.lanes, counts.data());
    std::vector<std::int16_t> pairs(static_cast<std::size_t>(circle.pairs()) + 64);
    kernel.count_differences(node.words(), circle, pairs.data());
    for (int g = 0; g < features; ++g) {
        for (int c = 0; c < 2; ++c)
            require(counts[static_cast<std::size_t>(c * circle.lanes + g)] == node.count(c, g, g), "count");
        for (int r = 1; r <= circle.half; ++r) {
            const int other = (g + r) % features;
            require(pairs[static_cast<std::size_t>((r - 1) * circle.lanes + g)] ==
                        node.count(0, g, other) - node.count(1, g, other),
                    "count_differences");
        }
    }
    const std::int16_t all[2] = {static_cast<std::int16_t>(node.rows[0]), static_cast<std::int16_t>(node.rows[1])};
    const BitCounts own{counts.data(), all};
    std::vector<std::int16_t> room(2 * static_cast<std::size_t>(circle.room_of_side()) + 256);
    std::vector<std::int16_t> with(static_cast<std::size_t>(circle.lanes) + 64), without(with);
    kernel.best_stumps_by_differences(node.words(), own, own, pairs.data(), circle, room.data(),
                                      {with.data(), without.data()}, {});
    for (int g = 0; g < features; ++g) {
        require(with[static_cast<std::size_t>(g)] == best_stump(node, g, true), "best_stumps_by_differences");
        require(without[static_cast<std::size_t>(g)] == best_stump(node, g, false), "best_stumps_by_differences");
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 2) {
        const Column column(1000, 2, 0);
        const std::vector<std::uint64_t> masks = random_masks(column.classes.size());
        BitNode node(64, 1000, 2);
        TwoClassSums sums{};
        for (int i = std::atoi(argv[1]); i > 0; --i)
            kernels::baseline.sweep_unit(column.swept(), masks.data(), 1, 0, kLanes, sums);
        for (int i = std::atoi(argv[2]); i > 0; --i)
            kernels::bits_baseline.pack(node.masks.data(), node.blocks, node.numbers.data(), node.rows[0],
                                        node.bits.data(), node.stride);
        return 0;
    }
    int cases = 0;
    for (int round = 0; round < 150; ++round, ++cases) {
        test_sweeps(1 + below(400), below(4), 1 + below(kLanes));
        test_sides(1 + below(200));
        test_bits(1 + below(70), 1 + below(round % 10 ? 90 : 700), 2 + below(3));
    }
    std::printf("%d cases agree\n", cases);
    return 0;
}
