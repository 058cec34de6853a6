"""The colours of nodes in plots, which colour-blind people can tell apart."""

from __future__ import annotations

import colorsys

from provetree.tree.tree import Tree

__all__ = ["class_colour", "node_colour"]

#: Okabe and Ito's colours, without black.
_PALETTE = ("#56b4e9", "#e69f00", "#009e73", "#f0e442", "#cc79a7", "#0072b2", "#d55e00")
#: Strength of the colour of a node in which all classes have the same share, and of the lowest
#: number; strength of the colour of an action.
_FAINTEST, _OF_ACTIONS = 0.15, 0.6


def class_colour(label: int) -> str:
    """Return the colour of a class as ``#rrggbb``."""
    if label < len(_PALETTE):
        return _PALETTE[label]
    # Steps of the golden ratio around the circle of hues give distinct hues.
    hue = (label * 0.618034) % 1.0
    return _hex(colorsys.hls_to_rgb(hue, 0.6, 0.6))


def node_colour(tree: Tree, node: int) -> str:
    """Return the colour of a node: that of its class, the fainter the more mixed the node is.

    A number is the fainter the lower it is; an action has its own colour.
    """
    strength = _FAINTEST + (1.0 - _FAINTEST) * _share_of_colour(tree, node)
    full = class_colour(int(tree.label[node]))
    parts = [int(full[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return _hex(tuple(1.0 - strength * (1.0 - part) for part in parts))


def _share_of_colour(tree: Tree, node: int) -> float:
    if tree.kind == "actions":
        return _OF_ACTIONS
    if tree.kind == "numbers":  # of several outputs the first
        low, high = float(tree.value[:, 0].min()), float(tree.value[:, 0].max())
        return (float(tree.value[node, 0]) - low) / (high - low) if high > low else 0.0
    least = 1.0 / tree.n_classes
    share = tree.label_share(node)
    return 1.0 if tree.n_classes == 1 else max(0.0, share - least) / (1.0 - least)


def _hex(parts: tuple[float, ...]) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)
