"""Results of ``bench new-rows``: a line of JSON for each fit, from which a later call goes on.

A result is known by its table, rows, split, method and most leaves. Several calls may work on parts
at once: each writes a file of its own in the folder, and all read all files.
"""

from __future__ import annotations

import contextlib
import json
import math
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from provetree.bench.data import read_split
from provetree.bench.new_rows.measures import MEASURES, measure
from provetree.bench.new_rows.methods import METHODS, Asked
from provetree.bench.new_rows.tables import ClassTable, read_class_table, split_rows

__all__ = [
    "Key",
    "Result",
    "Work",
    "all_work",
    "part_of",
    "read_failures",
    "read_results",
    "run_all",
    "score",
]

#: A process of its own is ended after so many times the limit of its fit.
_MOST_LIMITS = 10


class Key(NamedTuple):
    """What a result is known by.

    Examples
    --------
    >>> from provetree.bench.new_rows.results import Key
    >>> Key("iris", 0, "cart", 8).rows
    'seeded'
    """

    table: str
    split: int
    method: str
    leaves: int  # at most; 0 for a model that is no single tree
    #: "seeded" for the splits of this benchmark; "train" and "train+valid" for parts of the papers'
    #: splits, with the test rows of these as new ones.
    rows: str = "seeded"


@dataclass(frozen=True)
class Work:
    """One fit to make.

    Examples
    --------
    >>> from provetree.bench.new_rows.results import Key, Work
    >>> Work(Key("iris", 0, "cart", 8), 60.0).key.table
    'iris'
    """

    key: Key
    limit: float  # seconds, for methods that keep one


@dataclass(frozen=True)
class Result:
    """What a model did on new rows.

    Examples
    --------
    >>> from provetree.bench.new_rows.results import Result
    >>> facts = {"table": "iris", "split": 0, "method": "cart", "leaves": 8, "accuracy": 0.9}
    >>> Result.of(facts).measures
    {'accuracy': 0.9}
    """

    key: Key
    measures: Mapping[str, float]
    tree_leaves: int | None = None
    seconds: float = 0.0  # of the processor
    clock: float = 0.0  # seconds
    status: str | None = None
    limit: float | None = None  # that was given

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Result:
        """Return the result of a line of a file."""
        return cls(
            Key(**{name: facts[name] for name in Key._fields if name in facts}),
            {name: float(facts[name]) for name in MEASURES if name in facts},
            facts.get("tree_leaves"),
            float(facts.get("cpu_seconds", 0.0)),
            float(facts.get("seconds", 0.0)),
            facts.get("status"),
            facts.get("limit"),
        )


def all_work(
    tables: Sequence[str],
    methods: Sequence[str],
    splits: Iterable[int],
    limit: float,
    sizes: Sequence[int] = (),
) -> list[Work]:
    """Return the fits on seeded splits, split by split, so that a part of them is useful, too.

    Methods for tables with a rare class are left out elsewhere. `sizes` are the most leaves of
    single trees, where not those of the page.

    Examples
    --------
    >>> from provetree.bench.new_rows.results import all_work
    >>> [work.key.leaves for work in all_work(["iris"], ["cart"], [0], 60.0)]
    [8, 16]
    """
    rare = set()
    if any(METHODS[method].of_rare_classes for method in methods):
        rare = {table for table in tables if read_class_table(table).has_rare_class}
    return [
        Work(Key(table, split, method, leaves), limit)
        for split in splits
        for table in tables
        for method in methods
        for leaves in (sizes if sizes and METHODS[method].is_tree else METHODS[method].sizes)
        if table in rare or not METHODS[method].of_rare_classes
    ]


def part_of(work: Sequence[Work], part: str) -> list[Work]:
    """Return the i-th of n parts, written i/n: every n-th fit.

    Examples
    --------
    >>> from provetree.bench.new_rows.results import Key, Work, part_of
    >>> work = [Work(Key("iris", split, "cart", 8), 60.0) for split in range(5)]
    >>> [one.key.split for one in part_of(work, "2/2")]
    [1, 3]
    """
    first, _, count = part.partition("/")
    if not (first.isdigit() and count.isdigit() and 1 <= int(first) <= int(count)):
        raise ValueError(f"--part must be i/n with i from 1 to n. Got {part!r} instead.")
    return list(work[int(first) - 1 :: int(count)])


def read_results(folder: Path) -> dict[Key, Result]:
    """Return all results in the files of a folder; fits that failed are not among them."""
    results = (Result.of(facts) for facts in _lines(folder) if "error" not in facts)
    return {result.key: result for result in results}


def read_failures(folder: Path) -> dict[Key, str]:
    """Return why fits failed, unless a later call made them."""
    done = read_results(folder)
    failed = (
        (Result.of(facts).key, facts["error"]) for facts in _lines(folder) if "error" in facts
    )
    return {key: error for key, error in failed if key not in done}


def _lines(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            # A call that was killed may have left half a line at the end: that fit is made again.
            with contextlib.suppress(ValueError):
                yield json.loads(line)


def score(work: Work) -> dict[str, Any]:
    """Make one fit on the rows to train on and measure it on the new rows.

    An exception of a method becomes its result: the others go on.
    """
    method = METHODS[work.key.method]
    facts = {**work.key._asdict(), "limit": work.limit}
    try:
        return facts | (_in_own_process(work) if method.own_process else _measured(work))
    except Exception as error:
        return facts | {"error": f"{type(error).__name__}: {error}".splitlines()[0]}


def _measured(work: Work) -> dict[str, Any]:
    table, split, method, leaves, rows = work.key
    train, new = _parts(table, split, rows)
    start, cpu_start = time.perf_counter(), time.process_time()
    # Papers bound the depth, and so many leaves fill it.
    depth = None if rows == "seeded" else int(math.log2(leaves))
    fitted = METHODS[method].fit(train, Asked(leaves, work.limit, split, depth))
    facts = {
        "seconds": round(time.perf_counter() - start, 4),
        "cpu_seconds": round(time.process_time() - cpu_start, 4),
        "tree_leaves": fitted.leaves,
        "status": fitted.status,
    }
    shares = fitted.shares(new.X, 1 + max(int(part.y.max()) for part in (train, new)))
    return facts | {name: round(value, 6) for name, value in measure(shares, new.y).items()}


def _parts(name: str, split: int, rows: str) -> tuple[ClassTable, ClassTable]:
    """Return the rows to train on and the new ones."""
    if rows == "seeded":
        return split_rows(read_class_table(name), split)
    table, parts = read_class_table(name, None), read_split(name, split)
    train = np.concatenate([parts[part] for part in rows.split("+")])
    return table.rows(train), table.rows(parts["test"])


def _in_own_process(work: Work) -> dict[str, Any]:
    """Measure in a process of its own, for a method that may end the process it runs in."""
    # A fork has all packages loaded, which would take longer than most fits.
    context: Any = get_context("fork" if "fork" in get_all_start_methods() else "spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_send_measured, args=(work, there))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads: none is at work now
        process.start()
    there.close()
    try:
        if not here.poll(_MOST_LIMITS * work.limit):
            raise TimeoutError(f"not done after {_MOST_LIMITS * work.limit:g} s")
        found: dict[str, Any] | str = here.recv()
    except EOFError:
        raise RuntimeError("its process ended") from None
    finally:
        process.kill()
        process.join()
    if isinstance(found, str):
        raise RuntimeError(found)
    return found


def _send_measured(work: Work, to: Any) -> None:
    try:
        to.send(_measured(work))
    except Exception as error:
        to.send(f"{type(error).__name__}: {error}")


def run_all(work: Sequence[Work], file: Path, jobs: int, seconds: float | None) -> Iterator[str]:
    """Make all fits, write each as soon as it is known, and yield a line about each that failed.

    After `seconds`, no further fit begins.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    deadline = None if seconds is None else time.monotonic() + seconds
    with file.open("a", encoding="utf-8") as lines:
        for number, facts in enumerate(_done(work, jobs, deadline), 1):
            lines.write(json.dumps(facts) + "\n")
            lines.flush()
            if number % 50 == 0 or number == len(work):
                print(f"{number} of {len(work)} fits", file=sys.stderr, flush=True)
            if "error" in facts:
                yield f"{facts['method']} failed on {facts['table']}: {facts['error']}"


def _done(work: Sequence[Work], jobs: int, deadline: float | None) -> Iterator[dict[str, Any]]:
    def in_time() -> bool:
        return deadline is None or time.monotonic() < deadline

    if jobs == 1:
        for one in work:
            if not in_time():
                return
            yield score(one)
        return
    waiting = iter(work)
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        # Few at a time wait in the pool, so that the last moment is kept.
        running = {pool.submit(score, one) for _, one in zip(range(jobs), waiting, strict=False)}
        while running:
            done = next(as_completed(running))
            running.remove(done)
            if in_time():
                running |= {pool.submit(score, one) for one in (next(waiting, None),) if one}
            yield done.result()
