"""Table files as people have them: odd headers, encodings, line ends, and damaged ones."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import polars
import pytest

from provetree.cli.columns import learn_target
from provetree.cli.errors import UserError
from provetree.cli.tables import numbered, read_table

PLAIN = 'größe;"a;b";y\n1,5;"x ""q""";ja\n2;;nein\n'
ROWS = [("1,5", 'x "q"', "ja"), ("2", None, "nein")]


def table_of(tmp_path: Path, content: bytes) -> polars.DataFrame:
    path = tmp_path / "table"
    path.write_bytes(content)
    return read_table(str(path))


@pytest.mark.parametrize(
    "content",
    [
        PLAIN.encode(),
        b"\xef\xbb\xbf" + PLAIN.encode(),
        PLAIN.encode("utf-16"),
        b"\xfe\xff" + PLAIN.encode("utf-16-be"),
        PLAIN.encode("latin-1"),
        PLAIN.replace("\n", "\r\n").encode(),
        PLAIN.replace("\n", "\r").encode(),
        gzip.compress(PLAIN.encode(), mtime=0),
        b"\n\n" + PLAIN.encode(),
        PLAIN.replace("größe;", " größe ;").replace(";y", "; y").encode(),
    ],
)
def test_one_table_in_many_forms(tmp_path: Path, content: bytes) -> None:
    table = table_of(tmp_path, content)
    assert table.columns == ["größe", "a;b", "y"]
    assert table.rows() == ROWS


def test_each_column_has_a_name_of_its_own(tmp_path: Path) -> None:
    table = table_of(tmp_path, b"a,,a,y,a\n1,2,3,p,4\n")
    assert table.columns == ["a", "column 2", numbered("a", 2), "y", numbered("a", 3)]
    assert table.rows() == [("1", "2", "3", "p", "4")]


def test_a_target_named_twice_is_no_target(tmp_path: Path) -> None:
    table = table_of(tmp_path, b"y,a,y\np,1,q\nq,2,p\n")
    with pytest.raises(UserError, match="Two columns are named 'y'"):
        learn_target(table, "y")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (
            b"a,b\n1,2\n3,4,5\n",
            "is no regular CSV table: line 3 has 3 cells, and the header",
        ),
        (b'a,b\n"1\n2",2\n3,4,5\n', "line 4 has 3 cells, and the header has 2."),
        (b"# made by a tool\na,b\n1,2\n", "line 2 has 2 cells, and the header has 1."),
        (b"\xff\xfe\x00", "is no table this program can read"),
        (b"a,b\n", "has no rows."),
        (b'a,"b,y\n1,2,0\n', "has no rows: a quote in its header has no second one"),
        (b" \n", "There is nothing in"),
    ],
)
def test_what_is_wrong_with_a_file(tmp_path: Path, content: bytes, sentence: str) -> None:
    with pytest.raises(UserError) as error:
        table_of(tmp_path, content)
    assert sentence in str(error.value)


def test_typed_files_with_every_kind_of_column(tmp_path: Path) -> None:
    from provetree.cli.columns import learn_columns, use_columns

    n = 40
    number = polars.Series(range(n))
    columns: dict[str, Any] = {
        "whole": number * 3 % 7,
        "real": number / 3,
        "truth": number % 2 == 0,
        "date": number.cast(polars.Date),
        "moment": (number * 10**12).cast(polars.Datetime("us", "UTC")),
        "time": (number * 7 * 10**9).cast(polars.Time),
        "duration": number.cast(polars.Duration),
        "decimal": (number * 5).cast(polars.Decimal(10, 2)),
        "category": (number % 3).cast(polars.String).cast(polars.Categorical),
        "enum": (number % 2).cast(polars.String).cast(polars.Enum(["0", "1"])),
        "list": [[1]] * n,
        "struct": [{"a": 1}] * n,
        "binary": [b"x"] * n,
        "nothing": polars.Series([None] * n),
        "y": ["p", "q"] * (n // 2),
    }
    table = polars.DataFrame(columns)
    for write in ("write_parquet", "write_ipc", "write_ipc_stream"):
        path = tmp_path / write
        getattr(table, write)(path)
        found = learn_target(read_table(str(path)), "y")
        rows, labels = found.rows, found.values
        learned = learn_columns(rows, "y")
        notes = dict(learned.notes)
        assert len(labels) == n
        assert [name for name, note in notes.items() if note.startswith("left out")] == [
            "list",
            "struct",
            "binary",
            "nothing",
        ]
        assert use_columns(rows, learned.columns).equals(learned.values)
