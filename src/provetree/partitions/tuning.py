"""Moved to :mod:`provetree.selection.partition_size`; this place goes with the next version."""

from provetree.renamed import moved

__getattr__ = moved(__name__, "provetree.selection.partition_size")
