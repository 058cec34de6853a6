"""A PMML tree model read and evaluated by the letter of the standard, with three-valued logic."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as xml

_PREFIX = "{http://www.dmg.org/PMML-4_4}"


class PmmlTree:
    """Just what tree models of the package need; anything else raises."""

    def __init__(self, document: str) -> None:
        root = xml.fromstring(document)
        self.kinds = {
            field.get("name"): field.get("dataType") for field in root.iter(f"{_PREFIX}DataField")
        }
        model = root.find(f"{_PREFIX}TreeModel")
        assert model is not None
        self.derived = {}
        for field in model.iter(f"{_PREFIX}DerivedField"):
            name = field.get("name")
            assert name is not None
            assert name not in self.kinds, "a field has a name of its own"
            self.kinds[name] = field.get("dataType")
            self.derived[name] = field[0]
        assert model.get("missingValueStrategy") == "none"
        node = model.find(f"{_PREFIX}Node")
        assert node is not None
        self.root = node

    def predict(self, row: dict[str, Any]) -> str | None:
        return self.leaf(row).get("score")

    def probabilities(self, row: dict[str, Any]) -> list[float]:
        found = self.leaf(row).findall(f"{_PREFIX}ScoreDistribution")
        return [float(each.get("probability", "nan")) for each in found]

    def leaf(self, row: dict[str, Any]) -> xml.Element:
        node = self.root
        assert self.holds(_predicate(node), row) is True
        while True:
            children = node.findall(f"{_PREFIX}Node")
            if not children:
                return node
            true = [child for child in children if self.holds(_predicate(child), row) is True]
            assert len(true) == 1, "the sides of a split must be disjoint and complete"
            node = true[0]

    def value(self, name: str, row: dict[str, Any]) -> Any:
        """The value of a field, None where it is missing."""
        return self.worked_out(self.derived[name], row) if name in self.derived else row[name]

    def worked_out(self, element: xml.Element, row: dict[str, Any]) -> Any:
        kind = element.tag.removeprefix(_PREFIX)
        if kind == "Constant":
            return float(element.text or "")
        if kind == "FieldRef":
            return row[element.get("field") or ""]
        assert kind == "Apply"
        first, second = (self.worked_out(part, row) for part in element)
        if first is None or second is None:  # a function of a missing value is missing
            return None
        found = {"+": lambda: first + second, "*": lambda: first * second}[
            element.get("function") or ""
        ]()
        return None if found != found else found

    def holds(self, predicate: xml.Element, row: dict[str, Any]) -> bool | None:
        kind = predicate.tag.removeprefix(_PREFIX)
        if kind in ("True", "False"):
            return kind == "True"
        if kind == "CompoundPredicate":
            parts = [self.holds(part, row) for part in predicate]
            if predicate.get("booleanOperator") == "or":
                return True if True in parts else None if None in parts else False
            assert predicate.get("booleanOperator") == "and"
            return False if False in parts else None if None in parts else True
        assert kind == "SimplePredicate"
        name = predicate.get("field")
        assert name is not None
        x, operator = self.value(name, row), predicate.get("operator")
        if operator == "isMissing":
            return x is None
        if operator == "isNotMissing":
            return x is not None
        if x is None:
            return None
        value: Any = predicate.get("value")
        if self.kinds[name] == "double":
            value = float(value)
        return {
            "equal": lambda: x == value,
            "notEqual": lambda: x != value,
            "lessOrEqual": lambda: x <= value,
            "greaterThan": lambda: x > value,
        }[operator or ""]()


def _predicate(node: xml.Element) -> xml.Element:
    return next(
        part for part in node if part.tag.removeprefix(_PREFIX) not in ("Node", "ScoreDistribution")
    )
