"""The list of known optima itself; the optima are checked in tests/test_known_optima.py."""

from __future__ import annotations

import pytest

from provetree.bench.known import KNOWN_OPTIMA, select


def test_no_optimum_is_listed_twice() -> None:
    assert len({(optimum.table, optimum.depth) for optimum in KNOWN_OPTIMA}) == len(KNOWN_OPTIMA)


def test_choice_of_tables() -> None:
    assert {optimum.table for optimum in select(3, "bank,wilt")} == {"contree-bank", "contree-wilt"}
    assert {optimum.depth for optimum in select(4, "")} == {4}
    with pytest.raises(ValueError, match=r"--tables must be among bank, .* Got iris instead"):
        select(None, "iris")
