"""The transformer that turns tables into Boolean columns and remembers what they ask."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from provetree.estimators._features import check_features, keep_features
from provetree.itemsets.binary_columns import binary_columns, restore_tree
from provetree.itemsets.options import BINARIZER_OPTIONS
from provetree.options import documented, validate
from provetree.problem.inputs import as_table, column_names, encode_labels
from provetree.problem.table import TableEncoder
from provetree.tree.tree import Tree

__all__ = ["Binarizer"]


@documented(BINARIZER_OPTIONS)
class Binarizer(TransformerMixin, BaseEstimator):
    """Turns columns of numbers and categories into Boolean columns with readable names.

    A column of numbers becomes one column per threshold (``age <= 37.5``), a column of categories
    one per category (``colour = red``), missing values one of their own (``age is missing``).
    Categories that training did not know answer no everywhere. Missing numbers are refused in
    columns that had none in training.

    {parameters}

    Attributes
    ----------
    columns_ : tuple of BinaryColumn
        What each Boolean column asks.
    encoder_ : TableEncoder
        Turns tables into the numbers that a restored tree works on.
    n_features_in_ : int
        The number of columns of the table.
    feature_names_in_ : array of str of shape (n_features,)
        The names of the columns, if the table has names and all are strings.

    Examples
    --------
    >>> import pandas as pd
    >>> from provetree import Binarizer, DL85Classifier
    >>> table = pd.DataFrame({"age": [25, 30, 45, 50], "colour": ["red", "blue", "red", "blue"]})
    >>> y = ["no", "yes", "yes", "yes"]
    >>> binarizer = Binarizer(strategy="all").fit(table, y)
    >>> binarizer.get_feature_names_out().tolist()
    ['age <= 27.5', 'age <= 37.5', 'age <= 47.5', 'colour = blue', 'colour = red']
    >>> clf = DL85Classifier(max_depth=2).fit(binarizer.transform(table), y)
    >>> print(binarizer.restore_tree(clf.tree_).to_text(legend=False))
    age <= 27.5
    |   no: 100.0% of 1 row [1, 0]
    age > 27.5
    |   yes: 100.0% of 3 rows [0, 3]
    """

    def __init__(
        self,
        strategy: str = "quantile",
        n_thresholds: int = 8,
        missing: str = "both",
        categorical_features: ArrayLike | str | None = "from_dtype",
    ) -> None:
        self.strategy = strategy
        self.n_thresholds = n_thresholds
        self.missing = missing
        self.categorical_features = categorical_features

    def fit(self, X: Any, y: ArrayLike | None = None) -> Binarizer:
        """Learn the thresholds and categories of a table.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,), default=None
            Their labels, which the strategy "optimal-depth-one" needs and others ignore.

        Returns
        -------
        Binarizer
            The transformer itself.

        Examples
        --------
        >>> from provetree import Binarizer
        >>> binarizer = Binarizer("optimal-depth-one").fit([[1], [2], [3], [4]], [0, 0, 1, 1])
        >>> binarizer.get_feature_names_out().tolist()
        ['x0 <= 2.5']
        """
        validate(BINARIZER_OPTIONS, vars(self), type(self).__name__)
        owner = type(self).__name__
        table = as_table(X, owner)
        keep_features(self, column_names(table), int(table.shape[1]))
        encoder = TableEncoder(self.categorical_features)
        encoded = encoder.fit_transform(table)
        classes = None
        if self.strategy == "optimal-depth-one":
            if y is None:
                raise ValueError(
                    f"The strategy 'optimal-depth-one' of {owner} requires y to be passed, but "
                    "the target y is None."
                )
            classes = encode_labels(y, len(encoded), owner)[1]
        self.encoder_ = encoder
        self._missing_in_training = np.asarray(np.isnan(encoded).any(axis=0), dtype=np.bool_)
        if self.missing == "error":
            self._refuse_missing(encoded, np.zeros(encoded.shape[1], dtype=np.bool_))
        self.columns_ = binary_columns(
            encoded,
            encoder.categories,
            strategy=self.strategy,  # type: ignore[arg-type]
            n_thresholds=int(self.n_thresholds),
            separate_missing=self.missing == "separate",
            classes=classes,
        )
        return self

    def transform(self, X: Any) -> NDArray[np.bool_]:
        """Answer the questions for each row of a table.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of bool of shape (n_samples, n_columns)
            The answers; a table with names where ``set_output`` asked for one.

        Examples
        --------
        >>> from provetree import Binarizer
        >>> binarizer = Binarizer("all").fit([[1.0], [2.0], [float("nan")]])
        >>> binarizer.get_feature_names_out().tolist()
        ['x0 <= 1.5', 'x0 <= 1.5 or missing', 'x0 is missing']
        >>> binarizer.transform([[0.0], [float("nan")]])
        array([[ True,  True, False],
               [False,  True,  True]])
        """
        check_is_fitted(self)
        table = as_table(X, type(self).__name__)
        check_features(self, table)
        encoded = self.encoder_.transform(table)
        self._refuse_missing(encoded, self._missing_in_training)
        answers = np.empty((len(encoded), len(self.columns_)), dtype=np.bool_)
        for place, column in enumerate(self.columns_):
            answers[:, place] = column.answers(encoded[:, column.feature])
        return answers

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Return what each Boolean column asks, in words.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns; those of the training table, or x0, x1, ..., by default.

        Returns
        -------
        array of str
            The names.

        Examples
        --------
        >>> from provetree import Binarizer
        >>> Binarizer("all").fit([[1], [2]]).get_feature_names_out(["age"]).tolist()
        ['age <= 1.5']
        """
        check_is_fitted(self)
        names = self._input_names(input_features)
        levels = self.encoder_.categories
        asked = [
            column.name(names[column.feature], levels[column.feature]) for column in self.columns_
        ]
        return np.array(asked, dtype=object)

    def restore_tree(self, tree: Tree) -> Tree:
        """Return a tree over the Boolean columns as a tree over the columns of the table.

        Both predict the same for every table that :meth:`transform` takes. The restored tree works
        on what ``encoder_.transform`` gives.

        Parameters
        ----------
        tree : Tree
            A tree that was learned from what :meth:`transform` gave.

        Returns
        -------
        Tree
            The tree; rows that answer a question with yes go left.

        Examples
        --------
        >>> from provetree import Binarizer, DL85Classifier
        >>> X, y = [[1.0], [2.0], [3.0]], [0, 0, 1]
        >>> binarizer = Binarizer("all").fit(X)
        >>> clf = DL85Classifier(max_depth=1).fit(binarizer.transform(X), y)
        >>> binarizer.restore_tree(clf.tree_).predict([[2.4], [2.6]]).tolist()
        [0, 1]
        """
        check_is_fitted(self)
        return restore_tree(
            tree,
            self.columns_,
            n_features=self.n_features_in_,
            feature_names=self.encoder_.feature_names,
            categories=self.encoder_.categories,
        )

    def _input_names(self, given: ArrayLike | None) -> list[str]:
        fitted = getattr(self, "feature_names_in_", None)
        if given is None:
            if fitted is not None:
                return [str(name) for name in fitted]
            return [f"x{feature}" for feature in range(self.n_features_in_)]
        names = [str(name) for name in np.asarray(given, dtype=object).tolist()]
        if fitted is not None and names != list(fitted):
            raise ValueError("input_features is not equal to feature_names_in_")
        if len(names) != self.n_features_in_:
            raise ValueError(
                "input_features should have length equal to number of features "
                f"({self.n_features_in_}), got {len(names)}"
            )
        return names

    def _refuse_missing(self, encoded: NDArray[np.float64], allowed: NDArray[np.bool_]) -> None:
        for feature, levels in enumerate(self.encoder_.categories):
            # A missing category is no: it is none of those that training knew.
            if levels is None and not allowed[feature] and np.isnan(encoded[:, feature]).any():
                names = self.encoder_.feature_names
                name = str(feature) if names is None else repr(names[feature])
                reason = "'missing' is 'error'" if self.missing == "error" else "training had none"
                raise ValueError(f"Column {name} holds missing values (NaN), and {reason}.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []  # answers are Boolean whatever the numbers are
        tags.target_tags.required = self.strategy == "optimal-depth-one"
        return tags

    def _more_tags(self) -> dict[str, Any]:
        # The form of the tags before scikit-learn 1.6.
        return {
            "allow_nan": True,
            "preserves_dtype": [],
            "requires_y": self.strategy == "optimal-depth-one",
        }
