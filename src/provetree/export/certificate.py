"""Certificates: files from which anyone can see that no tree costs less.

``docs/certificate.md`` is the format. The claims come from the core; this module says what they are
about: how the table is read, the objective, the limits, the tree.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provetree.number_types import Int
from provetree.problem.columns import Column
from provetree.problem.combinations import Combination
from provetree.problem.pairs import grouped_sums
from provetree.problem.prepare import Prepared
from provetree.problem.problem import Problem
from provetree.problem.weights import as_decimal

__all__ = ["Certificate", "WhatIsRead", "write_certificate"]

_KINDS = {"numeric": "number", "missing_first": "first", "missing_last": "last"}
#: Columns of more values are not searched for the splits of columns of two.
_MOST_VALUES = 64


@dataclass(frozen=True)
class Certificate:
    """A certificate that was written.

    Parameters
    ----------
    path : str
        Its file.
    digest : str
        The SHA-256 of the file, in hexadecimal digits.
    bound : int or float
        No tree costs less, in the user's units.
    n_claims, n_bytes : int
        Its size.
    seconds : float
        What collecting the claims took, beyond the search.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from provetree import OptimalTreeClassifier
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "proof.ptc"
    >>> X, y = [[1.0], [2.0], [3.0]], [0, 1, 0]
    >>> OptimalTreeClassifier(max_depth=1).certify(X, y, path).certificate_.bound
    1
    """

    path: str
    digest: str
    bound: float
    n_claims: int
    n_bytes: int
    seconds: float


@dataclass(frozen=True)
class WhatIsRead:
    """Names of the columns in the file that the certificate will be checked against."""

    target: str = "y"
    weight: str | None = None  # of the column of weights


def write_certificate(
    path: str | os.PathLike[str],
    prepared: Prepared,
    certified: Mapping[str, Any],
    tree: tuple[Sequence[int], Sequence[int], Sequence[int], int],
    asked: tuple[int, int],
    names: WhatIsRead,
    listed: tuple[Problem, Sequence[Sequence[float]]] | None = None,
) -> Certificate:
    """Write the certificate of a search.

    Parameters
    ----------
    path : str or path-like
        The file.
    prepared : Prepared
        The table and its problem.
    certified : mapping
        What the core has collected: "bound", "claims", "bytes", "weights", "seconds".
    tree : tuple
        Columns (-1 for a leaf), ranks and labels of the tree in preorder, and its cost.
    asked : tuple of two ints
        The depth and the number of splits that trees were allowed.
    names : WhatIsRead
        What the columns are called where the certificate is checked.
    listed : tuple, optional
        Where trees may split at some places only: their problem, and the thresholds of its columns.
    """
    problem = prepared.problem if listed is None else listed[0]
    order, table = _canonical(problem)
    lines = [["provetree certificate 1"], ["made by", "provetree"], ["target", names.target]]
    lines += _weight_lines(prepared, names.weight)
    lines += _feature_lines(prepared)
    lines += _column_lines(prepared) if listed is None else _listed_lines(prepared, *listed)
    lines.append(["table", _digest(problem, table)])
    lines.append(["objective", str(problem.error_scale), str(problem.split_penalty)])
    lines.append(["limits", str(asked[0]), str(asked[1]), str(problem.min_samples_leaf)])
    lines.append(["bound", str(certified["bound"])])
    columns, ranks, labels, cost = tree
    nodes = (
        f"{c}:{r}" if c >= 0 else str(x) for c, r, x in zip(columns, ranks, labels, strict=True)
    )
    lines.append(["tree", str(cost), " ".join(nodes)])
    body = bytearray()
    if len(certified["weights"]):
        of_rows = np.zeros(len(table), dtype=np.int64)
        np.add.at(of_rows, order, certified["weights"])
        for number in (1, *of_rows.tolist()):
            _put(body, number)
    else:
        _put(body, 0)
    _put(body, certified["claims"])
    body += certified["bytes"]
    lines.append(["body", str(len(body)), hashlib.sha256(body).hexdigest()])
    text = "\n".join("\t".join(_escaped(field) for field in line) for line in lines)
    content = text.encode() + b"\n\n" + bytes(body)
    Path(path).write_bytes(content)
    return Certificate(
        path=os.fspath(path),
        digest=hashlib.sha256(content).hexdigest(),
        bound=problem.to_user_cost(certified["bound"]),
        n_claims=certified["claims"],
        n_bytes=len(content),
        seconds=certified["seconds"],
    )


def _put(body: bytearray, number: int) -> None:
    while number >= 128:
        body.append(number & 127 | 128)
        number >>= 7
    body.append(number)


def _escaped(field: str) -> str:
    for plain, escaped in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
        field = field.replace(plain, escaped)
    return field


def _canonical(problem: Problem) -> tuple[Int, Int]:
    """Return the place of each row among the rows in their order, and these rows."""
    # Rows of a problem are merged. Several columns make one key to sort by, as far as it has room.
    keys: list[Int] = []
    room = 0
    for ranks in (*problem.ranks, problem.classes):
        values = int(ranks.max(initial=0)) + 1
        if room < values:
            keys.append(np.zeros(problem.n_rows, dtype=np.int64))
            room = 2**62
        keys[-1] = keys[-1] * values + ranks
        room //= values
    order = np.lexsort(keys[::-1])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    rows = (*problem.ranks, problem.classes, problem.weights, problem.counts)
    table = np.empty((len(order), len(rows)), dtype=np.int64)
    for at, values_of_rows in enumerate(rows):
        table[:, at] = values_of_rows[order]
    return place, table


def _digest(problem: Problem, table: Int) -> str:
    shape = np.array([len(table), len(problem.columns), problem.n_classes], dtype="<i8")
    digest = hashlib.sha256(shape.tobytes())
    digest.update(table.astype("<i8", copy=False).data)
    return digest.hexdigest()


def _weight_lines(prepared: Prepared, column: str | None) -> list[list[str]]:
    """Return how a checker comes to the whole weights of the rows."""
    labels = [str(label) for label in prepared.classes.tolist()]
    times = np.ones(len(labels), dtype=np.int64)
    lines = []
    if prepared.weights is not None:
        whole, codes = prepared.whole_weights(), prepared.codes
        if prepared.problem.weight_error > 0:
            raise ValueError(
                "Certificates need weights that are whole numbers in some unit, and these were "
                f"rounded by up to {prepared.problem.weight_error:.1e} of themselves."
            )
        if column is None:
            for c in range(len(labels)):
                of_class = np.unique(whole[codes == c])
                if len(of_class) > 1 or (len(of_class) and of_class[0] == 0):
                    raise ValueError("Certificates of rows with weights need the 'weight' column.")
                times[c] = of_class[0] if len(of_class) else 1
        else:
            scale = prepared.problem.weight_scale
            exact = [as_decimal(w) * scale for w in prepared.weights.tolist()]
            if any(w != Fraction(int(x)) for w, x in zip(exact, whole.tolist(), strict=True)):
                raise ValueError(
                    "Certificates take weights of rows or weights of classes, and these are both."
                )
            lines.append(["weight", column, str(scale.numerator), str(scale.denominator)])
    return lines + [["class", label, str(t)] for label, t in zip(labels, times, strict=True)]


def _present(prepared: Prepared) -> NDArray[np.float64]:
    """Return the rows of the table that count."""
    if prepared.weights is None:
        return prepared.encoded
    return prepared.encoded[prepared.whole_weights() > 0]


def _feature_lines(prepared: Prepared) -> list[list[str]]:
    """Return the features: columns of the table, and sums of two of them."""
    problem, encoder = prepared.problem, prepared.encoder
    names = problem.feature_names or tuple(f"x{i}" for i in range(problem.n_features))
    lines = [
        ["feature", str(name), "number" if encoder.categories[f] is None else "category"]
        for f, name in enumerate(names)
    ]
    table = _present(prepared) if problem.combinations else prepared.encoded
    for one in problem.combinations:
        assert isinstance(one, Combination)
        _, noise = grouped_sums(table, one)
        terms = [text for c, column in one.terms for text in (repr(c), str(column))]
        lines.append(["feature", one.words(names), "sum", *terms, repr(noise)])
    return lines


def _column_lines(prepared: Prepared) -> list[list[str]]:
    """Return the listed columns, and the ones left out."""
    problem, categories = prepared.problem, prepared.encoder.categories
    listed = [_name_of(column, categories) for column in problem.columns]
    table = _present(prepared)
    # The rows of the problem are those of the table, merged: these are the table's own.
    ranks: dict[tuple[str, ...], Int] = {}
    is_binary = ((table == 0) | (table == 1)).all(axis=0)
    for f in range(problem.n_features):
        if is_binary[f] and categories[f] is None:  # most columns of some tables
            column = table[:, f].astype(np.int64)
            ranks[str(f), "number"] = column if not column.all() else np.zeros_like(column)
        else:
            ranks.update(_ordered(table[:, f], f, categories[f]))
    for at, one in enumerate(problem.combinations):
        assert isinstance(one, Combination)
        ranks.update(_ordered(grouped_sums(table, one)[0], problem.n_features + at, None))
    lines = [["column", *name] for name in listed]
    known = set(listed)
    left_out = [name for name in ranks if name not in known]
    if left_out:
        witness = _Witnesses([ranks[name] for name in listed])
        lines += [["same", *name, str(witness.of(ranks[name]))] for name in left_out]
    return lines


def _listed_lines(
    prepared: Prepared, problem: Problem, thresholds: Sequence[Sequence[float]]
) -> list[list[str]]:
    """Return the columns with the splits that count."""
    lines = [["splits", "listed"]]
    for column, cuts in zip(problem.columns, thresholds, strict=True):
        name = _name_of(column, prepared.encoder.categories)
        numbers = [] if column.kind == "category" else [repr(float(cut)) for cut in cuts]
        lines.append(["column", *name, *numbers])
    return lines


def _name_of(column: Column, categories: Sequence[Sequence[object] | None]) -> tuple[str, ...]:
    if column.kind != "category":
        return str(column.feature), _KINDS[column.kind]
    known = categories[column.feature] or ()
    if column.category >= len(known):
        return str(column.feature), "empty"
    return str(column.feature), "is", str(known[column.category])


def _ordered(
    values: NDArray[np.float64], feature: int, categories: Sequence[object] | None
) -> list[tuple[tuple[str, ...], Int]]:
    """Return the ordered columns of a feature, with the ranks of its rows."""
    f, gaps = str(feature), np.isnan(values)
    if categories is not None:
        found = [
            ((f, "is", str(categories[int(code)])), (values != code).astype(np.int64))
            for code in np.unique(values[~gaps])
        ]
        return found + ([((f, "empty"), (~gaps).astype(np.int64))] if gaps.any() else [])
    distinct, ranks = np.unique(values[~gaps], return_inverse=True)
    of_rows = np.zeros(len(values), dtype=np.int64)
    of_rows[~gaps] = ranks.ravel()
    if not gaps.any():
        return [((f, "number"), of_rows)]
    first, last = of_rows + 1, of_rows.copy()
    first[gaps], last[gaps] = 0, len(distinct)
    return [((f, "first"), first), ((f, "last"), last)]


class _Witnesses:
    """Finds a listed column that has all splits of one that is left out."""

    def __init__(self, listed: list[Int]) -> None:
        self._listed = listed
        self._whole: dict[bytes, int] = {}
        for number, ranks in enumerate(listed):
            self._whole.setdefault(self._key(ranks), number)

    @cached_property
    def _splits(self) -> dict[bytes, int]:
        """Listed columns by the columns of two values that their splits are."""
        found: dict[bytes, int] = {}
        for number, ranks in enumerate(self._listed):
            top = int(ranks.max(initial=0))
            for k in range(top if 1 < top < _MOST_VALUES else 0):
                found.setdefault(self._key((ranks > k).astype(np.int64)), number)
        return found

    @staticmethod
    def _key(ranks: Int) -> bytes:
        """Return a key that is the same for a column and its mirror image."""
        top = int(ranks.max())
        aside = np.flatnonzero(2 * ranks[:64] != top)
        if not len(aside):
            aside = np.flatnonzero(2 * ranks != top)
        mirrors = len(aside) > 0 and 2 * ranks[aside[0]] > top
        small = ranks.astype(np.uint8) if top < 256 else ranks
        key: bytes = (top - small if mirrors else small).tobytes()
        return key

    def of(self, ranks: Int) -> int:
        """Return the number of such a column; -1 where the ranks are all the same."""
        if ranks.min() == ranks.max():
            return -1
        key = self._key(ranks)
        return self._whole[key] if key in self._whole else self._splits[key]
