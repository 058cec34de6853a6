"""The figures of a report, gathered once and kept in the model file as plain JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from provetree.tree.tree import Tree

__all__ = ["column_facts", "frontier_facts", "part_facts", "runner_up_facts", "stability_facts"]

Float: TypeAlias = NDArray[np.float64]
#: Categories of a column that are listed.
_MOST_LISTED = 6
_N_BINS = 20


def part_facts(predicted: NDArray[np.intp], codes: NDArray[np.intp], n_classes: int) -> Any:
    """Return rows, errors, accuracy and confusion matrix of some rows.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.report.facts import part_facts
    >>> part_facts(np.array([0, 1, 1, 1]), np.array([0, 1, 0, 1]), 2)
    {'rows': 4, 'errors': 1, 'accuracy': 0.75, 'confusion': [[1, 1], [0, 2]]}
    """
    confusion = np.zeros((n_classes, n_classes), dtype=np.int64)
    np.add.at(confusion, (codes, predicted), 1)
    errors = int((predicted != codes).sum())
    return {
        "rows": len(codes),
        "errors": errors,
        "accuracy": 1.0 - errors / len(codes) if len(codes) else math.nan,
        "confusion": confusion.tolist(),
    }


def column_facts(
    tree: Tree, encoded: Float, importances: Float, notes: Sequence[tuple[str, str]] = ()
) -> list[dict[str, Any]]:
    """Return what each column looks like in the training rows, and how the tree uses it.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import Tree
    >>> from provetree.report.facts import column_facts
    >>> leaf = Tree(feature=[-1], threshold=[0], value=[[2]], n_samples=[2], n_features=1)
    >>> found = column_facts(leaf, np.array([[1.0], [3.0]]), np.zeros(1))[0]
    >>> found["name"], found["low"], found["median"], found["high"], found["splits"]
    ('x0', 1.0, 2.0, 3.0, 0)
    """
    said = dict(notes)
    names = tree.feature_names or tuple(f"x{f}" for f in range(tree.n_features))
    facts = []
    for feature, (name, levels) in enumerate(zip(names, tree.categories, strict=True)):
        x = encoded[:, feature]
        present = x[~np.isnan(x)]
        fact: dict[str, Any] = {
            "name": name,
            "kind": "number" if levels is None else "category",
            "missing": int(len(x) - len(present)),
            "distinct": len(np.unique(present)),
            "splits": int((tree.feature == feature).sum()),
            "importance": float(importances[feature]),
        }
        if name in said:
            fact["note"] = said[name]
        if levels is not None:
            counts = np.bincount(present[present >= 0].astype(int), minlength=len(levels))
            order = np.argsort(-counts, kind="stable")[:_MOST_LISTED]
            fact["top"] = [[str(levels[i]), int(counts[i])] for i in order.tolist()]
        else:
            finite = present[np.isfinite(present)]
            if len(finite):
                low, median, high = np.quantile(finite, [0.0, 0.5, 1.0])
                fact |= {"low": float(low), "median": float(median), "high": float(high)}
                with np.errstate(over="ignore"):
                    wide = np.isfinite(high - low)
                if wide and high > low:
                    fact["histogram"] = np.histogram(finite, _N_BINS)[0].tolist()
        facts.append(fact)
    return facts


def frontier_facts(path: Any, chosen: int | None = None) -> dict[str, Any]:
    """Return a tuning path as plain JSON.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from provetree import tuning_path
    >>> from provetree.report.facts import frontier_facts
    >>> path = tuning_path(*load_iris(return_X_y=True), max_depth=1)
    >>> frontier_facts(path)["points"][1]["errors"]
    50
    """

    def plain(x: float) -> float | None:
        return None if math.isnan(x) else x

    return {
        "folds": path.n_folds,
        "chosen": path.one_standard_error.n_leaves if path.n_folds else None,
        "here": chosen,
        "points": [
            {
                "leaves": point.n_leaves,
                "errors": point.errors,
                "lower_bound": point.lower_bound,
                "status": point.status,
                "train": point.train_score,
                "held_out": plain(point.cv_score),
                "standard_error": plain(point.cv_error),
            }
            for point in path.points
        ],
    }


def runner_up_facts(found: Sequence[Any]) -> list[dict[str, Any]]:
    """Return runner-up splits as plain JSON.

    Examples
    --------
    >>> from provetree.report.facts import runner_up_facts
    >>> from provetree.selection import RunnerUp
    >>> runner_up_facts([RunnerUp(0, "a <= 1", "b <= 2", 1, 4, 4, "optimal")])[0]["extra"]
    4
    """
    return [
        {
            "node": runner_up.node,
            "split": runner_up.split,
            "alternative": runner_up.alternative,
            "extra": runner_up.extra,
            "extra_at_least": runner_up.extra_at_least,
            "status": runner_up.status,
            "sentence": runner_up.sentence,
        }
        for runner_up in found
    ]


def stability_facts(found: Any) -> dict[str, Any]:
    """Return the stability of a tree as plain JSON.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.report.facts import stability_facts
    >>> from provetree.selection import Stability
    >>> stability_facts(Stability((), np.array([1.0]), 0.9, 5, 5))["refits"]
    5
    """
    return {
        "refits": found.n_refits,
        "proven": found.n_proven,
        "agreement": found.agreement,
        "splits": [
            {
                "node": split.node,
                "split": split.split,
                "same_place": split.same_place,
                "anywhere": split.anywhere,
            }
            for split in found.splits
        ],
    }
