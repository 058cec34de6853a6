"""The user's own leaf costs: Python callables, and compiled functions by address.

The cost of a tree is the sum of the costs of its leaves. DL8 and DL8.5 only need that no leaf costs
less than zero.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["LeafCost"]

_SIGNATURES = {
    "class_weights": "double (double *, int64_t, int64_t *, void *)",
    "rows": "double (int64_t *, int64_t, int64_t *, void *)",
}


@dataclass(frozen=True)
class LeafCost:
    """What a leaf costs, as a function of the training rows that end in it.

    A Python function gets one array and returns the cost, or the cost and the position of the
    class that the leaf predicts; with the cost alone, the leaf predicts its heaviest class. A
    compiled function has the C signature ``double f(const double *class_weights, int64_t n_classes,
    int64_t *label, void *data)``, or ``double f(const int64_t *rows, int64_t n_rows, int64_t
    *label, void *data)``; it may write the position of the class to ``label``, which is -1 before.

    Parameters
    ----------
    function : callable, ctypes function, numba ``cfunc`` or ``scipy.LowLevelCallable``
        The function. It must give the same cost for the same leaf, and none below zero.
    of : {"class_weights", "rows"}, default="class_weights"
        What it gets: the total weight of each class in the leaf, in the order of ``classes_``; or
        the positions of the leaf's rows in the training table, in rising order.

    Examples
    --------
    A price of 0.5 for each leaf on top of its errors, so that splits must pay for themselves:

    >>> from provetree import DL85Classifier, LeafCost
    >>> def errors_and_price(weights):
    ...     return weights.sum() - weights.max() + 0.5
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> DL85Classifier(leaf_cost=LeafCost(errors_and_price)).fit(X, y).objective_
    1.5
    """

    function: Any
    of: Literal["class_weights", "rows"] = "class_weights"

    def __post_init__(self) -> None:
        if self.of not in _SIGNATURES:
            raise ValueError(
                "The 'of' parameter of LeafCost must be the str 'class_weights' or the str 'rows'. "
                f"Got {self.of!r} instead."
            )
        if not self.is_compiled and not callable(self.function):
            raise ValueError(
                "The 'function' parameter of LeafCost must be a callable, a ctypes function, a "
                f"numba cfunc or a scipy.LowLevelCallable. Got {self.function!r} instead."
            )

    def __deepcopy__(self, memo: dict[int, Any]) -> LeafCost:
        # A copy of an address is the same address, so cloned estimators share it.
        return self

    @property
    def is_compiled(self) -> bool:
        """Whether the function is called without Python."""
        return _is_low_level(self.function) or _as_ctypes(self.function) is not None

    def address(self) -> tuple[int, int]:
        """Return the addresses of a compiled function and of its user data, 0 for none."""
        expected = _SIGNATURES[self.of]
        if _is_low_level(self.function):
            capsule = tuple.__getitem__(self.function, 0)  # its own indexing is closed
            signature = (_capsule("Name", ctypes.c_char_p, capsule) or b"").decode()
            if not signature.startswith("double (") or signature.count(",") != 3:
                raise ValueError(
                    f"The compiled function of LeafCost must have the signature '{expected}'. "
                    f"Got '{signature}' instead."
                )
            pointer = _capsule("Pointer", ctypes.c_void_p, capsule, signature.encode())
            return pointer or 0, _capsule("Context", ctypes.c_void_p, capsule) or 0
        compiled = _as_ctypes(self.function)
        if compiled is None:
            raise TypeError("A Python function has no address.")
        arguments = compiled.argtypes
        if compiled.restype is not ctypes.c_double or arguments is None or len(arguments) != 4:
            raise ValueError(
                f"The compiled function of LeafCost must have the signature '{expected}', with "
                "'restype' and 'argtypes' set. Got "
                f"restype {compiled.restype!r} and argtypes {arguments!r} instead."
            )
        return ctypes.cast(compiled, ctypes.c_void_p).value or 0, 0

    @staticmethod
    def from_parameter(leaf_cost: LeafCost | Callable[..., Any] | None) -> LeafCost | None:
        """Return the leaf cost of a parameter; plain functions get class weights."""
        if leaf_cost is None or isinstance(leaf_cost, LeafCost):
            return leaf_cost
        return LeafCost(leaf_cost)


def _is_low_level(function: object) -> bool:
    # By name, so that scipy is loaded only if used.
    return isinstance(function, tuple) and type(function).__name__ == "LowLevelCallable"


def _as_ctypes(function: Any) -> Any:
    if hasattr(function, "restype") and hasattr(function, "argtypes"):
        return function
    if hasattr(function, "address") and hasattr(function, "ctypes"):  # numba.cfunc
        return function.ctypes
    return None


def _capsule(part: str, kind: Any, capsule: object, *name: bytes) -> Any:
    """Return the name, the pointer or the context of a capsule of Python's C interface."""
    call = getattr(ctypes.pythonapi, f"PyCapsule_Get{part}")
    call.restype, call.argtypes = kind, [ctypes.py_object, *[ctypes.c_char_p for _ in name]]
    return call(capsule, *name)
