// Building the root node from a table and splitting nodes.
#include "sweeps/node.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/turns.hpp"

namespace provetree {

namespace {

constexpr Index kSentinelBefore = 0xffffffffu, kSentinelAfter = 0xfffffffeu;
constexpr std::uint32_t kRightBit = 1u << 31;

// Sorts rows by their ranks in a column, which are dense: counting sort.
class RankSort {
  public:
    explicit RankSort(const Table& table) : table_(table) {}

    void operator()(Index c, const std::uint32_t* classes, std::uint32_t* order, Index* ranks) {
        if (table_.tops[c] < table_.rows / kFewRanks)
            sort<kTurns>(c, classes, order, ranks, [&](const auto& use) { in_turns(table_.rows, use); });
        else
            sort<1>(c, classes, order, ranks, [&](const auto& use) {
                for (Index row = 0; row < table_.rows; ++row) use(Index{0}, row);
            });
    }

  private:
    static constexpr Index kFewRanks = 16;

    // `each` goes over all rows, those of each part in ascending order.
    template <Index kParts, class Each>
    void sort(Index c, const std::uint32_t* classes, std::uint32_t* order, Index* ranks, const Each& each) {
        const Index* const of_row = ranks_of(table_, c);
        const Index values = table_.tops[c] + 1;
        next_.assign(std::size_t{values} * kParts, 0);
        const auto next = [&](Index rank, Index part) -> Index& { return next_[std::size_t{rank} * kParts + part]; };
        each([&](Index part, Index row) { ++next(of_row[row], part); });
        Index at = 0;
        for (Index rank = 0; rank < values; ++rank) {
            const Index begin = at;
            for (Index part = 0; part < kParts; ++part) at += std::exchange(next(rank, part), at);
            std::fill(ranks + begin, ranks + at, rank);
        }
        each([&](Index part, Index row) {
            order[next(of_row[row], part)++] = row | entry::class_code(classes[row]) << entry::kClassShift;
        });
    }

    const Table& table_;
    std::vector<Index> next_;  // of each rank and part
};

}  // namespace

Weight Node::leaf_error() const { return weight - *std::max_element(by_class.begin(), by_class.end()); }

int Node::label() const {
    if (measure) return measure->label(ids.data(), rows);
    return static_cast<int>(std::max_element(by_class.begin(), by_class.end()) - by_class.begin());
}

Index Node::rows_up_to(const NodeColumn& column, Index rank, Index low, Index high) {
    return static_cast<Index>(std::upper_bound(column.ranks + low, column.ranks + high, rank) - column.ranks);
}

void Node::lay_out(Index n, std::size_t n_columns) {
    rows = n;
    const std::size_t stride = kRoomBefore + n + kRoomAfter;
    if (storage_.size() < 2 * stride * n_columns) storage_.resize(2 * stride * n_columns);
    columns.resize(n_columns);
    for (std::size_t c = 0; c < n_columns; ++c) {
        columns[c].order = storage_.data() + 2 * stride * c + kRoomBefore;
        columns[c].ranks = columns[c].order + stride;
        columns[c].weight_before = nullptr;
    }
}

void seal_order(const Kernel& kernel, std::uint32_t* order, Index* ranks, Index rows, bool every_end, Index& checks,
                Index& groups) {
    ranks[-1] = kSentinelBefore;
    ranks[rows] = kSentinelAfter;
    ranks[rows + 1] = kSentinelBefore;
    order[rows] = 0;
    kernel.flag(order, ranks, rows, every_end, checks, groups);
}

NodeBuilder::NodeBuilder(const Table& table, const Kernel& kernel, std::int64_t min_leaf, const Rules* rules)
    : table_(table), kernel_(kernel), min_leaf_(min_leaf), rules_(rules && rules->follows_paths() ? rules : nullptr) {
    unit_weights_ = std::all_of(table.weights, table.weights + table.rows, [](std::int64_t w) { return w == 1; });
}

void Node::make_rows(Index n) {
    rows = n;
    cells.clear();
    in_frame = {};
    classes.resize(n);
    weights.resize(n, 1);
    counts.resize(n, 1);
    ids.resize(n);
}

void NodeBuilder::sum_rows(Node& node) const {
    node.unit_weights = unit_weights_;
    if (node.measure) node.leaf_units = node.measure->leaf(node.ids.data(), node.rows);
    node.by_class.assign(static_cast<std::size_t>(table_.n_classes), 0);
    if (unit_weights_ && min_leaf_ <= 1) {
        if (node.by_class.size() == 2) {
            node.by_class[1] = std::accumulate(node.classes.begin(), node.classes.end(), Weight{0});
            node.by_class[0] = static_cast<Weight>(node.rows) - node.by_class[1];
        } else {
            for (std::uint32_t cls : node.classes) ++node.by_class[cls];
        }
        node.weight = static_cast<Weight>(node.rows);
        node.count = node.rows;
        node.largest_weight = 1;
        return;
    }
    node.weight = node.largest_weight = 0;
    node.count = 0;
    node.steps.resize(table_.n_classes <= 2 ? node.rows : 0);
    for (Index row = 0; row < node.rows; ++row) {
        const Weight weight = node.weights[row];
        node.by_class[node.classes[row]] += weight;
        node.weight += weight;
        node.count += node.counts[row];
        node.largest_weight = std::max(node.largest_weight, weight);
        if (!node.steps.empty()) node.steps[row] = node.classes[row] == 1 ? weight : -weight;
    }
}

void limit_sides(const Node& node, std::int64_t min_leaf, NodeColumn& column) {
    column.first_split = 1;
    column.last_split = node.rows - 1;
    if (min_leaf <= 1) return;
    const auto count = [&](Index position) {
        return static_cast<std::int64_t>(node.counts[column.order[position] & entry::kRowMask]);
    };
    std::int64_t left = 0, right = 0;
    Index first = 0, last = node.rows;
    while (first < node.rows && left < min_leaf) left += count(first++);
    while (last > 0 && right < min_leaf) right += count(--last);
    column.first_split = std::max<Index>(1, first);
    column.last_split = std::min(node.rows - 1, last);
}

// A column that does not vary cannot split this node or anything below it: false.
bool NodeBuilder::keep_column(Node& node, NodeColumn& column) const {
    if (node.rows == 0 || column.ranks[0] == column.ranks[node.rows - 1]) return false;
    // With a minimum leaf size the best feasible split may lie inside a run of one class: every end of ties matters. So
    // it does where rows have targets in place of classes.
    const bool every_end = min_leaf_ > 1 || (node.measure && !node.measure->of_classes());
    seal_order(kernel_, column.order, column.ranks, node.rows, every_end, column.checks, column.groups);
    column.no_ties = column.groups == node.rows;
    limit_sides(node, min_leaf_, column);
    return true;
}

void NodeBuilder::build_root(Node& root) const {
    root.measure = table_.measure;
    root.make_rows(table_.rows);
    std::iota(root.ids.begin(), root.ids.end(), Index{0});
    for (Index i = 0; i < table_.rows; ++i) {
        root.classes[i] = static_cast<std::uint32_t>(table_.classes[i]);
        root.weights[i] = static_cast<Weight>(table_.weights[i]);
        root.counts[i] = static_cast<std::int32_t>(table_.counts[i]);
    }
    if (table_.rows > 0 && table_.rows <= 64) root.members = ~std::uint64_t{0} >> (64 - table_.rows);
    sum_rows(root);
    if (rules_) root.path_groups = rules_->at_root();
    root.lay_out(table_.rows, table_.columns);
    RankSort sort(table_);
    std::size_t kept = 0;
    for (Index c = 0; c < table_.columns; ++c) {
        if (rules_ && !rules_->allows(root.path_groups, c)) continue;
        NodeColumn& column = root.columns[kept];
        column.id = c;
        sort(c, root.classes.data(), column.order, column.ranks);
        kept += keep_column(root, column);
    }
    root.columns.resize(kept);
    add_weight_sums(root);
}

void NodeBuilder::add_weight_sums(Node& node) const {
    if (unit_weights_) return;
    const std::size_t stride = static_cast<std::size_t>(node.rows) + 1;
    if (node.weight_storage_.size() < stride * node.columns.size())
        node.weight_storage_.resize(stride * node.columns.size());
    for (std::size_t c = 0; c < node.columns.size(); ++c) {
        NodeColumn& column = node.columns[c];
        column.weight_before = node.weight_storage_.data() + stride * c;
        Weight sum = 0;
        for (Index i = 0; i < node.rows; ++i) {
            column.weight_before[i] = sum;
            sum += node.weights[column.order[i] & entry::kRowMask];
        }
        column.weight_before[node.rows] = sum;
    }
}

void NodeBuilder::move_rows(const Node& parent, Index position, Node& left, Node& right) {
    left.measure = right.measure = parent.measure;
    left.make_rows(position);
    right.make_rows(parent.rows - position);
    Index next[2] = {0, 0};
    Node* const children[2] = {&left, &right};
    for (Index row = 0; row < parent.rows; ++row) {
        const std::uint32_t side = new_rows_[row] >> 31;
        const Index at = next[side]++;
        new_rows_[row] |= at;
        children[side]->classes[at] = parent.classes[row];
        children[side]->ids[at] = parent.ids[row];
    }
    if (!unit_weights_ || min_leaf_ > 1) {
        for (Index row = 0; row < parent.rows; ++row) {
            const std::uint32_t at = new_rows_[row] & ~kRightBit;
            Node& child = *children[new_rows_[row] >> 31];
            child.weights[at] = parent.weights[row];
            child.counts[at] = parent.counts[row];
        }
    }
    left.members = right.members = 0;
    if (parent.members) divide_members(parent, left, right);
    sum_rows(left);
    sum_rows(right);
}

// Rows keep their order: row i of a node is its i-th member.
void NodeBuilder::divide_members(const Node& parent, Node& left, Node& right) const {
    std::uint64_t rest = parent.members;
    for (Index row = 0; row < parent.rows; ++row) {
        const std::uint64_t member = rest & -rest;
        rest ^= member;
        (new_rows_[row] >> 31 ? right : left).members |= member;
    }
}

void NodeBuilder::make_room() {
    if (new_rows_.size() < table_.rows) new_rows_.resize(table_.rows);
}

// The rows of two leaves.
void NodeBuilder::list_rows(const Node& parent, Index position, Node& left, Node& right) {
    if (!parent.measure || rules_ || min_leaf_ > 1) {
        move_rows(parent, position, left, right);
    } else {
        left.measure = right.measure = parent.measure;
        for (Node* side : {&left, &right}) {
            side->cells.clear();
            side->in_frame = {};
        }
        left.rows = position;
        right.rows = parent.rows - position;
        left.ids.resize(left.rows);
        right.ids.resize(right.rows);
        Index* next[2] = {left.ids.data(), right.ids.data()};
        for (Index row = 0; row < parent.rows; ++row) {
            const std::uint32_t side = new_rows_[row] >> 31;
            new_rows_[row] |= static_cast<std::uint32_t>(next[side] - (side ? right : left).ids.data());
            *next[side]++ = parent.ids[row];
        }
        for (Node* const side : {&left, &right}) side->leaf_units = side->measure->leaf(side->ids.data(), side->rows);
    }
    left.columns.clear();
    right.columns.clear();
}

void NodeBuilder::split_rows(const Node& parent, Index column, Index rank, Node& left, Node& right) {
    make_room();
    const Index* const ranks = ranks_of(table_, column);
    Index position = 0;
    for (Index row = 0; row < parent.rows; ++row) {
        const bool to_left = ranks[parent.ids[row]] <= rank;
        new_rows_[row] = to_left ? 0 : kRightBit;
        position += to_left;
    }
    list_rows(parent, position, left, right);
}

void NodeBuilder::split_rows(const Node& parent, const NodeColumn& by, Index position, Node& left, Node& right) {
    mark_rows(parent, by, position);
    list_rows(parent, position, left, right);
    follow_path(parent, by, left, right);
}

void NodeBuilder::mark_rows(const Node& parent, const NodeColumn& by, Index position) {
    make_room();
    std::fill_n(new_rows_.begin(), parent.rows, kRightBit);
    for (Index i = 0; i < position; ++i) new_rows_[by.order[i] & entry::kRowMask] = 0;
}

void NodeBuilder::follow_path(const Node& parent, const NodeColumn& by, Node& left, Node& right) const {
    if (!rules_) return;
    left.path_groups = right.path_groups = rules_->after(parent.path_groups, by.id);
    left.paid = right.paid = rules_->paid_after(parent.paid, by.id);
}

void NodeBuilder::split(const Node& parent, const NodeColumn& by, Index position, Node& left, Node& right) {
    mark_rows(parent, by, position);
    // Rows keep their order, so neighbours in memory stay neighbours.
    move_rows(parent, position, left, right);
    follow_path(parent, by, left, right);
    left.lay_out(position, parent.columns.size());
    right.lay_out(parent.rows - position, parent.columns.size());
    std::size_t kept_left = 0, kept_right = 0;
    for (const NodeColumn& column : parent.columns) {
        if (rules_ && !rules_->allows(left.path_groups, column.id)) continue;
        NodeColumn& to_left = left.columns[kept_left];
        NodeColumn& to_right = right.columns[kept_right];
        to_left.id = to_right.id = column.id;
        kernel_.partition(column.order, column.ranks, parent.rows, new_rows_.data(), to_left.order, to_left.ranks,
                          to_right.order, to_right.ranks);
        kept_left += keep_column(left, to_left);
        kept_right += keep_column(right, to_right);
    }
    left.columns.resize(kept_left);
    right.columns.resize(kept_right);
    add_weight_sums(left);
    add_weight_sums(right);
}

// Turns numbers of rows into their weight.
void NodeBuilder::weigh(const NodeColumn& column, Index positions, const Node& chosen, Weight* before) {
    sums_.resize(chosen.rows + std::size_t{1});
    sums_[0] = 0;
    for (Index i = 0; i < chosen.rows; ++i) sums_[i + 1] = sums_[i] + chosen.weights[column.order[i] & entry::kRowMask];
    for (Index i = 0; i <= positions; ++i) before[i] = sums_[static_cast<Index>(before[i])];
}

void NodeBuilder::choose(const Node& parent, const std::vector<std::uint8_t>& marked, Node& chosen,
                         std::vector<std::vector<Weight>>& weight_before) {
    make_room();
    Index count = 0;
    for (Index row = 0; row < parent.rows; ++row) count += marked[row] != 0;
    chosen.measure = parent.measure;
    chosen.path_groups = parent.path_groups;
    chosen.paid = parent.paid;
    chosen.make_rows(count);
    Index next = 0;
    for (Index row = 0; row < parent.rows; ++row) {
        if (!marked[row]) {
            new_rows_[row] = kRightBit;
            continue;
        }
        new_rows_[row] = next;
        chosen.classes[next] = parent.classes[row];
        chosen.weights[next] = parent.weights[row];
        chosen.counts[next] = parent.counts[row];
        chosen.ids[next] = parent.ids[row];
        ++next;
    }
    sum_rows(chosen);
    chosen.lay_out(count, parent.columns.size());
    std::size_t kept = 0;
    for (std::size_t c = 0; c < parent.columns.size(); ++c) {
        const NodeColumn& column = parent.columns[c];
        NodeColumn& to = chosen.columns[kept];
        to.id = column.id;
        Weight* const before = weight_before[c].data();
        kernel_.choose(column.order, column.ranks, parent.rows, new_rows_.data(), to.order, to.ranks, before);
        before[parent.rows] = static_cast<Weight>(count);
        if (!unit_weights_) weigh(to, parent.rows, chosen, before);
        kept += keep_column(chosen, to);
    }
    chosen.columns.resize(kept);
    add_weight_sums(chosen);
}

}  // namespace provetree
