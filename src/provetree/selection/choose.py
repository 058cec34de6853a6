"""Chooses how a tree of numbers is grown, by cross-validation, and grows it on all rows.

A candidate is a least number of rows of a leaf, a share of a forest in the targets
(:mod:`provetree.selection.forest`), a strength of shrinkage, and what splits may be about: one
column, or sums of two as well (:mod:`provetree.selection.pair_columns`). In each fold, a candidate
is searched once, with the greatest number of leaves; its best prunings stand for the smaller sizes.
The first candidate is what does well on most tables. Another must be better by more than folds
differ by chance. All rows then get a path of searches with the chosen candidate, and the chosen
size a longer one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from provetree.number_types import Float
from provetree.problem.combinations import Combination
from provetree.problem.losses import CENTRES
from provetree.problem.pairs import sums_among
from provetree.problem.prepare import Prepared
from provetree.problem.problem import Problem
from provetree.search.engine import ExactSearch
from provetree.selection.forest import FEWEST_ROWS, forest_targets, mixed_targets
from provetree.selection.frontier import FrontierPoint, solve_frontier
from provetree.selection.pair_columns import columns_worth_pairing
from provetree.selection.path import Folds, TuningPath, joined_path
from provetree.selection.pruning import best_prunings
from provetree.selection.scores import explained_share, mean_losses
from provetree.selection.time_shares import started_jobs, time_shares
from provetree.solution import Limits, Progress, Solution
from provetree.tree.build import build_tree
from provetree.tree.shrinkage import shrunk_towards_path
from provetree.tree.start_tree import start_tree_of
from provetree.tree.tree import Tree
from provetree.tree.values import Numbers

__all__ = ["Candidate", "Chosen", "Grid", "best_candidate", "choose"]

#: The share of the time limit that is kept for the trees of all rows.
_LAST_SHARE = 1 / 3
#: What the trees of all rows get at least, in seconds.
_LEAST_SECONDS = 0.2
#: The share of the time of a fold, or of all rows, that a forest may take.
_FOREST_SHARE = 1 / 4
#: A search in a fold gets this share of the steps.
_SHORT_SHARE = 1 / 10
#: A search of a size that was not chosen gets this share of them.
_PATH_SHARE = 1 / 50
#: Sums of two columns are harder to read: they are taken where they are ahead by this many standard
#: errors, as those of classes are.
_WORTH_OF_PAIRS = 0.5


class Candidate(NamedTuple):
    """How a tree is grown, but for its number of leaves."""

    min_samples_leaf: int | float
    forest_share: float
    shrinkage: float
    splits: str = "columns"


@dataclass(frozen=True)
class Grid:
    """What there is to choose from, and how long a search may take.

    Examples
    --------
    >>> from provetree.selection.choose import Grid
    >>> grid = Grid(6, 8, [5, 1], [1.0, 0.0], [0.0, 9.0], 100)
    >>> [tuple(candidate[:3]) for candidate in grid.candidates[::2]]
    [(5, 1.0, 0.0), (5, 0.0, 0.0), (1, 1.0, 0.0)]
    """

    max_depth: int
    max_leaf_nodes: int
    min_samples_leaf: Sequence[int | float]
    forest_share: Sequence[float]
    shrinkage: Sequence[float]
    max_work: int | None
    splits: Sequence[str] = ("columns",)
    #: The columns worth pairing, by the rows they were found on.
    _paired: dict[int, list[int]] = field(default_factory=dict, repr=False)

    @property
    def searches(self) -> list[Candidate]:
        """The candidates that need a search of their own: one for all strengths of shrinkage.

        The first least number of rows is tried with all shares, the others with the first share.
        Where splits may be about one column or two, two are tried with the first of everything.
        """
        (least, *others), (about, *more) = self.min_samples_leaf, self.splits
        ways = [(least, share, about) for share in self.forest_share]
        ways += [(other, self.forest_share[0], about) for other in others]
        ways += [(least, self.forest_share[0], other) for other in more]
        return [Candidate(least, share, self.shrinkage[0], about) for least, share, about in ways]

    @property
    def candidates(self) -> list[Candidate]:
        """All candidates, those of one search one after the other."""
        return [one._replace(shrinkage=s) for one in self.searches for s in self.shrinkage]

    def work(self, share: float) -> int | None:
        """Return a share of the steps, at least one."""
        return None if self.max_work is None else max(1, round(self.max_work * share))

    def problem(
        self,
        prepared: Prepared,
        rows: NDArray[np.intp],
        one: Candidate,
        until: float = math.inf,
    ) -> Problem:
        """Return the problem of some rows with the limits of a candidate."""
        return prepared.problem_of(
            rows,
            more=self._sums(prepared, rows, until) if one.splits == "pairs" else (),
            max_depth=self.max_depth,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=one.min_samples_leaf,
        )

    def paired(
        self, prepared: Prepared, rows: NDArray[np.intp], until: float = math.inf
    ) -> list[int]:
        """Return the columns that sums are made of where some rows are learned from."""
        key = hash(rows.tobytes())
        if key not in self._paired:
            assert prepared.targets is not None  # for the type checker
            weights = None if prepared.weights is None else prepared.weights[rows]
            self._paired[key] = columns_worth_pairing(
                prepared.encoded[rows],
                prepared.targets.values[rows],
                weights,
                prepared.encoder.categories,
                until,
            )
        return self._paired[key]

    def _sums(
        self, prepared: Prepared, rows: NDArray[np.intp], until: float
    ) -> tuple[Combination, ...]:
        """Return the sums that some rows are asked about."""
        levels, among = prepared.encoder.categories, self.paired(prepared, rows, until)
        return sums_among(prepared.encoded, prepared.weights, levels, among)


class Chosen(NamedTuple):
    """What the cross-validation chose."""

    path: TuningPath  # of all rows, with the chosen candidate
    candidate: Candidate
    paired: list[int] | None  # the columns that sums are made of
    candidates: list[Candidate]
    scores: list[Float]  # of each candidate: folds x numbers of leaves


def choose(
    prepared: Prepared, grid: Grid, folds: Folds, time_limit: float | None, n_jobs: int | None
) -> Chosen:
    """Return the candidate that does best on rows held out, and its path on all rows."""
    end = None if time_limit is None else time.monotonic() + time_limit
    every_row = np.arange(len(prepared.codes))
    whole = prepared.problem_of(every_row, max_depth=grid.max_depth)
    grid = replace(grid, max_leaf_nodes=min(grid.max_leaf_nodes, whole.max_splits + 1))
    if whole.n_rows < FEWEST_ROWS:
        grid = replace(grid, forest_share=[0.0])
    if not folds:
        weights = prepared.weights
        n_rows = len(every_row) if weights is None else int((weights > 0).sum())
        raise ValueError(
            "Choosing by cross-validation needs at least 2 rows, to hold some out. "
            f"Got n_samples={n_rows}{'' if weights is None else ' that weigh something'}."
        )
    n_jobs = started_jobs(n_jobs, time_limit, __name__)
    for_folds = None if end is None else max(end - time.monotonic(), 0.0) * (1 - _LAST_SHARE)
    of_folds = Parallel(n_jobs=n_jobs)(
        # One fold is scored, however short the time is.
        delayed(_fold_scores)(prepared, grid, train, test, seconds)
        for number, ((train, test), seconds) in enumerate(
            zip(folds, time_shares(for_folds, len(folds), n_jobs), strict=True)
        )
        if number == 0 or seconds is None or seconds > 0
    )
    scores = [np.array(lines) for lines in zip(*of_folds, strict=True)]
    best = best_candidate(grid, scores)
    size = 1 + int(scores[best].mean(axis=0).argmax())
    left = None
    if end is not None:  # a tree of a single leaf would help nobody
        left = max(end - time.monotonic(), _LEAST_SECONDS)
    points, candidate = _grown(prepared, grid, grid.candidates[best], size, left)
    path = joined_path(points, prepared, scores[best])
    paired = grid.paired(prepared, every_row) if candidate.splits == "pairs" else None
    return Chosen(path, candidate, paired, grid.candidates, scores)


def best_candidate(grid: Grid, scores: list[Float]) -> int:
    """Return the first candidate, or the one that is better by more than one standard error.

    What is judged are the scores of each at its best size, fold by fold. Of several that are
    better, the best is taken; of equal ones, the plainest with large leaves. Splits of another kind
    than the first are taken where the best of them is ahead of that by half a standard error.
    """
    at_best = [each[:, int(each.mean(axis=0).argmax())] for each in scores]

    def rank(i: int) -> tuple[float, ...]:
        one = grid.candidates[i]
        return (float(at_best[i].mean()), -one.forest_share, -one.shrinkage, float(i))

    plain = [i for i, one in enumerate(grid.candidates) if one.splits == grid.splits[0]]
    best = max(plain, key=rank)
    if _ahead(at_best[best], at_best[0]) <= 1:
        best = 0
    others = [i for i in range(len(scores)) if i not in plain]
    other = max(others, key=rank, default=best)
    return other if _ahead(at_best[other], at_best[best]) > _WORTH_OF_PAIRS else best


def _ahead(one: Float, other: Float) -> float:
    """Return by how many standard errors one is ahead of another, fold by fold."""
    if not np.isfinite(other).all():  # there was no time for it
        return math.inf if np.isfinite(one).all() else 0.0
    if not np.isfinite(one).all():
        return -math.inf
    better = one - other
    error = better.std(ddof=1) / math.sqrt(len(better)) if len(better) > 1 else 0.0
    mean = float(better.mean())
    return mean / error if error > 0 else math.copysign(math.inf, mean) if mean else 0.0


# -- folds -------------------------------------------------------------------------------


def _fold_scores(
    prepared: Prepared,
    grid: Grid,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    seconds: float | None,
) -> list[list[float]]:
    """Return the scores of each candidate and number of leaves on the rows held out.

    Candidates that there is no time for have no score, and neither have those that follow a forest
    where there is none; one always has a score.
    """
    end = math.inf if seconds is None else time.monotonic() + seconds
    forest: Float | None = None
    if any(grid.forest_share):
        until = math.inf if seconds is None else end - seconds * (1 - _FOREST_SHARE)
        forest = forest_targets(prepared.problem_of(train, max_depth=1), until)
    if seconds is not None:
        seconds = max(end - time.monotonic(), 0.0)
    follows_targets = 0.0 in grid.forest_share
    found: list[list[float]] = []
    n_scored = 0
    judge = _Judge(prepared, train, test)
    for one, left in zip(grid.searches, time_shares(seconds, len(grid.searches), 1), strict=True):
        no_forest = one.forest_share > 0 and forest is None and follows_targets
        if no_forest or (n_scored and time.monotonic() >= end):
            found += [[-math.inf] * grid.max_leaf_nodes for _ in grid.shrinkage]
            continue
        until = math.inf if left is None else time.monotonic() + _FOREST_SHARE * left
        problem = grid.problem(prepared, train, one, until)
        followed = mixed_targets(problem, forest, one.forest_share)
        found += judge.scores(_search(followed, left, grid.work(_SHORT_SHARE)).tree, grid)
        n_scored += 1
    return found


def _search(problem: Problem, seconds: float | None, max_work: int | None) -> Solution:
    limits = Limits(None if seconds is None else max(seconds, 1e-3), max_work=max_work)
    solution = ExactSearch().solve(problem, limits)
    if solution.status == "interrupted":
        raise KeyboardInterrupt
    return solution


class _Judge:
    """Scores the prunings of trees on the rows that a fold holds out."""

    def __init__(self, prepared: Prepared, train: NDArray[np.intp], test: NDArray[np.intp]) -> None:
        assert prepared.targets is not None  # for the type checker
        weights = prepared.weights
        if weights is None:
            weights = np.ones(len(prepared.codes))
        targets = prepared.targets.values
        self.loss = prepared.problem.loss
        self.varies = mean_losses(self.loss, targets, prepared.weights)
        train = train[weights[train] > 0]
        self.train, self.test = prepared.encoded[train], prepared.encoded[test]
        self.targets, self.weights = targets[train], weights[train]
        self.test_targets, self.test_weights = targets[test], weights[test]

    def scores(self, searched: Tree, grid: Grid) -> list[list[float]]:
        """Return the scores of a tree for each strength of shrinkage and number of leaves."""
        if self.test_weights.sum() <= 0:
            return [[math.nan] * grid.max_leaf_nodes for _ in grid.shrinkage]
        # The sizes are those that are best for what the search was about.
        prunings = best_prunings(searched, searched.values.impurity(), grid.max_leaf_nodes)
        tree = self._on_targets(searched)
        passed = tree.decision_path(self.test).tocsc()
        found = []
        for strength in grid.shrinkage:
            values = _shrunk(tree, strength)
            line = []
            for leaves in prunings:
                predicted = np.asarray(passed[:, leaves] @ values[leaves])
                line.append(
                    explained_share(
                        self.loss, predicted, self.test_targets, self.test_weights, self.varies
                    )
                )
            found.append(line)
        return found

    def _on_targets(self, searched: Tree) -> Tree:
        """Return a tree with the values of the targets as they are, in all its nodes."""
        passed = searched.decision_path(self.train).tocsc()
        value = np.empty_like(searched.value)
        for node in range(searched.n_nodes):
            rows = passed.indices[passed.indptr[node] : passed.indptr[node + 1]]
            for output, targets in enumerate(self.targets[rows].T):
                value[node, output] = _centre(self.loss, targets, self.weights[rows])
        held = searched.values
        assert isinstance(held, Numbers)  # for the type checker
        return searched.replaced(value=replace(held, value=value))


def _centre(loss: str, targets: Float, weights: Float) -> float:
    if loss == "squared_error":  # quicker than a sum that is rounded correctly
        return float(np.average(targets, weights=weights))
    return CENTRES[loss](targets, weights).value


# -- all rows ----------------------------------------------------------------------------


class _Searches:
    """The exact search, with most of the steps for one search of the chosen size."""

    def __init__(self, chosen_splits: int, long_work: int | None, short_work: int | None) -> None:
        self.chosen_splits = chosen_splits
        self.long_work, self.short_work = long_work, short_work
        self.out_of_time = False

    def solve(
        self,
        problem: Problem,
        limits: Limits | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Solution:
        """Search within the limits, and within the steps for this size."""
        work = self.short_work
        if problem.max_splits == self.chosen_splits and not problem.split_penalty:
            work, self.long_work = self.long_work, self.short_work
        asked = replace(Limits() if limits is None else limits, max_work=work)
        solution = ExactSearch().solve(problem, asked, on_progress)
        self.out_of_time |= solution.status == "time_limit"
        return solution


def _grown(
    prepared: Prepared, grid: Grid, candidate: Candidate, size: int, seconds: float | None
) -> tuple[list[FrontierPoint], Candidate]:
    """Return the path of all rows, and how it was grown: without a forest where there is none.

    The trees hold the targets as they are, shrunk as chosen.
    """
    began = time.monotonic()
    end = math.inf if seconds is None else began + seconds
    every_row = np.arange(len(prepared.codes))
    until = math.inf if seconds is None else began + seconds * _FOREST_SHARE
    problem = grid.problem(prepared, every_row, candidate, until)
    forest: Float | None = None
    if candidate.forest_share:
        forest = forest_targets(prepared.problem_of(every_row, max_depth=1), until)
    if forest is None:
        candidate = candidate._replace(forest_share=0.0)
    searches = _Searches(size - 1, grid.max_work, grid.work(_PATH_SHARE))
    followed = mixed_targets(problem, forest, candidate.forest_share)
    left = None if seconds is None else max(end - time.monotonic(), 0.0)
    points = solve_frontier(followed, grid.max_leaf_nodes, left, searches, first=size)
    if not searches.out_of_time and time.monotonic() < end:
        points = [
            replace(point, status="work_limit") if point.status == "time_limit" else point
            for point in points
        ]
    if candidate.forest_share == 0 and candidate.shrinkage == 0:
        return points, candidate
    points = [_on_all_rows(point, prepared, problem, candidate) for point in points]
    return points, candidate


def _on_all_rows(
    point: FrontierPoint, prepared: Prepared, problem: Problem, candidate: Candidate
) -> FrontierPoint:
    """Return a point with a tree that holds the targets as they are, shrunk.

    Nothing is proven of a tree that was searched for other targets. A bound for the leaves before
    they were shrunk holds for those after it, too.
    """
    present = slice(None) if prepared.weights is None else prepared.weights > 0
    splits = start_tree_of(problem, point.tree, prepared.encoded[present])
    tree = build_tree(problem, splits.columns, splits.ranks)
    held = tree.values
    assert isinstance(held, Numbers)  # for the type checker
    tree = tree.replaced(value=replace(held, value=_shrunk(tree, candidate.shrinkage)))
    cost = _cost(tree, prepared)
    bound = 0.0 if candidate.forest_share else min(point.lower_bound, cost)
    # No tree costs less than nothing.
    return FrontierPoint(point.n_leaves, tree, cost, bound, "optimal" if cost == 0 else "feasible")


def _shrunk(tree: Tree, strength: float) -> Float:
    """Return the numbers of all nodes, shrunk towards the nodes above them."""
    return shrunk_towards_path(tree.value, tree.values.weight, tree.left, tree.right, strength)


def _cost(tree: Tree, prepared: Prepared) -> float:
    """Return what a tree of numbers costs on all rows."""
    assert prepared.targets is not None  # for the type checker
    predicted = tree.predict(prepared.encoded).reshape(prepared.targets.values.shape)
    apart = np.abs(prepared.targets.values - predicted)
    lost = (apart**2 if prepared.problem.loss == "squared_error" else apart).sum(axis=1)
    return math.fsum(lost if prepared.weights is None else lost * prepared.weights)
