"""The evidence of a report, gathered once and kept in the model file as plain JSON.

Here a tree is judged on its rows, and CART is fitted beside it. The command line and
:func:`provetree.write_report` both come here, so that their figures are the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from provetree.export.calibration import calibration_on
from provetree.number_types import Float
from provetree.problem.inputs import encode_labels, known_label_codes, label_codes, row_weights
from provetree.problem.table import TableEncoder
from provetree.problem.targets import read_actions, read_targets
from provetree.report.class_sections import calibration_facts, operating_facts
from provetree.report.judged import (
    action_facts,
    leaf_residuals,
    number_facts,
    part_facts,
    shown_points,
)
from provetree.report.near_optimal_section import near_optimal_facts
from provetree.report.tuning_section import number_tuning_facts, tuning_facts
from provetree.tree.importances import split_importances
from provetree.tree.tree import Tree
from provetree.tree.values import Actions

if TYPE_CHECKING:
    from provetree.report.cart import Cart

__all__ = [
    "Rows",
    "TrainingRows",
    "choice_facts",
    "chosen_limits",
    "evidence_of",
    "extra_facts",
    "judge",
    "read_rows",
    "tree_facts",
]

#: Categories of a column that are listed.
_MOST_LISTED = 6
_N_BINS = 20


@dataclass(frozen=True)
class Rows:
    """Rows to judge trees on: encoded, with what is known of each.

    That is a class (-1 is none of training), or the numbers to predict, or what each action brings
    or costs.
    """

    encoded: Float
    codes: NDArray[np.intp]
    targets: Float | None = None


@dataclass(frozen=True)
class TrainingRows:
    """Training rows, and what reads other rows as they were read.

    Examples
    --------
    >>> from provetree.report.evidence import TrainingRows
    >>> train = TrainingRows.read([[1.0], [2.0], [3.0]], ["no", "yes", "no"])
    >>> train.others([[2.5]], ["perhaps"]).codes
    array([-1])
    >>> numbers = TrainingRows.read([[1.0], [2.0]], [0.5, 1.5], numbers=True)
    >>> numbers.rows.targets.tolist()
    [[0.5], [1.5]]
    """

    encoder: TableEncoder
    classes: NDArray[Any] | None  # None where numbers are predicted
    rows: Rows

    @classmethod
    def read(cls, table: Any, labels: ArrayLike, *, numbers: bool = False) -> TrainingRows:
        """Read a training table with labels, or with numbers to predict."""
        encoder = TableEncoder()
        encoded = encoder.fit_transform(table)
        if numbers:
            return cls(encoder, None, _with_targets(encoded, labels, "CART"))
        classes, codes = encode_labels(labels, len(encoded), "CART")
        return cls(encoder, classes, Rows(encoded, codes))

    def others(self, table: Any, labels: ArrayLike) -> Rows:
        """Read other rows, such as test rows."""
        encoded = self.encoder.transform(table)
        if self.classes is None:
            return _with_targets(encoded, labels, "CART")
        return Rows(encoded, label_codes(self.classes, labels))

    def cart(self, parameters: Mapping[str, Any]) -> Cart:
        """Fit CART with the limits and class weights of an estimator."""
        from provetree.report.cart import fit_cart

        splits = parameters.get("max_splits")
        weights = None
        if self.classes is not None:
            class_weight = parameters.get("class_weight")
            weights = row_weights(None, class_weight, self.classes, self.rows.codes)
        return fit_cart(
            self.rows.encoded,
            self.rows.codes if self.rows.targets is None else self.rows.targets,
            self.encoder.categories,
            max_depth=parameters["max_depth"],
            max_leaf_nodes=parameters.get("max_leaf_nodes") if splits is None else splits + 1,
            min_samples_leaf=parameters.get("min_support", parameters.get("min_samples_leaf", 1)),
            sample_weight=weights,
        )


def _with_targets(encoded: Float, given: Any, owner: str) -> Rows:
    targets = read_targets(given, len(encoded), owner).values
    return Rows(encoded, np.zeros(len(encoded), dtype=np.intp), targets)


def evidence_of(
    estimator: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    X_test: Any = None,
    y_test: ArrayLike | None = None,
    **extras: Any,
) -> dict[str, Any]:
    """Return the facts about a fitted tree; what is not given is left out.

    Examples
    --------
    >>> from provetree import OptimalTreeClassifier
    >>> from provetree.report.evidence import evidence_of
    >>> X, y = [[1.0], [2.0], [3.0]], ["no", "yes", "no"]
    >>> facts = evidence_of(OptimalTreeClassifier(max_depth=1).fit(X, y), X, y)
    >>> facts["train"]["errors"], facts["cart"]["train"]["errors"]
    (1, 1)
    """
    tree: Tree = estimator.tree_

    def rows(table: Any, labels: Any) -> Rows | None:
        if table is None or labels is None:
            return None
        return read_rows(
            tree, estimator.encode(table), labels, getattr(estimator, "classes_", None)
        )

    train, test = rows(X, y), rows(X_test, y_test)
    cart = None
    if train is not None and tree.kind != "actions":  # CART knows no actions
        classes = estimator.classes_ if tree.kind == "classes" else None
        read = TrainingRows(estimator.encoder_, classes, train)
        cart = read.cart(estimator.get_params(deep=False) | chosen_limits(estimator))
    if extras.get("calibration") is None and test is None:
        extras["calibration"] = getattr(estimator, "calibration_", None)  # of folds
    facts = tree_facts(tree, train, test, cart)
    facts |= choice_facts(estimator) | cluster_facts(estimator)
    return facts | extra_facts(tree, **extras)


def choice_facts(estimator: Any) -> dict[str, Any]:
    """Return what an estimator chose by cross-validation, where it did.

    Examples
    --------
    >>> from provetree import OptimalTreeClassifier
    >>> from provetree.report.evidence import choice_facts
    >>> choice_facts(OptimalTreeClassifier().fit([[1.0], [2.0]], [0, 1]))
    {}
    """
    path = getattr(estimator, "path_", None)
    if hasattr(path, "tried"):
        tuning = tuning_facts(path)
    elif hasattr(estimator, "candidates_"):
        tuning = number_tuning_facts(estimator)
    else:
        return {}
    return {"tuning": tuning, "frontier": frontier_facts(path, estimator.tree_.n_leaves)}


def cluster_facts(estimator: Any) -> dict[str, Any]:
    """Return how a tree was proven on a cluster, where it was.

    Examples
    --------
    >>> from provetree import OptimalTreeClassifier
    >>> from provetree.report.evidence import cluster_facts
    >>> cluster_facts(OptimalTreeClassifier().fit([[1.0], [2.0]], [0, 1]))
    {}
    """
    counters = getattr(estimator, "counters_", {})
    names = ("workers", "tasks", "lost", "repeated")
    if "cluster_workers" not in counters:
        return {}
    return {"cluster": {name: int(counters[f"cluster_{name}"]) for name in names}}


def chosen_limits(estimator: Any) -> dict[str, Any]:
    """Return the limits that an estimator chose itself, by cross-validation."""
    chosen = {
        "max_leaf_nodes": "n_leaves_",
        "min_samples_leaf": "min_samples_leaf_",
        "class_weight": "class_weight_",
    }
    return {
        name: getattr(estimator, own) for name, own in chosen.items() if hasattr(estimator, own)
    }


def read_rows(tree: Tree, encoded: Float, given: Any, classes: NDArray[Any] | None) -> Rows:
    """Return encoded rows with their labels, numbers or outcomes of actions, checked.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import OptimalTreeRegressor
    >>> from provetree.report.evidence import read_rows
    >>> tree = OptimalTreeRegressor(max_depth=1).fit([[1.0], [2.0]], [0.5, 1.5]).tree_
    >>> read_rows(tree, np.array([[1.0]]), [0.75], None).targets.tolist()
    [[0.75]]
    """
    if tree.kind == "numbers":
        return _with_targets(encoded, given, "the report")
    if tree.kind == "actions":
        outcomes = read_actions(given, len(encoded), "the report").values
        return Rows(encoded, np.zeros(len(encoded), dtype=np.intp), outcomes)
    assert classes is not None  # for the type checker
    return Rows(encoded, known_label_codes(classes, given, len(encoded)))


def judge(model: Tree | Cart, rows: Rows, tree: Tree) -> dict[str, Any]:
    """Return how a tree, or CART beside it, does on rows."""
    predicted = model.predict(rows.encoded)
    if isinstance(tree.values, Actions):
        assert rows.targets is not None  # for the type checker
        return action_facts(predicted, rows.targets, tree.values.rewards)
    if rows.targets is not None:
        return number_facts(predicted, rows.targets)
    return part_facts(predicted, rows.codes, tree.n_classes)


def tree_facts(
    tree: Tree,
    train: Rows | None,
    test: Rows | None = None,
    cart: Cart | None = None,
    notes: Sequence[tuple[str, str]] = (),
) -> dict[str, Any]:
    """Return how a tree does on its rows, how CART does on the same, and what the columns hold."""
    parts = {"train": train, "test": test}
    judged = {name: rows for name, rows in parts.items() if rows is not None}
    facts: dict[str, Any] = {name: judge(tree, rows, tree) for name, rows in judged.items()}
    if tree.kind == "numbers":
        facts |= residual_facts(tree, judged)
    if cart is not None:
        facts["cart"] = {name: judge(cart, rows, tree) for name, rows in judged.items()}
        facts["cart"] |= {"leaves": cart.n_leaves, "seconds": cart.seconds}
    if train is not None:
        facts["columns"] = column_facts(tree, train.encoded, notes)
    if tree.kind == "classes" and test is not None:
        facts |= _calibration_of(tree, test)
    return facts


def _calibration_of(tree: Tree, test: Rows) -> dict[str, Any]:
    """Return how the probabilities of a tree agree with test rows, as far as it knows them."""
    known = test.codes >= 0
    if not known.any() or tree.n_classes < 2:
        return {}
    encoded, codes = test.encoded[known], test.codes[known]
    found = tree.predict_proba(encoded), tree.predict(encoded)
    said = calibration_on(*found, codes, np.ones(len(codes)), tree.labels, "test rows")
    return {"calibration": calibration_facts(said)}


def residual_facts(tree: Tree, judged: Mapping[str, Rows]) -> dict[str, Any]:
    """Return residuals by leaf, and pairs of predicted and seen numbers, of each part."""
    leaves: dict[str, Any] = {}
    points: dict[str, Any] = {}
    for name, rows in judged.items():
        if rows.targets is not None:
            predicted = tree.predict(rows.encoded)
            leaves[name] = leaf_residuals(tree.apply(rows.encoded), predicted, rows.targets)
            points[name] = shown_points(predicted, rows.targets)
    return {"leaf_residuals": leaves, "points": points}


def extra_facts(
    tree: Tree,
    *,
    frontier: Any = None,
    runner_up: Any = None,
    stability: Any = None,
    operating_points: Any = None,
    calibration: Any = None,
    near_optimal: Any = None,
) -> dict[str, Any]:
    """Return what else was found out about a tree, as far as it was; see ``write_report``."""
    facts: dict[str, Any] = {}
    if frontier is not None:
        facts["frontier"] = frontier_facts(frontier, tree.n_leaves)
    if runner_up is not None:
        facts["runner_up"] = runner_up_facts(runner_up)
    if stability is not None:
        facts["stability"] = stability_facts(stability)
    if operating_points is not None:
        facts["operating_points"] = operating_facts(operating_points, tree)
    if calibration is not None:
        facts["calibration"] = calibration_facts(calibration)
    if near_optimal is not None:
        facts["near_optimal"] = near_optimal_facts(near_optimal)
    return facts


def column_facts(
    tree: Tree, encoded: Float, notes: Sequence[tuple[str, str]] = ()
) -> list[dict[str, Any]]:
    """Return what each column looks like in the training rows, and how the tree uses it.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import Tree
    >>> from provetree.report.evidence import column_facts
    >>> leaf = Tree(feature=[-1], threshold=[0], value=[[2]], n_samples=[2], n_features=1)
    >>> found = column_facts(leaf, np.array([[1.0], [3.0]]))[0]
    >>> found["name"], found["low"], found["median"], found["high"], found["splits"]
    ('x0', 1.0, 2.0, 3.0, 0)
    """
    said = dict(notes)
    importances = split_importances(tree)
    asked = [tree.columns_of(int(f)) for f in tree.feature[tree.feature >= 0]]
    facts = []
    for feature, (name, levels) in enumerate(zip(tree.column_names, tree.categories, strict=True)):
        x = encoded[:, feature]
        present = x[~np.isnan(x)]
        fact: dict[str, Any] = {
            "name": name,
            "kind": "number" if levels is None else "category",
            "missing": int(len(x) - len(present)),
            "distinct": len(np.unique(present)),
            "splits": sum(feature in columns for columns in asked),
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
    >>> from provetree.report.evidence import frontier_facts
    >>> path = tuning_path(*load_iris(return_X_y=True), max_depth=1)
    >>> frontier_facts(path)["points"][1]["errors"]
    50
    """

    def plain(x: float) -> float | None:
        return None if math.isnan(x) else x

    rule, size = _chosen_size(path)
    return {
        "folds": path.n_folds,
        "score": path.score,
        "rule": rule,
        "chosen": size,
        "here": chosen,
        "points": [
            {
                "leaves": point.n_leaves,
                "errors": point.errors,
                "lower_bound": point.lower_bound,
                "status": point.status,
                "train": plain(point.train_score),
                "held_out": plain(point.cv_score),
                "standard_error": plain(point.cv_error),
            }
            for point in path.points
        ],
    }


def _chosen_size(path: Any) -> tuple[str, int | None]:
    """Return rule and size of the choice: of the estimator, or what it would have been."""
    rule = getattr(path, "rule", "one_standard_error" if path.score == "accuracy" else "best")
    if not path.n_folds:
        return rule, None
    chosen = getattr(path, "chosen", None)
    return rule, int((path.choose(rule) if chosen is None else chosen).n_leaves)


def runner_up_facts(found: Sequence[Any]) -> list[dict[str, Any]]:
    """Return runner-up splits as plain JSON."""
    names = ("node", "split", "alternative", "extra", "extra_at_least", "status", "sentence")
    return [{name: getattr(runner_up, name) for name in names} for runner_up in found]


def stability_facts(found: Any) -> dict[str, Any]:
    """Return the stability of a tree as plain JSON."""
    return {
        "refits": found.n_refits,
        "proven": found.n_proven,
        "agreement": found.agreement,
        "splits": [
            {name: getattr(split, name) for name in ("node", "split", "same_place", "anywhere")}
            for split in found.splits
        ],
    }
