"""What comes in: tables, labels and weights are looked over once, with one sentence for each fault.

Tables of pandas and polars pass untouched to the encoder, which knows their types; everything else
becomes an array here.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from numbers import Number, Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from provetree.number_types import Float
from provetree.problem.checks import check_weights

__all__ = [
    "as_table",
    "column_names",
    "encode_labels",
    "is_missing",
    "is_sparse",
    "known_label_codes",
    "label_codes",
    "row_weights",
]

Codes: TypeAlias = NDArray[np.intp]

#: Rows that weigh less than this in all would have costs that float64 cannot tell from zero.
_LEAST_TOTAL = 1e-280
#: Whole numbers spread over at most this many times the rows are encoded without sorting.
_MOST_GAPS = 4


def as_table(X: Any, owner: str) -> Any:
    """Return `X` as an array, or as it is when it is a table of named columns.

    What the values may be is for :class:`~provetree.problem.table.TableEncoder` to check.

    Examples
    --------
    >>> from provetree.problem.inputs import as_table
    >>> as_table([[1, 2], [3, 4]], "OptimalTreeClassifier").shape
    (2, 2)
    """
    if isinstance(X, np.ma.MaskedArray):
        # What is masked is missing; numpy would drop the mask without a word.
        masked: Any = X
        table: Any = masked.astype(np.float64).filled(np.nan) if masked.mask.any() else masked.data
    elif hasattr(X, "collect") and hasattr(X, "lazy"):
        raise TypeError(f"A lazy table was passed for X, but {owner} needs data: use X.collect().")
    elif hasattr(X, "__dask_graph__") and hasattr(X, "columns"):
        raise TypeError(
            f"A table of Dask was passed for X, but {owner} needs data: use X.compute()."
        )
    elif isinstance(X, np.ndarray) or (hasattr(X, "shape") and hasattr(X, "columns")):
        if not isinstance(X, np.ndarray) and not is_named_table(X):
            kind = f"{type(X).__module__}.{type(X).__qualname__}"
            raise TypeError(
                f"A {kind} was passed for X, but {owner} takes arrays, lists, and tables of pandas "
                "and polars: use X.to_pandas() or polars.from_arrow(X)."
            )
        table = X
    elif is_sparse(X):
        raise TypeError(
            f"Sparse data was passed for X, but {owner} needs dense data: use X.toarray()."
        )
    else:
        table = _as_array(X, owner)
    shape = tuple(table.shape)
    if len(shape) == 1:
        raise ValueError(
            f"Expected 2D array, got 1D array instead: {owner} needs a table for X. Reshape your "
            "data either using array.reshape(-1, 1) if your data has a single feature or "
            "array.reshape(1, -1) if it contains a single sample."
        )
    if len(shape) != 2:
        kind = f"{len(shape)}D" if shape else "scalar"
        raise ValueError(
            f"Expected 2D array, got {kind} array instead: {owner} needs a table for X. "
            "Reshape your data."
        )
    return table


def is_named_table(given: object) -> bool:
    """Tell whether this is a table of pandas or polars, or of a library with the same face."""
    of_pandas = hasattr(given, "iloc") and hasattr(given, "dtypes")
    return of_pandas or (hasattr(given, "get_columns") and hasattr(given, "schema"))


def is_sparse(given: object) -> bool:
    """Tell whether something is a matrix or array of scipy.sparse, without loading that."""
    if isinstance(given, (np.ndarray, list)):
        return False
    return any(kind.__module__.startswith("scipy.sparse") for kind in type(given).__mro__)


def _as_array(X: Any, owner: str) -> NDArray[Any]:
    try:
        array = np.asarray(X)
        if array.dtype.kind in "US":
            # One string among numbers turned all of them into strings: keep each as it came.
            array = np.asarray(X, dtype=object)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"{owner} needs a table for X, with rows of equal length; what was passed cannot be "
            f"made one: {error}"
        ) from error
    return array


def column_names(table: Any) -> NDArray[np.object_] | None:
    """Return the names of the columns of a table, None where it has none."""
    columns = getattr(table, "columns", None)
    if columns is None or isinstance(table, np.ndarray):
        return None
    names = list(columns)
    strings = [isinstance(name, str) for name in names]
    if not any(strings):
        return None
    if not all(strings):
        kinds = ", ".join(sorted({type(name).__name__ for name in names}))
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your "
            f"input has names of the types {kinds}: convert them all to strings, for example by "
            "X.columns = X.columns.astype(str)."
        )
    return np.array(names, dtype=object)


def encode_labels(y: Any, n_rows: int, owner: str) -> tuple[NDArray[Any], Codes]:
    """Return the distinct labels in rising order and, for each row, the position of its label.

    Examples
    --------
    >>> from provetree.problem.inputs import encode_labels
    >>> encode_labels(["no", "yes", "no"], 3, "OptimalTreeClassifier")
    (array(['no', 'yes'], dtype='<U3'), array([0, 1, 0]))
    """
    if y is None:
        raise ValueError(f"{owner} requires y to be passed, but the target y is None.")
    if is_sparse(y):
        raise TypeError(f"Sparse data was passed for y, but {owner} needs a dense array.")
    labels = _as_label_array(y, owner)
    if labels.ndim != 1:
        from sklearn.utils import column_or_1d

        labels = column_or_1d(labels, warn=True)
    if labels.dtype == object:
        labels = _plain_labels(labels)
    if len(labels) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows and "
            f"y has {len(labels)}."
        )
    kind = labels.dtype.kind
    if kind in "OU":
        return _encode_strings(labels)
    if kind == "f":
        if not np.isfinite(labels).all():
            raise ValueError("Input y contains NaN or infinity, which are no labels.")
        _must_be_labels(labels)
    elif kind not in "biu":
        _must_be_labels(labels)
    elif len(labels) > 0:
        low, high = int(labels.min()), int(labels.max())
        if high - low <= _MOST_GAPS * len(labels):
            return _encode_small_ints(labels, low, high)
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes.reshape(-1)


def _must_be_labels(labels: NDArray[Any]) -> None:
    from sklearn.utils.multiclass import check_classification_targets

    check_classification_targets(labels)


def _encode_small_ints(labels: NDArray[Any], low: int, high: int) -> tuple[NDArray[Any], Codes]:
    """Encode whole numbers that lie close together without sorting them."""
    unsigned = labels.dtype.kind == "u"  # these need not fit into int64
    wide = labels if unsigned else labels.astype(np.int64, copy=False)
    shifted = wide - wide.dtype.type(low)
    present = np.zeros(high - low + 1, dtype=np.bool_)
    present[shifted] = True
    if labels.dtype == np.int64 and present.all():
        return np.arange(low, high + 1), shifted
    places = np.flatnonzero(present)
    code_of = np.empty(len(present), dtype=np.intp)
    code_of[places] = np.arange(len(places))
    codes = code_of[shifted]
    classes = np.empty(len(places), dtype=labels.dtype)
    classes[codes] = labels
    return classes, codes


def _encode_strings(labels: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    """Encode strings by hashing them, which is several times faster than sorting all of them."""
    rows = labels.tolist()
    names = sorted(set(rows))
    code_of = {name: code for code, name in enumerate(names)}
    codes = np.fromiter(map(code_of.__getitem__, rows), dtype=np.intp, count=len(rows))
    return np.array(names, dtype=labels.dtype), codes


def _as_label_array(y: Any, owner: str) -> NDArray[Any]:
    try:
        labels = np.asarray(y)
        if labels.dtype.kind in "US" and isinstance(y, (list, tuple)):
            # Numbers among strings have turned into strings: look at each as it came.
            labels = np.asarray(y, dtype=object)
            if all(isinstance(label, str) for label in labels.ravel()):
                labels = np.asarray(y)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{owner} needs one label for each row in y: {error}") from error
    if labels.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: y of {owner} must hold labels.")
    if labels.dtype.kind in "mMV":
        raise ValueError(f"Unknown label type: y holds {labels.dtype}, which are no labels.")
    return labels


def _plain_labels(labels: NDArray[Any]) -> NDArray[Any]:
    """Return objects as what they are: often numbers that have passed through a table."""
    kinds = {_label_kind(label) for label in labels}
    if "missing" in kinds:
        raise ValueError("Input y contains missing labels (None or NaN).")
    if kinds == {"str"}:
        return labels
    if len(kinds) == 1 and kinds != {"other"}:
        plain = np.array(labels.tolist())
        if plain.dtype != object:
            return plain
        if kinds == {"number"}:
            beyond = next((label for label in labels if abs(label) >= 2**63), labels[0])
            raise ValueError(
                "Unknown label type: numbers of y must fit into 64 bits; others can be given as "
                f"strings. Got {beyond}."
            )
    raise ValueError(
        "Unknown label type: y must hold all strings, all numbers or all booleans. Got "
        f"{', '.join(sorted({type(label).__name__ for label in labels}))}."
    )


def _label_kind(label: object) -> str:
    if isinstance(label, str):
        return "str"
    if isinstance(label, (bool, np.bool_)):
        return "bool"
    if is_missing(label):
        return "missing"
    if isinstance(label, Number) and not isinstance(label, (complex, np.complexfloating)):
        return "number"
    return "other"


def is_missing(value: object) -> bool:
    """Tell whether a value of a table stands for a missing one: None, NaN, and those of pandas."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating, Decimal)) and bool(value != value)


def label_codes(classes: NDArray[Any], y: Any) -> Codes:
    """Return the place of each label among the labels of training, -1 where it is none of them."""
    place = {label: code for code, label in enumerate(classes.tolist())}
    return np.array([place.get(label, -1) for label in np.asarray(y).tolist()], dtype=np.intp)


def known_label_codes(classes: NDArray[Any], y: Any, n_rows: int) -> Codes:
    """Return the place of each label among the labels of training, which must hold all of them.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.inputs import known_label_codes
    >>> known_label_codes(np.array(["no", "yes"]), ["yes", "perhaps"], 2)
    Traceback (most recent call last):
        ...
    ValueError: The 'y' must hold labels known from training ('no', 'yes'). Got 'perhaps'.
    """
    labels = np.asarray(y)
    if labels.shape != (n_rows,):
        raise ValueError(
            f"The 'y' must hold one label for each of the {n_rows} rows. "
            f"Got an array of shape {labels.shape} instead."
        )
    codes = label_codes(classes, labels)
    if (codes < 0).any():
        known = ", ".join(map(repr, classes.tolist()[:10]))
        strange = labels.tolist()[int(np.argmax(codes < 0))]
        raise ValueError(
            f"The 'y' must hold labels known from training ({known}). Got {strange!r}."
        )
    return codes


def row_weights(
    sample_weight: Any,
    class_weight: Mapping[Any, float] | str | None,
    classes: NDArray[Any],
    codes: Codes,
) -> Float | None:
    """Return the weight of each row, or None when all weigh one.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.inputs import row_weights
    >>> row_weights(None, {"yes": 5}, np.array(["no", "yes"]), np.array([0, 1, 1]))
    array([1., 5., 5.])
    """
    given = None if sample_weight is None else check_weights(sample_weight, len(codes))
    if given is not None:
        _check_total(given, "sample_weight")
    if class_weight is None:
        return given
    weights = np.ones(len(codes)) if given is None else given
    if isinstance(class_weight, str):
        # Weights count here, so that a row of weight two is the same as two rows.
        totals = np.bincount(codes, weights, len(classes))
        present = totals > 0
        factors = np.zeros(len(classes))
        factors[present] = totals.sum() / (present.sum() * totals[present])
    else:
        factors = _class_factors(class_weight, classes)
    with np.errstate(over="ignore", under="ignore"):
        product = weights * factors[codes]
    _check_total(product, "class_weight")
    return product


def _check_total(weights: Float, name: str) -> None:
    """Refuse weights whose sums or inverses leave the range of float64."""
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if not _LEAST_TOTAL <= total < np.inf:
        raise ValueError(
            f"The {name!r} must leave a total weight above zero, in the range "
            f"[{_LEAST_TOTAL}, 1e308]. Got {total}."
        )


def _class_factors(class_weight: Mapping[Any, Any], classes: NDArray[Any]) -> Float:
    labels = classes.tolist()
    for label, weight in class_weight.items():
        number = isinstance(weight, Real) and not isinstance(weight, (bool, np.bool_))
        if not (number and 0.0 <= weight < np.inf):
            raise ValueError(
                "The 'class_weight' parameter must give each label a finite weight >= 0. "
                f"Got {weight!r} for the label {label!r}."
            )
    unknown = [label for label in class_weight if label not in set(labels)]
    if unknown and any(label not in class_weight for label in labels):
        # Labels too many are harmless (a fold may lack a class), unless one of them is a
        # misspelt label of y.
        raise ValueError(
            f"The 'class_weight' parameter must name labels of y. Got {unknown[0]!r}, and y holds "
            f"{', '.join(map(repr, labels[:10]))}{', ...' if len(labels) > 10 else ''}."
        )
    return np.array([float(class_weight.get(label, 1.0)) for label in labels])
