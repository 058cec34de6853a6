"""Trees for other programs: pictures, files, and the classes of other libraries."""

from __future__ import annotations

from provetree.export.graphviz import to_graphviz
from provetree.export.plot import plot_tree
from provetree.export.sklearn import UnsupportedTreeError, to_sklearn

__all__ = ["UnsupportedTreeError", "plot_tree", "to_graphviz", "to_sklearn"]
