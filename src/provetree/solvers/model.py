"""A mixed-integer model as plain arrays: one sparse matrix, bounds, named variables, numbered rows.

:class:`ModelBuilder` takes sets of variables and of constraints and allocates the matrix once, so
that building needs little more memory than the matrix itself. Nothing here knows trees or solvers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from provetree.number_types import Bool, Float, Int, Int32

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["ConstraintSet", "Expression", "Model", "ModelBuilder", "VariableSet", "Violation"]

#: Positions of variables. Matrices are indexed with 32 bits: half the memory, and what solvers use.
Index: TypeAlias = Int32
#: Writes the columns and the coefficients of a set of constraints into flat arrays.
Fill: TypeAlias = Callable[[Index, Float], None]


@dataclass(frozen=True)
class VariableSet:
    """Variables that share a name, such as all ``z[i, t]``.

    Examples
    --------
    >>> VariableSet("z", 3, (2, 2)).names()
    ['z_1_1', 'z_1_2', 'z_2_1', 'z_2_2']
    """

    name: str
    start: int
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of variables."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def positions(self) -> Index:
        """Positions of the variables, in the shape of their indices."""
        return np.arange(self.start, self.start + self.size, dtype=np.int32).reshape(self.shape)

    def names(self) -> list[str]:
        """Return the name of each variable; indices count from one, as in papers."""
        if not self.shape:
            return [self.name]
        ranges = [range(1, length + 1) for length in self.shape]
        return ["_".join([self.name, *map(str, index)]) for index in product(*ranges)]


@dataclass(frozen=True)
class ConstraintSet:
    """Constraints that stand under one number of a paper, such as "(5) left", and their meaning.

    Examples
    --------
    >>> ConstraintSet("(5) left", 0, 2, "rows go left").names()
    ['c5_left_1', 'c5_left_2']
    """

    number: str
    start: int
    size: int
    meaning: str

    @property
    def rows(self) -> slice:
        """The rows of the matrix."""
        return slice(self.start, self.start + self.size)

    def names(self) -> list[str]:
        """Return a name for each row that files of models can hold."""
        words = "".join(c if c.isalnum() else " " for c in self.number).split()
        stem = "c" + "_".join(words)
        return [f"{stem}_{i}" for i in range(1, self.size + 1)]


@dataclass(frozen=True, eq=False)
class Expression:
    """A linear expression in the variables of a model."""

    columns: Index
    coefficients: Float

    def scaled(self, factor: float) -> Expression:
        """Return the expression times a number."""
        return Expression(self.columns, self.coefficients * factor)


@dataclass(frozen=True)
class Violation:
    """How far a point is outside a model at most, and where."""

    size: float
    where: str


@dataclass(frozen=True, eq=False)
class Model:
    """Minimise ``objective @ x + offset`` over a polyhedron with whole-numbered variables.

    Parameters
    ----------
    name : str
        What the model is called.
    objective : array of float, shape (n_variables,)
        Cost of each variable.
    offset : float
        Constant part of the objective.
    matrix : scipy.sparse.csr_matrix, shape (n_constraints, n_variables)
        Left-hand sides.
    row_lower, row_upper : array of float, shape (n_constraints,)
        Bounds of the left-hand sides; infinite where there is none.
    lower, upper : array of float, shape (n_variables,)
        Bounds of the variables.
    integer : array of bool, shape (n_variables,)
        Which variables must be whole.
    step : array of float, shape (n_variables,)
        For a variable that need not be whole: some optimum has it at a multiple of this. Zero where
        nothing is known. Solvers of whole numbers need it.
    variables : tuple of VariableSet
        The names of the variables.
    constraints : tuple of ConstraintSet
        The numbers of the constraints.

    Examples
    --------
    >>> from provetree.solvers.model import ModelBuilder
    >>> builder = ModelBuilder("two of three")
    >>> x = builder.variables("x", 3, upper=1, integer=True, cost=[3, 1, 2])
    >>> builder.add("(1)", (), (x, 1.0), lower=2, meaning="take two")
    >>> model = builder.build()
    >>> model.n_variables, model.n_constraints, model.value([0, 1, 1])
    (3, 1, 3.0)
    >>> model.violation([0, 1, 0])
    Violation(size=1.0, where='constraint (1) [take two], row 1: 1 is below 2')
    """

    name: str
    objective: Float
    offset: float
    matrix: csr_matrix
    row_lower: Float
    row_upper: Float
    lower: Float
    upper: Float
    integer: Bool
    step: Float
    variables: tuple[VariableSet, ...]
    constraints: tuple[ConstraintSet, ...]

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.objective)

    @property
    def n_constraints(self) -> int:
        """Number of constraints; bounds of variables are not counted."""
        return len(self.row_lower)

    @property
    def is_bounded(self) -> bool:
        """Whether every variable has bounds, so that no objective is without end."""
        return bool(np.isfinite(self.lower).all() and np.isfinite(self.upper).all())

    def variable(self, name: str) -> VariableSet:
        """Return the variables of a name.

        Examples
        --------
        >>> from provetree.solvers.model import ModelBuilder
        >>> builder = ModelBuilder("empty")
        >>> _ = builder.variables("x", 3)
        >>> builder.build().variable("x").size
        3
        """
        for group in self.variables:
            if group.name == name:
                return group
        known = ", ".join(repr(group.name) for group in self.variables)
        raise KeyError(f"The model has no variables {name!r}; it has {known}.")

    def constraint(self, number: str) -> ConstraintSet:
        """Return the constraints of a number.

        Examples
        --------
        >>> from provetree.solvers.model import ModelBuilder
        >>> builder = ModelBuilder("empty")
        >>> x = builder.variables("x", 3)
        >>> builder.add("(1)", (), (x, 1.0), upper=2)
        >>> builder.build().constraint("(1)").size
        1
        """
        for group in self.constraints:
            if group.number == number:
                return group
        known = ", ".join(repr(group.number) for group in self.constraints)
        raise KeyError(f"The model has no constraints {number!r}; it has {known}.")

    def value(self, point: ArrayLike) -> float:
        """Return the objective at a point."""
        return float(self.objective @ np.asarray(point, dtype=np.float64)) + self.offset

    def violation(self, point: ArrayLike) -> Violation:
        """Return how far a point is outside the bounds, the constraints or the whole numbers."""
        x = np.asarray(point, dtype=np.float64)
        if x.shape != (self.n_variables,):
            raise ValueError(
                f"The point must have {self.n_variables} entries. Got shape {x.shape} instead."
            )
        worst = Violation(0.0, "nowhere")
        activity = self.matrix @ x
        fractional = np.where(self.integer, np.abs(x - np.round(x)), 0.0)
        checks: list[tuple[Float, Callable[[int], str]]] = [
            (
                self.lower - x,
                lambda i: f"{self._variable_at(i)} is {x[i]:g}, below {self.lower[i]:g}",
            ),
            (
                x - self.upper,
                lambda i: f"{self._variable_at(i)} is {x[i]:g}, above {self.upper[i]:g}",
            ),
            (fractional, lambda i: f"{self._variable_at(i)} is {x[i]:g}, which is not whole"),
            (
                self.row_lower - activity,
                lambda r: f"{self._row_at(r)}: {activity[r]:g} is below {self.row_lower[r]:g}",
            ),
            (
                activity - self.row_upper,
                lambda r: f"{self._row_at(r)}: {activity[r]:g} is above {self.row_upper[r]:g}",
            ),
        ]
        for excess, where in checks:
            if len(excess) and not excess.max() <= worst.size:
                at = int(np.argmax(np.where(np.isnan(excess), np.inf, excess)))
                worst = Violation(float(excess[at]), where(at))
                if np.isnan(worst.size):
                    return worst
        return worst

    def variable_names(self) -> list[str]:
        """Return the names of all variables, in order."""
        return [name for group in self.variables for name in group.names()]

    def constraint_names(self) -> list[str]:
        """Return the names of all constraints, in order."""
        return [name for group in self.constraints for name in group.names()]

    def _variable_at(self, position: int) -> str:
        for group in self.variables:
            if group.start <= position < group.start + group.size:
                index = np.unravel_index(position - group.start, group.shape)
                return "_".join([group.name, *(str(i + 1) for i in index)])
        raise IndexError(position)

    def _row_at(self, row: int) -> str:
        for group in self.constraints:
            if group.start <= row < group.start + group.size:
                meaning = f" [{group.meaning}]" if group.meaning else ""
                return f"constraint {group.number}{meaning}, row {row - group.start + 1}"
        raise IndexError(row)


@dataclass(frozen=True)
class _Pending:
    """Constraints that are written into the matrix when it exists."""

    group: ConstraintSet
    lengths: Int
    fill: Fill
    lower: Float
    upper: Float


class ModelBuilder:
    """Collects variables and constraints, and makes the model of them.

    Parameters
    ----------
    name : str
        What the model is called.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.solvers.model import ModelBuilder
    >>> builder = ModelBuilder("assignment")
    >>> z = builder.variables("z", (4, 2), upper=1, integer=True)
    >>> builder.add("(1)", 4, (z, 1.0), equals=1, meaning="each row has one place")
    >>> builder.add("(2)", 2, (z.T, 1.0), upper=3, meaning="at most three in a place")
    >>> builder.build().matrix.shape
    (6, 8)
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._sets: list[VariableSet] = []
        self._parts: dict[str, list[NDArray[Any]]] = {
            part: [] for part in ("objective", "lower", "upper", "integer", "step")
        }
        self._pending: list[_Pending] = []
        self._n_variables = 0
        self._n_rows = 0
        self.offset = 0.0

    def variables(
        self,
        name: str,
        shape: int | tuple[int, ...] = (),
        *,
        lower: ArrayLike = 0.0,
        upper: ArrayLike = np.inf,
        integer: bool = False,
        cost: ArrayLike = 0.0,
        step: float | None = None,
    ) -> Index:
        """Add variables and return their positions, in the given shape.

        Parameters
        ----------
        name : str
            Their name, without indices.
        shape : int or tuple of int
            The ranges of their indices.
        lower, upper, cost : array-like of float
            Bounds and cost, broadcast to the shape.
        integer : bool
            Whether they must be whole.
        step : float, optional
            Some optimum has them at multiples of this; one for whole variables.
        """
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        group = VariableSet(name, self._n_variables, shape)
        if any(other.name == name for other in self._sets):
            raise ValueError(f"The model already has variables {name!r}.")
        known = 1.0 if integer else 0.0 if step is None else step
        values = {"objective": cost, "lower": lower, "upper": upper, "step": known}
        for part, value in values.items():
            # Views of what is often one number: memory is taken when the model is built.
            self._parts[part].append(np.broadcast_to(np.asarray(value, dtype=np.float64), shape))
        self._parts["integer"].append(np.broadcast_to(np.bool_(integer), shape))
        self._sets.append(group)
        self._n_variables += group.size
        return group.positions

    def cost(self, columns: Index, cost: float) -> None:
        """Set the cost of variables that were added before."""
        parts = self._parts["objective"]
        for at, group in enumerate(self._sets):
            inside = (columns >= group.start) & (columns < group.start + group.size)
            if inside.any():
                costs = np.array(parts[at])
                costs.reshape(-1)[columns[inside] - group.start] = cost
                parts[at] = costs

    def add(
        self,
        number: str,
        shape: int | tuple[int, ...],
        *terms: tuple[Index, ArrayLike],
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
        equals: ArrayLike | None = None,
        meaning: str = "",
    ) -> None:
        """Add constraints on sums of terms: one constraint for each index of a shape.

        Parameters
        ----------
        number : str
            The number in the paper.
        shape : int or tuple of int
            The ranges of the indices that the constraints have.
        *terms : tuple of (array of int, array-like of float)
            Positions of variables and their coefficients, broadcast to the shape: one variable in
            each constraint, or several where the positions have one axis more than the shape.
        lower, upper : array-like of float
            Bounds, broadcast to the shape.
        equals : array-like of float, optional
            Both bounds.
        meaning : str
            The constraint in a few words.

        Examples
        --------
        >>> from provetree.solvers.model import ModelBuilder
        >>> builder = ModelBuilder("assignment")
        >>> z, most = builder.variables("z", (4, 2)), builder.variables("most", 2)
        >>> builder.add("(1)", 2, (z.T, 1.0), (most, -1.0), upper=0, meaning="sums of columns")
        >>> builder.build().matrix.shape
        (2, 10)
        """
        ranges = (shape,) if isinstance(shape, int) else tuple(shape)
        parts = [_entries(places, values, len(ranges)) for places, values in terms]
        widths = [places.shape[-1] for places, _ in parts]

        def fill(columns: Index, coefficients: Float) -> None:
            columns = columns.reshape(*ranges, sum(widths))
            coefficients = coefficients.reshape(*ranges, sum(widths))
            at = 0
            for (places, values), width in zip(parts, widths, strict=True):
                columns[..., at : at + width] = places
                coefficients[..., at : at + width] = values
                at += width

        low, high = (lower, upper) if equals is None else (equals, equals)
        low, high = (
            np.broadcast_to(bound, ranges).reshape(-1) if np.ndim(bound) else bound
            for bound in (low, high)
        )
        lengths = np.broadcast_to(np.int64(sum(widths)), (math.prod(ranges),))
        self.ragged(number, lengths, fill, lower=low, upper=high, meaning=meaning)

    def at_most(self, number: str, x: Index, y: Index, meaning: str = "") -> None:
        """Add that variables are at most others, one by one; see :meth:`add`.

        Examples
        --------
        >>> from provetree.solvers.model import ModelBuilder
        >>> builder = ModelBuilder("places")
        >>> z, is_open = builder.variables("z", (4, 2)), builder.variables("l", 2)
        >>> builder.at_most("(1)", z, is_open, "open places only")
        >>> builder.build().n_constraints
        8
        """
        shape = np.broadcast_shapes(x.shape, y.shape)
        self.add(number, shape, (x, 1.0), (y, -1.0), upper=0, meaning=meaning)

    def ragged(
        self,
        number: str,
        lengths: Int,
        fill: Fill,
        *,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
        meaning: str = "",
    ) -> None:
        """Add constraints of unequal length that a function writes straight into the matrix.

        Parameters
        ----------
        number, lower, upper, meaning
            As for :meth:`add`.
        lengths : array of int, shape (n_rows,)
            The number of entries of each row.
        fill : callable
            Called once with two flat arrays, all rows one after another, to write the positions
            and the coefficients to. Zeros are dropped from the matrix afterwards.
        """
        if any(pending.group.number == number for pending in self._pending):
            raise ValueError(f"The model already has constraints {number!r}.")
        n_rows = len(lengths)
        group = ConstraintSet(number, self._n_rows, n_rows, meaning)
        low, high = (
            np.broadcast_to(np.asarray(bound, dtype=np.float64), (n_rows,))
            for bound in (lower, upper)
        )
        self._pending.append(_Pending(group, lengths, fill, low, high))
        self._n_rows += n_rows

    def build(self) -> Model:
        """Return the model."""
        from scipy.sparse import csr_matrix

        n_entries = sum(int(pending.lengths.sum()) for pending in self._pending)
        starts = np.zeros(self._n_rows + 1, dtype=np.int32 if n_entries < 2**31 else np.int64)
        columns = np.empty(n_entries, dtype=np.int32)
        coefficients = np.empty(n_entries)
        at = 0
        for pending in self._pending:
            end = at + int(pending.lengths.sum())
            rows = slice(pending.group.start + 1, pending.group.start + pending.group.size + 1)
            starts[rows] = at + np.cumsum(pending.lengths)
            pending.fill(columns[at:end], coefficients[at:end])
            at = end
        matrix = csr_matrix((self._n_rows, self._n_variables))
        matrix.data, matrix.indices, matrix.indptr = coefficients, columns, starts
        matrix.eliminate_zeros()
        return Model(
            name=self._name,
            offset=self.offset,
            matrix=matrix,
            row_lower=_concatenated([pending.lower for pending in self._pending]),
            row_upper=_concatenated([pending.upper for pending in self._pending]),
            variables=tuple(self._sets),
            constraints=tuple(pending.group for pending in self._pending),
            **{part: _concatenated(arrays) for part, arrays in self._parts.items()},
        )


def _entries(places: Index, values: ArrayLike, n_ranges: int) -> tuple[Index, NDArray[Any]]:
    """Return a term with a last axis for the entries that each constraint has of it."""
    coefficients = np.asarray(values)
    if places.ndim > n_ranges:
        return places, coefficients
    return places[..., np.newaxis], coefficients[..., np.newaxis]


def _concatenated(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    kind = arrays[0].dtype if arrays else np.float64
    joined = np.empty(sum(array.size for array in arrays), dtype=kind)
    at = 0
    for array in arrays:
        joined[at : at + array.size].reshape(array.shape)[...] = array
        at += array.size
    return joined
