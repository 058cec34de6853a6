"""Rules for trees on the command line: a file of them, and columns that are forbidden."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from provetree.cli.errors import UserError

__all__ = ["rule_parameters"]


def rule_parameters(flags: dict[str, Any], *, tunes: bool) -> dict[str, Any]:
    """Return the parameters that are rules, from ``--rules`` and ``--forbid``.

    Examples
    --------
    >>> from provetree.cli.rules import rule_parameters
    >>> rule_parameters({"rules": None, "forbid": ("zip",)}, tunes=False)
    {'forbidden_columns': ['zip']}
    """
    found: dict[str, Any] = {}
    if flags.get("rules"):
        found = _read(flags["rules"])
    if flags.get("forbid"):
        if isinstance(found.get("forbidden_columns"), dict):
            raise UserError("--forbid and paths in 'forbidden_columns' of --rules exclude another.")
        found["forbidden_columns"] = [*found.get("forbidden_columns", ()), *flags["forbid"]]
    if found and tunes:
        raise UserError("--rules and --forbid are for one search: they need --no-tune.")
    return found


def _read(path: str) -> dict[str, Any]:
    from provetree.problem.rules import RULE_NAMES

    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"--rules must be a JSON file: {error}.") from None
    if not isinstance(found, dict) or set(found) - set(RULE_NAMES):
        raise UserError(
            f"--rules must hold an object of {', '.join(RULE_NAMES)}. "
            f"Got {str(found)[:80]} instead."
        )
    return found
