"""The errors that engines raise in common."""

from __future__ import annotations

__all__ = ["ClusterError", "InfeasibleError"]


class ClusterError(RuntimeError):
    """A cluster cannot do what it is asked for; the message says why.

    Examples
    --------
    >>> from provetree import ClusterError
    >>> raise ClusterError("The Dask cluster has no worker.")
    Traceback (most recent call last):
        ...
    provetree.errors.ClusterError: The Dask cluster has no worker.
    """


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
