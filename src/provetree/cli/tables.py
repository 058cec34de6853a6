"""Reads table files: CSV (any separator, gzip too), Parquet and Arrow, by name or from a pipe.

Text formats are read as text, column by column: what the columns mean is decided in one place,
:mod:`provetree.cli.columns`, and the same way for training and for new rows.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import gzip
import io
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from provetree.cli.errors import UserError

if TYPE_CHECKING:
    from polars import DataFrame

__all__ = [
    "MISSING_WORDS",
    "check_file",
    "find_source",
    "numbered",
    "read_table",
    "source_path",
    "write_file",
    "write_text",
]

#: What counts as an empty cell of a text file.
MISSING_WORDS = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "?")

_SEPARATORS = (",", ";", "\t", "|")
_GZIP, _PARQUET, _ARROW = b"\x1f\x8b", b"PAR1", b"ARROW1"
#: The first four bytes of a stream of Arrow record batches.
_ARROW_STREAM = b"\xff\xff\xff\xff"
#: Bytes of a file that are looked at to find its separator.
_SAMPLE = 65536


def read_table(source: str) -> DataFrame:
    r"""Return the table of a file.

    Parameters
    ----------
    source : str
        Name of the file; "-" reads the standard input. The format is found by looking at the
        first bytes, not by the name.

    Returns
    -------
    polars.DataFrame
        Columns of a text file are all text, with missing values where the cell is empty or says
        so ("NA", "?", ...); other formats keep their types.

    Raises
    ------
    UserError
        Where there is no such file or it holds no table.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from provetree.cli.tables import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "table.csv"
    >>> _ = path.write_text("age;port\n22;S\n?;C\n")
    >>> read_table(str(path)).rows()
    [('22', 'S'), (None, 'C')]
    """
    content = _content(source)
    shown = "the standard input" if source == "-" else f"'{source}'"
    if not content.strip():
        raise UserError(f"There is nothing in {shown}: a table with a header line is needed.")
    if content.startswith((_PARQUET, _ARROW, _ARROW_STREAM)):
        table, lost = _typed(content, shown), ""
    else:
        table, lost = _text(content, shown), _swallowed(content)
    if table.width == 0 or table.height == 0:
        raise UserError(f"The table in {shown} has no rows{lost}.")
    return table


def _swallowed(content: bytes) -> str:
    """Return what may have become of the rows of a text that has some."""
    header, *rows = content.strip().splitlines()
    if not rows or header.count(b'"') % 2 == 0:
        return ""
    return ": a quote in its header has no second one, so that all that follows is part of a name"


def check_file(name: str) -> None:
    """Say that a file is not there, before anything that takes long to import is needed.

    Examples
    --------
    >>> from provetree.cli.tables import check_file
    >>> check_file("nowhere.csv")
    Traceback (most recent call last):
        ...
    provetree.cli.errors.UserError: There is no file 'nowhere.csv'.
    """
    # What else is wrong with a name is said where the file is read.
    with contextlib.suppress(OSError, ValueError):
        try:
            if name != "-":
                os.stat(name)
        except FileNotFoundError:
            raise UserError(f"There is no file '{name}'.") from None


def write_text(text: str, target: str) -> None:
    r"""Write a text to a file, packed where its name ends in .gz; "-" is the standard output.

    Examples
    --------
    >>> from provetree.cli.tables import write_text
    >>> write_text("done\n", "-")
    done
    """
    if target == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    data = text.encode()
    write_file(gzip.compress(data) if target.endswith(".gz") else data, target)


def write_file(data: bytes, target: str) -> None:
    """Write a file, or say in one sentence why it cannot be written."""
    try:
        Path(target).write_bytes(data)
    except OSError as error:
        raise UserError(f"'{target}' could not be written: {error.strerror}.") from None


def source_path(table: str, model_file: str) -> str | None:
    """Return where a table is, seen from the folder of a model file; None for a pipe.

    Such a path still holds when both files are moved together, and says nothing about the rest of
    the computer where they lie in one folder.

    Examples
    --------
    >>> from provetree.cli.tables import source_path
    >>> source_path("data/churn.csv", "models/churn.json")
    '../data/churn.csv'
    """
    if table == "-":
        return None
    try:
        found = os.path.relpath(table, os.path.dirname(os.path.abspath(model_file)))
    except ValueError:  # on another drive
        found = os.path.abspath(table)
    return Path(found).as_posix()


def find_source(source: str | None, model_file: str) -> str:
    """Return the path of the table that a model was made from, or say that it is not there.

    Examples
    --------
    >>> from provetree.cli.tables import find_source
    >>> find_source(None, "model.json")
    Traceback (most recent call last):
        ...
    provetree.cli.errors.UserError: 'model.json' does not say which table it was made from: name \
the table that holds the row, explain MODEL DATA --row N.
    """
    ask = "name the table that holds the row, explain MODEL DATA --row N."
    if source is None:
        raise UserError(f"'{model_file}' does not say which table it was made from: {ask}")
    path = Path(os.path.normpath(Path(model_file).parent / source))
    if not path.is_file():
        raise UserError(f"The table '{path}' that the model was made from is not there: {ask}")
    return str(path)


def _content(source: str) -> bytes:
    if source == "-":
        if sys.stdin is None or sys.stdin.isatty():
            raise UserError("'-' reads the table from a pipe, and nothing is piped in.")
        content = sys.stdin.buffer.read()
    else:
        try:
            content = Path(source).read_bytes()
        except FileNotFoundError:
            raise UserError(f"There is no file '{source}'.") from None
        except IsADirectoryError:
            raise UserError(f"'{source}' is a folder, and a table file is needed.") from None
        except OSError as error:
            raise UserError(f"'{source}' could not be read: {error.strerror}.") from None
    if content.startswith(_GZIP):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError) as error:
            raise UserError(f"'{source}' is a damaged gzip file: {error}.") from None
    return content


def _typed(content: bytes, shown: str) -> DataFrame:
    import polars

    kind, read = "Arrow", polars.read_ipc_stream
    if content.startswith(_PARQUET):
        kind, read = "Parquet", polars.read_parquet
    elif content.startswith(_ARROW):
        read = polars.read_ipc
    try:
        return read(io.BytesIO(content))
    except Exception as error:  # polars has no common class for damaged files
        raise UserError(f"{shown} is a damaged {kind} file: {_first_line(error)}") from None


def _text(content: bytes, shown: str) -> DataFrame:
    import polars

    content = content.removeprefix(b"\xef\xbb\xbf")
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        # What spreadsheets call Unicode text.
        with contextlib.suppress(UnicodeDecodeError):
            content = content.decode("utf-16").encode()
    if b"\x00" in content[:_SAMPLE]:
        raise UserError(
            f"{shown} is no table this program can read: CSV, Parquet and Arrow are known, "
            "and gzip around them."
        )
    try:
        content.decode()
    except UnicodeDecodeError:
        # Old spreadsheets write one byte per letter; every byte is a letter in Latin-1.
        content = content.decode("latin-1").encode()
    if b"\n" not in content:
        content = content.replace(b"\r", b"\n")
    separator = _separator(content)
    try:
        table = polars.read_csv(
            io.BytesIO(content),
            separator=separator,
            infer_schema=False,
            null_values=list(MISSING_WORDS),
        )
    except Exception as error:  # polars has no common class for these
        why = _irregular_line(content, separator) or _first_line(error)
        raise UserError(f"{shown} is no regular CSV table: {why}") from None
    names = _names(content, separator)
    if len(names) == table.width:
        table.columns = names
    return table


def numbered(name: str, number: int) -> str:
    """Return what a column is called that is not the first of its name.

    Examples
    --------
    >>> from provetree.cli.tables import numbered
    >>> numbered("age", 2)
    'age (column 2 of this name)'
    """
    return f"{name} (column {number} of this name)"


def _names(content: bytes, separator: str) -> list[str]:
    """Return the names in the header: without spaces around them, none empty, none twice."""
    end = content.find(b"\n", _SAMPLE)  # a header may be long
    text = content[: end if end >= 0 else None].decode(errors="replace")
    records = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    header = next((record for record in records if record), [])
    seen: dict[str, int] = {}
    names = []
    for i, cell in enumerate(header):
        name = cell.strip() or f"column {i + 1}"
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else numbered(name, seen[name]))
    return names


def _irregular_line(content: bytes, separator: str) -> str | None:
    """Say which line has more cells than the header, if one has."""
    records = csv.reader(io.StringIO(content.decode(), newline=""), delimiter=separator)
    width = 0
    with contextlib.suppress(csv.Error):
        for record in records:
            width = width or len(record)
            if (cells := len(record)) > width:
                return f"line {records.line_num} has {cells} cells, and the header has {width}."
    return None


def _separator(content: bytes) -> str:
    """Return the separator that splits the header into the most columns."""
    header = content[:_SAMPLE].lstrip(b"\r\n").split(b"\n", 1)[0].decode(errors="replace")
    outside = re.sub(r'"[^"]*"', "", header)
    return max(_SEPARATORS, key=outside.count)


def _first_line(error: Any) -> str:
    line = (str(error).strip() or type(error).__name__).splitlines()[0]
    return line.removesuffix(".") + "."
