"""Rules are refused for tables of Dask that do not fit into memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from provetree import OptimalTreeClassifier

frames = pytest.importorskip("dask.dataframe")


@pytest.mark.parametrize("given", [[1, 0], np.array([1, 0])])
def test_directions_are_not_passed_over(given: object) -> None:
    table = pd.DataFrame({"a": range(40), "b": [0, 1] * 20, "y": [0, 1, 1, 0] * 10})
    parts = frames.from_pandas(table, npartitions=2)
    model = OptimalTreeClassifier(max_depth=2, max_memory=1, monotonic_cst=given)
    with pytest.raises(ValueError, match="'monotonic_cst' parameter of OptimalTreeClassifier must"):
        model.fit(parts[["a", "b"]], parts["y"])
