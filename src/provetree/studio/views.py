"""What the page is told, as plain JSON: the table, the state, trees, nodes, other splits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from provetree.export._colours import class_colour
from provetree.export.svg import tree_svg
from provetree.export.words import prediction_text, split_text
from provetree.report.sentences import conditions_of
from provetree.selection.other_splits import OtherSplit
from provetree.studio.session import Session
from provetree.studio.solving import keeps_directions
from provetree.studio.splits import node_at, paths, split_of
from provetree.studio.steps import split_words
from provetree.studio.table import StudioTable
from provetree.studio.version import SEARCHING, Version, cost_of_rules
from provetree.studio.wishes import MOST_DEPTH, plain_split
from provetree.studio.words import costs_words, place_words, proof_words, rules_words
from provetree.tree.threshold import midpoint

__all__ = ["compare_view", "node_view", "other_view", "state_view", "table_view", "version_view"]

#: Places of a threshold that a slider offers.
_MOST_PLACES = 200
#: Categories that are offered by name.
_MOST_LEVELS = 200


def table_view(table: StudioTable) -> dict[str, Any]:
    """Return what never changes."""
    classes = table.prepared.classes
    kinds = [column.kind for column in table.columns]
    return {
        "target": table.target,
        "file": None if table.source is None else table.source.path.name,
        "rows": table.n_rows,
        "testRows": table.n_test_rows,
        "classes": [[str(label), class_colour(i)] for i, label in enumerate(classes.tolist())],
        "columns": [
            {
                "name": name,
                "kind": "category"
                if table.levels[i] is not None
                else (kinds[i] if i < len(kinds) else "number"),
            }
            for i, name in enumerate(table.names)
        ],
        "directions": len(classes) == 2 and keeps_directions(),
        "mostDepth": MOST_DEPTH,
    }


def state_view(session: Session) -> dict[str, Any]:
    """Return where a session stands, without its tree."""
    with session.locked():
        current, shown = session.version(session.current), session.shown()
        progress = session.progress
        wishes = current.wishes
        return {
            "revision": session.revision,
            "current": current.number,
            "keepFault": session.keep_fault,
            "shown": shown.number,
            "versions": [_summary(session, v) for v in session.versions.values()],
            "search": None
            if current.status != SEARCHING
            else {
                "cost": None if progress is None else progress.cost,
                "bound": None if progress is None else progress.lower_bound,
                "gap": None if progress is None else progress.gap,
            },
            "wishes": {
                "depth": wishes.max_depth,
                "leaves": wishes.max_leaf_nodes or 2**wishes.max_depth,
                "leastRows": wishes.min_samples_leaf,
                "forbidden": sorted(wishes.forbidden),
                "directions": {str(c): way for c, way in wishes.directions.items()},
                "fixed": [
                    {"path": path, "words": f"{_words(session, path, wishes)}"}
                    for path in sorted(wishes.pinned)
                ],
                "free": wishes.is_free,
            },
            "sizes": [
                {
                    "leaves": point.n_leaves,
                    "errors": point.cost,
                    "proven": point.status == "optimal",
                }
                for point in session.sizes_of(wishes)
            ],
        }


def _words(session: Session, path: str, wishes: Any) -> str:
    return f"{split_words(session.table, wishes.fixed[path])} {place_words(path)}"


def _summary(session: Session, version: Version) -> dict[str, Any]:
    best = session.best_of(version.wishes)
    extra = cost_of_rules(version, best)
    free = version.wishes.is_free
    return {
        "number": version.number,
        "parent": version.parent,
        "name": version.name,
        "step": version.step,
        "status": version.status,
        "proven": version.is_proven,
        "cost": version.cost,
        "bound": version.bound,
        "leaves": None if version.tree is None else version.tree.n_leaves,
        "sentence": proof_words(version),
        "rules": rules_words(version, best),
        "extra": None if free or extra is None else costs_words(*extra),
        "figures": dict(version.figures),
        "seconds": version.seconds,
        "limit": version.limit,
    }


def version_view(session: Session, version: Version) -> dict[str, Any]:
    """Return the tree of a version."""
    summary = _summary(session, version)
    if version.tree is None:
        return {**summary, "svg": None, "nodes": []}
    tree = session.table.whole(version.tree)
    fixed, pinned = version.wishes.fixed, version.wishes.pinned
    shares = tree.shares().tolist()
    nodes = []
    for node, path in enumerate(paths(tree)):
        is_split = bool(tree.feature[node] >= 0)
        nodes.append(
            {
                "path": path,
                "split": is_split,
                "words": split_text(tree, node) if is_split else prediction_text(tree, node),
                "place": place_words(path),
                "column": int(tree.feature[node]) if is_split else None,
                "rows": int(tree.n_samples[node]),
                "shares": [f"{100 * share:.1f} %" for share in shares[node]],
                "conditions": conditions_of(tree, node),
                "pinned": path in pinned,
                "held": path in fixed and path not in pinned,
                "room": len(path) < version.wishes.max_depth,
            }
        )
    return {**summary, "svg": tree_svg(tree, interactive=True), "nodes": nodes}


def node_view(session: Session, number: Any, path: Any) -> dict[str, Any]:
    """Return what can be done at a node: where its threshold may go, its other categories."""
    version = session.version(number)
    if version.tree is None:
        return {}
    table, tree = session.table, version.tree
    node = node_at(tree, path)
    found: dict[str, Any] = {"version": version.number, "path": path}
    if tree.feature[node] < 0:
        return found
    split = split_of(tree, node)
    column = int(split["column"])
    arriving = tree.decision_path(table.prepared.encoded).tocsc()
    rows = arriving.indices[arriving.indptr[node] : arriving.indptr[node + 1]]
    x = table.prepared.encoded[rows, column]
    found |= {"split": plain_split(split), "column": column, "missing": int(np.isnan(x).sum())}
    levels = table.levels[column]
    if levels is not None:
        found["levels"] = _levels(x, levels)
    else:
        is_date = column < len(table.columns) and table.columns[column].kind == "date"
        found |= _places(x[~np.isnan(x)], float(tree.threshold[node]), is_date)
    return found


def _levels(x: Any, levels: Sequence[Any]) -> list[list[Any]]:
    """Return the categories that some rows have and others do not, with their rows."""
    codes = np.where(np.isnan(x), len(levels), x).astype(int)
    counts = np.bincount(codes[codes >= 0], minlength=len(levels) + 1).tolist()
    named = [*levels, None]
    order = sorted(range(len(named)), key=lambda i: -counts[i])[:_MOST_LEVELS]
    return [[named[i], counts[i]] for i in order if 0 < counts[i] < len(x)]


def _places(x: Any, threshold: float, is_date: bool) -> dict[str, Any]:
    """Return thresholds between neighbouring values, and how many rows each sends left."""
    values, counts = np.unique(x, return_counts=True)
    below = np.cumsum(counts)[:-1]
    if len(values) < 2 or np.isnan(threshold):
        return {"places": [], "below": [], "at": 0}
    at = int(np.clip(np.searchsorted(values, threshold, side="right") - 1, 0, len(values) - 2))
    chosen = np.arange(len(values) - 1)
    if len(chosen) > _MOST_PLACES:
        # Evenly over the rows, so that every part of the slider moves about as many.
        wanted = np.linspace(0, below[-1], _MOST_PLACES)
        chosen = np.unique(np.searchsorted(below, wanted).clip(0, len(values) - 2))
        chosen = np.unique(np.append(chosen, at))
    places = [
        float(values[i]) if is_date else midpoint(float(values[i]), float(values[i + 1]))
        for i in chosen.tolist()
    ]
    return {
        "places": places,
        "below": below[chosen].tolist(),
        "at": int(np.flatnonzero(chosen == at)[0]),
    }


def other_view(table: StudioTable, other: OtherSplit, *, floor: bool = False) -> dict[str, Any]:
    """Return another split of a node; `floor` where it costs at least as much as it says."""
    if other.tree is None:
        split: Any = {"leaf": True}
        words = "a leaf"
    else:
        shown = table.whole(other.tree)
        split, words = plain_split(split_of(shown, 0)), split_text(shown, 0)
    return {
        "column": other.feature,
        "words": words,
        "split": split,
        "extra": other.extra,
        "atLeast": other.extra_at_least,
        "proven": other.status == "optimal" and not floor,
        "floor": floor,
    }


def compare_view(session: Session, one: Any, two: Any) -> dict[str, Any]:
    """Return two versions side by side."""
    first, second = session.version(one), session.version(two)
    found: dict[str, Any] = {
        "one": version_view(session, first),
        "two": version_view(session, second),
    }
    if first.tree is not None and second.tree is not None:
        encoded = session.table.prepared.encoded
        differ = first.tree.predict(encoded) != second.tree.predict(encoded)
        found["differ"] = int(differ.sum())
    return found
