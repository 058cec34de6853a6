"""What all estimators of one tree share: reading tables, keeping a solution, routing, exporting."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from provetree.estimators._features import check_features, keep_features
from provetree.estimators._float32 import lost_in_float32
from provetree.estimators._progress import ProgressLine
from provetree.estimators._sklearn import TableEstimator
from provetree.large.predict import predicted
from provetree.large.table import is_dask
from provetree.number_types import Float
from provetree.options import thread_count
from provetree.problem.inputs import as_table
from provetree.problem.prepare import Prepared, prepare_for
from provetree.problem.problem import Problem
from provetree.solution import DEFAULT_MEMORY_LIMIT, Engine, Limits, Progress, Solution
from provetree.tree.importances import split_importances
from provetree.tree.tree import Tree
from provetree.tree.values import Values

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from scipy.sparse import csr_matrix

__all__ = ["TreeEstimator"]


class TreeEstimator(TableEstimator):
    """An estimator that holds one tree.

    Subclasses say what the tree predicts and add parameters and ``fit``. ``fit`` validates its
    parameters, prepares the table, solves, and calls :meth:`_keep`.
    """

    time_limit: float | None
    verbose: int | bool

    def _run(
        self,
        engine: Engine,
        problem: Problem,
        *,
        memory_limit: int = DEFAULT_MEMORY_LIMIT,
        max_work: int | None = None,
        n_jobs: int | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        seconds: float | None = None,
    ) -> Solution:
        """Let an engine solve a problem within ``time_limit``, and show it where that is wanted.

        `seconds` are what is left of the limit, where several searches share it.
        """
        if seconds is None and self.time_limit is not None:
            seconds = float(self.time_limit)
        work = None if max_work is None else int(max_work)
        limits = Limits(seconds, memory_limit, work, thread_count(n_jobs))
        started = time.perf_counter()
        try:
            if not self.verbose:
                return engine.solve(problem, limits, on_progress)
            with ProgressLine(on_progress) as line:
                return line.close(engine.solve(problem, limits, line.show))
        finally:
            self._search_seconds = time.perf_counter() - started

    def _keep(self, prepared: Prepared, solution: Solution) -> None:
        """Set the attributes of a fitted estimator; the caller of this is ``fit``."""
        self.__dict__.pop("certificate_", None)  # it is about another fit
        keep_features(self, prepared.names, prepared.encoded.shape[1])
        self._keep_learned(prepared)
        self.encoder_ = prepared.encoder
        self.solution_ = solution
        self.tree_: Tree = solution.tree
        self.status_ = solution.status
        self.objective_ = solution.cost
        self.lower_bound_ = solution.lower_bound
        self.gap_ = solution.gap
        self.history_ = solution.history
        self.counters_ = dict(solution.counters)
        self._lost_in_float32 = lost_in_float32(solution.tree, prepared.problem, prepared.encoded)
        if solution.status == "interrupted":
            warnings.warn(
                f"The search was interrupted. {type(self).__name__} keeps the best tree so far: "
                f"cost {solution.cost}, proven lower bound {solution.lower_bound}.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _prepared_again(
        self, X: Any, y: Any, sample_weight: Any, who: str, **changes: Any
    ) -> Prepared:
        """Prepare the training rows as ``fit`` did, for `who` looks at the fitted tree again."""
        self._check_costs(who)
        return prepare_for(self, X, y, sample_weight, **changes)

    def _check_costs(self, who: str) -> None:
        """Refuse to go on without costs that only ``fit`` was told."""
        if getattr(self, "_told_in_fit", None):
            raise ValueError(
                f"This {type(self).__name__} was fitted with 'sample_costs', and {who} knows costs "
                "by class only: use a 'cost_matrix', or OptimalPolicyTree with rewards of minus "
                "the costs."
            )

    def _labels_again(self, values: Values) -> NDArray[np.int32] | None:
        """Return what nodes predict after a refit; None for what is best by their values."""
        return None

    def _keep_learned(self, prepared: Prepared) -> None:
        """Set the attributes that describe what the tree predicts."""
        raise NotImplementedError

    def _check_float32(self) -> None:
        """Refuse a tree that scikit-learn, which works in float32, would route otherwise."""
        from provetree.export.sklearn import UnsupportedTreeError
        from provetree.export.words import split_text

        check_is_fitted(self)
        if self._lost_in_float32:
            words = split_text(self.tree_, self._lost_in_float32[0])
            raise UnsupportedTreeError(
                f"scikit-learn rounds numbers to float32, and the split '{words}' separates "
                "training rows that are equal then. Subtract a constant from the column, or scale "
                "it, before fitting."
            )

    def _drop_made_up_names(self, model: Any) -> None:
        """Take the names of the columns, which were made up for the text, from a table without."""
        if not hasattr(self, "feature_names_in_") and hasattr(model, "feature_names_in_"):
            del model.feature_names_in_

    def encode(self, X: Any) -> Float:
        """Return rows as the numbers that the tree works on.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            The rows, with the columns of the training table.

        Returns
        -------
        array of shape (n_samples, n_features)
            Numbers as they are, categories as their codes, missing values as NaN.

        Examples
        --------
        >>> from provetree import OptimalTreeClassifier
        >>> clf = OptimalTreeClassifier().fit([["a"], ["b"]], [0, 1])
        >>> clf.encode([["b"], [None]])
        array([[ 1.],
               [nan]])
        """
        check_is_fitted(self)
        table = as_table(X, type(self).__name__)
        check_features(self, table)
        return self.encoder_.transform(table)

    def _of_rows(self, X: Any, found: Callable[[Float], NDArray[Any]]) -> NDArray[Any]:
        """Return what is found for encoded rows; of a table of Dask, as an array of Dask."""
        check_is_fitted(self)
        if not is_dask(X):
            return found(self.encode(X))
        of_none = found(np.empty((0, self.n_features_in_)))
        parts: NDArray[Any] = predicted(lambda part: found(self.encode(part)), X, of_none)
        return parts

    def apply(self, X: Any) -> NDArray[np.intp]:
        """Find the leaf of each row.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of int of shape (n_samples,)
            The numbers of the leaves among the nodes of ``tree_``.

        Examples
        --------
        >>> from provetree import OptimalTreeClassifier
        >>> clf = OptimalTreeClassifier(max_depth=1).fit([[1], [2]], [0, 1])
        >>> clf.apply([[0], [5]])
        array([1, 2])
        """
        return self._of_rows(X, lambda rows: self.tree_.apply(rows))

    def decision_path(self, X: Any) -> csr_matrix:
        """Find the nodes that each row passes on its way to its leaf.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_samples, n_nodes)
            One where the row passes the node.

        Examples
        --------
        >>> from provetree import OptimalTreeClassifier
        >>> clf = OptimalTreeClassifier(max_depth=1).fit([[1], [2]], [0, 1])
        >>> clf.decision_path([[0], [5]]).toarray()
        array([[1, 1, 0],
               [1, 0, 1]])
        """
        encoded = self.encode(X)
        return self.tree_.decision_path(encoded)

    def get_depth(self) -> int:
        """Return the depth of the tree: the splits on the way to its deepest leaf.

        Returns
        -------
        int
            The depth.

        Examples
        --------
        >>> from provetree import OptimalTreeClassifier
        >>> OptimalTreeClassifier().fit([[1], [2]], [0, 1]).get_depth()
        1
        """
        check_is_fitted(self)
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves of the tree.

        Returns
        -------
        int
            The number of leaves.

        Examples
        --------
        >>> from provetree import OptimalTreeClassifier
        >>> OptimalTreeClassifier().fit([[1], [2]], [0, 1]).get_n_leaves()
        2
        """
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> Float:
        """The share of each column in the total decrease of impurity.

        Each split of a column adds the impurity of its node less the impurities of its children,
        by their weights, as for scikit-learn's own trees. Impurity is Gini's for classes, whatever
        the tree was chosen by, and the loss of the tree for numbers and actions. All are zero for
        a tree without splits.
        """
        check_is_fitted(self)
        return split_importances(self.tree_)

    def export_text(self, *, legend: bool = False) -> str:
        """Write the tree as text.

        Parameters
        ----------
        legend : bool, default=False
            Also write the version stamp and the lists of classes and features, with which
            :meth:`Tree.from_text` can read the tree back.

        Returns
        -------
        str
            The text.

        Examples
        --------
        >>> from provetree import OptimalTreeClassifier
        >>> clf = OptimalTreeClassifier().fit([[20.0], [30.0], [40.0]], ["no", "yes", "yes"])
        >>> print(clf.export_text())
        x0 <= 25
        |   no: 100.0% of 1 row [1, 0]
        x0 > 25
        |   yes: 100.0% of 2 rows [0, 2]
        """
        check_is_fitted(self)
        return self.tree_.to_text(legend=legend)

    def export_graphviz(self, *, filled: bool = True) -> str:
        """Write the tree in the DOT language of Graphviz.

        Parameters and result are those of :func:`provetree.export.to_graphviz`.

        Examples
        --------
        >>> from provetree import OptimalTreeClassifier
        >>> clf = OptimalTreeClassifier().fit([[20.0], [30.0], [40.0]], ["no", "yes", "yes"])
        >>> clf.export_graphviz().splitlines()[0]
        'digraph Tree {'
        """
        from provetree.export.graphviz import to_graphviz

        check_is_fitted(self)
        return to_graphviz(self.tree_, filled=filled)

    def plot(
        self, ax: Axes | None = None, *, filled: bool = True, fontsize: float | None = None
    ) -> Axes:
        """Draw the tree with matplotlib (the extra ``plot``).

        Parameters and result are those of :func:`provetree.export.plot_tree`.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from provetree import OptimalTreeClassifier
        >>> clf = OptimalTreeClassifier().fit([[20.0], [30.0], [40.0]], ["no", "yes", "yes"])
        >>> clf.plot().texts[0].get_text()
        'x0 <= 25'
        """
        from provetree.export.plot import plot_tree

        check_is_fitted(self)
        return plot_tree(self.tree_, ax=ax, filled=filled, fontsize=fontsize)

    def save(self, path: str | Path, *, target: str | None = None) -> None:
        """Write the model to a JSON file that :func:`provetree.load_model` reads.

        Parameters
        ----------
        path : str or pathlib.Path
            The file.
        target : str, default=None
            The name of what is predicted, for reports.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from provetree import OptimalTreeClassifier, load_model
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.json"
        >>> OptimalTreeClassifier(max_depth=1).fit([[1], [2]], [0, 1]).save(path)
        >>> load_model(path).proof.status
        'optimal'
        """
        from provetree.export.model_file import StoredModel

        check_is_fitted(self)
        StoredModel.of(self, target=target).save(path)

    def plot_history(self, ax: Axes | None = None) -> Axes:
        """Draw how cost and proven bound approached each other (the extra ``plot``).

        Axes and result are those of :func:`provetree.export.plot_history`.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from provetree import OptimalTreeClassifier
        >>> clf = OptimalTreeClassifier().fit([[20.0], [30.0], [40.0]], ["no", "yes", "no"])
        >>> clf.plot_history().get_xlabel()
        'seconds'
        """
        from provetree.export.history import plot_history

        check_is_fitted(self)
        return plot_history(self.solution_, seconds=getattr(self, "_search_seconds", None), ax=ax)

    def _repr_html_(self) -> str:
        """Show the tree in notebooks once it is fitted."""
        if not hasattr(self, "tree_"):
            return f"<pre>{escape(repr(self))}</pre>"
        from provetree.export.svg import estimator_html

        return estimator_html(self)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        # Notebooks ask for this first, and scikit-learn's own knows nothing of the tree.
        return {"text/plain": repr(self), "text/html": self._repr_html_()}
