"""``provetree fit --certificate`` and ``provetree check``."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

from provetree.cli.errors import UserError

if TYPE_CHECKING:
    from provetree.cli.training import Trained
    from provetree.export.model_file import InputColumn

__all__ = ["certified", "checker", "prepare_flags"]


def checker() -> ModuleType:
    """Return the checker, which is a program of its own.

    Examples
    --------
    >>> from provetree.cli.certify import checker
    >>> checker().__name__
    'provetree_check'
    """
    try:
        import provetree_check
    except ImportError:
        raise UserError(
            "The checker is not installed: pip install ./provetree-check, from the sources."
        ) from None
    found: ModuleType = provetree_check
    return found


def prepare_flags(flags: dict[str, Any], parameters: dict[str, Any]) -> None:
    """Let a certificate be about the errors on all rows, or say why it cannot be."""
    if flags["test"] is None and not flags["holds_out"]:
        flags["test_share"] = 0.0
    if flags["test_share"] > 0 and flags["test"] is None:
        raise UserError("--certificate is about all rows of the table: leave --test-share out.")
    if parameters["criterion"] not in (None, "errors"):
        raise UserError(
            f"--certificate is about errors. Got --criterion {parameters['criterion']} instead."
        )
    if parameters.get("splits") not in (None, "columns", "pairs"):
        raise UserError(
            "--certificate is about questions on columns and on sums of two. "
            f"Got --splits {parameters['splits']} instead."
        )
    if parameters.get("category_splits") not in (None, "one"):
        raise UserError(
            "--certificate is about questions on one category at a time. "
            f"Got --category-splits {parameters['category_splits']} instead."
        )
    parameters["criterion"] = "errors"
    parameters["splits"] = parameters.get("splits") or "columns"
    flags["task"] = flags["task"] or "classification"
    if flags["task"] != "classification":
        raise UserError("--certificate is about errors, and the target is a number to predict.")


def certified(trained: Trained, parameters: dict[str, Any], flags: dict[str, Any]) -> Trained:
    """Write the certificate of a trained tree, and note it among the facts."""
    from provetree.estimators.optimal_tree import OptimalTreeClassifier

    for column in trained.data.learned.columns:
        _must_be_plain(column)
    fitted = trained.estimator
    given = {
        name: x for name, x in parameters.items() if name in OptimalTreeClassifier().get_params()
    }
    if hasattr(fitted, "n_leaves_"):  # the size was chosen
        leaves = int(fitted.n_leaves_)
        given |= {
            "max_depth": int(fitted.max_depth_) if leaves > 1 else 0,
            "max_leaf_nodes": leaves if leaves > 1 else None,
            "min_samples_leaf": fitted.min_samples_leaf_,
            "class_weight": fitted.class_weight_,
        }
    else:
        given["class_weight"] = fitted.class_weight
    again = OptimalTreeClassifier(**given)
    data = trained.data
    try:
        again.certify(data.train, data.y_train, flags["certificate"], target=flags["target"])
    except ValueError as error:
        raise UserError(str(error)) from None
    proof = trained.model.proof
    if proof is not None and proof.status == "optimal" and again.objective_ != proof.cost:
        raise UserError(
            f"The certificate is about a tree of cost {again.objective_}, and the tree that is "
            f"reported costs {proof.cost}: please report this."
        )
    found = again.certificate_
    facts = {
        **trained.model.facts,
        "certificate": {
            "file": found.path,
            "sha256": found.digest,
            "bound": found.bound,
            "bytes": found.n_bytes,
            "table": flags["data"],
        },
    }
    return replace(trained, model=replace(trained.model, facts=facts))


def _must_be_plain(column: InputColumn) -> None:
    """Refuse a column that the checkers cannot read."""
    how = None
    if column.kind == "date":
        how = "dates"
    elif column.comma is not None or column.sign is not None:
        how = "numbers with commas or signs"
    elif column.known is not None:
        how = "categories of which rare ones are taken together"
    if how is not None:
        raise UserError(
            f"--certificate needs plain numbers and categories, and column '{column.name}' holds "
            f"{how}: leave it out by --ignore."
        )
