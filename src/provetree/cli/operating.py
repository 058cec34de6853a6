"""``provetree fit --recall``, ``--precision``, ``--cost-ratio``: the tree of an operating point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from provetree.cli.errors import UserError
from provetree.cli.scorers import positive_label

if TYPE_CHECKING:
    from provetree.selection.operating_points import OperatingCurve, OperatingPoint, Rates

__all__ = ["Wish", "point_sentences"]

_FLAGS = {"recall": "--recall", "precision": "--precision", "cost_ratio": "--cost-ratio"}
#: Flags that an operating point leaves no room for, and what they are when nobody gives them.
_NOT_WITH = {
    "class_weight": ("--class-weight", None),
    "alpha": ("--alpha", 0.0),
    "splits": ("--splits", "columns"),
    "category_splits": ("--category-splits", "one"),
}


@dataclass(frozen=True)
class Wish:
    """What the user wants of the two kinds of errors.

    Examples
    --------
    >>> from provetree.cli.operating import Wish
    >>> Wish.of({"recall": 0.9, "precision": None, "cost_ratio": None})
    Wish(name='recall', value=0.9, positive=None)
    """

    name: str
    value: float
    positive: str | None

    @classmethod
    def of(cls, flags: Mapping[str, Any]) -> Wish | None:
        """Return the wish that flags express, None where there is none."""
        given = [name for name in _FLAGS if flags[name] is not None]
        if len(given) > 1:
            raise UserError(f"{_FLAGS[given[0]]} and {_FLAGS[given[1]]} exclude each other.")
        if not given:
            if flags["positive"] is not None and flags["scoring"] is None:
                needed = ", ".join((*_FLAGS.values(), "--scoring"))
                raise UserError(f"--positive needs one of {needed}.")
            return None
        return cls(given[0], flags[given[0]], flags.get("positive"))

    @property
    def flag(self) -> str:
        """The flag it was given as."""
        return _FLAGS[self.name]

    def check(self, task: str, parameters: Mapping[str, Any]) -> None:
        """Refuse flags that do not go together."""
        if task != "classification":
            raise UserError(f"{self.flag} is for classes, and the target is a number to predict.")
        if parameters["criterion"] not in (None, "errors"):
            raise UserError(
                f"{self.flag} counts errors. It does not go with --criterion "
                f"{parameters['criterion']}."
            )
        for name, (flag, default) in _NOT_WITH.items():
            if parameters.get(name, default) != default:
                raise UserError(f"{self.flag} and {flag} exclude each other.")

    def fulfilled(
        self, X: Any, y: Any, parameters: Mapping[str, Any], time_limit: float | None
    ) -> tuple[OperatingCurve, OperatingPoint]:
        """Return the curve of training rows, and the point that fulfils the wish."""
        from provetree.selection.operating_points import operating_points

        labels = sorted(set(y.tolist()))
        if len(labels) != 2:
            raise UserError(f"{self.flag} needs a target of two classes. It has {len(labels)}.")
        positive = positive_label(labels, self.positive)
        limits = ("max_depth", "max_leaf_nodes", "min_samples_leaf")
        curve = operating_points(
            X,
            y,
            positive_label=positive,
            **{name: parameters[name] for name in limits},
            time_limit=time_limit,
        )
        try:
            return curve, curve.choose(**{self.name: self.value})
        except ValueError as error:
            raise UserError(str(error)) from None


def point_sentences(
    curve: OperatingCurve, point: OperatingPoint, facts: Mapping[str, Any], labels: Sequence[Any]
) -> list[str]:
    """Say which point was chosen, by which figures, and what it does on test rows beside CART.

    Examples
    --------
    >>> from provetree import operating_points
    >>> from provetree.cli.operating import point_sentences
    >>> curve = operating_points([[1], [2], [3], [4]], [0, 1, 0, 1], max_depth=1, cv=None)
    >>> point_sentences(curve, curve.points[1], {}, [0, 1])
    ['Weights 0: 1, 1: 3. In training: recall 100.0 %, precision 66.7 %.']
    """
    weights = ", ".join(f"{label}: {weight}" for label, weight in point.class_weight.items())
    words = f"Weights {weights}. In training: {_figures(point.train)}."
    if point.held_out is not None:
        words += f" On rows held out of {curve.n_folds} folds: {_figures(point.held_out)}."
    if "test" not in facts:
        return [words]
    positive = labels.index(curve.positive_label)
    own, cart = (_tested(part["test"]["confusion"], positive) for part in (facts, facts["cart"]))
    return [words, f"On test rows: {_figures(own)}. CART, with these weights: {_figures(cart)}."]


def _tested(confusion: Sequence[Sequence[int]], positive: int) -> Rates:
    """Return the rates behind a confusion matrix; its lines are what rows are."""
    from provetree.selection.operating_points import Rates

    other = 1 - positive
    wrong = confusion[other][positive], confusion[positive][other]
    return Rates(*wrong, sum(confusion[positive]), sum(confusion[other]))


def _figures(rates: Rates) -> str:
    parts = (("recall", rates.recall), ("precision", rates.precision))
    return ", ".join(f"{name} {100 * x:.1f} %" if x == x else f"no {name}" for name, x in parts)
