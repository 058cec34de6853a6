"""Turns users' tables into the encoded float64 table from which problems are built.

Numbers stay as they are, categories become codes, missing values become NaN. Tables of numpy,
pandas and polars are read without importing pandas or polars.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from provetree.number_types import Float
from provetree.problem.inputs import as_table, is_missing

#: Code of a category that training did not contain.
UNKNOWN = -1.0

_NUMBER_TYPES = (Real, Decimal, np.bool_)
_TEXT_TYPES = (str, bytes)


class TableEncoder:
    """Turns tables into float64 arrays, remembering the categories of training.

    Parameters
    ----------
    categorical_features : "from_dtype", None, or array of bool, int or str
        Which columns hold categories: those of a category or text type; none; or those given
        as a mask, as positions, or as names.

    Attributes
    ----------
    n_features : int
        Number of columns.
    feature_names : tuple of str or None
        Names of the columns, if the table had names and all are strings.
    categories : list
        For each column None (numbers) or the list of its categories: the position of a
        category is its code. A missing category is NaN, one not known from training -1.

    Examples
    --------
    >>> from provetree import TableEncoder
    >>> encoder = TableEncoder().fit([[1.5, "red"], [2.5, None], [3.5, "blue"]])
    >>> encoder.categories
    [None, ['blue', 'red']]
    >>> encoder.transform([[1.0, "red"], [2.0, "green"], [3.0, None]]).tolist()
    [[1.0, 1.0], [2.0, -1.0], [3.0, nan]]
    """

    n_features: int
    feature_names: tuple[str, ...] | None
    categories: list[list[object] | None]

    def __init__(self, categorical_features: ArrayLike | None = "from_dtype") -> None:
        self.categorical_features = categorical_features

    def fit(self, X: object) -> TableEncoder:
        """Learn which columns are categories, and what their categories are.

        Parameters
        ----------
        X : array or table, shape (n_rows, n_features)
            A numpy array, a pandas or polars DataFrame, or a list of rows.

        Returns
        -------
        TableEncoder
            The encoder itself.
        """
        self._learn(_Table(X))
        return self

    def transform(self, X: object) -> Float:
        """Return the table as float64, encoded by what :meth:`fit` learned.

        Returns
        -------
        array of float64, shape (n_rows, n_features)
        """
        return self._encode(_Table(X))

    def fit_transform(self, X: object) -> Float:
        """Do :meth:`fit` and :meth:`transform` in one pass over the table.

        Examples
        --------
        >>> from provetree import TableEncoder
        >>> TableEncoder().fit_transform([["b"], ["a"], ["b"]]).tolist()
        [[1.0], [0.0], [1.0]]
        """
        table = _Table(X)
        self._learn(table)
        return self._encode(table)

    def _learn(self, table: _Table) -> None:
        if table.n_features == 0:
            raise ValueError(
                f"Found array with 0 feature(s) (shape={table.shape}) while a minimum of 1 "
                "is required."
            )
        wanted = self.categorical_features
        by_dtype = isinstance(wanted, str) and wanted == "from_dtype"
        chosen = set() if by_dtype else _chosen(wanted, table)
        categories: list[list[object] | None] = []
        if table.numbers is not None and not chosen:
            categories = [None] * table.n_features
        for index in range(len(categories), table.n_features):
            if table.numbers is None or index in chosen:
                column = table.column(index)
                if index in chosen or (by_dtype and column.is_category):
                    categories.append(column.distinct())
                    continue
                if column.is_category:
                    column.numbers()  # says what is wrong, if they are no numbers
            categories.append(None)
        self.n_features = table.n_features
        self.feature_names = table.names
        self.categories = categories

    def _encode(self, table: _Table) -> Float:
        if not hasattr(self, "categories"):
            raise ValueError("The TableEncoder must be fitted before it can transform a table.")
        if table.n_features != self.n_features:
            raise ValueError(
                f"X has {table.n_features} features, but TableEncoder is expecting "
                f"{self.n_features} features as input."
            )
        if table.numbers is not None and self.categories.count(None) == len(self.categories):
            return table.numbers
        encoded = np.empty(table.shape)
        for index, categories in enumerate(self.categories):
            column = table.column(index)
            encoded[:, index] = column.numbers() if categories is None else column.codes(categories)
        return encoded


class _Table:
    """A table of any library: its shape, names and columns."""

    def __init__(self, X: object) -> None:
        self.names: tuple[str, ...] | None = None
        self.numbers: Float | None = None
        self._source = source = as_table(X, "TableEncoder")
        self._pandas = hasattr(source, "iloc") and hasattr(source, "dtypes")
        self._polars = hasattr(source, "get_columns") and hasattr(source, "schema")
        if self._pandas or self._polars:
            names = list(source.columns)
            if names and all(isinstance(name, str) for name in names):
                self.names = tuple(names)
        elif source.dtype.kind in "biuf":
            self.numbers = np.asarray(source, dtype=np.float64)
        self.shape: tuple[int, int] = (int(source.shape[0]), int(source.shape[1]))
        if self.shape[0] == 0:
            raise ValueError(
                f"Found array with 0 sample(s) (shape={self.shape}) while a minimum of 1 "
                "is required."
            )
        if self._pandas and all(
            isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in self._source.dtypes
        ):
            self.numbers = self._source.to_numpy(dtype=np.float64)

    @property
    def n_features(self) -> int:
        return self.shape[1]

    def column(self, index: int) -> _Column:
        name = str(index) if self.names is None else repr(self.names[index])
        if self._pandas:
            return _pandas_column(name, self._source.iloc[:, index])
        if self._polars:
            return _polars_column(name, self._source.get_columns()[index])
        return _array_column(name, self._source[:, index])


class _Column:
    """One column of a table, held as numbers, as objects, or as codes of some levels."""

    def __init__(
        self,
        name: str,
        *,
        numbers: Float | None = None,
        whole: bool = False,
        objects: list[object] | None = None,
        coded: tuple[NDArray[np.int64], list[object]] | None = None,
    ) -> None:
        self.name = name
        self._numbers = numbers
        self._whole = whole
        self._objects = objects
        self._coded = coded

    @property
    def is_category(self) -> bool:
        return self._numbers is None

    def distinct(self) -> list[object]:
        """Return the categories present: in the order of their type, else sorted."""
        if self._coded is not None:
            codes, levels = self._coded
            return [levels[code] for code in np.unique(codes[codes >= 0]).tolist()]
        if self._numbers is not None:
            values = np.unique(self._numbers[~np.isnan(self._numbers)]) + 0.0
            return [int(x) for x in values] if self._whole else list(values.tolist())
        assert self._objects is not None
        present = {value for value in self._objects if not is_missing(value)}
        try:
            return sorted(present)  # type: ignore[type-var]
        except TypeError:
            raise ValueError(
                f"Column {self.name} mixes values of several types, which have no common order. "
                "Turn them all into text or all into numbers."
            ) from None

    def codes(self, categories: Sequence[object]) -> Float:
        """Return the index of each value in ``categories``: NaN if missing, -1 if absent."""
        place = {value: float(code) for code, value in enumerate(categories)}
        if self._coded is not None:
            codes, levels = self._coded
            # One more entry at the end: code -1, which stands for missing, finds it.
            table = np.array([place.get(level, UNKNOWN) for level in levels] + [np.nan])
            return table[codes]
        if self._numbers is not None:
            return _number_codes(self._numbers, place)
        assert self._objects is not None
        return np.array([np.nan if is_missing(x) else place.get(x, UNKNOWN) for x in self._objects])

    def numbers(self) -> Float:
        """Return the column as numbers; raise if that is impossible."""
        if self._numbers is not None:
            return self._numbers
        if self._coded is not None:
            codes, levels = self._coded
            self._must_be_numbers(levels)
            return np.array([*(float(level) for level in levels), np.nan])[codes]  # type: ignore[arg-type]
        assert self._objects is not None
        self._must_be_numbers(self._objects)
        return np.full(len(self._objects), np.nan)  # else it would be held as numbers

    def _must_be_numbers(self, values: Iterable[object]) -> None:
        for value in values:
            if not is_missing(value) and not isinstance(value, _NUMBER_TYPES):
                raise ValueError(
                    f"Column {self.name} must hold numbers: it did in training, or "
                    "'categorical_features' does not name it. "
                    f"Got {value!r}, which could not be converted to float."
                )


def _pandas_column(name: str, series: Any) -> _Column:
    dtype = series.dtype
    if str(dtype) == "category":
        codes = series.cat.codes.to_numpy().astype(np.int64)
        return _Column(name, coded=(codes, list(series.cat.categories)))
    if isinstance(dtype, np.dtype):
        return _array_column(name, series.to_numpy())
    kind = getattr(dtype, "kind", "O")
    if kind in "biuf":  # nullable numbers and booleans
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return _Column(name, numbers=numbers, whole=kind in "biu")
    _must_not_be_time(name, kind, dtype)
    is_text = "str" in str(dtype)
    return _object_column(name, series.to_numpy(dtype=object).tolist(), is_text=is_text)


def _polars_column(name: str, series: Any) -> _Column:
    dtype = series.dtype
    kind = str(dtype)
    if kind.startswith(("Date", "Time", "Duration")):
        _must_not_be_time(name, "M", dtype)
    if kind == "Boolean" or kind == "Null" or dtype.is_numeric():
        # A cast within polars turns null into NaN on the way to numpy.
        numbers = series.cast(type(series)([0.0]).dtype).to_numpy()
        whole = kind.startswith(("Int", "UInt", "Bool"))
        return _Column(name, numbers=np.asarray(numbers, dtype=np.float64), whole=whole)
    is_text = kind.startswith(("String", "Utf8", "Categorical", "Enum"))
    return _object_column(name, series.to_list(), is_text=is_text)


def _array_column(name: str, column: NDArray[Any]) -> _Column:
    kind = column.dtype.kind
    if kind in "biuf":
        return _Column(name, numbers=column.astype(np.float64), whole=kind in "biu")
    _must_not_be_time(name, kind, column.dtype)
    return _object_column(name, column.tolist())


def _object_column(name: str, values: list[object], *, is_text: bool = False) -> _Column:
    """Return a column of objects: as numbers if all present ones are, else as categories."""
    has_text, has_numbers = is_text, False  # a text column is text, even if all values are missing
    for kind in set(map(type, values)):
        if kind is type(None) or kind.__name__ in ("NAType", "NaTType"):
            continue
        if issubclass(kind, _NUMBER_TYPES):
            # A missing value among text is often a float NaN: that is no number.
            if not has_numbers:
                has_numbers = any(isinstance(x, kind) and not is_missing(x) for x in values)
        elif issubclass(kind, _TEXT_TYPES):
            has_text = True
        elif kind.__module__ == "datetime":
            _must_not_be_time(name, "M", kind.__name__)
        elif kind is complex or issubclass(kind, np.complexfloating):
            raise ValueError(f"Complex data not supported: column {name} holds {kind.__name__}.")
        else:
            raise TypeError(
                f"Column {name} holds a value of type {kind.__name__}: "
                "each argument must be a string or a real number, or be missing."
            )
    if has_text and has_numbers:
        raise ValueError(
            f"Column {name} mixes text and numbers. Turn it all into text or all into numbers."
        )
    if has_text:
        return _Column(name, objects=values)
    try:
        numbers = np.array([np.nan if is_missing(x) else float(x) for x in values])  # type: ignore[arg-type]
    except OverflowError:
        raise ValueError(f"Column {name} holds a number too large for float64.") from None
    whole = has_numbers and all(is_missing(x) or isinstance(x, (int, np.integer)) for x in values)
    return _Column(name, numbers=numbers, whole=whole)


def _number_codes(numbers: Float, place: Mapping[object, float]) -> Float:
    known = [(value, code) for value, code in place.items() if isinstance(value, _NUMBER_TYPES)]
    codes = np.full(len(numbers), UNKNOWN)
    if known:
        values = np.array([float(value) for value, _ in known])
        order = np.argsort(values)
        values, value_codes = values[order], np.array([code for _, code in known])[order]
        at = np.minimum(np.searchsorted(values, numbers), len(values) - 1)
        codes = np.where(values[at] == numbers, value_codes[at], UNKNOWN)
    codes[np.isnan(numbers)] = np.nan
    return codes


def _must_not_be_time(name: str, kind: str, dtype: object) -> None:
    if kind in "Mm":
        raise ValueError(
            f"Column {name} holds dates or times ({dtype}), which are not supported. "
            "Turn them into numbers first."
        )
    if kind == "c":
        raise ValueError(f"Complex data not supported: column {name} holds {dtype}.")


def _chosen(categorical_features: ArrayLike | None, table: _Table) -> set[int]:
    """Return the positions of the columns that the user names as categories."""
    if categorical_features is None:
        return set()
    rule = (
        "The 'categorical_features' parameter must be 'from_dtype', None, or an array of bool, "
        "int or str that chooses columns."
    )
    if isinstance(categorical_features, (str, bytes)):
        raise ValueError(f"{rule} Got {categorical_features!r} instead.")
    given = np.asarray(categorical_features)
    if given.ndim != 1:
        raise ValueError(f"{rule} Got an array of shape {given.shape} instead.")
    if given.size == 0:
        return set()
    if given.dtype.kind == "b":
        if len(given) != table.n_features:
            raise ValueError(
                f"{rule} Got a mask of {len(given)} for {table.n_features} columns instead."
            )
        return set(np.flatnonzero(given).tolist())
    if given.dtype.kind in "iu":
        for index in given.tolist():
            if not 0 <= index < table.n_features:
                raise ValueError(
                    f"{rule} Got the position {index} for {table.n_features} columns instead."
                )
        return set(given.tolist())
    if all(isinstance(name, str) for name in given.tolist()):
        if table.names is None:
            raise ValueError(f"{rule} Got names, but the columns of the table have none.")
        places = {name: index for index, name in enumerate(table.names)}
        for name in given.tolist():
            if name not in places:
                raise ValueError(f"{rule} Got {name!r}, which is no column of the table.")
        return {places[name] for name in given.tolist()}
    raise ValueError(f"{rule} Got an array of {given.dtype} instead.")
