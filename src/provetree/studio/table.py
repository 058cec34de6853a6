"""The table of a studio: training rows, test rows, and where they came from."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provetree.export.model_file import InputColumn
from provetree.problem.prepare import Prepared, prepare
from provetree.tree.tree import Tree

__all__ = ["Source", "StudioTable"]


def _same(tree: Tree) -> Tree:
    return tree


@dataclass(frozen=True)
class Source:
    """The file that a table was read from, as it was then.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from provetree.studio.table import Source
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "data.csv"
    >>> _ = path.write_text("a,b")
    >>> source = Source.of(path)
    >>> source.has_changed()
    False
    >>> _ = path.write_text("a,c")
    >>> source.has_changed()
    True
    """

    path: Path
    digest: str
    seen: tuple[int, int]  # when it was written, and its size

    @classmethod
    def of(cls, path: str | Path) -> Source:
        """Look at a file."""
        file = Path(path)
        return cls(file, _digest(file), _stamp(file))

    def has_changed(self) -> bool:
        """Tell whether the file holds something else now, or is gone."""
        try:
            return _stamp(self.path) != self.seen and _digest(self.path) != self.digest
        except OSError:
            return True


def _stamp(path: Path) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_mtime_ns, found.st_size


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@dataclass(frozen=True, eq=False)
class StudioTable:
    """What the trees of a studio are about.

    Parameters
    ----------
    train, y_train
        The training rows and their labels.
    test, y_test
        Rows that were held out, and their labels; None where there are none.
    target : str
        What is predicted.
    settings : mapping
        Parameters of the classifier that no wish changes, such as class weights.
    source : Source or None
        The file it came from.
    columns : sequence of InputColumn
        How the columns of that file are read.
    notes : sequence of (str, str)
        What each column was taken for, for the report.
    whole : callable
        Turns thresholds into those that people read, such as whole dates.
    imports, loading : sequence of str
        Lines of Python that read the table again into `X` and `y`.
    """

    train: Any
    y_train: Any
    test: Any = None
    y_test: Any = None
    target: str = "y"
    settings: Mapping[str, Any] = field(default_factory=dict)
    source: Source | None = None
    columns: tuple[InputColumn, ...] = ()
    notes: Sequence[tuple[str, str]] = ()
    whole: Callable[[Tree], Tree] = _same
    imports: Sequence[str] = ()
    loading: Sequence[str] = ("# X, y: the table of the studio",)

    @cached_property
    def prepared(self) -> Prepared:
        """The training rows, read once."""
        settings = {
            name: self.settings[name]
            for name in ("class_weight", "categorical_features")
            if name in self.settings
        }
        return prepare(self.train, self.y_train, max_depth=1, owner="studio", **settings)

    @property
    def n_rows(self) -> int:
        """The number of training rows."""
        return len(self.prepared.encoded)

    @property
    def n_test_rows(self) -> int:
        """The number of test rows."""
        return 0 if self.y_test is None else len(self.y_test)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns; x0, x1, ... where they have none."""
        names = self.prepared.problem.feature_names
        n_columns = self.prepared.encoded.shape[1]
        return tuple(f"x{i}" for i in range(n_columns)) if names is None else tuple(names)

    @property
    def levels(self) -> Sequence[Sequence[Any] | None]:
        """The categories of each column, None for numbers."""
        return self.prepared.encoder.categories

    def column(self, given: object) -> int:
        """Return the number of a column, or say that there is none.

        Examples
        --------
        >>> from provetree.studio.table import StudioTable
        >>> StudioTable([[1.0], [2.0]], [0, 1]).column(4)
        Traceback (most recent call last):
            ...
        provetree.studio.wishes.WishError: There is no column 4: the table has 1.
        """
        from provetree.studio.wishes import WishError

        if isinstance(given, int) and not isinstance(given, bool) and 0 <= given < len(self.names):
            return given
        raise WishError(f"There is no column {given!r}: the table has {len(self.names)}.")

    def fingerprint(self) -> str:
        """Return a digest of the training rows and labels, by which a session knows its table."""
        prepared = self.prepared
        found = hashlib.sha256(np.ascontiguousarray(prepared.encoded).tobytes())
        found.update(np.ascontiguousarray(prepared.codes).tobytes())
        words = (self.names, [str(label) for label in prepared.classes], self.target)
        found.update(repr((words, [None if c is None else list(c) for c in self.levels])).encode())
        return found.hexdigest()

    def rows_of(self, rows: NDArray[np.intp]) -> tuple[Any, NDArray[Any]]:
        """Return some of the training rows with their labels."""
        from sklearn.utils import _safe_indexing

        return _safe_indexing(self.train, rows), np.asarray(self.y_train)[rows]
