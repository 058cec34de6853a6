"""A search that leaves claims for a certificate, and writes them to a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from provetree.export.certificate import Certificate, WhatIsRead, write_certificate
from provetree.problem.prepare import Prepared
from provetree.problem.problem import Problem
from provetree.problem.rules import rules_given
from provetree.search.engine import ExactSearch
from provetree.solution import Engine, Limits, Progress, Solution

if TYPE_CHECKING:
    from provetree._core import SearchResult

__all__ = ["DEEPEST", "CertifyingSearch", "certify_by_search", "check_certifiable"]

#: Checkers refuse deeper trees.
DEEPEST = 64
#: More splits than any tree of a table has; checkers want numbers below 10**18.
_MOST_SPLITS = 2**59


def check_certifiable(estimator: Any, sample_weight: Any, weight: str | None) -> None:
    """Refuse what no certificate can be about."""
    criterion = getattr(estimator, "criterion", "errors")
    costs = ("cost_matrix", "leaf_cost")
    other = next((name for name in costs if getattr(estimator, name, None) is not None), None)
    if criterion != "errors" or other is not None:
        raise ValueError(
            "Certificates are about errors: the 'criterion' must be 'errors', without a "
            f"'cost_matrix' or 'leaf_cost'. Got {other or criterion!r}."
        )
    if getattr(estimator, "splits", "columns") not in ("columns", "pairs"):
        raise ValueError(
            "Certificates are about questions on columns and on sums of two: the 'splits' must be "
            f"'columns' or 'pairs'. Got {estimator.splits!r} instead."
        )
    for name in rules_given(estimator):
        raise ValueError(
            f"Certificates are about all trees of a size: the {name!r} must be None. "
            f"Got {getattr(estimator, name)!r} instead."
        )
    if getattr(estimator, "category_splits", "one") != "one":
        raise ValueError(
            "Certificates are about questions on one category at a time: the 'category_splits' "
            f"must be 'one'. Got {estimator.category_splits!r} instead."
        )
    if sample_weight is not None and weight is None:
        raise ValueError(
            "The 'weight' parameter of certify must name the column of weights. Got None instead."
        )
    if estimator.max_depth is not None and estimator.max_depth > DEEPEST:
        raise ValueError(
            "The 'max_depth' parameter of a certificate must be an int in the range "
            f"[0, {DEEPEST}]. Got {estimator.max_depth!r} instead."
        )


def certify_by_search(
    path: str | os.PathLike[str],
    prepared: Prepared,
    asked: tuple[int, int | None],
    names: WhatIsRead,
    found: Solution,
    *,
    listed: tuple[Problem, list[list[float]]] | None = None,
    time_limit: float | None = None,
) -> Certificate:
    """Write the certificate of an optimum that another engine has found.

    The exact search proves the same claim with a proof that checkers can follow, and must come to
    the same cost where both are proven.
    """
    engine = CertifyingSearch(ExactSearch())
    problem = prepared.problem if listed is None else listed[0]
    again = engine.solve(problem, Limits(time_limit=time_limit))
    both_proven = found.status == again.status == "optimal"
    if both_proven and again.cost != found.cost:
        raise RuntimeError(
            f"The certificate is about a tree of cost {again.cost}, and the tree that was found "
            f"costs {found.cost}: please report this."
        )
    return engine.write(path, prepared, asked, names, listed)


@dataclass
class CertifyingSearch:
    """An exact search that keeps what a certificate needs."""

    search: Engine
    kept: list[SearchResult] = field(default_factory=list)

    def solve(
        self,
        problem: Problem,
        limits: Limits | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Solution:
        """Return the best tree found within the limits; see :meth:`provetree.Engine.solve`."""
        assert isinstance(self.search, ExactSearch)
        # What workers elsewhere have proven stays with them.
        alone = replace(self.search, on_certified=self.kept.append, workers=None)
        return alone.solve(problem, limits, on_progress)

    def write(
        self,
        path: str | os.PathLike[str],
        prepared: Prepared,
        asked: tuple[int, int | None],
        names: WhatIsRead,
        listed: tuple[Problem, list[list[float]]] | None = None,
    ) -> Certificate:
        """Write the certificate; `asked` are the largest depth and number of leaves."""
        result = self.kept[-1]
        depth, leaves = asked
        splits = min(2**depth - 1, _MOST_SPLITS)
        if leaves is not None:
            splits = min(splits, int(leaves) - 1)
        tree = (result["column"].tolist(), result["rank_low"].tolist(), result["label"].tolist())
        return write_certificate(
            path, prepared, result["certified"], tree, (int(depth), splits), names, listed
        )
