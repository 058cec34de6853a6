"""Naive twins of the data-partition algorithms: the published pseudo-code, pair by pair.

Ties are broken as documented: by distance, then by row numbers. Distances are added up column by
column, in plain Python, so that they are the same numbers as those of the fast versions.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
from scipy.optimize import linprog


def distance(a: Any, b: Any) -> float:
    total = 0.0
    for x, z in zip(a, b, strict=True):
        total += (x - z) * (x - z)
    return math.sqrt(total)


def _canonical(groups: list[set[int]], n: int) -> list[int]:
    """Clusters numbered by their lowest rows."""
    of_row = [0] * n
    for number, group in enumerate(sorted(groups, key=min)):
        for i in group:
            of_row[i] = number
    return of_row


def naive_gp(points: Any, y: Any, most_clusters: int) -> list[int]:
    """Algorithm 1."""
    n = len(points)
    groups = [{i} for i in range(n)]
    pairs = sorted((distance(points[i], points[j]), i, j) for i, j in combinations(range(n), 2))
    for _, i, j in pairs:
        if len(groups) <= most_clusters:
            break
        a, b = _of(groups, i), _of(groups, j)
        if y[i] == y[j] and a is not b:
            a |= b
            groups.remove(b)
    return _canonical(groups, n)


def naive_igp(points: Any, y: Any) -> list[int]:
    """Algorithm 2; pairs of a ratio of one and more are not looked at, as the text says."""
    n = len(points)
    d = [
        min((distance(points[i], points[j]) for j in range(n) if y[j] != y[i]), default=math.inf)
        for i in range(n)
    ]

    def ratio(i: int, j: int) -> float:
        least = min(d[i], d[j])
        return distance(points[i], points[j]) / least if least > 0 else math.inf

    groups = [{i} for i in range(n)]
    pairs = sorted(
        (ratio(i, j), distance(points[i], points[j]), i, j) for i, j in combinations(range(n), 2)
    )
    for r, _, i, j in pairs:
        if r >= 1:
            break
        a, b = _of(groups, i), _of(groups, j)
        if y[i] != y[j] or a is b:
            continue
        if ratio(medoid(points, a), medoid(points, b)) < 1:
            a |= b
            groups.remove(b)
    return _canonical(groups, n)


def naive_crm(points: Any, y: Any) -> tuple[list[int], list[int]]:
    """Algorithm 3: the list of pairs is sorted anew whenever it changes."""
    n = len(points)
    groups = {i: {i} for i in range(n)}  # by their lowest row
    place = {i: i for i in range(n)}
    taboo: set[int] = set()
    pairs = set(combinations(range(n), 2))
    while pairs and len(taboo) < len(groups):
        first = min(pairs, key=lambda p: (distance(points[place[p[0]]], points[place[p[1]]]), *p))
        pairs.remove(first)
        g1, g2 = first
        if y[place[g1]] != y[place[g2]]:
            taboo |= {g1, g2}
        elif not {g1, g2} & taboo:
            groups[g1] |= groups.pop(g2)
            place[g1] = medoid(points, groups[g1])
            pairs = {p for p in pairs if g2 not in p}
    return _canonical(list(groups.values()), n), [place[g] for g in sorted(groups)]


def _of(groups: list[set[int]], i: int) -> set[int]:
    return next(group for group in groups if i in group)


def medoid(points: Any, group: set[int]) -> int:
    """The member with the least total distance; the lowest of those equal up to rounding."""
    totals = {i: sum(distance(points[i], points[j]) for j in group) for i in group}
    least = min(totals.values())
    return min(i for i in group if totals[i] <= least * (1 + 1e-9))


def naive_exclusion(points: Any, clusters: Any) -> float:
    """Definition 3 with one linear program for every pair of clusters."""
    names = sorted(set(clusters))
    members = {
        g: np.array([p for p, c in zip(points, clusters, strict=True) if c == g]) for g in names
    }
    meeting = set()
    for g, h in combinations(names, 2):
        a, b = members[g], members[h]
        sums = np.zeros((2, len(a) + len(b)))
        sums[0, : len(a)], sums[1, len(a) :] = 1, 1
        matrix = np.vstack([np.hstack([a.T, -b.T]), sums])
        right = np.append(np.zeros(a.shape[1]), [1, 1])
        if linprog(np.zeros(len(a) + len(b)), A_eq=matrix, b_eq=right).status == 0:
            meeting |= {g, h}
    return 1 - len(meeting) / len(names)


# -- trees on partitions, by trying all of them ---------------------------------------------------


def all_leaf_maps(ranks: Any, depth: int, budget: int) -> set[tuple[tuple[int, ...], int]]:
    """All ways a tree divides rows into leaves: leaf of each row, and the number of splits."""
    ranks = np.asarray(ranks)

    def grow(rows: tuple[int, ...], depth: int, budget: int) -> set[tuple[frozenset[Any], int]]:
        found: set[tuple[frozenset[Any], int]] = {(frozenset([rows]), 0)}
        if depth == 0 or budget == 0:
            return found
        for column in ranks:
            for cut in sorted({int(column[i]) for i in rows})[:-1]:
                left = tuple(i for i in rows if column[i] <= cut)
                right = tuple(i for i in rows if column[i] > cut)
                for (a, s), (b, t) in product(
                    grow(left, depth - 1, budget - 1), grow(right, depth - 1, budget - 1)
                ):
                    if s + t + 1 <= budget:
                        found.add((a | b, s + t + 1))
        return found

    n = ranks.shape[1]
    maps = set()
    for leaves, splits in grow(tuple(range(n)), depth, budget):
        of_row = [0] * n
        for number, leaf in enumerate(sorted(leaves)):
            for i in leaf:
                of_row[i] = number
        maps.add((tuple(of_row), splits))
    return maps


def naive_best(
    ranks: Any, clusters: Any, labels: Any, weights: Any, n_classes: int, depth: int, gamma: int,
    *, rule: str,
) -> Fraction:  # fmt: skip
    """The least ``wrong weight + splits / (gamma + 1)`` of all trees and labelings of leaves.

    ``rule="any"``: a cluster is right if any row ends in a leaf of its label, as in (DP').
    ``rule="whole"``: it is wrong only if all rows end in one leaf of another label.
    """
    best = None
    for leaf, splits in all_leaf_maps(ranks, depth, gamma):
        n_leaves = max(leaf) + 1
        for chosen in product(range(n_classes), repeat=n_leaves):
            wrong = 0
            for g, (label, weight) in enumerate(zip(labels, weights, strict=True)):
                ends = {leaf[i] for i, c in enumerate(clusters) if c == g}
                if rule == "whole" and len(ends) > 1:
                    continue
                if all(chosen[end] != label for end in ends):
                    wrong += int(weight)
            cost = Fraction(wrong) + Fraction(splits, gamma + 1)
            best = cost if best is None else min(best, cost)
    assert best is not None
    return best
