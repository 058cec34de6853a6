"""Flags made from the tables of options, so that the command line and the estimators agree."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import click

from provetree.cli.errors import UserError
from provetree.options import TREE_OPTIONS, Option

__all__ = ["NONE_WORDS", "TASKS", "task_of_criterion", "tree_flags", "tree_parameters"]

Command = TypeVar("Command", bound=Callable[..., Any])

#: Parameter of the estimators to the flag of the command line.
_FLAGS = {
    "max_depth": "--depth",
    "max_leaf_nodes": "--leaves",
    "min_samples_leaf": "--min-leaf",
    "alpha": "--alpha",
    "class_weight": "--class-weight",
    "time_limit": "--time-limit",
    "n_jobs": "--jobs",
    "max_memory": "--max-memory",
}
#: Where the command line has another default: nobody waits for ever at a terminal.
_DEFAULTS = {"time_limit": 30.0}
_HELP = {
    "time_limit": "Seconds for the whole command, reading included; 'none' for no limit.",
    "class_weight": "'balanced' gives every class the same total weight.",
    "n_jobs": "The number of threads; -1 is one for each core.  [default: 1]",
    "max_memory": "Memory for the search, such as 4GB; the optimum does not depend on it.",
}
NONE_WORDS = ("none", "no", "unlimited")
#: The criteria of each task; the first is what is taken where none is named.
TASKS = {
    "classification": ("errors", "gini", "entropy", "pessimistic"),
    "regression": ("squared_error", "absolute_error"),
}


def _reader(option: Option) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Return what reads the words of a flag: a number, a word, or none, as the option allows."""
    # A mapping cannot be written as a flag.
    kinds = tuple(kind for kind in option.allowed if kind.type_name != "dict")
    writable = replace(option, allowed=kinds)

    def read(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        meant = _meant(value)
        if any(kind.holds(meant) for kind in kinds):
            return meant
        raise click.BadParameter(f"must be {writable.sentence}. Got {value!r} instead.")

    return read


def _meant(text: str) -> Any:
    if text.lower() in NONE_WORDS:
        return None
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if not (isinstance(number, float) and math.isnan(number)):
            return number
    return text


def tree_flags(command: Command) -> Command:
    """Add the flags of a tree's limits to a command.

    Examples
    --------
    >>> import click
    >>> from provetree.cli.options import tree_flags
    >>> @click.command()
    ... @tree_flags
    ... def grow(**flags):
    ...     click.echo(flags["max_depth"])
    >>> grow.main(["--depth", "2"], standalone_mode=False)
    2
    """
    command = click.option(
        "--criterion",
        type=click.Choice([name for criteria in TASKS.values() for name in criteria]),
        help="What the tree minimises.  [default: errors, or squared_error for a number]",
    )(command)
    command = click.option(
        "--task",
        type=click.Choice(list(TASKS)),
        help="Whether the target is a class or a number.  [default: what it looks like]",
    )(command)
    for option in reversed(TREE_OPTIONS):
        if option.name in _FLAGS:
            default = _DEFAULTS.get(option.name, option.default)
            command = click.option(
                _FLAGS[option.name],
                option.name,
                type=str,
                callback=_reader(option),
                default=None if default is None else str(default),
                show_default=default is not None,
                metavar="SECONDS" if option.name == "time_limit" else "VALUE",
                help=_HELP.get(option.name, _first_sentence(option.help)),
            )(command)
    return command


def tree_parameters(flags: dict[str, Any]) -> dict[str, Any]:
    """Return the flags that are parameters of trees, and take them out of `flags`.

    Examples
    --------
    >>> from provetree.cli.options import tree_parameters
    >>> flags = {"max_depth": 2, "target": "y"}
    >>> tree_parameters(flags), flags
    ({'max_depth': 2}, {'target': 'y'})
    """
    return {name: flags.pop(name) for name in _FLAGS if name in flags}


def task_of_criterion(task: str | None, criterion: str | None) -> str | None:
    """Return the task that both flags mean together, None where neither is given.

    Examples
    --------
    >>> from provetree.cli.options import task_of_criterion
    >>> task_of_criterion(None, "absolute_error")
    'regression'
    """
    if criterion is None:
        return task
    meant = next(name for name, criteria in TASKS.items() if criterion in criteria)
    if task not in (None, meant):
        raise UserError(
            f"--criterion must be one of {', '.join(TASKS[str(task)])} for --task {task}. "
            f"Got {criterion}."
        )
    return meant


def _first_sentence(text: str) -> str:
    sentence, stop, _ = text.replace("``", "").partition(". ")
    return sentence + (stop.strip() or "")
