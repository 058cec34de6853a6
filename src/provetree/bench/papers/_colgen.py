"""What the benchmarks of the two column-generation papers share: splits, runs, tables, figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provetree.bench.data import load_split
from provetree.bench.paper import (
    PaperOptions,
    figures,
    mean,
    pass_on_interrupt,
    published,
    timed,
)
from provetree.bench.report import format_table, save_figure
from provetree.colgen.candidates import SAMPLE_RUNS, papers_q
from provetree.colgen.engine import ColumnGeneration
from provetree.export.plot import new_figure
from provetree.problem.problem import Problem, build_problem
from provetree.search.engine import ExactSearch
from provetree.solution import Limits

#: Depths of the papers.
DEPTHS = (2, 3, 4)


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

    found: list[Counter[tuple[int, float]]] = [Counter() for _ in range(2**depth - 1)]
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
            found[here][split] += times
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


class Runs:
    """Computes the cells of the tables, each stored as soon as it is known.

    Parameters
    ----------
    options : PaperOptions
        What the user asked for.
    """

    def __init__(self, options: PaperOptions) -> None:
        self.options = options
        self.splits = options.parts
        self._cut_off: dict[str, set[int]] = {}

    def wanted(self, names: Iterable[str]) -> list[tuple[str, int]]:
        """Return the data sets and depths that were asked for, in pairs."""
        options = self.options
        return list(product(options.wanted_datasets(names), options.wanted_depths(DEPTHS)))

    def cart(self, name: str, split: int, depth: int) -> dict[str, Any]:
        """Run scikit-learn's CART with default parameters."""

        def compute() -> dict[str, Any]:
            from sklearn.tree import DecisionTreeClassifier

            parts = load_split(name, split)
            cart = DecisionTreeClassifier(max_depth=depth, random_state=0)
            cart.fit(parts["train"].X, parts["train"].y)
            return {
                part: 100 * float(cart.score(parts[part].X, parts[part].y))
                for part in ("train", "test")
            }

        return self._cell(f"cart/{name}/split={split}/depth={depth}", compute)

    def cart_mean(self, name: str, depth: int, part: str) -> float | None:
        """Return the accuracy of CART on the train or test part, averaged over the splits."""
        return mean([self.cart(name, split, depth) for split in self.splits], part)

    def generations(
        self, name: str, depth: int, label: str, settings: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        """Run column generation on each split; `label` names the settings in the key."""
        key = f"{label}/{name}/split={{}}/depth={depth}/limit={self.options.time_limit:g}"
        found = []
        for split in self.splits:
            compute = partial(self._generate, name, split, depth, settings)
            found.append(self._cell(key.format(split), compute))
            if found[-1]["status"] == "time_limit":
                run = f"{label} on {name} at depth {depth}"
                self._cut_off.setdefault(run, set()).add(split + 1)
        return found

    def _generate(
        self, name: str, split: int, depth: int, settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Run column generation; candidates "script" are those of :func:`script_candidates`."""
        train, test = (load_split(name, split)[part] for part in ("train", "test"))
        own = settings.get("candidates") == "script"
        problem = problem_of(name, split, depth, keep_duplicates=own)
        if own:
            settings = {**settings, "candidates": script_candidates(train.X, train.y, depth)}
        engine = ColumnGeneration(random_state=split, **settings)
        limits = Limits(time_limit=self.options.time_limit)
        found, seconds, cpu = timed(lambda: engine.solve(problem, limits))
        pass_on_interrupt(found.status)
        proof = found.proof
        sampling = proof.seconds.get("sampling", 0.0)
        n = problem.n_samples
        # Also where the time ended before the relaxation was solved.
        bound_proves = bool(np.ceil(proof.master_bound - 1e-6) >= found.cost)
        return {
            "train": 100 * (1 - found.cost / n),
            "test": 100 * float((found.tree.predict(test.X) == test.y).mean()),
            "status": found.status,
            "candidate_optimal": proof.candidate_optimal,
            "master": 100 * (1 - proof.master_value / n),
            "master_bound": 100 * (1 - proof.master_bound / n),
            "master_solved": proof.master_solved,
            "master_integral": proof.master_integral,
            "master_proves": proof.master_solved and bound_proves,
            "bound_proves": bound_proves,
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

    def optimum_mean(self, name: str, depth: int) -> float | None:
        """Return the train accuracy of the exact search; None where one split is not proven."""
        limit = self.options.time_limit

        def compute(split: int) -> dict[str, Any]:
            problem = problem_of(name, split, depth)
            found = ExactSearch().solve(problem, Limits(time_limit=limit))
            pass_on_interrupt(found.status)
            proven = found.status == "optimal"
            train = 100 * (1 - found.cost / problem.n_samples) if proven else None
            return {"train": train, "status": found.status}

        key = f"optimum/{name}/split={{}}/depth={depth}/limit={limit:g}"
        cells = [self._cell(key.format(split), partial(compute, split)) for split in self.splits]
        return mean(cells, "train")

    def _cell(self, key: str, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        value: dict[str, Any] = self.options.cell(key, compute)
        return value

    def print(
        self,
        title: str,
        header: str | Sequence[str],
        rows: Sequence[Sequence[object]],
        *notes: str,
    ) -> None:
        """Print a table with its notes, and say which of its runs the time limit ended."""
        print(f"\n{title}\n{format_table(header, rows)}")
        for note in notes:
            print(note)
        self.print_cut_off()

    def print_cut_off(self) -> None:
        """Say which runs since the last call the time limit ended."""
        for run, splits in self._cut_off.items():
            numbers = ", ".join(map(str, sorted(splits)))
            print(f"cut off after {self.options.time_limit:g} s: {run}, split {numbers}")
        self._cut_off = {}


def problem_of(name: str, split: int, depth: int, *, keep_duplicates: bool = False) -> Problem:
    """Return the problem of the train rows of a split."""
    parts = load_split(name, split)
    return build_problem(
        parts["train"].X,
        parts["train"].y,
        n_classes=1 + max(int(part.y.max(initial=0)) for part in parts.values()),
        max_depth=depth,
        keep_duplicates=keep_duplicates,
    )


def published_by_depth(paper: str, table: str) -> dict[tuple[str, int], tuple[float | None, ...]]:
    """Return a published table with numbers for each of the depths.

    Examples
    --------
    >>> from provetree.bench.papers._colgen import published_by_depth
    >>> published_by_depth("firat", "7")["iris", 3]
    (98.1, 100.0, 98.9)
    """
    return {
        (name, depth): figures(cell)
        for name, cells in published(paper, table).items()
        for depth, cell in zip(DEPTHS, cells, strict=True)
    }


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
    places = np.arange(len(rows))
    for i, (label, values) in enumerate(series.items()):
        heights = np.array(values, dtype=np.float64)  # not a number where there is none
        axes.bar(places + (i - len(series) / 2 + 0.5) * width, heights, width, label=label)
    axes.set_xticks(places, rows, rotation=30, ha="right")
    axes.set(ylabel=unit, title=title, yscale="log" if logarithmic else "linear")
    # Beside the bars, which would be hidden below it.
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    save_figure(figure, folder / f"{name}.png")
