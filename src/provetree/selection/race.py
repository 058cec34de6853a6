"""A race of settings over folds: trees of all sizes for each, and those that cannot win drop out.

The first lap brings every criterion with one least number of rows; the leaders then try smaller
ones, and impurities larger ones; what time is left goes to more folds for those that are close. All
searches have the same time, so that settings are compared fairly; a fold that no time is left for
is not begun.
"""

from __future__ import annotations

import math
import multiprocessing
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend
from numpy.typing import NDArray

from provetree.number_types import Float
from provetree.problem.problem import Problem
from provetree.selection.folds import Fold
from provetree.selection.scoring import RowScorer
from provetree.selection.settings import Setting, TuningTable
from provetree.selection.sizes import searched_sizes, solve_sizes
from provetree.selection.time_shares import jobs_within
from provetree.tree.tree import Tree

__all__ = ["Entrant", "Race", "TuningProgress", "grow", "work_of"]

#: A setting drops out when it is behind by so many standard errors of the difference, by the number
#: of folds; with fewer folds the error itself is not known well enough.
_TOO_FAR = {3: 4.0, 4: 3.0}
_TOO_FAR_LATER = 2.0
#: How many settings go on to other least numbers of rows, and to more folds.
_LEADERS = 2
_FINALISTS = 3
#: The steps of the search of one size: so many for each cell (a row in a column), and at least and
#: at most these. Trees hardly get better after that, and the choice does not depend on the machine
#: where there is time for all of it.
_WORK_PER_CELL, _LEAST_WORK, _MOST_WORK = 150, 100_000, 4_000_000
#: Sizes that are behind by more than this many standard errors are not searched on later folds,
#: unless they are a little larger than one that is not.
_SIZES_BEHIND, _MARGIN = 1.0, 1.5
#: Searches of other processes may be so many seconds late.
_LATE = 0.3


class TuningProgress(NamedTuple):
    """What a cross-validation is trying, and how good the best was so far.

    Examples
    --------
    >>> from provetree.selection.race import TuningProgress
    >>> print(TuningProgress(2.0, "gini", 3, 5, "accuracy", 0.91, 6).words)
    fold 3 of 5, gini; best so far: accuracy 0.9100 with 6 leaves
    """

    seconds: float
    trying: str
    fold: int
    n_folds: int
    score: str
    best_score: float
    best_leaves: int

    @property
    def words(self) -> str:
        """The progress in words."""
        now = f"fold {self.fold} of {self.n_folds}, {self.trying}"
        if math.isnan(self.best_score):
            return now
        leaves = "1 leaf" if self.best_leaves == 1 else f"{self.best_leaves} leaves"
        return f"{now}; best so far: {self.score} {self.best_score:.4f} with {leaves}"


class Grown(NamedTuple):
    """The best trees of 1, 2, ... leaves on some rows."""

    trees: list[Tree]
    proven: bool
    interrupted: bool
    seconds: float


def grow(
    table: TuningTable, setting: Setting, rows: NDArray[np.intp], seconds: float | None
) -> Grown:
    """Grow the trees of one setting on some rows, within seconds; without them, proven."""
    started = time.monotonic()
    problem = table.problem_of(rows, setting)
    left = None if seconds is None else max(seconds - (time.monotonic() - started), 0.0)
    most = table.max_leaf_nodes
    work = None if seconds is None else work_of(problem)
    points = solve_sizes(problem, most, searched_sizes(most), left, work, table.worth)
    return Grown(
        [point.tree for point in points],
        all(point.status == "optimal" for point in points),
        any(point.status == "interrupted" for point in points),
        time.monotonic() - started,
    )


def work_of(problem: Problem) -> int:
    """Return the steps that the search of one size has."""
    cells = problem.n_rows * len(problem.columns)
    return int(np.clip(_WORK_PER_CELL * cells, _LEAST_WORK, _MOST_WORK))


@dataclass(eq=False)
class Entrant:
    """A setting, and how its trees did on the rows held out."""

    setting: Setting
    scores: list[list[float]] = field(default_factory=list)  # fold by fold, for every size
    merits: list[list[float]] = field(default_factory=list)  # what they are compared by
    trees: list[tuple[int, ...]] = field(default_factory=list)  # their hashes
    seconds: float = 0.0
    outcome: str = ""

    @property
    def is_out(self) -> bool:
        """Whether it races no more."""
        return bool(self.outcome)

    def means(self, n_folds: int | None = None) -> Float:
        """Return the mean merit of each size that still counts, over the folds scored."""
        return _means(self.merits, n_folds)

    def mean_scores(self, n_folds: int | None = None) -> Float:
        """Return the mean score of each size that still counts, over the folds scored."""
        return _means(self.scores, n_folds)

    def best_size(self, n_folds: int | None = None) -> int:
        """Return the smallest size of the best mean merit, from 0 for one leaf."""
        return int(self.means(n_folds).argmax())

    def of_size(self, size: int, n_folds: int | None = None) -> Float:
        """Return the merits of one size, fold by fold."""
        return np.array([merits[size] for merits in self.merits[:n_folds]], dtype=np.float64)

    def best(self, n_folds: int | None = None) -> float:
        """Return the best mean merit."""
        return float(self.means(n_folds).max())

    def best_score(self) -> float:
        """Return the mean score of the size of the best merit."""
        return float(self.mean_scores()[self.best_size()])


def _means(folds: Sequence[Sequence[float]], n_folds: int | None) -> Float:
    """Return the mean over folds for each size; minus infinity where no fold could be scored."""
    most = min(len(scores) for scores in folds)
    played = np.array([scores[:most] for scores in folds[:n_folds]], dtype=np.float64)
    valid = ~np.isnan(played)
    counts = valid.sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.where(counts > 0, np.where(valid, played, 0.0).sum(axis=0) / counts, -np.inf)


class Race:
    """Settings that compete on the same folds.

    Parameters
    ----------
    table : TuningTable
        The rows.
    scorer : RowScorer
        What judges the trees.
    rounds : list of lists of Fold
        The folds, round by round.
    deadline : float
        When the race must be over, by ``time.monotonic``; infinity where there is no limit.
    n_jobs : int or None
        Searches at once.
    tell : callable
        Told of what is tried.
    """

    def __init__(
        self,
        table: TuningTable,
        scorer: RowScorer,
        rounds: Sequence[Sequence[Fold]],
        deadline: float,
        n_jobs: int | None,
        tell: Callable[[TuningProgress], None] | None = None,
    ) -> None:
        self.table, self.scorer, self.rounds, self.deadline = table, scorer, rounds, deadline
        self.started = time.monotonic()
        left = deadline - self.started
        self.n_jobs = jobs_within(n_jobs, None if math.isinf(left) else left)
        self.tell = tell
        self.folds = [fold for one_round in rounds for fold in one_round]
        self.n_first = len(rounds[0]) if rounds else 0
        self.entrants: list[Entrant] = []
        self.interrupted = False
        self.seconds: float | None = None  # of each search
        self._slowest = 0.0
        self._table = table  # with the sizes that are still searched
        self._lean = replace(table, raw=None)  # what other processes are sent
        self._grown: dict[tuple[int, int], Grown] = {}

    # -- the laps --------------------------------------------------------------------------

    def run(self, settings: Sequence[Setting]) -> None:
        """Race the settings; the first of them is the surest and wins ties."""
        if not self.folds or self.left() <= 0:
            return
        first = [s for s in settings if s.min_samples_leaf == settings[0].min_samples_leaf]
        others = [s for s in settings if s not in first]
        large = [s for s in others if self._has_large_leaves(s, settings)]
        small = [s for s in others if s.min_samples_leaf not in {x.min_samples_leaf for x in large}]
        self.seconds = self._seconds_of_a_search(len(first) + len(large), bool(small))
        self.entrants = [Entrant(setting) for setting in first]
        self._lap(self.entrants, range(self.n_first))
        follows = self._follows_a_leader
        later = [Entrant(s) for s in others if s in large or (s in small and follows(s))]
        self.entrants += later
        self._lap(later, range(self.n_first))
        for number in range(1, len(self.rounds)):
            more = range(number * self.n_first, (number + 1) * self.n_first)
            if not self._lap(self._finalists(), more):
                break

    def left(self) -> float:
        """Return the seconds that are left."""
        return self.deadline - time.monotonic()

    def _seconds_of_a_search(self, n_first: int, with_others: bool) -> float | None:
        """Return the seconds of each search, such that the laps and one repeat fit in."""
        left = self.left()
        if math.isinf(left):
            return None
        workers = int(effective_n_jobs(self.n_jobs))
        n_entrants = n_first + 2 * _LEADERS * with_others + _FINALISTS * (len(self.rounds) > 1)
        return left / math.ceil(n_entrants * self.n_first / workers)

    def _lap(self, entrants: Sequence[Entrant], folds: range) -> bool:
        """Let entrants play folds; tell whether all were played."""
        entrants = [entrant for entrant in entrants if not entrant.is_out]
        for number in folds:
            playing = [e for e in entrants if not e.is_out and len(e.scores) == number]
            if not playing or not self._play(playing, number):
                return False
            self._compare(number + 1)
        return True

    def _has_large_leaves(self, setting: Setting, settings: Sequence[Setting]) -> bool:
        """Tell whether a setting is about purity in leaves larger than the first ones.

        Shares of few rows are poor probabilities. The accuracy seldom tells whether larger leaves
        are better, so they are tried whoever leads. Trees of few errors gain nothing by them.
        """
        n_rows = len(self.folds[0][0])
        larger = _least(setting, n_rows) > _least(settings[0], n_rows)
        return larger and setting.criterion != "errors"

    def _follows_a_leader(self, setting: Setting) -> bool:
        """Tell whether a setting is that of a leader with another least number of rows."""
        raced = [e for e in self.entrants if e.scores]
        leaders = sorted(raced, key=lambda e: -e.best(self._n_common()))[:_LEADERS]
        leaders += raced[:1]  # the surest one, always
        return any(setting.is_alike(leader.setting) for leader in leaders)

    def _finalists(self) -> list[Entrant]:
        racing = [e for e in self.entrants if not e.is_out and len(e.scores) >= self.n_first]
        racing.sort(key=lambda e: -e.best(self.n_first))
        # The best of one column is among them, so that sums of two are compared with it.
        plain = next((e for e in racing if e.setting.splits == "columns"), None)
        ahead = racing[:_FINALISTS]
        if plain is not None and plain not in ahead:
            ahead[-1] = plain
        for entrant in racing:
            if entrant not in ahead:
                entrant.outcome = f"behind after {len(entrant.scores)} folds"
        return ahead

    # -- one fold --------------------------------------------------------------------------

    def _play(self, playing: list[Entrant], number: int) -> bool:
        """Let entrants play one fold; False where time is up before all of them have."""
        here = playing
        if int(effective_n_jobs(self.n_jobs)) > 1:
            # The very first search is made here: a result is there before other processes are.
            here = [] if any(e.scores for e in self.entrants) else playing[:1]
        for entrant in here:
            if self.interrupted or not self._has_time():
                return False
            self._say(entrant, number)
            grown = self._reused(entrant, number)
            if grown is None:
                grown = grow(self._table, entrant.setting, self.folds[number][0], self.seconds)
            self._keep(entrant, number, grown)
        others = playing[len(here) :]
        return not self.interrupted and (not others or self._play_at_once(others, number))

    def _play_at_once(self, playing: list[Entrant], number: int) -> bool:
        if self.interrupted or not self._has_time():
            return False
        self._say(playing[0], number)
        try:
            found: list[Grown] = Parallel(n_jobs=self.n_jobs, timeout=self._patience())(
                delayed(grow)(self._lean, entrant.setting, self.folds[number][0], self.seconds)
                for entrant in playing
            )
        except (TimeoutError, multiprocessing.TimeoutError):
            return False  # processes that take long to start on a busy machine
        for entrant, grown in zip(playing, found, strict=True):
            self._keep(entrant, number, grown)
        return not self.interrupted

    def _patience(self) -> float | None:
        """Return the seconds to wait for a search of another process, if that can be said."""
        backend, _ = get_active_backend()
        patient = math.isinf(self.left()) or not backend.supports_timeout
        return None if patient else max(self.left(), 0.0) + _LATE

    def _has_time(self) -> bool:
        """Tell whether another search can end in time: as long as the slowest so far."""
        return self.left() > max(self._slowest, 0.0)

    def _keep(self, entrant: Entrant, number: int, grown: Grown) -> None:
        self.interrupted |= grown.interrupted
        self._grown[id(entrant), number] = grown
        began = time.monotonic()
        scores, merits = self.scorer.judge(grown.trees, self.folds[number][1], self.deadline)
        entrant.scores.append(scores)
        entrant.merits.append(merits)
        entrant.trees.append(tuple(hash(tree) for tree in grown.trees))
        entrant.seconds += grown.seconds
        judging = time.monotonic() - began
        self._slowest = max(self._slowest, grown.seconds + judging)

    def trees_of(self, entrant: Entrant, size: int) -> list[tuple[Tree, Fold]]:
        """Return the trees of an entrant of one size, from 0 for one leaf, with their folds."""
        return [
            (self._grown[id(entrant), number].trees[size], self.folds[number])
            for number in range(len(entrant.scores))
        ]

    def _reused(self, entrant: Entrant, number: int) -> Grown | None:
        """Return the trees of the same setting with smaller leaves, if they serve this one as well.

        Trees that are best with smaller leaves allowed are best among those with larger leaves,
        where their own leaves are that large.
        """
        own = entrant.setting
        for other in self.entrants:
            theirs = other.setting
            grown = self._grown.get((id(other), number))
            if not own.is_alike(theirs) or other is entrant or grown is None or not grown.proven:
                continue
            rows = len(self.folds[number][0])
            if _least(theirs, rows) > _least(own, rows):
                continue
            trees = grown.trees[: self._table.max_leaf_nodes]
            if all(_smallest_leaf(tree) >= _least(own, rows) for tree in trees):
                return grown._replace(trees=trees, seconds=0.0)
        return None

    # -- who is ahead ----------------------------------------------------------------------

    def _n_common(self) -> int:
        """Return the folds that all who still race have played."""
        return min((len(e.scores) for e in self.entrants if e.scores and not e.is_out), default=0)

    def _compare(self, n_folds: int) -> None:
        """Drop settings that gave the same trees as another, and those too far behind."""
        racing = [e for e in self.entrants if not e.is_out and len(e.scores) >= n_folds]
        seen: dict[tuple[tuple[int, ...], ...], Entrant] = {}
        most = self._table.max_leaf_nodes
        for entrant in racing:
            trees = tuple(hashes[:most] for hashes in entrant.trees[:n_folds])
            if trees in seen and n_folds > 1:
                entrant.outcome = f"same trees as {seen[trees].setting.words}"
            else:
                seen[trees] = entrant
        self._drop_sizes(racing, n_folds)
        times = _TOO_FAR.get(n_folds, _TOO_FAR_LATER)
        if n_folds < min(_TOO_FAR):
            return
        leader = max(racing, key=lambda e: e.best(n_folds), default=None)
        for entrant in racing:
            if leader is None or entrant is leader or entrant.is_out:
                continue
            behind, error = difference(leader, entrant, n_folds)
            if behind > times * error and behind > 0:
                entrant.outcome = f"behind after {n_folds} folds"

    def _drop_sizes(self, racing: Sequence[Entrant], n_folds: int) -> None:
        """Search no sizes any more that are behind, and larger than all that are not."""
        if n_folds < 2 or n_folds > self.n_first:
            return
        largest = 1
        for entrant in racing:
            played = np.array([merits[: len(entrant.means())] for merits in entrant.merits])
            best = entrant.best_size()
            behind = played[:, [best]] - played
            with warnings.catch_warnings():
                # A size that no fold could score is not close.
                warnings.simplefilter("ignore", RuntimeWarning)
                error = np.nanstd(behind, axis=0, ddof=1) / math.sqrt(len(played))
                close = np.nanmean(behind, axis=0) <= _SIZES_BEHIND * error
            largest = max(largest, 1 + int(np.flatnonzero(close).max(initial=best)))
        most = min(self._table.max_leaf_nodes, max(4, math.ceil(_MARGIN * largest)))
        self._table = replace(self._table, max_leaf_nodes=most)
        self._lean = replace(self._lean, max_leaf_nodes=most)

    def _say(self, entrant: Entrant, number: int) -> None:
        if self.tell is None:
            return
        ahead = max((e for e in self.entrants if e.scores), key=lambda e: e.best(), default=None)
        self.tell(
            TuningProgress(
                time.monotonic() - self.started,
                entrant.setting.words,
                number + 1,
                len(self.folds),
                self.scorer.name,
                math.nan if ahead is None else ahead.best_score(),
                0 if ahead is None else ahead.best_size() + 1,
            )
        )


def difference(leader: Entrant, other: Entrant, n_folds: int) -> tuple[float, float]:
    """Return how far one setting is behind another on the same folds, and the standard error."""
    ahead = leader.of_size(leader.best_size(n_folds), n_folds)
    apart = ahead - other.of_size(other.best_size(n_folds), n_folds)
    apart = apart[~np.isnan(apart)]
    if len(apart) < 2:
        return 0.0, math.inf
    return float(apart.mean()), float(apart.std(ddof=1)) / math.sqrt(len(apart))


def _least(setting: Setting, n_rows: int) -> int:
    least = setting.min_samples_leaf
    return math.ceil(least * n_rows) if isinstance(least, float) else int(least)


def _smallest_leaf(tree: Tree) -> int:
    return int(tree.n_samples[tree.feature < 0].min())
