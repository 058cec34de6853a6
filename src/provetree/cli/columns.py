"""What each column of a table file means: a number, a category, a date, or nothing to learn from.

:func:`learn_columns` decides it once, on the training rows, and says so in words;
:func:`use_columns` reads new rows in just that way, whatever the order of their columns.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from provetree.cli.errors import UserError
from provetree.cli.tables import numbered
from provetree.export.model_file import SIGNS, InputColumn

if TYPE_CHECKING:
    from polars import DataFrame, Series

__all__ = [
    "LearnedColumns",
    "LearnedTarget",
    "Task",
    "learn_columns",
    "learn_target",
    "use_columns",
]

Task: TypeAlias = Literal["classification", "regression"]

#: What stands for all rare categories of a column.
OTHER = "(other)"
#: Categories of a column beyond the most frequent ones become one.
MOST_CATEGORIES = 64
#: Text with more different values than this share of its rows names rows, not kinds of rows.
_IDENTIFIER_SHARE = 0.5
_FEWEST_IDENTIFIERS = 20
_MOST_CLASSES = 50
#: Of more different whole numbers than this, a target is a number to predict.
_MOST_WHOLE_CLASSES = 30
#: From here on, float64 skips whole numbers.
_MOST_EXACT = 2**53
#: More classes of whole numbers than this are worth a note.
_FEW_CLASSES = 10

_ISO_DATE = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$"
#: Dates that do not begin with the year; the time of day is passed over.
_OTHER_DATE = r"^(\d{1,2})[./-](\d{1,2})[./-]\d{4}([T ]\d{1,2}:\d{2}.*)?$"
_LEADING_ZERO = r"^-?0\d"
_DIGITS = r"^\d+$"
_NUMBER = r"-?\d+([.,]\d+)?"
_THOUSANDS = r"^-?\d{1,3}(,\d{3})+(\.\d+)?$"
_DECIMAL_COMMA = r"^-?\d*,\d+$"


@dataclass(frozen=True)
class LearnedColumns:
    """The columns to learn from, and a line of words about every column of the file.

    Examples
    --------
    >>> import polars
    >>> from provetree.cli.columns import learn_columns
    >>> table = polars.DataFrame({"age": ["22", None, "35"], "zip": ["01", "02", "01"]})
    >>> learn_columns(table, target=None).notes
    (('age', 'number, 1 missing'), ('zip', 'category with 2 values'))
    """

    columns: tuple[InputColumn, ...]  # the columns to learn from
    notes: tuple[tuple[str, str], ...]  # name of each column of the file, and what was done with it
    values: DataFrame  # the columns to learn from, as :func:`use_columns` gives them


def learn_columns(
    table: DataFrame,
    target: str | None,
    *,
    ignore: Collection[str] = (),
    categorical: Collection[str] = (),
) -> LearnedColumns:
    """Decide what each column means.

    Parameters
    ----------
    table : polars.DataFrame
        The training rows.
    target : str or None
        The column to predict, which is no input.
    ignore : collection of str
        Columns to leave out.
    categorical : collection of str
        Columns to take as categories, also if they hold numbers.

    Returns
    -------
    LearnedColumns
    """
    for option, names in (("--ignore", ignore), ("--categorical", categorical)):
        for name in names:
            if name not in table.columns:
                raise UserError(f"{option} names '{name}', which is no column of the table.")
    import polars

    columns: list[InputColumn] = []
    notes: list[tuple[str, str]] = []
    values: list[Series] = []
    for name in table.columns:
        if name == target:
            continue
        if name in ignore:
            notes.append((name, "left out: --ignore names it"))
            continue
        column, note, read = _learn(table[name], categorical=name in categorical)
        notes.append((name, note))
        if column is not None and read is not None:
            columns.append(column)
            values.append(read)
    if not notes:
        only = f"the table has the target '{target}' only"
        raise UserError(f"No column is left to learn from: {only}.")
    if not columns:
        listed = "; ".join(f"'{name}' is {note}" for name, note in notes[:5])
        more = "; ..." if len(notes) > 5 else ""
        raise UserError(f"No column is left to learn from: {listed}{more}.")
    return LearnedColumns(tuple(columns), tuple(notes), polars.DataFrame(values))


@dataclass(frozen=True)
class LearnedTarget:
    """The rows that have a target, their targets, and which task that makes.

    Examples
    --------
    >>> import polars
    >>> from provetree.cli.columns import learn_target
    >>> table = polars.DataFrame({"x": ["1", "2", "3"], "y": ["0", None, "1"]})
    >>> found = learn_target(table, "y")
    >>> found.rows.height, found.values, found.task
    (2, [0, 1], 'classification')
    """

    rows: DataFrame
    values: list[Any]  # whole numbers as ints and all else as text; floats for a regression
    task: Task
    note: str | None = None  # why it is that task, where that may be a surprise


def learn_target(table: DataFrame, target: str, task: Task | None = None) -> LearnedTarget:
    """Return the rows that have a target, and their targets as the task needs them.

    Without a `task`, a target with fractions, or of more than 30 whole numbers, is a number to
    predict; all others are classes.

    Examples
    --------
    >>> import polars
    >>> from provetree.cli.columns import learn_target
    >>> table = polars.DataFrame({"x": ["1", "2", "3"], "price": ["$0.5", "$1,200.25", "$7"]})
    >>> learn_target(table, "price").note
    "'price' is a number to predict (3 different values): --task classification takes them as \
classes."
    """
    _check_target(table, target)
    series = table[target]
    if series.dtype.is_float():
        series = series.fill_nan(None)
    table = table.filter(series.is_not_null())
    if table.height == 0:
        raise UserError(f"The target '{target}' is empty in all rows.")
    column, note = _meaning(table[target]), None
    if task is None:
        task, note = _task_of(table[target], column, target)
    if task == "regression":
        numbers = _numbers(table[target], column, target)
        kept = numbers.is_not_null()
        return LearnedTarget(table.filter(kept), numbers.drop_nulls().to_list(), task, note)
    return LearnedTarget(table, _labels(_as_text(table[target]), target), task, note)


def _check_target(table: DataFrame, target: str) -> None:
    """Raise where a table has no such column, two of them, or one of values that mean nothing."""
    if target not in table.columns:
        close = [name for name in table.columns if name.lower() == target.lower()]
        hint = f" Did you mean '{close[0]}'?" if close else ""
        if any(re.fullmatch(_NUMBER, name) for name in table.columns):
            hint += " The first line should name the columns, and this one holds numbers."
        raise UserError(
            f"There is no column '{target}' in the table. Its columns are "
            f"{', '.join(repr(name) for name in table.columns[:20])}"
            f"{', ...' if table.width > 20 else ''}.{hint}"
        )
    if numbered(target, 2) in table.columns:
        raise UserError(f"Two columns are named '{target}': give the target a name of its own.")
    if not _readable(table[target]):
        raise UserError(
            f"The target '{target}' must hold labels or numbers: text, numbers or truth values. "
            f"Got {table[target].dtype} instead."
        )


def _task_of(series: Series, column: InputColumn, target: str) -> tuple[Task, str | None]:
    """Return the task that a target makes, and a note where it could be the other one, too."""
    if column.kind != "number":
        return "classification", None
    numbers = _use(series, column).drop_nulls()
    n_distinct = numbers.n_unique()
    whole = bool((numbers == numbers.round(0)).all())
    # Two values are two classes, whatever they are.
    if n_distinct > (_MOST_WHOLE_CLASSES if whole else 2):
        return "regression", (
            f"'{target}' is a number to predict ({n_distinct} different values): "
            "--task classification takes them as classes."
        )
    if n_distinct > _FEW_CLASSES:
        return "classification", (
            f"'{target}' has {n_distinct} different whole numbers, taken as classes: "
            "--task regression predicts a number."
        )
    return "classification", None


def _numbers(series: Series, column: InputColumn, target: str) -> Series:
    """Return a target as numbers."""
    import polars

    if column.kind == "number":
        numbers = _use(series, column)
    else:
        numbers = _as_text(series).str.strip_chars().cast(polars.Float64, strict=False)
        strange = series.filter(numbers.is_null())
        if column.kind == "date" or len(strange):
            shown = strange[0] if len(strange) else series[0]
            raise UserError(
                f"The target '{target}' must hold numbers for --task regression. Got '{shown}'."
            )
    present = numbers.drop_nulls()
    if len(present) == 0:
        raise UserError(f"The target '{target}' is empty in all rows.")
    if not bool(present.is_finite().all()):
        raise UserError(f"The target '{target}' must hold finite numbers. Got infinity.")
    if present.n_unique() == 1:
        raise UserError(
            f"The target '{target}' is '{_shown(present[0])}' in all rows: there is nothing to "
            "predict."
        )
    return numbers


def _labels(labels: Series, target: str) -> list[Any]:
    """Return a target as labels: ints where all are whole numbers, else text."""
    import polars

    n_distinct = labels.n_unique()
    if n_distinct == 1:
        raise UserError(
            f"The target '{target}' is '{labels[0]}' in all rows: there is nothing to tell apart."
        )
    if n_distinct > _MOST_CLASSES:
        raise UserError(
            f"The target '{target}' has {n_distinct} different values, and a classification tree "
            f"needs at most {_MOST_CLASSES} classes: choose another column, or group its values."
        )
    numbers = labels.cast(polars.Float64, strict=False)
    all_numbers = numbers.null_count() == 0 and not labels.str.contains(_LEADING_ZERO).any()
    if all_numbers:
        # Infinity is no whole number, and beyond 2**53 float64 takes several numbers for one.
        whole = (numbers == numbers.round(0)) & (numbers.abs() < _MOST_EXACT)
        if bool(whole.all()):
            return [int(x) for x in numbers.to_list()]
    return [str(label) for label in labels.to_list()]


def use_columns(table: DataFrame, columns: Sequence[InputColumn]) -> DataFrame:
    """Return the columns a model learned from, as numbers and text, in its order.

    Examples
    --------
    >>> import polars
    >>> from provetree.cli.columns import use_columns
    >>> from provetree.export.model_file import InputColumn
    >>> table = polars.DataFrame({"more": ["x"], "age": ["22"]})
    >>> use_columns(table, [InputColumn("age", "number")]).rows()
    [(22.0,)]
    """
    import polars

    missing = [column.name for column in columns if column.name not in table.columns]
    if missing:
        raise UserError(
            f"The table has no column {', '.join(repr(name) for name in missing[:5])}"
            f"{', ...' if len(missing) > 5 else ''}, which the model needs."
        )
    return polars.DataFrame([_use(table[column.name], column) for column in columns])


def _learn(series: Series, *, categorical: bool) -> tuple[InputColumn | None, str, Series | None]:
    """Return what a column is, the words about it, and its values as they are used."""
    import polars

    def left_out(why: str) -> tuple[None, str, None]:
        return None, f"left out: {why}", None

    name, rows = series.name, len(series)
    if not _readable(series):
        return left_out(f"values of type {series.dtype} are no numbers and no categories")
    if series.null_count() == rows:
        return left_out("empty in all rows")
    column = InputColumn(name, "category") if categorical else _meaning(series)
    values = _use(series, column)
    present = values.drop_nulls()
    n_missing, n_distinct = rows - len(present), present.n_unique()
    gaps = f", {n_missing} missing" if n_missing else ""
    if n_missing == rows:
        return left_out("empty in all rows")
    if n_distinct == 1 and n_missing == 0:
        return left_out(f"always {_shown(present[0])}")
    if column.kind == "category":
        if (
            not categorical
            and n_distinct > _FEWEST_IDENTIFIERS
            and n_distinct > _IDENTIFIER_SHARE * len(present)
        ):
            return left_out(
                f"text with {n_distinct} different values in {len(present)} rows "
                "names rows rather than kinds of rows"
            )
        if n_distinct > MOST_CATEGORIES:
            kept = present.value_counts().sort(["count", name], descending=[True, False])[name]
            known = tuple(sorted(kept.head(MOST_CATEGORIES - 1).to_list()))
            column = InputColumn(name, "category", known=known)
            rare = f", the rare ones taken together as {OTHER!r}"
            return column, f"category with {n_distinct} values{rare}{gaps}", _use(series, column)
        return column, f"category with {n_distinct} values{gaps}", values
    if column.kind == "number" and n_distinct == rows and _numbers_the_rows(values):
        return left_out("it numbers the rows")
    words: str = column.kind
    if column.kind == "date":
        first = {None: "", "dmy": " (day first)", "mdy": " (month first)"}[column.order]
        words = f"date{first}, as the number YYYYMMDD"
    elif series.dtype in (polars.Duration, polars.Time):
        words = f"{'duration' if series.dtype == polars.Duration else 'time of day'}, in seconds"
    if column.comma is not None:
        words += f" with {column.comma} commas"
    if column.sign is not None:
        words += f", the sign {column.sign} passed over"
    return column, f"{words}{gaps}", values


def _readable(series: Series) -> bool:
    """Tell whether a column can hold numbers, dates or categories."""
    import polars

    return not series.dtype.is_nested() and series.dtype not in (polars.Binary, polars.Object)


def _shown(value: Any) -> str:
    short = f"{value:g}" if isinstance(value, float) else ""
    return short if short and float(short) == value else repr(value)


def _meaning(series: Series) -> InputColumn:
    """Find whether a column holds numbers, dates or categories."""
    import polars

    name, dtype = series.name, series.dtype
    if dtype.is_numeric() or dtype in (polars.Duration, polars.Time):
        return InputColumn(name, "number")
    if dtype in (polars.Date, polars.Datetime):
        return InputColumn(name, "date")
    if dtype != polars.String:
        return InputColumn(name, "category")
    present = series.drop_nulls().str.strip_chars()
    if present.cast(polars.Float64, strict=False).null_count() == 0:
        # Digits that begin with zero are a code, such as 01234. Most columns of numbers tell in
        # their first rows that they are not all digits.
        coded = (
            present.head(1000).str.contains(_DIGITS).all()
            and present.str.contains(_LEADING_ZERO).any()
            and present.str.contains(_DIGITS).all()
        )
        return InputColumn(name, "category" if coded else "number")
    if present.str.contains(_ISO_DATE).all():
        return InputColumn(name, "date")
    with_comma = present.filter(present.str.contains(",", literal=True))
    others = present.filter(~present.str.contains(",", literal=True))
    if len(with_comma) and others.cast(polars.Float64, strict=False).null_count() == 0:
        if with_comma.str.contains(_THOUSANDS).all():
            return InputColumn(name, "number", comma="thousands")
        if with_comma.str.contains(_DECIMAL_COMMA).all():
            return InputColumn(name, "number", comma="decimal")
    if present.str.contains(_OTHER_DATE).all() and (order := _order_of_dates(present)):
        return InputColumn(name, "date", order=order)
    sign = next((sign for sign in SIGNS if sign in present[0]), None)
    if sign is not None:
        without = _meaning(_without_sign(present, sign))
        if without.kind == "number" and without.sign is None:
            return replace(without, sign=sign)
    return InputColumn(name, "category")


def _order_of_dates(text: Series) -> Literal["dmy", "mdy"] | None:
    """Tell whether the day or the month comes first, if any date tells."""
    import polars

    parts = text.str.extract_groups(_OTHER_DATE).struct
    first, second = (parts[i].cast(polars.Int64).max() for i in (0, 1))
    assert isinstance(first, int)
    assert isinstance(second, int)
    with_points = bool(text.str.contains(".", literal=True).all())
    if second <= 12 and first <= 31 and (first > 12 or with_points):
        return "dmy"
    if first <= 12 < second <= 31 and not with_points:
        return "mdy"
    return None


def _without_sign(text: Series, sign: str) -> Series:
    """Take a sign before or after each number away; what has it elsewhere stays as it is."""
    before, after = rf"^(-?){re.escape(sign)}\s*", rf"\s*{re.escape(sign)}$"
    return text.str.replace(before, "$1").str.replace(after, "")


def _use(series: Series, column: InputColumn) -> Series:
    import polars

    if column.kind == "category":
        text = _as_text(series)
        if column.known is not None:
            rare = text.is_not_null() & ~text.is_in(list(column.known))
            text = text.set(rare, OTHER)
        return text
    if column.kind == "date":
        return _dates(series, column.order)
    if series.dtype.is_numeric() or series.dtype == polars.Boolean:
        return series.cast(polars.Float64).fill_nan(None)
    if series.dtype == polars.Duration:
        return (series.dt.total_microseconds() / 1e6).round(6)
    if series.dtype == polars.Time:
        return (series.cast(polars.Int64) / 1e9).round(6)
    text = _as_text(series).str.strip_chars()
    if column.sign is not None:
        text = _without_sign(text, column.sign)
    if column.comma == "thousands":
        text = text.str.replace_all(",", "", literal=True)
    elif column.comma == "decimal":
        text = text.str.replace(",", ".", literal=True)
    return _all_read(series, text.cast(polars.Float64, strict=False), "a number").fill_nan(None)


def _dates(series: Series, order: Literal["dmy", "mdy"] | None) -> Series:
    import polars

    if series.dtype == polars.String:
        text = series.str.strip_chars()
        if order is None:
            read = text.str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False)
        else:
            parts = text.str.replace(r"[T ].*$", "").str.replace_all(r"[/-]", ".")
            read = parts.str.to_date("%d.%m.%Y" if order == "dmy" else "%m.%d.%Y", strict=False)
        forms = {"dmy": "a date (day, month, year)", "mdy": "a date (month, day, year)"}
        series = _all_read(series, read, forms.get(order or "", "an ISO date"))
    if series.dtype not in (polars.Date, polars.Datetime):
        raise UserError(f"Column '{series.name}' must hold dates. Got {series.dtype} instead.")
    day = series.dt.year().cast(polars.Float64) * 10000
    return day + series.dt.month().cast(polars.Float64) * 100 + series.dt.day()


def _all_read(series: Series, read: Series, what: str) -> Series:
    """Return `read`, or say which value of `series` could not be read."""
    lost = read.is_null() & series.is_not_null()
    if lost.any():
        row = lost.arg_max() or 0
        raise UserError(
            f"Column '{series.name}' must hold {what} in each row. Got {series[row]!r} in row "
            f"{row + 1} instead."
        )
    return read


def _as_text(series: Series) -> Series:
    import polars

    if series.dtype.is_float():
        # 3.0 of a Parquet file and 3 of a CSV file are one category.
        series = series.fill_nan(None)
        whole = series.drop_nulls()
        if bool((whole == whole.round(0)).all()):
            series = series.cast(polars.Int64, strict=False)
    return series.cast(polars.String)


def _numbers_the_rows(values: Series) -> bool:
    """Tell whether numbers that are all different are just 1, 2, 3 and so on."""
    rows = len(values)
    if rows < _FEWEST_IDENTIFIERS or values.max() - values.min() != rows - 1:
        return False
    return bool((values == values.round(0)).all())
