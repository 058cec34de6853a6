"""Fits a proven optimal tree on scikit-learn's breast cancer table, beside CART of the same depth.

Run it with ``make demo``, or ``python examples/demo.py [depth] [picture]``.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import matplotlib
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree import export_text as sklearn_export_text

from provetree import OptimalTreeClassifier, verify


def main(depth: int, picture: Path) -> None:
    """Fit, print and draw."""
    table = load_breast_cancer(as_frame=True)
    X, y = table.data, table.target_names[table.target]
    print(f"Breast cancer (scikit-learn): {X.shape[0]} rows, {X.shape[1]} columns, depth {depth}")

    start = time.perf_counter()
    model = OptimalTreeClassifier(max_depth=depth, time_limit=60.0).fit(X, y)
    seconds = time.perf_counter() - start

    print("\nprovetree\n")
    print(model.export_text().rstrip())
    print(
        f"\n  status {model.status_}, errors {model.objective_}, lower bound {model.lower_bound_}, "
        f"gap {model.gap_:.1%}, {seconds:.3f} s"
    )
    # Counted a second time, from the raw table and with code of its own.
    print(f"  verified: {verify(model.tree_, X, y, max_depth=depth).errors} errors")

    start = time.perf_counter()
    cart = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)
    seconds = time.perf_counter() - start
    errors = int((cart.predict(X) != y).sum())
    print("\nscikit-learn's CART\n")
    print(sklearn_export_text(cart, feature_names=list(X.columns)).rstrip())
    print(f"\n  errors {errors}, no bound, {seconds:.3f} s")

    matplotlib.use("agg")
    model.plot().figure.savefig(picture, dpi=150)
    print(f"\nThe tree is drawn in {picture.resolve()}")


if __name__ == "__main__":
    main(
        depth=int(sys.argv[1]) if len(sys.argv) > 1 else 3,
        picture=Path(sys.argv[2]) if len(sys.argv) > 2 else Path("demo-tree.png"),
    )
