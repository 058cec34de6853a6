"""Chooses how a classification tree is grown, and how large, by cross-validation within one limit.

First comes a race of settings over folds (:mod:`provetree.selection.race`), then the trees of all
rows for the setting that won, then the proof of the size that was chosen. What time one of them
does not need, the next one has.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs

from provetree.export.calibration import Calibration
from provetree.number_types import Float
from provetree.problem.problem import Problem
from provetree.search.engine import ExactSearch
from provetree.selection.calibration import held_out_calibration
from provetree.selection.folds import FoldPlan
from provetree.selection.frontier import FrontierPoint
from provetree.selection.path import PathPoint
from provetree.selection.probabilities import choose_smoothing
from provetree.selection.race import Entrant, Race, TuningProgress, difference, work_of
from provetree.selection.scoring import RowScorer
from provetree.selection.settings import Setting, TuningTable, balancing
from provetree.selection.sizes import SHALLOW, solve_sizes
from provetree.selection.tuned_path import TriedSetting, TunedPath
from provetree.solution import Limits, Solution
from provetree.tree.smoothing import Smoothing
from provetree.tree.start_tree import start_tree_of

__all__ = ["Tuned", "tune"]

#: The share of the time that the folds have; the rest is for the trees of all rows.
_SHARE_OF_FOLDS = 0.7
#: The share of what is left then that all sizes have, before the chosen one is proven.
_SHARE_OF_PATH = 0.3
#: The search of the chosen size may take so many times what came before it, and at least these
#: seconds, as far as the limit allows.
_TIMES_OF_PROOF, _SECONDS_OF_PROOF = 2.0, 5.0
#: Sums of two columns are taken where they are ahead by this many standard errors.
_WORTH_OF_PAIRS = 0.5


class Tuned(NamedTuple):
    """What was chosen, and the tree of all rows."""

    setting: Setting
    class_weight: Mapping[Any, float] | str | None  # of the setting, in numbers
    paired: list[int] | None  # the columns that sums are made of
    path: TunedPath
    point: PathPoint
    solution: Solution
    max_depth: int  # of the trees that the proof is about
    smoothing: Smoothing | None  # of the least log loss on the rows held out
    calibrated: Callable[[Smoothing | None], Calibration] | None  # on the rows held out


def tune(
    table: TuningTable,
    settings: Sequence[Setting],
    scorer: RowScorer,
    plan: FoldPlan,
    *,
    rule: str,
    deadline: float,
    n_jobs: int | None = None,
    tell: Callable[[TuningProgress], None] | None = None,
) -> Tuned:
    """Race the settings, and return the best tree of all rows for the one that does best.

    Parameters
    ----------
    table : TuningTable
        The rows and the limits of the trees.
    settings : sequence of Setting
        What is tried, the surest first.
    scorer : RowScorer
        What judges the trees on the rows held out.
    plan : FoldPlan
        The folds.
    rule : {"best", "one_standard_error"}
        How the size is chosen.
    deadline : float
        When all must be done, by ``time.monotonic``; infinity for no limit.
    n_jobs : int or None
        Searches at once.
    tell : callable or None
        Told of what is tried.
    """
    now = time.monotonic()
    ends = now + _SHARE_OF_FOLDS * (deadline - now)
    race = Race(table, scorer, plan.rounds, ends, n_jobs, tell)
    race.run(settings)
    notes = list(plan.notes)
    winner = _winner(race)
    if winner is None:
        setting, scores = _without_folds(settings), np.empty((0, 0))
        if plan.rounds:
            notes.append(_why_not(race))
    else:
        setting = winner.setting
        scores = np.array([own[: len(winner.means())] for own in winner.scores])
        if len(winner.scores) < plan.n_folds:
            notes.append(
                f"Time was up after {len(winner.scores)} of {plan.n_folds} folds, so that the "
                "choice is less sure."
            )
    if race.interrupted:
        deadline = min(deadline, time.monotonic() + 0.1)
    if not math.isinf(deadline):
        now, began = time.monotonic(), race.started
        seconds = max(_TIMES_OF_PROOF * (now - began), _SECONDS_OF_PROOF)
        deadline = min(deadline, now + seconds)
    points, proven = _on_all_rows(table, setting, scorer, deadline, n_jobs)
    path_points = _path_points(points, scores, scorer, table, deadline)
    path, point = _chosen_path(race, winner, path_points, scorer, rule, notes, table)
    smoothing, calibrated = None, None
    if winner is not None:
        trees, folds = zip(*race.trees_of(winner, point.n_leaves - 1), strict=True)
        # Shares of classes that weigh more are judged on rows that do.
        weights = table.weights_of(np.arange(table.n_rows), setting)
        judged = replace(table.prepared, weights=weights)
        smoothing = choose_smoothing(trees, judged, folds)
        calibrated = partial(held_out_calibration, trees, judged, folds)
    paired = table.paired(np.arange(table.n_rows)) if setting.splits == "pairs" else None
    solution, depth = proven(point)
    weight = _class_weight(setting, table)
    return Tuned(setting, weight, paired, path, point, solution, depth, smoothing, calibrated)


def _class_weight(setting: Setting, table: TuningTable) -> Mapping[Any, float] | str | None:
    """Return the class weights of a setting on all rows, by label where it balances them."""
    weight, prepared = setting.class_weight, table.prepared
    if isinstance(weight, (int, float)):
        return balancing(prepared.codes, table.sample_weight, prepared.classes, weight)
    return weight


def _winner(race: Race) -> Entrant | None:
    """Return the entrant of the best score, the surest of equal ones."""
    played = [e for e in race.entrants if e.scores and not e.is_out]
    # Who could not play the first round to its end is compared only where nobody could.
    played = [e for e in played if len(e.scores) >= race.n_first] or played
    n_common = min((len(e.scores) for e in played), default=0)
    played = [e for e in played if math.isfinite(e.best(n_common))]
    if not played:
        return None
    ahead = max(played, key=lambda e: e.best(n_common))
    # What dropped out counts as well: sums are to be ahead of one column, not of each other.
    plain = [e for e in race.entrants if e.setting.splits == "columns" and len(e.scores) > 1]
    plain = [e for e in plain if len(e.scores) >= race.n_first] or plain
    if ahead.setting.splits == "columns" or not plain:
        return ahead
    # Questions about two columns are harder to read: what they gain must be more than chance.
    simple = max(plain, key=lambda e: e.best(min(n_common, len(e.scores))))
    behind, error = difference(ahead, simple, min(len(ahead.scores), len(simple.scores)))
    return ahead if behind > _WORTH_OF_PAIRS * error else simple


def _without_folds(settings: Sequence[Setting]) -> Setting:
    """Return the setting that needs no rows held out: pessimistic errors stop by themselves."""
    settings = [s for s in settings if s.splits == settings[0].splits]
    pessimistic = [s for s in settings if s.criterion == "pessimistic"]
    return pessimistic[-1] if pessimistic else settings[0]


def _why_not(race: Race) -> str:
    if any(e.scores for e in race.entrants):
        words = f"No fold could be scored by {race.scorer.name}"
    elif race.interrupted:
        words = "The search was interrupted before the first fold was done"
    else:
        words = "The time limit was too short for one fold"
    return f"{words}, so that nothing was cross-validated."


def _on_all_rows(
    table: TuningTable, setting: Setting, scorer: RowScorer, deadline: float, n_jobs: int | None
) -> tuple[list[FrontierPoint], Callable[[PathPoint], tuple[Solution, int]]]:
    """Return good trees of all rows, and what proves one size in the time left."""
    problem = table.problem_of(np.arange(table.n_rows), setting)
    left = max(deadline - time.monotonic(), 0.0)
    limited = not math.isinf(left)
    points = solve_sizes(
        problem,
        table.max_leaf_nodes,
        range(2, table.max_leaf_nodes + 1),
        left * _SHARE_OF_PATH if limited else None,
        work_of(problem) if limited else None,
        table.worth,
    )
    weights = table.weights_of(np.arange(table.n_rows), setting)
    encoded = table.prepared.encoded
    present = encoded if weights is None else encoded[weights > 0]

    def proven(point: PathPoint) -> tuple[Solution, int]:
        found = points[point.n_leaves - 1]
        jobs = int(effective_n_jobs(n_jobs))
        last = _LastSearch(problem, point.n_leaves, present, scorer, table.worth > 0, jobs)
        return last.run(Solution(point.tree, found.cost, found.lower_bound, found.status), deadline)

    return points, proven


@dataclass(frozen=True)
class _LastSearch:
    """The search of the chosen size on all rows, from the tree at hand on."""

    problem: Problem
    n_leaves: int
    table: Float  # the rows of the problem
    scorer: RowScorer
    free_depth: bool
    n_jobs: int

    def run(self, kept: Solution, deadline: float) -> tuple[Solution, int]:
        """Return the tree, and the depth of the trees that its proof is about.

        Where the depth is free it is that of the tree: each level less is proven many times faster.
        """
        depth = self.problem.max_depth
        if self.free_depth and kept.tree.depth <= SHALLOW:
            depth = min(SHALLOW, depth)
        while kept.status not in ("optimal", "interrupted"):
            left = deadline - time.monotonic()
            if left <= 0:
                break
            depth = max(kept.tree.depth, 1) if self.free_depth else depth
            limits = Limits(None if math.isinf(left) else left, n_jobs=self.n_jobs)
            kept = self._from(kept, depth, limits)
            if not self.free_depth or kept.tree.depth == depth:
                break
        return kept, depth

    def _from(self, kept: Solution, depth: int, limits: Limits) -> Solution:
        problem = self.problem.with_limits(
            max_splits=min(self.n_leaves - 1, self.problem.max_splits)
        )
        if depth < problem.max_depth:
            problem = problem.of_depth(depth)
        start = start_tree_of(problem, kept.tree, self.table)
        again = ExactSearch(initial=(start.columns, start.ranks)).solve(problem, limits)
        bound = max(kept.lower_bound, again.lower_bound)
        # Of two trees of one cost it is the one whose like was judged on the folds.
        better = again.cost < kept.cost
        tree = self.scorer.relabelled(again.tree) if better else kept.tree
        cost = again.cost if better else kept.cost
        return Solution(tree, cost, min(bound, cost), again.status, again.history, again.counters)


def _path_points(
    points: Sequence[FrontierPoint],
    scores: Any,
    scorer: RowScorer,
    table: TuningTable,
    deadline: float,
) -> list[PathPoint]:
    trees = [scorer.relabelled(point.tree) for point in points]
    until = deadline if scorer.smooths else math.inf  # scorers of others may take seconds
    trained = scorer.scores(trees, np.arange(table.n_rows), until)
    found = []
    for i, point in enumerate(points):
        own = scores[:, i] if i < scores.shape[1] else np.empty(0)
        own = own[~np.isnan(own)]
        mean = float(own.mean()) if len(own) else math.nan
        spread = float(own.std(ddof=1)) / math.sqrt(len(own)) if len(own) > 1 else math.nan
        found.append(
            PathPoint(
                point.n_leaves,
                trees[i],
                point.cost,
                point.lower_bound,
                point.status,
                trained[i],
                mean,
                spread,
            )
        )
    return found


def _chosen_path(
    race: Race,
    winner: Entrant | None,
    points: list[PathPoint],
    scorer: RowScorer,
    rule: str,
    notes: list[str],
    table: TuningTable,
) -> tuple[TunedPath, PathPoint]:
    n_folds = 0 if winner is None else len(winner.scores)
    merits = () if winner is None or not scorer.compares_by else tuple(winner.means().tolist())
    path = TunedPath(tuple(points), n_folds, scorer.name, rule=rule, merits=merits)
    if winner is None:
        point = min(points, key=lambda p: (p.errors, p.n_leaves))
        reason = "Nothing was cross-validated: it is the tree of the least cost in training."
    else:
        point = path.choose(rule)
        reason = _reason(winner, point, path, rule, scorer.compares_by)
    tried = tuple(_tried(e, winner, table) for e in race.entrants if e.scores)
    whole = TunedPath(
        path.points,
        n_folds,
        scorer.name,
        tried=tried,
        chosen=point,
        rule=rule,
        reason=reason,
        notes=tuple(notes),
        merits=merits,
    )
    return whole, point


def _reason(winner: Entrant, point: PathPoint, path: TunedPath, rule: str, compared_by: str) -> str:
    leaves = "1 leaf" if point.n_leaves == 1 else f"{point.n_leaves} leaves"
    error = "" if math.isnan(point.cv_error) else f" ± {point.cv_error:.4f}"
    words = (
        f"{winner.setting.words}; {leaves}: {path.score} {point.cv_score:.4f}{error} on rows held "
        f"out in {path.n_folds} {'fold' if path.n_folds == 1 else 'folds'}"
    )
    if rule == "best" or point.n_leaves == path.best.n_leaves:
        by = f", by {compared_by}" if compared_by else ""
        return f"{words}, the best of all that was tried{by}."
    return (
        f"{words}, the smallest within one standard error of the best "
        f"({path.best.cv_score:.4f} with {path.best.n_leaves} leaves)."
    )


def _tried(entrant: Entrant, winner: Entrant | None, table: TuningTable) -> TriedSetting:
    setting = entrant.setting
    weight = setting.class_weight
    if isinstance(weight, (int, float)):
        prepared = table.prepared
        weight = balancing(prepared.codes, table.sample_weight, prepared.classes, weight)
    means = entrant.mean_scores()
    return TriedSetting(
        setting.criterion,
        setting.min_samples_leaf,
        weight,
        setting.words,
        tuple(math.nan if math.isinf(x) else x for x in means.tolist()),
        entrant.best_size() + 1,
        entrant.best_score(),
        len(entrant.scores),
        "chosen" if entrant is winner else entrant.outcome or "not better",
        entrant.seconds,
    )
