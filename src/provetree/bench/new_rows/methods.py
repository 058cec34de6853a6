"""The methods of ``bench new-rows``: how each is fitted on the rows to train on.

A method sees the rows to train on and nothing else; what comes back tells the shares of the classes
of any rows. Single trees are fitted for at most 8 and at most 16 leaves. Searches that are bounded
by the depth get the one that so many leaves fill.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from provetree.bench.new_rows.tables import ClassTable, Preparation
from provetree.bench.new_rows.tuned_cart import tuned_cart

__all__ = ["METHODS", "SIZES", "Asked", "Fitted", "Method"]

#: Most leaves of the trees.
SIZES = (8, 16)

#: Tells the shares of the classes of rows as they are in a table.
Shares = Callable[[NDArray[np.float64]], NDArray[Any]]


@dataclass(frozen=True)
class Fitted:
    """A model on the rows to train on.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.bench.new_rows.methods import Fitted
    >>> Fitted(lambda X: np.ones((len(X), 1)), np.array([1])).shares(np.zeros((1, 2)), 2).tolist()
    [[0.0, 1.0]]
    """

    given: Shares
    classes: NDArray[Any]  # what its columns stand for
    leaves: int | None = None  # of a single tree
    status: str | None = None  # of a proof

    def shares(self, X: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
        """Return a column for each class of the table; a class that was not seen has a zero."""
        found = np.zeros((len(X), n_classes))
        found[:, self.classes.astype(np.int64)] = self.given(X)
        return found


@dataclass(frozen=True)
class Asked:
    """What is asked of a model.

    Examples
    --------
    >>> from provetree.bench.new_rows.methods import Asked
    >>> Asked(8, 60.0, seed=0).full_depth
    3
    """

    leaves: int  # at most; 0 for a model that is no single tree
    limit: float  # seconds, for methods that keep one
    seed: int
    depth: int | None = None  # at most; None leaves it to the method

    @property
    def full_depth(self) -> int:
        """The depth that so many leaves fill."""
        return math.ceil(math.log2(self.leaves))


#: Fits on the rows of a table.
Fit = Callable[[ClassTable, Asked], Fitted]


@dataclass(frozen=True)
class Method:
    """One way to get a model.

    Examples
    --------
    >>> from provetree.bench.new_rows.methods import METHODS
    >>> METHODS["lightgbm"].sizes, METHODS["cart"].sizes
    ((0,), (8, 16))
    """

    label: str
    short: str  # a label for narrow columns
    kind: Literal["ours", "rival", "ceiling"]
    fit: Fit
    of_rare_classes: bool = False  # only for tables with a rare class
    own_process: bool = False  # it may end the process that it runs in
    by_default: bool = True  # whether it is fitted where no methods are named

    @property
    def is_tree(self) -> bool:
        """Whether it gives a single tree."""
        return self.kind != "ceiling"

    @property
    def sizes(self) -> tuple[int, ...]:
        """The most leaves it is fitted for; 0 for a model that is no single tree."""
        return SIZES if self.is_tree else (0,)


def _prepared(model: Any, prepare: Preparation, **facts: Any) -> Fitted:
    def shares(X: NDArray[np.float64]) -> NDArray[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what other packages warn of is theirs
            return np.asarray(model.predict_proba(prepare(X)))

    return Fitted(shares, np.asarray(model.classes_), **facts)


def _fit_prepared(model: Any, table: ClassTable) -> tuple[Any, Preparation]:
    prepare = Preparation(table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(prepare(table.X), table.y), prepare


# -- CART and what is built on it ------------------------------------------------------------------


def _cart(table: ClassTable, asked: Asked) -> Fitted:
    from sklearn.tree import DecisionTreeClassifier

    model, prepare = _fit_prepared(
        DecisionTreeClassifier(max_leaf_nodes=asked.leaves, random_state=asked.seed), table
    )
    return _prepared(model, prepare, leaves=int(model.get_n_leaves()))


def _tuned_cart(table: ClassTable, asked: Asked) -> Fitted:
    model, prepare = tuned_cart(table, asked.leaves, seed=asked.seed)
    return _prepared(model, prepare, leaves=int(model.get_n_leaves()))


def _cart_with_sums(table: ClassTable, asked: Asked) -> Fitted:
    """Fit tuned CART on the columns and on the sums of two that ``OptimalTreeCV`` asks about."""
    from provetree.problem.pairs import sums_among
    from provetree.selection.pair_columns import columns_worth_pairing

    levels = [() if at in table.categorical else None for at in range(table.X.shape[1])]
    among = columns_worth_pairing(table.X, table.y, None, levels)
    sums = sums_among(table.X, None, levels, among)

    def widened(X: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.column_stack([X, *(each.values(X) for each in sums)])

    found = _tuned_cart(replace(table, X=widened(table.X)), asked)
    return Fitted(lambda X: found.given(widened(X)), found.classes, found.leaves)


def _balanced_cart(table: ClassTable, asked: Asked) -> Fitted:
    model, prepare = tuned_cart(table, asked.leaves, balanced=True, seed=asked.seed)
    return _prepared(model, prepare, leaves=int(model.get_n_leaves()))


def _shrunk(table: ClassTable, asked: Asked) -> Fitted:
    from imodels import HSTreeClassifierCV
    from sklearn.tree import DecisionTreeClassifier

    # Its folds are stretches of rows: rows in the order of a table would leave classes out.
    order = np.random.default_rng(asked.seed).permutation(len(table.y))
    tree = DecisionTreeClassifier(max_leaf_nodes=asked.leaves, random_state=asked.seed)
    model, prepare = _fit_prepared(HSTreeClassifierCV(tree), table.rows(order))
    return _prepared(model, prepare, leaves=int(model.estimator_.get_n_leaves()))


# -- other searches for good trees -----------------------------------------------------------------


def _streed(table: ClassTable, asked: Asked) -> Fitted:
    from pystreed import STreeDClassifier

    model = STreeDClassifier(
        max_depth=asked.full_depth,
        max_num_nodes=asked.leaves - 1,
        hyper_tune=True,
        time_limit=asked.limit,
        random_seed=asked.seed + 1,
    )
    model, prepare = _fit_prepared(model, table)
    return _prepared(model, prepare, leaves=int(model.get_n_leaves()))


#: Prices per leaf that LicketySPLIT is tuned over, as shares of the rows.
_PRICES = (0.0005, 0.001, 0.003, 0.01, 0.03)


def _licketysplit(table: ClassTable, asked: Asked) -> Fitted:
    from licketysplit import ThresholdGuessBinarizer
    from sklearn.model_selection import StratifiedKFold

    prepare = Preparation(table)
    bins = ThresholdGuessBinarizer(
        n_estimators=50, max_depth=2, random_state=asked.seed, column_elimination=False
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = bins.fit_transform(prepare(table.X), table.y)
        folds = StratifiedKFold(5, shuffle=True, random_state=asked.seed).split(X, table.y)
        scores = np.zeros(len(_PRICES))
        for train, test in folds:
            for number, price in enumerate(_PRICES):
                given = _lickety_tree(X[train], table.y[train], price, asked.full_depth)
                predicted = given.shares(X[test], table.n_classes).argmax(axis=1)
                scores[number] += np.mean(predicted == table.y[test])
    # Of equal ones the highest price, and so the smallest tree.
    best = _PRICES[len(_PRICES) - 1 - int(scores[::-1].argmax())]
    found = _lickety_tree(X, table.y, best, asked.full_depth)
    return Fitted(lambda X: found.given(bins.transform(prepare(X))), found.classes, found.leaves)


def _lickety_tree(X: NDArray[Any], y: NDArray[np.int64], price: float, depth: int) -> Fitted:
    from licketysplit import LicketySPLITClassifier

    classes, codes = np.unique(y, return_inverse=True)  # its classes are 0, 1, ... without a gap
    model = LicketySPLITClassifier(lambda_leaf=price, depth_budget=depth)
    model.fit(X, codes)
    return Fitted(model.predict_proba, classes, len(model.leaf_paths()))


# -- optimal trees ---------------------------------------------------------------------------------


def _given_categories(table: ClassTable) -> Any:
    return list(table.categorical) or "from_dtype"


def _proven(model: Any, table: ClassTable) -> Fitted:
    model.fit(table.X, table.y)
    classes = np.asarray(model.classes_)
    return Fitted(model.predict_proba, classes, int(model.get_n_leaves()), str(model.status_))


def _optimal(table: ClassTable, asked: Asked) -> Fitted:
    from provetree import OptimalTreeClassifier

    model = OptimalTreeClassifier(
        max_depth=asked.full_depth,
        max_leaf_nodes=asked.leaves,
        time_limit=asked.limit,
        categorical_features=_given_categories(table),
    )
    return _proven(model, table)


def _tuned(table: ClassTable, asked: Asked, **more: Any) -> Fitted:
    from provetree import OptimalTreeCV

    if asked.depth is not None:
        more["max_depth"] = asked.depth
    model = OptimalTreeCV(
        max_leaf_nodes=asked.leaves,
        time_limit=asked.limit,
        categorical_features=_given_categories(table),
        **more,
    )
    return _proven(model, table)


def _of_one_column(table: ClassTable, asked: Asked) -> Fitted:
    return _tuned(table, asked, splits="columns")


def _balanced(table: ClassTable, asked: Asked) -> Fitted:
    return _tuned(table, asked, scoring="balanced_accuracy")


# -- ceilings --------------------------------------------------------------------------------------


def _lightgbm(table: ClassTable, asked: Asked) -> Fitted:
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(n_jobs=1, random_state=asked.seed, verbose=-1)
    return _prepared(*_fit_prepared(model, table))


def _ebm(table: ClassTable, asked: Asked) -> Fitted:
    from interpret.glassbox import ExplainableBoostingClassifier

    model = ExplainableBoostingClassifier(n_jobs=1, random_state=asked.seed)
    return _prepared(*_fit_prepared(model, table))


def _sparse_linear(table: ClassTable, asked: Asked) -> Fitted:
    """Fit a linear model with few coefficients, tuned by cross-validation: a measuring stick."""
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    linear = LogisticRegressionCV(
        Cs=5, cv=3, penalty="l1", solver="saga", max_iter=300, tol=1e-3, random_state=asked.seed
    )
    return _prepared(*_fit_prepared(make_pipeline(StandardScaler(), linear), table))


METHODS: Mapping[str, Method] = {
    "cart": Method("CART", "CART", "rival", _cart),
    "cart-tuned": Method("CART, tuned", "tuned", "rival", _tuned_cart),
    "cart-balanced": Method("CART, balanced", "CART, balanced", "rival", _balanced_cart, True),
    "hs-tree": Method("HSTreeClassifierCV", "HS", "rival", _shrunk),
    "streed": Method("STreeD", "STreeD", "rival", _streed, own_process=True),
    "licketysplit": Method("LicketySPLIT", "Lickety", "rival", _licketysplit),
    "optimal": Method("optimal, untuned", "optimal", "ours", _optimal),
    "optimal-cv": Method("OptimalTreeCV", "CV", "ours", _tuned),
    "optimal-columns": Method("OptimalTreeCV, one column", "one col", "ours", _of_one_column),
    "optimal-balanced": Method("OptimalTreeCV, balanced", "CV, balanced", "ours", _balanced, True),
    "cart-sums": Method(
        "CART, tuned, with sums", "CART, sums", "rival", _cart_with_sums, by_default=False
    ),
    "sparse-linear": Method(
        "L1 logistic regression", "L1", "ceiling", _sparse_linear, by_default=False
    ),
    "lightgbm": Method("LightGBM", "LGBM", "ceiling", _lightgbm),
    "ebm": Method("EBM", "EBM", "ceiling", _ebm),
}
