"""The naive twin of the hull of errors: all trees with all labels, then every ratio of costs."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import pairwise

from provetree.problem.problem import Problem

Place = tuple[int, int]  # false positives, false negatives


def all_places(problem: Problem) -> set[Place]:
    """The errors of all trees of a problem of two classes, whatever their leaves predict.

    Without those that are worse than another in both kinds: no costs choose them.
    """
    weights, counts = problem.weights.tolist(), problem.counts.tolist()
    positive = (problem.classes == 1).tolist()
    ranks = problem.ranks.tolist()

    @cache
    def places(rows: frozenset[int], depth: int, budget: int) -> frozenset[Place]:
        negatives = sum(weights[i] for i in rows if not positive[i])
        positives = sum(weights[i] for i in rows if positive[i])
        found = {(negatives, 0), (0, positives)}
        if depth == 0 or budget == 0:
            return frozenset(found)
        for column in ranks:
            for rank in {column[i] for i in rows}:
                left = frozenset(i for i in rows if column[i] <= rank)
                right = rows - left
                least = min(sum(counts[i] for i in side) for side in (left, right))
                if not right or least < problem.min_samples_leaf:
                    continue
                for share in range(budget):
                    found |= {
                        (a + c, b + d)
                        for a, b in places(left, depth - 1, share)
                        for c, d in places(right, depth - 1, budget - 1 - share)
                    }
        return frozenset(not_worse(found))

    everything = frozenset(range(problem.n_rows))
    return set(places(everything, problem.max_depth, problem.max_splits))


def not_worse(found: set[Place]) -> set[Place]:
    """The places without one that is better in one kind of errors and not worse in the other."""
    kept: list[Place] = []
    for place in sorted(found):
        if not kept or place[1] < kept[-1][1]:
            kept.append(place)
    return set(kept)


def corners(found: set[Place]) -> list[Place]:
    """The places that alone are the cheapest at some costs above zero."""
    ratios = {Fraction(c - a, b - d) for a, b in found for c, d in found if c > a and b > d}
    turning = sorted(ratios)
    between = [(x + y) / 2 for x, y in pairwise(turning)]
    tried = [turning[0] / 2, *between, turning[-1] + 1] if turning else [Fraction(1)]
    cheapest = set()
    for ratio in tried:
        least = min(a + ratio * b for a, b in found)
        cheapest |= {(a, b) for a, b in found if a + ratio * b == least}
    return sorted(cheapest)


def is_cheapest_somewhere(place: Place, found: set[Place]) -> bool:
    """Whether a place is among the cheapest at some costs above zero."""
    at = corners(found)
    ratios = [Fraction(c - a, b - d) for (a, b), (c, d) in pairwise(at)] or [Fraction(1)]
    return place in at or any(
        place[0] + r * place[1] == min(a + r * b for a, b in found) for r in ratios
    )
