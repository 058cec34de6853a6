"""All trees that are nearly as good as the best: how many, which, and what they have in common."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from provetree.problem.prepare import Prepared
from provetree.problem.problem import Problem
from provetree.selection.near_optimal_columns import (
    ColumnUse,
    best_with,
    best_without,
    cheapest_columns,
    checked_prices,
    column_uses,
)
from provetree.selection.near_optimal_options import check_number, check_time_limit
from provetree.selection.near_optimal_rows import (
    Agreement,
    agreement_on,
    most_stable,
    training_agreement,
    widest_margins,
)
from provetree.selection.tree_levels import CountStatus, NumberedTrees, Shape, random_below
from provetree.solution import Solution, Status
from provetree.tree.build import build_tree
from provetree.tree.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from provetree.estimators.optimal_tree import OptimalTreeClassifier

__all__ = ["NearOptimalTree", "NearOptimalTrees"]


@dataclass(frozen=True)
class NearOptimalTree:
    """One of the trees, and what it costs.

    Parameters
    ----------
    tree : Tree
        The tree.
    cost : int or float
        What it costs: its training errors, weighted, with the penalties of its splits.
    extra : int or float
        How much more that is than the optimum.
    why : str
        What it was chosen for, if it was.
    value : float
        The figure that it was chosen by, such as its number of columns; NaN if it was not.
    proven : bool
        Whether no other of the trees is better in that.

    Examples
    --------
    >>> from provetree import near_optimal_trees
    >>> found = near_optimal_trees([[1], [2], [3], [4]], [0, 1, 0, 1], slack=1, max_depth=1)
    >>> found[0].cost, found[0].extra, found[0].tree.n_splits
    (1, 0, 1)
    """

    tree: Tree
    cost: float
    extra: float
    why: str = ""
    value: float = math.nan
    proven: bool = True


class NearOptimalTrees:
    """The trees of a table that cost at most a slack more than the optimum, best first.

    Made by :func:`~provetree.near_optimal_trees`. It is iterated, indexed and sampled; no tree is
    made before it is asked for. Trees of equal cost are in the order of their splits, from the root
    down: a leaf first, then by column and threshold.

    Attributes
    ----------
    n_trees : int
        How many trees there are; where `status` is not "complete", how many there are at least.
    status : {"complete", "time_limit", "memory_limit", "interrupted"}
        How the count ended.
    counts : dict
        How many trees there are of each cost.
    optimum : int or float
        What the best tree costs, proven; where time did not suffice for the proof, and so no tree
        was counted, what the best tree found costs.
    slack, limit : int or float
        How much more a tree may cost, and the most it may cost.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from provetree import near_optimal_trees
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> found = near_optimal_trees(X, y, slack=1, max_depth=2)
    >>> print(found.sentence)
    276 trees of depth 2 make at most 7 errors; the best make 6.
    >>> found.counts
    {6: 88, 7: 188}
    >>> print(found.columns()[0].sentence)
    sepal length (cm): in none of them. Without it the best makes no more.
    """

    def __init__(
        self, prepared: Prepared, best: Solution, trees: NumberedTrees | None, limit: int
    ) -> None:
        self._prepared, self._best, self._trees = prepared, best, trees
        problem = prepared.problem
        self._limit = limit
        self.optimum = best.cost
        self.limit = problem.to_user_cost(limit)
        self.slack = problem.to_user_cost(limit - problem.to_whole_cost(best.cost))
        status = best.status if trees is None else trees.root.status
        self.status: CountStatus = status  # type: ignore[assignment]
        # Where the proof took all the time, the optimum itself is one such tree.
        self.n_trees = 1 if trees is None else max(1, trees.n_trees)
        self.counts = {
            problem.to_user_cost(cost): count
            for cost, count in ({} if trees is None else trees.counts).items()
        }

    @property
    def is_complete(self) -> bool:
        """Whether all trees were counted."""
        return self.status == "complete"

    @property
    def problem(self) -> Problem:
        """The problem whose trees these are."""
        return self._prepared.problem

    @property
    def max_depth(self) -> int:
        """The most splits on the way to a leaf."""
        return self._trees.depth if self._trees is not None else self.problem.max_depth

    @property
    def sentence(self) -> str:
        """The count in words."""
        ends = {
            "time_limit": " The time limit ended the count.",
            "memory_limit": " The memory limit ended the count.",
            "interrupted": " The count was interrupted.",
        }
        end = ends.get(self.status, "")
        if self._trees is None:
            return (
                f"The optimum of depth {self.max_depth} is not proven, so no tree was counted: it "
                f"is at least {self._best.lower_bound:g} and at most {self._best.cost:g}.{end}"
            )
        number = f"{self.n_trees:,}" if self.n_trees < 10**15 else f"{self.n_trees:.3e}"
        number = number if self.is_complete else f"At least {number}"
        plain = self.problem.split_penalty == 0 and bool((self.problem.weights == 1).all())
        limit = f"{self.limit:g} error{'s' * (self.limit != 1)}" if plain else f"{self.limit:g}"

        def verb(n_trees: int) -> str:
            several = n_trees != 1
            return f"make{'s' * (not several)}" if plain else f"cost{'s' * (not several)}"

        best = verb(self.counts.get(self.optimum, 1))
        return (
            f"{number} tree{'s' * (self.n_trees != 1)} of depth {self.max_depth} "
            f"{verb(self.n_trees)} at most {limit}; the best {best} {self.optimum:g}."
            f"{end}"
        )

    def __repr__(self) -> str:
        return f"<NearOptimalTrees: {self.sentence}>"

    def __len__(self) -> int:
        return self._numbered.n_trees

    def __getitem__(self, number: int) -> NearOptimalTree:
        try:
            place = range(self._numbered.n_trees)[operator.index(number)]
        except (TypeError, IndexError):
            raise IndexError(
                f"The number of a tree must be an int from 0 to {self._numbered.n_trees - 1}. "
                f"Got {number!r} instead."
            ) from None
        return self._tree(self._numbered.shape(place), self._numbered.cost(place))

    def __iter__(self) -> Iterator[NearOptimalTree]:
        for number in range(self._numbered.n_trees):
            yield self[number]

    def sample(self, n: int = 1, random_state: int = 0) -> list[NearOptimalTree]:
        """Draw trees uniformly, each with the same chance, with replacement.

        Parameters
        ----------
        n : int, default=1
            How many.
        random_state : int, default=0
            The seed.

        Returns
        -------
        list of NearOptimalTree

        Examples
        --------
        >>> from provetree import near_optimal_trees
        >>> found = near_optimal_trees([[1], [2], [3], [4]], [0, 1, 0, 1], slack=1, max_depth=1)
        >>> [each.cost for each in found.sample(3)]
        [1, 1, 1]
        """
        check_number(n, 0, "n", "sample")
        if not self.is_complete:
            raise ValueError(
                "A uniform sample needs all trees counted, and the count ended early: give it more "
                "time or memory, or a smaller slack."
            )
        rng = np.random.default_rng(random_state)
        places = [random_below(rng, self.n_trees) for _ in range(int(n))]
        # In the order of numbers, neighbours share levels; the order drawn is given back.
        found = {place: self[place] for place in sorted(set(places))}
        return [found[place] for place in places]

    def columns(self, time_limit: float | None = None) -> list[ColumnUse]:
        """Return for each column whether all, some or none of the trees ask about it.

        Parameters
        ----------
        time_limit : float, default=None
            Seconds for proving what the best tree without each column costs; None for no limit.

        Returns
        -------
        list of ColumnUse
            In the order of the table.

        Examples
        --------
        >>> from provetree import near_optimal_trees
        >>> X, y = [[1, 0], [2, 0], [3, 1], [4, 1]], [0, 0, 1, 1]
        >>> found = near_optimal_trees(X, y, slack=0, max_depth=1)
        >>> for use in found.columns():
        ...     print(use.sentence)
        x0: in some of them (1 of 2). Without it the best makes no more.
        x1: in some of them (1 of 2). Without it the best makes no more.
        """
        check_time_limit(time_limit, "columns")
        return column_uses(self, time_limit)

    def best_with(self, column: str | int) -> NearOptimalTree | None:
        """Return the best tree that asks about a column; None where none of the trees does.

        Examples
        --------
        >>> from provetree import near_optimal_trees
        >>> X, y = [[1, 7], [2, 5], [3, 8], [4, 6]], [0, 0, 1, 1]
        >>> found = near_optimal_trees(X, y, slack=1, max_depth=1)
        >>> found.best_with(1).cost, near_optimal_trees(X, y, slack=0, max_depth=1).best_with(1)
        (1, None)
        """
        return best_with(self, self.feature_of(column))

    def best_without(self, column: str | int, time_limit: float | None = None) -> NearOptimalTree:
        """Return the best tree that does not ask about a column, be it within the slack or not.

        Examples
        --------
        >>> from provetree import near_optimal_trees
        >>> X, y = [[1, 7], [2, 5], [3, 8], [4, 6]], [0, 0, 1, 1]
        >>> near_optimal_trees(X, y, slack=0, max_depth=1).best_without("x0").cost
        1
        """
        check_time_limit(time_limit, "best_without")
        return best_without(self, self.feature_of(column), time_limit)

    def agreement(
        self, X: Any = None, *, n_sampled: int = 1000, random_state: int = 0
    ) -> Agreement:
        """Return for each row which classes the trees predict, and how many of them do.

        Parameters
        ----------
        X : array-like or table, default=None
            Rows. None stands for the training rows, for which all trees are counted.
        n_sampled : int, default=1000
            Other rows are judged by all trees where there are at most so many, else by so many
            drawn uniformly.
        random_state : int, default=0
            The seed of that.

        Returns
        -------
        Agreement

        Examples
        --------
        >>> from provetree import near_optimal_trees
        >>> found = near_optimal_trees([[1], [2], [3], [4]], [0, 1, 0, 1], slack=0, max_depth=1)
        >>> found.n_trees, found.agreement().all_agree.tolist()
        (2, [True, False, False, True])
        """
        if X is None:
            return training_agreement(self)
        return agreement_on(self, X, n_sampled, random_state)

    def fewest_columns(self, time_limit: float | None = None) -> NearOptimalTree:
        """Return a tree that asks about as few columns as any of the trees; of those the best.

        Where many sets of so few columns suffice, of the trees on the first hundred of them.

        Examples
        --------
        >>> from provetree import near_optimal_trees
        >>> X, y = [[1, 0, 1], [2, 1, 1], [3, 1, 0], [4, 0, 0]], [0, 1, 1, 0]
        >>> found = near_optimal_trees(X, y, slack=0, max_depth=2).fewest_columns()
        >>> found.value, found.cost, found.proven
        (1.0, 0, True)
        """
        check_time_limit(time_limit, "fewest_columns")
        prices = dict.fromkeys(range(self.problem.n_features), Fraction(1))
        return cheapest_columns(self, prices, "asks about the fewest columns", time_limit)

    def cheapest(
        self, column_costs: Mapping[str | int, float], time_limit: float | None = None
    ) -> NearOptimalTree:
        """Return a tree whose columns cost as little together as those of any of the trees.

        Parameters
        ----------
        column_costs : mapping of str or int to float
            What each column costs, by name or number; columns that are not named cost nothing.
        time_limit : float, default=None
            Seconds; if they do not suffice, the cheapest tree found, which is not proven.

        Examples
        --------
        >>> from provetree import near_optimal_trees
        >>> X, y = [[1, 0], [2, 0], [3, 1], [4, 1]], [0, 0, 1, 1]
        >>> found = near_optimal_trees(X, y, slack=0, max_depth=1)
        >>> found.cheapest({"x0": 5.0, "x1": 2.5}).value
        2.5
        """
        check_time_limit(time_limit, "cheapest")
        prices = checked_prices(self, column_costs)
        return cheapest_columns(self, prices, "asks about the cheapest columns", time_limit)

    def widest_margins(self) -> NearOptimalTree:
        """Return the tree whose narrowest split has the widest margin.

        The margin of a threshold is the gap between the two training values of its node next to it,
        as a share of the spread of its column; questions about categories and missing values have
        the margin one. A single leaf is left out where there are other trees.

        Examples
        --------
        >>> from provetree import near_optimal_trees
        >>> X, y = [[1, 10], [2, 20], [3, 80], [4, 90]], [0, 0, 1, 1]
        >>> found = near_optimal_trees(X, y, slack=0, max_depth=1).widest_margins()
        >>> int(found.tree.feature[0]), found.value
        (1, 0.75)
        """
        return widest_margins(self)

    def most_stable(
        self, n_resamples: int = 200, *, n_candidates: int = 1000, random_state: int = 0
    ) -> NearOptimalTree:
        """Return the tree that stays within the slack most often when rows are drawn anew.

        Parameters
        ----------
        n_resamples : int, default=200
            How often the training rows are drawn anew, with replacement.
        n_candidates : int, default=1000
            All trees are judged where there are at most so many; else half as many of the best and
            half as many drawn uniformly, and the answer is not proven.
        random_state : int, default=0
            The seed of both.

        Returns
        -------
        NearOptimalTree
            Its value is the share of the draws in which it costs at most the slack more than the
            best of the trees judged.

        Examples
        --------
        >>> from provetree import near_optimal_trees
        >>> found = near_optimal_trees([[1], [2], [3], [4]], [0, 1, 0, 1], slack=1, max_depth=1)
        >>> found.most_stable().proven
        True
        """
        return most_stable(self, n_resamples, n_candidates, random_state)

    def classifier(self, found: NearOptimalTree) -> OptimalTreeClassifier:
        """Return one of the trees as a fitted classifier: it predicts, explains itself, exports.

        Examples
        --------
        >>> from provetree import near_optimal_trees
        >>> found = near_optimal_trees([[1], [2], [3], [4]], [0, 1, 0, 1], slack=1, max_depth=1)
        >>> clf = found.classifier(found[1])
        >>> clf.predict([[0.5], [9.0]]).tolist(), clf.objective_, clf.lower_bound_
        ([0, 1], 1, 1)
        """
        # The public name: selection stands below the estimators.
        from provetree import OptimalTreeClassifier

        optimal = found.extra == 0 and self._best.status == "optimal"
        status: Status = "optimal" if optimal else "feasible"
        clf = OptimalTreeClassifier(
            max_depth=self.max_depth, min_samples_leaf=self.problem.min_samples_leaf
        )
        clf._keep(self._prepared, Solution(found.tree, found.cost, self.optimum, status))
        return clf

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw which columns the trees ask about.

        See :func:`provetree.export.near_optimal.plot_near_optimal`.
        """
        from provetree.export.near_optimal import plot_near_optimal

        return plot_near_optimal(self, ax=ax)

    def feature_of(self, column: str | int) -> int:
        """Return the number of a column, by its name or its number."""
        names = self.column_names
        if isinstance(column, str) and column in names:
            return names.index(column)
        whole = isinstance(column, numbers.Integral) and not isinstance(column, bool)
        if whole and 0 <= int(column) < len(names):
            return int(column)
        known = ", ".join(repr(name) for name in names[:5]) + (", ..." if len(names) > 5 else "")
        raise ValueError(
            f"The 'column' must be one of {known}, or a number from 0 to {len(names) - 1}. "
            f"Got {column!r} instead."
        )

    @property
    def column_names(self) -> list[str]:
        """The names of the columns of the table."""
        return list(self._best.tree.column_names)

    @property
    def _numbered(self) -> NumberedTrees:
        if self._trees is None:
            raise ValueError(
                "There are no trees to look at: the time limit ended before the optimum was proven."
            )
        if self._trees.n_trees == 0:
            raise ValueError(
                "There are no trees to look at: the count ended before those of a first split were "
                "known."
            )
        return self._trees

    def _tree(self, shape: Shape, cost: int, **why: Any) -> NearOptimalTree:
        """Return a tree by its splits."""
        tree = build_tree(self.problem, [c for c, _ in shape], [rank for _, rank in shape])
        return self._found(tree, cost, **why)

    def _found(self, tree: Tree, cost: int, **why: Any) -> NearOptimalTree:
        problem = self.problem
        extra = problem.to_user_cost(cost - problem.to_whole_cost(self.optimum))
        return NearOptimalTree(tree, problem.to_user_cost(cost), extra, **why)
