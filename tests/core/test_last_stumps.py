"""Which split the last levels of a tree of squared error get where several are equally good.

The core sums up rows by value where columns have few values, and sorts them elsewhere. Both must
find the split that the tie rule prefers: the lowest column, then the widest margin, then the lowest
threshold. The twin tries all splits with exact fractions.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from testkit.measure_calls import measure_search, measure_table
from testkit.naive_measures import MeasureCase

TABLES = 150


def random_case(seed: int) -> MeasureCase:
    """A table of few and of many values, with targets and gaps that leave ties."""
    rng = np.random.default_rng((71, seed))
    n = int(rng.integers(30, 90))
    widths = [int(rng.choice([2, 3, 4, n])) for _ in range(int(rng.integers(2, 5)))]
    columns = [rng.integers(0, width, n) for width in widths]
    columns[-1] = columns[0].max() - columns[0]  # as good as the first column everywhere
    ranks = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in columns]
    targets = rng.integers(0, 4, n) + 3 * (ranks[0] % 2)
    counts = rng.integers(1, 4, n) if seed % 3 == 0 else np.ones(n, dtype=np.int64)
    return MeasureCase(
        loss="squared_error",
        ranks=np.array(ranks, dtype=np.uint32),
        values=tuple(np.cumsum(rng.integers(1, 3, own.max() + 1)).astype(float) for own in ranks),
        classes=np.zeros(n, dtype=np.int32),
        weights=counts,
        counts=counts,
        n_classes=1,
        targets=targets[:, None].astype(float),
        max_depth=2,
        max_splits=3,
        min_samples_leaf=2 if seed % 5 == 0 else 1,
        penalty=0.0,
    )


def leaf_cost(case: MeasureCase, rows: list[int]) -> Fraction:
    assert case.targets is not None
    weights = [int(case.weights[i]) for i in rows]
    targets = [int(case.targets[i, 0]) for i in rows]
    total = sum(w * y for w, y in zip(weights, targets, strict=True))
    squares = sum(w * y * y for w, y in zip(weights, targets, strict=True))
    return squares - Fraction(total * total, sum(weights))


def preferred_stump(case: MeasureCase, rows: list[int]) -> tuple[int, int, int] | None:
    """Column and ranks on both sides of the split that is to be made; None: a leaf."""
    options = []
    for column, ranks in enumerate(case.ranks):
        present = sorted({int(ranks[i]) for i in rows})
        for low, high in pairwise(present):
            left, right = ([i for i in rows if (ranks[i] <= low) == side] for side in (True, False))
            if min(case.counts[left].sum(), case.counts[right].sum()) < case.min_samples_leaf:
                continue
            margin = case.values[column][high] - case.values[column][low]
            cost = leaf_cost(case, left) + leaf_cost(case, right)
            options.append((cost, column, -margin, low, high))
    if not options or min(options)[0] >= leaf_cost(case, rows):
        return None
    _, column, _, low, high = min(options)
    return column, low, high


@pytest.mark.parametrize("kernel", ["auto", "baseline"])
def test_stumps_are_those_that_the_tie_rule_prefers(kernel: str) -> None:
    asked = 0
    for seed in range(TABLES):
        case = random_case(seed)
        found = measure_search(case, measure_table(case), kernel=kernel)
        if found["column"][0] < 0:
            continue
        ranks = case.ranks[found["column"][0]]
        for side, node in ((True, found["left"][0]), (False, found["right"][0])):
            rows = [i for i in range(case.n_rows) if (ranks[i] <= found["rank_low"][0]) == side]
            wanted = preferred_stump(case, rows)
            got = tuple(int(found[name][node]) for name in ("column", "rank_low", "rank_high"))
            assert got == (wanted or (-1, -1, -1)), seed
            asked += wanted is not None
    assert asked > TABLES
