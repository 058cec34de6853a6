"""Pricing and separation with CP-SAT, as the papers do it.

The models themselves run in a process of their own, see ``cpsat_worker.py``. The core solves the
same problems many times faster; these are here to be compared with.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from provetree.colgen.cuts import LEAST_VIOLATION, ThresholdPlaces
from provetree.colgen.master import Duals, TimeUpError
from provetree.colgen.paths import PathModel, Paths
from provetree.colgen.pricing import LEAST_REDUCED_COST, Allowed, Priced, kind_worth, reduced_costs

Float: TypeAlias = NDArray[np.float64]


def require_cpsat() -> None:
    """Say which extra brings CP-SAT, if it is not there."""
    if find_spec("ortools") is None:
        raise ImportError(
            "CP-SAT is part of ortools, which is not installed: pip install 'provetree[cpsat]'."
        )


class Worker:
    """A process that answers requests with CP-SAT; started on first use."""

    def __init__(self) -> None:
        require_cpsat()
        self._process: subprocess.Popen[bytes] | None = None
        #: Seconds that CP-SAT itself took, models and transport not counted.
        self.seconds = 0.0

    def ask(self, name: str, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to one request; raises ``TimeUpError`` when time ran out."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "provetree.colgen.cpsat_worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            pickle.dump((name, request), process.stdin)
            process.stdin.flush()
            answer: dict[str, Any] = pickle.load(process.stdout)
        except (EOFError, BrokenPipeError):
            self.close()
            raise RuntimeError("The process that runs CP-SAT ended unexpectedly.") from None
        except BaseException:
            self.close()  # half an answer may be left in the pipe
            raise
        if answer["status"] == "error":
            raise RuntimeError(f"CP-SAT failed: {answer['message']}")
        self.seconds += answer["seconds"]
        if answer["status"] == "time_limit":
            raise TimeUpError
        return answer

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            process, self._process = self._process, None
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()

    def __del__(self) -> None:
        if getattr(self, "_process", None) is not None:
            self.close()


@dataclass(eq=False)
class CpSatPricing:
    """Exact pricing with CP-SAT.

    Parameters
    ----------
    model : PathModel
        The candidate problem.
    per_target : bool
        One subproblem (2) per leaf and target, instead of one merged subproblem (3) per leaf.
    workers : int
        Threads of CP-SAT.
    """

    model: PathModel
    per_target: bool = False
    workers: int = 1
    worker: Worker = field(default_factory=Worker)

    def price(self, duals: Duals, allowed: Allowed, time_limit: float = np.inf) -> Priced:
        """Return the best path of every subproblem whose reduced cost is positive."""
        if np.any(duals.route_price):
            raise ValueError(
                "CP-SAT cannot price routes: use separation='search' or 'cpsat' beside it."
            )
        found: list[tuple[int, list[int], int]] = []
        largest = np.full(self.model.candidates.n_leaves, LEAST_REDUCED_COST)
        for leaf in range(self.model.candidates.n_leaves):
            targets = np.flatnonzero(allowed.target[leaf]).tolist()
            groups = [[t] for t in targets] if self.per_target else [targets]
            for group in groups:
                path, bound = self.subproblem(duals, leaf, group, allowed, time_limit)
                largest[leaf] = max(largest[leaf], bound)
                if path is not None:
                    found.append(path)
        if not found:
            return Priced(Paths.none(self.model.candidates.depth), np.empty(0), largest)
        paths = Paths.of([p[0] for p in found], [p[1] for p in found], [p[2] for p in found])
        cost = reduced_costs(self.model, duals, paths)
        good = cost > LEAST_REDUCED_COST
        return Priced(paths.take(good), cost[good], largest)

    def subproblem(
        self, duals: Duals, leaf: int, targets: list[int], allowed: Allowed, time_limit: float
    ) -> tuple[tuple[int, list[int], int] | None, float]:
        """Solve (2) or (3) for one leaf; return the best path and a bound on its reduced cost."""
        model = self.model
        candidates, items = model.candidates, model.items
        goes_left = items.core.goes_left().reshape(-1, items.n_items) != 0
        sizes = candidates.sizes[candidates.path_nodes]
        starts = np.concatenate([[0], np.cumsum(sizes.ravel())])[:-1].reshape(sizes.shape)
        sides, gamma, open_ = [], [], []
        for level, j in enumerate(candidates.path_nodes[leaf].tolist()):
            low, high = candidates.offsets[j], candidates.offsets[j + 1]
            right = (leaf >> (candidates.depth - 1 - level)) & 1
            sides.append(~goes_left[low:high] if right else goes_left[low:high])
            start = starts[leaf, level]
            gamma.append(duals.gamma[start : start + high - low])
            open_.append(allowed.candidate[low:high])
        by_kind, leaf_price = kind_worth(model, duals)
        answer = self.worker.ask(
            "subproblem",
            {
                "sides": sides,
                "gamma": gamma,
                "allowed": open_,
                "worth": (items.weights @ by_kind)[:, targets],
                "item_price": duals.item_price,
                "counts": items.counts,
                "leaf_price": leaf_price,
                "min_count": model.min_count,
                "time_limit": time_limit,
                "workers": self.workers,
            },
        )
        if answer["status"] == "infeasible":
            return None, LEAST_REDUCED_COST
        bound = answer["bound"] - float(duals.alpha[leaf])
        return (leaf, answer["chosen"], targets[answer["target"]]), bound


def separate_rows(
    model: PathModel,
    paths: Paths,
    values: Float,
    time_limit: float = np.inf,
    worker: Worker | None = None,
) -> list[NDArray[np.int32]]:
    """Solve separation model (8); return every row found whose constraint is violated.

    A row is given by its place in each column: how many thresholds it is right of.

    Parameters
    ----------
    model : PathModel
        The candidate problem.
    paths, values : Paths, array of float
        The positive paths of a solution of the master.
    time_limit : float
        Seconds.
    worker : Worker or None
        The process to ask; None starts one for this call.
    """
    places = ThresholdPlaces.of(model.candidates)
    offsets, depth = model.candidates.offsets, model.candidates.depth
    literals = []
    for leaf, path in zip(paths.leaf.tolist(), paths.candidates.tolist(), strict=True):
        nodes = model.candidates.path_nodes[leaf].tolist()
        flat = [int(offsets[j]) + a for j, a in zip(nodes, path, strict=True)]
        literals.append(
            [
                (
                    int(places.column[f]),
                    int(places.threshold[f]),
                    bool((leaf >> (depth - 1 - level)) & 1),
                )
                for level, f in enumerate(flat)
            ]
        )
    asked = Worker() if worker is None else worker
    try:
        answer = asked.ask(
            "separation",
            {
                "per_column": places.per_column,
                "literals": literals,
                "values": values.tolist(),
                "least": 1 + LEAST_VIOLATION,
                "time_limit": time_limit,
            },
        )
    finally:
        if worker is None:
            asked.close()
    return [np.array(row, dtype=np.int32) for row in answer["rows"]]
