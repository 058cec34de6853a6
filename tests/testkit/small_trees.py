"""The least cost of small trees by trying all of them: compiled, for millions of problems."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from provetree.problem.problem import Problem

SOURCE = Path(__file__).with_name("small_trees.c")


class SmallTrees:
    """The twin of ``small_trees.c``, one problem at a time."""

    def __init__(self, folder: Path) -> None:
        compiler = shutil.which("cc")
        if compiler is None:
            pytest.skip("no C compiler (cc) is installed")
        library = folder / "small_trees.so"
        command = [compiler, "-O2", "-shared", "-fPIC", "-Wall", "-Werror", SOURCE, "-o", library]
        subprocess.run(command, check=True)
        self.library = ctypes.CDLL(str(library))
        self.library.small_cost.restype = ctypes.c_int64

    def take(self, problem: Problem) -> None:
        """Take a problem up; the other methods are about it."""
        self.problem = problem
        # Kept: the library only points to them.
        self.ranks = np.ascontiguousarray(problem.ranks, dtype=np.uint32)
        self.of_rows = [
            np.ascontiguousarray(problem.classes, dtype=np.int32),
            np.ascontiguousarray(problem.weights, dtype=np.int64),
            np.ascontiguousarray(problem.counts, dtype=np.int64),
        ]
        taken = self.library.small_problem(
            problem.n_rows,
            len(problem.columns),
            _address(self.ranks),
            *map(_address, self.of_rows),
            problem.n_classes,
            ctypes.c_int64(problem.min_samples_leaf),
            ctypes.c_int64(problem.error_scale),
            ctypes.c_int64(problem.split_penalty),
        )
        assert taken, "more rows or classes than the twin can have"

    def best(self) -> tuple[int, int]:
        """The least cost, and the fewest splits of trees that cost this."""
        cost, splits = ctypes.c_int64(), ctypes.c_int64()
        limits = self.problem.max_depth, ctypes.c_int64(self.problem.max_splits)
        self.library.small_best(*limits, ctypes.byref(cost), ctypes.byref(splits))
        return cost.value, splits.value

    def cost_of(self, found: Any) -> tuple[int, int]:
        """What a tree costs on the rows, and its splits; the cost of a forbidden tree is -1."""
        splits = ctypes.c_int64()
        nodes = [
            np.ascontiguousarray(found[name], dtype=np.int32)
            for name in ("column", "rank_low", "label")
        ]
        cost = self.library.small_cost(
            self.problem.max_depth,
            ctypes.c_int64(self.problem.max_splits),
            _address(self.ranks),
            *map(_address, nodes),
            len(nodes[0]),
            ctypes.byref(splits),
        )
        return cost, splits.value


def _address(numbers: np.ndarray[Any, Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(numbers.ctypes.data)
