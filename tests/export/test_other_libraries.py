"""shap, skl2onnx and dtreeviz read what ``to_sklearn`` gives."""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np
import pytest
from sklearn.datasets import load_iris

from provetree import OptimalTreeClassifier

# They warn of what they will change themselves.
pytestmark = pytest.mark.filterwarnings("default")


def imported(name):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return import_module(name)
    except ImportError as error:
        return pytest.skip(f"{name} cannot be imported: {error}")


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    clf = OptimalTreeClassifier(max_depth=3).fit(X, y)
    return clf, X, y


def test_shap_explains_the_predictions(iris):
    shap = imported("shap")
    clf, X, _ = iris
    explainer = shap.TreeExplainer(clf.to_sklearn())
    values = np.asarray(explainer.shap_values(X))
    if values.shape[0] == 3:  # older versions: one array per class
        values = np.moveaxis(values, 0, -1)
    assert values.shape == (150, 4, 3)
    # What makes them Shapley values: they add up to the prediction.
    sums = values.sum(axis=1) + explainer.expected_value
    assert np.allclose(sums, clf.predict_proba(X))


@pytest.mark.parametrize("labels", [[0, 1, 2], ["a", "b", "c"]], ids=["int", "str"])
def test_onnx_runs_the_tree(iris, labels):
    skl2onnx = imported("skl2onnx")
    onnxruntime = imported("onnxruntime")
    _, X, y = iris
    clf = OptimalTreeClassifier(max_depth=3).fit(X, np.array(labels)[y])
    model = clf.to_sklearn()
    rows = X.astype(np.float32)
    stored = skl2onnx.to_onnx(model, rows[:1], options={id(model): {"zipmap": False}})
    session = onnxruntime.InferenceSession(
        stored.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    predicted, shares = session.run(None, {session.get_inputs()[0].name: rows})
    assert predicted.tolist() == clf.predict(X).tolist()
    assert np.allclose(shares, clf.predict_proba(X), atol=1e-6)


def test_dtreeviz_draws_the_tree(iris):
    dtreeviz = imported("dtreeviz")
    matplotlib = imported("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    clf, X, y = iris
    names = ["sepal length", "sepal width", "petal length", "petal width"]
    drawing = dtreeviz.model(
        clf.to_sklearn(),
        X_train=X,
        y_train=y,
        feature_names=names,
        target_name="species",
        class_names=["setosa", "versicolor", "virginica"],
    )
    assert drawing.shadow_tree.nnodes() == clf.tree_.n_nodes
    assert "petal" in drawing.explain_prediction_path(X[100])
    drawing.ctree_leaf_distributions()
    pyplot.close("all")
