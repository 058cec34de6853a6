// Claims from the search on bits; see certify/bit_claims.hpp.
#include "certify/bit_claims.hpp"

#include <algorithm>
#include <stdexcept>

namespace provetree {

BitClaims::Tried BitClaims::solve(BitNode& node, const Division& share, std::uint32_t feature, Cost bound,
                                  std::size_t level) {
    Tried split{feature, &share, {}};
    const Incumbent found = recursion_.solve_split(node, share, feature, split.sides, bound, level);
    if (found.upper < bound) throw std::logic_error("provetree core: a tree costs less than its certificate claims.");
    return split;
}

// The best bound of a side from what is claimed for the sides of splits that were tried; the first that is enough.
BitClaims::Borrowed BitClaims::borrow(const BitNode& node, std::span<const Tried> tried, const Together& together,
                                      std::uint32_t feature, bool right, Cost enough) const {
    Borrowed best;
    const Cost each = recursion_.loss().slack(1);
    const Weight all = node.size(), own = recursion_.nodes().split_errors(node, feature).size_right;
    for (std::size_t t = 0; t < tried.size() && best.bound < enough; ++t) {
        if (std::max(tried[t].sides.left, tried[t].sides.right) <= best.bound) continue;
        const std::int16_t* const with = together.data() + t * features();
        const Weight both = with[feature], others = with[tried[t].feature];
        for (const bool of_right : {false, true}) {
            // Rows of the side of the other split that are not on this one.
            const Weight here = right ? both : others - both, there = right ? own - both : all - own - (others - both);
            const Weight gone = of_right ? others - here : all - others - there;
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
    Together together;
    std::vector<std::uint8_t> is_tried(features() * shares.size(), 0);
    const auto share_number = [&](const Division& share) {
        return static_cast<std::size_t>(share.left_splits - shares[0].left_splits);
    };
    SplitLoop splits = recursion_.splits_of(node, own, bound, level);
    while (splits.next(bound)) {
        const Division& share = shares[share_number(splits.share())];
        Tried split = solve(node, share, splits.feature(), bound, level);
        if (splits.raises()) {
            splits.raise(split.feature, split.sides);
            const std::int16_t* const with = recursion_.nodes().counted_together();
            together.insert(together.end(), with, with + features());
        }
        is_tried[split.feature * shares.size() + share_number(share)] = 1;
        tried.push_back(split);
    }
    // Splits that were passed over.
    std::vector<Closed> closed;
    const std::size_t solved = tried.size();
    for (std::uint32_t feature : splits.order()) {
        for (const Division& share : shares) {
            if (is_tried[feature * shares.size() + share_number(share)]) continue;
            if (splits.raises()) {
                const std::span<const Tried> first(tried.data(), solved);
                Closed one{feature, {}};
                one.sides[0] = borrow(node, first, together, feature, false, wanted);
                if (one.sides[0].bound < wanted)
                    one.sides[1] = borrow(node, first, together, feature, true, wanted - one.sides[0].bound);
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
