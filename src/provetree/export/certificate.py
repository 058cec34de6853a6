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
from typing import Any

import numpy as np

from provetree.number_types import Int
from provetree.problem.combinations import Combination
from provetree.problem.pairs import grouped_sums
from provetree.problem.prepare import Prepared
from provetree.problem.problem import Problem
from provetree.problem.weights import as_decimal

__all__ = ["Certificate", "WhatIsRead", "write_certificate"]

_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


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
    columns, ranks, labels, cost = tree
    nodes = (
        f"{c}:{r}" if c >= 0 else str(x) for c, r, x in zip(columns, ranks, labels, strict=True)
    )
    body = bytearray()
    if len(certified["weights"]):
        for number in (1, *_in_order(problem, certified["weights"])):
            _put(body, number)
    else:
        _put(body, 0)
    _put(body, certified["claims"])
    body += certified["bytes"]
    sums = problem.table.digest()
    lines = ["provetree certificate 1", "made by\tprovetree", f"target\t{_escaped(names.target)}"]
    lines += _weight_lines(prepared, names.weight)
    lines += _feature_lines(prepared) if listed is None else _listed_lines(prepared, *listed)
    lines += [
        f"table\t{problem.counts.sum()}\t{sums[0]}\t{sums[1]}",
        f"objective\t{problem.error_scale}\t{problem.split_penalty}",
        f"limits\t{asked[0]}\t{asked[1]}\t{problem.min_samples_leaf}",
        f"bound\t{certified['bound']}",
        f"tree\t{cost}\t{' '.join(nodes)}",
        f"body\t{len(body)}\t{hashlib.sha256(body).hexdigest()}",
    ]
    content = "\n".join(lines).encode() + b"\n\n" + body
    with open(path, "wb") as file:
        file.write(content)
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
    return field.translate(_ESCAPES)


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


def _weight_lines(prepared: Prepared, column: str | None) -> list[str]:
    """Return how a checker comes to the whole weights of the rows."""
    labels = [_escaped(str(label)) for label in prepared.classes.tolist()]
    if prepared.weights is None:
        return [f"class\t{label}\t1" for label in labels]
    times = np.ones(len(labels), dtype=np.int64)
    lines = []
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
        lines.append(f"weight\t{_escaped(column)}\t{scale.numerator}\t{scale.denominator}")
    return lines + [f"class\t{label}\t{t}" for label, t in zip(labels, times, strict=True)]


def _feature_names(prepared: Prepared) -> list[str]:
    problem = prepared.problem
    if problem.feature_names is None:
        return [f"x{i}" for i in range(problem.n_features)]
    return [_escaped(str(name)) for name in problem.feature_names]


def _feature_lines(prepared: Prepared) -> list[str]:
    """Return the features: columns of the table, and sums of two of them."""
    problem, names = prepared.problem, _feature_names(prepared)
    lines = []
    for name, categories in zip(names, prepared.encoder.categories, strict=True):
        if categories is None:
            lines.append(f"feature\t{name}\tnumber")
        else:
            known = [_escaped(str(category)) for category in categories]
            lines.append("\t".join(["feature", name, "category", *known]))
    if not problem.combinations:
        return lines
    table = prepared.encoded
    if prepared.weights is not None:
        table = table[prepared.whole_weights() > 0]
    for one in problem.combinations:
        assert isinstance(one, Combination)
        _, noise = grouped_sums(table, one)
        terms = [text for c, column in one.terms for text in (repr(c), str(column))]
        lines.append("\t".join(["feature", one.words(names), "sum", *terms, repr(noise)]))
    return lines


def _listed_lines(
    prepared: Prepared, problem: Problem, thresholds: Sequence[Sequence[float]]
) -> list[str]:
    """Return the columns with the splits that count."""
    lines, names = [], _feature_names(prepared)
    for column, cuts in zip(problem.columns, thresholds, strict=True):
        if column.kind != "category":
            kind = "last" if column.kind == "missing_last" else "first"
            told = [kind, *(repr(float(cut)) for cut in cuts)]
        else:
            known = prepared.encoder.categories[column.feature] or ()
            is_known = column.category < len(known)
            told = ["is", _escaped(str(known[column.category]))] if is_known else ["empty"]
        lines.append("\t".join(["feature", names[column.feature], *told]))
    return lines
