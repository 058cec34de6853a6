"""The report: one HTML file that needs nothing else, made from a stored model."""

from __future__ import annotations

import json
import re
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from provetree.export._colours import class_colour
from provetree.export._words import class_name
from provetree.export.model_file import StoredModel
from provetree.report.sections import sections
from provetree.report.sentences import conditions_of, question
from provetree.report.words import proof_sentence, rate_words
from provetree.tree.serialise import write_float
from provetree.tree.tree import Tree

__all__ = ["report_html", "write_report"]


def report_html(model: StoredModel, *, title: str | None = None) -> str:
    """Return the report of a model as the text of an HTML file.

    Parameters
    ----------
    model : StoredModel
        The model; what its facts hold is shown.
    title : str, default=None
        The heading; None is made from the target.

    Examples
    --------
    >>> from provetree import OptimalTreeClassifier, StoredModel
    >>> from provetree.report.build import report_html
    >>> clf = OptimalTreeClassifier().fit([[20.0], [30.0]], ["no", "yes"])
    >>> page = report_html(StoredModel.of(clf, target="answer"))
    >>> "<h1>A decision tree for answer</h1>" in page
    True
    """
    if title is None:
        title = "A decision tree" + ("" if model.target is None else f" for {model.target}")
    parts = sections(model)
    links = "".join(f'<a href="#{part.anchor}">{escape(part.short)}</a>' for part in parts)
    bodies = "\n".join(
        f'<section id="{part.anchor}" aria-labelledby="{part.anchor}-title">'
        f'<h2 id="{part.anchor}-title">{escape(part.title)}</h2>{part.body}</section>'
        for part in parts
    )
    # What stands in a script element must not end it.
    data = json.dumps(_page_data(model), allow_nan=False).replace("<", "\\u003c")
    fields = {
        "title": escape(title),
        "style": _resource("report.css"),
        "lead": _lead(model),
        "links": links,
        "sections": bodies,
        "foot": _foot(),
        "data": data,
        "script": _resource("report.js"),
    }
    # In one pass, so that nothing the user wrote is taken for a field.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: fields[found[1]], _resource("template.html"))


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
    from provetree.report.facts import frontier_facts, runner_up_facts, stability_facts

    facts: dict[str, Any] = {}
    if X is not None and y is not None:
        facts |= _training_facts(estimator, X, y)
    if X_test is not None and y_test is not None:
        facts |= _test_facts(estimator, X_test, y_test, facts)
    facts.pop("_cart", None)
    if frontier is not None:
        facts["frontier"] = frontier_facts(frontier, estimator.tree_.n_leaves)
    if runner_up is not None:
        facts["runner_up"] = runner_up_facts(runner_up)
    if stability is not None:
        facts["stability"] = stability_facts(stability)
    model = StoredModel.of(estimator, target=target, facts=facts)
    Path(path).write_text(report_html(model, title=title), encoding="utf-8")


def _training_facts(estimator: Any, X: Any, y: ArrayLike) -> dict[str, Any]:
    from provetree.problem.inputs import known_label_codes
    from provetree.report.cart import fit_cart
    from provetree.report.facts import column_facts, part_facts

    tree: Tree = estimator.tree_
    encoded = estimator._encode(X)
    codes = known_label_codes(estimator.classes_, y, len(encoded))
    parameters = estimator.get_params(deep=False)
    cart = fit_cart(
        encoded,
        codes,
        estimator.encoder_.categories,
        max_depth=parameters.get("max_depth", tree.depth),
        max_leaf_nodes=parameters.get("max_leaf_nodes"),
        min_samples_leaf=parameters.get("min_samples_leaf", 1),
    )
    return {
        "train": part_facts(tree.predict(encoded), codes, tree.n_classes),
        "cart": {
            "train": part_facts(cart.predict(encoded), codes, tree.n_classes),
            "leaves": cart.n_leaves,
        },
        "columns": column_facts(tree, encoded, estimator.feature_importances_),
        "_cart": cart,
    }


def _test_facts(estimator: Any, X: Any, y: ArrayLike, facts: dict[str, Any]) -> dict[str, Any]:
    from provetree.problem.inputs import known_label_codes
    from provetree.report.facts import part_facts

    tree: Tree = estimator.tree_
    encoded = estimator._encode(X)
    codes = known_label_codes(estimator.classes_, y, len(encoded))
    found = {"test": part_facts(tree.predict(encoded), codes, tree.n_classes)}
    if "_cart" in facts:
        judged = part_facts(facts["_cart"].predict(encoded), codes, tree.n_classes)
        found["cart"] = {**facts["cart"], "test": judged}
    return found


def _lead(model: StoredModel) -> str:
    tree, facts = model.tree, model.facts
    what = model.target or "the class"
    questions = f"at most {tree.depth} question{'' if tree.depth == 1 else 's'}"
    if tree.depth == 0:
        sentence = f"This tree asks nothing: it always predicts {class_name(tree, 0)}."
    else:
        sentence = f"This tree predicts {what} with {questions}."
    if "train" in facts:
        sentence += (
            f" It is right for {rate_words(facts['train']['accuracy'])} of the "
            f"{facts['train']['rows']} rows it was trained on"
        )
        if facts.get("test"):
            sentence += (
                f" and for {rate_words(facts['test']['accuracy'])} of {facts['test']['rows']} rows "
                "it has not seen"
            )
        sentence += "."
    parts = [f'<p class="lead">{escape(sentence)}</p>']
    if model.proof is not None:
        proven = model.proof.status == "optimal"
        badge = "Proven optimal" if proven else "Not proven"
        words = proof_sentence(model.proof)
        parts.append(
            f'<p><span class="badge {"proven" if proven else "open"}">{badge}</span> '
            f"{escape(words.removeprefix('Proven optimal: '))}</p>"
        )
    return "".join(parts)


def _foot() -> str:
    from provetree import __version__

    return (
        f"Written by provetree {escape(__version__)}. This file holds everything it shows; it "
        "loads nothing and sends nothing."
    )


def _page_data(model: StoredModel) -> dict[str, Any]:
    """Return what the script of the page needs."""
    tree = model.tree
    names = model.column_names
    if len(set(names)) < len(names):  # the page knows columns by their names
        names = tuple(f"{name} #{feature}" for feature, name in enumerate(names))
    shares = tree.shares()
    nodes = []
    for node in range(tree.n_nodes):
        data: dict[str, Any] = {
            "rows": int(tree.n_samples[node]),
            "value": [_plain_number(x) for x in tree.value[node].tolist()],
            # Rounded here, so that all numbers of the page are rounded by one rule.
            "percent": [f"{100 * share:.1f} %" for share in shares[node].tolist()],
            "label": int(tree.label[node]),
            "conditions": conditions_of(tree, node),
        }
        if tree.feature[node] >= 0:
            feature, code = int(tree.feature[node]), int(tree.category[node])
            levels = tree.categories[feature]
            data |= {
                "column": names[feature],
                "left": int(tree.left[node]),
                "right": int(tree.right[node]),
                "missingLeft": bool(tree.missing_left[node]),
                "question": question(tree, node),
            }
            if levels is None:
                data["threshold"] = write_float(float(tree.threshold[node]))
            else:
                # The category after the last is "missing", which no value is equal to.
                data["category"] = None if code == len(levels) else _plain(levels[code])
        nodes.append(data)
    columns: dict[str, Any] = {}
    known = {fact["name"]: fact for fact in model.facts.get("columns", ())}
    for feature in np.unique(tree.feature[tree.feature >= 0]).tolist():
        name, levels = names[feature], tree.categories[feature]
        info: dict[str, Any] = {}
        if levels is not None:
            info["categories"] = [_plain(level) for level in levels]
        elif "low" in known.get(name, {}):
            info |= {"low": known[name]["low"], "high": known[name]["high"]}
        columns[name] = info
    return {
        "target": model.target or "prediction",
        "labels": [_plain(label) for label in model.labels.tolist()],
        "colours": [class_colour(label) for label in range(tree.n_classes)],
        "columns": columns,
        "nodes": nodes,
    }


def _plain(value: object) -> object:
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if isinstance(value, (bool, int, float, str)) else str(value)


def _plain_number(x: float) -> float | str:
    return int(x) if x == int(x) else float(f"{x:.6g}")


def _resource(name: str) -> str:
    return files("provetree.report").joinpath(name).read_text(encoding="utf-8")
