"""How time and memory grow with rows and with columns: ``bench scaling``.

The tables are synthetic: numbers, with the classes of a random tree on some of the columns, a share
of them changed. Each fit runs in a process of its own. A solver that does not finish a table is not
given larger ones of the same kind. Results are written after each fit, and a second call continues
from them.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from provetree.bench.arguments import among, numbers, words
from provetree.bench.data import BenchTable
from provetree.bench.process import START_GRACE, ask, forget_peak, memory
from provetree.bench.report import (
    format_seconds,
    format_table,
    read_results,
    save_figure,
    write_results,
)
from provetree.bench.solvers import SOLVERS, warm_up
from provetree.export.plot import new_figure

__all__ = ["draw", "growth", "made_up_table", "run"]

#: Fits shorter than this say more about starting than about growing.
_SHORTEST = 0.02
_FIGURES = ("rows", "columns", "cpu_seconds", "megabytes", "errors")
_KEYS = ("solver", "axis", "depth", "noise", "rows", "columns", "limit")


def made_up_table(rows: int, columns: int, depth: int, noise: float, seed: int = 0) -> BenchTable:
    """Return a table whose classes are those of a random tree on the first columns.

    `noise` is the share of rows whose class is changed; another seed is another table.

    Examples
    --------
    >>> from provetree.bench.scaling import made_up_table
    >>> table = made_up_table(100, 5, 2, 0.1)
    >>> table.shape_text, sorted(set(table.y.tolist()))
    ('100 x 5', [0, 1])
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    y = np.zeros(rows, dtype=np.int64)

    def grow(inside: np.ndarray[Any, Any], levels: int, label: int) -> None:
        if levels == 0:
            y[inside] = label
            return
        column = int(rng.integers(0, min(columns, 8)))
        values = X[inside, column]
        left = values <= (np.median(values) if len(values) else 0.0) + 0.2 * rng.normal()
        grow(inside[left], levels - 1, 0)
        grow(inside[~left], levels - 1, 1)

    grow(np.arange(rows), depth, 0)
    changed = rng.random(rows) < noise
    y[changed] = 1 - y[changed]
    y[:2] = 0, 1
    name = f"{rows} x {columns}, depth {depth}, {noise:.0%} noise"
    return BenchTable(name, X, y)


def growth(results: Sequence[dict[str, Any]], axis: str, figure: str) -> float | None:
    """Return the exponent b of the best fit ``figure = a * size ** b``, None with too few points.

    The results are those of one solver, of which fits without a proof are left out. The axis is
    "rows" or "columns", the figure "cpu_seconds" or "megabytes".

    Examples
    --------
    >>> from provetree.bench.scaling import growth
    >>> results = [
    ...     {"rows": n, "cpu_seconds": 1e-4 * n**1.5, "proven": True} for n in (100, 1000, 10_000)
    ... ]
    >>> growth(results, "rows", "cpu_seconds")
    1.5
    """
    least = _SHORTEST if figure == "cpu_seconds" else 1.0
    points = [
        (math.log(r[axis]), math.log(r[figure]))
        for r in results
        if r["proven"] and r[figure] is not None and r[figure] >= least
    ]
    if len({x for x, _ in points}) < 2:
        return None
    x, y = np.array(points).T
    return round(float(np.polyfit(x, y, 1)[0]), 2)


def _cases(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    solvers = words(arguments.solvers)
    among("--solvers", solvers or ("none",), SOLVERS)
    rows, columns = (
        sorted(numbers(text, int, option)) if text != "none" else []
        for option, text in (("--rows", arguments.rows), ("--columns", arguments.columns))
    )
    noises = numbers(arguments.noise, float, "--noise")
    if max(noises) >= 1:
        raise ValueError(f"--noise must be shares below 1. Got {arguments.noise!r} instead.")
    depths = numbers(arguments.depths, int, "--depths")
    sizes = {
        "rows": [(n, arguments.row_columns) for n in rows],
        "columns": [(arguments.column_rows, n) for n in columns],
    }
    for depth, noise, axis, solver in product(depths, noises, sizes, solvers):
        for size in sizes[axis]:
            case = (solver, axis, depth, noise, *size, arguments.limit)
            yield dict(zip(_KEYS, case, strict=True))


def _fit(case: dict[str, Any]) -> dict[str, Any]:
    """Measure one case in a process of its own."""
    failed = {"cpu_seconds": None, "megabytes": None, "errors": None, "proven": False}
    if not SOLVERS[case["solver"]].installed:
        return {**case, **failed, "message": "not installed"}
    command = (sys.executable, "-m", "provetree.bench.scaling")
    answer = ask(command, case, case["limit"], case["limit"] + START_GRACE)
    return {**case, **(answer.value or failed), "message": answer.message}


def _serve(case: dict[str, Any]) -> dict[str, Any]:
    """Fit one case here; peak memory is what the fit took beyond the table itself."""
    table = made_up_table(case["rows"], case["columns"], case["depth"], case["noise"])
    solver = SOLVERS[case["solver"]]
    warm_up(solver)
    before = memory(peak=False) if forget_peak() else None
    begun = time.process_time()
    fit = solver.fit(table, case["depth"], case["limit"])
    return {
        "cpu_seconds": time.process_time() - begun,
        "megabytes": None if before is None else (memory() or 0.0) - before,
        "errors": fit.errors,
        "proven": fit.proven,
    }


def _series(results: Sequence[dict[str, Any]]) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """Return the results by solver, axis, depth and noise."""
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for result in results:
        key = tuple(result[name] for name in ("axis", "depth", "noise", "solver"))
        found.setdefault(key, []).append(result)
    return found


def _report(results: Sequence[dict[str, Any]]) -> str:
    """Return the table of all fits and that of the exponents."""
    rows, exponents = [], []
    for (axis, depth, noise, solver), of_series in _series(results).items():
        for r in of_series:
            proof = "proven" if r["proven"] else r["message"] or "time limit"
            figures = (r[name] for name in _FIGURES)
            rows.append((solver, depth, noise, *figures, proof))
        done = [r[axis] for r in of_series if r["proven"]]
        sizes = f"{min(done)} to {max(done)}" if done else "none"
        powers = [growth(of_series, axis, figure) for figure in ("cpu_seconds", "megabytes")]
        exponents.append((f"{solver}, {axis}", depth, noise, sizes, *powers))
    header = (
        "solver | depth | noise [.0%] | rows | columns | CPU time [time] | MB [.0f] | errors | "
        "proof"
    )
    growing = (
        "solver, axis | depth | noise [.0%] | proven sizes | time ~ n^ [.2f] | memory ~ n^ [.2f]"
    )
    return f"{format_table(header, rows)}\n\n{format_table(growing, exponents)}"


def draw(results: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw time and memory against rows and columns into a file."""
    figure = new_figure("A chart", (10, 7.5))
    axes = figure.subplots(2, 2)
    styles = ("-", "--", ":", "-.")
    colours = {"provetree": ("#0b5d8f", "#58a6d6"), "pycontree": ("#9c3a06", "#e8955c")}
    depths = sorted({r["depth"] for r in results})
    noises = sorted({r["noise"] for r in results})
    for column, axis in enumerate(("rows", "columns")):
        for row, (figures, label) in enumerate(
            (("cpu_seconds", "CPU seconds"), ("megabytes", "MB beyond the table"))
        ):
            ax = axes[row][column]
            for (of_axis, depth, noise, solver), of_series in _series(results).items():
                found = [r for r in of_series if r["proven"] and r[figures] is not None]
                points = [(r[axis], r[figures]) for r in found]
                if of_axis != axis or not points:
                    continue
                power = growth(of_series, axis, figures)
                ax.plot(
                    *zip(*points, strict=True),
                    marker="o",
                    markersize=3,
                    linestyle=styles[depths.index(depth) % len(styles)],
                    color=colours.get(solver, ("#444444", "#999999"))[noises.index(noise) % 2],
                    label=f"{solver}, depth {depth}, {noise:.0%}"
                    + ("" if power is None else f": n^{power:.2f}"),
                )
            ax.set(xscale="log", yscale="log", xlabel=axis, ylabel=label)
            ax.grid(alpha=0.3)
            if ax.lines:
                ax.legend(fontsize=7)
    save_figure(figure, path)


def run(arguments: argparse.Namespace) -> int:
    """Run ``provetree bench scaling``."""
    output: Path | None = arguments.output
    known = {tuple(result[name] for name in _KEYS): result for result in read_results(output)}
    gave_up: set[tuple[Any, ...]] = set()
    results: dict[tuple[Any, ...], dict[str, Any]] = {}
    for case in _cases(arguments):
        key = tuple(case.values())
        of_series = key[:4]
        if of_series in gave_up:
            continue
        result = known.get(key)
        if result is None:
            result = _fit(case)
            took = format_seconds(result["cpu_seconds"])
            state = "proven" if result["proven"] else "not proven"
            print(
                f"{case['solver']}, depth {case['depth']}, {case['noise']:.0%}, "
                f"{case['rows']} x {case['columns']}: {took}, {state}",
                flush=True,
            )
        if not result["proven"]:
            gave_up.add(of_series)
        results[key] = result
        write_results(output, list({**results, **known}.values()))
    print(f"\n{_report(list(results.values()))}")
    if arguments.chart is not None:
        draw(list(results.values()), arguments.chart)
    return 0


if __name__ == "__main__":
    print(json.dumps(_serve(json.load(sys.stdin))), flush=True)
