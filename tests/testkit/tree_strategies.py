"""Hypothesis strategies for trees: any shape, any names, any thresholds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

from provetree.problem.combinations import Combination
from provetree.tree.smoothing import Smoothing
from provetree.tree.tree import Tree
from provetree.tree.values import ClassTotals

#: Names with everything that a text form could stumble over.
names = st.one_of(
    st.sampled_from(
        ["age", "is", "a is b", "x <= 3", "a b", " pad ", "", "x0", 'quo"te', "|   |", "a#1", "= b"]
    ),
    st.text(max_size=8),
)
scalars = st.one_of(
    names, st.integers(-(2**70), 2**70), st.booleans(), st.floats(allow_nan=False), st.none()
)
thresholds = st.one_of(
    st.floats(), st.sampled_from([math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, 2.45])
)


@st.composite
def trees(draw: st.DrawFn, *, max_depth: int = 4) -> Tree:
    n_features = draw(st.integers(1, 4))
    n_classes = draw(st.integers(1, 3))
    categories = draw(
        st.lists(
            st.one_of(st.none(), st.lists(scalars, max_size=3)),
            min_size=n_features,
            max_size=n_features,
        )
    )
    numbers = [feature for feature, level in enumerate(categories) if level is None]
    sums: list[Combination] = []
    if len(numbers) >= 2 and draw(st.booleans()):
        coefficients = st.one_of(
            st.sampled_from([1.0, -1.0, 2.0, -50.0]),
            st.floats(allow_nan=False, allow_infinity=False).filter(bool),
        )
        for _ in range(draw(st.integers(1, 2))):
            columns = tuple(draw(st.permutations(numbers))[: draw(st.integers(2, 4))])
            sums.append(Combination(columns, tuple(draw(coefficients) for _ in columns)))
    nodes: dict[str, list[Any]] = {
        name: []
        for name in (
            "feature",
            "threshold",
            "category",
            "missing_left",
            "missing_seen",
            "value",
            "n_samples",
        )
    }

    def grow(depth: int) -> None:
        splits = depth < max_depth and draw(st.booleans())
        feature = draw(st.integers(0, n_features + len(sums) - 1)) if splits else -1
        levels = categories[feature] if 0 <= feature < n_features else None
        nodes["feature"].append(feature)
        nodes["threshold"].append(draw(thresholds) if splits else math.nan)
        nodes["category"].append(-1 if levels is None else draw(st.integers(0, len(levels))))
        nodes["missing_left"].append(draw(st.booleans()))
        nodes["missing_seen"].append(draw(st.booleans()))
        weight = st.one_of(st.integers(0, 99), st.floats(0, 1e9))
        nodes["value"].append(draw(st.lists(weight, min_size=n_classes, max_size=n_classes)))
        nodes["n_samples"].append(draw(st.integers(0, 99)))
        if splits:
            grow(depth + 1)
            grow(depth + 1)

    grow(0)
    smoothing = draw(
        st.one_of(
            st.none(),
            st.builds(Smoothing, st.sampled_from(["laplace", "shrinkage"]), st.floats(0, 1e3)),
        )
    )
    nodes["value"] = ClassTotals(np.array(nodes["value"], dtype=float), smoothing)  # type: ignore
    return Tree(
        **nodes,
        n_features=n_features,
        feature_names=draw(st.one_of(st.none(), _lists(names, n_features))),
        class_names=draw(st.one_of(st.none(), _lists(scalars, n_classes))),
        categories=categories,
        combinations=sums,
    )


def _lists(elements: st.SearchStrategy[Any], size: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(elements, min_size=size, max_size=size)
