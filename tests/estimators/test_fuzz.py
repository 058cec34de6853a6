"""Whatever arrays are passed, a fit ends in a right tree or in one clear sentence."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from provetree import OptimalTreeClassifier, verify
from provetree.export import UnsupportedTreeError

pd = pytest.importorskip("pandas")

COMMON = settings(
    max_examples=300,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

#: Few distinct values make ties; the odd ones are those that break things.
NUMBERS = st.one_of(
    st.integers(-3, 3).map(float),
    st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 5e-324, 1e308, -1e308, 1e-300]),
    st.sampled_from([0.1, math.nextafter(0.1, 1.0), 2.0**53, 2.0**53 + 2, 1.7e9, 1.7e9 + 1]),
    st.floats(),
)
TEXTS = st.sampled_from(["a", "b", "c", "d", "", None, math.nan])
JUNK = st.one_of(NUMBERS, TEXTS, st.sampled_from([True, 7, b"x", 1j, (), {}, 10**30, 10**400]))
LABELS = [st.integers(0, 2), st.sampled_from(["no", "yes"]), st.booleans(), JUNK]
WEIGHTS = [st.integers(0, 3), st.floats(0, 10), JUNK]

PARAMETERS = st.fixed_dictionaries(
    {
        "max_depth": st.sampled_from([0, 1, 2, 3, 50]),
        "max_leaf_nodes": st.sampled_from([None, None, 1, 2, 3, 100]),
        "min_samples_leaf": st.sampled_from([1, 1, 2, 5, 1000, 0.01, 0.3, 0.999]),
        "alpha": st.sampled_from([0.0, 0.0, 0.01, 0.3, 1.0, 1e300, 1e-300]),
        "class_weight": st.sampled_from([None, None, "balanced", {0: 0.5, 1: 3}]),
        "time_limit": st.just(2.0),
    }
)


def columns(kinds, n_rows):
    """Columns of one kind of cells each, so that most of them make sense."""
    column = st.one_of(*(st.lists(kind, min_size=n_rows, max_size=n_rows) for kind in kinds))
    return st.lists(column, min_size=1, max_size=3)


@COMMON
@given(n=st.integers(1, 12), parameters=PARAMETERS, data=st.data())
def test_tables_of_numbers_always_give_the_tree_that_was_promised(n, parameters, data):
    X = np.array(data.draw(columns([NUMBERS], n))).T
    y = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    weights = data.draw(
        st.none() | st.lists(st.sampled_from([0, 1, 2, 0.5, 3]), min_size=n, max_size=n)
    )
    clf = OptimalTreeClassifier(**parameters)
    if parameters["class_weight"] == {0: 0.5, 1: 3} and not {0, 1} <= set(y.tolist()):
        parameters["class_weight"] = None
        clf.set_params(class_weight=None)
    if weights is not None and not any(weights):
        weights = None
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes")
        clf.fit(X, y, sample_weight=weights)
    # Without a limit on depth even few rows can take long; the tree is checked all the same.
    if parameters["max_depth"] <= 3:
        assert clf.status_ == "optimal"
    assert clf.lower_bound_ <= clf.objective_
    assert (clf.status_ == "optimal") == (clf.lower_bound_ == clf.objective_)
    predicted = clf.predict(X)
    assert set(predicted) <= set(y.tolist())
    assert np.allclose(clf.predict_proba(X).sum(axis=1), 1)
    if clf.class_weight is None:
        limits = {name: parameters[name] for name in ("max_depth", "max_leaf_nodes", "alpha")}
        report = verify(clf.tree_, X, y, sample_weight=weights, **limits)
        assert report.violations == ()
        assert math.isclose(report.cost, clf.objective_, rel_tol=1e-9, abs_tol=1e-9)
    _exports_do_not_fail(clf, X, weights)


@COMMON
@given(n=st.integers(1, 12), parameters=PARAMETERS, data=st.data())
def test_tables_of_anything(n, parameters, data):
    table = data.draw(columns([NUMBERS, TEXTS, JUNK], n))
    y = data.draw(columns(LABELS, n))[0]
    weights = data.draw(st.none() | columns(WEIGHTS, n).map(lambda drawn: drawn[0]))
    chosen = data.draw(st.sampled_from(["from_dtype", None, [0]]))
    objects = np.empty((n, len(table)), dtype=object)
    for j, column in enumerate(table):
        for i, cell in enumerate(column):
            objects[i, j] = cell
    clf = OptimalTreeClassifier(**parameters, categorical_features=chosen)
    _fit_or_sentence(clf, objects, y, weights)
    _fit_or_sentence(clf, objects.tolist(), y, weights)
    try:
        frame = pd.DataFrame({f"c{j}": pd.Series(column) for j, column in enumerate(table)})
    except (OverflowError, TypeError, ValueError):
        return  # pandas itself will not have it
    _fit_or_sentence(clf, frame, y, weights)


@COMMON
@given(
    X=hnp.arrays(
        dtype=st.one_of(
            hnp.boolean_dtypes(),
            hnp.integer_dtypes(),
            hnp.unsigned_integer_dtypes(),
            hnp.floating_dtypes(),
            hnp.complex_number_dtypes(),
            hnp.datetime64_dtypes(),
            hnp.timedelta64_dtypes(),
            hnp.unicode_string_dtypes(),
            hnp.byte_string_dtypes(),
        ),
        shape=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6),
    ),
    data=st.data(),
)
def test_arrays_of_any_type_and_shape(X, data):
    n = X.shape[0] if X.ndim else 1
    y = data.draw(
        st.one_of(
            st.lists(st.integers(0, 1), min_size=n, max_size=n),
            hnp.arrays(dtype=hnp.scalar_dtypes(), shape=st.sampled_from([(n,), (n, 1), (n + 1,)])),
        )
    )
    _fit_or_sentence(OptimalTreeClassifier(time_limit=5.0), X, y, None)


def _fit_or_sentence(clf, X, y, weights):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clf.fit(X, y, sample_weight=weights)
    except (TypeError, ValueError):
        return  # any other error is a fault of ours
    predicted = clf.predict(X)
    assert len(predicted) == len(X)
    assert clf.lower_bound_ <= clf.objective_
    _exports_do_not_fail(clf, X, weights)


def _exports_do_not_fail(clf, X, weights):
    assert clf.export_text()
    assert clf.export_graphviz().startswith("digraph")
    try:
        model = clf.to_sklearn()
    except UnsupportedTreeError:
        return
    encoded = clf.encoder_.transform(X)
    with np.errstate(over="ignore"):
        fits = np.isfinite(encoded.astype(np.float32)) | np.isnan(encoded)
    taken = fits.all(axis=1)  # scikit-learn takes no infinities
    if weights is not None:
        taken &= np.asarray(weights, dtype=float) > 0  # rows without weight were not trained on
    rows = np.flatnonzero(taken)
    if hasattr(model, "feature_names_in_"):
        del model.feature_names_in_  # the encoded rows have no names
    if len(rows):
        assert model.apply(encoded[rows]).tolist() == clf.apply(X)[rows].tolist()
        assert model.predict(encoded[rows]).tolist() == clf.predict(X)[rows].tolist()
