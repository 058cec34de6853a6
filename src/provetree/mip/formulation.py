"""Moved to :mod:`provetree.formulations.formulation`; this place goes with the next version."""

from provetree.renamed import moved

__getattr__ = moved(__name__, "provetree.formulations.formulation")
