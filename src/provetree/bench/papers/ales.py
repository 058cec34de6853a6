"""Tables 3 to 7 and Figure 8 of Ales, Huré and Lambert (2024) on data-partitions.

Published numbers stand beside ours. TAO, GUIDE and C5.0 are as published; CART is run here, and (P)
is solved by the exact search. Every cell is one fit on one split, kept as soon as it is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from provetree.bench.data import load_split
from provetree.bench.paper import (
    SPLITS,
    PaperOptions,
    figures,
    mean,
    pass_on_interrupt,
    published,
    timed,
)
from provetree.bench.report import format_cell, format_seconds, save_figure, titled_table
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

#: Section 5.1: the limits on depth and splits (delta, gamma) that averages are over.
PAIRS = ((2, 2), (2, 3), (3, 3), (3, 5), (3, 7), (4, 4), (4, 7), (4, 10))
#: Published accuracies in percent.
TABLE_4, TABLE_5, TABLE_6, TABLE_7, RELATIVE = (
    {name: figures(cells[0]) for name, cells in published("ales", table).items()}
    for table in ("4", "5", "6", "7", "relative")
)

_PARTITIONS = ("gp", "igp", "crm")
_PAPER_RHO = 0.25
#: More clusters than this: exclusion is estimated from so many of them.
_MOST_MEASURED = 300
#: What stands for (P) among the methods.
_P = "(P)"
_METHODS = (*(f"{p}+{r}" for r in ("hiia", "eiia") for p in _PARTITIONS), _P)
#: With their names in tables.
_NAMES = {method: method if method == _P else method.upper() for method in _METHODS}
_PROFILE = ("igp+eiia", "igp+eiia\\pp", "igp+hiia", "igp+hiia\\pp", _P)
_FACTORS = (1, 2, 5, 10, 100, 1000, 10000)


def run(options: PaperOptions) -> int:
    """Print the tables that were asked for."""
    parts: dict[str, Callable[[PaperOptions], str]] = {
        "3": _table_3,
        "4": _table_4,
        "5": lambda o: _out_of_sample(o, "5", 3, TABLE_5),
        "6": lambda o: _out_of_sample(o, "6", 4, TABLE_6),
        "7": _table_7,
        "fig8": lambda o: _figure_8(o, "search"),
        "fig8-milp": lambda o: _figure_8(o, "milp"),
        "speed": _speed,
    }
    options.check(
        datasets=dict.fromkeys((*TABLE_4, *TABLE_5, *TABLE_6, *TABLE_7)),
        tables=parts,
        depths=dict.fromkeys(depth for depth, _ in PAIRS),
        splits=SPLITS,
    )
    for name, part in parts.items():
        # The mixed-integer models need hours: they are run when they are asked for.
        slow = name in ("fig8-milp", "speed")
        if name in options.tables or (not options.tables and not slow):
            print(part(options), end="\n\n", flush=True)
    return 0


# -- tables --------------------------------------------------------------------------------------


def _table_3(options: PaperOptions) -> str:
    rows = []
    known = published("ales", "3")
    for dataset in options.wanted_datasets(known):
        for k, method in enumerate(_PARTITIONS):
            cells = [_measured(options, dataset, part, method) for part in options.parts]
            r, e, c = (figures(cell)[k] for cell in known[dataset])
            excluded = f"{mean(cells, 'exclusion'):.2f}"
            error = float(np.sqrt(np.mean([cell["error"] ** 2 for cell in cells])))
            if error:
                excluded += f" +- {error / np.sqrt(len(cells)):.3f}"
            ours = [mean(cells, field) for field in ("reduction", "consistency", "seconds")]
            row = (r, ours[0], e, excluded, c, *ours[1:])
            rows.append((dataset, method.upper(), *row))
    header = (
        "table | by | R paper [.2f] | R [.2f] | E paper [.2f] | E | C paper [.2f] | C [.2f] | "
        "time [time]"
    )
    return titled_table(f"Table 3: measures of partitions, {_splits_words(options)}", header, rows)


def _table_4(options: PaperOptions) -> str:
    rows = []
    for dataset in options.wanted_datasets(TABLE_4):
        for paper, method in zip(TABLE_4[dataset], _METHODS, strict=True):
            cells = _of_pairs(options, dataset, method)
            if cells:
                ours, seconds = mean(cells, "train"), mean(cells, "seconds")
                proven = sum(cell["status"] == "optimal" for cell in cells)
                of_all = f"{proven} of {len(cells)}"
                rows.append((dataset, _NAMES[method], paper, _percent(ours), of_all, seconds))
    header = "table | method | paper [.1f] | ours [.1f] | proven | mean time [time]"
    title = f"Table 4: in-sample accuracy, {len(_pairs(options))} pairs, {_splits_words(options)}"
    return titled_table(title, header, rows)


def _out_of_sample(
    options: PaperOptions, number: str, depth: int, theirs: Mapping[str, Sequence[float | None]]
) -> str:
    rows = []
    ours_all: list[list[float]] = []
    for dataset in options.wanted_datasets(theirs):
        ours = [100 * _tuned(options, dataset, method, depth) for method in _METHODS]
        ours_all.append(ours)
        rows.append((dataset, *map(_beside, theirs[dataset], ours)))
    if ours_all:
        table = np.array(ours_all)
        # The paper's "average RD": in percent of the accuracy of (P).
        relative = 100 * ((table - table[:, -1:]) / table[:, -1:]).mean(axis=0)
        both = zip(RELATIVE[str(depth)], relative[:-1].tolist(), strict=True)
        rows.append(("average RD to (P)", *(f"{t:+.2f} / {o:+.2f}" for t, o in both), ""))
    title = f"Table {number}: out-of-sample accuracy up to depth {depth}, {_splits_words(options)}"
    return titled_table(title, ("paper / ours", *_NAMES.values()), rows)


def _table_7(options: PaperOptions) -> str:
    rows = []
    for dataset in options.wanted_datasets(TABLE_7):
        tao, guide, cart, c50, *theirs = TABLE_7[dataset]
        ours = [_percent(mean([_cart(options, dataset, part) for part in options.parts], "test"))]
        for method in ("gp+hiia", "igp+hiia", _P):
            ours.append(100 * _tuned(options, dataset, method, 4))
        both = (_beside(*pair, 1) for pair in zip((cart, *theirs), ours, strict=True))
        rows.append((dataset, tao, guide, c50, *both))
    header = (
        "table | TAO paper [.1f] | GUIDE paper [.1f] | C5.0 paper [.1f] | CART | GP+HIIA | "
        f"IGP+HIIA | {_P}"
    )
    title = f"Table 7: out-of-sample accuracy, paper / ours, {_splits_words(options)}"
    return titled_table(title, header, rows)


def _figure_8(options: PaperOptions, inner: str) -> str:
    texts = []
    for dataset in options.wanted_datasets(("iris", "wine")):
        seconds = {
            method: np.array(
                [
                    cell["seconds"] if cell["status"] != "time_limit" else np.inf
                    for cell in _of_pairs(options, dataset, method, inner)
                ]
            )
            for method in _PROFILE
        }
        rows = [
            (method, *(f"{100 * share:.0f} %" for share in shares))
            for method, shares in _profile(seconds).items()
        ]
        title = (
            f"Figure 8, {dataset}, inner='{inner}', limit {options.time_limit:g} s: instances "
            f"solved within a factor of the fastest ({len(seconds[_P])} instances)"
        )
        header = ("method", *(f"x {factor}" for factor in _FACTORS))
        texts.append(titled_table(title, header, rows))
        if options.figures is not None:
            path = options.figures / f"ales-figure-8-{dataset}-{inner}.png"
            _draw_profile(f"{dataset}, inner='{inner}'", seconds, path)
    return "\n\n".join(texts)


def _speed(options: PaperOptions) -> str:
    """IGP+HIIA by search and by mixed-integer models, in one run."""
    rows: list[tuple[str, ...]] = []
    for dataset in options.wanted_datasets(("iris", "wine")):
        fast, slow = (
            _of_pairs(options, dataset, "igp+hiia", inner) for inner in ("search", "milp")
        )
        both = list(zip(fast, slow, strict=True))
        for (pair, part), of_one in zip(product(_pairs(options), options.parts), both, strict=True):
            rows.append((dataset, str(pair), str(part + 1), *_compared([of_one])))
        if both:
            rows.append((dataset, "all", "", *_compared(both)))
    header = (
        "table | (d, g) | split | search acc. | MILP acc. | search | MILP | factor | CPU factor"
    )
    title = f"IGP+HIIA: exact search and mixed-integer models, limit {options.time_limit:g} s"
    return titled_table(title, header, rows)


def _compared(pairs: Sequence[tuple[Cell, Cell]]) -> tuple[str, ...]:
    """Return accuracies, times and factors of pairs of cells: search, mixed-integer models."""
    cut = any(slow["status"] == "time_limit" for _, slow in pairs)
    totals = {
        clock: [sum(float(cell[clock]) for cell in cells) for cells in zip(*pairs, strict=True)]
        for clock in ("train", "seconds", "cpu")
    }
    accuracies = (f"{100 * total / len(pairs):.1f}" for total in totals.pop("train"))
    fast, slow = totals["seconds"]
    return (
        *accuracies,
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


class _Fit(NamedTuple):
    """One fit: a method on one split for one (delta, gamma)."""

    dataset: str
    part: int
    method: str
    pair: tuple[int, int]
    inner: str = "search"
    rho: float = _PAPER_RHO

    def estimator(self, time_limit: float) -> Any:
        """Return the estimator with its limits."""
        limits: dict[str, Any] = dict(zip(("max_depth", "max_splits"), self.pair, strict=True))
        limits["time_limit"] = time_limit
        if self.method == _P and self.inner == "milp":
            from provetree.estimators.mip_tree import MIPTreeClassifier

            return MIPTreeClassifier(formulation="p", scaling="rank", **limits)
        if self.method == _P:
            limits["max_leaf_nodes"] = limits.pop("max_splits") + 1
            return OptimalTreeClassifier(**limits)
        how, _, plain = self.method.partition("\\")
        made_by, refined_by = how.split("+")
        return PartitionTreeClassifier(
            _partition(self.dataset, self.part, made_by, self.rho),
            refinement="exact" if refined_by == "eiia" else "heuristic",
            post_process=not plain,
            inner=self.inner,
            **limits,
        )


def _of_pairs(
    options: PaperOptions, dataset: str, method: str, inner: str = "search"
) -> list[Cell]:
    """Fit one method for all pairs (delta, gamma) that are asked for, on all splits."""
    return [
        _fitted(options, _Fit(dataset, part, method, pair, inner))
        for pair, part in product(_pairs(options), options.parts)
    ]


def _fitted(options: PaperOptions, fit: _Fit) -> Cell:
    def compute() -> dict[str, Any]:
        tables = load_split(fit.dataset, fit.part)
        clf = fit.estimator(options.time_limit)
        _, seconds, cpu = timed(lambda: clf.fit(tables["train"].X, tables["train"].y))
        pass_on_interrupt(clf.status_)
        return {
            **{name: float(np.mean(clf.predict(t.X) == t.y)) for name, t in tables.items()},
            "status": clf.status_,
            "errors": float(clf.objective_),
            "bound": float(clf.lower_bound_),
            "splits": int(clf.tree_.n_splits),
            "depth": int(clf.tree_.depth),
            "seconds": seconds,
            "cpu": cpu,
        }

    share = f"/rho={fit.rho:g}" if fit.method.startswith("gp") else ""
    key = f"fit/{fit.dataset}/{fit.part}/{fit.method}{share}/{fit.pair[0]},{fit.pair[1]}"
    return _cell(options, f"{key}/{fit.inner}/limit={options.time_limit:g}", compute)


def _tuned(options: PaperOptions, dataset: str, method: str, depth: int) -> float:
    """Return the mean test accuracy of the trees that did best on the validation rows."""
    found = []
    for part in options.parts:
        rho = _rho(options, dataset, part, method) if method.startswith("gp") else _PAPER_RHO
        cells = [
            _fitted(options, _Fit(dataset, part, method, pair, rho=rho))
            for pair in PAIRS
            if pair[0] <= depth
        ]
        found.append(max(cells, key=lambda cell: cell["valid"])["test"])  # the first of the best
    return float(np.mean(found))


def _rho(options: PaperOptions, dataset: str, part: int, method: str) -> float:
    refinement = "exact" if method.endswith("eiia") else "heuristic"

    def compute() -> float:
        train = load_split(dataset, part)["train"]
        return choose_rho(train.X, train.y, refinement=refinement, time_limit=options.time_limit)

    key = f"rho/{dataset}/{part}/{refinement}/limit={options.time_limit:g}"
    value: float = options.cells.get(key, compute)
    return value


def _cart(options: PaperOptions, dataset: str, part: int) -> Cell:
    """Grow CART fully and prune it by the validation rows."""

    def compute() -> dict[str, Any]:
        from sklearn.tree import DecisionTreeClassifier

        train, valid, test = (load_split(dataset, part)[of] for of in ("train", "valid", "test"))
        path = DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(train.X, train.y)
        alphas = np.unique(np.maximum(path.ccp_alphas, 0.0))[::-1].tolist()
        trees = [
            DecisionTreeClassifier(random_state=0, ccp_alpha=alpha).fit(train.X, train.y)
            for alpha in alphas
        ]
        best = max(trees, key=lambda tree: tree.score(valid.X, valid.y))  # the smallest of the best
        return {
            "valid": float(best.score(valid.X, valid.y)),
            "test": float(best.score(test.X, test.y)),
        }

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


@lru_cache(maxsize=8)
def _partition(dataset: str, part: int, method: str, rho: float) -> DataPartition:
    train = load_split(dataset, part)["train"]
    if method == "gp":
        return greedy_partition(train.X, train.y, rho)
    make = improved_greedy_partition if method == "igp" else closest_representatives_merge
    return make(train.X, train.y)


def _pairs(options: PaperOptions) -> list[tuple[int, int]]:
    return [pair for pair in PAIRS if options.wants_depth(pair[0])]


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


def _draw_profile(title: str, seconds: Mapping[str, NDArray[np.float64]], path: Path) -> None:
    fastest = np.min(list(seconds.values()), axis=0)
    figure = new_figure("Drawing figures", (6.5, 4.0))
    ax = figure.subplots()
    for method, of_method in seconds.items():
        solved = np.isfinite(of_method)
        factors = np.sort(of_method[solved] / fastest[solved])
        shares = np.arange(1, len(factors) + 1) / len(of_method)
        ax.step(np.append(factors, 1e5), np.append(shares, shares[-1:]), where="post", label=method)
    ax.set(title=title, xlabel="factor of the fastest time", ylabel="share of instances")
    ax.set(xscale="log", xlim=(1, 1e5), ylim=(0, 1.02))
    ax.legend(frameon=False)
    save_figure(figure, path)


def _beside(theirs: float | None, ours: float | None, digits: int = 2) -> str:
    return f"{format_cell(theirs, f'.{digits}f')} / {ours:.{digits}f}"


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _splits_words(options: PaperOptions) -> str:
    count = len(options.parts)
    return f"{count} split{'s' if count > 1 else ''}, limit {options.time_limit:g} s per fit"
