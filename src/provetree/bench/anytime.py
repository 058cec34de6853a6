"""How good trees get while a proof is out of reach, and what threads bring: ``bench anytime``.

For each table and depth one fit with the longest of the time limits: training errors of CART, of
the tree the search begins with, and of the best tree after each of the times (what it does before
one does not depend on the limit), the proven bound, and the accuracy of the last tree on both
parts.
With ``--jobs``, instead, the seconds of whole proofs with different numbers of threads.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from provetree.bench.arguments import PROOFS, among, numbers, words
from provetree.bench.data import data_folder, load_table, read_manifest, read_split, table_names
from provetree.bench.report import (
    format_row,
    format_table,
    read_results,
    save_figure,
    write_results,
)
from provetree.estimators.optimal_tree import OptimalTreeClassifier
from provetree.export.plot import new_figure
from provetree.report.evidence import TrainingRows

__all__ = ["TABLES", "after", "draw", "measure", "run"]

#: Short names of the tables that are used unless others are named.
TABLES = {
    "rice": "contree-rice",
    "segment": "contree-segment",
    "page": "contree-page",
    "eeg": "contree-eeg",
    "magic": "contree-magic",
    "spambase": "spambase",
    "letter": "letter",
    "adult": "adult",
}


def measure(name: str, depth: int, seconds: float, folder: Path | None = None) -> dict[str, Any]:
    """Fit one table with a time limit and return the figures.

    The first split of the table gives the train and test parts. ``cart``, ``start`` and ``errors``
    are training errors of three trees; ``history`` holds seconds, errors and bound of each moment.
    """
    folder = data_folder() if folder is None else folder
    (X, y), (X_test, y_test) = _parts(name, folder)
    rows, columns = X.shape
    train = TrainingRows.read(X, y)
    cart = train.cart({"max_depth": depth})
    model = OptimalTreeClassifier(max_depth=depth, time_limit=seconds).fit(X, y)
    right = model.predict(X_test) == y_test
    return {
        "table": name,
        "shape": f"{rows} x {columns}",
        "depth": depth,
        "seconds": seconds,
        "cart": int((cart.predict(train.rows.encoded) != train.rows.codes).sum()),
        "start": model.history_[0].cost,
        "errors": model.objective_,
        "bound": model.lower_bound_,
        "status": model.status_,
        "train_accuracy": 1.0 - model.objective_ / rows,
        "test_accuracy": float(right.mean()) if len(right) else None,
        "history": [[moment.seconds, moment.cost, moment.lower_bound] for moment in model.history_],
    }


def _parts(name: str, folder: Path) -> Iterator[tuple[Any, npt.NDArray[np.int64]]]:
    """Yield the train and test rows of the first split; tables with categories are data frames."""
    if "mixed" in read_manifest(folder).get(name, {}).get("suites", ()):
        # Here, because the commands import the benchmarks.
        from provetree.cli.columns import learn_columns, learn_target
        from provetree.cli.tables import read_table

        found = learn_target(read_table(str(folder / f"{name}.csv.gz")), "target", "classification")
        whole, labels = found.rows, found.values
        X: Any = learn_columns(whole, "target").values
        y = np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int64)
    else:
        table = load_table(name, folder=folder)
        X, y = table.X, table.y
    rows = read_split(name, 0, folder)
    for part in ("train", "test"):
        yield X[rows[part]], y[rows[part]]


def after(result: dict[str, Any], seconds: float) -> tuple[int, int, bool]:
    """Return the errors and the bound that a fit had after some time, and whether they were equal.

    Parameters
    ----------
    result : dict
        What :func:`measure` returned.
    seconds : float
        The moment; the first tree counts as there from the beginning.

    Examples
    --------
    >>> from provetree.bench.anytime import after
    >>> fit = {"history": [[0.1, 9, 0], [2.0, 7, 3], [4.0, 7, 7]]}
    >>> after(fit, 1.0), after(fit, 3.0), after(fit, 5.0)
    ((9, 0, False), (7, 3, False), (7, 7, True))
    """
    _, errors, bound = result["history"][0]
    for moment, cost, lower in result["history"]:
        if moment <= seconds:
            errors, bound = cost, lower
    return errors, bound, bound >= errors


def _full_names(asked: Iterable[str], option: str) -> list[str]:
    """Return the names of tables in the data folder, or say which one is not there."""
    names = [TABLES.get(word, word) for word in asked]
    among(option, names, table_names())
    return names


def _measure_all(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    moments = sorted(numbers(arguments.seconds, float, "--seconds"))
    done = {
        (result["table"], result["depth"], result["seconds"]): result
        for result in read_results(arguments.output)
    }
    header = (
        *("table", "train rows x columns", "depth", "CART", "start"),
        *(f"{seconds:g} s" for seconds in moments),
        *(f"bound, {moments[-1]:g} s", "train accuracy [.4f]", "test accuracy [.4f]"),
    )
    tables = _full_names(words(arguments.tables) or TABLES, "--tables")
    depths = numbers(arguments.depths, int, "--depths")
    results, rows = [], []
    for name, depth in product(tables, depths):
        key = (name, depth, moments[-1])
        result = done[key] if key in done else measure(*key)
        done[key] = result
        results.append(result)
        rows.append(_cells(result, moments))
        print("  ".join(format_row(header, rows[-1])), flush=True)
        write_results(arguments.output, list(done.values()))
    print(f"\n{format_table(header, rows)}")
    return results


def _cells(result: dict[str, Any], moments: Sequence[float]) -> list[object]:
    first = [result[name] for name in ("table", "shape", "depth", "cart", "start")]
    last = [result[name] for name in ("bound", "train_accuracy", "test_accuracy")]
    states = [after(result, seconds) for seconds in moments[:-1]]
    trees = [(errors, proven) for errors, _, proven in states]
    trees.append((result["errors"], result["status"] == "optimal"))
    return [*first, *(f"{errors}*" if proven else errors for errors, proven in trees), *last]


def _proofs(text: str) -> list[tuple[str, int]]:
    """Return table and depth of each proof that is asked for."""
    pairs = [word.partition(":") for word in words(text)]
    if not pairs or not all(depth.isdecimal() and int(depth) > 0 for _, _, depth in pairs):
        raise ValueError(
            f"--proofs must be tables and depths such as {PROOFS}. Got {text!r} instead."
        )
    names = _full_names((table for table, _, _ in pairs), "--proofs")
    return [(name, int(depth)) for name, (_, _, depth) in zip(names, pairs, strict=True)]


def _measure_threads(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    threads = numbers(arguments.jobs, int, "--jobs")
    results: list[dict[str, Any]] = []
    for name, depth in _proofs(arguments.proofs):
        table = load_table(name)
        best: dict[int, float] = {}
        for _ in range(arguments.repeat):
            for n_jobs in threads:  # in turn, so that noise hits all of them
                model = OptimalTreeClassifier(max_depth=depth, n_jobs=n_jobs)
                begun = time.perf_counter()
                model.fit(table.X, table.y)
                took = time.perf_counter() - begun
                best[n_jobs] = min(took, best.get(n_jobs, took))
        results += [
            {
                "table": table.name,
                "depth": depth,
                "errors": model.objective_,
                "threads": n_jobs,
                "seconds": best[n_jobs],
                "ratio": best[threads[0]] / best[n_jobs],
            }
            for n_jobs in threads
        ]
    header = "table | depth | errors | threads | time [time] | ratio [.2f]"
    print(format_table(header, [list(result.values()) for result in results]))
    return results


def draw(results: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw how the best tree and the bound of each fit went, side by side, into a file."""
    figure = new_figure("A chart", (3.6 * len(results), 3.2))
    axes = figure.subplots(1, len(results), squeeze=False)[0]
    for ax, result in zip(axes, results, strict=True):
        seconds, best, bound = zip(*result["history"], strict=True)
        end = seconds[-1] if result["status"] == "optimal" else result["seconds"]
        for values, name in ((best, "best tree"), (bound, "proven bound")):
            ax.step((*seconds, end), (*values, values[-1]), where="post", label=name)
        ax.axhline(result["cart"], color="#999999", linestyle=":", label="CART")
        ax.set(
            title=f"{result['table']}, depth {result['depth']}",
            xlabel="seconds",
            ylabel="training errors",
            ylim=(0, None),
        )
        ax.legend(fontsize=7)
    save_figure(figure, path)


def run(arguments: argparse.Namespace) -> int:
    """Run ``provetree bench anytime``."""
    if arguments.jobs and arguments.chart is not None:
        raise ValueError("--chart draws fits over time, and --jobs makes none of them.")
    if arguments.jobs:
        write_results(arguments.output, _measure_threads(arguments))
        return 0
    results = _measure_all(arguments)
    if arguments.chart is not None:
        draw(results, arguments.chart)
    return 0
