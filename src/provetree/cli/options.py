"""Flags made from the tables of options, so that the command line and the estimators agree."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import click

from provetree.cli.errors import UserError
from provetree.options import TREE_OPTIONS, Option

__all__ = [
    "NONE_WORDS",
    "TASKS",
    "task_of_criterion",
    "tree_flags",
    "tree_parameters",
    "tuned",
    "tuned_tree_flags",
    "untuned",
]

Command = TypeVar("Command", bound=Callable[..., Any])

#: Parameter of the estimators to the flag of the command line.
_FLAGS = {
    "max_depth": "--depth",
    "max_leaf_nodes": "--leaves",
    "min_samples_leaf": "--min-leaf",
    "alpha": "--alpha",
    "splits": "--splits",
    "category_splits": "--category-splits",
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
    "splits": "'columns', 'pairs' (also sums of two), or 'ratios' (also ratios; with --no-tune).",
    "category_splits": "'one', or 'groups': several categories may go to one side together.",
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


#: What tuning chooses where no flag says it.
_CHOSEN = ("max_depth", "max_leaf_nodes", "min_samples_leaf", "class_weight", "criterion", "splits")
#: What goes with one search only.
_OF_ONE_SEARCH = ("alpha", "max_memory", "category_splits")


def tuned_tree_flags(command: Command) -> Command:
    """Add the flags of a tree's limits to a command that chooses those which are not given."""
    return _add_flags(command, chosen=True)


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
    return _add_flags(command, chosen=False)


def _add_flags(command: Command, *, chosen: bool) -> Command:
    default_words = "errors, or squared_error for a number"
    command = click.option(
        "--criterion",
        type=click.Choice([name for criteria in TASKS.values() for name in criteria]),
        help=f"What the tree minimises.  [default: {'chosen; ' * chosen}{default_words}]",
    )(command)
    command = click.option(
        "--task",
        type=click.Choice(list(TASKS)),
        help="Whether the target is a class or a number.  [default: what it looks like]",
    )(command)
    for option in reversed(TREE_OPTIONS):
        if option.name in _FLAGS:
            default = _DEFAULTS.get(option.name, option.default)
            words = _HELP.get(option.name, _first_sentence(option.help))
            if chosen and option.name in (*_CHOSEN, *_OF_ONE_SEARCH) and default is not None:
                words += f"  [default: {'chosen; ' * (option.name in _CHOSEN)}"
                words += f"{default} with --no-tune]"
                default = None
            command = click.option(
                _FLAGS[option.name],
                option.name,
                type=str,
                callback=_reader(option),
                default=None if default is None else str(default),
                show_default=default is not None,
                metavar="SECONDS" if option.name == "time_limit" else "VALUE",
                help=words,
            )(command)
    return command


def untuned(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of one search: what no flag says is as in the estimators.

    Examples
    --------
    >>> from provetree.cli.options import untuned
    >>> untuned({"max_depth": None, "alpha": 0.1})
    {'max_depth': 3, 'alpha': 0.1}
    """
    usual = {option.name: option.default for option in TREE_OPTIONS if option.name != "criterion"}
    return {
        name: usual.get(name) if value is None and name != "time_limit" else value
        for name, value in parameters.items()
    }


def tuned(parameters: dict[str, Any], scoring: str | None) -> dict[str, Any]:
    """Return the parameters of an estimator that tunes: those that flags say.

    Examples
    --------
    >>> from provetree.cli.options import tuned
    >>> tuned({"max_depth": None, "min_samples_leaf": 5, "time_limit": None}, "f1")
    {'min_samples_leaf': 5, 'time_limit': None, 'scoring': 'f1'}
    """
    for name in _OF_ONE_SEARCH:
        if parameters.get(name) is not None:
            flag = _FLAGS[name]
            raise UserError(f"{flag} is for one search: it needs --no-tune.")
    given = {name: x for name, x in parameters.items() if x is not None or name == "time_limit"}
    return given if scoring is None else {**given, "scoring": scoring}


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
