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

#: Kind and type of fields.
_NUMBER, _CATEGORY = ("continuous", "double"), ("categorical", "string")
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
        If a name or category holds letters XML cannot, a threshold is infinite, or the tree
        predicts several numbers.

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
    if tree.kind == "numbers" and tree.n_classes > 1:
        from provetree.export.sklearn import UnsupportedTreeError

        raise UnsupportedTreeError(
            f"A tree in PMML predicts one number, and this one predicts {tree.n_classes}."
        )
    labels = [] if tree.kind == "numbers" else [str(x) for x in tree.labels]
    root = xml.Element("PMML", {"version": "4.4", "xmlns": _NAMESPACE})
    header = xml.SubElement(root, "Header")
    xml.SubElement(header, "Application", {"name": "provetree", "version": __version__})

    _add_dictionary(root, tree, target, labels)
    model = xml.SubElement(
        root,
        "TreeModel",
        functionName="regression" if tree.kind == "numbers" else "classification",
        splitCharacteristic="binarySplit",
        missingValueStrategy="none",
        noTrueChildStrategy="returnNullPrediction",
    )
    _add_schema(model, tree, target)
    _add_output(model, tree, labels)
    _add_sums(model, tree)
    _add_nodes(model, tree, labels)
    xml.indent(root)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(root, encoding="unicode") + "\n"
    )


def _add_dictionary(root: xml.Element, tree: Tree, target: str, labels: list[str]) -> None:
    """Add what there is to know of each column and of the target."""
    fields = xml.SubElement(root, "DataDictionary")
    for name, levels in zip(tree.column_names, tree.categories, strict=True):
        kind = _NUMBER if levels is None else _CATEGORY
        _field(fields, name, kind, () if levels is None else [str(level) for level in levels])
    _field(fields, target, _NUMBER if tree.kind == "numbers" else _CATEGORY, labels)


def _add_schema(model: xml.Element, tree: Tree, target: str) -> None:
    """Add how the model uses the columns."""
    schema = xml.SubElement(model, "MiningSchema")
    for name, levels in zip(tree.column_names, tree.categories, strict=True):
        # A category that training did not contain is a valid value.
        treatment = {} if levels is None else {"invalidValueTreatment": "asIs"}
        xml.SubElement(schema, "MiningField", {"name": _safe(name), **treatment})
    xml.SubElement(schema, "MiningField", {"name": _safe(target), "usageType": "target"})


def _add_output(model: xml.Element, tree: Tree, labels: list[str]) -> None:
    """Add what the model gives: the label or number, and the share of each class."""
    output = xml.SubElement(model, "Output")

    def add(name: str, kind: tuple[str, str], feature: str, **value: str) -> None:
        words = {"name": _safe(name), "optype": kind[0], "dataType": kind[1], "feature": feature}
        xml.SubElement(output, "OutputField", words, **value)

    add("prediction", _NUMBER if tree.kind == "numbers" else _CATEGORY, "predictedValue")
    for label in labels if tree.kind == "classes" else ():
        add(f"probability({label})", _NUMBER, "probability", value=_safe(label))


def _field(parent: xml.Element, name: str, kind: tuple[str, str], values: Sequence[str]) -> None:
    field = xml.SubElement(
        parent, "DataField", {"name": _safe(name), "optype": kind[0], "dataType": kind[1]}
    )
    for value in values:
        xml.SubElement(field, "Value", {"value": _safe(value)})


def _add_sums(model: xml.Element, tree: Tree) -> None:
    """Add the sums of columns as fields; a sum is missing where one of its columns is."""
    if not tree.combinations:
        return
    derived = xml.SubElement(model, "LocalTransformations")
    names = _field_names(tree)
    for name, each in zip(names[tree.n_features :], tree.combinations, strict=True):
        kind = {"optype": _NUMBER[0], "dataType": _NUMBER[1]}
        field = xml.SubElement(derived, "DerivedField", {"name": _safe(name), **kind})
        totals = [field]  # a sum of two is in the sum of three: "+" takes two
        for _ in each.columns[1:]:
            totals.append(xml.SubElement(totals[-1], "Apply", function="+"))
        for place, (coefficient, column) in enumerate(each.terms):
            total = totals[len(totals) - max(place, 1)]
            product = xml.SubElement(total, "Apply", function="*")
            xml.SubElement(product, "Constant", dataType="double").text = repr(coefficient)
            xml.SubElement(product, "FieldRef", field=_safe(names[column]))


def _field_names(tree: Tree) -> list[str]:
    """Return the names of columns and sums; a sum must not have the name of a column."""
    names = list(tree.question_names)
    taken = set(tree.column_names)
    for place in range(tree.n_features, len(names)):
        while names[place] in taken:
            names[place] += "'"
        taken.add(names[place])
    return names


def _add_nodes(model: xml.Element, tree: Tree, labels: list[str]) -> None:
    shares = tree.probabilities() if tree.kind == "classes" else None
    # Nodes in preorder, so that each parent's element exists before its children's.
    weight = tree.weight
    if tree.kind == "numbers":
        scores = [repr(float(value)) for value in tree.value[:, 0]]
    else:
        scores = [_safe(labels[int(label)]) for label in tree.label]
    elements: dict[int, xml.Element] = {}
    parent: dict[int, tuple[int, bool]] = {}
    for node in range(tree.n_nodes):
        element = elements[node] = xml.SubElement(
            model if node == 0 else elements[parent[node][0]],
            "Node",
            id=str(node),
            score=scores[node],
            recordCount=repr(float(weight[node])),
        )
        if node == 0:
            xml.SubElement(element, "True")
        else:
            _add_predicate(element, tree, *parent[node])
        if tree.feature[node] >= 0:
            parent[int(tree.left[node])] = (node, True)
            parent[int(tree.right[node])] = (node, False)
            continue
        if shares is None:
            continue
        for i, name in enumerate(labels):
            share = repr(float(shares[node, i]))
            xml.SubElement(
                element,
                "ScoreDistribution",
                value=_safe(name),
                recordCount=repr(float(tree.value[node, i])),
                confidence=share,
                probability=share,
            )


def _add_predicate(element: xml.Element, tree: Tree, split: int, left: bool) -> None:
    """Add the predicate of one side of a split; it is never unknown."""
    from provetree.export.sklearn import UnsupportedTreeError

    feature = int(tree.feature[split])
    name, levels = _field_names(tree)[feature], tree.levels_of(feature)
    threshold = float(tree.threshold[split])
    missing_here = left == bool(tree.missing_left[split])

    def simple(parent: xml.Element, operator: str, **value: str) -> None:
        asked = {"field": _safe(name), "operator": operator, **value}
        xml.SubElement(parent, "SimplePredicate", asked)

    def only(missing: bool) -> None:
        simple(element, "isMissing" if missing else "isNotMissing")

    def compared(operator: str, *values: str) -> None:
        how = "or" if missing_here else "and"
        parts = xml.SubElement(element, "CompoundPredicate", booleanOperator=how)
        simple(parts, "isMissing" if missing_here else "isNotMissing")
        if len(values) > 1:  # a group of categories: one of them, or none
            how = "or" if left else "and"
            parts = xml.SubElement(parts, "CompoundPredicate", booleanOperator=how)
        for value in values:
            simple(parts, operator, value=value)

    if levels is not None:
        known = [_safe(str(level)) for level in tree.names_left(split)]
        if not known:
            only(missing=left)
        else:
            compared("equal" if left else "notEqual", *known)
    elif math.isnan(threshold) or threshold == math.inf:
        # The first sends all numbers right, the other all left: only missingness matters.
        numbers_here = left == (threshold == math.inf)
        if numbers_here == missing_here:
            xml.SubElement(element, str(numbers_here))
        else:
            only(missing=missing_here)
    elif threshold == -math.inf:
        raise UnsupportedTreeError(
            f"PMML has no infinite numbers, and column {name!r} is split at minus infinity."
        )
    else:
        compared("lessOrEqual" if left else "greaterThan", repr(threshold))


def _safe(text: str) -> str:
    from provetree.export.sklearn import UnsupportedTreeError

    found = _NO_XML.search(text)
    if found:
        raise UnsupportedTreeError(
            f"XML cannot hold the letter {found[0]!r}, and {text!r} has it. Rename it first."
        )
    return text
