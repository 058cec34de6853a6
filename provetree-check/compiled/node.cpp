// Works claims of depth 0, 1 and 2 out; see node.hpp.
#include "node.hpp"

// The loops over lanes are compiled twice and chosen at run time, where the compiler can do that.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__linux__)
#define PTCHECK_FAST __attribute__((optimize("O3"), target_clones("avx2", "default")))
#else
#define PTCHECK_FAST
#endif

namespace ptcheck {

namespace {

constexpr i64 kLanes = 32;  // splits that are worked out side by side

// Running sums of lanes along a column: extremes of what is left of each split, for the lanes and for the rest.
template <class T>
PTCHECK_FAST void sweep(const vector<int>& order, const vector<int>& ends, const vector<T>& lanes,
                        const vector<T>& steps, T* most, T* least, T* most_rest, T* least_rest) {
    T sum[kLanes] = {}, all = 0;
    size_t i = 0;
    for (const int end : ends) {
        for (; i < static_cast<size_t>(end); ++i) {
            const size_t row = static_cast<size_t>(order[i]);
            const T* lane = lanes.data() + row * kLanes;
            for (int l = 0; l < kLanes; ++l) sum[l] = static_cast<T>(sum[l] + lane[l]);
            all = static_cast<T>(all + steps[row]);
        }
        for (int l = 0; l < kLanes; ++l) {
            const T rest = static_cast<T>(all - sum[l]);
            most[l] = std::max(most[l], sum[l]);
            least[l] = std::min(least[l], sum[l]);
            most_rest[l] = std::max(most_rest[l], rest);
            least_rest[l] = std::min(least_rest[l], rest);
        }
    }
}

}  // namespace

Node::Node(const Sorted& base, const Where& where)
    : base_(base), ground_(base.ground), total_(static_cast<size_t>(base.ground.n_classes), 0) {
    const Table& table = ground_.table;
    for (size_t row = 0; row < table.classes.size(); ++row) {
        if (!ground_.has(where, static_cast<int>(row))) continue;
        rows_.push_back(static_cast<int>(row));
        total_[static_cast<size_t>(table.classes[row])] += ground_.weights[row];
        weight_ += ground_.weights[row];
        count_ += table.counts[row];
    }
    leaf_ = ground_.scale * outside(total_.data(), ground_.n_classes, 1);
}

const vector<Column>& Node::columns() {
    if (has_columns_) return columns_;
    has_columns_ = true;
    const Table& table = ground_.table;
    const bool filters = rows_.size() * 12 > table.classes.size();
    vector<int> place(filters ? table.classes.size() : 0, -1);
    for (size_t i = 0; i < rows_.size() && filters; ++i) place[static_cast<size_t>(rows_[i])] = static_cast<int>(i);
    const size_t n_classes = static_cast<size_t>(ground_.n_classes);
    vector<std::uint64_t> keys;  // ranks, each with its row
    for (size_t c = 0; c < table.ranks.size(); ++c) {
        const Ranks& ranks = table.ranks[c];
        const auto rank = [&](int i) { return ranks[static_cast<size_t>(rows_[static_cast<size_t>(i)])]; };
        bool varies = false;
        for (size_t i = 1; i < rows_.size() && !varies; ++i) varies = rank(static_cast<int>(i)) != rank(0);
        if (!varies) continue;
        Column column;
        column.id = static_cast<int>(c);
        if (filters) {
            for (int row : base_.orders[c])
                if (place[static_cast<size_t>(row)] >= 0) column.order.push_back(place[static_cast<size_t>(row)]);
        } else {
            keys.clear();
            for (size_t i = 0; i < rows_.size(); ++i)
                keys.push_back(static_cast<std::uint64_t>(rank(static_cast<int>(i))) << 32 | i);
            std::sort(keys.begin(), keys.end());
            for (std::uint64_t key : keys) column.order.push_back(static_cast<int>(key & 0xffffffff));
        }
        vector<i64> sums(n_classes, 0);
        i64 count = 0;
        const auto end_value = [&](size_t i) {
            if (i < column.order.size()) column.values.push_back(rank(column.order[i]));
            column.by_class.insert(column.by_class.end(), sums.begin(), sums.end());
            i64 weight = 0;
            for (i64 sum : sums) weight += sum;
            column.before.push_back(weight);
            column.fits.push_back(std::min(count, count_ - count) >= ground_.min_leaf);
            if (i > 0 && i < column.order.size()) column.ends.push_back(static_cast<int>(i));
        };
        for (size_t i = 0; i < column.order.size(); ++i) {
            if (i == 0 || rank(column.order[i]) != rank(column.order[i - 1])) end_value(i);
            const size_t row = static_cast<size_t>(rows_[static_cast<size_t>(column.order[i])]);
            sums[static_cast<size_t>(table.classes[row])] += ground_.weights[row];
            count += table.counts[row];
        }
        end_value(column.order.size());
        columns_.push_back(std::move(column));
    }
    return columns_;
}

// A lane is a split: the steps of the rows that it sends left.
template <class T>
void Node::fill_lanes(const Try* first, size_t count, const vector<T>& steps, vector<T>& lanes) const {
    lanes.assign(rows_.size() * kLanes, 0);
    for (size_t l = 0; l < count; ++l) {
        const Column& column = columns_[first[l].column];
        const size_t left = static_cast<size_t>(column.ends[first[l].position - 1]);
        for (size_t i = 0; i < left; ++i) {
            const size_t row = static_cast<size_t>(column.order[i]);
            lanes[row * kLanes + l] = steps[row];
        }
    }
}

// The rows of two classes in the order of each column, and where its values change.
const vector<Node::Chosen>& Node::choose_classes(int i, int j) {
    vector<Chosen>& chosen = chosen_[{i, j}];
    if (!chosen.empty()) return chosen;
    for (const Column& column : columns_) {
        Chosen found;
        size_t next = 0;
        for (size_t at = 0; at < column.order.size(); ++at) {
            if (next < column.ends.size() && static_cast<size_t>(column.ends[next]) == at) {
                found.ends.push_back(static_cast<int>(found.order.size()));
                ++next;
            }
            const int row = column.order[at], label = class_of(row);
            if (label == i || label == j) found.order.push_back(row);
        }
        chosen.push_back(std::move(found));
    }
    return chosen;
}

// Leaves of any size. A stump has two labels, i and j: only the extremes of (class j - class i) left of its split
// matter. Labels that cannot be right more often than what is known are passed over.
template <class T>
void Node::solve_lanes(Try* first, size_t count) {
    const size_t n = rows_.size(), n_classes = total_.size();
    vector<i64> in[2], right[2];  // by lane: weights of the classes on both sides; how much a stump gets right
    for (size_t l = 0; l < count; ++l) {
        const i64* const left = columns_[first[l].column].by_class.data() + n_classes * first[l].position;
        for (size_t side = 0; side < 2; ++side) {
            i64 most = 0;
            for (size_t c = 0; c < n_classes; ++c) {
                in[side].push_back(side ? total_[c] - left[c] : left[c]);
                most = std::max(most, in[side].back());
            }
            right[side].push_back(most);
        }
    }
    vector<std::pair<i64, std::pair<size_t, size_t>>> labels;
    for (size_t j = 1; j < n_classes; ++j)
        for (size_t i = 0; i < j; ++i) labels.push_back({-total_[i] - total_[j], {i, j}});
    std::sort(labels.begin(), labels.end());
    vector<T> lanes, steps(n), extremes;
    for (const auto& [weight, both] : labels) {
        const auto [i, j] = both;
        bool matters = false;
        for (size_t side = 0; side < 2; ++side)
            for (size_t l = 0; l < count; ++l)
                matters = matters || in[side][l * n_classes + i] + in[side][l * n_classes + j] > right[side][l];
        if (!matters) continue;
        for (size_t r = 0; r < n; ++r) {
            const size_t label = static_cast<size_t>(class_of(static_cast<int>(r)));
            const i64 own = ground_.weights[static_cast<size_t>(rows_[r])];
            steps[r] = static_cast<T>(label == j ? own : label == i ? -own : 0);
        }
        fill_lanes(first, count, steps, lanes);
        extremes.assign(4 * kLanes, 0);
        T* const at = extremes.data();
        const vector<Chosen>* const chosen =
            n_classes > 2 ? &choose_classes(static_cast<int>(i), static_cast<int>(j)) : nullptr;
        for (size_t c = 0; c < columns_.size(); ++c)
            sweep<T>(chosen ? (*chosen)[c].order : columns_[c].order, chosen ? (*chosen)[c].ends : columns_[c].ends,
                     lanes, steps, at, at + kLanes, at + 2 * kLanes, at + 3 * kLanes);
        for (size_t side = 0; side < 2; ++side) {
            for (size_t l = 0; l < count; ++l) {
                const i64 most = at[2 * side * kLanes + l], least = at[(2 * side + 1) * kLanes + l];
                right[side][l] =
                    std::max({right[side][l], in[side][l * n_classes + i] + most, in[side][l * n_classes + j] - least});
            }
        }
    }
    for (size_t l = 0; l < count; ++l) {
        for (size_t side = 0; side < 2; ++side) {
            const i64* const own = in[side].data() + l * n_classes;
            i64 weight = 0;
            for (size_t c = 0; c < n_classes; ++c) weight += own[c];
            const i64 cost = std::min(ground_.scale * outside(own, ground_.n_classes, 1),
                                      ground_.scale * (weight - right[side][l]) + ground_.penalty);
            first[l].sides[side] = {cost, cost};
        }
    }
}

// Any number of classes, and a minimum leaf size: the heaviest classes before and after each split.
Node::Stump Node::stump_of(const vector<char>& in) {
    const size_t n = rows_.size(), n_classes = static_cast<size_t>(ground_.n_classes);
    vector<i64> total(n_classes, 0), sums;
    i64 weight = 0, count = 0;
    for (size_t i = 0; i < n; ++i) {
        if (!in[i]) continue;
        const size_t row = static_cast<size_t>(rows_[i]);
        total[static_cast<size_t>(ground_.table.classes[row])] += ground_.weights[row];
        weight += ground_.weights[row];
        count += ground_.table.counts[row];
    }
    const i64 leaf = ground_.scale * outside(total.data(), ground_.n_classes, 1);
    Stump best{leaf, leaf};
    vector<i64> heaviest;
    for (const Column& column : columns_) {
        heaviest.assign(column.ends.size(), 0);
        sums.assign(n_classes, 0);
        i64 most = 0;
        size_t i = 0;
        for (size_t e = 0; e < column.ends.size(); ++e) {
            for (; i < static_cast<size_t>(column.ends[e]); ++i) {
                const size_t k = static_cast<size_t>(column.order[i]);
                if (!in[k]) continue;
                const size_t row = static_cast<size_t>(rows_[k]);
                i64& sum = sums[static_cast<size_t>(ground_.table.classes[row])];
                sum += ground_.weights[row];
                most = std::max(most, sum);
            }
            heaviest[e] = most;
        }
        sums.assign(n_classes, 0);
        most = 0;
        i64 after = 0;
        i = n;
        for (size_t e = column.ends.size(); e-- > 0;) {
            while (i > static_cast<size_t>(column.ends[e])) {
                const size_t k = static_cast<size_t>(column.order[--i]);
                if (!in[k]) continue;
                const size_t row = static_cast<size_t>(rows_[k]);
                i64& sum = sums[static_cast<size_t>(ground_.table.classes[row])];
                sum += ground_.weights[row];
                after += ground_.table.counts[row];
                most = std::max(most, sum);
            }
            const i64 cost = ground_.scale * (weight - heaviest[e] - most) + ground_.penalty;
            best.plain = std::min(best.plain, cost);
            if (std::min(after, count - after) >= ground_.min_leaf) best.fitting = std::min(best.fitting, cost);
        }
    }
    return best;
}

void Node::solve_any(Try& split) {
    const Column& column = columns_[split.column];
    for (const int side : {0, 1}) {
        vector<char> in(rows_.size(), static_cast<char>(side));
        for (int i = 0; i < column.ends[split.position - 1]; ++i)
            in[static_cast<size_t>(column.order[static_cast<size_t>(i)])] = side == 0;
        split.sides[side] = stump_of(in);
    }
}

void Node::solve(vector<Try>& tries) {
    if (ground_.min_leaf > 1 || weight_ > INT32_MAX / 2) {
        for (Try& split : tries) solve_any(split);
        return;
    }
    for (size_t i = 0; i < tries.size(); i += kLanes) {
        const size_t count = std::min<size_t>(kLanes, tries.size() - i);
        weight_ < INT16_MAX ? solve_lanes<std::int16_t>(tries.data() + i, count)
                            : solve_lanes<std::int32_t>(tries.data() + i, count);
    }
}

// The splits of a column that are not closed: the middle of what is open between two that were worked out.
void Node::find_open(const Column& column, const Known& known, Shape shape, i64 relaxed, i64 lower, size_t number,
                     vector<Try>& tries) const {
    vector<i64> left = known.least[0], right = known.least[1];
    between(left, right, column.before, ground_.scale);
    vector<size_t> open;
    vector<vector<size_t>> runs;
    const auto end_run = [&] {
        if (!open.empty()) runs.push_back(open);
        open.clear();
    };
    for (size_t p = 1; p + 1 < column.positions(); ++p) {
        const bool tried = known.exact[0][p] >= 0;
        const i64 own_left = std::max(left[p], known.exact[0][p]), own_right = std::max(right[p], known.exact[1][p]);
        i64 plain = left[p] + right[p], own = own_left + own_right;
        if (shape.splits == 2) {
            plain = std::min(known.leaf[0][p] + right[p], left[p] + known.leaf[1][p]);
            own = std::min(known.leaf[0][p] + own_right, own_left + known.leaf[1][p]);
        }
        const bool wrong = plain + ground_.penalty < relaxed || (own + ground_.penalty < lower && column.fits[p]);
        need(!(wrong && tried), "a tree of depth 2 costs less");
        if (tried) end_run();
        if (wrong) open.push_back(p);
    }
    end_run();
    // Several splits of a run where there are few runs: lanes that stay empty are not cheaper.
    const size_t each =
        std::max<size_t>(1, static_cast<size_t>(kLanes) / columns_.size() / std::max<size_t>(1, runs.size()));
    for (const vector<size_t>& run : runs)
        for (size_t k = 1, many = std::min(each, run.size()); k <= many; ++k)
            tries.push_back({number, run[run.size() * k / (many + 1)], {}});
}

void Node::work_out_by_sweeps(Shape shape, i64 relaxed, i64 lower) {
    const size_t n_classes = static_cast<size_t>(ground_.n_classes);
    vector<Known> known(columns_.size());
    for (size_t c = 0; c < columns_.size(); ++c) {
        const Column& column = columns_[c];
        vector<i64> rest(n_classes);
        for (size_t p = 0; p < column.positions(); ++p) {
            const i64* sums = column.by_class.data() + p * n_classes;
            for (size_t k = 0; k < n_classes; ++k) rest[k] = total_[k] - sums[k];
            for (int side = 0; side < 2; ++side) {
                const i64* of = side ? rest.data() : sums;
                const i64 leaf = ground_.scale * outside(of, ground_.n_classes, 1);
                // A stump has two labels.
                const i64 stump = ground_.scale * outside(of, ground_.n_classes, 2) + ground_.penalty;
                known[c].leaf[side].push_back(leaf);
                known[c].least[side].push_back(std::min(leaf, stump));
                known[c].exact[side].push_back(-1);
            }
        }
    }
    for (;;) {
        vector<Try> tries;
        for (size_t c = 0; c < columns_.size(); ++c) {
            const size_t before = tries.size();
            if (known[c].is_open) find_open(columns_[c], known[c], shape, relaxed, lower, c, tries);
            known[c].is_open = tries.size() > before;  // what is closed stays closed
        }
        if (tries.empty()) return;
        solve(tries);
        for (const Try& one : tries) {
            for (int side = 0; side < 2; ++side) {
                known[one.column].least[side][one.position] = one.sides[side].plain;
                known[one.column].exact[side][one.position] = one.sides[side].fitting;
            }
        }
    }
}

void Node::work_out(Shape shape, i64 relaxed, i64 lower) {
    if (shape.depth == 0 || columns().empty()) return;
    if (shape.depth == 2) return work_out_by_sweeps(shape, relaxed, lower);
    const Stump stump = stump_of(vector<char>(rows_.size(), 1));
    need(stump.plain >= relaxed && stump.fitting >= lower, "a split costs less");
}

}  // namespace ptcheck
