// Claims and their lines; see certify/claims.hpp.
#include "certify/claims.hpp"

#include <algorithm>
#include <charconv>

namespace provetree {

Where side_of(const Where& where, Index column, Index rank, bool right, Index top) {
    Where side = where;
    auto at = std::lower_bound(side.begin(), side.end(), column,
                               [](const Condition& one, Index wanted) { return one.column < wanted; });
    if (at == side.end() || at->column != column) at = side.insert(at, {column, 0, top});
    if (right)
        at->low = std::max(at->low, rank + 1);
    else
        at->high = std::min(at->high, rank);
    return side;
}

void ClaimLog::put(std::int64_t number) {
    char digits[24];
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

void ClaimLog::put_list(std::initializer_list<std::int64_t> numbers) {
    char before = '[';
    for (const std::int64_t number : numbers) {
        text_.push_back(before);
        put(number);
        before = ',';
    }
    text_.push_back(']');
}

void ClaimLog::state(const Where& where, Shape shape, ClaimBounds bounds) {
    text_.push_back('[');
    put_list({shape.depth, shape.splits});
    text_.push_back(',');
    put(bounds.relaxed);
    text_.push_back(',');
    put(bounds.lower);
    text_ += ",[";
    for (const Condition& one : where) {
        if (text_.back() == ']') text_.push_back(',');
        put_list({one.column, one.low, one.high});
    }
    text_.push_back(']');
}

std::size_t ClaimLog::slot_of(const Condition* where, std::size_t count, Shape shape) const {
    std::uint64_t hash = static_cast<std::uint64_t>(shape.splits) * 64 + static_cast<std::uint64_t>(shape.depth);
    const auto mix = [&](std::uint64_t value) {
        hash = (hash ^ value) * 0x9E3779B97F4A7C15;
        hash ^= hash >> 29;
    };
    for (std::size_t i = 0; i < count; ++i) {
        mix(where[i].column);
        mix(std::uint64_t{where[i].low} << 32 | where[i].high);
    }
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
        if (slots_[slot] == 0) return slot;
        const Known& one = known_[slots_[slot] - 1];
        if (one.shape.depth == shape.depth && one.shape.splits == shape.splits && one.last - one.first == count &&
            std::equal(where, where + count, conditions_.data() + one.first))
            return slot;
    }
}

void ClaimLog::make_room() {
    if (2 * known_.size() < slots_.size()) return;
    slots_.assign(2 * slots_.size(), 0);
    for (std::size_t i = 0; i < known_.size(); ++i) {
        const Known& one = known_[i];
        slots_[slot_of(conditions_.data() + one.first, one.last - one.first, one.shape)] =
            static_cast<std::uint32_t>(i + 1);
    }
}

ClaimNumber ClaimLog::keep(const Where& where, Shape shape, ClaimBounds bounds) {
    const ClaimNumber number = static_cast<ClaimNumber>(++claims_);
    const std::size_t slot = slot_of(where.data(), where.size(), shape);
    if (slots_[slot] > 0) {
        known_[slots_[slot] - 1].number = number;
        known_[slots_[slot] - 1].bounds = bounds;
        return number;
    }
    const std::size_t first = conditions_.size();
    conditions_.insert(conditions_.end(), where.begin(), where.end());
    known_.push_back({first, conditions_.size(), shape, number, bounds});
    slots_[slot] = static_cast<std::uint32_t>(known_.size());
    make_room();
    return number;
}

ClaimNumber ClaimLog::find(const Where& where, Shape shape, ClaimBounds bounds) const {
    const std::size_t slot = slot_of(where.data(), where.size(), shape);
    if (slots_[slot] == 0) return 0;
    const Known& one = known_[slots_[slot] - 1];
    return one.bounds.reach(bounds) ? one.number : 0;
}

ClaimNumber ClaimLog::add(const Where& where, Shape shape, ClaimBounds bounds) {
    state(where, shape, bounds);
    text_ += "]\n";
    return keep(where, shape, bounds);
}

ClaimNumber ClaimLog::add(const Where& where, Shape shape, ClaimBounds bounds, const Cover& cover) {
    state(where, shape, bounds);
    text_.push_back(',');
    put_list({cover.shape.depth, cover.shape.splits});
    text_ += ",[";
    for (const ClaimedPoint& point : cover.points) {
        if (text_.back() == ']') text_.push_back(',');
        put_list({point.column, point.left_splits, point.rank, point.left, point.right});
    }
    text_ += "]]\n";
    return keep(where, shape, bounds);
}

}  // namespace provetree
