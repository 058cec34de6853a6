"""Counts near-optimal trees with another package, in a process of its own.

It is run as a file by an interpreter that has the package, which need not be the one of provetree:
so it imports nothing of it. The request is JSON on the standard input, the answer the last line.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from typing import Any

import numpy as np


def with_praxis(X: Any, y: Any, asked: dict[str, Any]) -> tuple[int, float]:
    """Return the number of trees by tree-praxis, and the processor seconds it took."""
    from praxis import PRAXIS

    begun = time.process_time()
    model = PRAXIS()
    model.fit(
        X.astype(np.uint8),
        y,
        lambda_reg=asked["price"] / len(y),
        depth_budget=asked["depth"],
        root_budget=asked["limit"],
        majority_leaf_only=True,
    )
    return model.count_trees(), time.process_time() - begun


def with_treefarms(X: Any, y: Any, asked: dict[str, Any]) -> tuple[int, float]:
    """Return the number of trees by treefarms, and the processor seconds it took."""
    import pandas as pd
    from treefarms import TREEFARMS

    table = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    begun = time.process_time()
    model = TREEFARMS(
        {
            "regularization": asked["price"] / len(y),
            # A quarter of an error more, so that rounding takes no tree away.
            "rashomon_bound_adder": (asked["slack"] + 0.25) / len(y),
            "rashomon_bound_multiplier": 0,
            "rashomon_ignore_trivial_extensions": False,
            "depth_budget": asked["depth"] + 1,
            "verbose": False,
            "diagnostics": False,
        }
    )
    model.fit(table, pd.Series(y, name="y"))
    return model.model_set.get_tree_count(), time.process_time() - begun


def main() -> None:
    """Answer the request on the standard input."""
    asked = json.load(sys.stdin)
    X, y = np.array(asked["X"], dtype=np.int64), np.array(asked["y"], dtype=np.int64)
    os.chdir(tempfile.mkdtemp())  # one of them leaves files behind
    count = {"treefarms": with_treefarms, "tree-praxis": with_praxis}[asked["peer"]]
    trees, seconds = count(X, y, asked)
    sys.stdout.write(f"\n{json.dumps({'trees': trees, 'seconds': seconds})}\n")


if __name__ == "__main__":
    main()
