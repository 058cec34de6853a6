// Claims, covers, the tree and the bound; see proof.hpp.
#include "proof.hpp"

#include <map>
#include <sstream>

namespace ptcheck {

// The table and the objective, with the weights of the rows of the proof.
static Ground ground_of(const Header& header, const Table& table, Reader& body, bool& sampled) {
    Ground ground{table, header.scale, header.penalty, header.min_leaf, table.n_classes, table.weights};
    sampled = body.next(1) == 1;
    if (sampled)
        for (i64& weight : ground.weights) weight = body.next(weight);
    return ground;
}

Proof::Proof(const Header& header, const Table& table) : Proof(header, table, Reader{header.body}) {}

Proof::Proof(const Header& header, const Table& table, Reader body)
    : header_(header), table_(table), ground_(ground_of(header, table, body, sampled_)), sorted_(ground_),
      bits_(ground_) {
    const i64 n_claims = body.next(kMostClaims);
    for (i64 k = 0; k < n_claims; ++k) read_claim(body, k);
    need(body.at == header.body.size(), "bytes are left over after the last claim");
}

void Proof::read_claim(Reader& body, i64 k) {
    const i64 last = static_cast<i64>(table_.ranks.size()) - 1;
    Claim claim;
    claim.where_begin = conditions_.size();
    const i64 n_conditions = body.next(last + 1);
    Where where;
    for (i64 i = 0; i < n_conditions; ++i) {
        const int column = static_cast<int>(body.next(last)), top = table_.tops[static_cast<size_t>(column)];
        const int low = static_cast<int>(body.next(top)), high = static_cast<int>(body.next(top));
        for (const Condition& one : where) need(one.column != column, "a claim has two conditions on one column");
        where.push_back({column, low, high});
    }
    std::sort(where.begin(), where.end(), [](const Condition& a, const Condition& b) { return a.column < b.column; });
    for (const Condition& one : where)
        if (one.low > 0 || one.high < table_.tops[static_cast<size_t>(one.column)]) conditions_.push_back(one);
    claim.where_end = conditions_.size();
    const i64 depth = body.next(kMostDepth), splits = body.next();
    claim.shape = smallest(depth, splits);
    claim.relaxed = body.next();
    claim.lower = claim.relaxed + body.next(kMostCost - 1 - claim.relaxed);
    claim.cover = 0;
    if (body.next(1) == 1) {
        claim.cover = body.at;
        body.next(kMostDepth);
        body.next();
        body.next(k);
        const i64 groups = body.next();
        for (i64 g = 0; g < groups; ++g) {
            const i64 top = table_.tops[static_cast<size_t>(body.next(last))];
            body.next();
            const i64 points = body.next(top + 2);
            for (i64 p = 0; p < points; ++p) {
                body.next(top + 1);
                body.next(k);
                body.next(k);
            }
        }
    }
    claims_.push_back(claim);
}

i64 Proof::lacking(const Where& others, const Where& side, Rows& rows, bool& has_all) const {
    i64 gone = 0;
    has_all = true;
    if (side == others) return 0;
    if (bits_.is_usable()) {
        bits_.find_rows(others, rows.others);
        bits_.find_rows(side, rows.side);
        has_all = bits_.weight_outside(rows.side, rows.others) == 0;
        return bits_.weight_outside(rows.others, rows.side);
    }
    const auto look = [&](int row) {
        const bool here = ground_.has(others, row), there = ground_.has(side, row);
        if (here && !there) gone += ground_.weights[static_cast<size_t>(row)];
        has_all = has_all && (here || !there);
    };
    // A claim about rows of the node needs no look at other rows.
    bool within = true;
    for (const Condition& one : rows.where) {
        bool implied = false;
        for (const Condition& other : others)
            implied = implied || (other.column == one.column && other.low >= one.low && other.high <= one.high);
        within = within && implied;
    }
    if (within)
        for (int row : rows.node->rows()) look(row);
    else
        for (size_t row = 0; row < table_.classes.size(); ++row) look(static_cast<int>(row));
    return gone;
}

// What an earlier claim says of a side of a split: without the minimum leaf size, and with it.
Proof::Bounds Proof::served(size_t k, const Shape& shape, Rows& rows, int column, i64 rank, bool right) const {
    const Claim& claim = claims_[k];
    need(claim.shape.reaches(shape), "it takes an earlier claim for deeper trees");
    // The rows of the side: those of the node, and one more condition.
    Where side = rows.where;
    auto at = std::lower_bound(side.begin(), side.end(), column,
                               [](const Condition& one, int wanted) { return one.column < wanted; });
    const int top = table_.tops[static_cast<size_t>(column)];
    if (at == side.end() || at->column != column) at = side.insert(at, {column, 0, top});
    if (right)
        at->low = static_cast<int>(std::max<i64>(at->low, std::min<i64>(rank, top) + 1));
    else
        at->high = static_cast<int>(std::min<i64>(at->high, rank));
    const bool is_empty = at->low > at->high;
    if (at->low == 0 && at->high == top) side.erase(at);
    bool has_all = false;
    const i64 gone = is_empty ? kMostCost : lacking(where_of(claim), side, rows, has_all);
    const auto less = [&](i64 bound) { return gone > bound / ground_.scale ? 0 : bound - ground_.scale * gone; };
    return {less(claim.relaxed), has_all ? less(claim.lower) : 0};
}

// Whether each split of a column is closed, with one division of the budget.
void Proof::check_splits(const Claim& claim, size_t k, const Column& column, i64 left_splits, const Shape (&shapes)[2],
                         const vector<Point>& points, Rows& rows) const {
    vector<i64> least[2], own[2];
    for (int side = 0; side < 2; ++side) {
        least[side].assign(column.positions(), 0);
        own[side].assign(column.positions(), 0);
    }
    for (const Point& point : points) {
        const size_t at = static_cast<size_t>(std::upper_bound(column.values.begin(), column.values.end(), point.rank) -
                                              column.values.begin());
        for (int side = 0; side < 2; ++side) {
            if (point.claims[side] == 0) continue;
            const size_t from = k - static_cast<size_t>(point.claims[side]);
            const Bounds found = served(from, shapes[side], rows, column.id, point.rank, side == 1);
            least[side][at] = std::max(least[side][at], found.relaxed);
            own[side][at] = std::max(own[side][at], found.lower);
        }
    }
    between(least[0], least[1], column.before, ground_.scale);
    with_fewer_rows(own[0], own[1], column.before, ground_.scale);
    for (size_t p = 1; p + 1 < column.positions(); ++p) {
        const i64 cost = least[0][p] + least[1][p] + ground_.penalty;
        const i64 best = std::max(least[0][p], own[0][p]) + std::max(least[1][p], own[1][p]) + ground_.penalty;
        if (cost < claim.relaxed || (best < claim.lower && column.fits[p]))
            throw Refused("column " + std::to_string(column.id) + " is open at rank " +
                          std::to_string(column.values[p - 1]) + " with " + std::to_string(left_splits) +
                          " splits left");
    }
}

void Proof::check_cover(size_t k, Rows& rows, Shape least_shape) const {
    const Claim& claim = claims_[k];
    Reader body{header_.body, claim.cover};
    const i64 depth = body.next(), splits = body.next(), whole_claim = body.next();
    const Shape shape = smallest(depth, splits);
    need(shape.reaches(least_shape), "its cover is of smaller trees");
    std::map<std::pair<i64, i64>, vector<Point>> groups;
    for (i64 g = body.next(); g > 0; --g) {
        const i64 column = body.next(), left_splits = body.next();
        vector<Point>& points = groups[{column, left_splits}];
        for (i64 p = body.next(); p > 0; --p) {
            Point point;
            point.rank = body.next() + (points.empty() ? -1 : points.back().rank);
            point.claims[0] = body.next();
            point.claims[1] = body.next();
            points.push_back(point);
        }
    }
    const i64 most = full(std::max<i64>(0, shape.depth - 1));
    const i64 first = std::max<i64>(0, shape.splits - 1 - most), last = std::min(most, shape.splits - 1);
    need(last - first < table_.n_rows, "its cover has more divisions than rows");
    vector<Column> on_bits;
    const bool by_bits = bits_.is_usable() && ground_.min_leaf <= 1;
    if (by_bits) {
        bits_.find_rows(rows.where, rows.bits);
        on_bits = bits_.columns(rows.bits);
    }
    for (const Column& column : by_bits ? on_bits : rows.node->columns()) {
        for (i64 l = first; l <= last; ++l) {
            const Shape shapes[2] = {smallest(shape.depth - 1, l), smallest(shape.depth - 1, shape.splits - 1 - l)};
            vector<Point> points = {{column.values.front() - 1, {0, whole_claim}},
                                    {column.values.back(), {whole_claim, 0}}};
            if (const auto group = groups.find({column.id, l}); group != groups.end())
                points.insert(points.end(), group->second.begin(), group->second.end());
            check_splits(claim, k, column, l, shapes, points, rows);
        }
    }
}

void Proof::check_claim(size_t k) const {
    const Claim& claim = claims_[k];
    if (claim.lower == 0) return;  // nothing is claimed
    Rows rows{where_of(claim), nullptr, {}, {}, {}};
    if (!claim.cover && claim.shape.depth == 2 && bits_.has_pairs()) {
        bits_.find_rows(rows.where, rows.bits);
        const i64 leaf = std::min(bits_.weight(rows.bits, 0), bits_.weight(rows.bits, 1));
        need(claim.lower <= ground_.scale * leaf, "a single leaf costs less");
        return bits_.check_depth_two(rows.bits, claim.shape, claim.lower);
    }
    Node node(sorted_, rows.where);
    rows.node = &node;
    need(claim.lower <= node.leaf(), "a single leaf costs less");
    const i64 few = std::max<i64>(0, node.n() - 1);
    const Shape shape = smallest(std::min(claim.shape.depth, few), std::min(claim.shape.splits, few));
    if (claim.cover) return check_cover(k, rows, shape);
    need(shape.depth <= 2, "it is too deep to be worked out");
    node.work_out(shape, claim.relaxed, claim.lower);
}

void Proof::check_tree() const {
    const i64 cost = whole(header_.tree[0]);
    std::istringstream nodes(header_.tree[1]);
    string token;
    i64 splits = 0, wrong = 0;
    vector<std::pair<vector<int>, i64>> waiting(1);
    for (size_t row = 0; row < table_.classes.size(); ++row) waiting[0].first.push_back(static_cast<int>(row));
    while (!waiting.empty()) {
        const auto [rows, depth] = std::move(waiting.back());
        waiting.pop_back();
        need(static_cast<bool>(std::getline(nodes, token, ' ')), "the tree has too few nodes");
        const size_t colon = token.find(':');
        if (colon != string::npos) {
            const i64 column = whole(token.substr(0, colon), 0, static_cast<i64>(table_.ranks.size()) - 1);
            const i64 rank = whole(token.substr(colon + 1));
            need(++splits <= header_.splits, "the tree has too many nodes");
            vector<int> sides[2];
            for (int row : rows)
                sides[table_.ranks[static_cast<size_t>(column)][static_cast<size_t>(row)] > rank].push_back(row);
            waiting.emplace_back(std::move(sides[1]), depth + 1);
            waiting.emplace_back(std::move(sides[0]), depth + 1);
            continue;
        }
        need(depth <= header_.depth, "the tree is deeper than the limits");
        const i64 label = whole(token, 0, ground_.n_classes - 1);
        i64 count = 0;
        for (int row : rows) {
            count += table_.counts[static_cast<size_t>(row)];
            if (table_.classes[static_cast<size_t>(row)] != label) wrong += table_.weights[static_cast<size_t>(row)];
        }
        need(count >= ground_.min_leaf, "a leaf of the tree is too small");
    }
    need(!std::getline(nodes, token, ' ') && splits <= header_.splits, "the tree has too many nodes");
    need(splits == 0 || ground_.penalty < kMostCost / splits, "the costs are too large");
    need(wrong * ground_.scale + splits * ground_.penalty == cost, "the tree costs something else");
    need(header_.bound <= cost, "the tree costs less than the bound");
}

void Proof::check_last() const {
    if (!header_.tree.empty()) check_tree();
    if (header_.bound <= 0) return;
    need(!claims_.empty(), "there is no claim");
    const Claim& claim = claims_.back();
    i64 most = std::min(header_.splits, static_cast<i64>(table_.classes.size()) - 1);
    most = std::min(most, table_.n_rows / std::max<i64>(1, ground_.min_leaf) - 1);
    if (table_.ranks.empty()) most = 0;
    vector<i64> by_class(static_cast<size_t>(ground_.n_classes), 0);
    for (size_t row = 0; row < table_.classes.size(); ++row)
        by_class[static_cast<size_t>(table_.classes[row])] += table_.weights[row];
    if (ground_.penalty > 0) {
        const i64 leaf = ground_.scale * outside(by_class.data(), ground_.n_classes, 1);
        most = std::min(most, leaf / ground_.penalty + (leaf % ground_.penalty != 0) - 1);
    }
    need(claim.where_begin == claim.where_end, "the last claim is not about all rows");
    need(claim.shape.reaches(smallest(header_.depth, std::max<i64>(0, most))), "the last claim is about smaller trees");
    need((sampled_ ? claim.relaxed : claim.lower) >= header_.bound, "the last claim does not reach the bound");
}

string Proof::sentence() const {
    string text = "no tree of depth " + std::to_string(header_.depth);
    if (header_.splits < full(header_.depth)) text += " and " + std::to_string(header_.splits + 1) + " leaves";
    if (ground_.min_leaf > 1) text += " with at least " + std::to_string(ground_.min_leaf) + " rows in each leaf";
    if (header_.candidates) text += " over the listed splits";
    const string bound = std::to_string(header_.bound);
    if (ground_.penalty || ground_.scale > 1)
        text += " costs less than " + bound + " (" + std::to_string(ground_.scale) + " for each error, " +
                std::to_string(ground_.penalty) + " for each split)";
    else if (table_.total != table_.n_rows)
        text += " gets rows of a weight below " + bound + " wrong";
    else
        text += " makes fewer than " + bound + " errors";
    return text + " on these " + std::to_string(table_.n_rows) + " rows" + table_.columns_used;
}

}  // namespace ptcheck
