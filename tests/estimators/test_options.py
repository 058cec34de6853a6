"""The table of options: one source for docs, validation and the signature."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

from provetree import OptimalTreeClassifier
from provetree.options import TREE_OPTIONS, Option, ParameterError, documented, validate

X, Y = [[0.0], [1.0]], [0, 1]


def test_the_signature_is_the_table():
    parameters = inspect.signature(OptimalTreeClassifier).parameters
    assert {name: parameter.default for name, parameter in parameters.items()} == {
        option.name: option.default for option in TREE_OPTIONS
    }
    assert list(parameters) == [option.name for option in TREE_OPTIONS]


def test_the_docstring_holds_every_option():
    text = inspect.getdoc(OptimalTreeClassifier)
    for option in TREE_OPTIONS:
        assert option.documentation() in text
    assert "{parameters}" not in text
    assert max(len(line) for line in text.splitlines()) <= 100


def test_defaults_are_allowed():
    validate(TREE_OPTIONS, {option.name: option.default for option in TREE_OPTIONS}, "Tree")


@pytest.mark.parametrize(
    ("name", "bad", "sentence"),
    [
        ("max_depth", -1, "an int in the range [0, inf). Got -1 instead."),
        ("max_depth", None, "an int in the range [0, inf). Got None instead."),
        ("max_depth", 3.0, "an int in the range [0, inf). Got 3.0 instead."),
        ("max_depth", True, "an int in the range [0, inf). Got True instead."),
        ("max_depth", "3", "an int in the range [0, inf). Got '3' instead."),
        ("max_leaf_nodes", 0, "an int in the range [1, inf) or None. Got 0 instead."),
        ("max_leaf_nodes", 2.5, "an int in the range [1, inf) or None. Got 2.5 instead."),
        (
            "min_samples_leaf",
            0,
            "an int in the range [1, inf) or a float in the range (0.0, 1.0). Got 0 instead.",
        ),
        (
            "min_samples_leaf",
            1.0,
            "an int in the range [1, inf) or a float in the range (0.0, 1.0). Got 1.0 instead.",
        ),
        (
            "min_samples_leaf",
            math.nan,
            "an int in the range [1, inf) or a float in the range (0.0, 1.0). Got nan instead.",
        ),
        ("alpha", -0.1, "a float in the range [0.0, inf). Got -0.1 instead."),
        ("alpha", math.inf, "a float in the range [0.0, inf). Got inf instead."),
        ("alpha", math.nan, "a float in the range [0.0, inf). Got nan instead."),
        ("alpha", 10**400, "a float in the range [0.0, inf). Got 1000"),
        (
            "class_weight",
            "even",
            "an instance of 'dict', the str 'balanced' or None. Got 'even' instead.",
        ),
        (
            "class_weight",
            [1, 2],
            "an instance of 'dict', the str 'balanced' or None. Got [1, 2] instead.",
        ),
        (
            "categorical_features",
            "all",
            "the str 'from_dtype', an array-like or None. Got 'all' instead.",
        ),
        (
            "categorical_features",
            7,
            "the str 'from_dtype', an array-like or None. Got 7 instead.",
        ),
        ("time_limit", 0, "a float in the range (0.0, inf] or None. Got 0 instead."),
        ("time_limit", -1.5, "a float in the range (0.0, inf] or None. Got -1.5 instead."),
        ("time_limit", "1 s", "a float in the range (0.0, inf] or None. Got '1 s' instead."),
        ("verbose", -1, "an int in the range [0, inf) or a bool. Got -1 instead."),
        ("verbose", "yes", "an int in the range [0, inf) or a bool. Got 'yes' instead."),
    ],
)
def test_a_bad_parameter_gives_one_sentence(name, bad, sentence):
    with pytest.raises(ParameterError) as caught:
        OptimalTreeClassifier(**{name: bad}).fit(X, Y)
    start = f"The {name!r} parameter of OptimalTreeClassifier must be "
    assert str(caught.value).startswith(start + sentence)
    assert len(str(caught.value)) < 400
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    "good",
    [
        {"max_depth": np.int64(2)},
        {"max_depth": 0},
        {"max_depth": 10**9},
        {"max_leaf_nodes": 1},
        {"min_samples_leaf": np.float32(0.25)},
        {"min_samples_leaf": 10**12},
        {"alpha": 1},
        {"alpha": np.float32(0.5)},
        {"class_weight": {0: 2}},
        {"categorical_features": [0]},
        {"categorical_features": np.array([True])},
        {"categorical_features": None},
        {"time_limit": 60},
        {"time_limit": math.inf},
    ],
)
def test_good_parameters_pass(good):
    clf = OptimalTreeClassifier(**good).fit(X, Y)
    assert clf.status_ == "optimal"


def test_a_parameter_is_checked_in_fit_not_before():
    clf = OptimalTreeClassifier(max_depth=-5)
    assert clf.get_params()["max_depth"] == -5


def test_a_class_without_a_docstring_is_left_alone():
    class Plain:
        pass

    assert documented([Option("a", 1, TREE_OPTIONS[0].allowed, "Help.")])(Plain) is Plain
    assert Plain.__doc__ is None
