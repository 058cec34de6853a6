"""From tables to problems: encoding, ordered columns, integer weights, merged rows."""

from __future__ import annotations

from provetree.problem.columns import Column
from provetree.problem.problem import Problem, build_problem
from provetree.problem.table import TableEncoder

__all__ = ["Column", "Problem", "TableEncoder", "build_problem"]
