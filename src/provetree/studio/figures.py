"""How a tree does: on its training rows, on folds that were held out, on test rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from provetree.problem.inputs import label_codes
from provetree.report.judged import part_facts
from provetree.selection.path import Folds, folds_of
from provetree.studio.jobs import Job
from provetree.studio.solving import fit_tree
from provetree.studio.table import StudioTable
from provetree.studio.wishes import Wishes
from provetree.tree.tree import Tree

__all__ = ["cross_validated", "on_rows"]

_N_FOLDS = 5
#: The least seconds that the search of a fold has.
_LEAST_SECONDS = 0.5


def on_rows(table: StudioTable, tree: Tree) -> dict[str, Any]:
    """Return how a tree does on training rows and on test rows."""
    prepared = table.prepared
    found = {"train": _facts(tree, prepared.encoded, prepared.codes)}
    if table.n_test_rows:
        codes = label_codes(prepared.classes, np.asarray(table.y_test))
        found["test"] = _facts(tree, prepared.encoder.transform(table.test), codes)
    return found


def _facts(tree: Tree, encoded: Any, codes: Any) -> dict[str, Any]:
    facts = part_facts(tree.predict(encoded), codes, tree.n_classes)
    return {name: facts[name] for name in ("rows", "errors", "accuracy")}


def cross_validated(table: StudioTable, wishes: Wishes, seconds: float, job: Job) -> dict[str, Any]:
    """Return how trees that keep the same wishes do on rows that they did not see.

    The wishes are kept in every fold. Where a fold has no rows for a fixed question, there is no
    figure, and a sentence says so.
    """
    folds: Folds = folds_of(_N_FOLDS, table.prepared, "the studio")
    scores = []
    limit = max(seconds / _N_FOLDS, _LEAST_SECONDS)
    for train, held_out in folds:
        try:
            clf = fit_tree(table, wishes, limit, job, rows=table.rows_of(train))
        except ValueError as error:
            return {"why": f"A part of the rows cannot keep your rules: {error}"}
        X, y = table.rows_of(held_out)
        scores.append(float(np.mean(clf.predict(X) == y)))
    if not scores:
        return {"why": "There are too few rows to hold some out."}
    spread = float(np.std(scores, ddof=1)) / math.sqrt(len(scores)) if len(scores) > 1 else None
    return {
        "accuracy": float(np.mean(scores)),
        "error": spread,
        "folds": len(scores),
        "rows": table.n_rows,
    }
