"""Row constraints (1c) as cuts: each row follows exactly one path of a tree.

Cuts come from the training rows, in the six forms of Patel et al. (section 4.4); from unlabelled
rows by separation model (8), with the core's search or CP-SAT; and from *routes*, which decide anew
at every node. Routes are the strongest of these cuts and need no search.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from provetree import _core
from provetree.colgen.candidates import CandidateSet
from provetree.colgen.master import Master, raise_if_stopped
from provetree.colgen.paths import PathModel, Paths
from provetree.number_types import Float, Int32

#: What the paper calls No Beta, Beta Lb, Beta Ub, Beta Eq, All Beta and Extra Beta.
RowConstraints = Literal["none", "lower", "upper", "equality", "all", "extra"]
Separation = Literal["search", "cpsat", "routes"]
#: ``cpsat.separate_rows``, passed in so that ortools is loaded only if used.
CpSatSeparation: TypeAlias = Callable[[PathModel, Paths, Float, float], list[Int32]]

#: A constraint violated by less counts as satisfied.
LEAST_VIOLATION = 1e-6
#: Unlabelled rows and routes per round, and nodes of the search for rows.
_MOST_ROWS = 20
_MOST_NODES = 20_000


@dataclass(frozen=True, eq=False)
class ThresholdPlaces:
    """Each candidate as a column and its position among all thresholds of that column."""

    column: Int32
    threshold: Int32
    per_column: list[int]
    names: tuple[int, ...]

    @staticmethod
    def of(candidates: CandidateSet) -> ThresholdPlaces:
        """Return the numbering of the columns and thresholds of a candidate set."""
        ranks: dict[int, set[int]] = {}
        for node in candidates.splits:
            for c, k in node:
                ranks.setdefault(c, set()).add(k)
        names = tuple(sorted(ranks))
        place = {c: {k: i for i, k in enumerate(sorted(ranks[c]))} for c in names}
        flat = [split for node in candidates.splits for split in node]
        return ThresholdPlaces(
            np.array([names.index(c) for c, _ in flat], dtype=np.int32),
            np.array([place[c][k] for c, k in flat], dtype=np.int32),
            # The split that sends every row left offers no choice.
            [0 if c < 0 else len(ranks[c]) for c in names],
            names,
        )

    def buckets(self, candidates: CandidateSet, rows: Int32) -> NDArray[np.uint16]:
        """Turn rows, given by their position in each column, into buckets of the groups."""
        starts = np.concatenate([[0], np.cumsum(candidates.group_sizes)])
        found = np.zeros((len(rows), len(candidates.groups)), dtype=np.uint16)
        for g, (_, column, _) in enumerate(candidates.groups):
            if column < 0:
                continue  # the split that sends every row left
            at = self.threshold[starts[g] : starts[g + 1]]
            place = rows[:, self.names.index(column)]
            found[:, g] = (at[None, :] < place[:, None]).sum(axis=1)
        return found


@dataclass(eq=False)
class Cuts:
    """Finds violated constraints (1c) and adds them to a master, at most `most` per round.

    `separation` says how the form "extra" finds cuts beyond the training rows.
    """

    model: PathModel
    form: RowConstraints = "upper"
    separation: Separation = "routes"
    most: int = 200
    with_cpsat: CpSatSeparation | None = None
    n_row_cuts: int = field(default=0, init=False)
    n_extra_cuts: int = field(default=0, init=False)
    _used: set[int] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        self._n_training = self.model.items.n_items
        self._places = ThresholdPlaces.of(self.model.candidates)

    @property
    def bounds(self) -> str:
        """Which bounds of ``sum == 1`` a cut uses."""
        return {"upper": "upper", "lower": "lower"}.get(self.form, "equality")

    def start(self, master: Master) -> None:
        """Add the initial constraints of the master: all of them in the form "all"."""
        if self.form == "all":
            self.n_row_cuts += self._add_items(master, list(range(self._n_training)))

    def start_many(self, master: Master, most: int) -> None:
        """Add all constraints of training rows at once if there are at most so many."""
        if self.form in ("none", "all") or self._n_training > most:
            return
        items = [i for i in range(self._n_training) if i not in self._used]
        self.n_row_cuts += self._add_items(master, items)

    def _add_items(self, master: Master, items: list[int]) -> int:
        self._used.update(items)
        master.add_cuts(items, [], self.bounds)
        return len(items)

    def separate(
        self,
        master: Master,
        x: Float,
        time_limit: float = np.inf,
        *,
        extra: bool = True,
        least: float = LEAST_VIOLATION,
    ) -> int:
        """Add the constraints that a solution violates; return how many.

        With the form "extra", the search goes beyond the training rows once these are all
        satisfied, if `extra` allows it. Training rows violated by less than `least` count as
        satisfied.
        """
        if self.form in ("none", "all"):
            return 0
        positive = np.flatnonzero(x > 0)
        paths = master.paths.take(positive)
        values = np.ascontiguousarray(x[positive])
        activity, signature = self.model.items.core.activity(paths.leaf, paths.candidates, values)
        found = self._violated(activity, signature, least)
        self.n_row_cuts += self._add_items(master, found)
        if found or self.form != "extra" or not extra:
            return len(found)
        if self.separation == "routes":
            return self._add_routes(master, paths, values, int(activity.argmax()))
        return self._add_rows(master, paths, values, time_limit)

    def _violated(self, activity: Float, signature: NDArray[np.uint64], least: float) -> list[int]:
        over = np.where(self.bounds != "lower", activity - 1, -1.0)
        under = np.where(self.bounds != "upper", 1 - activity, -1.0)
        violation = np.maximum(over, under)
        order = np.argsort(-violation, kind="stable")
        found: list[int] = []
        seen: set[int] = set()
        for i in order[: int((violation > least).sum())].tolist():
            # Rows that follow the same positive paths are one cut as far as is known now.
            if i in self._used or int(signature[i]) in seen:
                continue
            seen.add(int(signature[i]))
            found.append(i)
            if len(found) == self.most:
                break
        return found

    def _add_routes(self, master: Master, paths: Paths, values: Float, reference: int) -> int:
        core = self.model.items.core
        first = core.n_routes
        found = core.separate_routes(
            paths.leaf, paths.candidates, values, reference, 1 + LEAST_VIOLATION, _MOST_ROWS
        )
        master.add_cuts([], list(range(first, first + len(found))), self.bounds)
        self.n_extra_cuts += len(found)
        return len(found)

    def _add_rows(self, master: Master, paths: Paths, values: Float, time_limit: float) -> int:
        if self.separation == "cpsat":
            assert self.with_cpsat is not None
            rows = self.with_cpsat(self.model, paths, values, time_limit)
        else:
            rows = self.search_rows(paths, values, time_limit)["rows"]
        if not rows:
            return 0
        buckets = self._places.buckets(self.model.candidates, np.array(rows))
        first = self.model.items.add_unlabelled(buckets)
        self.n_extra_cuts += len(rows)
        return self._add_items(master, list(range(first, first + len(rows))))

    def search_rows(
        self, paths: Paths, values: Float, time_limit: float = np.inf
    ) -> _core.colgen.FoundRows:
        """Solve separation model (8) by the core's search."""
        found = self.model.items.core.separate_rows(
            leaf=paths.leaf,
            candidates=paths.candidates,
            value=values,
            column=self._places.column,
            threshold=self._places.threshold,
            thresholds_per_column=self._places.per_column,
            least=1 + LEAST_VIOLATION,
            most_rows=_MOST_ROWS,
            most_nodes=_MOST_NODES,
            time_limit=time_limit,
        )
        raise_if_stopped(found["status"])
        return found
