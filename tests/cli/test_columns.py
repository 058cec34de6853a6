"""What the columns of a file are taken for."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import polars
import pytest

from provetree.cli.columns import MOST_CATEGORIES, OTHER, learn_columns, learn_target, use_columns
from provetree.cli.errors import UserError

N = 60


def learned(values: list[Any], **options: Any) -> tuple[Any, str]:
    table = polars.DataFrame({"x": values, "other": ["a", "b"] * (len(values) // 2)})
    found = learn_columns(table, None, **options)
    column = next((c for c in found.columns if c.name == "x"), None)
    return column, dict(found.notes)["x"]


@pytest.mark.parametrize(
    ("values", "kind", "note"),
    [
        (["1", "2.5", None, "-3e2"] * 15, "number", "number, 15 missing"),
        ([" 1", "2 ", "3", "4"] * 15, "number", "number"),
        (["1,5", "2,25", "3", "-0,5"] * 15, "number", "number with decimal commas"),
        (["1,500", "2,250,000", "3", "40"] * 15, "number", "number with thousands commas"),
        (["007", "012", "345", "007"] * 15, "category", "category with 3 values"),
        (["2024-01-31", "2023-12-01"] * 30, "date", "date, as the number YYYYMMDD"),
        (["red", "green", None, "red"] * 15, "category", "category with 2 values, 15 missing"),
        (["1", "2", "x", "1"] * 15, "category", "category with 3 values"),
        ([True, False] * 30, "category", "category with 2 values"),
        ([1, 2, 2, 3] * 15, "number", "number"),
        ([1.5, float("nan"), 2.5, None] * 15, "number", "number, 30 missing"),
        (
            [datetime.date(2024, 1, 1), None] * 30,
            "date",
            "date, as the number YYYYMMDD, 30 missing",
        ),
        (["12%", "7.5 %", None, "9%"] * 15, "number", "number, the sign % passed over, 15 missing"),
        (
            ["$1,200.50", "-$3", "$40", "$7"] * 15,
            "number",
            "number with thousands commas, the sign",
        ),
        (
            ["12,5 €", "-3 €", "4,25€", "1 €"] * 15,
            "number",
            "number with decimal commas, the sign €",
        ),
        (["5%", "five %", "6%", "7%"] * 15, "category", "category with 4 values"),
        (["31.1.2024", "01.12.2023"] * 30, "date", "date (day first), as the number YYYYMMDD"),
        (
            ["31/01/2024", "1/12/2023 10:15"] * 30,
            "date",
            "date (day first), as the number YYYYMMDD",
        ),
        (["1/31/2024", "12/1/2023"] * 30, "date", "date (month first), as the number YYYYMMDD"),
        # Nothing tells whether the day or the month comes first.
        (["1/3/2024", "12/1/2023"] * 30, "category", "category with 2 values"),
        (["31/1/2024", "1/31/2024"] * 30, "category", "category with 2 values"),
        ([datetime.timedelta(seconds=90), datetime.timedelta(days=1)] * 30, "number", "duration"),
        ([datetime.time(1, 30), datetime.time(2)] * 30, "number", "time of day, in seconds"),
        ([decimal.Decimal("1.5"), decimal.Decimal(2)] * 30, "number", "number"),
    ],
)
def test_meaning(values: list[Any], kind: str, note: str) -> None:
    column, told = learned(values)
    assert column.kind == kind
    assert told.startswith(note)


def test_signs_other_dates_and_times_are_read_alike_in_new_rows() -> None:
    def read(training: list[Any], new: list[Any]) -> list[Any]:
        column, _ = learned(training)
        return use_columns(polars.DataFrame({"x": new}), [column])["x"].to_list()

    assert read(["12%", "7.5 %"] * 30, ["3 %", "4", None]) == [3.0, 4.0, None]
    assert read(["$1,200.50", "-$3"] * 30, ["-$2,000", "$5"]) == [-2000.0, 5.0]
    assert read(["31.1.2024", "1.12.2023"] * 30, ["05.02.2024"]) == [20240205.0]
    assert read(["1/31/2024", "12/1/2023"] * 30, ["2/5/2024 12:00"]) == [20240205.0]
    assert read([datetime.time(1, 30), datetime.time(2)] * 30, [datetime.time(0, 1)]) == [60.0]
    long = [datetime.timedelta(seconds=90), datetime.timedelta(days=1)] * 30
    assert read(long, long[:2]) == [90.0, 86400.0]
    with pytest.raises(UserError, match=r"must hold a date \(day, month, year\) in each row"):
        read(["31.1.2024", "1.12.2023"] * 30, ["1.31.2024"])
    with pytest.raises(UserError, match="must hold a number in each row"):
        read(["12%", "7.5 %"] * 30, ["3 $"])


@pytest.mark.parametrize(
    ("values", "note"),
    [
        (["5"] * N, "left out: always 5"),
        ([None] * N, "left out: empty in all rows"),
        ([str(i) for i in range(N)], "left out: it numbers the rows"),
        ([f"name {i}" for i in range(N)], "left out: text with 60 different values in 60 rows"),
        ([[1], [2]] * 30, "left out: values of type List(Int64)"),
    ],
)
def test_left_out(values: list[Any], note: str) -> None:
    column, told = learned(values)
    assert column is None
    assert told.startswith(note)


def test_rare_categories_are_taken_together() -> None:
    values = [f"v{i % 100:03d}" for i in range(1000)] + ["v000", "v000"]
    column, note = learned(values)
    assert note.startswith("category with 100 values, the rare ones taken together")
    assert len(column.known) == MOST_CATEGORIES - 1
    used = use_columns(polars.DataFrame({"x": ["v000", "v099", "new", None]}), [column])
    assert used["x"].to_list() == ["v000", OTHER, OTHER, None]


def test_categories_can_be_asked_for() -> None:
    column, note = learned(["1", "2"] * 30, categorical=["x"])
    assert (column.kind, note) == ("category", "category with 2 values")
    column, note = learned([1.0, 2.0] * 30, categorical=["x"])
    assert use_columns(polars.DataFrame({"x": [1, 2]}), [column])["x"].to_list() == ["1", "2"]


def test_dates_keep_their_order() -> None:
    column, _ = learned(["2024-01-31", "2023-12-01T10:00:00"] * 30)
    table = polars.DataFrame({"x": ["2024-01-31", "2023-12-01T10:00:00", None]})
    assert use_columns(table, [column])["x"].to_list() == [20240131.0, 20231201.0, None]
    with pytest.raises(UserError, match=r"must hold an ISO date in each row\. Got '31\.1\.2024'"):
        use_columns(polars.DataFrame({"x": ["31.1.2024"]}), [column])


def test_labels() -> None:
    def labels(values: list[Any]) -> list[Any]:
        return learn_target(polars.DataFrame({"y": values}), "y", "classification").values

    assert labels(["1", "2", None]) == [1, 2]
    assert labels(["1.0", "0.0"]) == [1, 0]
    assert labels(["01", "02"]) == ["01", "02"]
    assert labels(["0.5", "1.5"]) == ["0.5", "1.5"]
    assert labels([True, False]) == ["true", "false"]
    with pytest.raises(UserError, match="needs at most 50 classes"):
        labels([str(i) for i in range(51)])
    assert labels([str(i / 7) for i in range(12)])[1] == str(1 / 7)


def test_labels_that_float64_does_not_hold_stay_text() -> None:
    """Two labels became one beyond 2**53, and infinity ended in a traceback."""
    for values in (["9007199254740992", "9007199254740993"], ["inf", "1"]):
        table = polars.DataFrame({"y": values})
        assert learn_target(table, "y", "classification").values == values
    table = polars.DataFrame({"y": [2**53, 2**53 + 1]})
    assert len(set(learn_target(table, "y", "classification").values)) == 2


def test_no_labels_in_a_list() -> None:
    with pytest.raises(UserError, match=r"The target 'y' must hold labels or numbers: .* Got List"):
        learn_target(polars.DataFrame({"y": [[1], [2]]}), "y")


def test_nothing_left_to_learn_from() -> None:
    with pytest.raises(UserError, match="No column is left to learn from: 'x' is left out: always"):
        learn_columns(polars.DataFrame({"x": ["1", "1"], "y": ["a", "b"]}), "y")
    with pytest.raises(UserError, match="left to learn from: the table has the target 'y' only"):
        learn_columns(polars.DataFrame({"y": ["a", "b"]}), "y")


def test_a_first_line_of_numbers_is_pointed_out() -> None:
    table = polars.DataFrame({"47": ["1", "2"], "3,5": ["3", "4"], "yes": ["no", "yes"]})
    with pytest.raises(UserError, match="The first line should name the columns"):
        learn_target(table, "y")
    with pytest.raises(UserError) as told:
        learn_target(table.rename({"47": "a", "3,5": "b"}), "y")
    assert "first line" not in str(told.value)


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (["1", "2", "3"] * 20, "classification"),
        (["yes", "no"] * 20, "classification"),
        ([str(i) for i in range(30)], "classification"),
        ([str(i) for i in range(31)], "regression"),
        (["0.5", "1.5"] * 20, "classification"),
        (["0.5", "1.5", "2"] * 20, "regression"),
        (["$1,200", "$3,400.50", "$7"] * 20, "regression"),
        (["1,5", "2,5", "4"] * 20, "regression"),
        ([1.0, 2.0] * 20, "classification"),
        ([1.25, 2.0, 7.5] * 20, "regression"),
        (["01", "02", "03"] * 20, "classification"),
        (["2024-01-31", "2024-02-01", "2024-03-01"] * 20, "classification"),
        ([True, False] * 20, "classification"),
    ],
)
def test_what_a_target_looks_like(values: list[Any], task: str) -> None:
    found = learn_target(polars.DataFrame({"y": values}), "y")
    assert found.task == task
    if task == "regression":
        assert all(isinstance(value, float) for value in found.values)
        assert found.note is not None
        assert "--task classification" in found.note


def test_the_task_decides() -> None:
    whole = polars.DataFrame({"y": ["1", "2", None, "3"]})
    assert learn_target(whole, "y", "regression").values == [1.0, 2.0, 3.0]
    fractions = polars.DataFrame({"y": ["0.5", "1.5", "2.5"]})
    assert learn_target(fractions, "y", "classification").values == ["0.5", "1.5", "2.5"]
    assert "--task regression" in str(learn_target(polars.DataFrame({"y": range(20)}), "y").note)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["a", "b"], r"The target 'y' must hold numbers for --task regression\. Got 'a'\."),
        (["1", "x", "3"], r"must hold numbers for --task regression\. Got 'x'"),
        (["2024-01-31", "2024-02-01"], r"must hold numbers for --task regression\. Got '2024"),
        (["2.5", "2.5"], r"The target 'y' is '2\.5' in all rows: there is nothing to predict"),
        ([1.0, float("inf")], r"must hold finite numbers\. Got infinity"),
        ([None, None], r"The target 'y' is empty in all rows"),
    ],
)
def test_targets_that_are_no_numbers(values: list[Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        learn_target(polars.DataFrame({"y": values}), "y", "regression")
