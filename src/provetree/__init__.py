"""Classification trees that are proven optimal.

The names below are loaded on first use, so that ``import provetree`` stays fast and a
program that only reads stored trees never loads scikit-learn.

Examples
--------
>>> import provetree
>>> provetree.Tree.__name__
'Tree'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from provetree.estimators.column_generation import ColumnGenerationClassifier
    from provetree.estimators.optimal_tree import OptimalTreeClassifier
    from provetree.problem.columns import Column
    from provetree.problem.problem import Problem, build_problem
    from provetree.problem.table import TableEncoder
    from provetree.search.engine import ExactSearch
    from provetree.solution import Engine, Limits, Progress, Solution
    from provetree.tree.tree import Tree
    from provetree.tree.verify import VerifiedCost, verify

_HOMES = {
    "Column": "provetree.problem.columns",
    "ColumnGenerationClassifier": "provetree.estimators.column_generation",
    "Engine": "provetree.solution",
    "ExactSearch": "provetree.search.engine",
    "Limits": "provetree.solution",
    "OptimalTreeClassifier": "provetree.estimators.optimal_tree",
    "Problem": "provetree.problem.problem",
    "Progress": "provetree.solution",
    "Solution": "provetree.solution",
    "TableEncoder": "provetree.problem.table",
    "Tree": "provetree.tree.tree",
    "VerifiedCost": "provetree.tree.verify",
    "build_problem": "provetree.problem.problem",
    "verify": "provetree.tree.verify",
}

__all__ = [
    "Column",
    "ColumnGenerationClassifier",
    "Engine",
    "ExactSearch",
    "Limits",
    "OptimalTreeClassifier",
    "Problem",
    "Progress",
    "Solution",
    "TableEncoder",
    "Tree",
    "VerifiedCost",
    "__version__",
    "build_problem",
    "verify",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'provetree' has no attribute {name!r}")
    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
