"""A session: a table, the line of versions, and the searches that make them. It knows no web.

All of it may be called from any thread. A search runs in a thread of its own; a new wish ends it.
Whoever shows the session waits for its revision to change and asks for its state again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from provetree.errors import InfeasibleError
from provetree.problem.prepare import prepare_for
from provetree.selection.frontier import FrontierPoint, solve_frontier
from provetree.selection.other_splits import OtherSplit, other_splits
from provetree.solution import Progress
from provetree.studio.figures import cross_validated, on_rows
from provetree.studio.jobs import Job
from provetree.studio.solving import JobSearch, classifier_of, fit_tree
from provetree.studio.splits import node_at
from provetree.studio.steps import stepped
from provetree.studio.table import StudioTable
from provetree.studio.version import FAILED, SEARCHING, Best, Version
from provetree.studio.wishes import WishError, Wishes
from provetree.tree.tree import Tree

__all__ = ["Session"]

#: Names longer than this do not fit into the line of versions.
_LONGEST_NAME = 80
#: Seconds for the best split of a node on a column: at first, and once more for the best columns.
_SECONDS_OF_COLUMN, _LONGER = 0.5, 4.0
#: Frontiers are wanted for at most so many leaves.
_MOST_LEAVES = 32


class Session:
    """The state of a studio.

    Parameters
    ----------
    table : StudioTable
        What the trees are about.
    wishes : Wishes
        The wishes to begin with.
    seconds : float
        How long a search may take.
    keep : callable, optional
        Called with the session as plain JSON whenever something is worth keeping.
    data : mapping, optional
        A session that was kept before, of the same table, to go on with.
    """

    def __init__(
        self,
        table: StudioTable,
        wishes: Wishes | None = None,
        *,
        seconds: float = 20.0,
        keep: Callable[[dict[str, Any]], None] | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        self.table, self.seconds = table, seconds
        self._keep = keep
        self._changed = threading.Condition(threading.RLock())
        self.revision = 0
        self.versions: dict[int, Version] = {}
        self.current = 0
        self.progress: Progress | None = None
        self.keep_fault: str | None = None  # why the session could not be kept
        self.sizes: dict[tuple[int, float], list[FrontierPoint]] = {}
        self.best: dict[tuple[int, int, float], Best] = {}
        self._job: Job | None = None
        self._size_job: Job | None = None
        self._others: dict[str, tuple[Tree, list[OtherSplit]]] = {}  # of the tree asked about last
        if data is None:
            self._begin(Version(1, None, "the best tree", wishes or Wishes(), limit=seconds))
        else:
            self._go_on(data)

    # -- what people do --------------------------------------------------------------------

    def wish(self, step: Mapping[str, Any]) -> int:
        """Take a step; see :func:`provetree.studio.steps.stepped`. Return the new version."""
        with self._changed:
            before = self.versions[self.current]
            seen = self._seen(step)
            wishes, words = stepped(self.table, before.wishes, seen.tree, step)
            if wishes == before.wishes and before.status != FAILED:
                return before.number
            gesture = step.get("gesture")
            gesture = gesture if isinstance(gesture, str) else None
            dragged = gesture is not None and gesture == before.gesture
            number, parent = max(self.versions) + 1, before.number
            if before.parent is not None and (before.status == SEARCHING or dragged):
                # Nobody saw its tree, or it was one moment of a movement: this one takes its place.
                number, parent = before.number, before.parent
                if not dragged:
                    words = f"{before.step}, {words}"
            version = Version(number, parent, words, wishes, limit=self.seconds, gesture=gesture)
            self._begin(version)
            return number

    def _seen(self, step: Mapping[str, Any]) -> Version:
        """Return the version whose tree a person saw; while they drag, it may have gone on."""
        seen = self._version(step.get("version", self._shown().number))
        return self._shown() if seen.tree is None else seen

    def search_on(self, number: int) -> None:
        """Search a version that is not proven again, for twice as long."""
        with self._changed:
            version = self._version(number)
            if version.status in (SEARCHING, FAILED, "optimal"):
                raise WishError("This version is not waiting for a longer search.")
            self._begin(replace(version, status=SEARCHING, limit=2 * version.limit, figures={}))

    def go(self, number: int) -> None:
        """Go to another version."""
        with self._changed:
            version = self._version(number)
            self._leave()
            self.current = version.number
            if version.status == SEARCHING:
                self._begin(version)
            self._tell(keep=True)

    def undo(self) -> None:
        """Go back to the version that the current one was made from."""
        with self._changed:
            parent = self.versions[self.current].parent
            if parent is None:
                raise WishError("This is the first version: there is nothing to undo.")
            self.go(parent)

    def rename(self, number: int, name: Any) -> None:
        """Give a version a name; an empty one takes it away."""
        with self._changed:
            version = self._version(number)
            if not isinstance(name, str) or len(name) > _LONGEST_NAME:
                raise WishError(f"A name is a text of at most {_LONGEST_NAME} letters.")
            self.versions[version.number] = replace(version, name=name.strip() or None)
            self._tell(keep=True)

    def close(self) -> None:
        """End all searches."""
        with self._changed:
            for job in (self._job, self._size_job):
                if job is not None:
                    job.cancel()

    def locked(self) -> threading.Condition:
        """Return the lock under which nothing changes."""
        return self._changed

    # -- what is shown ---------------------------------------------------------------------

    def wait(self, revision: int, seconds: float) -> int:
        """Wait until something has changed, and return the revision."""
        with self._changed:
            self._changed.wait_for(lambda: self.revision != revision, seconds)
            return self.revision

    def wait_for_proof(self, seconds: float = 60.0, *, figures: bool = False) -> Version:
        """Wait until the current version is found, with all its figures where wanted."""

        def is_done() -> bool:
            version = self.versions[self.current]
            if version.status == SEARCHING:
                return False
            return not figures or version.status == FAILED or "cv" in version.figures

        with self._changed:
            if not self._changed.wait_for(is_done, seconds):
                raise TimeoutError("The search has not ended.")
            return self.versions[self.current]

    def shown(self) -> Version:
        """Return the version whose tree is shown: the last with a tree up to the current one."""
        with self._changed:
            return self._shown()

    def version(self, number: Any) -> Version:
        """Return a version by its number."""
        with self._changed:
            return self._version(number)

    def best_of(self, wishes: Wishes) -> Best | None:
        """Return what the best tree of the same size costs, if it is known."""
        return self.best.get(_size_key(wishes))

    def sizes_of(self, wishes: Wishes) -> list[FrontierPoint]:
        """Return the best trees of every size at the same depth, as far as they are known."""
        return self.sizes.get((wishes.max_depth, wishes.min_samples_leaf), [])

    def others(
        self, number: Any, path: Any, job: Job, only: int | None = None
    ) -> Iterator[OtherSplit]:
        """Yield the other splits of a node as they are found; directions are not kept by them."""
        version = self.version(number)
        if version.tree is None:
            raise WishError("There is no tree yet: wait for the search.")
        node = node_at(version.tree, path)
        known = self._others.get(path)
        if only is None and known is not None and known[0] is version.tree:
            yield from known[1]
            return
        wishes = version.wishes
        if len(path) >= wishes.max_depth:
            return
        clf = classifier_of(self.table, wishes.without_rules(), None)
        prepared = prepare_for(clf, self.table.train, self.table.y_train, None)
        free = set(range(len(self.table.names))) - wishes.forbidden
        found: dict[int, OtherSplit] = {}
        for other in other_splits(
            version.tree,
            node,
            prepared,
            engine=JobSearch(job),
            seconds=_SECONDS_OF_COLUMN if only is None else _LONGER,
            longer=_LONGER,
            features=free,
            only=only,
            is_best=version.is_proven
            and not wishes.directions  # these are not kept here
            and not any(p.startswith(path) for p in wishes.fixed),
        ):
            job.check()
            found[other.feature] = other
            yield other
        if only is None:
            with self._changed:
                self._others[path] = version.tree, list(found.values())

    def classifier(self, number: Any) -> Any:
        """Return the fitted classifier of a version."""
        version = self.version(number)
        if version.tree is None:
            raise WishError("This version has no tree.")
        clf = classifier_of(self.table, version.wishes, None)
        prepared = prepare_for(clf, self.table.train, self.table.y_train, None)
        clf._told_in_fit = {}
        clf._rules(prepared)
        clf._search_seconds = version.seconds
        return clf._finished(prepared, version.solution())

    def to_data(self) -> dict[str, Any]:
        """Return the session as plain JSON."""
        with self._changed:
            return {
                "table": self.table.fingerprint(),
                "current": self.current,
                "versions": [version.to_data() for version in self.versions.values()],
            }

    # -- searches --------------------------------------------------------------------------

    def _begin(self, version: Version) -> None:
        """Make a version the current one and search its tree."""
        self._leave()
        self.versions[version.number] = version
        self.current = version.number
        self._job = Job(lambda job: self._search(job, version), "studio search").start()
        self._tell(keep=True)

    def _leave(self) -> None:
        """End the search of the current version; one without a tree is forgotten."""
        if self._job is not None:
            self._job.cancel()
            self._job = None
        self.progress = None
        version = self.versions.get(self.current)
        if version is not None and version.status == SEARCHING:
            if version.tree is not None:  # it was searched again
                self.versions[version.number] = replace(version, status="interrupted")
            elif len(self.versions) > 1:
                del self.versions[version.number]

    def _search(self, job: Job, version: Version) -> None:
        started = time.monotonic()

        def tell(progress: Progress) -> None:
            with self._changed:
                job.check()
                self.progress = progress
                self._tell()

        try:
            clf = fit_tree(
                self.table,
                version.wishes,
                version.limit,
                job,
                on_progress=tell,
                initial_tree=version.tree,
            )
            found = replace(
                version,
                tree=clf.tree_,
                cost=clf.objective_,
                bound=clf.lower_bound_,
                status=clf.status_,
                seconds=time.monotonic() - started,
                figures=on_rows(self.table, clf.tree_),
            )
        except InfeasibleError as error:
            found = replace(version, status=FAILED, failure=str(error))
        except (ValueError, MemoryError) as error:
            found = replace(
                version, status=FAILED, failure=str(error) or "There is no memory left."
            )
        with self._changed:
            job.check()
            self.progress = None
            self.versions[version.number] = found
            self._learn_best(found)
            self._tell(keep=True)
            self._find_sizes(found.wishes)
        if found.status != FAILED:
            self._add_figures(job, found)

    def _add_figures(self, job: Job, version: Version) -> None:
        """Find what the rules cost, and cross-validate."""
        wishes = version.wishes
        if self.best_of(wishes) is None:
            clf = fit_tree(self.table, wishes.without_rules(), version.limit, job)
            with self._changed:
                job.check()
                self.best[_size_key(wishes)] = Best(clf.objective_, clf.lower_bound_)
                self._tell()
        held_out = cross_validated(self.table, wishes, version.limit, job)
        with self._changed:
            job.check()
            now = self.versions[version.number]
            self.versions[version.number] = replace(now, figures={**now.figures, "cv": held_out})
            self._tell(keep=True)

    def _learn_best(self, version: Version) -> None:
        if version.wishes.is_free and version.tree is not None:
            self.best[_size_key(version.wishes)] = Best(version.cost, version.bound)

    def _find_sizes(self, wishes: Wishes) -> None:
        """Find the best tree of every size, beside everything else, unless it is known."""
        key = (wishes.max_depth, wishes.min_samples_leaf)
        if key in self.sizes:
            return
        if self._size_job is not None:
            self._size_job.cancel()
        self._size_job = Job(lambda job: self._search_sizes(job, wishes), "studio sizes").start()

    def _search_sizes(self, job: Job, wishes: Wishes) -> None:
        depth, least = wishes.max_depth, wishes.min_samples_leaf
        clf = classifier_of(self.table, Wishes(depth, None, least), None)
        prepared = prepare_for(clf, self.table.train, self.table.y_train, None)
        most = min(2**depth, _MOST_LEAVES)
        found = solve_frontier(prepared.problem, most, self.seconds, on_tick=job.check)
        with self._changed:
            job.check()
            self.sizes[depth, least] = found
            for point in found:
                key = (depth, point.n_leaves, least)
                if key not in self.best:
                    self.best[key] = Best(point.cost, point.lower_bound)
            self._tell()

    # -- inner -----------------------------------------------------------------------------

    def _go_on(self, data: Mapping[str, Any]) -> None:
        """Take up a session that was kept."""
        for kept in data["versions"]:
            version = Version.of_data(kept)
            self.versions[version.number] = version
            self._learn_best(version)
        self.current = int(data["current"])
        version = self.versions[self.current]
        if version.status == SEARCHING:
            self._begin(version)
            return
        self._find_sizes(version.wishes)
        if version.status != FAILED and "cv" not in version.figures:
            self._job = Job(lambda job: self._add_figures(job, version), "studio figures").start()

    def _version(self, number: Any) -> Version:
        known = isinstance(number, int) and not isinstance(number, bool)
        if not known or number not in self.versions:
            raise WishError(f"There is no version {number!r}.")
        return self.versions[number]

    def _shown(self) -> Version:
        number: int | None = self.current
        while number is not None:
            version = self.versions[number]
            if version.tree is not None:
                return version
            number = version.parent
        return self.versions[self.current]

    def _tell(self, *, keep: bool = False) -> None:
        with self._changed:
            self.revision += 1
            self._changed.notify_all()
            if keep and self._keep is not None:
                try:
                    self._keep(self.to_data())
                    self.keep_fault = None
                except ValueError as error:  # the person is told, and the work goes on
                    self.keep_fault = str(error)


def _size_key(wishes: Wishes) -> tuple[int, int, float]:
    most = wishes.max_leaf_nodes
    leaves = 2**wishes.max_depth if most is None else most
    return wishes.max_depth, leaves, float(wishes.min_samples_leaf)
