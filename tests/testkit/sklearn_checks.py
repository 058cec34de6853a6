"""scikit-learn's own checks of estimators as cases of a test."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

#: Where scipy was imported without this, scikit-learn's checks of array interfaces skip themselves.
ARRAY_SETTING = "SCIPY_ARRAY_API"
ARRAY_CHECKS = "array_api"


def all_checks(*estimators: Any, without: Collection[str] = ()) -> pytest.MarkDecorator:
    """Give a test every `estimator` and `check`, but for the checks named in `without`.

    The checks of array interfaces are left out as well where they would skip themselves;
    ``test_sklearn_checks.py`` runs them in a process of their own.
    """
    mark = parametrize_with_checks(list(estimators))
    names, cases = mark.args
    kept = []
    for case in cases:
        check = getattr(case, "values", case)[1]
        name = getattr(check, "func", check).__name__
        skips_itself = ARRAY_CHECKS in name and ARRAY_SETTING not in os.environ
        if name not in without and not skips_itself:
            kept.append(case)
    return pytest.mark.parametrize(names, kept, ids=mark.kwargs["ids"])
