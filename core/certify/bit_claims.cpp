// Claims from the search on bits; see certify/bit_claims.hpp.
#include "certify/bit_claims.hpp"

#include <algorithm>
#include <stdexcept>

namespace provetree {

namespace {

// Processors without an instruction for it need a call for std::popcount, which takes longer.
int ones_in(std::uint64_t word) {
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    return static_cast<int>(((word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F) * 0x0101010101010101 >> 56);
}

}  // namespace

BitClaims::BitClaims(BitRecursion& recursion, ClaimLog& log) : recursion_(recursion), log_(log) {
    const Table& table = recursion.context().table;
    for (Index row = 0; row < table.rows; ++row) rows_.insert(rows_.end(), table.weights[row], row);
    words_ = (rows_.size() + 63) / 64;
    for (const Feature& feature : recursion.nodes().features()) {
        Mask& mask = has_.emplace_back(words_, 0);
        const Index* ranks = table.ranks + std::size_t{feature.column} * table.rows;
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (ranks[rows_[i]] > feature.rank) mask[i / 64] |= std::uint64_t{1} << (i % 64);
    }
}

BitClaims::Mask BitClaims::rows_of(const Where& where) const {
    const Table& table = recursion_.context().table;
    Mask mask(words_, ~std::uint64_t{0});
    if (rows_.size() % 64) mask.back() >>= 64 - rows_.size() % 64;
    for (const Condition& one : where) {
        const Index* ranks = table.ranks + std::size_t{one.column} * table.rows;
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (ranks[rows_[i]] < one.low || ranks[rows_[i]] > one.high)
                mask[i / 64] &= ~(std::uint64_t{1} << (i % 64));
    }
    return mask;
}

BitClaims::Tried BitClaims::solve(BitNode& node, const Division& share, std::uint32_t feature, Cost bound,
                                  std::size_t level) {
    Tried split{feature, &share, {}};
    const Incumbent found = recursion_.solve_split(node, share, feature, split.sides, bound, level);
    if (found.upper < bound) throw std::logic_error("provetree core: a tree costs less than its certificate claims.");
    return split;
}

// The best bound of a side from what is claimed for the sides of splits that were tried; the first that is enough.
BitClaims::Borrowed BitClaims::borrow(const Mask& rows, std::span<const Tried> tried, std::uint32_t feature, bool right,
                                      Cost enough) {
    Borrowed best;
    const Mask& own = has_[feature];
    const Cost each = recursion_.loss().slack(1);
    int all_gone = 0;  // rows of the node that are not on this side
    lacks_.resize(words_);
    for (std::size_t w = 0; w < words_; ++w) {
        lacks_[w] = rows[w] & (right ? ~own[w] : own[w]);
        all_gone += ones_in(lacks_[w]);
    }
    for (std::size_t t = 0; t < tried.size() && best.bound < enough; ++t) {
        if (std::max(tried[t].sides.left, tried[t].sides.right) <= best.bound) continue;
        const Mask& other = has_[tried[t].feature];
        int gone_right = 0;  // those on the right of the other split
        for (std::size_t w = 0; w < words_; ++w) gone_right += ones_in(lacks_[w] & other[w]);
        for (const bool of_right : {false, true}) {
            const int gone = of_right ? gone_right : all_gone - gone_right;
            const Cost bound = (of_right ? tried[t].sides.right : tried[t].sides.left) - each * gone;
            if (bound > best.bound) best = {t, of_right, bound};
        }
    }
    return best;
}

void BitClaims::claim_sides(BitNode& node, const Where& where, Tried& split, std::size_t level) {
    const SplitErrors leaves = recursion_.nodes().split_errors(node, split.feature);
    for (const bool right : {false, true}) {
        const Cost bound = right ? split.sides.right : split.sides.left;
        if (!split.used[right] || bound <= 0) continue;
        const Where rows = side(where, split.feature, right);
        const Shape shape = right ? split.share->right : split.share->left;
        ClaimNumber& number = split.claims[right];
        if ((number = log_.find(rows, shape, bounds(bound)))) continue;
        if (shape.on(static_cast<Index>(right ? leaves.size_right : leaves.size_left)).depth <= 2) {
            number = log_.add(rows, shape, bounds(bound));
            continue;
        }
        BitNode& child = recursion_.nodes().child_at(level, right);
        recursion_.make_side(node, split.feature, right, level, child);
        number = claim(child, rows, shape, bound, level + 1);
    }
}

ClaimNumber BitClaims::claim(BitNode& node, const Where& where, Shape shape, Cost bound, std::size_t level) {
    const Shape own = shape.on(static_cast<Index>(node.size()));
    if (own.depth <= 2) return log_.add(where, shape, bounds(bound));
    const Cost wanted = bound - recursion_.loss().split_penalty;
    const std::vector<Division> shares = divisions(own);
    std::vector<Tried> tried;
    std::vector<std::uint8_t> is_tried(has_.size() * shares.size(), 0);
    const auto share_number = [&](const Division& share) {
        return static_cast<std::size_t>(share.left_splits - shares[0].left_splits);
    };
    SplitLoop splits = recursion_.splits_of(node, own, bound, level);
    while (splits.next(bound)) {
        const Division& share = shares[share_number(splits.share())];
        Tried split = solve(node, share, splits.feature(), bound, level);
        if (split.sides.sum() > 0) splits.raise(split.feature, split.sides);
        is_tried[split.feature * shares.size() + share_number(share)] = 1;
        tried.push_back(split);
    }
    // Splits that were passed over.
    std::vector<Closed> closed;
    const std::size_t solved = tried.size();
    const Mask rows = rows_of(where);
    for (std::uint32_t feature : recursion_.nodes().promising_order(node)) {
        for (const Division& share : shares) {
            if (is_tried[feature * shares.size() + share_number(share)]) continue;
            if (splits.raises()) {
                const std::span<const Tried> first(tried.data(), solved);
                Closed one{feature, {}};
                one.sides[0] = borrow(rows, first, feature, false, wanted);
                if (one.sides[0].bound < wanted)
                    one.sides[1] = borrow(rows, first, feature, true, wanted - one.sides[0].bound);
                if (one.sides[0].bound + one.sides[1].bound >= wanted) {
                    closed.push_back(one);
                    continue;
                }
            }
            tried.push_back(solve(node, share, feature, bound, level));
        }
    }
    for (const Closed& one : closed)
        for (const Borrowed& from : one.sides)
            if (from.bound > 0) tried[from.from].used[from.right] = true;
    for (Tried& split : tried) {
        // One side is enough where it reaches what is wanted by itself, best one that others use, too.
        const bool enough[2] = {split.sides.left >= wanted, split.sides.right >= wanted};
        if (!(split.used[0] && enough[0]) && !(split.used[1] && enough[1])) {
            split.used[0] = split.used[0] || enough[0] || !enough[1];
            split.used[1] = split.used[1] || !enough[0];
        }
        claim_sides(node, where, split, level);
    }
    ClaimLog::Cover cover{own, {}};
    const auto add = [&](std::uint32_t feature, std::int64_t left_splits, ClaimNumber left, ClaimNumber right) {
        const Feature& of = recursion_.nodes().features()[feature];
        if (left || right) cover.points.push_back({of.column, left_splits, of.rank, left, right});
    };
    for (const Tried& split : tried) add(split.feature, split.share->left_splits, split.claims[0], split.claims[1]);
    const auto lent = [&](const Borrowed& from) { return from.bound > 0 ? tried[from.from].claims[from.right] : 0; };
    for (const Closed& one : closed) add(one.feature, shares[0].left_splits, lent(one.sides[0]), lent(one.sides[1]));
    return log_.add(where, shape, bounds(bound), cover);
}

}  // namespace provetree
