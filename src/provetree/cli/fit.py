"""``provetree fit``: from a table file to a tree with a proof, a model file and a report."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from provetree.cli.certify import certified, prepare_flags
from provetree.cli.errors import UserError
from provetree.cli.extras import kept_for_extras, with_extras
from provetree.cli.folder import fit_folder, is_folder
from provetree.cli.near_optimal import check_flags, kept_for_counting, with_near_optimal
from provetree.cli.operating import Wish, point_sentences
from provetree.cli.options import task_of_criterion, tree_parameters, tuned, untuned
from provetree.cli.rules import rule_parameters
from provetree.cli.screen import FIGURES, Screen, figures_of
from provetree.cli.tables import read_table, source_path, write_file
from provetree.cli.training import Settings, Trained, prepare, train
from provetree.export.words import (
    certificate_sentence,
    cluster_sentence,
    counted,
    proof_sentence,
)
from provetree.report.near_optimal_section import near_optimal_sentences
from provetree.report.tuning_section import test_words

if TYPE_CHECKING:
    from provetree.selection.operating_points import OperatingCurve, OperatingPoint

__all__ = ["fit"]

#: A class of at least so many training rows, of which the tree finds no larger share, is missed.
_FEW_ROWS, _HARDLY_FOUND = 10, 0.25


def fit(flags: dict[str, Any]) -> bool:
    """Run ``provetree fit`` with its flags, and tell whether the tree is proven optimal."""
    begun = time.monotonic()
    started = begun - _age()  # starting up counts, too
    parameters = tree_parameters(flags)
    parameters["criterion"] = flags["criterion_given"] = flags.pop("criterion")
    check_flags(flags, parameters)
    flags["task"] = task_of_criterion(flags["task"], parameters["criterion"])
    screen = Screen(quiet=flags["quiet"] or flags["as_json"])
    for name in ("save", "report", "certificate"):
        _must_be_writable(flags[name], f"--{name}")
    if is_folder(flags["data"]):
        with _on_cluster(flags["cluster"], parameters):
            parameters.pop("executor", None)  # its parts find the client themselves
            return fit_folder(flags, parameters, screen)
    if flags["certificate"]:
        prepare_flags(flags, parameters)
    settings = Settings.of(flags)
    wish = Wish.of(flags)
    tunes = _tunes(flags, wish)
    parameters = tuned(parameters, flags["scoring"]) if tunes else untuned(parameters)
    rules = rule_parameters(flags, tunes=tunes or wish is not None)
    if rules:
        parameters |= rules
        flags["extras"] = False  # they know no rules
        if flags["certificate"]:
            raise UserError("--certificate is about all trees, and knows no rules.")
    with _on_cluster(flags["cluster"], parameters):
        return _fit(flags, parameters, settings, wish, screen, started, begun, tunes=tunes)


@contextmanager
def _on_cluster(where: str | None, parameters: dict[str, Any]) -> Iterator[None]:
    """Have the search run on a cluster, where one is named."""
    if where is None:
        yield
        return
    from provetree.cluster.client import connected

    with connected(where, parameters["n_jobs"]):
        parameters["executor"] = "dask"
        yield


def _fit(
    flags: dict[str, Any],
    parameters: dict[str, Any],
    settings: Settings,
    wish: Wish | None,
    screen: Screen,
    started: float,
    begun: float,
    *,
    tunes: bool,
) -> bool:
    table = read_table(flags["data"])
    test = None if flags["test"] is None else read_table(flags["test"])
    data = prepare(table, settings, test)
    del table, test
    screen.note(
        f"{flags['data']}: {counted(data.train.height, 'row')} to train on, "
        f"{data.test.height} to test on, "
        f"{counted(len(data.learned.columns), 'column')} to learn from"
    )
    if data.n_without_label:
        rows = counted(data.n_without_label, "row")
        screen.note(f"without '{settings.target}', and so left out: {rows}")
    if data.task_note is not None:
        screen.note(data.task_note)
    screen.columns(data.learned.notes, settings.target)
    with screen.progress() as (show, stage):
        trained = train(
            data,
            parameters,
            settings.target,
            started=started,
            begun=begun,
            on_progress=show,
            on_stage=stage,
            wish=wish,
            tunes=tunes,
            positive=flags["positive"],
            kept=kept_for_extras(flags, parameters["time_limit"], tunes=tunes)
            + kept_for_counting(flags, parameters["time_limit"]),
        )
        if flags["certificate"]:
            stage("writing the certificate")
            trained = certified(trained, parameters, flags)
        trained = with_near_optimal(trained, parameters, flags, started, stage)
        if flags["report"]:
            trained = with_extras(trained, parameters, flags["extras"], started, stage)
    model = trained.model
    if flags["save"]:
        source = source_path(flags["data"], flags["save"])
        replace(model, source=source).save(flags["save"])
    if flags["report"]:
        from provetree.report.page import report_html

        write_file(report_html(model).encode(), flags["report"])
    if flags["as_json"]:
        click.echo(json.dumps(_as_data(trained, flags), ensure_ascii=False))
    else:
        _print(screen, trained, flags)
    assert model.proof is not None
    return model.proof.status == "optimal"


def _tunes(flags: dict[str, Any], wish: Wish | None) -> bool:
    """Tell whether settings are chosen; an operating point is chosen by itself."""
    if flags["cluster"] is not None:
        if flags["asks_to_tune"] or wish is not None or flags["certificate"]:
            what = "--tune" if flags["asks_to_tune"] else wish.flag if wish else "--certificate"
            raise UserError(f"--cluster is for one search: it does not go with {what}.")
        flags["tune"] = False
    if flags["scoring"] is not None and wish is not None:
        raise UserError(f"--scoring and {wish.flag} exclude each other.")
    if flags["scoring"] is not None and not flags["tune"]:
        raise UserError("--scoring is what tuning looks for: leave --no-tune out.")
    return bool(flags["tune"]) and wish is None


def _print(screen: Screen, trained: Trained, flags: dict[str, Any]) -> None:
    model, facts = trained.model, trained.model.facts
    assert model.proof is not None
    screen.out.print(model.tree.to_text(legend=False), markup=False)
    screen.out.print()
    screen.out.print(proof_sentence(model.proof), style="bold", markup=False)
    if "cluster" in facts:
        screen.out.print(cluster_sentence(facts["cluster"]), markup=False)
    if "tuning" in facts:
        reason = facts["tuning"]["reason"] + test_words(facts["tuning"])
        screen.out.print(f"Chosen by cross-validation: {reason}", markup=False)
        for note in facts["tuning"]["notes"]:
            screen.out.print(note, markup=False)
    if trained.chosen is not None:
        for words in point_sentences(*trained.chosen, facts, model.labels.tolist()):
            screen.out.print(words, markup=False)
    rows = []
    for name, part, leaves, seconds in (
        ("provetree", facts, model.tree.n_leaves, trained.seconds),
        ("CART", facts["cart"], facts["cart"]["leaves"], facts["cart"]["seconds"]),
    ):
        figures = figures_of(trained.data.task, part["train"], part.get("test"), leaves, seconds)
        rows.append([name, *figures])
    screen.out.print()
    screen.table(["tree", *FIGURES[trained.data.task]], rows)
    if trained.data.task == "classification" and flags["scoring"] is None and not trained.chosen:
        for words in _missed_class(facts["train"]["confusion"], model.labels.tolist()):
            screen.out.print(words, markup=False)
    if "near_optimal" in facts:
        for words in near_optimal_sentences(facts["near_optimal"]):
            screen.out.print(words, markup=False)
    for flag, what in (("save", "model"), ("report", "report")):
        if flags[flag]:
            screen.note(f"The {what} is in {flags[flag]}.")
    if flags["certificate"]:
        screen.out.print(certificate_sentence(facts["certificate"]), markup=False)


def _missed_class(confusion: list[list[int]], labels: list[Any]) -> list[str]:
    """Say that hardly any row of a rare class is found, and which flags ask for it."""
    found, rows, label = min(
        (line[code] / max(sum(line), 1), sum(line), labels[code])
        for code, line in enumerate(confusion)
    )
    if found >= _HARDLY_FOUND or rows < _FEW_ROWS:
        return []
    words = f"The tree finds {100 * found:.0f} % of the {counted(rows, 'row')} of '{label}': all "
    words += "errors count alike. --scoring balanced_accuracy weighs classes alike"
    if len(labels) == 2:
        words += f"; --recall 0.8 --positive {label} asks for a share of them"
    return [words + "."]


def _as_data(trained: Trained, flags: dict[str, Any]) -> dict[str, Any]:
    model, facts = trained.model, trained.model.facts
    assert model.proof is not None
    proof = model.proof
    chosen = {} if trained.chosen is None else {"operating_point": _point_data(*trained.chosen)}
    return {
        **chosen,
        "target": model.target,
        "task": trained.data.task,
        "status": proof.status,
        "cost": proof.cost,
        "lower_bound": proof.lower_bound,
        "gap": proof.gap,
        "seconds": round(trained.seconds, 3),
        "depth": model.tree.depth,
        "leaves": model.tree.n_leaves,
        "sentence": proof_sentence(proof),
        "cluster": facts.get("cluster"),
        "tuning": facts.get("tuning"),
        "near_optimal": facts.get("near_optimal"),
        "train": facts["train"],
        "test": facts.get("test"),
        "cart": facts["cart"],
        "columns": [list(note) for note in trained.data.learned.notes],
        "tree": model.tree.to_dict(),
        "save": flags["save"],
        "report": flags["report"],
    }


def _point_data(curve: OperatingCurve, point: OperatingPoint) -> dict[str, Any]:
    """Return the chosen point of a curve as plain data."""
    from provetree.report.class_sections import operating_facts

    facts = operating_facts(curve, point.tree)
    chosen = next(each for each in facts["points"] if each["here"])
    return {**chosen, "positive": facts["positive"], "complete": facts["complete"]}


def _age() -> float:
    """Return the seconds since this process began, as far as the system tells.

    Where another program calls the command, its own time is not that of the command.
    """
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    ours = spec is not None and spec.name.partition(".")[0] == "provetree"
    if not ours and Path(sys.argv[0]).stem != "provetree":
        return 0.0
    try:
        # The 22nd word: ticks from the start of the system. A name in brackets may hold spaces.
        words = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        began = int(words[19]) / os.sysconf("SC_CLK_TCK")
        return max(time.clock_gettime(time.CLOCK_BOOTTIME) - began, time.process_time())
    except (OSError, ValueError, AttributeError, IndexError):
        return time.process_time()


def _must_be_writable(name: str | None, flag: str) -> None:
    """Say before the search, not after it, that a file cannot be written."""
    if name is None:
        return
    path = Path(name)
    if path.is_dir():
        raise UserError(f"{flag} needs a file name. '{name}' is a folder.")
    if not path.absolute().parent.is_dir():
        raise UserError(f"{flag} needs a file in a folder that exists. '{path.parent}' does not.")
