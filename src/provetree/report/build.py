"""The report of a fitted classifier: its evidence is gathered, then its page is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from provetree.export.model_file import StoredModel
from provetree.report.evidence import evidence_of
from provetree.report.page import report_html

__all__ = ["write_report"]


def write_report(
    estimator: Any,
    path: str | Path,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    X_test: Any = None,
    y_test: ArrayLike | None = None,
    target: str | None = None,
    frontier: Any = None,
    runner_up: Any = None,
    stability: Any = None,
    operating_points: Any = None,
    calibration: Any = None,
    near_optimal: Any = None,
    title: str | None = None,
) -> None:
    """Write the report of a fitted classifier to an HTML file.

    Parameters
    ----------
    estimator : TreeClassifier
        A fitted classifier.
    path : str or pathlib.Path
        The file.
    X, y : optional
        The training rows, for accuracy, confusion matrix, CART beside it and the data summary.
        CART gets the limits and the class weights of the classifier.
    X_test, y_test : optional
        Rows that were held out.
    target : str, default=None
        The name of what is predicted.
    frontier : TuningPath, default=None
        What :func:`provetree.tuning_path` gave.
    runner_up : list of RunnerUp, default=None
        What :func:`provetree.runner_up_splits` gave.
    stability : Stability, default=None
        What :func:`provetree.stability` gave.
    operating_points : OperatingCurve, default=None
        What :func:`provetree.operating_points` gave.
    calibration : Calibration, default=None
        What :func:`provetree.calibration` gave; None takes the rows that were held out, if there
        are any.
    near_optimal : NearOptimalTrees, default=None
        What :func:`provetree.near_optimal_trees` gave.
    title : str, default=None
        The heading.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from provetree import OptimalTreeClassifier, write_report
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> write_report(OptimalTreeClassifier(max_depth=2).fit(X, y), path, X, y, target="species")
    >>> "A decision tree for species" in path.read_text()
    True
    """
    facts = evidence_of(
        estimator,
        X,
        y,
        X_test=X_test,
        y_test=y_test,
        frontier=frontier,
        runner_up=runner_up,
        stability=stability,
        operating_points=operating_points,
        calibration=calibration,
        near_optimal=near_optimal,
    )
    model = StoredModel.of(estimator, target=target, facts=facts)
    Path(path).write_text(report_html(model, title=title), encoding="utf-8")
