"""Trees of splits about two columns against brute force over the stated family."""

from __future__ import annotations

import pytest

from testkit.pair_cases import check

N_FEW, N_MANY, CHUNK = 400, 20_000, 50


@pytest.mark.parametrize("chunk", range(N_FEW // CHUNK))
def test_trees_are_the_best_of_the_family(chunk: int) -> None:
    trees = [check(seed) for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK)]
    assert sum(len(tree.combinations) for tree in trees) > CHUNK // 6  # pairs are used


@pytest.mark.fuzz
@pytest.mark.parametrize("chunk", range(N_FEW // CHUNK, N_MANY // CHUNK))
def test_trees_are_the_best_of_the_family_on_many_tables(chunk: int) -> None:
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        check(seed)
