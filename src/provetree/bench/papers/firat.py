"""Firat et al. 2020: Tables 3, 4 and 7 to 10, published numbers beside ours.

Hand posture is not among the benchmark tables. BinOCT and OCT are shown as published.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from provetree.bench.data import load_split
from provetree.bench.paper import SPLITS, PaperOptions, mean, published
from provetree.bench.papers._colgen import DEPTHS, Runs, published_by_depth
from provetree.bench.papers._tuned_cart import GRID, tuned_cart

#: The published tables, by data set and depth.
TABLE_3, TABLE_7, TABLES_8_TO_10 = (
    published_by_depth("firat", table) for table in ("3", "7", "8 to 10")
)
SMALL, LARGE = (tuple(dict.fromkeys(name for name, _ in table)) for table in (TABLE_7, TABLE_3))

#: CGH as published: all row constraints, a subproblem per leaf and class, a MIP at the end.
#: Rows that no candidate tells apart are one constraint here; written twice it would be the same.
_CGH: dict[str, Any] = {
    "variant": "original",
    "merge_rows": True,
    "integer_step": "mip",
    "prove": False,
}


def run(options: PaperOptions) -> int:
    """Print the tables that were asked for."""
    of_depth = {"8": 2, "9": 3, "10": 4}
    tables = {"3": _table_3, "4": _table_4, "7": _table_7}
    options.check(
        datasets=(*SMALL, *LARGE), tables=(*tables, *of_depth), depths=DEPTHS, splits=SPLITS
    )
    runs = Runs(options)
    for number, table in tables.items():
        if options.wants_table(number):
            table(runs)
    for number, depth in of_depth.items():
        if options.wants_table(number) and options.wants_depth(depth):
            _test_table(runs, number, depth)
    return 0


def _tuned_cart(runs: Runs, name: str, depth: int) -> float | None:
    """Return the accuracy of CART*: the 80 combinations of Table 5 by 10-fold cross-validation.

    The trees of all depths come from the same fits, so a cell holds them all.
    """

    def compute(split: int) -> dict[str, Any]:
        train, test = (load_split(name, split)[part] for part in ("train", "test"))
        return {
            str(depth): {
                "test": 100 * float(cart.score(test.X, test.y)),
                "chosen": {parameter: cart.get_params()[parameter] for parameter in GRID},
            }
            for depth, cart in tuned_cart(train.X, train.y, DEPTHS).items()
        }

    cells = [
        runs.options.cell(f"cart-star/{name}/split={split}", partial(compute, split))
        for split in runs.splits
    ]
    return mean([cell[str(depth)] for cell in cells], "test")


def _table_3(runs: Runs) -> None:
    rows = [
        (
            name,
            depth,
            *TABLE_3[name, depth],
            runs.cart_mean(name, depth, "test"),
            _tuned_cart(runs, name, depth),
            mean(runs.generations(name, depth, "cgh", _CGH), "test"),
        )
        for name, depth in runs.wanted(LARGE)
    ]
    runs.print(
        "Table 3: test accuracy (%), large data sets; (p) as published",
        "data set | depth | CART (p) [.1f] | CART* (p) [.1f] | CGH (p) [.1f] | CART [.1f] | "
        "CART* [.1f] | CGH [.1f]",
        rows,
        "The paper's own splits of the large data sets are not known.",
    )


def _table_4(runs: Runs) -> None:
    rows = []
    names = runs.options.wanted_datasets(SMALL)
    for depth, integral in zip(DEPTHS, published("firat", "4")["integral"], strict=True):
        if not runs.options.wants_depth(depth):
            continue
        cells = [cell for name in names for cell in runs.generations(name, depth, "cgh", _CGH)]
        whole = sum(bool(cell["master_integral"]) for cell in cells)
        proves = sum(bool(cell["master_proves"]) for cell in cells)
        share = 100 * whole / len(cells) if cells else None
        rows.append((depth, f"{integral}/70", f"{whole}/{len(cells)}", share, proves))
    header = "depth | integral (paper) | integral | % [.0f] | value proves the tree"
    runs.print("Table 4: integral relaxations, small data sets", header, rows)


def _table_7(runs: Runs) -> None:
    rows = []
    for name, depth in runs.wanted(SMALL):
        cells = runs.generations(name, depth, "cgh", _CGH)
        best = runs.generations(name, depth, "revised", {"sample_share": 0.9})
        rows.append(
            (
                name,
                depth,
                *TABLE_7[name, depth],
                runs.cart_mean(name, depth, "train"),
                mean(cells, "train"),
                mean(best, "train"),
                runs.optimum_mean(name, depth),
                max(cell["seconds"] for cell in cells),
            )
        )
    header = (
        "data set | depth | CART (p) [.1f] | BinOCT (p) [.1f] | CGH (p) [.1f] | CART [.1f] | "
        "CGH [.2f] | candidate optimum [.2f] | optimum [.2f] | most s [.2f]"
    )
    runs.print("Table 7: train accuracy (%), small data sets", header, rows)


def _test_table(runs: Runs, number: str, depth: int) -> None:
    rows = [
        (
            name,
            *TABLES_8_TO_10[name, depth],
            runs.cart_mean(name, depth, "test"),
            mean(runs.generations(name, depth, "cgh", _CGH), "test"),
        )
        for name in runs.options.wanted_datasets(SMALL)
    ]
    header = (
        "data set | CART (p) [.1f] | OCT (p) [.1f] | BinOCT (p) [.1f] | CGH (p) [.1f] | "
        "CART [.1f] | CGH [.1f]"
    )
    title = f"Table {number}: test accuracy (%), small data sets, depth {depth}"
    runs.print(title, header, rows)
