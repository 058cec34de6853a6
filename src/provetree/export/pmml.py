"""A tree as PMML 4.4, the exchange format of older scoring engines.

Every split is written as two complete predicates. Each says whether a missing value fulfils it, so
the engine's own rules about missing values are never used.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from xml.etree import ElementTree as xml

from provetree.tree.tree import Tree

__all__ = ["to_pmml"]

_NAMESPACE = "http://www.dmg.org/PMML-4_4"
#: Letters that XML 1.0 cannot hold.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_pmml(tree: Tree, *, target: str = "target") -> str:
    """Return `tree` as a PMML document.

    Parameters
    ----------
    tree : Tree
        The tree.
    target : str, default="target"
        The name of the predicted field.

    Returns
    -------
    str
        The document. Categories that training did not contain are accepted and equal none of the
        known ones.

    Raises
    ------
    UnsupportedTreeError
        If a name or category holds letters XML cannot, or a threshold is infinite.

    Examples
    --------
    >>> from provetree import OptimalTreeClassifier
    >>> from provetree.export import to_pmml
    >>> clf = OptimalTreeClassifier().fit([[20.0], [30.0], [40.0]], ["no", "yes", "yes"])
    >>> "lessOrEqual" in to_pmml(clf.tree_)
    True
    """
    from provetree import __version__

    while target in tree.column_names:
        target += "_"
    labels = [str(x) for x in tree.labels]
    root = xml.Element("PMML", {"version": "4.4", "xmlns": _NAMESPACE})
    header = xml.SubElement(root, "Header")
    xml.SubElement(header, "Application", {"name": "provetree", "version": __version__})

    _add_dictionary(root, tree, target, labels)
    model = xml.SubElement(
        root,
        "TreeModel",
        {
            "functionName": "classification",
            "splitCharacteristic": "binarySplit",
            "missingValueStrategy": "none",
            "noTrueChildStrategy": "returnNullPrediction",
        },
    )
    _add_schema(model, tree, target)
    _add_output(model, labels)
    _add_nodes(model, tree, labels)
    xml.indent(root)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(root, encoding="unicode") + "\n"
    )


def _add_dictionary(root: xml.Element, tree: Tree, target: str, labels: list[str]) -> None:
    """Add what there is to know of each column and of the target."""
    fields = xml.SubElement(root, "DataDictionary")
    for name, levels in zip(tree.column_names, tree.categories, strict=True):
        kind = ("continuous", "double") if levels is None else ("categorical", "string")
        _field(fields, name, kind, () if levels is None else [str(level) for level in levels])
    _field(fields, target, ("categorical", "string"), labels)


def _add_schema(model: xml.Element, tree: Tree, target: str) -> None:
    """Add how the model uses the columns."""
    schema = xml.SubElement(model, "MiningSchema")
    for name, levels in zip(tree.column_names, tree.categories, strict=True):
        # A category that training did not contain is a valid value.
        treatment = {} if levels is None else {"invalidValueTreatment": "asIs"}
        xml.SubElement(schema, "MiningField", {"name": _safe(name), **treatment})
    xml.SubElement(schema, "MiningField", {"name": _safe(target), "usageType": "target"})


def _add_output(model: xml.Element, labels: list[str]) -> None:
    """Add what the model gives: the label, and the share of each."""
    output = xml.SubElement(model, "Output")
    xml.SubElement(
        output,
        "OutputField",
        {
            "name": "prediction",
            "optype": "categorical",
            "dataType": "string",
            "feature": "predictedValue",
        },
    )
    for label in labels:
        xml.SubElement(
            output,
            "OutputField",
            {
                "name": _safe(f"probability({label})"),
                "optype": "continuous",
                "dataType": "double",
                "feature": "probability",
                "value": _safe(label),
            },
        )


def _field(parent: xml.Element, name: str, kind: tuple[str, str], values: Sequence[str]) -> None:
    field = xml.SubElement(
        parent, "DataField", {"name": _safe(name), "optype": kind[0], "dataType": kind[1]}
    )
    for value in values:
        xml.SubElement(field, "Value", {"value": _safe(value)})


def _add_nodes(model: xml.Element, tree: Tree, labels: list[str]) -> None:
    shares = tree.shares()
    # Nodes in preorder, so that each parent's element exists before its children's.
    elements: dict[int, xml.Element] = {}
    parent: dict[int, tuple[int, bool]] = {}
    for node in range(tree.n_nodes):
        above = model if node == 0 else elements[parent[node][0]]
        label = int(tree.label[node])
        element = xml.SubElement(
            above,
            "Node",
            {
                "id": str(node),
                "score": _safe(labels[label]),
                "recordCount": repr(float(tree.value[node].sum())),
            },
        )
        elements[node] = element
        if node == 0:
            xml.SubElement(element, "True")
        else:
            split, left = parent[node]
            _add_predicate(element, tree, split, left)
        if tree.feature[node] < 0:
            for i, name in enumerate(labels):
                xml.SubElement(
                    element,
                    "ScoreDistribution",
                    {
                        "value": _safe(name),
                        "recordCount": repr(float(tree.value[node, i])),
                        "confidence": repr(float(shares[node, i])),
                        "probability": repr(float(shares[node, i])),
                    },
                )
        else:
            parent[int(tree.left[node])] = (node, True)
            parent[int(tree.right[node])] = (node, False)


def _add_predicate(element: xml.Element, tree: Tree, split: int, left: bool) -> None:
    """Add the predicate of one side of a split; it is never unknown."""
    from provetree.export.sklearn import UnsupportedTreeError

    name = tree.column_names[int(tree.feature[split])]

    def simple(parent: xml.Element, operator: str, value: str | None = None) -> None:
        attributes = {"field": _safe(name), "operator": operator}
        if value is not None:
            attributes["value"] = value
        xml.SubElement(parent, "SimplePredicate", attributes)

    def compound(parent: xml.Element, operator: str) -> xml.Element:
        return xml.SubElement(parent, "CompoundPredicate", {"booleanOperator": operator})

    feature, code = int(tree.feature[split]), int(tree.category[split])
    levels = tree.categories[feature]
    threshold, to_left = float(tree.threshold[split]), bool(tree.missing_left[split])
    if levels is not None and code == len(levels):
        simple(element, "isMissing" if left else "isNotMissing")
        return
    if levels is not None:
        value = _safe(str(levels[code]))
        if left:
            both = compound(element, "and")
            simple(both, "isNotMissing")
            simple(both, "equal", value)
        else:
            either = compound(element, "or")
            simple(either, "isMissing")
            simple(either, "notEqual", value)
        return
    # A NaN threshold sends all numbers right, plus infinity all left: only missingness matters.
    if math.isnan(threshold) or threshold == math.inf:
        numbers_here = left == (threshold == math.inf)
        missing_here = left == to_left
        if numbers_here and missing_here:
            xml.SubElement(element, "True")
        elif numbers_here or missing_here:
            simple(element, "isNotMissing" if numbers_here else "isMissing")
        else:
            xml.SubElement(element, "False")
        return
    if threshold == -math.inf:
        raise UnsupportedTreeError(
            f"PMML has no infinite numbers, and column {name!r} is split at minus infinity."
        )
    operator, value = ("lessOrEqual" if left else "greaterThan"), repr(threshold)
    if left == to_left:
        either = compound(element, "or")
        simple(either, "isMissing")
        simple(either, operator, value)
    else:
        both = compound(element, "and")
        simple(both, "isNotMissing")
        simple(both, operator, value)


def _safe(text: str) -> str:
    from provetree.export.sklearn import UnsupportedTreeError

    found = _NO_XML.search(text)
    if found:
        raise UnsupportedTreeError(
            f"XML cannot hold the letter {found[0]!r}, and {text!r} has it. Rename it first."
        )
    return text
