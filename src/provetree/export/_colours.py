"""The colours of the classes in plots, which colour-blind people can tell apart."""

from __future__ import annotations

import colorsys

from provetree.tree.tree import Tree

__all__ = ["class_colour", "node_colour"]

#: Okabe and Ito's colours, without black.
_PALETTE = ("#56b4e9", "#e69f00", "#009e73", "#f0e442", "#cc79a7", "#0072b2", "#d55e00")
#: Strength of the colour of a node in which all classes have the same share.
_FAINTEST = 0.15


def class_colour(label: int) -> str:
    """Return the colour of a class as ``#rrggbb``."""
    if label < len(_PALETTE):
        return _PALETTE[label]
    # Steps of the golden ratio around the circle of hues give distinct hues.
    hue = (label * 0.618034) % 1.0
    return _hex(colorsys.hls_to_rgb(hue, 0.6, 0.6))


def node_colour(tree: Tree, node: int) -> str:
    """Return the colour of a node: that of its class, the fainter the more mixed the node is."""
    label, share = int(tree.label[node]), tree.label_share(node)
    least = 1.0 / tree.n_classes
    purity = 1.0 if tree.n_classes == 1 else max(0.0, share - least) / (1.0 - least)
    strength = _FAINTEST + (1.0 - _FAINTEST) * purity
    full = class_colour(label)
    parts = [int(full[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return _hex(tuple(1.0 - strength * (1.0 - part) for part in parts))


def _hex(parts: tuple[float, ...]) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)
