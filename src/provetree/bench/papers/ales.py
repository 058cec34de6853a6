"""Tables 3 to 7 and Figure 8 of Ales, Huré and Lambert (2024) on data-partitions.

Published numbers stand beside ours. TAO, GUIDE and C5.0 are as published; CART is run here, and (P)
is solved by the exact search. Every cell is one fit on one split, kept as soon as it is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from provetree.bench.data import BenchTable, load_table, read_split
from provetree.bench.paper import SPLITS, PaperOptions, pass_on_interrupt, timed
from provetree.bench.papers import _ales_published as published
from provetree.bench.report import format_seconds, save_figure, titled_table
from provetree.estimators.optimal_tree import OptimalTreeClassifier
from provetree.estimators.partition_tree import PartitionTreeClassifier
from provetree.export.plot import new_figure
from provetree.partitions.closest_representatives import closest_representatives_merge
from provetree.partitions.greedy import greedy_partition
from provetree.partitions.improved_greedy import improved_greedy_partition
from provetree.partitions.partition import DataPartition
from provetree.selection.partition_size import choose_rho

__all__ = ["run"]

Cell: TypeAlias = Mapping[str, Any]
Int: TypeAlias = NDArray[np.int64]

_PARTITIONS = ("gp", "igp", "crm")
_PAPER_RHO = 0.25
#: More clusters than this: exclusion is estimated from so many of them.
_MOST_MEASURED = 300
#: What stands for (P) among the methods.
_P = "(P)"
_COMBINED = tuple(f"{p}+{r}" for r in ("hiia", "eiia") for p in _PARTITIONS)
_PROFILE = ("igp+eiia", "igp+eiia\\pp", "igp+hiia", "igp+hiia\\pp", _P)
_FACTORS = (1, 2, 5, 10, 100, 1000, 10000)


def run(options: PaperOptions) -> int:
    """Print the tables that were asked for."""
    parts: tuple[tuple[str, Callable[[PaperOptions], str]], ...] = (
        ("3", _table_3),
        ("4", _table_4),
        ("5", lambda o: _out_of_sample(o, 3, published.TABLE_5)),
        ("6", lambda o: _out_of_sample(o, 4, published.TABLE_6)),
        ("7", _table_7),
        ("fig8", lambda o: _figure_8(o, "search")),
        ("fig8-milp", lambda o: _figure_8(o, "milp")),
        ("speed", _speed),
    )
    tables = [getattr(published, f"TABLE_{number}") for number in (3, 4, 5, 6, 7)]
    options.check(
        datasets=dict.fromkeys(dataset for table in tables for dataset in table),
        tables=[name for name, _ in parts],
        depths=dict.fromkeys(depth for depth, _ in published.PAIRS),
        splits=SPLITS,
    )
    for name, part in parts:
        # The mixed-integer models need hours: they are run when they are asked for.
        slow = name in ("fig8-milp", "speed")
        if name in options.tables or (not options.tables and not slow):
            print(part(options), end="\n\n", flush=True)
    return 0


# -- tables --------------------------------------------------------------------------------------


def _table_3(options: PaperOptions) -> str:
    rows = []
    for dataset in options.wanted_datasets(published.TABLE_3):
        for k, method in enumerate(_PARTITIONS):
            cells = [_measured(options, dataset, part, method) for part in options.parts]
            row = [dataset, method.upper()]
            for measure in ("reduction", "exclusion", "consistency"):
                theirs = published.TABLE_3[dataset][measure][k]
                ours = float(np.mean([cell[measure] for cell in cells]))
                text = f"{ours:.2f}"
                error = float(np.sqrt(np.mean([cell["error"] ** 2 for cell in cells])))
                if measure == "exclusion" and error:
                    text += f" +- {error / np.sqrt(len(cells)):.3f}"
                row += ["-" if theirs is None else f"{theirs:.2f}", text]
            seconds = float(np.mean([cell["seconds"] for cell in cells]))
            rows.append((*row, format_seconds(seconds)))
    header = "table | by | R paper | R | E paper | E | C paper | C | time"
    return titled_table(f"Table 3: measures of partitions, {_splits_words(options)}", header, rows)


def _table_4(options: PaperOptions) -> str:
    rows = []
    for dataset in options.wanted_datasets(published.TABLE_4):
        theirs = published.TABLE_4[dataset]
        for method in (*_COMBINED, _P):
            cells = [
                _fitted(options, dataset, part, method, pair, _PAPER_RHO)
                for pair in _pairs(options)
                for part in options.parts
            ]
            if not cells:
                continue
            ours = 100 * float(np.mean([cell["train"] for cell in cells]))
            proven = sum(cell["status"] == "optimal" for cell in cells)
            seconds = float(np.mean([cell["seconds"] for cell in cells]))
            name = method if method == _P else method.upper()
            paper = theirs.get(method)
            rows.append(
                (dataset, name, "-" if paper is None else f"{paper:.1f}", f"{ours:.1f}",
                 f"{proven} of {len(cells)}", format_seconds(seconds))
            )  # fmt: skip
    header = "table | method | paper | ours | proven | mean time"
    title = f"Table 4: in-sample accuracy, {len(_pairs(options))} pairs, {_splits_words(options)}"
    return titled_table(title, header, rows)


def _out_of_sample(
    options: PaperOptions, depth: int, theirs: Mapping[str, Sequence[float | None]]
) -> str:
    methods = (*_COMBINED, _P)
    rows = []
    ours_all: list[list[float]] = []
    for dataset in options.wanted_datasets(theirs):
        ours = [100 * _tuned(options, dataset, method, depth)["test"] for method in methods]
        ours_all.append(ours)
        pairs = zip(theirs[dataset], ours, strict=True)
        rows.append(
            (dataset, *(f"{'-' if t is None else format(t, '.2f')} / {o:.2f}" for t, o in pairs))
        )
    if ours_all:
        table = np.array(ours_all)
        # The paper's "average RD": in percent of the accuracy of (P).
        relative = 100 * ((table - table[:, -1:]) / table[:, -1:]).mean(axis=0)
        of_paper = published.RELATIVE[depth]
        both = zip(of_paper, relative[:-1].tolist(), strict=True)
        rows.append(("average RD to (P)", *(f"{t:+.2f} / {o:+.2f}" for t, o in both), ""))
    header = ("paper / ours", *(m if m == _P else m.upper() for m in methods))
    number = {3: 5, 4: 6}[depth]
    title = f"Table {number}: out-of-sample accuracy up to depth {depth}, {_splits_words(options)}"
    return titled_table(title, header, rows)


def _table_7(options: PaperOptions) -> str:
    rows = []
    for dataset in options.wanted_datasets(published.TABLE_7):
        tao, guide, cart, c50, gp, igp, p = published.TABLE_7[dataset]
        ours = {
            "cart": np.mean([_cart(options, dataset, part)["test"] for part in options.parts]),
            **{
                method: _tuned(options, dataset, method, 4)["test"]
                for method in ("gp+hiia", "igp+hiia", _P)
            },
        }
        both = (
            f"{'-' if paper is None else format(paper, '.1f')} / {100 * float(ours[name]):.1f}"
            for name, paper in (("cart", cart), ("gp+hiia", gp), ("igp+hiia", igp), (_P, p))
        )
        alone = ("-" if value is None else f"{value:.1f}" for value in (tao, guide, c50))
        rows.append((dataset, *alone, *both))
    header = ("table", "TAO paper", "GUIDE paper", "C5.0 paper", "CART", "GP+HIIA", "IGP+HIIA", _P)
    title = f"Table 7: out-of-sample accuracy, paper / ours, {_splits_words(options)}"
    return titled_table(title, header, rows)


def _figure_8(options: PaperOptions, inner: str) -> str:
    texts = []
    for dataset in options.wanted_datasets(("iris", "wine")):
        cells = {
            method: [
                _fitted(options, dataset, part, method, pair, _PAPER_RHO, inner)
                for pair in _pairs(options)
                for part in options.parts
            ]
            for method in _PROFILE
        }
        seconds = {
            method: np.array(
                [c["seconds"] if c["status"] != "time_limit" else np.inf for c in of_method]
            )
            for method, of_method in cells.items()
        }
        shares = _profile(seconds)
        rows = [
            (method, *(f"{100 * share:.0f} %" for share in shares[method])) for method in _PROFILE
        ]
        title = (
            f"Figure 8, {dataset}, inner='{inner}', limit {options.time_limit:g} s: instances "
            f"solved within a factor of the fastest ({len(seconds[_P])} instances)"
        )
        header = ("method", *(f"x {factor}" for factor in _FACTORS))
        texts.append(titled_table(title, header, rows))
        if options.figures is not None:
            _draw_profile(options, dataset, inner, seconds)
    return "\n\n".join(texts)


def _speed(options: PaperOptions) -> str:
    """IGP+HIIA by search and by mixed-integer models, in one run."""
    rows = []
    for dataset in options.wanted_datasets(("iris", "wine")):
        pairs: list[tuple[Cell, Cell]] = []
        for pair in _pairs(options):
            for part in options.parts:
                fast, slow = (
                    _fitted(options, dataset, part, "igp+hiia", pair, _PAPER_RHO, inner)
                    for inner in ("search", "milp")
                )
                pairs.append((fast, slow))
                rows.append((dataset, str(pair), str(part + 1), *_compared([(fast, slow)])))
        if pairs:
            rows.append((dataset, "all", "", *_compared(pairs)))
    header = (
        "table | (d, g) | split | search acc. | MILP acc. | search | MILP | factor | CPU factor"
    )
    title = f"IGP+HIIA: exact search and mixed-integer models, limit {options.time_limit:g} s"
    return titled_table(title, header, rows)


def _compared(pairs: Sequence[tuple[Cell, Cell]]) -> tuple[str, ...]:
    """Return accuracies, times and factors of pairs of cells: search, mixed-integer models."""
    cut = any(slow["status"] == "time_limit" for _, slow in pairs)
    accuracies = (100 * float(np.mean([pair[k]["train"] for pair in pairs])) for k in (0, 1))
    totals = {
        clock: [sum(float(pair[k][clock]) for pair in pairs) for k in (0, 1)]
        for clock in ("seconds", "cpu")
    }
    fast, slow = totals["seconds"]
    return (
        *(f"{accuracy:.1f}" for accuracy in accuracies),
        format_seconds(fast),
        format_seconds(slow) + ("*" if cut else ""),
        *(f"{'>' if cut else ''}{slow / fast:.0f} x" for fast, slow in totals.values()),
    )


# -- cells ---------------------------------------------------------------------------------------


def _measured(options: PaperOptions, dataset: str, part: int, method: str) -> Cell:
    def compute() -> dict[str, Any]:
        made, seconds, _ = timed(lambda: _partition(dataset, part, method, _PAPER_RHO))
        found = made.measure_exclusion(_MOST_MEASURED, random_state=part)
        return {
            "reduction": made.reduction,
            "exclusion": found.value,
            "error": found.standard_error,
            "consistency": made.consistency,
            "homogeneity": made.homogeneity,
            "seconds": seconds,
        }

    _partition.cache_clear()  # the time to make it is part of the cell
    return _cell(options, f"measures/{dataset}/{part}/{method}", compute)


def _fitted(
    options: PaperOptions,
    dataset: str,
    part: int,
    method: str,
    pair: tuple[int, int],
    rho: float,
    inner: str = "search",
) -> Cell:
    """Fit one method on one split for one (delta, gamma)."""

    def compute() -> dict[str, Any]:
        table, rows = _rows(dataset, part)
        clf = _estimator(dataset, part, method, pair, rho, inner, options.time_limit)
        X, y = table.X[rows["train"]], table.y[rows["train"]]
        _, seconds, cpu = timed(lambda: clf.fit(X, y))
        pass_on_interrupt(clf.status_)
        scores = {
            name: float(np.mean(clf.predict(table.X[some]) == table.y[some]))
            for name, some in rows.items()
        }
        return {
            **scores,
            "status": clf.status_,
            "errors": float(clf.objective_),
            "bound": float(clf.lower_bound_),
            "splits": int(clf.tree_.n_splits),
            "depth": int(clf.tree_.depth),
            "seconds": seconds,
            "cpu": cpu,
        }

    share = f"/rho={rho:g}" if method.startswith("gp") else ""
    key = f"fit/{dataset}/{part}/{method}{share}/{pair[0]},{pair[1]}/{inner}"
    return _cell(options, f"{key}/limit={options.time_limit:g}", compute)


def _estimator(
    dataset: str,
    part: int,
    method: str,
    pair: tuple[int, int],
    rho: float,
    inner: str,
    time_limit: float,
) -> Any:
    depth, gamma = pair
    if method == _P:
        if inner == "milp":
            from provetree.estimators.mip_tree import MIPTreeClassifier

            return MIPTreeClassifier(
                formulation="p", max_depth=depth, max_splits=gamma, time_limit=time_limit,
                scaling="rank",
            )  # fmt: skip
        return OptimalTreeClassifier(
            max_depth=depth, max_leaf_nodes=gamma + 1, time_limit=time_limit
        )
    how, _, plain = method.partition("\\")
    made_by, refined_by = how.split("+")
    return PartitionTreeClassifier(
        _partition(dataset, part, made_by, rho),
        refinement="exact" if refined_by == "eiia" else "heuristic",
        post_process=not plain,
        inner=inner,
        max_depth=depth,
        max_splits=gamma,
        time_limit=time_limit,
    )


def _tuned(options: PaperOptions, dataset: str, method: str, depth: int) -> Cell:
    """Return the mean test accuracy of the trees that did best on the validation rows."""
    found = []
    for part in options.parts:
        rho = _PAPER_RHO
        if method.startswith("gp"):
            rho = _rho(options, dataset, part, method)
        cells = [
            _fitted(options, dataset, part, method, pair, rho)
            for pair in published.PAIRS
            if pair[0] <= depth
        ]
        found.append(max(cells, key=lambda cell: cell["valid"]))  # the first of the best
    return {"test": float(np.mean([cell["test"] for cell in found]))}


def _rho(options: PaperOptions, dataset: str, part: int, method: str) -> float:
    refinement = "exact" if method.endswith("eiia") else "heuristic"

    def compute() -> float:
        table, rows = _rows(dataset, part)
        X, y = table.X[rows["train"]], table.y[rows["train"]]
        return choose_rho(X, y, refinement=refinement, time_limit=options.time_limit)

    key = f"rho/{dataset}/{part}/{refinement}/limit={options.time_limit:g}"
    value: float = options.cells.get(key, compute)
    return value


def _cart(options: PaperOptions, dataset: str, part: int) -> Cell:
    """Grow CART fully and prune it by the validation rows."""

    def compute() -> dict[str, Any]:
        from sklearn.tree import DecisionTreeClassifier

        table, rows = _rows(dataset, part)
        X, y = table.X[rows["train"]], table.y[rows["train"]]
        path = DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(X, y)
        best: tuple[float, float] | None = None
        for alpha in np.unique(np.maximum(path.ccp_alphas, 0.0))[::-1]:
            tree = DecisionTreeClassifier(random_state=0, ccp_alpha=float(alpha)).fit(X, y)
            valid = tree.score(table.X[rows["valid"]], table.y[rows["valid"]])
            if best is None or valid > best[0]:
                best = (valid, tree.score(table.X[rows["test"]], table.y[rows["test"]]))
        assert best is not None
        return {"valid": float(best[0]), "test": float(best[1])}

    return _cell(options, f"cart/{dataset}/{part}", compute)


def _cell(options: PaperOptions, key: str, compute: Callable[[], Any]) -> Cell:
    cell: Cell = options.cell(key, compute, _figures)
    return cell


def _figures(cell: Cell) -> str:
    return ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in cell.items()
    )


# -- rows ----------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def _rows(dataset: str, part: int) -> tuple[BenchTable, dict[str, Int]]:
    return load_table(dataset), read_split(dataset, part)


@lru_cache(maxsize=8)
def _partition(dataset: str, part: int, method: str, rho: float) -> DataPartition:
    table, rows = _rows(dataset, part)
    X, y = table.X[rows["train"]], table.y[rows["train"]]
    if method == "gp":
        return greedy_partition(X, y, rho)
    return (improved_greedy_partition if method == "igp" else closest_representatives_merge)(X, y)


def _pairs(options: PaperOptions) -> list[tuple[int, int]]:
    return [pair for pair in published.PAIRS if options.wants_depth(pair[0])]


# -- words and pictures --------------------------------------------------------------------------


def _profile(seconds: Mapping[str, NDArray[np.float64]]) -> dict[str, list[float]]:
    """Return the share of instances that each method solves within factors of the fastest."""
    fastest = np.min(list(seconds.values()), axis=0)
    with np.errstate(invalid="ignore"):
        return {
            method: [
                float(np.mean(np.isfinite(of_method) & (of_method <= factor * fastest)))
                for factor in _FACTORS
            ]
            for method, of_method in seconds.items()
        }


def _draw_profile(
    options: PaperOptions, dataset: str, inner: str, seconds: Mapping[str, NDArray[np.float64]]
) -> None:
    assert options.figures is not None
    fastest = np.min(list(seconds.values()), axis=0)
    figure = new_figure("Drawing figures", (6.5, 4.0))
    ax = figure.subplots()
    for method, of_method in seconds.items():
        solved = np.isfinite(of_method)
        factors = np.sort(of_method[solved] / fastest[solved])
        shares = np.arange(1, len(factors) + 1) / len(of_method)
        ax.step(np.append(factors, 1e5), np.append(shares, shares[-1:]), where="post", label=method)
    ax.set_xscale("log")
    ax.set_xlim(1, 1e5)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("factor of the fastest time")
    ax.set_ylabel("share of instances")
    ax.set_title(f"{dataset}, inner='{inner}'")
    ax.legend(frameon=False)
    save_figure(figure, options.figures / f"ales-figure-8-{dataset}-{inner}.png")


def _splits_words(options: PaperOptions) -> str:
    count = len(options.parts)
    return f"{count} split{'s' if count > 1 else ''}, limit {options.time_limit:g} s per fit"
