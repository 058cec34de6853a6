"""Every division of a few points of the plane by a line, and the best tree of such divisions.

The widest gap that a line with coefficients of absolute sum one leaves between two sets is the
distance of their hulls by the larger of the two coordinates. It is worked out in exact fractions,
from all pairs of a point and a segment.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations

Point = tuple[Fraction, Fraction]


def unit_points(rows: list[list[int]]) -> list[Point]:
    """Rows with each column from 0 to 1."""
    scaled = []
    for column in zip(*rows, strict=True):
        low, span = min(column), max(column) - min(column)
        scaled.append([Fraction(x - low, span) if span else Fraction(0) for x in column])
    return list(zip(*scaled, strict=True))


def gap_of_lines(left: list[Point], right: list[Point]) -> Fraction:
    """The widest gap between two sets of points; zero if no line divides them."""
    if hulls_meet(left, right):
        return Fraction(0)
    return min(
        min(_distance(point, *side) for side in _segments(others) for point in points)
        for points, others in ((left, right), (right, left))
    )


def gap_of_columns(left: list[Point], right: list[Point]) -> Fraction:
    """The widest gap of a question about one column."""
    gaps = []
    for axis in (0, 1):
        ours, theirs = [p[axis] for p in left], [p[axis] for p in right]
        gaps += [min(theirs) - max(ours), min(ours) - max(theirs)]
    return max(*gaps, Fraction(0))


def hulls_meet(left: list[Point], right: list[Point]) -> bool:
    """Whether the hulls of two sets have a point in common: of corners, or where sides cross."""
    for ours, theirs in ((left, right), (right, left)):
        for point in ours:
            if any(_inside(point, *corners) for corners in _triangles(theirs)):
                return True
    return any(_cross(*s, *t) for s in _segments(left) for t in _segments(right))


def _segments(points: list[Point]) -> list[tuple[Point, Point]]:
    return [(p, p) for p in points] + list(combinations(points, 2))


def _triangles(points: list[Point]) -> list[tuple[Point, Point, Point]]:
    few = [(p, q, q) for p, q in _segments(points)]
    return few + list(combinations(points, 3))


def _turn(p: Point, q: Point, r: Point) -> Fraction:
    return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])


def _inside(x: Point, p: Point, q: Point, r: Point) -> bool:
    turns = [_turn(p, q, x), _turn(q, r, x), _turn(r, p, x)]
    if min(turns) < 0 < max(turns):
        return False
    if any(turns) and _turn(p, q, r) != 0:
        return True
    # All on one line (or at a corner): between the outermost.
    if any(turns):
        return False
    return all(min(p[k], q[k], r[k]) <= x[k] <= max(p[k], q[k], r[k]) for k in (0, 1))


def _cross(p: Point, q: Point, r: Point, s: Point) -> bool:
    return _turn(p, q, r) * _turn(p, q, s) < 0 and _turn(r, s, p) * _turn(r, s, q) < 0


def _distance(x: Point, p: Point, q: Point) -> Fraction:
    """The distance of a point from a segment, by the larger coordinate."""
    start = [p[k] - x[k] for k in (0, 1)]
    step = [q[k] - p[k] for k in (0, 1)]
    # Where a coordinate is zero, or both are equally large; the least is there or at an end.
    times = [Fraction(0), Fraction(1)]
    for a, b in ((start[0], step[0]), (start[1], step[1])):
        times += [-a / b] if b else []
    for sign in (1, -1):
        a, b = start[0] - sign * start[1], step[0] - sign * step[1]
        times += [-a / b] if b else []
    return min(max(abs(start[k] + t * step[k]) for k in (0, 1)) for t in times if 0 <= t <= 1)


def best_cost(
    rows: list[list[int]],
    classes: list[int],
    weights: list[int],
    *,
    depth: int,
    gap: Fraction,
    penalty: Fraction = Fraction(0),
    max_columns: int = 2,
    min_samples_leaf: int = 1,
    max_splits: int | None = None,
) -> Fraction:
    """The least weight of wrong rows plus penalties, of all trees whose splits leave the gap."""
    points = unit_points(rows)

    @cache
    def columns_needed(left: frozenset[int], right: frozenset[int]) -> int | None:
        ours, theirs = [points[i] for i in left], [points[i] for i in right]
        if gap_of_columns(ours, theirs) >= gap:
            return 1
        return 2 if max_columns > 1 and gap_of_lines(ours, theirs) >= gap else None

    @cache
    def least(members: frozenset[int], levels: int, splits: int) -> Fraction:
        totals: dict[int, int] = {}
        for i in members:
            totals[classes[i]] = totals.get(classes[i], 0) + weights[i]
        best = Fraction(sum(totals.values()) - max(totals.values()))
        if levels == 0 or splits == 0 or best == 0:
            return best
        first, *others = sorted(members)
        for size in range(len(others)):
            for more in combinations(others, size):
                left = frozenset((first, *more))
                right = members - left
                if min(len(left), len(right)) < min_samples_leaf:
                    continue
                needed = columns_needed(left, right)
                if needed is None:
                    continue
                for share in range(splits):
                    below = least(left, levels - 1, share)
                    below += least(right, levels - 1, splits - 1 - share)
                    best = min(best, below + needed * penalty)
        return best

    everything = frozenset(range(len(rows)))
    return least(everything, depth, 2**depth - 1 if max_splits is None else max_splits)
