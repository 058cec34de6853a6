"""Bad input: one clear sentence for each, that names what is wrong."""

from __future__ import annotations

import datetime

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from provetree import OptimalTreeClassifier

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

X = np.arange(6.0).reshape(3, 2)
Y = [0, 1, 1]
DAY = datetime.datetime(2024, 1, 1)


def dates(library):
    days = [DAY, DAY + datetime.timedelta(1), DAY]
    return library.DataFrame({"when": days})


class Foreign:
    """A table of another library, such as pyarrow, whose columns are arrays and not names."""

    shape = (3, 1)
    columns = (np.zeros(3),)


@pytest.mark.parametrize(
    ("table", "error", "words"),
    [
        pytest.param(np.empty((0, 2)), ValueError, r"0 sample\(s\)", id="no rows"),
        pytest.param(np.empty((3, 0)), ValueError, r"0 feature\(s\)", id="no columns"),
        pytest.param([], ValueError, "Reshape your data", id="empty list"),
        pytest.param([[]], ValueError, r"0 feature\(s\)", id="empty row"),
        pytest.param(None, ValueError, "Expected 2D array", id="none"),
        pytest.param(5.0, ValueError, "Expected 2D array", id="number"),
        pytest.param("text", ValueError, "Expected 2D array", id="text"),
        pytest.param([1.0, 2.0, 3.0], ValueError, "Reshape your data", id="one dimension"),
        pytest.param(pd.Series([1, 2, 3]), ValueError, "Reshape your data", id="pandas series"),
        pytest.param(pl.Series([1, 2, 3]), ValueError, "Reshape your data", id="polars series"),
        pytest.param(np.zeros((3, 2, 2)), ValueError, "3D array", id="three dimensions"),
        pytest.param([[1, 2], [3], [4, 5]], ValueError, "equal length", id="ragged"),
        pytest.param(sparse.csr_matrix(X), TypeError, r"[Ss]parse .*toarray", id="sparse"),
        pytest.param(sparse.coo_matrix(X), TypeError, r"[Ss]parse .*toarray", id="sparse coo"),
        pytest.param(X + 1j, ValueError, "Complex data not supported", id="complex"),
        pytest.param(
            np.array([[1j], [2], [3]], dtype=object), ValueError, "Complex", id="complex object"
        ),
        pytest.param(pl.LazyFrame({"a": [1, 2, 3]}), TypeError, "collect", id="lazy"),
        pytest.param(Foreign(), TypeError, r"Foreign was .* use X.to_pandas\(\)", id="arrow"),
        pytest.param(dates(pd), ValueError, "'when' holds dates or times", id="pandas dates"),
        pytest.param(dates(pl), ValueError, "'when' holds dates or times", id="polars dates"),
        pytest.param(dates(pd).to_numpy(), ValueError, "holds dates or times", id="array of dates"),
        pytest.param([[DAY], [DAY], [DAY]], ValueError, "holds dates or times", id="list of dates"),
        pytest.param(
            pd.DataFrame({"mix": [1, "a", 2.5]}), ValueError, "'mix' mixes text", id="mixed"
        ),
        pytest.param(
            pd.DataFrame({"odd": [{}, [], ()]}), TypeError, "'odd' holds a value of", id="objects"
        ),
        pytest.param(
            np.array([[{"a": 1}], [2], [3]], dtype=object), TypeError, "of type dict", id="dict"
        ),
        pytest.param([[10**400], [1], [2]], ValueError, "too large", id="huge number"),
        pytest.param(
            np.zeros((3, 1), dtype=[("a", float)]), TypeError, "of type tuple", id="records"
        ),
    ],
)
def test_bad_tables(table, error, words):
    with pytest.raises(error, match=words) as caught:
        OptimalTreeClassifier().fit(table, Y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("labels", "error", "words"),
    [
        pytest.param(None, ValueError, "requires y to be passed", id="none"),
        pytest.param([0, 1], ValueError, "X has 3 rows and y has 2", id="too short"),
        pytest.param([0, 1, 1, 0], ValueError, "X has 3 rows and y has 4", id="too long"),
        pytest.param([], ValueError, "y has 0", id="empty"),
        pytest.param([0.5, 1.5, 2.5], ValueError, "[Uu]nknown label type", id="continuous"),
        pytest.param([0, 1, np.nan], ValueError, "y contains NaN", id="nan"),
        pytest.param([0, 1, np.inf], ValueError, "y contains NaN or inf", id="infinity"),
        pytest.param(["a", "b", None], ValueError, "missing labels", id="missing text"),
        pytest.param(["a", "b", np.nan], ValueError, "missing labels", id="nan among text"),
        pytest.param(
            pd.Series([1, 2, None], dtype="Int64"), ValueError, "missing|NaN", id="nullable"
        ),
        pytest.param(pl.Series([1, 2, None]), ValueError, "y contains NaN", id="polars null"),
        pytest.param(pl.Series(["a", "b", None]), ValueError, "missing labels", id="polars text"),
        pytest.param(
            [1, "a", 2.5], ValueError, "all strings, all numbers or all booleans", id="mixed"
        ),
        pytest.param([[0, 1], [1, 0], [1, 1]], ValueError, "1d array|multi", id="two columns"),
        pytest.param([[0], [1, 2], [3]], ValueError, "label", id="ragged"),
        pytest.param([1j, 2, 3], ValueError, "Complex", id="complex"),
        pytest.param([DAY] * 3, ValueError, "[Uu]nknown label type", id="dates"),
        pytest.param(
            np.array(["2024-01-01"] * 3, dtype="M8[D]"), ValueError, "label type", id="datetime64"
        ),
        pytest.param([1, 2**70, 2], ValueError, "fit into 64 bits.* Got 11805", id="wide numbers"),
        pytest.param([{}, {}, {}], ValueError, "[Uu]nknown label type", id="objects"),
        pytest.param(sparse.csr_matrix([[0], [1], [1]]), TypeError, "[Ss]parse", id="sparse"),
        pytest.param(7, ValueError, "shape|1d", id="number"),
        pytest.param("abc", ValueError, "shape|1d", id="text"),
    ],
)
def test_bad_labels(labels, error, words):
    with pytest.raises(error, match=words):
        OptimalTreeClassifier().fit(X, labels)


def test_labels_in_a_column_are_taken_with_a_warning():
    with pytest.warns(DataConversionWarning):
        clf = OptimalTreeClassifier().fit(X, np.array([[0], [1], [1]]))
    assert clf.predict(X).tolist() == Y


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2}])
@pytest.mark.parametrize(
    ("weights", "words"),
    [
        pytest.param([1, -1, 1], "'sample_weight' must hold numbers >= 0", id="negative"),
        pytest.param([0, 0, 0], "'sample_weight' must hold a number above zero", id="zeros"),
        pytest.param([1, np.nan, 1], "'sample_weight' must hold finite numbers", id="nan"),
        pytest.param([1, np.inf, 1], "'sample_weight' must hold finite numbers", id="infinity"),
        pytest.param([1, 1], "'sample_weight' must be a 1D array", id="too short"),
        pytest.param([1, 1, 1, 1], "'sample_weight' must be a 1D array", id="too long"),
        pytest.param([[1, 1, 1]], "'sample_weight' must be a 1D array", id="two dimensions"),
        pytest.param(["a", "b", "c"], "'sample_weight' must be an array of numbers", id="text"),
        pytest.param(-1, "'sample_weight' must hold numbers >= 0", id="negative number"),
        pytest.param([1, 10**400, 1], "'sample_weight' must hold finite", id="beyond float64"),
        pytest.param([1e308] * 3, "total weight above zero, in the range", id="sum too large"),
        pytest.param([5e-324] * 3, "total weight above zero, in the range", id="sum too small"),
    ],
)
def test_bad_weights(weights, words, class_weight):
    with pytest.raises(ValueError, match=words):
        OptimalTreeClassifier(class_weight=class_weight).fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize(
    ("class_weight", "words"),
    [
        ({0: -1}, "finite weight >= 0. Got -1 for the label 0"),
        ({0: np.nan}, "finite weight >= 0. Got nan for the label 0"),
        ({0: np.inf}, "finite weight >= 0. Got inf for the label 0"),
        ({0: "heavy"}, "finite weight >= 0. Got 'heavy' for the label 0"),
        ({0: None}, "finite weight >= 0. Got None for the label 0"),
        ({0: 1, 5: 2}, "must name labels of y. Got 5, and y holds 0, 1"),
        ({0: 0, 1: 0}, "'class_weight' must leave a total weight above zero"),
        ({0: 1e308, 1: 1e308}, "'class_weight' must leave a total weight"),
    ],
)
def test_bad_class_weights(class_weight, words):
    with pytest.raises(ValueError, match=words):
        OptimalTreeClassifier(class_weight=class_weight).fit(X, Y)


def test_class_weights_of_labels_that_a_fold_lacks():
    clf = OptimalTreeClassifier(class_weight={0: 1, 1: 2, 2: 5}).fit(X, Y)
    assert clf.objective_ == 0


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ([2], "position 2 for 2 columns"),
        ([-1], "position -1 for 2 columns"),
        ([True], "mask of 1 for 2 columns"),
        (["a"], "names, but the columns of the table have none"),
        ([0.5], "array of float64"),
        ([[0]], "shape"),
        ([None], "array of object"),
    ],
)
def test_bad_categorical_features(chosen, words):
    with pytest.raises(ValueError, match=words) as caught:
        OptimalTreeClassifier(categorical_features=chosen).fit(X, Y)
    assert "'categorical_features'" in str(caught.value)


def test_a_name_that_no_column_has():
    table = pd.DataFrame(X, columns=["a", "b"])
    with pytest.raises(ValueError, match="'c', which is no column"):
        OptimalTreeClassifier(categorical_features=["c"]).fit(table, Y)


def test_text_in_a_column_that_is_no_category():
    table = pd.DataFrame({"a": ["x", "y", "z"]})
    with pytest.raises(ValueError, match="Column 'a' must hold numbers"):
        OptimalTreeClassifier(categorical_features=None).fit(table, Y)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "apply", "decision_path"])
def test_bad_tables_to_predict(method):
    predict = getattr(OptimalTreeClassifier().fit(X, Y), method)
    owner = "OptimalTreeClassifier"
    with pytest.raises(ValueError, match=f"X has 1 features, but {owner} is expecting 2"):
        predict(X[:, :1])
    with pytest.raises(ValueError, match="Reshape your data"):
        predict(X[0])
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        predict(X[:0])
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        predict(sparse.csr_matrix(X))
    with pytest.raises(ValueError, match="Complex"):
        predict(X * 1j)
    with pytest.raises(ValueError, match="must hold numbers: it did in training"):
        predict([["a", "b"]])


def test_a_failed_fit_says_nothing_about_the_tree():
    clf = OptimalTreeClassifier()
    with pytest.raises(ValueError, match="y has 2"):
        clf.fit(X, [0, 1])
    assert not hasattr(clf, "tree_")
