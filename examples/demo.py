"""Chooses and proves a tree on tables that ship with scikit-learn, and compares it with CART.

First it compares ``OptimalTreeCV`` with CART, tuned and as it comes, on new rows: over several
random divisions of two tables, since one division says little. The figures are printed and drawn as
they are. Then it chooses a tree for the breast cancer table, proves it, checks it with separate
code, and writes a report in one HTML file.

Run it with ``make demo``, or ``python examples/demo.py [report]``. It takes one or two minutes.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit, train_test_split
from sklearn.tree import DecisionTreeClassifier

from provetree import OptimalTreeCV, runner_up_splits, stability, verify, write_report

TABLES = {"breast cancer": load_breast_cancer, "wine": load_wine}
#: Divisions of each table, and the most leaves of the trees that are tuned.
SPLITS, LEAVES = 6, 16
#: Seconds for each choice of a tree by provetree; most need fewer.
SECONDS = 15.0
METHODS = ("provetree", "CART, tuned", "CART")


def tuned_cart() -> GridSearchCV:
    """Return CART with leaves, least leaf and criterion chosen by cross-validation."""
    settings = {
        "max_leaf_nodes": range(2, LEAVES + 1),
        "min_samples_leaf": [5, 1, 20],
        "criterion": ["gini", "entropy"],
    }
    return GridSearchCV(DecisionTreeClassifier(random_state=0), settings, cv=5)


def fit_and_score(X: Any, y: Any, train: Any, test: Any) -> list[tuple[float, int]]:
    """Return accuracy on the test rows and leaves of each method, fitted on the training rows."""
    models = (
        OptimalTreeCV(max_leaf_nodes=LEAVES, time_limit=SECONDS),
        tuned_cart(),
        DecisionTreeClassifier(random_state=0),
    )
    found = []
    for model in models:
        model.fit(X.iloc[train], y[train])
        tree = getattr(model, "best_estimator_", model)
        found.append((model.score(X.iloc[test], y[test]), int(tree.get_n_leaves())))
    return found


def compare() -> dict[str, np.ndarray]:
    """Return accuracies and leaves by table: an array of divisions, methods, and these two."""
    figures = {}
    for name, load in TABLES.items():
        table = load(as_frame=True)
        X, y = table.data, table.target_names[table.target]
        print(f"\n{name}: {X.shape[0]} rows, {X.shape[1]} columns", flush=True)
        divisions = StratifiedShuffleSplit(SPLITS, test_size=0.25, random_state=0).split(X, y)
        figures[name] = np.array(
            Parallel(n_jobs=2)(delayed(fit_and_score)(X, y, *both) for both in divisions)
        )
        accuracy, leaves = figures[name][..., 0], figures[name][..., 1]
        for number, method in enumerate(METHODS):
            each = " ".join(f"{100 * x:5.1f}" for x in accuracy[:, number])
            print(
                f"  {method:12} {100 * accuracy[:, number].mean():5.1f} % right on new rows "
                f"({each}), {leaves[:, number].mean():4.1f} leaves"
            )
        gain = 100 * (accuracy[:, 0] - accuracy[:, 1])
        print(
            f"  provetree less tuned CART: {gain.mean():+.1f} points, standard error "
            f"{gain.std(ddof=1) / np.sqrt(SPLITS):.1f}; better {np.sum(gain > 0)} times, equal "
            f"{np.sum(gain == 0)}, worse {np.sum(gain < 0)}"
        )
    return figures


def draw(figures: dict[str, np.ndarray], path: Path) -> None:
    """Draw the accuracy of every division: one line each, so that methods are seen side by side."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(figures), figsize=(9.0, 3.6), constrained_layout=True)
    places = np.arange(len(METHODS))
    for ax, (name, values) in zip(axes, figures.items(), strict=True):
        accuracy, leaves = 100 * values[..., 0], values[..., 1].mean(axis=0)
        ax.plot(places, accuracy.T, color="0.8", marker="o", markersize=4, linewidth=1.0)
        ax.plot(places, accuracy.mean(axis=0), color="#0072b2", marker="D", linewidth=0)
        labels = [f"{m}\n{n:.1f} leaves" for m, n in zip(METHODS, leaves, strict=True)]
        ax.set_xticks(places, labels)
        ax.set_title(name)
        ax.set_xlim(-0.4, len(METHODS) - 0.6)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("right on new rows, %")
    figure.suptitle(f"{SPLITS} divisions of each table; diamonds: their mean", fontsize="medium")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def choose_and_report(report: Path) -> None:
    """Choose a tree for the breast cancer table, prove and check it, and write the report."""
    table = load_breast_cancer(as_frame=True)
    labels = table.target_names[table.target]
    X, X_test, y, y_test = train_test_split(
        table.data, labels, test_size=0.25, stratify=labels, random_state=0
    )
    print("\nA tree for breast cancer, chosen by cross-validation", flush=True)
    start = time.perf_counter()
    model = OptimalTreeCV(max_leaf_nodes=LEAVES, time_limit=4 * SECONDS, n_jobs=2).fit(X, y)
    seconds = time.perf_counter() - start
    print(f"\n{model.export_text().rstrip()}\n")
    print(f"  {model.path_.reason}")
    print(
        f"  {model.criterion_}: status {model.status_}, cost {model.objective_:g}, lower bound "
        f"{model.lower_bound_:g}, gap {model.gap_:.1%}, among trees of at most {model.n_leaves_} "
        f"leaves and {model.max_depth_} levels; all of it took {seconds:.1f} s"
    )
    # Counted a second time from the raw table, with separate code.
    checked = verify(model.tree_, X, y, max_leaf_nodes=model.n_leaves_)
    print(f"  verified: {checked.errors} errors in {len(y)} rows")

    print("\nWriting the report: runner-up splits, stability ...", flush=True)
    write_report(
        model,
        report,
        X,
        y,
        X_test=X_test,
        y_test=y_test,
        target="diagnosis",
        title="Breast cancer: a decision tree for the diagnosis",
        frontier=model.path_,
        runner_up=runner_up_splits(model, X, y, time_limit=10.0),
        stability=stability(model, X, y, time_limit=10.0, n_jobs=2),
    )


def main(report: Path) -> None:
    """Compare, choose, prove, report."""
    print("New rows: provetree and CART over random divisions, three quarters to train on")
    picture = report.with_name("demo-comparison.png")
    draw(compare(), picture)
    choose_and_report(report)
    print(f"The comparison is drawn in {picture.resolve()}.")
    print(f"The report is in {report.resolve()}: open it in a browser.")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("demo-report.html"))
