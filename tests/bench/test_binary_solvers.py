"""The solvers for binary columns: DL8 and DL8.5 here, and the peers that are installed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from provetree.bench.data import BenchTable
from provetree.bench.peers import Comparison, Result, choose_peers, compare, format_comparisons
from provetree.bench.solvers import ITEMSET_VARIANTS, SOLVERS, Fit, warm_up
from provetree.bench.worker import Run

PRICE = 0.04


def binary_table() -> BenchTable:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (80, 6)).astype(float)
    y = ((X[:, 0] > X[:, 1]) ^ (rng.random(80) < 0.2)).astype(np.int64)
    return BenchTable("binary", X, y)


def best_cost(table: BenchTable, price: float) -> float:
    """The least cost of any tree of depth two, by trying all."""

    def error(inside: np.ndarray) -> int:
        return int(min((table.y[inside] == c).sum() for c in (0, 1)))

    def stump(inside: np.ndarray) -> float:
        splits = [
            error(inside & (x == 0)) + error(inside & (x == 1)) + 2 * price for x in table.X.T
        ]
        return min(error(inside) + price, *splits)

    everything = np.ones(len(table.y), dtype=bool)
    roots = [stump(x == 0) + stump(x == 1) for x in table.X.T]
    return min(error(everything) + price, *roots)


@pytest.mark.parametrize("name", [*ITEMSET_VARIANTS, "provetree", "pystreed", "pydl8.5"])
def test_fewest_errors(name: str) -> None:
    solver = SOLVERS[name]
    if not solver.installed:
        pytest.skip(f"{solver.distribution} is not installed")
    table = binary_table()
    warm_up(solver)
    fit = solver.fit(table, 2, 20.0)
    assert fit.proven
    assert fit.errors == fit.errors_float32 == best_cost(table, 0.0)
    assert fit.cost is None


@pytest.mark.parametrize("name", ["provetree", "pystreed", "gosdt", "imodels"])
def test_a_price_per_leaf(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    solver = SOLVERS[name]
    if not solver.installed:
        pytest.skip(f"{solver.distribution} is not installed")
    if name == "imodels":  # it would compile itself for a minute when it is first imported
        monkeypatch.setattr("numba.config.DISABLE_JIT", True)
    table = binary_table()
    fit = solver.fit(table, 2, 20.0, PRICE)
    assert fit.proven
    assert fit.cost == pytest.approx(best_cost(table, PRICE * len(table.y)))


def test_raw_columns_are_binarised_for_dl85() -> None:
    table = BenchTable("raw", np.arange(9.0).reshape(-1, 1), np.array([0, 0, 0, 1, 1, 1, 0, 0, 0]))
    assert SOLVERS["dl85-descending"].fit(table, 2, 5.0).errors == 0
    if SOLVERS["pystreed"].installed:
        with pytest.raises(ValueError, match="not of 0 and 1"):
            SOLVERS["pystreed"].fit(table, 2, 5.0)


def test_choice_of_peers() -> None:
    assert choose_peers("cp4im", "") == ("pystreed", "pydl8.5")
    assert choose_peers("cp4im", "", 0.01) == ("pystreed", "imodels", "gosdt")
    with pytest.raises(ValueError, match=r"'pydl8\.5' knows no price per leaf"):
        choose_peers("cp4im", "pydl8.5", 0.01)
    with pytest.raises(ValueError, match="'gosdt' needs a price per leaf"):
        choose_peers("cp4im", "gosdt")
    with pytest.raises(ValueError, match="--price must be 0 or more"):
        choose_peers("cp4im", "", -1.0)


def test_costs_are_compared_and_depth_explains() -> None:
    table = binary_table()
    costs = {"provetree": 10.0, "gosdt": 10.0 + 1e-7, "imodels": 9.5}
    depths = {"provetree": None, "gosdt": None, "imodels": 3}

    def run(solver: str, table: BenchTable) -> Run:
        return Run("done", (Fit(0.1, 8, 8, True, None, costs[solver], depths[solver]),))

    found = compare(table, ["gosdt", "imodels"], 5.0, 1, run, depth=2)
    assert not found.disagreement
    assert found.notes == [
        "imodels knows no limit on the depth: its tree has depth 3 and costs 9.5"
    ]
    assert "| cost |" in format_comparisons([found], "gosdt")
    depths["imodels"] = 2
    assert compare(table, ["imodels"], 5.0, 1, run, depth=2).disagreement


def test_errors_are_compared_without_a_price() -> None:
    for ours, theirs in itertools.product((3, 4), repeat=2):
        one, other = Result("a", "proven", 1.0, ours, ours), Result("b", "proven", 1.0, theirs)
        assert one.agrees_with(other) == (ours == theirs)
    pair = Comparison("t", "9 x 2", Result("a", "proven", 1.0, 3, 3), {"b": Result("b")})
    assert "errors" in format_comparisons([pair], "b").splitlines()[0]
