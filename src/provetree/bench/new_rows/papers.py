"""New rows on the papers' own splits, beside the published figures.

Patel et al. (2023) and Firat et al. (2020) fit on the train rows. Ales et al. (2024) choose sizes
by the validation rows; here the train and validation rows are both to train on, and
cross-validation among them chooses. The test rows are theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from provetree.bench.new_rows.methods import METHODS
from provetree.bench.new_rows.results import Key, Result, Work
from provetree.bench.paper import SPLITS, figures, published
from provetree.bench.report import format_table

__all__ = ["PAPER_METHODS", "paper_tables", "paper_work", "relative_gaps"]

PAPER_METHODS = ("cart-tuned", "optimal", "optimal-columns", "optimal-cv")
_DEPTHS = (2, 3, 4)
#: Published methods of Table 7 of Ales et al. that were run on the same splits, by their place.
_SAME_SPLITS = {"CART": 2, "C5.0": 3, "GP+HIIA": 4, "IGP+HIIA": 5, "(P)": 6}

Results = Mapping[Key, Result]


def paper_work(tables: Sequence[str], methods: Sequence[str], limit: float) -> list[Work]:
    """Return the fits on the papers' splits, paper by paper and split by split.

    Examples
    --------
    >>> from provetree.bench.new_rows.papers import paper_work
    >>> work = paper_work(["htru2"], ["optimal-cv"], 60.0)
    >>> sorted({one.key.leaves for one in work}), {one.key.rows for one in work}
    ([4, 8, 16], {'train'})
    """
    by_rows = {
        "train+valid": tuple(published("ales", "7")),
        "train": (*published("patel", "8"), *published("firat", "8 to 10")),
    }
    return [
        Work(Key(table, split, method, 2**depth, rows), limit)
        for rows, names in by_rows.items()
        for split in range(SPLITS)
        for table in names
        for method in PAPER_METHODS
        for depth in _DEPTHS
        if table in tables and method in methods and (depth > 2 or rows == "train")
    ]


def paper_tables(results: Results) -> Iterator[tuple[str, str]]:
    """Yield a title and a table of text for each published table that there are results for."""
    yield from _by_depth(results, "patel", "8", "Patel et al., Table 8", "CART | CG | CART | CG")
    title = "Firat et al., Tables 8 to 10"
    yield from _by_depth(results, "firat", "8 to 10", title, "CART | OCT | BinOCT | CGH")
    names = [f"{part}+{how}" for how in "HE" for part in ("GP", "IGP", "CRM")]
    for number, depth in (("5", 3), ("6", 4)):
        rows = [
            (name, *figures(cells[0]), *ours)
            for name, cells in published("ales", number).items()
            if (ours := _accuracies(results, name, 2**depth, "train+valid"))
        ]
        if rows:
            title = f"Ales et al., Table {number}: depth at most {depth}; H is HIIA, E is EIIA"
            yield title, _table(["table"], [*names, "(P)"], rows)
    scores = {
        name: [*(figures(cells[0])[place] for place in _SAME_SPLITS.values()), *ours]
        for name, cells in published("ales", "7").items()
        if (ours := _accuracies(results, name, 16, "train+valid"))
    }
    if scores:
        lines = [(name, *row) for name, row in scores.items()]
        lines.append((f"RG over {len(scores)} tables", *relative_gaps(list(scores.values()))))
        title = "Ales et al., Table 7: depth at most 4"
        yield title, _table(["table"], list(_SAME_SPLITS), lines)


def _by_depth(
    results: Results, paper: str, table: str, title: str, names: str
) -> Iterator[tuple[str, str]]:
    rows = [
        (name, depth, *figures(cells[depth - 2]), *ours)
        for name, cells in published(paper, table).items()
        for depth in _DEPTHS
        if (ours := _accuracies(results, name, 2**depth, "train"))
    ]
    if rows:
        yield title, _table(["table", "depth"], names.split(" | "), rows)


def _table(first: Sequence[str], theirs: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return the table; methods that have no figure are left out."""
    shown = [f"{name}* [.1f]" for name in theirs]
    ours = [f"{METHODS[method].short} [.1f]" for method in PAPER_METHODS]
    header = [*first, *shown, *ours]
    kept = [
        place
        for place in range(len(header))
        if place < len(header) - len(ours) or any(row[place] is not None for row in rows)
    ]
    return format_table([header[k] for k in kept], [[row[k] for k in kept] for row in rows])


def _accuracies(results: Results, table: str, leaves: int, rows: str) -> list[float | None]:
    """Return the mean accuracy of each method in percent; nothing where no method has a result."""
    found: list[float | None] = []
    for method in PAPER_METHODS:
        keys = [Key(table, split, method, leaves, rows) for split in range(SPLITS)]
        scores = [results[key].measures["accuracy"] for key in keys if key in results]
        # Splits that are not there yet would make a mean of other rows.
        found.append(100 * float(np.mean(scores)) if len(scores) == SPLITS else None)
    return found if any(score is not None for score in found) else []


def relative_gaps(rows: Sequence[Sequence[float | None]]) -> list[float | None]:
    """Return the mean over tables of what each method lacks to the best, in percent of the best.

    The RG of Ales et al.; a method counts where it has a figure.

    Examples
    --------
    >>> from provetree.bench.new_rows.papers import relative_gaps
    >>> relative_gaps([(80.0, 100.0), (None, 50.0)])
    [20.0, 0.0]
    """
    gaps: list[list[float]] = [[] for _ in rows[0]]
    for row in rows:
        best = max(score for score in row if score is not None)
        for of_method, score in zip(gaps, row, strict=True):
            if score is not None:
                of_method.append(100 * (best - score) / best)
    return [float(np.mean(of_method)) if of_method else None for of_method in gaps]
