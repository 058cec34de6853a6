"""The tree that chooses an action for each row, proven to bring the largest reward."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from provetree.estimators._initial_tree import initial_splits
from provetree.estimators._searched_tree import SearchedTree
from provetree.estimators._sklearn import PolicyFace
from provetree.number_types import Float
from provetree.options import POLICY_OPTIONS, documented, validate
from provetree.problem.actions import read_action_costs, read_budget
from provetree.problem.checks import check_weights
from provetree.problem.inputs import as_table
from provetree.problem.prepare import Prepared, prepare_for
from provetree.problem.problem import Problem, build_problem
from provetree.problem.targets import Targets, read_actions
from provetree.search.budgets import PricedTree, action_use, prices_within
from provetree.solution import Progress, Solution
from provetree.tree.build import build_tree
from provetree.tree.tree import Tree
from provetree.tree.values import Actions, Values

__all__ = ["OptimalPolicyTree", "PolicyValue"]


class PolicyValue(NamedTuple):
    """The mean reward of a policy on some rows, and its standard error.

    Examples
    --------
    >>> from provetree.estimators.optimal_policy_tree import PolicyValue
    >>> mean, error = PolicyValue(1.5, 0.25)
    >>> mean
    1.5
    """

    mean: float
    standard_error: float


@documented(POLICY_OPTIONS)
class OptimalPolicyTree(PolicyFace, SearchedTree):
    """A tree that chooses one of several actions for each row, with the largest total reward.

    Rewards are given for every row and every action, whether or not it was taken: simulated, known,
    or estimated (doubly robust scores, as EconML and DoubleML give them). Of all trees of the
    allowed size, on all thresholds, the tree has the largest total reward on the training rows,
    proven. Tables are those of :class:`~provetree.OptimalTreeClassifier`.

    {parameters}

    Attributes
    ----------
    actions_ : array of shape (n_actions,)
        The actions: the names of the columns of the rewards, or their positions.
    value_ : float
        The mean reward on the training rows, action costs taken off. It is too optimistic for new
        rows, because these rows chose the tree: use :meth:`value` on rows held out.
    value_bound_ : float
        No tree of the allowed size, and within the budget, has a larger mean reward, the penalties
        of its splits taken off.
    treatment_shares_ : array of shape (n_actions,)
        The share of the training rows, by weight, that gets each action.
    prices_ : array of shape (n_actions,)
        The price of each action that keeps the tree within the budget; zero where there is none.
    tree_ : Tree
        The tree; ``tree_.value`` holds the total reward of each action in each node.
    status_ : {"optimal", "time_limit", "work_limit", "interrupted"}
        Whether the tree is proven optimal (at its prices), or what ended the search before that.
    objective_ : float
        What the search minimises: minus the total reward at the prices, plus the penalties of the
        splits.
    lower_bound_ : float
        No tree of the allowed size has a smaller objective, within the tolerance.
    gap_ : float
        How far the bound is from the objective, as a part of the larger of the two: 0.0 for an
        optimal tree.
    history_ : tuple of Progress
        How objective and bound approached each other.
    counters_ : mapping of str to int
        Counts of what the search did.
    solution_ : Solution
        All of the above as the search gave it.
    n_actions_ : int
        The number of actions.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : array of str of shape (n_features,)
        The names of the columns, if the table has names and all are strings.
    encoder_ : TableEncoder
        Turns tables into the numbers the tree works on.
    feature_importances_ : array of shape (n_features,)
        The share of each column in the gain of reward by the splits.

    Notes
    -----
    With a budget, the tree is the best of all trees that use no more of each limited action than it
    does. It need not be the best that uses up the budget: ``value_bound_`` says how much better
    such a tree could be at most. Where many rows gain the same by an action, a price takes all of
    them or none.

    Rewards are no whole numbers, so proofs hold to a part of 1e-9 of what the best single action
    loses against the best action of each row.

    Ctrl-C during ``fit`` ends the search, not the program: the estimator is fitted with the best
    tree so far, ``status_`` is "interrupted", and a ``ConvergenceWarning`` says so.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from provetree import OptimalPolicyTree
    >>> age = np.arange(20, 80, 5.0)
    >>> rewards = pd.DataFrame({"wait": np.zeros(12), "treat": (age - 52) / 10})
    >>> policy = OptimalPolicyTree(max_depth=1).fit(pd.DataFrame({"age": age}), rewards)
    >>> print(policy.export_text())
    age <= 52.5
    |   wait: 0 each of 7 rows [0, -11.9; 7]
    age > 52.5
    |   treat: 1.3 each of 5 rows [0, 6.5; 5]
    >>> policy.status_, round(policy.value_, 3), policy.treatment_shares_.round(3)
    ('optimal', 0.542, array([0.583, 0.417]))
    >>> thrifty = OptimalPolicyTree(max_depth=1, budget={"treat": 0.25})
    >>> thrifty.fit(pd.DataFrame({"age": age}), rewards).treatment_shares_
    array([0.75, 0.25])
    """

    def __init__(
        self,
        max_depth: int = 2,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int | float = 1,
        alpha: float = 0.0,
        action_costs: ArrayLike | Mapping[Any, float] | None = None,
        budget: ArrayLike | Mapping[Any, float] | None = None,
        categorical_features: ArrayLike | str | None = "from_dtype",
        time_limit: float | None = None,
        max_work: int | None = None,
        max_memory: int | str | None = None,
        n_jobs: int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        verbose: int | bool = 0,
        splits: str = "columns",
        n_angles: int = 2,
        pair_columns: Sequence[str | int] | None = None,
        category_splits: str = "one",
        forbidden_columns: Sequence[str | int] | Mapping[str, Any] | None = None,
        interaction_cst: str | Sequence[Any] | None = None,
        fixed_splits: Mapping[str, Any] | None = None,
        column_costs: Mapping[str | int, float] | None = None,
        executor: str | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.alpha = alpha
        self.action_costs = action_costs
        self.budget = budget
        self.categorical_features = categorical_features
        self.time_limit = time_limit
        self.max_work = max_work
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.splits = splits
        self.n_angles = n_angles
        self.pair_columns = pair_columns
        self.category_splits = category_splits
        self.forbidden_columns = forbidden_columns
        self.interaction_cst = interaction_cst
        self.fixed_splits = fixed_splits
        self.column_costs = column_costs
        self.executor = executor

    def fit(
        self,
        X: Any,
        rewards: Any,
        sample_weight: ArrayLike | None = None,
        *,
        initial_tree: Any = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> OptimalPolicyTree:
        """Find the best policy tree for a table and the rewards of its rows.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            The training rows.
        rewards : array-like or table of shape (n_samples, n_actions)
            What each action brings for each row; more is better. The names of the columns of a
            table are the actions.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the rows; a row of weight two counts as two rows, and one of weight zero
            as none. None gives every row weight one.
        initial_tree : fitted estimator or Tree, default=None
            A tree to begin with: any fitted tree of this package or of scikit-learn, or a
            :class:`~provetree.Tree`; only its splits matter. It must keep to the limits of this
            estimator on the training rows. The tree that comes out is at least as good.
        on_progress : callable, default=None
            Called from time to time with a :class:`~provetree.Progress`: seconds, cost and bound.

        Returns
        -------
        OptimalPolicyTree
            The estimator itself.

        Examples
        --------
        >>> from provetree import OptimalPolicyTree
        >>> X, rewards = [[1.0], [2.0], [3.0]], [[0, 5], [0, 1], [2, 0]]
        >>> policy = OptimalPolicyTree(max_depth=1).fit(X, rewards)
        >>> policy.predict([[0.0], [9.0]]), policy.value_
        (array([1, 0]), 2.6666666666666665)
        """
        owner = type(self).__name__
        validate(POLICY_OPTIONS, vars(self), owner)
        given = read_actions(rewards, as_table(X, owner).shape[0], owner)
        actions = _names(given)
        net = given._replace(
            values=given.values - read_action_costs(self.action_costs, actions, owner)
        )
        budget = read_budget(self.budget, actions, owner)
        if np.isfinite(budget).any():
            prepared = self._prepared(X, net, sample_weight, alpha=0.0)
            if self._rules(prepared):
                raise ValueError(
                    f"The 'budget' of {owner} is for trees without rules: leave it out, or them."
                )
            found = self._within(X, prepared, budget, initial_tree, on_progress)
            tree = _valued(found.solution.tree, prepared)
            solution = replace(found.solution, tree=tree)
            self.prices_, most = found.prices, found.bound
        else:
            prepared = self._prepared(X, net, sample_weight)
            solution = self._search(X, prepared, initial_tree, on_progress)
            self.prices_, most = np.zeros(len(actions)), -solution.lower_bound
        self._keep(prepared, solution)
        weight = float(solution.tree.values.weight[0])
        self.value_ = _reward(solution.tree) / weight
        self.value_bound_ = most / weight
        if self.alpha == 0:  # digits of weights that the search rounded put no bound below the tree
            self.value_bound_ = max(self.value_bound_, self.value_)
        self.treatment_shares_ = action_use(solution.tree) / weight
        return self

    def _keep_learned(self, prepared: Prepared) -> None:
        assert prepared.targets is not None  # for the type checker
        names = _names(prepared.targets)
        same = len({type(name) for name in names}) == 1
        self.actions_ = np.array(names, dtype=None if same else object)
        self.n_actions_ = len(self.actions_)
        owner = type(self).__name__
        self._action_costs = read_action_costs(self.action_costs, self.actions_.tolist(), owner)

    def _prepared(self, X: Any, rewards: Targets, weights: Any, **changes: Any) -> Prepared:
        changes |= {"loss": "linear", "predicts": "rewards"}
        return prepare_for(self, X, rewards, weights, **changes)

    def _prepared_again(
        self, X: Any, y: Any, sample_weight: Any, who: str, **changes: Any
    ) -> Prepared:
        given = read_actions(y, as_table(X, who).shape[0], who)
        self._check_actions(given)
        net = given._replace(values=given.values - self._action_costs - self.prices_)
        if self.prices_.any() and self.alpha > 0:
            raise ValueError(
                f"This {type(self).__name__} was fitted with a budget and a penalty for splits, "
                f"which {who} cannot tell apart: leave out 'alpha'."
            )
        return self._prepared(X, net, sample_weight, **changes)

    def _labels_again(self, values: Values) -> NDArray[np.int32] | None:
        # Other rows may want more of an action than the budget has.
        return None if self.budget is None else self.tree_.label

    def _within(
        self,
        X: Any,
        prepared: Prepared,
        budget: Float,
        initial_tree: Any,
        on_progress: Callable[[Progress], None] | None,
    ) -> PricedTree:
        """Return the best tree found within a budget, and its prices."""
        owner = type(self).__name__
        if self.checkpoint is not None:
            raise ValueError(
                f"The 'checkpoint' of {owner} keeps one proof, and a 'budget' takes several: "
                "leave one of them out."
            )
        engine = self._engine(initial_splits(initial_tree, X, prepared, owner))
        problem = prepared.problem
        # The penalty of a split stays the same whatever the prices are.
        penalty = self.alpha * problem.cost_scale.root / problem.weight_unit
        started = time.perf_counter()

        def solve_at(prices: Float) -> Solution:
            priced = self._priced(prepared, prices)
            if penalty > 0:
                priced = priced.with_penalty(Fraction(penalty * priced.cost_unit))
            left = None
            if self.time_limit is not None:
                left = max(self.time_limit - (time.perf_counter() - started), 1e-3)
            return self._solved(engine, priced, on_progress, left)

        assert prepared.targets is not None  # for the type checker
        rewards, weights = prepared.targets.values, _weights(prepared)
        spread = float(weights @ np.ptp(rewards, axis=1))
        limited = np.isfinite(budget)
        leaf = _best_leaf(problem, ~limited)
        found = prices_within(
            solve_at, budget * weights.sum(), _dearest(rewards, limited), spread, leaf
        )
        self._search_seconds = time.perf_counter() - started
        return found

    def _priced(self, prepared: Prepared, prices: Float) -> Problem:
        """Return the problem of a table at some prices."""
        assert prepared.targets is not None  # for the type checker
        return build_problem(
            prepared.encoded,
            prices - prepared.targets.values,
            max_depth=self.max_depth,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            categories=prepared.encoder.categories,
            sample_weight=prepared.weights,
            feature_names=prepared.encoder.feature_names,
            class_names=prepared.problem.class_names,
            loss="linear",
            predicts="rewards",
            combinations=prepared.problem.combinations,
        )

    def predict(self, X: Any) -> NDArray[Any]:
        """Choose an action for each row.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples,)
            The actions, by name where the rewards had names.

        Examples
        --------
        >>> import pandas as pd
        >>> from provetree import OptimalPolicyTree
        >>> rewards = pd.DataFrame({"wait": [0, 0, 2], "act": [5, 1, 0]})
        >>> OptimalPolicyTree(max_depth=1).fit([[1], [2], [3]], rewards).predict([[0], [9]])
        array(['act', 'wait'], dtype='<U4')
        """
        return self._of_rows(X, lambda rows: self.actions_[self.tree_.predict(rows)])

    def predict_index(self, X: Any) -> NDArray[np.intp]:
        """Choose an action for each row, by its position among the columns of the rewards.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of int of shape (n_samples,)
            The positions of the actions in ``actions_``.

        Examples
        --------
        >>> from provetree import OptimalPolicyTree
        >>> policy = OptimalPolicyTree(max_depth=1).fit([[1], [2]], [[0, 5], [2, 0]])
        >>> policy.predict_index([[0], [9]])
        array([1, 0])
        """
        return self._of_rows(X, lambda rows: np.asarray(self.tree_.predict(rows), dtype=np.intp))

    def value(self, X: Any, rewards: Any, sample_weight: ArrayLike | None = None) -> PolicyValue:
        """Return the mean reward of the policy on some rows, and its standard error.

        On rows that were held out, this is an honest estimate of what the policy brings.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            The rows.
        rewards : array-like or table of shape (n_samples, n_actions)
            What each action brings for each row, with the actions of training in their order.
            Action costs are taken off.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the rows.

        Returns
        -------
        PolicyValue
            ``mean`` and ``standard_error``, which is NaN for a single row.

        Examples
        --------
        >>> from provetree import OptimalPolicyTree
        >>> policy = OptimalPolicyTree(max_depth=1).fit([[1], [2]], [[0, 5], [2, 0]])
        >>> policy.value([[0], [1], [8], [9]], [[0, 3], [0, 4], [1, 0], [4, 0]])
        PolicyValue(mean=3.0, standard_error=0.7071067811865476)
        """
        chosen = self.predict_index(X)
        owner = type(self).__name__
        given = read_actions(rewards, len(chosen), owner)
        self._check_actions(given)
        seen = (given.values - self._action_costs)[np.arange(len(chosen)), chosen]
        weights = np.ones(len(seen))
        if sample_weight is not None:
            weights = check_weights(sample_weight, len(seen))
        total, n = float(weights.sum()), int((weights > 0).sum())
        mean = float(weights @ seen) / total
        squares = float(np.square(weights * (seen - mean)).sum())
        error = math.sqrt(squares * n / (n - 1)) / total if n > 1 else math.nan
        return PolicyValue(mean, error)

    def score(self, X: Any, rewards: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean reward of the policy on some rows, for model selection.

        Parameters and meaning are those of :meth:`value`.

        Examples
        --------
        >>> from provetree import OptimalPolicyTree
        >>> policy = OptimalPolicyTree(max_depth=1).fit([[1], [2]], [[0, 5], [2, 0]])
        >>> policy.score([[1], [2]], [[0, 5], [2, 0]])
        3.5
        """
        return self.value(X, rewards, sample_weight).mean

    def _check_actions(self, given: Targets) -> None:
        """Refuse rewards of other actions than those of training, or in another order."""
        known = self.actions_.tolist()
        names = given.names
        if given.values.shape[1] != len(known) or (names is not None and list(names) != known):
            got = f"{given.values.shape[1]} columns" if names is None else str(list(names))
            raise ValueError(
                f"The 'rewards' of {type(self).__name__} must have the actions of training in "
                f"their order, {known}. Got {got}."
            )


def _names(given: Targets) -> list[object]:
    """Return the actions: names, or positions where there are none."""
    return list(range(given.values.shape[1]) if given.names is None else given.names)


def _weights(prepared: Prepared) -> Float:
    return np.ones(len(prepared.codes)) if prepared.weights is None else prepared.weights


def _reward(tree: Tree) -> float:
    """Return what the actions of a tree bring in all."""
    leaves = np.flatnonzero(tree.feature < 0)
    return math.fsum(tree.value[leaves, tree.label[leaves]])


def _valued(tree: Tree, prepared: Prepared) -> Tree:
    """Return a tree that was found at prices with the rewards as they are."""
    assert prepared.targets is not None  # for the type checker
    weights = _weights(prepared)
    gained = weights[:, None] * prepared.targets.values
    reached = tree.apply(prepared.encoded)
    totals, weight = np.zeros((tree.n_nodes, tree.n_classes)), np.zeros(tree.n_nodes)
    for leaf in np.flatnonzero(tree.feature < 0).tolist():
        rows = reached == leaf
        totals[leaf] = [math.fsum(of_action) for of_action in gained[rows].T]
        weight[leaf] = math.fsum(weights[rows])
    return tree.replaced(value=Actions(totals, weight, rewards=True))


def _dearest(rewards: Float, limited: NDArray[np.bool_]) -> Float:
    """Return prices at which no row gains by an action with a budget.

    One action without a budget is then better for every row, so better for every leaf.
    """
    dearest = np.zeros(rewards.shape[1])
    free = np.flatnonzero(~limited)
    margin = 1e-6 * float(np.ptp(rewards)) or 1.0
    for action in np.flatnonzero(limited):
        gains = [float((rewards[:, action] - rewards[:, other]).max()) for other in free]
        dearest[action] = max(min(gains), 0.0) * (1 + 1e-6) + margin
    return dearest


def _best_leaf(problem: Problem, free: NDArray[np.bool_]) -> Tree:
    """Return the single leaf of the best action without a budget."""
    assert problem.targets is not None  # for the type checker
    totals = problem.weights @ problem.targets  # costs: rewards of the other sign
    return build_tree(problem, [-1], [0], [int(np.where(free, totals, np.inf).argmin())])
