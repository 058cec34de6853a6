"""The commands for people and their flags: ``provetree fit``, ``predict`` and the others.

Nothing here is slow to import: the work of a command is loaded when it runs, so that helps and
wrong words are answered at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from provetree import __version__
from provetree.cli.options import tree_flags, tuned_tree_flags
from provetree.cli.tables import check_file

__all__ = ["FORMATS", "NOT_PROVEN", "app"]

Command = TypeVar("Command", bound=Callable[..., Any])

#: Exit status of ``--require-proof`` without a proof.
NOT_PROVEN = 3
#: What a model can be written as.
FORMATS = ("sklearn", "onnx", "sql", "python", "c", "dot", "json", "text", "pmml")

#: The backspace tells click to leave the lines of the paragraph as they are.
_HELP = """Decision trees with a proof of optimality.

\b
provetree fit data.csv --target churn --report report.html --save model.json
provetree fit cars.csv --target price --depth 4
provetree predict model.json new.csv -o out.csv
provetree explain model.json new.csv --row 17
provetree studio data.csv --target churn
provetree check proof.ptc data.csv
"""


@click.group(
    help=_HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="provetree", message="%(prog)s %(version)s")
def app() -> None:
    """Hold the commands together."""


def _together(*flags: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Make one decorator of several, the first flag first in the help."""

    def add(command: Command) -> Command:
        for flag in reversed(flags):
            command = flag(command)
        return command

    return add


#: What ``fit`` and ``compare`` learn from, and how they divide it.
_table_and_target = _together(
    click.argument("data"),
    click.option("--target", "-t", required=True, help="The column to predict."),
)
_seed_and_ignore = _together(
    click.option("--seed", type=int, default=0, show_default=True, help="Chooses the test rows."),
    click.option("--ignore", multiple=True, metavar="COLUMN", help="Leave a column out."),
)
#: Which of the two kinds of errors counts how much.
_operating_point = _together(
    click.option(
        "--recall",
        type=click.FloatRange(0.0, 1.0, min_open=True),
        metavar="SHARE",
        help="Find this share of the positive rows, with the fewest false alarms.",
    ),
    click.option(
        "--precision",
        type=click.FloatRange(0.0, 1.0, min_open=True),
        metavar="SHARE",
        help="Let this share of the alarms be right, and find as many positive rows as possible.",
    ),
    click.option(
        "--cost-ratio",
        type=click.FloatRange(0.0, min_open=True),
        metavar="RATIO",
        help="How many false alarms a missed positive row is as bad as.",
    ),
    click.option(
        "--positive",
        metavar="LABEL",
        help="The label that counts as positive.  [default: the last in the order of the alphabet]",
    ),
)
_near_optimal = click.option(
    "--near-optimal",
    metavar="SLACK",
    help="Count all trees that are nearly as good: at most 3 errors worse, or 1% of the rows.",
)
_as_json = click.option("--json", "as_json", is_flag=True, help="Write the result as JSON.")


def _test_share(help: str | None = None) -> Callable[[Command], Command]:
    return click.option(
        "--test-share",
        type=click.FloatRange(0.0, 0.9),
        default=0.25,
        show_default=True,
        help=help,
    )


@app.command()
@_table_and_target
@click.option(
    "--tune/--no-tune",
    default=True,
    show_default=True,
    help="Choose size, least leaf, criterion and class weights by cross-validation, or fit one "
    "tree of a fixed depth.",
)
@click.option(
    "--scoring",
    metavar="NAME",
    help="What tuning looks for: a scorer of scikit-learn such as balanced_accuracy, roc_auc, f1 "
    "or neg_log_loss.  [default: accuracy, or R² for a number]",
)
@tuned_tree_flags
@click.option("--forbid", multiple=True, metavar="COLUMN", help="Ask no question about a column.")
@click.option(
    "--rules",
    metavar="FILE",
    help="Rules that the tree must keep: a JSON file of fixed_splits, forbidden_columns, "
    "interaction_cst, monotonic_cst and column_costs.",
)
@click.option("--save", "-s", metavar="FILE", help="Write the model to this JSON file.")
@click.option("--report", "-r", metavar="FILE", help="Write a report to this HTML file.")
@click.option(
    "--certificate",
    metavar="FILE",
    help="Write a proof that anyone can check to this file. It is about all rows of DATA, so that "
    "none is held out.",
)
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Prove one tree, as with --no-tune, on the Dask cluster whose scheduler is there, such as "
    "tcp://host:8786; 'local' starts one of --jobs processes on this machine.",
)
@_test_share("Share of the rows held out to test the tree; 0 trains on all rows.")
@click.option("--test", metavar="FILE", help="Test on the rows of this file instead.")
@_seed_and_ignore
@click.option(
    "--categorical", multiple=True, metavar="COLUMN", help="Take a column of numbers as categories."
)
@click.option(
    "--extras/--no-extras",
    default=None,
    help="Frontier, runner-up splits and stability for the report. "
    "By default as far as they take a few seconds.",
)
@_near_optimal
@_operating_point
@_as_json
@click.option("--quiet", "-q", is_flag=True, help="No notes and no progress.")
@click.option(
    "--require-proof", is_flag=True, help=f"Exit with status {NOT_PROVEN} unless proven optimal."
)
def fit(**flags: Any) -> int:
    """Find the tree for DATA that does best on new rows, and tell what is proven about it.

    Its size, and how it is grown, are chosen by cross-validation; flags fix what they name. With
    --no-tune it is one search: the best tree of depth 3, or of --depth, with its proof.

    DATA is a CSV, Parquet or Arrow file, gzip too; "-" reads a pipe. A folder of Parquet files may
    be larger than memory: it gets one tree, as with --no-tune. A target with fractions, or of
    many different whole numbers, is predicted as a number; --task decides otherwise.
    """
    check_file(flags["data"])
    from provetree.cli.fit import fit

    flags["holds_out"] = _is_given("test_share")
    flags["asks_to_tune"] = _is_given("tune") and flags["tune"]
    proven = fit(flags)
    return NOT_PROVEN if flags["require_proof"] and not proven else 0


def _is_given(flag: str) -> bool:
    """Tell whether a flag of the command at hand was given, rather than left as it is."""
    source = click.get_current_context().get_parameter_source(flag)
    return source is click.core.ParameterSource.COMMANDLINE


@app.command()
@click.argument("certificate")
@click.argument("data")
@click.option(
    "--jobs", type=click.IntRange(1, None), default=1, show_default=True, help="Processes."
)
@click.option("--part", default="1/1", metavar="I/N", help="Check only part I of N.")
def check(certificate: str, data: str, jobs: int, part: str) -> int:
    """Check a CERTIFICATE against the CSV file DATA, by a program that shares nothing with this.

    It says "checked" and what is proven, or where and why it fails, with exit status 1.
    """
    check_file(certificate)
    check_file(data)
    from provetree.cli.certify import checker

    return int(checker().main([certificate, data, "--jobs", str(jobs), "--part", part]))


def _use(command: str, flags: dict[str, Any]) -> None:
    """Run a command that begins with a model file."""
    check_file(flags["model_file"])
    from provetree.cli import use

    getattr(use, command)(**flags)


_model_file = click.argument("model_file", metavar="MODEL")


@app.command()
@_model_file
@click.argument("data")
@click.option(
    "--output", "-o", default="-", help="The CSV file to write; '-' is the output stream."
)
@click.option("--proba", is_flag=True, help="Add the probability of each label.")
@click.option(
    "--laplace",
    type=click.FloatRange(0.0, None),
    default=None,
    help="Laplace's correction of the shares, instead of the model's own smoothing.",
)
@click.option("--only", is_flag=True, help="Write the predictions without the columns of DATA.")
@click.option("--json", "as_json", is_flag=True, help="Write a JSON list with an object per row.")
def predict(**flags: Any) -> None:
    """Predict the rows of DATA with a MODEL file.

    The columns are found by name; columns the model does not know are copied. The Parquet files of
    a folder are predicted one after the other.
    """
    _use("predict", flags)


@app.command()
@_model_file
@click.argument("data", required=False)
@click.option(
    "--row",
    type=click.IntRange(1, None),
    help="Which row of DATA, from 1 on; without DATA, of the table the model was made from.",
)
@click.option("--json", "as_json", is_flag=True, help="Write the way as JSON.")
def explain(**flags: Any) -> None:
    """Say in words why a MODEL predicts what it predicts for a row of DATA.

    Without DATA, the row is taken from the table that the model was made from; without a row, too,
    all rules of the model are written.
    """
    _use("explain", flags)


@app.command()
@_model_file
@click.argument("data", required=False)
@click.option("--output", "-o", default="report.html", show_default=True, help="The HTML file.")
@_near_optimal
def report(**flags: Any) -> None:
    """Write the report of a MODEL; with DATA, judged on these rows."""
    _use("report", flags)


@app.command()
@_model_file
@click.option("--to", "form", required=True, type=click.Choice(FORMATS), help="The format.")
@click.option("--output", "-o", default="-", help="The file to write; '-' is the output stream.")
@click.option(
    "--dialect",
    type=click.Choice(["ansi", "sqlite", "duckdb", "postgres"]),
    default="ansi",
    show_default=True,
    help="Which SQL.",
)
@click.option("--table", help="Write a whole SQL query over this table.")
def export(**flags: Any) -> None:
    """Write a MODEL in another form.

    sklearn is a pickled DecisionTreeClassifier or DecisionTreeRegressor, or with categories a
    pipeline that ends in one; the others are what their name says.
    """
    _use("export", flags)


@app.command()
@_table_and_target
@tree_flags
@_test_share()
@_seed_and_ignore
@click.option("--categorical", multiple=True, metavar="COLUMN", help="Take as categories.")
@click.option("--plot", metavar="FILE", help="Draw the comparison into this picture file.")
@_as_json
@click.option("--quiet", "-q", is_flag=True, help="No notes.")
def compare(**flags: Any) -> None:
    """Fit every method on DATA: accuracy or R², size, time and proof side by side.

    The time limit holds for each method. DL8.5 gets binary columns (eight thresholds each), so its
    proof, like that of column generation, is one for these candidates. For a number to predict it
    is the exact search and CART, both as they are and with a size tuned by cross-validation.
    """
    check_file(flags["data"])
    from provetree.cli.compare import compare

    compare(flags)


@app.command()
@_table_and_target
@click.option(
    "--depth",
    "max_depth",
    type=click.IntRange(0, 6),
    default=3,
    show_default=True,
    help="The most questions in a row.",
)
@click.option(
    "--leaves",
    "max_leaf_nodes",
    type=click.IntRange(1, None),
    help="The most leaves to begin with.",
)
@click.option(
    "--min-leaf",
    "min_samples_leaf",
    type=click.IntRange(1, None),
    default=1,
    show_default=True,
    help="The fewest rows in each leaf.",
)
@click.option(
    "--class-weight",
    type=click.Choice(["balanced"]),
    help="'balanced' gives every class the same total weight.",
)
@click.option(
    "--task",
    type=click.Choice(["classification"]),
    help="Take a target that looks like a number for classes.",
)
@_test_share("Share of the rows held out to test the trees; 0 trains on all rows.")
@_seed_and_ignore
@click.option("--categorical", multiple=True, metavar="COLUMN", help="Take as categories.")
@click.option(
    "--time-limit",
    type=click.FloatRange(0.0, None, min_open=True),
    default=20.0,
    show_default=True,
    metavar="SECONDS",
    help="Seconds for each search.",
)
@click.option(
    "--session",
    metavar="FILE",
    help="Where the session is kept.  [default: beside DATA, ending in .studio.json]",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="The port on this machine.  [default: a free one]",
)
@click.option("--browser/--no-browser", default=True, help="Open the page in a browser.")
def studio(**flags: Any) -> None:
    """Shape a proven tree of DATA by hand, on a page of this machine.

    Click a question to see what the others would cost, take one, forbid columns, choose the size:
    what is left open is the best there is, with a proof. The page is served to this machine alone,
    at an address with a secret token. A studio that was stopped goes on where it was.
    """
    check_file(flags["data"])
    from provetree.cli.studio import studio

    studio(flags)


@app.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def bench(words: tuple[str, ...]) -> int:
    """Run a benchmark: peers, known, paper, start and others."""
    from provetree.cli.main import main

    return main(["bench", *words])
