"""Certificates: files from which anyone can see that no tree costs less.

``docs/certificate.md`` is the format. The claims come from the core; this module says what they are
about: how the table is read, the objective, the limits, the tree.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from provetree.number_types import Int
from provetree.problem.combinations import Combination
from provetree.problem.pairs import grouped_sums
from provetree.problem.prepare import Prepared
from provetree.problem.problem import Problem
from provetree.problem.weights import as_decimal

__all__ = ["Certificate", "WhatIsRead", "write_certificate"]


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
    tree: tuple[Sequence[int], Sequence[int], Sequence[int]],
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
        What the core has collected: "bound", "claims", "text", "weights", "seconds".
    tree : tuple
        Columns (-1 for a leaf), ranks and labels of the tree in preorder.
    asked : tuple of two ints
        The depth and the number of splits that trees were allowed.
    names : WhatIsRead
        What the columns are called where the certificate is checked.
    listed : tuple, optional
        Where trees may split at some places only: their problem, and the thresholds of its columns.
    """
    problem = prepared.problem if listed is None else listed[0]
    asked_depth, asked_splits = asked
    header = {
        "made_by": "provetree",
        "target": names.target,
        **_weights_read(prepared, names.weight),
        "features": _features(prepared) if listed is None else _listed(prepared, *listed),
        "rows": int(problem.counts.sum()),
        "sum": str(problem.table.digest()),
        "scale": problem.error_scale,
        "penalty": problem.split_penalty,
        "depth": asked_depth,
        "splits": asked_splits,
        "min_leaf": problem.min_samples_leaf,
        "bound": certified["bound"],
        "tree": _nested(tree),
        "sample": _in_order(problem, certified["weights"]) if len(certified["weights"]) else None,
    }
    told = json.dumps(header, ensure_ascii=False, separators=(",", ":"))
    # The last claim is about all rows, and about as large trees as were asked for.
    claims = certified["text"]
    last = claims.rfind(b"\n", 0, -1) + 1
    stated = claims[last:].partition(b"]")[2]
    root = f"[[{asked_depth},{asked_splits}]".encode() + stated if claims else b""
    head = f"provetree certificate 1\n{told}\n".encode()
    parts: list[bytes | memoryview] = [head, memoryview(claims)[:last], root]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    parts.append(f"digest {digest.hexdigest()}\n".encode())
    digest.update(parts[-1])
    with open(path, "wb") as file:
        for part in parts:
            file.write(part)
    return Certificate(
        path=os.fspath(path),
        digest=digest.hexdigest(),
        bound=problem.to_user_cost(certified["bound"]),
        n_claims=certified["claims"],
        n_bytes=sum(map(len, parts)),
        seconds=certified["seconds"],
    )


def _nested(tree: tuple[Sequence[int], Sequence[int], Sequence[int]]) -> Any:
    """Return a tree as a label, or as [column, rank, tree on the left, tree on the right]."""
    built: list[Any] = []
    for column, rank, label in zip(*(x[::-1] for x in tree), strict=True):
        built.append([column, rank, built.pop(), built.pop()] if column >= 0 else label)
    return built[0]


def _in_order(problem: Problem, weights: Int) -> list[int]:
    """Return the weights of the rows in the order of a certificate."""
    # Several columns make one key to sort by, as far as it has room.
    keys: list[Int] = []
    room = 0
    for ranks in (*problem.ranks, problem.classes):
        values = int(ranks.max(initial=0)) + 1
        if room < values:
            keys.append(np.zeros(problem.n_rows, dtype=np.int64))
            room = 2**62
        keys[-1] = keys[-1] * values + ranks
        room //= values
    in_order: list[int] = weights[np.lexsort(keys[::-1])].tolist()
    return in_order


def _weights_read(prepared: Prepared, column: str | None) -> dict[str, Any]:
    """Return how a checker comes to the classes and the whole weights of the rows."""
    labels = [str(label) for label in prepared.classes.tolist()]
    if prepared.weights is None:
        return {"weight": None, "classes": [[label, 1] for label in labels]}
    times = [1] * len(labels)
    read: list[Any] | None = None
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
            times[c] = int(of_class[0]) if len(of_class) else 1
    else:
        scale = prepared.problem.weight_scale
        exact = [as_decimal(w) * scale for w in prepared.weights.tolist()]
        if any(w != Fraction(int(x)) for w, x in zip(exact, whole.tolist(), strict=True)):
            raise ValueError(
                "Certificates take weights of rows or weights of classes, and these are both."
            )
        read = [column, scale.numerator, scale.denominator]
    return {"weight": read, "classes": [list(x) for x in zip(labels, times, strict=True)]}


def _feature_names(prepared: Prepared) -> list[str]:
    problem = prepared.problem
    if problem.feature_names is None:
        return [f"x{i}" for i in range(problem.n_features)]
    return [str(name) for name in problem.feature_names]


def _features(prepared: Prepared) -> list[list[Any]]:
    """Return the features: columns of the table, and sums of two of them."""
    problem, names = prepared.problem, _feature_names(prepared)
    found: list[list[Any]] = []
    for name, categories in zip(names, prepared.encoder.categories, strict=True):
        known = [] if categories is None else [str(category) for category in categories]
        found.append([name, "number" if categories is None else "category", *known])
    if not problem.combinations:
        return found
    table = prepared.encoded
    if prepared.weights is not None:
        table = table[prepared.whole_weights() > 0]
    for one in problem.combinations:
        assert isinstance(one, Combination)
        _, noise = grouped_sums(table, one)
        (a, first), (b, second) = one.terms
        terms = [repr(a), int(first), repr(b), int(second)]
        found.append([one.words(names), "sum", *terms, repr(noise)])
    return found


def _listed(
    prepared: Prepared, problem: Problem, thresholds: Sequence[Sequence[float]]
) -> list[list[Any]]:
    """Return the columns with the splits that count."""
    found: list[list[Any]] = []
    names = _feature_names(prepared)
    for column, cuts in zip(problem.columns, thresholds, strict=True):
        if column.kind != "category":
            kind = "last" if column.kind == "missing_last" else "first"
            told = [kind, *(repr(float(cut)) for cut in cuts)]
        else:
            known = prepared.encoder.categories[column.feature] or ()
            is_known = column.category < len(known)
            told = ["is", str(known[column.category])] if is_known else ["empty"]
        found.append([names[column.feature], *told])
    return found
