// Claims, covers, the tree and the bound; see proof.hpp.
#include "proof.hpp"

#include <map>

namespace ptcheck {

// The table and the objective, with the weights of the rows of the proof.
static Ground ground_of(const Header& header, const Table& table) {
    Ground ground{table, header.scale, header.penalty, header.min_leaf, table.n_classes, table.weights};
    if (!header.sampled) return ground;
    need(header.sample.size() == table.weights.size(), "the sample is none of the rows");
    for (size_t row = 0; row < header.sample.size(); ++row)
        need(header.sample[row] <= table.weights[row], "the sample is none of the rows");
    ground.weights = header.sample;
    return ground;
}

Proof::Proof(const Header& header, const Table& table)
    : header_(header), table_(table), ground_(ground_of(header, table)), sorted_(ground_), bits_(ground_) {
    for (const auto& [begin, end] : header.claims) {
        const i64 k = static_cast<i64>(claims_.size()) + 1;
        try {
            read_claim(JsonReader(header.data, begin, end), k);
        } catch (const Refused& error) {
            throw Refused("claim " + std::to_string(k) + " of " + std::to_string(header.claims.size()) +
                          " fails: " + error.what());
        }
    }
}

// Ranks beyond the highest one are as good as that.
Condition Proof::read_condition(JsonReader& line) const {
    line.expect("[");
    const int column = static_cast<int>(line.whole(static_cast<i64>(table_.ranks.size()) - 1));
    const i64 top = table_.tops[static_cast<size_t>(column)];
    line.expect(",");
    const i64 low = line.whole();
    line.expect(",");
    const i64 high = line.whole();
    line.expect("]");
    return {column, static_cast<int>(std::min(low, top + 1)), static_cast<int>(std::min(high, top))};
}

static Shape read_shape(JsonReader& line) {
    line.expect("[");
    const i64 depth = line.whole();
    line.expect(",");
    const i64 splits = line.whole();
    line.expect("]");
    return smallest(depth, splits);
}

void Proof::read_where(JsonReader& line, Claim& claim) {
    Where where;
    line.list([&] {
        const Condition one = read_condition(line);
        const auto same = std::find_if(where.begin(), where.end(),
                                       [&](const Condition& other) { return other.column == one.column; });
        if (same == where.end())
            where.push_back(one);
        else
            same->low = std::max(same->low, one.low), same->high = std::min(same->high, one.high);
    });
    std::sort(where.begin(), where.end(), [](const Condition& a, const Condition& b) { return a.column < b.column; });
    claim.where_begin = conditions_.size();
    claim.has_conditions = !where.empty();
    for (Condition& one : where) {
        const int top = table_.tops[static_cast<size_t>(one.column)];
        if (one.low > one.high) one = {one.column, top, top - 1};  // no rows, by ranks that the column has
        if (one.low > 0 || one.high < top) conditions_.push_back(one);
    }
    claim.where_end = conditions_.size();
}

void Proof::read_point(JsonReader& line, i64 k) {
    Point point;
    line.expect("[");
    point.column = static_cast<int>(line.whole(static_cast<i64>(table_.ranks.size()) - 1));
    line.expect(",");
    point.left_splits = line.whole();
    line.expect(",");
    const i64 top = table_.tops[static_cast<size_t>(point.column)];
    point.rank = static_cast<int>(std::min(line.whole(), top));
    for (i64& number : point.claims) {
        line.expect(",");
        number = line.whole();
        need(number < k, "it refers to itself or to a later claim");
    }
    line.expect("]");
    points_.push_back(point);
}

void Proof::read_claim(JsonReader line, i64 k) {
    Claim claim;
    line.expect("[");
    claim.shape = read_shape(line);
    line.expect(",");
    claim.relaxed = line.whole();
    line.expect(",");
    claim.lower = line.whole();
    line.expect(",");
    read_where(line, claim);
    claim.points_begin = points_.size();
    claim.has_cover = line.passes(",");
    if (claim.has_cover) {
        claim.cover = read_shape(line);
        line.expect(",");
        line.list([&] { read_point(line, k); });
    }
    claim.end = points_.size();
    line.expect("]");
    line.end();
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
        if (at == 0 || at + 1 == column.positions()) continue;  // no split of these rows
        for (int side = 0; side < 2; ++side) {
            if (point.claims[side] == 0) continue;
            const size_t from = static_cast<size_t>(point.claims[side]) - 1;
            need(from < k, "it refers to itself or to a later claim");
            const Bounds found = served(from, shapes[side], rows, column.id, point.rank, side == 1);
            least[side][at] = std::max(least[side][at], found.relaxed);
            own[side][at] = std::max(own[side][at], found.lower);
        }
    }
    between(least[0], least[1], column.before, ground_.scale);
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
    const Shape shape = claim.cover;
    need(shape.reaches(least_shape), "its cover is of smaller trees");
    std::map<std::pair<i64, i64>, vector<Point>> groups;
    for (size_t p = claim.points_begin; p < claim.end; ++p)
        groups[{points_[p].column, points_[p].left_splits}].push_back(points_[p]);
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
            const auto group = groups.find({column.id, l});
            check_splits(claim, k, column, l, shapes, group != groups.end() ? group->second : vector<Point>(), rows);
        }
    }
}

// Trees of these rows have no more splits, or cost as much as is claimed by their splits alone.
i64 Proof::most_splits(const Claim& claim, Node& node) const {
    i64 few = node.columns().empty() ? 0 : node.n() - 1;
    if (claim.relaxed == 0) few = std::min(few, node.count() / std::max<i64>(1, ground_.min_leaf) - 1);
    if (ground_.penalty > 0)
        few = std::min(few, claim.lower / ground_.penalty + (claim.lower % ground_.penalty != 0) - 1);
    return std::max<i64>(0, few);
}

void Proof::check_claim(size_t k) const {
    const Claim& claim = claims_[k];
    need(claim.relaxed <= claim.lower, "its bounds are the wrong way round");
    Rows rows{where_of(claim), nullptr, {}, {}, {}};
    if (!claim.has_cover && claim.shape.depth == 2 && bits_.has_pairs()) {
        bits_.find_rows(rows.where, rows.bits);
        const i64 leaf = std::min(bits_.weight(rows.bits, 0), bits_.weight(rows.bits, 1));
        need(claim.lower <= ground_.scale * leaf, "a single leaf costs less");
        return bits_.check_depth_two(rows.bits, claim.shape, claim.lower);
    }
    Node node(sorted_, rows.where);
    rows.node = &node;
    need(claim.lower <= node.leaf(), "a single leaf costs less");
    // A quick look: the columns are looked at only where the number of rows does not decide.
    Shape shape = claim.shape;
    if (claim.has_cover ? !claim.cover.reaches(shape) : shape.depth > 2 || node.n() < 4) {
        const i64 few = most_splits(claim, node);
        shape = smallest(std::min(shape.depth, few), std::min(shape.splits, few));
    }
    if (claim.has_cover) return check_cover(k, rows, shape);
    need(shape.depth <= 2, "it is too deep to be worked out");
    node.work_out(shape, claim.relaxed, claim.lower);
}

void Proof::check_tree() const {
    __int128 cost = 0;
    i64 splits = 0;
    vector<vector<int>> waiting(1);  // rows of the nodes that come next, the first of them last
    for (size_t row = 0; row < table_.classes.size(); ++row) waiting[0].push_back(static_cast<int>(row));
    for (const TreeNode& node : header_.tree) {
        const vector<int> rows = std::move(waiting.back());
        waiting.pop_back();
        if (node.column >= 0) {
            need(node.column < static_cast<i64>(table_.ranks.size()), "the tree has a column that is none");
            need(++splits <= header_.splits, "the tree has too many splits");
            cost += ground_.penalty;
            vector<int> sides[2];
            for (int row : rows)
                sides[table_.ranks[static_cast<size_t>(node.column)][static_cast<size_t>(row)] > node.value].push_back(
                    row);
            waiting.push_back(std::move(sides[1]));
            waiting.push_back(std::move(sides[0]));
            continue;
        }
        i64 count = 0;
        for (int row : rows) {
            count += table_.counts[static_cast<size_t>(row)];
            if (table_.classes[static_cast<size_t>(row)] != node.value)
                cost += ground_.scale * table_.weights[static_cast<size_t>(row)];
        }
        need(count >= ground_.min_leaf, "a leaf of the tree is too small");
    }
    need(header_.bound <= cost, "the tree costs less than the bound");
}

void Proof::check_last() const {
    if (!header_.tree.empty()) check_tree();
    if (header_.bound <= 0) return;
    need(!claims_.empty(), "there is no claim");
    const Claim& claim = claims_.back();
    need(claim.shape.reaches(smallest(header_.depth, header_.splits)) && !claim.has_conditions,
         "the last claim is of smaller trees or of some rows only");
    need((header_.sampled ? claim.relaxed : claim.lower) >= header_.bound, "the last claim does not reach the bound");
}

string Proof::sentence() const {
    string text = "no tree of depth " + std::to_string(header_.depth);
    if (header_.splits < full(header_.depth)) text += " and " + std::to_string(header_.splits + 1) + " leaves";
    if (ground_.min_leaf > 1) text += " with at least " + std::to_string(ground_.min_leaf) + " rows in each leaf";
    if (header_.candidates) text += " over the listed splits";
    const string bound = std::to_string(header_.bound);
    if (ground_.penalty == 0 && ground_.scale == 1 && table_.total == table_.n_rows)
        text += " makes fewer than " + bound + " errors";
    else
        text += " costs less than " + bound + " (" + std::to_string(ground_.scale) + " an error, " +
                std::to_string(ground_.penalty) + " a split)";
    return text + " on these " + std::to_string(table_.n_rows) + " rows" + table_.columns_used;
}

}  // namespace ptcheck
