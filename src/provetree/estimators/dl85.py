"""The classifier that learns trees over Boolean columns by DL8.5 or DL8, as published."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from provetree.estimators._certifying import DEEPEST, certify_by_search, check_certifiable
from provetree.estimators._tree_classifier import TreeClassifier
from provetree.export.certificate import WhatIsRead
from provetree.itemsets.engine import ItemsetSearch
from provetree.itemsets.leaf_cost import LeafCost
from provetree.itemsets.options import DL85_OPTIONS
from provetree.options import documented, validate
from provetree.problem.prepare import Prepared, prepare_for

__all__ = ["DL85Classifier"]


@documented(DL85_OPTIONS)
class DL85Classifier(TreeClassifier):
    """A proven optimal tree over Boolean columns, found by DL8.5 or DL8.

    These are Algorithm 2 and Algorithm 1 of Aglin, Nijssen and Schaus, "Learning Optimal Decision
    Trees Using Caching Branch-and-Bound Search" (AAAI 2020), with their switches: the paths of a
    tree are itemsets, and the best tree for an itemset is found once and kept in a cache.
    :class:`OptimalTreeClassifier` finds trees of the same cost many times faster, and needs no
    Boolean columns; this class is for other costs than errors, and to compare with the paper.

    Columns must hold booleans, or numbers 0 and 1. :class:`Binarizer` makes such columns of any
    table, and its ``restore_tree`` turns the tree into one over the columns of that table.

    {parameters}

    Attributes
    ----------
    tree_ : Tree
        The tree. Rows with a 0 in the column of a split go left.
    status_ : {"optimal", "time_limit", "interrupted"}
        Whether the tree is proven optimal, or what ended the search before that.
    objective_ : int or float
        The cost of the tree; without weights and costs, the number of training errors.
    lower_bound_ : int or float
        No tree of the allowed size costs less than this.
    counters_ : mapping of str to int
        What the search did: ``calls`` of the recursive procedure, how many were ``searched``
        through all columns or were ``cache_hits``, itemsets ``cached`` at the end and ``evicted``
        for want of memory, ``memory_peak`` of the cache in bytes; ``itemsets_visited`` if wanted.
    history_ : tuple of Progress
        When a better tree was found: seconds, cost, lower bound.
    gap_, solution_, classes_, n_features_in_, feature_names_in_, encoder_, feature_importances_
        As in :class:`~provetree.OptimalTreeClassifier`.

    Notes
    -----
    Ctrl-C during ``fit`` is as in :class:`~provetree.OptimalTreeClassifier`.

    Examples
    --------
    >>> from provetree import DL85Classifier
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> clf = DL85Classifier(max_depth=2).fit(X, ["even", "odd", "odd", "even"])
    >>> clf.status_, clf.objective_, clf.predict([[1, 0]])
    ('optimal', 0, array(['odd'], dtype='<U4'))

    An alarm that is missed costs five false alarms:

    >>> X, y = [[0], [0], [0], [1], [1], [1]], [0, 0, 1, 0, 0, 0]
    >>> clf = DL85Classifier(max_depth=1, cost_matrix=[[0, 1], [5, 0]]).fit(X, y)
    >>> clf.objective_, clf.predict([[0], [1]])
    (2, array([1, 0]))
    """

    def __init__(
        self,
        max_depth: int | None = 3,
        min_support: int | float = 1,
        branching: str = "information_gain",
        cache_partial_results: bool = True,
        algorithm: str = "dl8.5",
        time_limit: float | None = None,
        leaf_cost: LeafCost | Callable[..., Any] | None = None,
        cost_matrix: ArrayLike | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        memory_limit: int = 2**29,
        count_itemsets: bool = False,
        verbose: int | bool = 0,
    ) -> None:
        self.max_depth = max_depth
        self.min_support = min_support
        self.branching = branching
        self.cache_partial_results = cache_partial_results
        self.algorithm = algorithm
        self.time_limit = time_limit
        self.leaf_cost = leaf_cost
        self.cost_matrix = cost_matrix
        self.class_weight = class_weight
        self.memory_limit = memory_limit
        self.count_itemsets = count_itemsets
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> DL85Classifier:
        """Find the best tree for a table of Boolean columns.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            The training rows: booleans, or numbers 0 and 1.
        y, sample_weight
            Their labels and weights, as in :meth:`OptimalTreeClassifier.fit`.

        Returns
        -------
        DL85Classifier
            The estimator itself.

        Examples
        --------
        >>> from provetree import DL85Classifier
        >>> DL85Classifier(max_depth=1).fit([[0.5], [1.5]], [0, 1])
        Traceback (most recent call last):
            ...
        ValueError: DL85Classifier needs columns of booleans, or of 0 and 1, and column 0 holds \
0.5: use provetree.Binarizer first.
        """
        return self._fit(self._prepared(X, y, sample_weight, merge=False))

    def certify(
        self,
        X: Any,
        y: ArrayLike,
        path: str | os.PathLike[str],
        sample_weight: ArrayLike | None = None,
        *,
        target: str = "y",
        weight: str | None = None,
    ) -> DL85Classifier:
        """Find the best tree for a table of Boolean columns, and write a file that proves it.

        DL8.5 leaves nothing that others could follow, so :class:`~provetree.ExactSearch` proves the
        optimum once more. Only errors are certified.

        Parameters
        ----------
        X, y, sample_weight
            The table, as for :meth:`fit`.
        path, target, weight
            As for :meth:`OptimalTreeClassifier.certify`.

        Returns
        -------
        DL85Classifier
            The fitted estimator. Its ``certificate_`` tells the file, its digest and its bound.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from provetree import DL85Classifier
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "proof.ptc"
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 1]
        >>> DL85Classifier(max_depth=1).certify(X, y, path).certificate_.bound
        1
        """
        check_certifiable(self, sample_weight, weight)
        self._fit(self._prepared(X, y, sample_weight, merge=False))
        merged = self._prepared(X, y, sample_weight, merge=True)
        depth = merged.problem.n_features if self.max_depth is None else int(self.max_depth)
        self.certificate_ = certify_by_search(
            path,
            merged,
            (min(depth, DEEPEST), None),
            WhatIsRead(target, weight),
            self.solution_,
            time_limit=self.time_limit,
        )
        return self

    def _prepared(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, *, merge: bool
    ) -> Prepared:
        validate(DL85_OPTIONS, vars(self), type(self).__name__)
        prepared = prepare_for(
            self,
            X,
            y,
            sample_weight,
            # Without a limit, no path is longer than the number of columns.
            max_depth=2**30 if self.max_depth is None else self.max_depth,
            min_samples_leaf=self.min_support,
            merge=merge,
        )
        _check_boolean(prepared, type(self).__name__)
        return prepared

    def _fit(self, prepared: Prepared) -> DL85Classifier:
        engine = ItemsetSearch(
            algorithm="dl8" if self.algorithm == "dl8" else "dl8.5",
            branching=self.branching,  # type: ignore[arg-type]
            cache_partial_results=bool(self.cache_partial_results),
            leaf_cost=LeafCost.from_parameter(self.leaf_cost),
            cost_matrix=self.cost_matrix,
            count_itemsets=bool(self.count_itemsets),
            row_numbers=None if prepared.weights is None else np.flatnonzero(prepared.weights > 0),
        )
        solution = self._run(engine, prepared.problem, memory_limit=int(self.memory_limit))
        self._keep(prepared, solution)
        return self


def _check_boolean(prepared: Prepared, owner: str) -> None:
    encoder = prepared.encoder
    for index, categories in enumerate(encoder.categories):
        names = encoder.feature_names
        name = str(index) if names is None else repr(names[index])
        column = prepared.encoded[:, index]
        if categories is not None:
            shown = repr(categories[0]) if categories else "categories"
        else:
            wrong = column[(column != 0) & (column != 1)]
            if not len(wrong):
                continue
            shown = "missing values" if np.isnan(wrong[0]) else f"{float(wrong[0])!r}"
        raise ValueError(
            f"{owner} needs columns of booleans, or of 0 and 1, and column {name} holds {shown}: "
            "use provetree.Binarizer first."
        )
