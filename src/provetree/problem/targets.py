"""Numbers to predict, and the costs or rewards of actions: read once, one sentence per fault."""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from provetree.number_types import Float
from provetree.problem.inputs import is_missing, is_named_table, is_sparse

__all__ = ["MOST_TARGET", "Targets", "read_actions", "read_table", "read_targets"]

#: Larger targets have squares and sums that leave float64.
MOST_TARGET = 1e140
#: Distinct targets that lie closer together have squares that float64 cannot hold.
_LEAST_RANGE = 1e-140
#: Beyond this, float64 skips whole numbers.
_MOST_EXACT_INT = 2**53


class Targets(NamedTuple):
    """Targets as an array of rows and outputs, and what they were given as."""

    values: Float  # (n_rows, n_outputs), C-contiguous
    names: tuple[object, ...] | None  # of the outputs or actions, where the table has names
    flat: bool  # whether they came as one column without a second dimension


def read_targets(y: Any, n_rows: int, owner: str) -> Targets:
    """Return the numbers to predict, one column for each output.

    Examples
    --------
    >>> from provetree.problem.targets import read_targets
    >>> read_targets([1, 2, 4], 3, "OptimalTreeRegressor").values.tolist()
    [[1.0], [2.0], [4.0]]
    >>> read_targets(["low", "high"], 2, "OptimalTreeRegressor")
    Traceback (most recent call last):
        ...
    ValueError: The target y of OptimalTreeRegressor must hold numbers. Got 'low'.
    """
    if y is None:
        raise ValueError(f"{owner} requires y to be passed, but the target y is None.")
    what = f"The target y of {owner}"
    values = _as_numbers(y, what)
    if values.ndim not in (1, 2) or (values.ndim == 2 and values.shape[1] == 0):
        raise ValueError(
            f"{what} must have one number for each row, or a row of numbers for several outputs. "
            f"Got an array of shape {values.shape}."
        )
    _check_rows(len(values), n_rows)
    _check_range(values, what)
    table = values.reshape(len(values), -1)
    return Targets(np.ascontiguousarray(table), _output_names(y), values.ndim == 1)


def read_actions(given: Any, n_rows: int, owner: str, what: str = "rewards") -> Targets:
    """Return what each action brings or costs each row, one column for each action.

    Examples
    --------
    >>> from provetree.problem.targets import read_actions
    >>> read_actions([[1, 0], [0, 2]], 2, "OptimalPolicyTree").values.shape
    (2, 2)
    """
    if given is None:
        raise ValueError(f"{owner} requires {what} to be passed, but they are None.")
    words = f"The {what!r} of {owner}"
    values = read_table(given, words)
    if values.ndim != 2 or values.shape[1] < 2:
        raise ValueError(
            f"{words} must be a table with a column for each of two or more actions, shape "
            f"(n_rows, n_actions). Got an array of shape {values.shape}."
        )
    _check_rows(len(values), n_rows, what)
    return Targets(np.ascontiguousarray(values), _action_names(given, words), False)


def read_table(given: Any, what: str) -> Float:
    """Return finite numbers of any shape; `what` says in messages what they are.

    Examples
    --------
    >>> from provetree.problem.targets import read_table
    >>> read_table([[0, 5], [1, 0]], "The 'cost_matrix'").tolist()
    [[0.0, 5.0], [1.0, 0.0]]
    """
    values = _as_numbers(given, what)
    if values.ndim > 0:
        _check_range(values, what)
    return values


def _as_numbers(given: Any, what: str) -> Float:
    """Return an array of finite float64."""
    if hasattr(given, "collect") and hasattr(given, "lazy"):
        raise TypeError(f"{what} must be data. Got a lazy table: use collect().")
    if (
        hasattr(given, "columns")
        and not isinstance(given, np.ndarray)
        and not is_named_table(given)
    ):
        raise TypeError(
            f"{what} must be an array, a list, or a table of pandas or polars. "
            f"Got {type(given).__module__}.{type(given).__qualname__}."
        )
    if is_sparse(given):
        raise TypeError(f"{what} must be a dense array. Got sparse data: use toarray().")
    if isinstance(given, np.ma.MaskedArray) and np.ma.getmaskarray(given).any():
        raise ValueError(f"{what} must hold no missing values. Got a masked one.")
    try:
        array = np.asarray(given)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} must hold numbers in rows of equal length: {error}") from error
    kind = array.dtype.kind
    if kind == "c":
        raise ValueError(f"Complex data not supported: {what[0].lower()}{what[1:]} must be real.")
    if kind in "mMV":
        raise ValueError(f"{what} must hold numbers. Got {array.dtype}.")
    if kind in "OUS":
        array = _numbers_of_objects(array, what)
    elif kind in "iu":
        _check_whole(array, what)
    with np.errstate(over="ignore"):
        numbers = array.astype(np.float64)
    if np.isnan(numbers).any():
        # The words that scikit-learn's checks of regressors look for.
        got = "Input y contains" if what.startswith("The target y") else "Got"
        raise ValueError(f"{what} must hold no missing values. {got} NaN.")
    if np.isinf(numbers).any():
        raise ValueError(f"{what} must hold finite numbers. Got infinity.")
    return np.asarray(numbers, dtype=np.float64)


def _numbers_of_objects(array: NDArray[Any], what: str) -> NDArray[Any]:
    found = np.empty(array.shape, dtype=np.float64)
    for place, value in np.ndenumerate(array):
        if is_missing(value):
            raise ValueError(f"{what} must hold no missing values. Got {value!r}.")
        if isinstance(value, (complex, np.complexfloating)):
            raise ValueError(
                f"Complex data not supported: {what[0].lower()}{what[1:]} must be real."
            )
        # Decimals are numbers, though of no class of numbers.
        if not isinstance(value, (Real, np.bool_)) and type(value).__name__ != "Decimal":
            raise ValueError(f"{what} must hold numbers. Got {_plain(value)!r}.")
        if isinstance(value, (int, np.integer)):
            _check_exact(int(value), what)
        found[place] = float(value)
    return found


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _check_whole(array: NDArray[Any], what: str) -> None:
    if array.size:
        for extreme in (int(array.min()), int(array.max())):
            _check_exact(extreme, what)


def _check_exact(value: int, what: str) -> None:
    if abs(value) > _MOST_EXACT_INT:
        raise ValueError(
            f"{what} must hold ints of at most 2**53 in size, which float64 keeps exactly. "
            f"Got {value}."
        )


def _check_rows(n_given: int, n_rows: int, what: str = "y") -> None:
    if n_given != n_rows:
        verb = "has" if what == "y" else "have"
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows and "
            f"{what} {verb} {n_given}."
        )


def _check_range(values: Float, what: str) -> None:
    if not values.size:
        return
    columns = values.reshape(len(values), -1)
    low, high = columns.min(axis=0), columns.max(axis=0)
    largest = float(max(abs(low).max(), abs(high).max()))
    if largest > MOST_TARGET:
        raise ValueError(
            f"{what} must hold numbers of at most {MOST_TARGET:g} in size, whose squares can be "
            f"added up. Got {largest:g}."
        )
    ranges = high - low
    close = ranges[(ranges > 0) & (ranges < _LEAST_RANGE)]
    if len(close):
        raise ValueError(
            f"{what} must hold numbers whose range is 0 or at least {_LEAST_RANGE:g}. "
            f"Got {close[0]:g}."
        )


def _output_names(given: Any) -> tuple[str, ...] | None:
    columns = getattr(given, "columns", None)
    if columns is None or isinstance(given, np.ndarray):
        return None
    return tuple(str(name) for name in columns)


def _action_names(given: Any, what: str) -> tuple[object, ...] | None:
    """Return the names of the columns as they are; actions are told apart by them."""
    columns = getattr(given, "columns", None)
    if columns is None or isinstance(given, np.ndarray):
        return None
    names = [_plain(name) for name in columns]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f"{what} must have a name of its own for each action. Got {name!r} twice."
            )
    return tuple(names)
