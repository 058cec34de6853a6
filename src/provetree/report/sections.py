"""The parts of the report as HTML: each is shown where the model file holds its figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from provetree.export._colours import class_colour
from provetree.export.model_file import Proof, StoredModel
from provetree.export.svg import tree_svg
from provetree.export.words import (
    certificate_sentence,
    cluster_sentence,
    cost_number,
    limit_words,
    proof_sentence,
    rate_words,
    score_words,
    short_number,
)
from provetree.report.action_sections import action_leaves, action_quality
from provetree.report.charts import Line, line_chart, sparkline
from provetree.report.class_sections import calibration_part, operating_part
from provetree.report.markup import table
from provetree.report.near_optimal_section import near_optimal_part
from provetree.report.number_sections import number_quality, residuals, saved_sentences
from provetree.report.sentences import cart_words, rules
from provetree.report.tuning_section import tuning_part
from provetree.tree.values import Actions

__all__ = ["Section", "sections"]


@dataclass(frozen=True)
class Section:
    """One part of the report."""

    anchor: str
    short: str
    title: str
    body: str


def sections(model: StoredModel) -> list[Section]:
    """Return the parts that a model has figures for."""
    return [part for make in _PARTS for part in make(model)]


def _tree(model: StoredModel) -> Iterator[Section]:
    tools = "".join(
        f'<button type="button" id="{name}">{words}</button>'
        for name, words in (
            ("zoom-in", "Larger"),
            ("zoom-out", "Smaller"),
            ("zoom-fit", "Fit"),
            ("open-all", "Open all branches"),
            ("close-all", "Close all branches"),
        )
    )
    yield Section(
        "tree",
        "Tree",
        "The tree",
        f"{_classes(model)}"
        '<p class="soft hint">"Yes" goes left. Click a box to see the way to it, the small circle '
        "to close a branch; point at a box for its rows. With the keyboard: arrow keys move, Enter "
        "shows the way, + and - open and close.</p>"
        f'<div class="tools">{tools}</div>'
        f'<div class="stage" id="stage">{tree_svg(model.tree, interactive=True)}</div>'
        '<div id="picked" role="status"></div>'
        '<noscript><p class="no-script">The tree cannot be opened and closed because scripts are '
        "switched off; everything is shown.</p></noscript>",
    )


def _questionnaire(model: StoredModel) -> Iterator[Section]:
    yield Section(
        "questionnaire",
        "Questionnaire",
        "One question at a time",
        "<p>Answer the questions of the tree for one case; only those are asked that matter.</p>"
        '<ol id="answers"></ol><div id="question-area" aria-live="polite"></div>'
        '<p class="tools"><button type="button" id="back">Back</button>'
        '<button type="button" id="restart">Start again</button></p>'
        '<noscript><p class="no-script">The questionnaire needs scripts, which are switched off; '
        "the rules below say the same.</p></noscript>",
    )


def _rules(model: StoredModel) -> Iterator[Section]:
    items = "".join(f"<li>{escape(rule.sentence)}</li>" for rule in rules(model.tree))
    yield Section(
        "rules",
        "Rules",
        "The tree as rules",
        f"<p>Exactly one of these applies to any case.</p><ol class='rules'>{items}</ol>",
    )


def _quality(model: StoredModel) -> Iterator[Section]:
    facts = model.facts
    if "train" not in facts and "test" not in facts:
        return
    if model.tree.kind != "classes":
        numbers = model.tree.kind == "numbers"
        body = number_quality(model) if numbers else action_quality(model)
        yield Section("quality", "How good", "How good it is", body)
        return
    parts = []
    if "cart" in facts:
        rows = []
        for name, part, leaves in (
            ("This tree", facts, model.tree.n_leaves),
            ("CART (scikit-learn)", facts["cart"], facts["cart"]["leaves"]),
        ):
            tested = part.get("test")
            rows.append(
                [
                    name,
                    str(part["train"]["errors"]),
                    rate_words(part["train"]["accuracy"]),
                    *([rate_words(tested["accuracy"])] if facts.get("test") and tested else []),
                    str(leaves),
                ]
            )
        header = ["tree", "training errors", "training accuracy"]
        header += ["test accuracy"] if facts.get("test") else []
        parts.append(
            f"<p>{cart_words(model.tree)}</p>" + table([*header, "leaves"], rows, "Beside CART")
        )
        parts.append(_saved(facts))
    for name, words in (("test", "rows the tree has not seen"), ("train", "training rows")):
        part = facts.get(name)
        if part:
            parts.append(
                f"<h3>On the {part['rows']} {words}: {rate_words(part['accuracy'])} right, "
                f"{part['errors']} wrong</h3>"
            )
            parts.append(_confusion(part["confusion"], model))
    yield Section("quality", "How good", "How good it is", "".join(parts))


def _leaves(model: StoredModel) -> Iterator[Section]:
    """Yield the leaves with their numbers or actions; class shares stand in the rules."""
    if model.tree.kind == "numbers":
        items = "".join(f"<li>{escape(words)}</li>" for words in saved_sentences(model.tree))
        yield Section("residuals", "Leaves", "The leaves and their residuals", residuals(model))
        if items:
            body = f"<ul>{items}</ul>"
            yield Section("splits", "Questions", "What each question saves", body)
    elif model.tree.kind == "actions":
        yield Section("leaves", "Leaves", "The leaves and their actions", action_leaves(model))


def _saved(facts: Mapping[str, Any]) -> str:
    ours, theirs = facts["train"]["errors"], facts["cart"]["train"]["errors"]
    if theirs > ours:
        return (
            f"<p>The optimal tree makes {theirs - ours} fewer training errors than CART "
            f"({(theirs - ours) / theirs:.0%} fewer).</p>"
        )
    if theirs == ours:
        return "<p>Here CART makes as few training errors as the optimal tree.</p>"
    return (
        f"<p>CART counts {ours - theirs} training errors fewer: it minimises something else than "
        "the cost that is proven here (weights or penalties), or the search had too little "
        "time.</p>"
    )


def _confusion(matrix: Sequence[Sequence[int]], model: StoredModel) -> str:
    labels = [str(label) for label in model.labels.tolist()]
    head = "".join(f'<th scope="col">predicted {escape(label)}</th>' for label in labels)
    rows = []
    for label, counts in zip(labels, matrix, strict=True):
        total = sum(counts) or 1
        cells = "".join(
            f'<td class="cell" style="background:rgba(var(--heat),{0.55 * count / total:.3f})">'
            f"{count}<br><small>{100 * count / total:.0f} %</small></td>"
            for count in counts
        )
        rows.append(f'<tr><th scope="row">is {escape(label)}</th>{cells}</tr>')
    return (
        '<div class="scroll"><table class="confusion"><caption>Rows by what they are and what is '
        f"predicted; shares are of each line</caption><thead><tr><td></td>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _operating_points(model: StoredModel) -> Iterator[Section]:
    if model.facts.get("operating_points"):
        body = operating_part(model.facts["operating_points"])
        yield Section("operating-points", "Costs", "Other costs of errors", body)


def _calibration(model: StoredModel) -> Iterator[Section]:
    if model.facts.get("calibration"):
        body = calibration_part(model.facts["calibration"])
        yield Section("calibration", "Probabilities", "What its probabilities are worth", body)


def _proof(model: StoredModel) -> Iterator[Section]:
    proof = model.proof
    if proof is None:
        return
    rewarded = _is_rewarded(model)
    cost, bound = (-x if rewarded else x for x in (proof.cost, proof.lower_bound))
    tiles = [
        (cost_number(cost), "reward of this tree" if rewarded else "cost of this tree"),
        (cost_number(bound), "no tree brings more" if rewarded else "no tree costs less"),
        (f"{100 * proof.gap:.1f} %", "gap: what is not proven"),
    ]
    if proof.seconds is not None:
        tiles.append((f"{proof.seconds:.2f} s", "time to find and prove"))
    shown = "".join(
        f'<div class="tile"><b>{escape(value)}</b><span>{words}</span></div>'
        for value, words in tiles
    )
    body = f"<p>{escape(proof_sentence(proof))}</p><div class='tiles'>{shown}</div>"
    body += f"<p>{escape(_searched(proof))}</p>"
    if "certificate" in model.facts:
        body += f"<p>{escape(certificate_sentence(model.facts['certificate']))}</p>"
    if "cluster" in model.facts:
        body += f"<p>{escape(cluster_sentence(model.facts['cluster']))}</p>"
    body += _history(proof, rewarded)
    yield Section("proof", "Proof", "What is proven", body)


def _is_rewarded(model: StoredModel) -> bool:
    """Tell whether costs are rewards of the other sign."""
    return isinstance(model.tree.values, Actions) and model.tree.values.rewards


def _searched(proof: Proof) -> str:
    where = ""
    if proof.n_rows is not None and proof.n_columns is not None:
        where = f" on {proof.n_rows} rows and {proof.n_columns} columns"
    if proof.status in ("candidate_optimal", "feasible"):
        return (
            f"Searched were trees {limit_words(proof)}{where} whose splits are chosen from a list "
            "of candidates. The bound holds for all trees: the best possible one lies between the "
            "two numbers."
        )
    grouped = proof.parameters.get("category_splits") == "groups"
    categories = (
        "every category against the rest, every group of up to ten categories (of more, the groups "
        "along the order of their mean outcome)"
        if grouped
        else "every category against the rest"
    )
    rules = proof.parameters.get("rules")
    if rules:
        where += f" that keep these rules ({' '.join(map(str, rules))})"
    words = (
        f"Searched were all trees {limit_words(proof)}{where}: every threshold of every number, "
        f"{categories}, and both sides for missing values."
    )
    if proof.status == "optimal" and proof.loss != "errors":
        return words + (
            " The search ended because nothing better is possible. Costs of this kind are no whole "
            "numbers: no tree is better by more than one part in a billion (1e-9) of what a tree "
            "without questions costs."
        )
    if proof.status == "optimal":
        return words + " The search ended because nothing better is possible."
    return (
        words
        + " The search was ended before it was complete. The bound is valid all the same: the "
        "best possible tree lies between the two numbers."
    )


def _history(proof: Proof, rewarded: bool) -> str:
    sign, name = (-1, "reward") if rewarded else (1, "cost")
    moments = proof.history
    if len(moments) < 2 or (proof.status == "optimal" and moments[-1].seconds < 0.05):
        return ""
    # The core counts from a cost without meaning before its first tree.
    moments = tuple(m for m in moments if m.cost < 2**59) or moments[-1:]
    xs = [moment.seconds for moment in moments]
    end = max(xs[-1], proof.seconds or 0.0)
    xs.append(end)
    costs = [sign * cost for cost in (*(m.cost for m in moments), proof.cost)]
    bounds = [sign * x for x in (*(m.lower_bound for m in moments), proof.lower_bound)]
    return "<h3>How the two numbers met</h3>" + line_chart(
        [
            Line(f"best {name} so far", xs, costs, "two", steps=True, points=False),
            Line("proven bound", xs, bounds, "one", steps=True, points=False),
        ],
        x_label="seconds",
        y_label=name,
        summary=f"The {name} came to {cost_number(costs[-1])}, the bound to "
        f"{cost_number(bounds[-1])}.",
        from_zero=min(*costs, *bounds) >= 0,
    )


_IMPORTANCE = {
    "classes": "Importance is the share of the decrease of Gini impurity: a description of the "
    "tree, not what it was chosen by",
    "numbers": "Importance is the share of what all splits take off the errors",
    "actions": "Importance is the share of what all splits gain",
}


def _columns(model: StoredModel) -> Iterator[Section]:
    columns = model.facts.get("columns")
    if not columns:
        return
    used = sorted((c for c in columns if c["splits"]), key=lambda c: -c["importance"])
    rows = [
        [
            escape(column["name"]),
            str(column["splits"]),
            f'<span class="importance" style="width:{120 * column["importance"]:.0f}px"></span> '
            f"{100 * column['importance']:.1f} %",
        ]
        for column in used
    ]
    unused = [column["name"] for column in columns if not column["splits"]]
    body = table(
        ["column", "splits", "importance"],
        rows,
        _IMPORTANCE[model.tree.kind],
        words=[2],
    )
    if unused:
        body += f"<p class='soft'>Not used: {escape(', '.join(unused))}.</p>"
    yield Section("columns", "Columns", "Which columns it uses", body)


def _tuning(model: StoredModel) -> Iterator[Section]:
    facts = model.facts.get("tuning")
    if facts:
        yield Section("tuning", "Choice", "What was chosen, and why", tuning_part(facts))


def _frontier(model: StoredModel) -> Iterator[Section]:
    frontier = model.facts.get("frontier")
    if not frontier:
        return
    words = (
        "For every number of leaves, the best training tree there is, and how well such trees did "
        "on rows that were held out. "
    )
    chosen, accuracy = frontier.get("chosen"), _is_accuracy(frontier)
    if chosen is not None:
        size = "best size"
        if _rule(frontier) == "one_standard_error":
            size = "smallest size within one standard error of the best"
        words += (
            f"The {size} has {chosen} "
            f"lea{'f' if chosen == 1 else 'ves'}; this tree has {model.tree.n_leaves}."
        )
    body = f"<p>{escape(words)}</p>{_frontier_chart(frontier)}{_frontier_table(frontier)}"
    title = "Accuracy" if accuracy else frontier["score"]
    yield Section("frontier", "Size", f"{title} against size", body)


def _is_accuracy(frontier: Mapping[str, Any]) -> bool:
    # Files of older versions do not name the score.
    return bool(frontier.get("score", "accuracy") == "accuracy")


def _rule(frontier: Mapping[str, Any]) -> str:
    """Return how the size was chosen; older files leave it to the score."""
    older = "one_standard_error" if _is_accuracy(frontier) else "best"
    return str(frontier.get("rule", older))


def _frontier_chart(frontier: Mapping[str, Any]) -> str:
    points = frontier["points"]
    trained = [point for point in points if point["train"] is not None]
    lines = [
        Line(
            "training (hollow: not proven best)",
            [point["leaves"] for point in trained],
            [point["train"] for point in trained],
            "one",
            hollow=[point["status"] != "optimal" for point in trained],
        )
    ]
    judged = [point for point in points if point["held_out"] is not None]
    if judged:
        lines.append(
            Line(
                f"held out, {frontier['folds']} folds, with standard error",
                [point["leaves"] for point in judged],
                [point["held_out"] for point in judged],
                "two",
                spread=[point["standard_error"] or 0.0 for point in judged],
            )
        )
    return line_chart(
        lines,
        x_label="number of leaves",
        y_label=frontier.get("score", "accuracy"),
        summary="The score against the number of leaves; the table below holds the numbers.",
        percent=_is_accuracy(frontier),
        whole_x=True,
        mark=frontier.get("chosen"),
        mark_label="one standard error" if _rule(frontier) == "one_standard_error" else "best",
    )


def _frontier_table(frontier: Mapping[str, Any]) -> str:
    accuracy = _is_accuracy(frontier)
    shown = rate_words if accuracy else score_words
    rows = [
        [
            str(point["leaves"]),
            cost_number(point["errors"]),
            "proven"
            if point["status"] == "optimal"
            else f"at least {cost_number(point['lower_bound'])}",
            shown(point["train"]),
            shown(point["held_out"]),
            "-" if point["standard_error"] is None else f"± {shown(point['standard_error'])}",
        ]
        for point in frontier["points"]
    ]
    errors = "training errors" if accuracy else "training loss"
    header = ["leaves", errors, "proof", "training", "held out", "standard error"]
    return table(header, rows, "Accuracy against size" if accuracy else "Score against size")


def _alternatives(model: StoredModel) -> Iterator[Section]:
    found, steady = model.facts.get("runner_up"), model.facts.get("stability")
    if not found and not steady:
        return
    body = ""
    if found:
        items = "".join(f"<li>{escape(entry['sentence'])}</li>" for entry in found)
        body += (
            "<h3>The next best question</h3><p>What the tree would cost if a question were asked "
            f"about another column, everything below it chosen anew.</p><ul>{items}</ul>"
        )
    if steady:
        rows = [
            [escape(entry["split"]), f"{entry['same_place']:.0%}", f"{entry['anywhere']:.0%}"]
            for entry in steady["splits"]
        ]
        body += (
            f"<h3>Does it come back?</h3><p>The tree was fitted again {steady['refits']} times on "
            f"rows drawn anew ({steady['proven']} of them proven). {_agreement(model, steady)}</p>"
            + table(
                ["question", "same column, same place", "same column, anywhere"], rows, "Refits"
            )
        )
    yield Section("alternatives", "Alternatives", "How sure are the questions", body)


def _near_optimal(model: StoredModel) -> Iterator[Section]:
    facts = model.facts.get("near_optimal")
    if facts:
        title = "All trees that are nearly as good"
        yield Section("near-optimal", "Nearly as good", title, near_optimal_part(facts))


def _agreement(model: StoredModel, steady: Mapping[str, Any]) -> str:
    share = f"{steady['agreement']:.1%}"
    if model.tree.kind == "numbers":
        return (
            f"On average the predictions of such a tree explain {share} of the variance of these."
        )
    return f"On average such a tree predicts as this one for {share} of the rows."


def _data(model: StoredModel) -> Iterator[Section]:
    columns = model.facts.get("columns")
    if not columns:
        return
    rows = []
    for column in columns:
        if column["kind"] == "number":
            shown = "-"
            if "low" in column:
                shown = " / ".join(short_number(column[key]) for key in ("low", "median", "high"))
            values = escape(shown) + (
                " " + sparkline(column["histogram"]) if column.get("histogram") else ""
            )
        else:
            top = ", ".join(f"{name} ({count})" for name, count in column["top"])
            values = escape(top + (", ..." if column["distinct"] > len(column["top"]) else ""))
        kind = column.get("note", column["kind"]).split(",")[0]
        counts = [str(column["missing"]), str(column["distinct"])]
        rows.append([escape(column["name"]), escape(kind), *counts, values])
    shown = "lowest / middle / highest, or most frequent"
    header = ["column", "kind", "missing", "different", shown]
    body = table(header, rows, "The training rows", words=[1, 4])
    left_out = model.facts.get("left_out")
    if left_out:
        items = "".join(
            f"<li><b>{escape(name)}</b>: {escape(note.removeprefix('left out: '))}</li>"
            for name, note in left_out
        )
        body += f"<h3>Columns that were left out</h3><ul>{items}</ul>"
    if model.facts.get("rows_without_label"):
        body += (
            f"<p>{model.facts['rows_without_label']} rows had no value to learn from and were left "
            "out.</p>"
        )
    yield Section("data", "Data", "The data", body)


_PARTS: tuple[Callable[[StoredModel], Iterator[Section]], ...] = (
    _tree,
    _questionnaire,
    _rules,
    _quality,
    _operating_points,
    _calibration,
    _leaves,
    _proof,
    _columns,
    _tuning,
    _frontier,
    _alternatives,
    _near_optimal,
    _data,
)


_THINGS = {"classes": "classes", "actions": "actions"}


def _classes(model: StoredModel) -> str:
    """Return what the colours of the tree mean."""
    if model.tree.kind == "numbers":
        return (
            '<p class="soft">The line in a box is the range of the numbers; the mark is what the '
            "box predicts, the bar around it the spread of its rows.</p>"
        )
    items = "".join(
        f'<li><span class="swatch" style="background:{class_colour(i)}"></span>'
        f"{escape(str(label))}</li>"
        for i, label in enumerate(model.labels.tolist())
    )
    return (
        f'<ul class="classes" aria-label="Colours of the {_THINGS[model.tree.kind]}">{items}</ul>'
    )
