"""A model in one JSON file: the tree, how its columns are read, what is proven, and figures.

The file holds only data: reading it builds plain objects and never runs code. A
damaged file gives one sentence that says what is wrong. ``model.schema.json`` beside this module
describes the format for other programs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from provetree.number_types import Float
from provetree.problem.losses import LOSSES
from provetree.solution import USER_STATUSES, Progress, Solution, Status, relative_gap
from provetree.tree.serialise import write_float
from provetree.tree.tree import Tree

if TYPE_CHECKING:
    from provetree.problem.table import TableEncoder

__all__ = ["InputColumn", "ModelFileError", "Proof", "StoredModel", "load_model", "model_schema"]

ColumnKind = Literal["number", "category", "date"]

FORMAT = "provetree-model"
VERSION = 1

_KINDS = ("number", "category", "date")
#: Signs that may accompany the numbers of a column.
SIGNS = ("%", "€", "$", "£", "¥")
#: How many moments of a search are kept; a plot needs no more.
_MOST_HISTORY = 400

#: Parameters that had other names in files of version 0.1.
_NEW_NAMES = {"max_rate_difference": "max_parity_gap", "threads": "n_jobs"}


class ModelFileError(ValueError):
    """A model file is damaged, or no model file at all.

    Examples
    --------
    >>> from provetree.export.model_file import StoredModel
    >>> StoredModel.from_json("{}")
    Traceback (most recent call last):
        ...
    provetree.export.model_file.ModelFileError: A model file must have the format \
'provetree-model'. Got None instead.
    """


@dataclass(frozen=True)
class InputColumn:
    """How one column of a table file is read.

    Parameters
    ----------
    name : str
        The name of the column.
    kind : {"number", "category", "date"}
        What it holds; a date is the number YYYYMMDD.
    comma : {"decimal", "thousands"} or None
        What a comma in its numbers means.
    sign : {"%", "€", "$", "£", "¥"} or None
        The sign next to its numbers, which is ignored.
    order : {"dmy", "mdy"} or None
        Which part of its dates comes first; None is the year.
    known : tuple of str or None
        The categories that are kept apart; all others are one. None keeps all apart.

    Examples
    --------
    >>> from provetree.export.model_file import InputColumn
    >>> InputColumn("age", "number").kind
    'number'
    """

    name: str
    kind: ColumnKind
    comma: Literal["decimal", "thousands"] | None = None
    known: tuple[str, ...] | None = None
    sign: str | None = None
    order: Literal["dmy", "mdy"] | None = None


@dataclass(frozen=True)
class Proof:
    """What a search proved about a tree.

    Parameters
    ----------
    status : str
        Why the search ended; see :class:`~provetree.Solution`.
    cost, lower_bound : int or float
        The cost of the tree, and a lower bound for all trees of the allowed size.
    seconds : float or None
        How long the fit took.
    method : str
        The class that searched.
    parameters : mapping
        What was asked for: depth, leaves, penalty and so on.
    n_rows, n_columns : int
        The table that was searched.
    history : tuple of Progress
        Moments at which cost or bound improved.

    Examples
    --------
    >>> from provetree.export.model_file import Proof
    >>> Proof("time_limit", 20, 15).gap
    0.25
    """

    status: Status
    cost: float
    lower_bound: float
    seconds: float | None = None
    method: str = "OptimalTreeClassifier"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    n_rows: int | None = None
    n_columns: int | None = None
    history: tuple[Progress, ...] = ()

    @property
    def gap(self) -> float:
        """Share of the cost that is not proven."""
        return relative_gap(self.cost, self.lower_bound)

    @property
    def of_rewards(self) -> bool:
        """Whether the cost is a reward with the other sign."""
        return self.method == "OptimalPolicyTree"

    @property
    def loss(self) -> str:
        """What the cost counts: one of :data:`provetree.problem.losses.LOSSES`."""
        costs = (self.parameters.get(name) for name in ("cost_matrix", "sample_costs"))
        if self.of_rewards or any(given is not None for given in costs):
            return "linear"
        criterion = self.parameters.get("criterion", "errors")
        return criterion if criterion in LOSSES else "errors"

    @classmethod
    def of(cls, solution: Solution, **facts: Any) -> Proof:
        """Return the proof of a solution; `facts` are the other parameters."""
        history = solution.history
        if len(history) > _MOST_HISTORY:
            # The first and the last moment stay, and an even choice between them.
            chosen = np.linspace(0, len(history) - 1, _MOST_HISTORY).round().astype(int)
            history = tuple(history[i] for i in chosen)
        return cls(solution.status, solution.cost, solution.lower_bound, history=history, **facts)


@dataclass(frozen=True)
class StoredModel:
    """A tree with everything needed to use and to report it.

    Parameters
    ----------
    tree : Tree
        The tree.
    target : str or None
        The name of the column it predicts.
    columns : tuple of InputColumn
        How the columns of table files are read; empty where the model was not made from a file.
    proof : Proof or None
        What is proven about the tree.
    facts : mapping
        Figures for the report, as plain JSON.
    source : str or None
        The table file the model was made from, as a path that starts at the folder of the model
        file. Only ``provetree fit --save`` stores it; nothing of the table itself is kept.

    Examples
    --------
    >>> from provetree import OptimalTreeClassifier
    >>> from provetree.export.model_file import StoredModel
    >>> clf = OptimalTreeClassifier(max_depth=1).fit([[1.0], [2.0]], ["no", "yes"])
    >>> model = StoredModel.of(clf, target="answer")
    >>> again = StoredModel.from_json(model.to_json())
    >>> again == model, again.predict([[5.0]])
    (True, array(['yes'], dtype='<U3'))
    """

    tree: Tree
    target: str | None = None
    columns: tuple[InputColumn, ...] = ()
    proof: Proof | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    source: str | None = None

    @classmethod
    def of(cls, estimator: Any, *, target: str | None = None, **facts: Any) -> StoredModel:
        """Return the model of a fitted classifier.

        Parameters
        ----------
        estimator : TreeClassifier
            A fitted classifier of this package.
        target : str, default=None
            The name of what it predicts.
        **facts : object
            Other parameters of the model: `columns`, `facts`, or parts of the proof (`seconds`).
        """
        tree: Tree = estimator.tree_
        proof = None
        seconds = facts.pop("seconds", getattr(estimator, "_search_seconds", None))
        if hasattr(estimator, "solution_"):
            proof = Proof.of(
                estimator.solution_,
                seconds=seconds,
                method=type(estimator).__name__,
                parameters=_plain_parameters(
                    estimator.get_params(deep=False)
                    | getattr(estimator, "_told_in_fit", {})
                    | getattr(estimator, "_chosen_parameters", {})
                ),
                n_rows=int(tree.n_samples[0]),
                n_columns=tree.n_features,
            )
        return cls(tree=tree, target=target, proof=proof, **facts)

    # -- use -------------------------------------------------------------------------------

    def encoder(self) -> TableEncoder:
        """Return the encoder that turns tables into the numbers that the tree reads."""
        from provetree.problem.table import TableEncoder

        encoder = TableEncoder()
        encoder.n_features = self.tree.n_features
        encoder.feature_names = self.tree.feature_names
        encoder.categories = [
            None if level is None else list(level) for level in self.tree.categories
        ]
        return encoder

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the label of each row of a table with the columns of training, in their order.

        A model of numbers gives numbers, a model of actions the name of an action.
        """
        found = self.tree.predict(self.encoder().transform(X))
        return found if self.tree.kind == "numbers" else np.asarray(self.labels[found])

    def predict_proba(self, X: Any) -> Float:
        """Predict the share of each label, in the order of :attr:`labels`."""
        return self.tree.predict_proba(self.encoder().transform(X))

    @property
    def labels(self) -> NDArray[Any]:
        """The labels, in the order of the class totals of the tree."""
        return np.asarray(self.tree.labels)

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns; x0, x1, ... where they have none."""
        return self.tree.column_names

    # -- files -----------------------------------------------------------------------------

    def to_json(self) -> str:
        """Return the model as strict JSON."""
        from provetree import __version__

        data: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "written_by": f"provetree {__version__}",
            "target": self.target,
            "columns": [_column_data(column) for column in self.columns],
            "tree": self.tree.to_dict(),
            "proof": None if self.proof is None else _proof_data(self.proof),
            "facts": dict(self.facts),
        }
        if self.source is not None:
            data["source"] = self.source
        return json.dumps(data, indent=1, allow_nan=False, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> StoredModel:
        """Read a model that :meth:`to_json` wrote; raise if it is damaged."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ModelFileError(f"A model file must be JSON: {error}.") from None
        if not isinstance(data, Mapping):
            raise ModelFileError(
                f"A model file must hold a JSON object. Got a {type(data).__name__} instead."
            )
        if data.get("format") != FORMAT:
            raise ModelFileError(
                f"A model file must have the format {FORMAT!r}. Got {data.get('format')!r} instead."
            )
        version = data.get("version")
        if not isinstance(version, int) or not 1 <= version <= VERSION:
            raise ModelFileError(
                f"This version of provetree reads model files up to version {VERSION}. "
                f"Got version {version!r}."
            )
        try:
            return cls._read(data)
        except ModelFileError:
            raise
        except KeyError as error:
            raise ModelFileError(f"The model file is damaged: it has no {error}.") from None
        except (TypeError, IndexError, AttributeError, OverflowError) as error:
            raise ModelFileError(
                f"The model file is damaged: {type(error).__name__}: {error}."
            ) from None
        except ValueError as error:
            raise ModelFileError(f"The model file is damaged: {error}") from None

    def save(self, path: str | Path) -> None:
        """Write the model to a file."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    @classmethod
    def _read(cls, data: Mapping[str, Any]) -> StoredModel:
        target, source, facts = data["target"], data.get("source"), data["facts"]
        _must(target is None or isinstance(target, str), "its 'target' is no text.")
        _must(source is None or isinstance(source, str), "its 'source' is no text.")
        columns = tuple(_read_column(column) for column in data["columns"])
        tree = Tree.from_dict(data["tree"])
        if columns:
            names = tuple(column.name for column in columns)
            _must(names == tree.feature_names, "its 'columns' are not those of its tree.")
            for column, level in zip(columns, tree.categories, strict=True):
                _must(
                    (column.kind == "category") == (level is not None),
                    f"column {column.name!r} is of kind {column.kind!r}, and its tree says "
                    "otherwise.",
                )
        proof = None if data["proof"] is None else _read_proof(data["proof"])
        _must(isinstance(facts, Mapping), "its 'facts' are no object.")
        return cls(tree, target, columns, proof, dict(facts), source)


def load_model(path: str | Path) -> StoredModel:
    """Read a model file.

    Parameters
    ----------
    path : str or pathlib.Path
        The file.

    Returns
    -------
    StoredModel

    Raises
    ------
    ModelFileError
        Where the file is damaged or no model file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from provetree import OptimalTreeClassifier, load_model
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.json"
    >>> OptimalTreeClassifier(max_depth=1).fit([[1.0], [2.0]], ["no", "yes"]).save(path)
    >>> load_model(path).predict([[0.0], [9.0]])
    array(['no', 'yes'], dtype='<U3')
    """
    return StoredModel.from_json(Path(path).read_bytes())


def model_schema() -> dict[str, Any]:
    """Return the JSON schema of model files.

    Examples
    --------
    >>> from provetree.export.model_file import model_schema
    >>> model_schema()["title"]
    'provetree model file'
    """
    text = files("provetree.export").joinpath("model.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def _plain_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as JSON can hold them; what it cannot becomes text."""

    def plain(value: Any) -> Any:
        if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
            value = value.item()
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, Mapping):
            return {str(key): plain(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)) or hasattr(value, "tolist"):
            return [plain(item) for item in np.asarray(value, dtype=object).ravel()]
        return str(value)

    return {name: plain(value) for name, value in parameters.items()}


def _column_data(column: InputColumn) -> dict[str, Any]:
    names = ("name", "kind", "comma", "sign", "order", "known")
    data = {name: getattr(column, name) for name in names}
    return {name: value for name, value in data.items() if value is not None}


def _read_column(data: Mapping[str, Any]) -> InputColumn:
    name, kind, known = data["name"], data["kind"], data.get("known")
    comma, sign, order = data.get("comma"), data.get("sign"), data.get("order")
    _must(isinstance(name, str), "a column's 'name' is no text.")
    _must(
        kind in _KINDS,
        f"the kind of column {name!r} must be one of {', '.join(map(repr, _KINDS))}. "
        f"Got {kind!r} instead.",
    )
    _must(comma in (None, "decimal", "thousands"), f"{comma!r} is no meaning of a comma.")
    _must(sign is None or sign in SIGNS, f"{sign!r} is no sign beside a number.")
    _must(order in (None, "dmy", "mdy"), f"{order!r} is no order of a date.")
    _must(
        known is None or all(isinstance(word, str) for word in known),
        "'known' categories must be text.",
    )
    words = None if known is None else tuple(known)
    return InputColumn(name, kind, comma, words, sign, order)


def _must(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ModelFileError(f"The model file is damaged: {otherwise}")


def _proof_data(proof: Proof) -> dict[str, Any]:
    data = {name: getattr(proof, name) for name in Proof.__dataclass_fields__}
    return data | {
        "cost": write_float(proof.cost),
        "lower_bound": write_float(proof.lower_bound),
        "parameters": dict(proof.parameters),
        "history": [
            [moment.seconds, write_float(moment.cost), write_float(moment.lower_bound)]
            for moment in proof.history
        ],
    }


def _read_proof(data: Mapping[str, Any]) -> Proof:
    status = data["status"]
    _must(
        status in USER_STATUSES,
        f"the status of the proof must be one of {', '.join(map(repr, USER_STATUSES))}. "
        f"Got {status!r} instead.",
    )
    cost, bound = _read_number(data["cost"]), _read_number(data["lower_bound"])
    _must(
        status != "optimal" or cost <= bound,
        f"an optimal tree must cost its lower bound. Got cost {cost} and bound {bound}.",
    )
    return Proof(
        status=status,
        cost=cost,
        lower_bound=bound,
        seconds=None if data["seconds"] is None else float(data["seconds"]),
        method=str(data["method"]),
        parameters={_NEW_NAMES.get(k, k): value for k, value in data["parameters"].items()},
        n_rows=data["n_rows"],
        n_columns=data["n_columns"],
        history=tuple(
            Progress(float(seconds), _read_number(at_cost), _read_number(at_bound))
            for seconds, at_cost, at_bound in data["history"]
        ),
    )


def _read_number(value: Any) -> float:
    number = isinstance(value, (int, float, str)) and not isinstance(value, bool)
    _must(number, f"{value!r} is no number.")
    return float(value) if isinstance(value, str) else value
