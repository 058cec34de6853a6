"""A tree in the DOT language of Graphviz; writing it needs no other program."""

from __future__ import annotations

from provetree.export._colours import node_colour
from provetree.export.words import leaf_lines, sides, split_text
from provetree.tree.tree import Tree

__all__ = ["to_graphviz"]


def to_graphviz(tree: Tree, *, filled: bool = True) -> str:
    r"""Return `tree` as a graph in the DOT language.

    Parameters
    ----------
    tree : Tree
        The tree.
    filled : bool, default=True
        Fill the leaves with the colours of their classes.

    Returns
    -------
    str
        The graph; ``dot -Tsvg`` or the graphviz package draw it.

    Examples
    --------
    >>> from provetree import Tree
    >>> from provetree.export import to_graphviz
    >>> nan = float("nan")
    >>> tree = Tree(feature=[0, -1, -1], threshold=[37.5, nan, nan],
    ...             value=[[0, 0], [8, 2], [1, 9]], n_samples=[0, 10, 10],
    ...             n_features=1, feature_names=["age"], class_names=["no", "yes"])
    >>> print(to_graphviz(tree, filled=False))
    digraph Tree {
      node [shape=box, style="rounded", fontname="helvetica"];
      edge [fontname="helvetica"];
      0 [label="age <= 37.5"];
      0 -> 1 [label="yes"];
      0 -> 2 [label="no"];
      1 [label="no\n80.0% of 10 rows"];
      2 [label="yes\n90.0% of 10 rows"];
    }
    """
    style = "rounded,filled" if filled else "rounded"
    lines = [
        "digraph Tree {",
        f'  node [shape=box, style="{style}", fontname="helvetica"];',
        '  edge [fontname="helvetica"];',
    ]
    for node in range(tree.n_nodes):
        if tree.feature[node] >= 0:
            fill = ', fillcolor="#ffffff"' if filled else ""
            lines.append(f"  {node} [label={_quoted([split_text(tree, node)])}{fill}];")
            for child, name in sides(tree, node):
                lines.append(f"  {node} -> {child} [label={_quoted([name])}];")
        else:
            fill = f', fillcolor="{node_colour(tree, node)}"' if filled else ""
            lines.append(f"  {node} [label={_quoted(leaf_lines(tree, node))}{fill}];")
    lines.append("}")
    return "\n".join(lines)


def _quoted(lines: list[str]) -> str:
    r"""Write lines as a DOT string: quotes and backslashes escaped, ``\n`` between the lines."""
    escaped = [
        line.replace("\\", "\\\\").replace('"', '\\"').replace("\r", " ").replace("\n", " ")
        for line in lines
    ]
    return '"' + "\\n".join(escaped) + '"'
