// Claims and their bytes; see certify/claims.hpp.
#include "certify/claims.hpp"

#include <algorithm>

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

void ClaimLog::put(std::string& bytes, std::uint64_t number) {
    for (; number >= 128; number >>= 7) bytes.push_back(static_cast<char>(number & 127 | 128));
    bytes.push_back(static_cast<char>(number));
}

void ClaimLog::state(const Where& where, Shape shape, ClaimBounds bounds) {
    const auto number = [&](auto value) { put(bytes_, static_cast<std::uint64_t>(value)); };
    number(where.size());
    for (const Condition& one : where) {
        number(one.column);
        number(one.low);
        number(one.high);
    }
    number(shape.depth);
    number(shape.splits);
    number(bounds.relaxed);
    number(bounds.lower - bounds.relaxed);
}

ClaimNumber ClaimLog::keep(const Where& where, Shape shape, ClaimBounds bounds) {
    const ClaimNumber number = static_cast<ClaimNumber>(++claims_);
    known_[{where, {shape.depth, shape.splits}}] = {number, bounds};
    return number;
}

ClaimNumber ClaimLog::find(const Where& where, Shape shape, ClaimBounds bounds) const {
    const auto known = known_.find({where, {shape.depth, shape.splits}});
    return known != known_.end() && known->second.second.reach(bounds) ? known->second.first : 0;
}

ClaimNumber ClaimLog::add(const Where& where, Shape shape, ClaimBounds bounds) {
    state(where, shape, bounds);
    put(bytes_, 0);
    return keep(where, shape, bounds);
}

ClaimNumber ClaimLog::add(const Where& where, Shape shape, ClaimBounds bounds, const Cover& cover) {
    state(where, shape, bounds);
    const ClaimNumber own = static_cast<ClaimNumber>(claims_ + 1);
    const auto number = [&](auto value) { put(bytes_, static_cast<std::uint64_t>(value)); };
    const auto back = [&](ClaimNumber other) { number(other ? own - other : 0); };
    number(1);
    number(cover.shape.depth);
    number(cover.shape.splits);
    back(cover.whole);
    number(cover.groups.size());
    for (const ClaimedGroup& group : cover.groups) {
        number(group.column);
        number(group.left_splits);
        number(group.points.size());
        std::int64_t last = -1;
        for (const ClaimedPoint& point : group.points) {
            number(point.rank - last);
            last = point.rank;
            back(point.left);
            back(point.right);
        }
    }
    return keep(where, shape, bounds);
}

}  // namespace provetree
