// Works claims of depth 0, 1 and 2 out; see node.hpp.
#include "node.hpp"

#include <cstring>

namespace ptcheck {

namespace {

constexpr size_t kLanes = 64;  // splits that are worked out side by side: a row has a bit for each

template <class T, size_t kCount>
struct Several {  // a vector of the compiler
    typedef T Type __attribute__((vector_size(kCount * sizeof(T))));
};

// What a row adds to each lane: its step where it is left of the lane's split.
template <class Step>
void fill(const vector<std::uint64_t>& masks, const vector<Step>& steps, Step* lanes) {
    for (size_t row = 0; row < masks.size(); ++row)
        for (size_t l = 0; l < kLanes; ++l)
            lanes[row * kLanes + l] = masks[row] >> l & 1 ? steps[row] : Step{0};
}

// Bytes are filled eight at a time: no product is above 255.
template <>
void fill(const vector<std::uint64_t>& masks, const vector<std::int8_t>& steps, std::int8_t* lanes) {
    static const vector<u8> spread = [] {
        vector<u8> bits;
        for (int byte = 0; byte < 256; ++byte)
            for (int l = 0; l < 8; ++l) bits.push_back(byte >> l & 1);
        return bits;
    }();
    for (size_t row = 0; row < masks.size(); ++row) {
        for (size_t k = 0; k < 8; ++k) {
            std::uint64_t eight;
            std::memcpy(&eight, spread.data() + 8 * (masks[row] >> 8 * k & 255), 8);
            eight *= static_cast<u8>(steps[row]);
            std::memcpy(lanes + row * kLanes + 8 * k, &eight, 8);
        }
    }
}

// Running sums of lanes along a column: extremes of what is left of each split, for the lanes and for the rest.
template <class T, class Step>
void sweep(const vector<int>& order, const vector<int>& ends, const Step* lanes, const vector<Step>& steps,
                        T* extremes) {
    constexpr size_t kCount = 64 / sizeof(T), kParts = kLanes / kCount;
    using Sums = typename Several<T, kCount>::Type;
    using Steps = typename Several<Step, kCount>::Type;
    Sums sum[kParts] = {}, most[kParts], least[kParts], most_rest[kParts], least_rest[kParts];
    std::memcpy(most, extremes, sizeof most);
    std::memcpy(least, extremes + kLanes, sizeof least);
    std::memcpy(most_rest, extremes + 2 * kLanes, sizeof most_rest);
    std::memcpy(least_rest, extremes + 3 * kLanes, sizeof least_rest);
    T all = 0;
    size_t i = 0;
    for (const int end : ends) {
        for (; i < static_cast<size_t>(end); ++i) {
            const size_t row = static_cast<size_t>(order[i]);
            for (size_t k = 0; k < kParts; ++k) {
                Steps step;
                std::memcpy(&step, lanes + row * kLanes + k * kCount, sizeof step);
                sum[k] += __builtin_convertvector(step, Sums);
            }
            all = static_cast<T>(all + steps[row]);
        }
        for (size_t k = 0; k < kParts; ++k) {
            const Sums rest = all - sum[k];
            most[k] = sum[k] > most[k] ? sum[k] : most[k];
            least[k] = sum[k] < least[k] ? sum[k] : least[k];
            most_rest[k] = rest > most_rest[k] ? rest : most_rest[k];
            least_rest[k] = rest < least_rest[k] ? rest : least_rest[k];
        }
    }
    std::memcpy(extremes, most, sizeof most);
    std::memcpy(extremes + kLanes, least, sizeof least);
    std::memcpy(extremes + 2 * kLanes, most_rest, sizeof most_rest);
    std::memcpy(extremes + 3 * kLanes, least_rest, sizeof least_rest);
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
        heaviest_ = std::max(heaviest_, ground_.weights[row]);
        count_ += table.counts[row];
    }
    if (ground_.min_leaf <= 1 && weight_ <= INT32_MAX / 2) lanes_ = kLanes;
    leaf_ = ground_.scale * outside(total_.data(), ground_.n_classes, 1);
}

const vector<Column>& Node::columns() {
    if (has_columns_) return columns_;
    has_columns_ = true;
    const Table& table = ground_.table;
    const bool filters = rows_.size() * 12 > table.classes.size();
    vector<int> place(filters ? table.classes.size() : 0, -1);
    for (size_t i = 0; i < rows_.size() && filters; ++i) place[static_cast<size_t>(rows_[i])] = static_cast<int>(i);
    vector<std::uint64_t> keys;  // ranks, each with its row
    for (size_t c = 0; c < table.ranks.size(); ++c) {
        const Ranks& ranks = table.ranks[c];
        const auto rank = [&](size_t i) { return ranks[static_cast<size_t>(rows_[i])]; };
        bool varies = false;
        for (size_t i = 1; i < rows_.size() && !varies; ++i) varies = rank(i) != rank(0);
        if (!varies) continue;
        Column column;
        column.id = static_cast<int>(c);
        column.order.reserve(rows_.size());
        if (filters) {
            for (int row : base_.orders[c])
                if (place[static_cast<size_t>(row)] >= 0) column.order.push_back(place[static_cast<size_t>(row)]);
        } else {
            keys.clear();
            for (size_t i = 0; i < rows_.size(); ++i) keys.push_back(static_cast<std::uint64_t>(rank(i)) << 32 | i);
            std::sort(keys.begin(), keys.end());
            for (std::uint64_t key : keys) column.order.push_back(static_cast<int>(key & 0xffffffff));
        }
        find_values(column, ranks);
        columns_.push_back(std::move(column));
    }
    return columns_;
}

// What is left of each position of a column whose order is known.
void Node::find_values(Column& column, const Ranks& ranks) const {
    const size_t n = column.order.size(), n_classes = total_.size();
    vector<i64> sums(n_classes, 0);
    i64 weight = 0, count = 0;
    int last = -1;
    const auto end_value = [&] {
        column.by_class.insert(column.by_class.end(), sums.begin(), sums.end());
        column.before.push_back(weight);
        column.fits.push_back(std::min(count, count_ - count) >= ground_.min_leaf);
    };
    for (size_t i = 0; i < n; ++i) {
        const size_t row = static_cast<size_t>(rows_[static_cast<size_t>(column.order[i])]);
        if (ranks[row] != last) {
            end_value();
            last = ranks[row];
            column.values.push_back(last);
            if (i > 0) column.ends.push_back(static_cast<int>(i));
        }
        const i64 own = ground_.weights[row];
        sums[static_cast<size_t>(ground_.table.classes[row])] += own;
        weight += own;
        count += ground_.table.counts[row];
    }
    end_value();
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

// A bit for each try: whether its split sends a row left. Tries of a column come one after the other, by position.
void Node::fill_masks(const Try* tries, size_t count) {
    masks_.assign(rows_.size(), 0);
    for (size_t first = 0, last; first < count; first = last) {
        for (last = first; last < count && tries[last].column == tries[first].column;) ++last;
        const Column& column = columns_[tries[first].column];
        size_t i = 0;
        for (size_t l = first; l < last; ++l) {
            const std::uint64_t bits = ((std::uint64_t{1} << (last - l - 1) << 1) - 1) << l;
            for (const size_t end = rows_before(column, tries[l].position); i < end; ++i)
                masks_[static_cast<size_t>(column.order[i])] |= bits;
        }
    }
}

// Leaves of any size. A stump has two labels, i and j: only the extremes of (class j - class i) left of its split
// matter. Labels that cannot be right more often than what is known are passed over.
template <class T, class Step>
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
    fill_masks(first, count);
    thread_local vector<Step> lanes;
    vector<Step> steps(n);
    lanes.resize(n * kLanes);
    T extremes[4 * kLanes];
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
            steps[r] = static_cast<Step>(label == j ? own : label == i ? -own : 0);
        }
        fill(masks_, steps, lanes.data());
        std::fill(std::begin(extremes), std::end(extremes), T{0});
        const vector<Chosen>* const chosen =
            n_classes > 2 ? &choose_classes(static_cast<int>(i), static_cast<int>(j)) : nullptr;
        for (size_t c = 0; c < columns_.size(); ++c)
            sweep<T, Step>(chosen ? (*chosen)[c].order : columns_[c].order,
                           chosen ? (*chosen)[c].ends : columns_[c].ends, lanes.data(), steps, extremes);
        for (size_t side = 0; side < 2; ++side) {
            for (size_t l = 0; l < count; ++l) {
                const i64 most = extremes[2 * side * kLanes + l], least = extremes[(2 * side + 1) * kLanes + l];
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
        for (size_t i = 0; i < rows_before(column, split.position); ++i)
            in[static_cast<size_t>(column.order[i])] = side == 0;
        split.sides[side] = stump_of(in);
    }
}

void Node::solve(vector<Try>& tries) {
    for (size_t i = 0; i < tries.size(); i += lanes_) {
        Try* const first = tries.data() + i;
        const size_t count = std::min(lanes_, tries.size() - i);
        if (lanes_ == 1)
            solve_any(*first);
        else if (heaviest_ > INT8_MAX)
            solve_lanes<std::int32_t, std::int32_t>(first, count);
        else if (weight_ > INT16_MAX)
            solve_lanes<std::int32_t, std::int8_t>(first, count);
        else
            solve_lanes<std::int16_t, std::int8_t>(first, count);
    }
}

// What a position's sides cost as leaves, and at least as trees of depth one by their classes alone: such a tree has
// two labels.
void Node::count_classes(const Column& column, size_t position, i64 (&leaf)[2], i64 (&least)[2]) const {
    const size_t n_classes = total_.size();
    const i64* const left = column.by_class.data() + position * n_classes;
    thread_local vector<i64> rest;
    rest.resize(n_classes);
    for (size_t c = 0; c < n_classes; ++c) rest[c] = total_[c] - left[c];
    for (int side = 0; side < 2; ++side) {
        const i64* const of = side ? rest.data() : left;
        leaf[side] = ground_.scale * outside(of, ground_.n_classes, 1);
        least[side] = std::min(leaf[side], ground_.scale * outside(of, ground_.n_classes, 2) + ground_.penalty);
    }
}

// Whether a split with such bounds of its sides may cost less than is claimed: with any leaves, or as they must be.
bool Node::is_open(const Column& column, size_t position, const Claimed& claim, Stump left, Stump right) const {
    i64 plain = left.plain + right.plain, fitting = left.fitting + right.fitting;
    if (claim.splits == 2) {  // one side is a leaf
        i64 leaf[2], least[2];
        count_classes(column, position, leaf, least);
        plain = std::min(leaf[0] + right.plain, left.plain + leaf[1]);
        fitting = std::min(leaf[0] + right.fitting, left.fitting + leaf[1]);
    }
    return plain + ground_.penalty < claim.relaxed ||
           (fitting + ground_.penalty < claim.lower && column.fits[position]);
}

// Narrows a stretch to the splits that are open by rule 3; says whether there are any.
bool Node::narrow(Stretch& stretch, const Claimed& claim) const {
    const Column& column = columns_[stretch.column];
    const bool counts = total_.size() > 2 || ground_.penalty > 0;  // else classes alone say nothing
    const Point &from = stretch.from, &upto = stretch.upto;
    const i64 begin = column.before[from.position], end = column.before[upto.position], scale = ground_.scale;
    size_t first = 0, last = 0;
    for (size_t p = stretch.first; p <= stretch.last; ++p) {
        i64 leaf[2], least[2] = {0, 0};
        if (counts) count_classes(column, p, leaf, least);
        const i64 here = column.before[p];
        const i64 left = std::max({least[0], from.left, upto.left - scale * (end - here)});
        const i64 right = std::max({least[1], upto.right, from.right - scale * (here - begin)});
        if (!is_open(column, p, claim, {left, left}, {right, right})) continue;
        if (first == 0) first = p;
        last = p;
    }
    stretch.first = first, stretch.last = last;
    return first > 0;
}

// Tries for each stretch, as many as lanes have room for, and evenly.
vector<Node::Try> Node::choose_tries(const vector<Stretch>& stretches, size_t taken) const {
    size_t sum = 0;
    for (const Stretch& one : stretches) sum += one.last - one.first + 1;
    const size_t room = (stretches.size() + taken + lanes_ - 1) / lanes_ * lanes_ - stretches.size() - taken;
    vector<Try> tries;
    for (const Stretch& one : stretches) {
        const size_t size = one.last - one.first + 1, many = std::min(size, 1 + room * size / sum);
        for (size_t k = 1; k <= many; ++k)
            tries.push_back({one.column, one.first + size * k / (many + 1), {}});
    }
    return tries;
}

void Node::work_out_by_sweeps(const Claimed& claim) {
    vector<Stretch> stretches, next;
    for (size_t c = 0; c < columns_.size(); ++c) {
        const size_t end = columns_[c].positions() - 1;
        Stretch all{c, {0, 0, 0}, {end, 0, 0}, 1, end - 1};
        if (narrow(all, claim)) stretches.push_back(all);
    }
    for (bool is_first = true; !stretches.empty(); is_first = false) {
        vector<Try> tries = choose_tries(stretches, is_first);
        // At either end of a column one side has all rows.
        if (is_first) tries.push_back({columns_.size() - 1, columns_.back().positions() - 1, {}});
        solve(tries);
        const i64 whole = is_first ? tries.back().sides[0].plain : 0;
        next.clear();
        auto at = tries.begin();
        for (Stretch& one : stretches) {
            one.from.right = std::max(one.from.right, whole);
            one.upto.left = std::max(one.upto.left, whole);
            Stretch part = one;
            for (; at != tries.end() && at->column == one.column && at->position <= one.last; ++at) {
                need(!is_open(columns_[one.column], at->position, claim, at->sides[0], at->sides[1]),
                     "a tree of depth 2 costs less");
                part.upto = {at->position, at->sides[0].plain, at->sides[1].plain};
                part.last = at->position - 1;
                if (part.first <= part.last && narrow(part, claim)) next.push_back(part);
                part.from = part.upto;
                part.first = at->position + 1;
            }
            part.upto = one.upto;
            part.last = one.last;
            if (part.first <= part.last && narrow(part, claim)) next.push_back(part);
        }
        stretches.swap(next);
    }
}

void Node::work_out(Shape shape, i64 relaxed, i64 lower) {
    if (shape.depth == 0 || columns().empty()) return;
    if (shape.depth == 2) return work_out_by_sweeps({shape.splits, relaxed, lower});
    const Stump stump = stump_of(vector<char>(rows_.size(), 1));
    need(stump.plain >= relaxed && stump.fitting >= lower, "a split costs less");
}

}  // namespace ptcheck
