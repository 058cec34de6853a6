"""Workers of a search in the same process: what a cluster does, in any order and with any caps."""

from __future__ import annotations

import numpy as np

from provetree import _core


class LocalExchange:
    """Solves the tasks that are out in random order, some of them late, some of them twice.

    Most tasks that can be divided are handed back after some steps. `idle` is how many would like
    to have a task; at random where it is None.
    """

    def __init__(
        self,
        table: _core.Table,
        seed: int,
        *,
        wanted: int = 5,
        steps: int = 300,
        idle: int | None = None,
    ) -> None:
        self._table, self._wanted, self._steps, self._idle = table, wanted, steps, idle
        self._random = np.random.default_rng(seed)
        self._out: dict[int, bytes] = {}
        self._solver: _core.TaskSolver | None = None
        self.jobs = self.tasks = self.handed_back = self.ends = 0

    def begin(self, job: str) -> None:
        self._solver = _core.TaskSolver(self._table, job, 1 << 28)
        self._out.clear()
        self.jobs += 1

    def trade(
        self, tasks: list[tuple[int, bytes]], cut: int
    ) -> tuple[list[tuple[int, bytes]], int, int] | None:
        assert self._solver is not None
        self._out.update(tasks)
        self.tasks += len(tasks)
        if self._random.random() < 0.5:
            self._solver.lower_cut(cut)
        numbers = [n for n in self._out if self._random.random() < 0.4]
        answers = []
        for number in numbers:
            steps = self._steps if self._random.random() < 0.7 else 1 << 62
            answer = self._solver.solve(self._out[number], 1e9, steps)
            assert answer is not None
            # Two flags before the seven counts at the end: a side is open.
            self.handed_back += b"1" in answer.split()[-9:-7]
            answers.append((number, answer))
            if (
                self._random.random() < 0.9
            ):  # else it is solved once more: the second answer is ignored
                del self._out[number]
        # Those who have nothing to do get what may turn out to be needless.
        idle = int(self._random.integers(self._wanted + 1)) if self._idle is None else self._idle
        return answers, self._wanted, idle

    def end(self) -> None:
        self.ends += 1
