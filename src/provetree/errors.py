"""The errors that engines raise in common."""

from __future__ import annotations

__all__ = ["InfeasibleError"]


class InfeasibleError(ValueError):
    """No tree keeps to all constraints; the message says whether this is proven.

    Examples
    --------
    >>> from provetree import InfeasibleError
    >>> raise InfeasibleError("No tree of the candidate splits keeps all constraints.")
    Traceback (most recent call last):
        ...
    provetree.errors.InfeasibleError: No tree of the candidate splits keeps all constraints.
    """
