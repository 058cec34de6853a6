"""Calls of the C++ core as the tests make them: a Problem in, the core's own answer out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provetree import _core
from provetree.problem.problem import Problem

KERNELS: tuple[str, ...] = tuple(_core.available_kernels())
#: The bit that switches each part off, by name.
OFF: dict[str, int] = _core.SWITCHES
ALL_OFF: int = sum(OFF.values())
#: The same of parts that only searches under rules have, or those for trees below a cost.
OFF_UNDER_RULES: dict[str, int] = _core.RULE_SWITCHES
#: Solves children on samples of the rows in every table, and makes these as small as can be.
TINY_SAMPLES: int = _core.TEST_SWITCHES["tiny_samples"]
#: Blocks of two rows are solved in every node of depth three, from the second split on.
TINY_BLOCKS: int = _core.TEST_SWITCHES["tiny_blocks"]
#: Looks for better trees beside the proof from the first step on, in every table.
EAGER_IMPROVEMENT: int = _core.TEST_SWITCHES["eager_improvement"]
#: Treats every table, and every node, as one with many columns.
ALWAYS_WIDE: int = _core.TEST_SWITCHES["always_wide"]
#: Splits of the root pass as text, as they would to another machine.
TEXT_TASKS: int = _core.TEST_SWITCHES["text_tasks"]
#: Several threads on bits in every table; splits are shared after a few steps.
EAGER_THREADS: int = _core.TEST_SWITCHES["eager_threads"]
#: A split that takes one thread long stays with it.
NO_SHARING: int = _core.TEST_SWITCHES["no_sharing"]
#: What a tree is compared by: splits by rank, and labels.
NODE_FIELDS = ("column", "rank_low", "rank_high", "label")


def flat_values(values: Sequence[NDArray[np.float64]]) -> dict[str, NDArray[Any]]:
    """The values of all columns as the core takes them: one after the other, and their ends."""
    ends = np.cumsum([len(of_column) for of_column in values], dtype=np.int64)
    return {"values": np.concatenate([*values, np.empty(0)]), "value_ends": ends}


#: What a table of the core is made of.
TABLE_ARGUMENTS = ("ranks", "values", "value_ends", "classes", "weights", "counts", "n_classes")


def on_table(function: Callable[..., Any], **arguments: Any) -> Any:
    """Call a function of the core; the arguments of its table come beside the others."""
    of_table = {name: arguments.pop(name) for name in TABLE_ARGUMENTS if name in arguments}
    return function(_core.Table(**of_table), **arguments)


def core_search(
    problem: Problem,
    *,
    kernel: str = "auto",
    switches: int = 0,
    max_work: int = 0,
    n_jobs: int = 1,
    checkpoint: str = "",
    time_limit: float = math.inf,
    memory_limit: int = 1 << 28,
    on_progress: Callable[[float, int, int], object] | None = None,
    workers: _core.Exchange | None = None,
    directions: Sequence[int] = (),
) -> _core.SearchResult:
    return _core.search(
        problem.table,
        on_progress,
        workers,
        max_depth=problem.max_depth,
        max_splits=problem.max_splits,
        min_samples_leaf=problem.min_samples_leaf,
        error_scale=problem.error_scale,
        split_penalty=problem.split_penalty,
        time_limit=time_limit,
        memory_limit=memory_limit,
        kernel=kernel,
        switches=switches,
        max_work=max_work,
        n_jobs=n_jobs,
        checkpoint=checkpoint,
        checkpoint_seconds=0.0,
        directions=list(directions),
    )


def same_tree(one: Any, other: Any) -> bool:
    return all(np.array_equal(one[name], other[name]) for name in NODE_FIELDS)


def assert_same_answer(one: Any, other: Any, seed: int) -> None:
    """The same cost, bound and status, and the same tree where the tie rule was completed."""
    for part in ("cost", "lower_bound", "status"):
        assert one[part] == other[part], (seed, part)
    settled = [found["counters"]["tie_rule_complete"] for found in (one, other)]
    assert not all(settled) or same_tree(one, other), seed


def walk_tree(problem: Problem, found: Any) -> tuple[int, int]:
    """Check a tree row by row against the limits of its problem; return its cost and splits.

    Plain code: every node's rows are listed, so that nothing the core says is taken on trust.
    """
    next_node = 0
    errors = 0

    def visit(rows: list[int], depth: int) -> int:
        nonlocal next_node, errors
        node = next_node
        next_node += 1
        totals = [0] * problem.n_classes
        for i in rows:
            totals[problem.classes[i]] += int(problem.weights[i])
        assert found["label"][node] == totals.index(max(totals))
        assert sum(int(problem.counts[i]) for i in rows) >= problem.min_samples_leaf
        if found["column"][node] < 0:
            assert (found["rank_low"][node], found["rank_high"][node]) == (-1, -1)
            assert (found["left"][node], found["right"][node]) == (-1, -1)
            errors += sum(totals) - max(totals)
            return 0
        assert depth < problem.max_depth
        ranks = problem.ranks[found["column"][node]]
        left = [i for i in rows if ranks[i] <= found["rank_low"][node]]
        right = [i for i in rows if ranks[i] > found["rank_low"][node]]
        assert max(ranks[i] for i in left) == found["rank_low"][node]
        assert min(ranks[i] for i in right) == found["rank_high"][node]
        assert found["left"][node] == next_node
        splits = 1 + visit(left, depth + 1)
        assert found["right"][node] == next_node
        return splits + visit(right, depth + 1)

    splits = visit(list(range(problem.n_rows)), 0)
    assert next_node == len(found["column"])
    assert splits <= problem.max_splits
    return problem.error_scale * errors + problem.split_penalty * splits, splits
