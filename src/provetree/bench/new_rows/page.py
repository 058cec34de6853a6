"""The page of ``bench new-rows``: means, comparisons with tuned CART, ranks, and every table."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from provetree.bench.new_rows.diagram import draw_ranks
from provetree.bench.new_rows.measures import MEASURES
from provetree.bench.new_rows.methods import METHODS, SIZES
from provetree.bench.new_rows.papers import paper_tables
from provetree.bench.new_rows.results import Key, Result
from provetree.bench.new_rows.statistics import Comparison, Scores, compare
from provetree.bench.new_rows.tables import choosing_half
from provetree.bench.report import format_table

__all__ = ["scores_by_table", "write_page"]

Results = Mapping[Key, Result]

#: Tables with the rows of another suite's table.
SAME_ROWS = ("contree-bank", "contree-htru", "contree-magic")
#: Asked of OptimalTreeCV beside tuned CART: mean points by most leaves, points on the worst table,
#: the p-value, and the share of tables with better AUC and log loss.
ASKED = {8: 2.0, 16: 1.5}
ASKED_WORST, ASKED_P, ASKED_SHARE = -1.5, 0.001, 0.75
#: Points of balanced accuracy asked for on tables with a rare class.
ASKED_BALANCED = 1.0

_COMPARED = "tables | better by | better, equal, worse | p | worst table"


def write_page(results: Results, failures: Mapping[Key, str], path: Path) -> None:
    """Write the page and, beside it in ``images``, its picture."""
    seeded = {key: result for key, result in results.items() if key.rows == "seeded"}
    picture = path.parent / "images" / f"{path.stem}.svg"
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = [
        _with_limits(_words("how"), seeded),
        _means(seeded),
        _failed(failures),
        *(text for leaves in SIZES for text in _beside_cart(seeded, leaves)),
        _rare(seeded),
        _words("tried"),
        _ranks(seeded, picture),
        *(_every_table(seeded, leaves) for leaves in SIZES),
        *_papers(results),
    ]
    path.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")


def _words(section: str) -> str:
    text = Path(__file__).with_name("page.txt").read_text(encoding="utf-8")
    return text.partition(f"\n[{section}]\n")[2].partition("\n\n[")[0].strip()


def _with_limits(text: str, results: Results) -> str:
    """Fill in the seconds that fits of optimal trees had."""
    of_methods: dict[float, dict[str, None]] = {}
    for result in results.values():
        method = METHODS[result.key.method]
        if method.kind == "ours" and result.limit:
            of_methods.setdefault(result.limit, {})[method.label] = None
    found = sorted(of_methods) or [60.0]
    each = [f"{limit:g} s ({', '.join(of_methods[limit])})" for limit in sorted(of_methods)]
    limits = " or ".join(each) if len(found) > 1 else f"{found[0]:g} s"
    filled = text.replace("{limits}", limits).replace("{limit}", f"{found[-1]:g}")
    lines = (textwrap.fill(x, 120) if len(x) > 120 else x for x in filled.splitlines())
    return "\n".join(lines)


def scores_by_table(
    results: Results, method: str, leaves: int, measure: str, beside: Iterable[str] = ()
) -> dict[str, float]:
    """Return the mean of a measure over the splits of each table, more being better.

    Where other methods are named in `beside`, only splits that they have too count.

    Examples
    --------
    >>> from provetree.bench.new_rows.page import scores_by_table
    >>> from provetree.bench.new_rows.results import Key, Result
    >>> keys = [Key("iris", split, "cart", 8) for split in (0, 1)]
    >>> found = {key: Result(key, {"log_loss": 0.25 + key.split}) for key in keys}
    >>> scores_by_table(found, "cart", 8, "log_loss")
    {'iris': -0.75}
    """
    sign = 1.0 if MEASURES[measure][1] else -1.0
    scores: dict[str, list[float]] = {}
    for key, result in sorted(results.items()):
        if (key.method, key.leaves) != (method, _size(method, leaves)):
            continue
        others = (key._replace(method=name, leaves=_size(name, leaves)) for name in beside)
        if all(other in results for other in others):
            scores.setdefault(key.table, []).append(sign * result.measures[measure])
    return {table: float(np.mean(values)) for table, values in scores.items()}


def _size(method: str, leaves: int) -> int:
    return leaves if leaves in METHODS[method].sizes else 0


def _both(
    results: Results, ours: str, theirs: str, leaves: int, measure: str
) -> tuple[Scores, Scores]:
    """Return the scores of two methods over the splits that both have, in points."""
    factor = 100.0 if measure != "log_loss" else 1.0
    found = []
    for method, other in ((ours, theirs), (theirs, ours)):
        scores = scores_by_table(results, method, leaves, measure, (other,))
        found.append({table: factor * score for table, score in scores.items()})
    return found[0], found[1]


def _shown(results: Results, leaves: int, *, ceilings: bool = True) -> list[str]:
    """Return the methods for all tables that have results."""
    known = {(key.method, key.leaves) for key in results}
    return [
        name
        for name, method in METHODS.items()
        if (name, _size(name, leaves)) in known
        and not method.of_rare_classes
        and (ceilings or method.kind != "ceiling")
    ]


# -- sections --------------------------------------------------------------------------------------


def _means(results: Results) -> str:
    rows = []
    for leaves in (*SIZES, 0):
        for method in _shown(results, leaves):
            if (METHODS[method].kind == "ceiling") == (leaves == 0):
                rows.append(_mean_row(results, method, leaves))
    header = (
        "method | at most | tables | splits | accuracy [.2f] | balanced [.2f] | AUC [.2f] | "
        "log loss [.3f] | leaves [.1f] | seconds [.2f]"
    )
    parts = [_words("means"), format_table(header, rows), _time_taken(results)]
    return "\n\n".join(part for part in parts if part)


def _time_taken(results: Results) -> str:
    """Say how long fits of OptimalTreeCV took by the clock, which their limit is of."""
    own = [r for key, r in results.items() if key.method == "optimal-cv" and r.limit]
    if not own:
        return ""
    clock = float(np.mean([r.clock for r in own]))
    processor = float(np.mean([r.seconds for r in own]))
    ended = float(np.mean([r.clock > 0.95 * (r.limit or 0.0) for r in own]))
    proven = float(np.mean([r.status == "optimal" for r in own]))
    text = (
        f"Limits are of the clock. Fits of OptimalTreeCV took {clock:.1f} s of it on average, with "
        f"{processor:.1f} s of the processor; {100 * ended:.0f} % of them had the time of their "
        f"limit, all others ended by themselves. {100 * proven:.0f} % of the trees are proven."
    )
    return textwrap.fill(text, 120)


def _mean_row(results: Results, method: str, leaves: int) -> tuple[object, ...]:
    own = [r for key, r in results.items() if (key.method, key.leaves) == (method, leaves)]
    n_tables = len({result.key.table for result in own})

    def mean(value: Callable[[Result], float]) -> float:
        by_table: dict[str, list[float]] = {}
        for result in own:
            by_table.setdefault(result.key.table, []).append(value(result))
        return float(np.mean([np.mean(values) for values in by_table.values()]))

    def of(measure: str) -> float:
        return mean(lambda result: result.measures[measure])

    points = (100 * of(measure) for measure in ("accuracy", "balanced_accuracy", "auc"))
    size = mean(lambda result: float(result.tree_leaves or 0)) if leaves else None
    seconds = mean(lambda result: result.seconds)
    splits = f"{len(own) / n_tables:.3g}"
    label = METHODS[method].label
    return label, leaves or "any", n_tables, splits, *points, of("log_loss"), size, seconds


def _failed(failures: Mapping[Key, str]) -> str:
    """Say which methods gave no tree for which tables."""
    lines = []
    for method in METHODS:
        keys = [key for key in failures if key.method == method]
        if keys:
            tables = ", ".join(sorted({f"{key.table} ({key.leaves})" for key in keys}))
            count = f"{len(keys)} fit{'s' if len(keys) > 1 else ''}"
            lines.append(
                f"- {METHODS[method].label} failed in {count}, by table and most leaves: {tables}."
            )
    return "\n".join(textwrap.fill(line, 120, subsequent_indent="  ") for line in lines)


def _beside_cart(results: Results, leaves: int) -> list[str]:
    texts = [f"## At most {leaves} leaves, beside tuned CART"]
    ours, theirs = _both(results, "optimal-cv", "cart-tuned", leaves, "accuracy")
    found = compare(ours, theirs)
    if found is not None:
        texts += [_asked(results, leaves, found), _words("halves"), _halves(ours, theirs)]
    texts.append(_words("beside"))
    for measure, (name, _) in MEASURES.items():
        rows = []
        for method in _shown(results, leaves):
            other = compare(*_both(results, method, "cart-tuned", leaves, measure))
            if method != "cart-tuned" and other is not None:
                digits = 3 if measure == "log_loss" else 2
                rows.append((METHODS[method].label, *_figures(other, digits)))
        if rows:
            texts.append(format_table(f"{name} | {_COMPARED}", rows))
    return texts


def _figures(found: Comparison, digits: int) -> tuple[object, ...]:
    mean, worst = (f"{value:+.{digits}f}" for value in (found.mean, found.worst))
    counts = f"{found.wins}, {found.ties}, {found.losses}"
    return found.tables, mean, counts, _p_text(found.p), f"{found.worst_table} {worst}"


def _p_text(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else f"{p:.0e}"


def _asked(results: Results, leaves: int, found: Comparison) -> str:
    least = ASKED[leaves]
    worst = f"{found.worst:+.2f} ({found.worst_table})"
    rows = [
        ("accuracy, mean points", f"{least:+.1f}", f"{found.mean:+.2f}", found.mean >= least),
        ("p", f"below {ASKED_P}", _p_text(found.p), found.p < ASKED_P and found.mean > 0),
        ("worst table", f"{ASKED_WORST:+.1f}", worst, found.worst >= ASKED_WORST),
    ]
    for measure in ("auc", "log_loss"):
        other = compare(*_both(results, "optimal-cv", "cart-tuned", leaves, measure))
        if other is not None:
            share = other.wins / other.tables
            measured = f"{100 * share:.0f} % ({other.wins} of {other.tables})"
            asked = f"{100 * ASKED_SHARE:.0f} % of the tables"
            rows.append((f"better {MEASURES[measure][0]}", asked, measured, share >= ASKED_SHARE))
    header = "OptimalTreeCV beside tuned CART | asked | measured | reached"
    return format_table(header, [(*row[:3], "yes" if row[3] else "no") for row in rows])


def _halves(ours: Scores, theirs: Scores) -> str:
    choosing = choosing_half({*ours, *theirs})
    parts = {
        "the choosing half": [table for table in ours if table in choosing],
        "the other half": [table for table in ours if table not in choosing],
        "no rows twice": [table for table in ours if table not in SAME_ROWS],
    }
    rows = []
    for title, tables in parts.items():
        found = compare({table: ours[table] for table in tables}, theirs)
        if found is not None:
            rows.append((title, *_figures(found, 2)))
    return format_table(f"accuracy on | {_COMPARED}", rows)


def _rare(results: Results) -> str:
    methods = ("cart-tuned", "cart-balanced", "optimal-columns", "optimal-balanced")
    rows: list[tuple[object, ...]] = []
    for leaves in SIZES:
        scores = [scores_by_table(results, m, leaves, "balanced_accuracy") for m in methods]
        tables = sorted(scores[1])
        cells = [[_points(of_method.get(table)) for of_method in scores] for table in tables]
        rows += [(table, leaves, *row, "") for table, row in zip(tables, cells, strict=True)]
        both = _both(results, "optimal-balanced", "cart-balanced", leaves, "balanced_accuracy")
        found = compare(*both)
        if found is not None:
            means = [_mean(column) for column in zip(*cells, strict=True)]
            reached = "reached" if found.mean >= ASKED_BALANCED else "not reached"
            rows.append(
                (f"mean of {found.tables}", leaves, *means, f"{found.mean:+.2f}, {reached}")
            )
    header = ["table", "most leaves", *(f"{METHODS[m].short} [.1f]" for m in methods), "gain"]
    return f"{_words('rare')}\n\n{format_table(header, rows)}" if rows else ""


def _points(score: float | None) -> float | None:
    return None if score is None else 100 * score


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None


def _ranks(results: Results, picture: Path) -> str:
    panels = {}
    for leaves in SIZES:
        methods = _well_measured(results, leaves)
        scores = {
            METHODS[m].label: scores_by_table(results, m, leaves, "accuracy", methods)
            for m in methods
        }
        if len(scores) > 1 and all(scores.values()):
            panels[f"At most {leaves} leaves"] = scores
    if not panels:
        return ""
    draw_ranks(panels, picture)
    return f"{_words('ranks')}\n\n![Mean ranks of the methods](images/{picture.name})"


def _well_measured(results: Results, leaves: int) -> list[str]:
    """Return the single trees with at least half as many fits as the one with the most."""
    methods = _shown(results, leaves, ceilings=False)
    counts = Counter(key.method for key in results if key.leaves == leaves)
    most = max((counts[method] for method in methods), default=0)
    return [method for method in methods if 2 * counts[method] >= most]


def _every_table(results: Results, leaves: int) -> str:
    methods = _shown(results, leaves)
    scores = [scores_by_table(results, method, leaves, "accuracy") for method in methods]
    tables = sorted({table for of_method in scores for table in of_method})
    counts = Counter(
        key.table for key in results if (key.method, key.leaves) == ("optimal-cv", leaves)
    )
    rows = [
        (table, *(_points(of.get(table)) for of in scores), counts[table] or None)
        for table in tables
    ]
    header = ["accuracy", *(f"{METHODS[method].short} [.1f]" for method in methods), "splits"]
    title = f"## Every table, at most {leaves} leaves"
    return f"{title}\n\n{_words('every')}\n\n{format_table(header, rows)}"


def _papers(results: Results) -> list[str]:
    tables = [f"### {title}\n\n{table}" for title, table in paper_tables(results)]
    own = {key: result for key, result in results.items() if key.rows != "seeded"}
    return [_with_limits(_words("papers"), own), *tables] if tables else []
