"""The tree as an SVG picture: in notebooks as it is, in the report brought to life by its script.

Positions are those of :func:`layout`; the script computes the same ones when branches are closed.
"""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from provetree.export._colours import class_colour
from provetree.export.words import (
    counted,
    leaf_detail,
    places_across,
    prediction_text,
    sides,
    split_text,
)
from provetree.tree.tree import Tree
from provetree.tree.values import Numbers

__all__ = ["estimator_html", "layout", "tree_svg"]

#: Sizes in pixels; the script of the report knows them from the attributes of the picture.
BOX_WIDTH, BOX_HEIGHT = 176, 78
GAP_X, GAP_Y = 16, 54
_MARGIN = 12
#: Letters that fit on a line of a box.
_LONGEST = 22

#: Just what the picture needs where no style sheet of the report is around it.
_STYLE = """
.pt-tree{font:13px system-ui,sans-serif;max-width:100%;height:auto}
.pt-tree .box{fill:#fff;stroke:#8a93a0}.pt-tree .edge{fill:none;stroke:#8a93a0}
.pt-tree text{fill:#1a1f27}.pt-tree .side,.pt-tree .rows{font-size:11px;fill:#4a5361}
.pt-tree .side-back{fill:#fff}.pt-tree .name{font-weight:600}
"""


def layout(tree: Tree) -> list[tuple[float, float]]:
    """Return the middle of the top edge of each node.

    Leaves stand side by side, a split over the middle of its two children.
    """
    return [
        (
            _MARGIN + BOX_WIDTH / 2 + at * (BOX_WIDTH + GAP_X),
            _MARGIN + float(depth) * (BOX_HEIGHT + GAP_Y),
        )
        for at, depth in zip(places_across(tree), tree.node_depth.tolist(), strict=True)
    ]


def tree_svg(tree: Tree, *, interactive: bool = False) -> str:
    """Return the tree as an SVG element; `interactive` adds what the script of the report needs.

    Examples
    --------
    >>> from provetree import OptimalTreeClassifier
    >>> from provetree.export.svg import tree_svg
    >>> clf = OptimalTreeClassifier().fit([[20.0], [30.0]], ["no", "yes"])
    >>> tree_svg(clf.tree_).startswith("<svg")
    True
    """
    where = layout(tree)
    width = tree.n_leaves * (BOX_WIDTH + GAP_X) - GAP_X + 2 * _MARGIN
    height = (tree.depth + 1) * (BOX_HEIGHT + GAP_Y) - GAP_Y + 2 * _MARGIN
    if interactive:
        height += 12
    edges = [
        _edge(where[node], where[child], node, child, side)
        for node in range(tree.n_nodes)
        if tree.feature[node] >= 0
        for child, side in sides(tree, node)
    ]
    bars = node_bars(tree)
    boxes = [_box(tree, node, where[node], bars[node], interactive) for node in range(tree.n_nodes)]
    role = 'role="tree" aria-label="The tree"' if interactive else 'role="img"'
    summary = f"A tree of depth {tree.depth} with {tree.n_leaves} leaves"
    title = "" if interactive else f"<title>{summary}</title>"
    return (
        f'<svg class="pt-tree" xmlns="http://www.w3.org/2000/svg" {role} '
        f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" '
        f'data-box-width="{BOX_WIDTH}" data-box-height="{BOX_HEIGHT}" data-gap-x="{GAP_X}" '
        f'data-margin="{_MARGIN}">{title}'
        f'<g class="edges" aria-hidden="true">{"".join(edges)}</g>'
        f'<g class="nodes" role="none">{"".join(boxes)}</g></svg>'
    )


def estimator_html(estimator: Any) -> str:
    """Return what a notebook shows of a fitted estimator: its tree, and what is proven."""
    from provetree.export.model_file import StoredModel
    from provetree.export.words import proof_sentence

    proof = StoredModel.of(estimator).proof
    words = "" if proof is None else f"<p>{escape(proof_sentence(proof))}</p>"
    return (
        f"<div><style>{_STYLE}</style><p><code>{escape(repr(estimator))}</code></p>"
        f'<div style="overflow-x:auto">{tree_svg(estimator.tree_)}</div>{words}</div>'
    )


def _edge(
    start: tuple[float, float], end: tuple[float, float], node: int, child: int, side: str
) -> str:
    x, y = start[0], start[1] + BOX_HEIGHT
    down = GAP_Y / 2
    path = f"M{x:g} {y:g}C{x:g} {y + down:g} {end[0]:g} {end[1] - down:g} {end[0]:g} {end[1]:g}"
    width = 6.2 * len(side) + 8
    middle_x, middle_y = (x + end[0]) / 2, (y + end[1]) / 2
    return (
        f'<g class="edge-group" data-from="{node}" data-to="{child}">'
        f'<path class="edge" d="{path}"/>'
        f'<g class="edge-label" transform="translate({middle_x:g} {middle_y:g})">'
        f'<rect class="side-back" x="{-width / 2:g}" y="-9" width="{width:g}" height="17" rx="3"/>'
        f'<text class="side" text-anchor="middle" y="4">{escape(side)}</text></g></g>'
    )


def _box(tree: Tree, node: int, at: tuple[float, float], bar: str, interactive: bool) -> str:
    leaf = bool(tree.feature[node] < 0)
    words = prediction_text(tree, node) if leaf else split_text(tree, node)
    # The name of a column stands apart from what is asked about it: neither may hide the other.
    name = "" if leaf else tree.question_names[int(tree.feature[node])]
    lines = [words] if leaf else [name, words.removeprefix(name).strip()]
    rows = counted(int(tree.n_samples[node]), "row")
    below = leaf_detail(tree, node).replace("%", " %") if leaf else rows
    left = -BOX_WIDTH / 2
    parts = [
        f'<rect class="box" x="{left:g}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="7"/>',
        *(
            f'<text class="name" text-anchor="middle" y="{19 + 17 * i + 7 * leaf}">'
            f"{escape(_cut(line))}</text>"
            for i, line in enumerate(lines)
        ),
        f'<text class="rows" text-anchor="middle" y="{46 if leaf else 53}">{escape(below)}</text>',
        bar,
    ]
    if not interactive:
        return f'<g transform="translate({at[0]:g} {at[1]:g})">{"".join(parts)}</g>'
    if not leaf:
        parts.append(
            f'<g class="toggle" data-node="{node}" transform="translate(0 {BOX_HEIGHT})">'
            '<circle r="9"/><text class="toggle-sign" text-anchor="middle" y="4">&#8722;</text></g>'
        )
    kind = "leaf" if leaf else "split"
    expanded = "" if leaf else ' aria-expanded="true"'
    told = f"{words}, {below}" if leaf else f"Question: {words}? {below}"
    return (
        f'<g class="node {kind}" data-node="{node}" role="treeitem" '
        f'tabindex="{0 if node == 0 else -1}" aria-level="{int(tree.node_depth[node]) + 1}"'
        f'{expanded} aria-label="{escape(told)}" transform="translate({at[0]:g} {at[1]:g})">'
        f"{''.join(parts)}</g>"
    )


def node_bars(tree: Tree) -> list[str]:
    """Return the bar of each box: class shares, where a number lies, or the colour of an action."""
    x, y, width = 8 - BOX_WIDTH / 2, BOX_HEIGHT - 13, BOX_WIDTH - 16
    if isinstance(tree.values, Numbers):
        return _number_bars(tree.values, x, y, width)
    if tree.kind == "actions":
        chosen = np.eye(tree.n_classes)[tree.label]
        return [_share_bar(shares, x, y, width) for shares in chosen.tolist()]
    return [_share_bar(shares, x, y, width) for shares in tree.shares().tolist()]


def _share_bar(shares: list[float], x: float, y: float, width: float) -> str:
    """Draw the class shares side by side."""
    parts = []
    for label, share in enumerate(shares):
        part = share * width
        if part > 0:
            parts.append(
                f'<rect x="{x:.2f}" y="{y:g}" width="{part:.2f}" height="7" '
                f'fill="{class_colour(label)}"/>'
            )
        x += part
    return f'<g class="bar">{"".join(parts)}</g>'


def _number_bars(values: Numbers, x: float, y: float, width: float) -> list[str]:
    """Draw where the number of each node lies, and its spread, on a scale that all boxes share.

    Of several outputs it is the first.
    """
    number, spread = values.value[:, 0], values.spread[:, 0]
    low, high = float((number - spread).min()), float((number + spread).max())
    scale = width / (high - low) if high > low else 0.0
    bars = []
    for middle, reach in zip(number.tolist(), spread.tolist(), strict=True):
        at = x + (middle - low) * scale
        first, last = x + (middle - reach - low) * scale, x + (middle + reach - low) * scale
        bars.append(
            f'<g class="bar"><rect x="{x:.2f}" y="{y + 3:g}" width="{width:g}" height="1" '
            f'fill="#8a93a0"/><rect x="{first:.2f}" y="{y:g}" width="{last - first:.2f}" '
            f'height="7" fill="{class_colour(0)}" opacity="0.55"/>'
            f'<rect x="{at - 1.5:.2f}" y="{y - 2:g}" width="3" height="11" fill="#0072b2"/></g>'
        )
    return bars


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
