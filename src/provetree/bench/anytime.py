"""How good trees get while a proof is out of reach, and what threads bring: ``bench anytime``.

For each table, depth and number of seconds: training errors of CART, of the tree the search begins
with, and of the tree it ends with, the proven bound, and the accuracy on the test part. With
``--threads``, instead, the seconds of whole proofs with different numbers of threads.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from provetree.bench.data import data_folder, load_table
from provetree.bench.report import format_seconds, format_table, machine
from provetree.estimators.optimal_tree import OptimalTreeClassifier
from provetree.export.plot import new_figure

__all__ = ["TABLES", "add_arguments", "draw", "measure", "numbers", "run"]

#: Short names of the tables that are used unless others are named.
TABLES = {
    "rice": "contree-rice",
    "segment": "contree-segment",
    "page": "contree-page",
    "eeg": "contree-eeg",
    "magic": "contree-magic",
    "spambase": "spambase",
    "letter": "letter",
}
#: Whole proofs that threads are measured on: table and depth.
PROOFS = "magic:3,eeg:3,rice:4"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``provetree bench anytime`` to a parser."""
    parser.add_argument(
        "--tables", default=",".join(TABLES), metavar="A,B", help="tables (default: all seven)"
    )
    parser.add_argument("--depths", default="5", metavar="D,D", help="depths (default: 5)")
    parser.add_argument(
        "--seconds", default="1,5,15", metavar="S,S", help="time limits (default: 1,5,15)"
    )
    parser.add_argument(
        "--threads",
        default="",
        metavar="N,N",
        help="measure whole proofs with these numbers of threads instead",
    )
    parser.add_argument(
        "--proofs", default=PROOFS, metavar="T:D,T:D", help=f"the proofs (default: {PROOFS})"
    )
    parser.add_argument("--repeat", type=int, default=3, help="runs of each proof (default: 3)")
    parser.add_argument("--output", type=Path, help="also write the figures to this JSON file")
    parser.add_argument(
        "--chart", type=Path, help="draw best and bound over time into this file (extra: plot)"
    )


def numbers(words: str, kind: type, option: str) -> list[Any]:
    """Return the numbers of a comma-separated option.

    Examples
    --------
    >>> from provetree.bench.anytime import numbers
    >>> numbers("1, 2.5", float, "--seconds")
    [1.0, 2.5]
    """
    try:
        found = [kind(word) for word in words.split(",") if word.strip()]
    except ValueError:
        found = []
    if not found or min(found) <= 0:
        raise ValueError(f"{option} must be a list of numbers above 0. Got {words!r} instead.")
    return found


def measure(name: str, depth: int, seconds: float, folder: Path | None = None) -> dict[str, Any]:
    """Fit one table for a while and return what came out.

    Parameters
    ----------
    name : str
        The table; its first split gives the train and test parts.
    depth : int
        The depth.
    seconds : float
        The time limit.
    folder : pathlib.Path, optional
        Data folder; found by `data_folder` when not given.

    Returns
    -------
    dict
        ``cart``, ``start`` and ``errors`` (training errors of the three trees), ``bound``,
        ``status``, ``test_accuracy``, and ``history``: seconds, errors and bound.
    """
    folder = data_folder() if folder is None else folder
    train, whole = load_table(name, "train", folder), load_table(name, folder=folder)
    splits = json.loads((folder / f"{name}.splits.json").read_text(encoding="utf-8"))["splits"]
    test = np.asarray(splits[0]["test"], dtype=np.int64)
    cart = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(train.X, train.y)
    model = OptimalTreeClassifier(max_depth=depth, time_limit=seconds).fit(train.X, train.y)
    right = model.predict(whole.X[test]) == whole.y[test]
    return {
        "table": name,
        "shape": train.shape_text,
        "depth": depth,
        "seconds": seconds,
        "cart": int((cart.predict(train.X) != train.y).sum()),
        "start": model.history_[0].cost,
        "errors": model.objective_,
        "bound": model.lower_bound_,
        "status": model.status_,
        "test_accuracy": float(right.mean()) if len(test) else None,
        "history": [[moment.seconds, moment.cost, moment.lower_bound] for moment in model.history_],
    }


def _full_name(word: str) -> str:
    return TABLES.get(word.strip(), word.strip())


def _measure_all(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    results = []
    for word in arguments.tables.split(","):
        for depth in numbers(arguments.depths, int, "--depths"):
            for seconds in numbers(arguments.seconds, float, "--seconds"):
                results.append(measure(_full_name(word), depth, seconds))
                print("  ".join(_cells(results[-1])), flush=True)
    header = (
        "table",
        "train rows x columns",
        "depth",
        "seconds",
        "CART",
        "start",
        "errors",
        "bound",
        "test accuracy",
    )
    print(f"\n{format_table(header, [_cells(result) for result in results])}")
    return results


def _cells(result: dict[str, Any]) -> tuple[str, ...]:
    accuracy = result["test_accuracy"]
    return (
        result["table"],
        result["shape"],
        str(result["depth"]),
        f"{result['seconds']:g}",
        str(result["cart"]),
        str(result["start"]),
        str(result["errors"]) + ("*" if result["status"] == "optimal" else ""),
        str(result["bound"]),
        "-" if accuracy is None else f"{accuracy:.4f}",
    )


def _measure_threads(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    threads = numbers(arguments.threads, int, "--threads")
    results: list[dict[str, Any]] = []
    for proof in arguments.proofs.split(","):
        word, _, depth = proof.partition(":")
        table = load_table(_full_name(word))
        best: dict[int, float] = {}
        for _ in range(arguments.repeat):
            for n_jobs in threads:  # in turn, so that noise hits all of them
                model = OptimalTreeClassifier(max_depth=int(depth), n_jobs=n_jobs)
                begun = time.perf_counter()
                model.fit(table.X, table.y)
                took = time.perf_counter() - begun
                best[n_jobs] = min(took, best.get(n_jobs, took))
        for n_jobs in threads:
            results.append(
                {
                    "table": table.name,
                    "depth": int(depth),
                    "threads": n_jobs,
                    "seconds": best[n_jobs],
                    "ratio": best[threads[0]] / best[n_jobs],
                    "errors": model.objective_,
                }
            )
    rows: Sequence[Sequence[str]] = [
        (
            result["table"],
            str(result["depth"]),
            str(result["errors"]),
            str(result["threads"]),
            format_seconds(result["seconds"]),
            f"{result['ratio']:.2f}",
        )
        for result in results
    ]
    print(format_table(("table", "depth", "errors", "threads", "time", "ratio"), rows))
    return results


def draw(results: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw how the best tree and the bound of each fit went, side by side, into a file.

    Parameters
    ----------
    results : sequence of dict
        What :func:`measure` returned.
    path : pathlib.Path
        The picture; its ending says of which kind.
    """
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
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def run(arguments: argparse.Namespace) -> int:
    """Run ``provetree bench anytime``."""
    if arguments.threads and arguments.chart is not None:
        raise ValueError("--chart draws fits over time, and --threads makes none of them.")
    results = _measure_threads(arguments) if arguments.threads else _measure_all(arguments)
    if arguments.chart is not None:
        draw(results, arguments.chart)
    if arguments.output is not None:
        text = json.dumps({"machine": machine(), "results": results}, indent=1)
        arguments.output.write_text(text + "\n", encoding="utf-8")
    return 0
