"""Fits a proven optimal tree on scikit-learn's breast cancer table.

It compares the tree with CART of the same depth and writes a report in one HTML file. Run it with
``make demo``, or ``python examples/demo.py [depth] [report]``.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree import export_text as sklearn_export_text

from provetree import (
    OptimalTreeClassifier,
    runner_up_splits,
    stability,
    tuning_path,
    verify,
    write_report,
)


def main(depth: int, report: Path) -> None:
    """Fit, print and report."""
    table = load_breast_cancer(as_frame=True)
    everything, labels = table.data, table.target_names[table.target]
    X, X_test, y, y_test = train_test_split(
        everything, labels, test_size=0.25, stratify=labels, random_state=0
    )
    print(
        f"Breast cancer (scikit-learn): {X.shape[0]} rows to train on, {X_test.shape[0]} to test "
        f"on, {X.shape[1]} columns, depth {depth}"
    )

    start = time.perf_counter()
    model = OptimalTreeClassifier(max_depth=depth, time_limit=60.0).fit(X, y)
    seconds = time.perf_counter() - start

    print("\nprovetree\n")
    print(model.export_text().rstrip())
    print(
        f"\n  status {model.status_}, errors {model.objective_}, lower bound {model.lower_bound_}, "
        f"gap {model.gap_:.1%}, {seconds:.3f} s"
    )
    # Counted a second time from the raw table, with separate code.
    print(f"  verified: {verify(model.tree_, X, y, max_depth=depth).errors} errors")

    start = time.perf_counter()
    cart = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)
    seconds = time.perf_counter() - start
    errors = int((cart.predict(X) != y).sum())
    print("\nscikit-learn's CART\n")
    print(sklearn_export_text(cart, feature_names=list(X.columns)).rstrip())
    print(f"\n  errors {errors}, no bound, {seconds:.3f} s")

    print(
        f"\nRight on new rows: provetree {model.score(X_test, y_test):.1%}, "
        f"CART {cart.score(X_test, y_test):.1%}"
    )

    print("\nWriting the report: frontier, runner-up splits, stability ...", flush=True)
    write_report(
        model,
        report,
        X,
        y,
        X_test=X_test,
        y_test=y_test,
        target="diagnosis",
        title="Breast cancer: a decision tree for the diagnosis",
        frontier=tuning_path(X, y, max_depth=depth, time_limit=60.0),
        runner_up=runner_up_splits(model, X, y, time_limit=20.0),
        stability=stability(model, X, y),
    )
    print(f"The report is in {report.resolve()}: open it in a browser.")


if __name__ == "__main__":
    main(
        depth=int(sys.argv[1]) if len(sys.argv) > 1 else 3,
        report=Path(sys.argv[2]) if len(sys.argv) > 2 else Path("demo-report.html"),
    )
