"""What the benchmarks of the two column-generation papers share: splits, runs, tables, figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provetree.bench.data import load_table, read_split
from provetree.bench.paper import PaperOptions, pass_on_interrupt, timed
from provetree.bench.report import save_figure
from provetree.colgen.candidates import SAMPLE_RUNS, papers_q
from provetree.colgen.engine import ColumnGeneration
from provetree.export.plot import new_figure
from provetree.problem.problem import build_problem
from provetree.search.engine import ExactSearch
from provetree.solution import Limits

#: Depths of the papers.
DEPTHS = (2, 3, 4)


@dataclass(frozen=True, eq=False)
class SplitData:
    """The train and test part of one split of a table."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int64]
    n_classes: int


def script_candidates(
    X: NDArray[np.float64], y: NDArray[np.int64], depth: int
) -> dict[int, list[tuple[int, float]]]:
    """Return the candidate splits of the runs behind the tables of Patel et al., seed by seed.

    Their released experiment script does not draw 90 % of the rows but 70 %, with the seeds 0 to
    299 of scikit-learn's ``train_test_split``; CART has the seed 99; of equally frequent splits
    the one found later comes first, and the splits of CART on all rows are among the q.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.bench.papers._colgen import script_candidates
    >>> X, y = np.arange(40.0)[:, None], np.repeat([0, 1], 20)
    >>> script_candidates(X, y, 1)[0][0]
    (0, 19.5)
    """
    from sklearn.model_selection import train_test_split
    from sklearn.tree import DecisionTreeClassifier

    nodes = 2**depth - 1
    found: list[dict[tuple[int, float], int]] = [{} for _ in range(nodes)]
    number: dict[tuple[int, float], int] = {}  # splits in the order in which they are found

    def count(X: NDArray[np.float64], y: NDArray[np.int64], times: int) -> None:
        tree = DecisionTreeClassifier(max_depth=depth, random_state=99).fit(X, y).tree_
        place = {0: 0}  # of a node in the complete tree; parents come before children
        for node in range(tree.node_count):
            left, right = int(tree.children_left[node]), int(tree.children_right[node])
            if left == right:
                continue
            split = (int(tree.feature[node]), float(tree.threshold[node]))
            number.setdefault(split, len(number))
            here = place[node]
            found[here][split] = found[here].get(split, 0) + times
            place[left], place[right] = 2 * here + 1, 2 * here + 2

    for seed in range(SAMPLE_RUNS):
        part, _, labels, _ = train_test_split(X, y, test_size=0.3, random_state=seed)
        count(part, labels, 1)
    count(X, y, 1000)
    at_root, elsewhere = papers_q(depth)
    kept = {}
    for j, counts in enumerate(found):
        order = sorted(counts, key=lambda split: (-counts[split], -number[split]))
        kept[j] = order[: at_root if j == 0 else elsewhere]
    return kept


def load_split(name: str, split: int) -> SplitData:
    """Read one split of a table."""
    table, rows = load_table(name), read_split(name, split)
    train, test = rows["train"], rows["test"]
    n_classes = int(table.y.max()) + 1
    return SplitData(table.X[train], table.y[train], table.X[test], table.y[test], n_classes)


class Runs:
    """Computes the cells of the tables, each stored as soon as it is known.

    Parameters
    ----------
    options : PaperOptions
        What the user asked for.
    """

    def __init__(self, options: PaperOptions) -> None:
        self.options = options
        self._split: tuple[tuple[str, int], SplitData] | None = None
        self._cut_off: dict[str, list[int]] = {}

    @property
    def splits(self) -> range:
        """The splits to average over."""
        return self.options.parts

    def data(self, name: str, split: int) -> SplitData:
        """Return a split, read once in a row."""
        if self._split is None or self._split[0] != (name, split):
            self._split = ((name, split), load_split(name, split))
        return self._split[1]

    def cell(self, key: str, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return a cell, with a line of progress where it has to be computed."""
        value: dict[str, Any] = self.options.cell(key, compute)
        return value

    def cart(self, name: str, split: int, depth: int) -> dict[str, Any]:
        """Run scikit-learn's CART with default parameters."""

        def compute() -> dict[str, Any]:
            from sklearn.tree import DecisionTreeClassifier

            data = self.data(name, split)
            cart = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(data.X, data.y)
            return {
                "train": 100 * float(cart.score(data.X, data.y)),
                "test": 100 * float(cart.score(data.X_test, data.y_test)),
            }

        return self.cell(f"cart/{name}/split={split}/depth={depth}", compute)

    def cart_mean(self, name: str, depth: int, part: str) -> float | None:
        """Return the accuracy of CART on the train or test part, averaged over the splits."""
        return mean([self.cart(name, split, depth) for split in self.splits], part)

    def generation(
        self, name: str, split: int, depth: int, label: str, **settings: Any
    ) -> dict[str, Any]:
        """Run column generation with the given settings; `label` names them in the key.

        ``candidates="script"`` are those of :func:`script_candidates`.
        """
        limit = self.options.time_limit

        def compute() -> dict[str, Any]:
            data = self.data(name, split)
            own = settings.get("candidates") == "script"
            problem = build_problem(
                data.X, data.y, n_classes=data.n_classes, max_depth=depth, keep_duplicates=own
            )
            if own:
                settings["candidates"] = script_candidates(data.X, data.y, depth)
            engine = ColumnGeneration(random_state=split, **settings)
            found, seconds, cpu = timed(lambda: engine.solve(problem, Limits(time_limit=limit)))
            pass_on_interrupt(found.status)
            proof = found.proof
            sampling = proof.seconds.get("sampling", 0.0)
            n = problem.n_samples
            return {
                "train": 100 * (1 - found.cost / n),
                "test": 100 * float((found.tree.predict(data.X_test) == data.y_test).mean()),
                "status": found.status,
                "candidate_optimal": proof.candidate_optimal,
                "master": 100 * (1 - proof.master_value / n),
                "master_bound": 100 * (1 - proof.master_bound / n),
                "master_solved": proof.master_solved,
                "master_integral": proof.master_integral,
                "master_proves": proof.master_solved
                and bool(np.ceil(proof.master_bound - 1e-6) >= found.cost),
                # Also where the time ended before the relaxation was solved.
                "bound_proves": bool(np.ceil(proof.master_bound - 1e-6) >= found.cost),
                "columns": proof.n_columns,
                "row_cuts": proof.n_row_cuts,
                "extra_cuts": proof.n_extra_cuts,
                "iterations": proof.iterations,
                "paths": proof.n_paths,
                "sampling_seconds": sampling,
                "seconds": seconds - sampling,
                "cpu_seconds": cpu,  # with sampling
                "parts": {part: round(spent, 4) for part, spent in proof.seconds.items()},
            }

        key = f"{label}/{name}/split={split}/depth={depth}/limit={limit:g}"
        found = self.cell(key, compute)
        if found["status"] == "time_limit":
            self._cut_off.setdefault(f"{label} on {name} at depth {depth}", []).append(split)
        return found

    def print_cut_off(self) -> None:
        """Say which runs since the last call the time limit ended."""
        for run, splits in self._cut_off.items():
            numbers = ", ".join(str(split + 1) for split in sorted(set(splits)))
            print(f"cut off after {self.options.time_limit:g} s: {run}, split {numbers}")
        self._cut_off = {}

    def optimum(self, name: str, split: int, depth: int) -> dict[str, Any]:
        """Run the exact search over all thresholds; ``train`` is None where it is not proven."""
        limit = self.options.time_limit

        def compute() -> dict[str, Any]:
            data = self.data(name, split)
            problem = build_problem(data.X, data.y, n_classes=data.n_classes, max_depth=depth)
            found = ExactSearch().solve(problem, Limits(time_limit=limit))
            pass_on_interrupt(found.status)
            proven = found.status == "optimal"
            train = 100 * (1 - found.cost / problem.n_samples) if proven else None
            return {"train": train, "status": found.status}

        return self.cell(f"optimum/{name}/split={split}/depth={depth}/limit={limit:g}", compute)


def published(text: str) -> dict[tuple[str, int], tuple[float, ...]]:
    """Read a published table: a line for each data set, numbers for each of the depths.

    Examples
    --------
    >>> from provetree.bench.papers._colgen import published
    >>> published("iris | 96.8 96.9 | 98.1 98.9 | 100.0 100.0")["iris", 3]
    (98.1, 98.9)
    """
    table = {}
    for line in text.strip().splitlines():
        name, *cells = line.split(" | ")
        for depth, cell in zip(DEPTHS, cells, strict=True):
            table[name, depth] = tuple(float(number) for number in cell.split())
    return table


def mean(cells: Sequence[Mapping[str, Any]], field: str) -> float | None:
    """Return the average of a field, None where a cell has none.

    Examples
    --------
    >>> from provetree.bench.papers._colgen import mean
    >>> mean([{"train": 80.0}, {"train": 82.0}], "train"), mean([{"train": None}], "train")
    (81.0, None)
    """
    values = [cell[field] for cell in cells]
    if not values or any(value is None for value in values):
        return None
    return float(np.mean(values))


def shown(value: float | None, digits: int = 1) -> str:
    """Write a number for a table, a dash for none.

    Examples
    --------
    >>> from provetree.bench.papers._colgen import shown
    >>> shown(81.25), shown(None), shown(-0.04)
    ('81.2', '-', '0.0')
    """
    if value is None:
        return "-"
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def draw_bars(
    folder: Path | None,
    name: str,
    title: str,
    rows: Sequence[str],
    series: Mapping[str, Sequence[float | None]],
    *,
    unit: str,
    logarithmic: bool = False,
) -> None:
    """Draw a figure of grouped bars into a folder, if there is one."""
    if folder is None:
        return
    figure = new_figure("Drawing figures", (max(6.0, 1.0 * len(rows)), 3.5))
    axes = figure.subplots()
    width = 0.8 / len(series)
    for i, (label, values) in enumerate(series.items()):
        heights = [np.nan if value is None else value for value in values]
        axes.bar(
            np.arange(len(rows)) + (i - len(series) / 2 + 0.5) * width, heights, width, label=label
        )
    axes.set_xticks(np.arange(len(rows)), rows, rotation=30, ha="right")
    axes.set_ylabel(unit)
    axes.set_title(title)
    if logarithmic:
        axes.set_yscale("log")
    # Beside the bars, which would be hidden below it.
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    save_figure(figure, folder / f"{name}.png")
