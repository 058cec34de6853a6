"""Turns a training table, labels and weights into a Problem, and keeps what predictions need.

:func:`prepare` is the only entry: estimators, selection, the report and the command line use it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from provetree.number_types import Float
from provetree.problem.category_groups import CategoryOrder, category_orders, category_scores
from provetree.problem.combinations import Derived
from provetree.problem.costs import read_cost_matrix, read_sample_costs
from provetree.problem.inputs import as_table, column_names, encode_labels, row_weights
from provetree.problem.learned import Predicts, whole_weights
from provetree.problem.losses import OF_NUMBERS
from provetree.problem.pairs import check_memory, check_pairs, paired_columns, sums_among
from provetree.problem.problem import Problem, build_problem
from provetree.problem.ratios import ratios_among
from provetree.problem.rules import blanked, read_forbidden
from provetree.problem.table import TableEncoder
from provetree.problem.targets import Targets, read_actions, read_targets

__all__ = ["Prepared", "prepare", "prepare_for"]


#: Parameters of estimators that :func:`prepare` takes under the same name.
_SHARED = (
    "max_depth",
    "max_leaf_nodes",
    "min_samples_leaf",
    "alpha",
    "class_weight",
    "categorical_features",
    "splits",
    "n_angles",
    "pair_columns",
    "category_splits",
    "forbidden_columns",
    "max_memory",
)


@dataclass(frozen=True)
class Prepared:
    """A training table after validation: the problem, and what it was made from.

    Examples
    --------
    >>> from provetree.problem.prepare import prepare
    >>> found = prepare([[1.0], [2.0], [2.0]], ["no", "yes", "yes"], max_depth=1)
    >>> found.problem.n_rows, found.classes.tolist(), found.codes.tolist()
    (2, ['no', 'yes'], [0, 1, 1])
    """

    problem: Problem
    encoder: TableEncoder
    names: NDArray[np.object_] | None  # of the columns, where the table has names
    encoded: Float  # the rows as numbers
    classes: NDArray[Any]  # the labels in rising order
    codes: NDArray[np.intp]  # the place of each row's label among them
    weights: Float | None  # class weights included; None where all rows weigh one
    targets: Targets | None = None  # the numbers to predict, or the costs or rewards of actions
    row_costs: Float | None = None  # what each prediction costs each row, where labels have costs
    category_splits: str = "one"
    aside: tuple[Derived, ...] = ()  # sums of two columns that are not ranked: they are too many
    #: The depth and the number of leaves that were asked for, whatever splits cost: a penalty alone
    #: makes those of the problem smaller.
    depth: int = 0
    most_leaves: int | None = None

    def whole_weights(self) -> NDArray[np.int64]:
        """Return the weights in the whole units of the problem; 0 for rows that count as absent."""
        whole = np.ones(len(self.codes), dtype=np.int64)
        if self.weights is not None:
            present = self.weights > 0
            whole[present] = whole_weights(self.weights[present], self.problem.loss).weights
            whole[~present] = 0
        return whole

    @property
    def row_targets(self) -> Float | None:
        """What the loss of each row is about: its numbers, or the cost of each prediction."""
        if self.targets is None:
            return self.row_costs
        return -self.targets.values if self.problem.predicts == "rewards" else self.targets.values

    def problem_of(
        self,
        rows: NDArray[np.intp],
        features: Sequence[int] | None = None,
        *,
        keep_orders: bool = False,
        more: Sequence[Derived] = (),
        **limits: Any,
    ) -> Problem:
        """Return the problem of some rows, of the same loss; `limits` are those of build_problem.

        `features` gives the columns another order. Sums of two columns are those of all rows.
        Groups of categories are found on these rows, so that nothing is learned from others;
        with `keep_orders` they are those of all rows, for the rows of a node. Splits may be about
        what `more` has, too.

        Examples
        --------
        >>> import numpy as np
        >>> from provetree.problem.prepare import prepare
        >>> X, y = [[1.0], [2.0], [4.0]], [5.0, 6.0, 9.0]
        >>> found = prepare(X, y, max_depth=1, loss="squared_error")
        >>> found.problem_of(np.array([0, 2]), max_depth=1).targets.ravel().tolist()
        [5.0, 9.0]
        """
        whole = self.problem
        order = range(whole.n_features) if features is None else features
        place = {feature: at for at, feature in enumerate(order)}
        names = whole.feature_names
        if names is None and features is not None:
            names = tuple(f"x{feature}" for feature in range(whole.n_features))
        learned: dict[str, Any] = {"n_classes": whole.n_classes, "loss": whole.loss}
        derived = (*(whole.combinations if keep_orders else self._derived_of(rows)), *more)
        if self.row_targets is not None:
            learned |= {"targets": self.row_targets[rows], "predicts": whole.predicts}
        return build_problem(
            self.encoded[rows][:, list(order)],
            self.codes[rows],
            categories=[self.encoder.categories[feature] for feature in order],
            sample_weight=None if self.weights is None else self.weights[rows],
            feature_names=None if names is None else [names[feature] for feature in order],
            class_names=whole.class_names,
            combinations=[each.moved(place.__getitem__) for each in derived],
            **learned,
            **limits,
        )

    def _derived_of(self, rows: NDArray[np.intp]) -> tuple[Derived, ...]:
        """Return sums of two columns and groups of categories, as some rows have them."""
        whole = self.problem
        if self.category_splits != "groups":
            return whole.combinations
        sums = [x for x in whole.combinations if not isinstance(x, CategoryOrder)]
        scores = category_scores(self.codes, self.row_targets, len(self.classes), whole.loss)
        weights = None if self.weights is None else self.weights[rows]
        levels = self.encoder.categories
        return (*sums, *category_orders(self.encoded[rows], levels, scores[rows], weights))


def prepare(
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    max_depth: int,
    owner: str = "prepare",
    class_weight: Mapping[Any, float] | str | None = None,
    categorical_features: ArrayLike | str | None = "from_dtype",
    loss: str = "errors",
    predicts: Predicts | None = None,
    cost_matrix: Any = None,
    sample_costs: Any = None,
    splits: str = "columns",
    n_angles: int = 2,
    pair_columns: Sequence[str | int] | None = None,
    category_splits: str = "one",
    forbidden_columns: Any = None,
    max_memory: int | str | None = None,
    most_cells: int | None = None,
    **limits: Any,
) -> Prepared:
    """Validate a training table and make its problem; `limits` are those of ``build_problem``.

    With `splits` "pairs", splits may be about two columns: `n_angles` directions of each pair, of
    all columns or of `pair_columns`; see :mod:`provetree.problem.pairs`. With "ratios" they may be
    about ratios of positive columns as well; see :mod:`provetree.problem.ratios`. With
    `category_splits` "groups", several categories may go left; see
    :mod:`provetree.problem.category_groups`. No split is about
    `forbidden_columns`. Sums that have more than `most_cells` cells (rows x sums) are left aside
    for :mod:`provetree.search.streamed`; None ranks them all.

    What `y` holds follows from the loss and from what the tree predicts: labels, numbers
    ("squared_error", "absolute_error"), or the costs or rewards of actions ("linear"). With costs
    of predictions, by class or by row, labels have the loss "linear" as well.

    Examples
    --------
    >>> from provetree.problem.prepare import prepare
    >>> prepare([[1.0], [2.0]], [0, 1], max_depth=3, class_weight={1: 5}).weights.tolist()
    [1.0, 5.0]
    >>> prepare([[1.0], [2.0]], [0.5, 0.75], max_depth=1, loss="squared_error").targets.values.shape
    (2, 1)
    """
    table = as_table(X, owner)
    names = column_names(table)
    encoder = TableEncoder(categorical_features)
    encoded = encoder.fit_transform(table)
    forbidden = read_forbidden(
        forbidden_columns, encoder.feature_names, encoded.shape[1], owner
    ).get("", frozenset())
    if forbidden:
        encoded = blanked(encoded, forbidden)
    targets: Targets | None = None
    row_costs: Float | None = None
    learned: dict[str, Any]
    if loss in OF_NUMBERS or predicts in ("costs", "rewards"):
        targets = _read(y, len(encoded), owner, predicts)
        classes, codes = np.zeros(1, dtype=np.intp), np.zeros(len(encoded), dtype=np.intp)
        given = -targets.values if predicts == "rewards" else targets.values
        learned = {"y": given, "class_names": targets.names, "predicts": predicts}
    else:
        classes, codes = encode_labels(y, len(encoded), owner)
        learned = {"y": codes, "class_names": classes, "n_classes": len(classes)}
        if cost_matrix is not None or sample_costs is not None:
            learned |= _costs(cost_matrix, sample_costs, loss, len(encoded), classes, owner)
            loss = "linear"
            row_costs = learned["targets"] if cost_matrix is None else learned["cost_matrix"][codes]
    weights = row_weights(sample_weight, class_weight, classes, codes)
    aside: tuple[Derived, ...] = ()
    if splits != "columns":
        levels = encoder.categories
        among = paired_columns(pair_columns, encoder.feature_names, levels, owner)
        n_sums = check_pairs(levels, among, n_angles + (splits == "ratios"), owner, splits)
        sums: tuple[Derived, ...] = sums_among(encoded, weights, levels, among, n_angles)
        if splits == "ratios":
            sums += ratios_among(encoded, weights, levels, among)
        if most_cells is not None and len(sums) * len(encoded) > most_cells:
            aside = sums
        else:
            check_memory(n_sums, len(encoded), owner, max_memory)
            limits["combinations"] = sums
    if category_splits == "groups":
        of_rows = row_costs if targets is None else targets.values
        scores = category_scores(codes, of_rows, len(classes), loss)
        orders = category_orders(encoded, encoder.categories, scores, weights)
        limits["combinations"] = (*limits.get("combinations", ()), *orders)
    problem = build_problem(
        encoded,
        max_depth=max_depth,
        categories=encoder.categories,
        sample_weight=weights,
        feature_names=encoder.feature_names,
        loss=loss,
        **learned,
        **limits,
    )
    return Prepared(
        problem,
        encoder,
        names,
        encoded,
        classes,
        codes,
        weights,
        targets,
        row_costs,
        category_splits,
        aside,
        int(max_depth),
        limits.get("max_leaf_nodes"),
    )


def _read(y: Any, n_rows: int, owner: str, predicts: Predicts | None) -> Targets:
    if isinstance(y, Targets):  # read before
        return y
    if predicts in ("costs", "rewards"):
        return read_actions(y, n_rows, owner, str(predicts))
    return read_targets(y, n_rows, owner)


def _costs(
    cost_matrix: Any,
    sample_costs: Any,
    criterion: str,
    n_rows: int,
    classes: NDArray[Any],
    owner: str,
) -> dict[str, Any]:
    """Return what predictions cost, in the form of ``build_problem``."""
    name = "cost_matrix" if sample_costs is None else "sample_costs"
    if criterion != "errors":
        raise ValueError(
            f"The {name!r} of {owner} replaces the cost of errors, so that the 'criterion' must "
            f"be 'errors'. Got {criterion!r} instead."
        )
    if sample_costs is None:
        return {"cost_matrix": read_cost_matrix(cost_matrix, classes, owner)}
    if cost_matrix is not None:
        raise ValueError(
            f"{owner} takes a 'cost_matrix' or 'sample_costs', not both: the costs of each row "
            "say all there is to say."
        )
    return {"targets": read_sample_costs(sample_costs, n_rows, classes, owner)}


def prepare_for(
    estimator: Any, X: Any, y: Any, sample_weight: ArrayLike | None, **changes: Any
) -> Prepared:
    """Prepare a table with the limits, weights, criterion and costs of an estimator."""
    given = vars(estimator)
    own = {name: given[name] for name in _SHARED if name in given}
    if "criterion" in given:
        own |= {"loss": given["criterion"], "cost_matrix": given.get("cost_matrix")}
    return prepare(X, y, sample_weight, owner=type(estimator).__name__, **(own | changes))
