"""Patel, Desaulniers, Lodi 2023: Tables 6 to 9 and Figures 1 to 7, published numbers beside ours.

Hand posture is not among the benchmark tables, so averages over large data sets are over five.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import product
from typing import Any

from provetree.bench.paper import SPLITS, PaperOptions
from provetree.bench.papers._colgen import DEPTHS, Runs, draw_bars, mean, published, shown
from provetree.bench.report import format_table

SMALL = (
    "tic-tac-toe",
    "pima-indians-diabetes",
    "car-evaluation",
    "seismic-bumps",
    "spambase",
    "statlog-satellite",
)
LARGE = ("default-credit", "htru2", "letter", "magic04", "shuttle")

#: What can be asked for; "pricing" is no table of the paper and shown only when asked for.
TABLES = ("6", "7", "8", "9", *(f"fig{number}" for number in range(1, 8)), "pricing")

#: Table 6: train accuracy with each form of the row constraints.
TABLE_6 = {
    "none": 81.85,
    "lower": 82.04,
    "upper": 82.29,
    "equality": 82.29,
    "all": 82.28,
    "extra": 82.26,
}
_FORMS = {
    "none": "No Beta",
    "lower": "Beta Lb",
    "upper": "Beta Ub",
    "equality": "Beta Eq",
    "all": "All Beta",
    "extra": "Extra Beta",
}
#: Table 7: (CART, CG of Firat et al., CART, revised CG), train.
TABLE_7 = published(
    """
tic-tac-toe | 71.2 71.8 71.3 71.8 | 75.4 76.7 75.4 77.4 | 84.4 85.4 84.5 86.2
pima-indians-diabetes | 77.3 78.8 77.3 78.8 | 78.9 81.2 78.9 81.3 | 82.9 84.2 82.9 85.3
car-evaluation | 76.9 76.9 76.9 76.9 | 79.0 79.8 79.0 80.2 | 84.2 85.2 84.2 85.7
seismic-bumps | 93.1 93.3 93.1 93.4 | 93.4 93.7 93.4 93.7 | 93.9 94.2 93.9 94.3
spambase | 86.0 87.1 85.9 87.2 | 89.6 90.3 89.6 90.3 | 91.6 91.6 91.6 92.0
statlog-satellite | 63.2 64.0 63.2 64.3 | 78.7 79.5 78.7 80.0 | 81.6 82.9 81.6 83.6
"""
)
#: Table 8: (CART, CG of Firat et al., CART, revised CG), test.
TABLE_8 = published(
    """
default-credit | 82.3 82.3 81.9 81.9 | 82.3 82.3 82.0 82.0 | 82.3 82.3 81.9 82.0
htru2 | 97.8 97.8 97.6 97.6 | 97.9 97.9 97.7 97.7 | 98.0 98.0 97.8 97.7
letter | 12.5 12.7 12.3 12.7 | 17.7 18.6 17.6 19.6 | 24.8 27.0 24.5 27.8
magic04 | 78.4 79.1 79.0 79.7 | 79.1 80.1 79.1 79.9 | 81.5 81.5 81.6 82.4
shuttle | 93.7 93.7 93.9 93.9 | 99.6 99.7 99.6 99.7 | 99.8 99.8 99.8 99.8
"""
)
#: Table 9: (CART, revised CG), train.
TABLE_9 = published(
    """
default-credit | 82.0 82.0 | 82.2 82.2 | 82.3 82.5
htru2 | 97.8 97.8 | 98.0 98.1 | 98.2 98.3
letter | 13.1 13.4 | 18.2 20.8 | 25.6 28.8
magic04 | 79.6 80.0 | 80.0 81.0 | 82.7 83.7
shuttle | 93.9 93.9 | 99.7 99.7 | 99.8 99.9
"""
)
#: Instances that Extra Beta proves, out of 55 (Figure 7).
FIGURE_7_EXTRA = (53, 55)

#: Candidates as the paper describes them, as its released script draws them, and ten times as many
#: as described. The relaxation is solved for the first only.
_CANDIDATES: Mapping[str, dict[str, Any]] = {
    "revised": {"sample_share": 0.9},
    "script": {"candidates": "script", "solve_master": False},
    "factor-10": {"sample_share": 0.9, "candidate_factor": 10, "solve_master": False},
}


def run(options: PaperOptions) -> int:
    """Print the tables that were asked for."""
    options.check(datasets=(*SMALL, *LARGE), tables=TABLES, depths=DEPTHS, splits=SPLITS)
    runs = Runs(options)
    wanted = options.wants_table
    if wanted("7"):
        _accuracy_table(
            runs, "Table 7: train accuracy (%), small data sets", SMALL, TABLE_7, "train"
        )
    if wanted("8"):
        _accuracy_table(runs, "Table 8: test accuracy (%), large data sets", LARGE, TABLE_8, "test")
    if wanted("9"):
        published = {key: (*(None,) * 2, *value) for key, value in TABLE_9.items()}
        _accuracy_table(
            runs, "Table 9: train accuracy (%), large data sets", LARGE, published, "train"
        )
    names = options.wanted_datasets((*SMALL, *LARGE))
    if wanted("fig1"):
        _preparation(runs, names)
    if wanted("fig2") or wanted("fig3"):
        _subproblems(runs, names)
    if "pricing" in options.tables:
        _pricing(runs, names)
    if any(wanted(name) for name in ("fig4", "fig5", "fig7")):
        _relaxations(runs, names)
    if any(wanted(name) for name in ("6", "fig6")):
        _row_constraints(runs, names)
    return 0


def _accuracy_table(
    runs: Runs,
    title: str,
    names: Iterable[str],
    published: Mapping[tuple[str, int], tuple[float | None, ...]],
    part: str,
) -> None:
    rows = []
    below = []
    for name, depth in product(
        runs.options.wanted_datasets(names), runs.options.wanted_depths(DEPTHS)
    ):
        row, reached = _accuracy_row(runs, name, depth, published[name, depth], part)
        rows.append(row)
        paper = published[name, depth][-1]
        if paper is not None and reached is not None and reached < paper - 0.2:
            below.append(f"{name} at depth {depth}: {reached:.2f} against {paper}")
    header = (
        "data set | depth | CART (paper) | CG Firat (paper) | CG revised (paper) | CART | "
        "CG, text | CG, script | CG, 10 q | gain | optimum | proven | most s"
    )
    print(f"\n{title}\n{format_table(header, rows)}")
    print(
        "CG text samples candidates as the paper says (90 % of the rows), script as its released "
        "script does (70 %, its seeds), 10 q keeps ten times as many of the first; gain: of the "
        "second over CART; optimum: proven over all thresholds, where all splits were; proven: "
        "splits on which the tree is proven for the candidate set; most s: longest run of the "
        "first after sampling."
    )
    for sentence in below:
        print(f"more than 0.2 below the paper: {sentence}")
    runs.print_cut_off()


def _accuracy_row(
    runs: Runs, name: str, depth: int, paper: tuple[float | None, ...], part: str
) -> tuple[tuple[str, ...], float | None]:
    """Return one line, and the better of our two accuracies that the paper's is held against."""
    cart = runs.cart_mean(name, depth, part)
    ours = {
        label: [runs.generation(name, s, depth, label, **setting) for s in runs.splits]
        for label, setting in _CANDIDATES.items()
    }
    best = mean([runs.optimum(name, s, depth) for s in runs.splits], "train")
    text, script, ten = (mean(cells, part) for cells in ours.values())
    row = (
        name,
        str(depth),
        shown(paper[2]),
        shown(paper[1]),
        shown(paper[3]),
        shown(cart, 2),
        shown(text, 2),
        shown(script, 2),
        shown(ten, 2),
        shown(None if cart is None or script is None else script - cart, 2),
        shown(best, 2) if part == "train" else "-",
        f"{sum(cell['candidate_optimal'] for cell in ours['revised'])}",
        shown(max(cell["seconds"] for cell in ours["revised"]), 2),
    )
    return row, None if text is None or script is None else max(text, script)


def _preparation(runs: Runs, names: list[str]) -> None:
    """Print Figure 1: time with and without start columns and merged rows."""
    variants: dict[str, dict[str, Any]] = {
        "Default": {},
        "No Preprocess": {"merge_rows": False},
        "No Init": {"start_runs": 0},
    }
    _figure(
        runs,
        "Figure 1: seconds after sampling, depth 4",
        names,
        {
            label: ("prep-" + label.replace(" ", "-"), setting)
            for label, setting in variants.items()
        },
        {"seconds": ("seconds", 2, 1)},
    )


def _subproblems(runs: Runs, names: list[str]) -> None:
    """Print Figures 2 and 3: columns and gain with original and merged subproblems."""
    as_published: dict[str, Any] = {
        "row_constraints": "upper",
        "integer_step": "mip",
        "prove": False,
    }
    original = {"variant": "original", "merge_rows": True, "start_runs": 100}
    variants: dict[str, tuple[str, dict[str, Any]]] = {
        "original SP": ("sp-original", as_published | original),
        "merged SP": ("sp-merged", as_published),
    }
    _figure(
        runs,
        "Figures 2 and 3: columns, and gain over CART (points), depth 4",
        names,
        variants,
        {"columns": ("columns", 0, 2), "gain": ("gain", 2, 3), "seconds": ("seconds", 2, None)},
    )


def _forms(**common: Any) -> dict[str, dict[str, Any]]:
    """Return the settings of the six forms of the row constraints, and of routes."""
    forms: dict[str, dict[str, Any]] = {
        label: {"row_constraints": form, **common} for form, label in _FORMS.items()
    }
    forms["Extra Beta"]["separation"] = "search"
    forms["Routes"] = {"row_constraints": "extra", "separation": "routes", **common}
    return forms


def _relaxations(runs: Runs, names: list[str]) -> None:
    """Print Figures 4, 5 and 7: time, value and proofs of each form of the relaxation."""
    variants = {
        label: ("lp-" + label.replace(" ", "-"), setting)
        for label, setting in _forms(solve_master=True).items()
    }
    cells = _figure(
        runs,
        "Figures 4 and 5: seconds after sampling, and master value (%), depth 4",
        names,
        variants,
        {"seconds": ("seconds", 2, 4), "master bound": ("master_bound", 2, 5)},
    )
    rows = []
    for label in variants:
        every = [cell for name in names for cell in cells[name, label]]
        rows.append(
            (
                label,
                f"{sum(bool(cell['master_solved']) for cell in every)}",
                f"{sum(bool(cell['master_integral']) for cell in every)}",
                f"{sum(bool(cell['bound_proves']) for cell in every)} of {len(every)}",
                f"{sum(bool(cell['candidate_optimal']) for cell in every)}",
            )
        )
    header = "form | solved | integral | bound proves the tree | proven by recursion"
    print(f"\nFigure 7\n{format_table(header, rows)}")
    print(
        f"The paper's Extra Beta proves {FIGURE_7_EXTRA[0]} of {FIGURE_7_EXTRA[1]} instances; "
        "its data sets include hand posture and not letter."
    )


def _row_constraints(runs: Runs, names: list[str]) -> None:
    """Print Table 6 and Figure 6: accuracy of the published integer step for each form."""
    variants = {
        label: ("form-" + label.replace(" ", "-"), setting)
        for label, setting in _forms(integer_step="mip", prove=False).items()
    }
    cells = _figure(
        runs,
        "Figure 6: gain over CART (points), and seconds after sampling, depth 4",
        names,
        variants,
        {"gain": ("gain", 2, 6), "seconds": ("seconds", 2, None)},
    )
    published = {label: TABLE_6[form] for form, label in _FORMS.items()}
    rows = []
    for label in variants:
        every = [cell for name in names for cell in cells[name, label]]
        rows.append(
            (
                label,
                shown(published.get(label), 2),
                shown(None if label not in published else published[label] - 81.40, 2),
                shown(mean(every, "train"), 2),
                shown(mean(every, "gain"), 2),
            )
        )
    header = "form | train (paper) | gain (paper) | train | gain"
    print(f"\nTable 6\n{format_table(header, rows)}")
    print(
        "The paper's averages include hand posture. Integer step: a MIP over the columns at hand."
    )


def _pricing(runs: Runs, names: list[str]) -> None:
    """Print how long the same subproblems take here and with CP-SAT (only when asked for)."""
    rows = []
    for name in names:
        cell = runs.cell(f"pricing/{name}", partial(_price_both, runs, name))
        for kind in ("merged", "original"):
            own, theirs = cell[kind]["own"], cell[kind]["cpsat"]
            rows.append(
                (
                    name,
                    kind,
                    str(cell[kind]["subproblems"]),
                    f"{1000 * own:.2f}",
                    f"{1000 * theirs:.0f}",
                    f"{theirs / own:.0f}",
                    f"{cell[kind]['difference']:.1e}",
                )
            )
    header = "data set | subproblems | number | own ms | CP-SAT ms | ratio | difference"
    print("\nPricing: all subproblems of one iteration, depth 4, CPU time on one core")
    print(format_table(header, rows))
    print("CP-SAT: time in its solver only; difference: largest between the best reduced costs.")


def _price_both(runs: Runs, name: str) -> dict[str, Any]:
    """Price with the multipliers of the fifth iteration, both ways."""
    from provetree.colgen.candidates import run_cart, sampled_candidates
    from provetree.colgen.cpsat import CpSatPricing
    from provetree.colgen.integer_step import recursion
    from provetree.colgen.items import build_items
    from provetree.colgen.master import Master
    from provetree.colgen.paths import PathModel
    from provetree.colgen.pricing import Allowed, ExactPricing
    from provetree.problem.problem import build_problem
    from provetree.problem.side_constraints import SideConstraints

    data = runs.data(name, 0)
    problem = build_problem(data.X, data.y, n_classes=data.n_classes, max_depth=4)
    candidates = sampled_candidates(problem, run_cart(problem, 1, 1.0, 0), seed=0)
    model = PathModel(problem, build_items(problem, candidates), SideConstraints())
    everything = Allowed.everything(model)
    tree = recursion(model, everything)
    assert tree is not None
    master = Master(model)
    master.add_paths(model.tree_paths(tree))
    master.add_cuts(list(range(model.items.n_items)), [], "upper")
    solution = master.solve()
    for _ in range(4):
        assert solution is not None
        master.add_paths(ExactPricing(model, 10).price(solution.duals, everything).paths)
        solution = master.solve()
    assert solution is not None
    cell: dict[str, Any] = {}
    for kind, per_target in (("merged", False), ("original", True)):
        own = ExactPricing(model, 1, per_target)
        start = time.process_time()
        found = own.price(solution.duals, everything)
        own_seconds = time.process_time() - start
        sat = CpSatPricing(model, per_target)
        try:
            theirs = sat.price(solution.duals, everything)
            cpsat_seconds = sat.solver.seconds
        finally:
            sat.solver.close()
        difference = 0.0
        for leaf in range(candidates.n_leaves):
            mine = max(found.reduced_cost[found.paths.leaf == leaf], default=0.0)
            other = max(theirs.reduced_cost[theirs.paths.leaf == leaf], default=0.0)
            difference = max(difference, abs(float(mine) - float(other)))
        count = candidates.n_leaves * (model.n_targets if per_target else 1)
        cell[kind] = {
            "subproblems": count,
            "own": own_seconds,
            "cpsat": cpsat_seconds,
            "difference": difference,
        }
    return cell


#: What the axis of a drawn field says.
_UNITS = {
    "seconds": "seconds after sampling",
    "columns": "columns",
    "gain": "gain over CART (points)",
    "master_bound": "bound of the master (%)",
}


def _figure(
    runs: Runs,
    title: str,
    names: list[str],
    variants: Mapping[str, tuple[str, dict[str, Any]]],
    fields: Mapping[str, tuple[str, int, int | None]],
) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Run variants at depth 4, print a table for each field, draw it; return the cells.

    ``fields`` gives by caption the field of a cell, its digits, and the figure that it is.
    """
    cells: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for table in names:
        for label, (key, setting) in variants.items():
            found = []
            for s in runs.splits:
                cell = dict(runs.generation(table, s, 4, key, **setting))
                cell["gain"] = cell["train"] - runs.cart(table, s, 4)["train"]
                found.append(cell)
            cells[table, label] = found
    print(f"\n{title}")
    for caption, (field, digits, number) in fields.items():
        rows = [
            (table, *(shown(mean(cells[table, label], field), digits) for label in variants))
            for table in names
        ]
        print(format_table((caption, *variants), rows))
        if number is None:
            continue
        draw_bars(
            runs.options.figures,
            f"patel-figure-{number}",
            f"Figure {number}: {caption}, depth 4",
            names,
            {label: [mean(cells[table, label], field) for table in names] for label in variants},
            unit=_UNITS[field],
            logarithmic=field == "seconds",
        )
    runs.print_cut_off()
    return cells
