"""Moved to :mod:`provetree.solvers.solver`; this place goes with the next version."""

from provetree.renamed import moved

__getattr__ = moved(__name__, "provetree.solvers.solver")
