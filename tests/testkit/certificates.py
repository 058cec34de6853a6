"""Random tables with certificates, and certificates that say something else than they did."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import provetree_check

from provetree import ColumnGenerationClassifier, DL85Classifier, OptimalTreeClassifier


@dataclass(frozen=True)
class CertifiedTable:
    """A table by the names of its columns, its fitted tree, and the certificate."""

    cells: dict[str, list[str | None]]
    model: Any
    path: Path

    @property
    def optimum(self) -> float:
        """The proven cost, in the whole units of the certificate."""
        fields = self.path.read_bytes().split(b"\n\n", 1)[0].decode().split("\n")
        return next(int(line.split("\t")[1]) for line in fields if line.startswith("tree\t"))

    def write_csv(self, path: Path) -> Path:
        """Write the table as a CSV file."""
        rows = zip(*self.cells.values(), strict=True)
        lines = [",".join(self.cells), *(",".join(cell or "" for cell in row) for row in rows)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path


def as_text(cells: dict[str, list[Any]]) -> dict[str, list[str | None]]:
    """Return a table as a checker reads it from a file."""
    return {
        name: [None if cell is None or cell != cell else str(cell) for cell in column]
        for name, column in cells.items()
    }


def certified_table(seed: int, folder: Path, *, most_rows: int = 40) -> CertifiedTable:
    """Return a small random table of any kind, solved and certified."""
    rng = np.random.default_rng(seed)
    if seed % 10 == 7:
        return _of_another_engine(seed, rng, folder, most_rows)
    n, n_columns = int(rng.integers(1, most_rows)), int(rng.integers(1, 5))
    n_classes, depth = int(rng.integers(1, 5)), int(rng.choice([0, 1, 2, 3, 3, 3, 4]))
    few = int(rng.integers(2, 10))
    X = rng.integers(0, few, (n, n_columns)).astype(float)
    if rng.random() < 0.3:
        X = rng.normal(size=(n, n_columns)).round(2)
    if rng.random() < 0.3:
        X[rng.random(X.shape) < 0.15] = np.nan
    if rng.random() < 0.2:
        X[:, -1] = -X[:, 0]  # mirrored
    y = rng.integers(0, n_classes, n)
    if rng.random() < 0.5:
        y = np.where(np.nan_to_num(X[:, 0]) > few / 2, 0, y)
    limits: dict[str, Any] = {}
    if rng.random() < 0.25:
        limits["min_samples_leaf"] = int(rng.integers(1, max(2, min(6, n))))
    if rng.random() < 0.25:
        limits["alpha"] = float(rng.choice([0.01, 0.03, 0.1, 0.3]))
    if rng.random() < 0.2:
        limits["max_leaf_nodes"] = int(rng.integers(2, 7))
    if rng.random() < 0.15:
        limits["class_weight"] = {c: int(rng.integers(1, 4)) for c in range(n_classes)}
    weight = None
    if rng.random() < 0.25 and "class_weight" not in limits:
        weight = rng.integers(0, 4, n) / float(rng.choice([1, 1, 2, 10]))
        weight[0] = 1.0
    table: Any = X
    cells: dict[str, list[Any]] = {f"x{i}": X[:, i].tolist() for i in range(n_columns)}
    if rng.random() < 0.3:
        table = X.astype(object)
        words = np.array(["red", "green", "blue", "white"], dtype=object)[rng.integers(0, 4, n)]
        table[:, 0] = words
        cells["x0"] = words.tolist()
    elif n_columns > 1 and rng.random() < 0.15:
        limits["splits"] = "pairs"
    cells["y"] = y.tolist()
    if weight is not None:
        cells["w"] = weight.tolist()
    path = folder / f"{seed}.ptc"
    model = OptimalTreeClassifier(max_depth=depth, **limits)
    model.certify(table, y, path, weight, weight=None if weight is None else "w")
    return CertifiedTable(as_text(cells), model, path)


def _of_another_engine(
    seed: int, rng: np.random.Generator, folder: Path, most_rows: int
) -> CertifiedTable:
    """Return a table that DL8.5 or column generation has solved."""
    n, n_columns = int(rng.integers(2, most_rows)), int(rng.integers(1, 5))
    y, path = rng.integers(0, int(rng.integers(1, 4)), n), folder / f"{seed}.ptc"
    model: Any
    if rng.random() < 0.5:
        X = rng.integers(0, 2, (n, n_columns)).astype(float)
        depth = (1, 2, 3, None)[int(rng.integers(4))]
        model = DL85Classifier(max_depth=depth, min_support=int(rng.integers(1, 3)))
    else:
        X = rng.integers(0, 9, (n, n_columns)).astype(float)
        model = ColumnGenerationClassifier(
            max_depth=int(rng.integers(1, 3)),
            candidates=("quantiles", "all")[int(rng.integers(2))],
            quantiles=int(rng.integers(1, 4)),
        )
    model.certify(X, y, path)
    cells = {f"x{i}": X[:, i].tolist() for i in range(n_columns)} | {"y": y.tolist()}
    return CertifiedTable(as_text(cells), model, path)


def least_cost(certificate: bytes, cells: dict[str, list[str | None]]) -> int:
    """Return what the best tree costs for which a certificate is, by trying all trees."""
    header = provetree_check.Header(certificate)
    table = provetree_check.Table(header, cells)
    ranks, rows = table.ranks.tolist(), range(len(table.classes))
    splits = {
        sum(1 << row for row in rows if column[row] <= k)
        for column in ranks
        for k in range(max(column))
    }
    known: dict[tuple[int, int, int], int] = {}

    def leaf(mask: int) -> int:
        inside = [row for row in rows if mask >> row & 1]
        if sum(int(table.counts[row]) for row in inside) < header.min_leaf:
            return 2**62
        by_class = [0] * len(header.classes)
        for row in inside:
            by_class[table.classes[row]] += int(table.weights[row])
        return header.scale * (sum(by_class) - max(by_class))

    def best(mask: int, depth: int, budget: int) -> int:
        few = mask.bit_count() - 1
        depth, budget = min(depth, few), min(budget, few)
        budget = min(budget, 2 ** min(depth, 60) - 1)
        if (mask, depth, budget) not in known:
            cost = leaf(mask)
            for left in {mask & split for split in splits} - {0, mask} if budget > 0 else ():
                for on_left in range(budget):
                    sides = best(left, depth - 1, on_left) + best(
                        mask & ~left, depth - 1, budget - 1 - on_left
                    )
                    cost = min(cost, sides + header.penalty)
            known[mask, depth, budget] = cost
        return known[mask, depth, budget]

    return best(2 ** len(rows) - 1, header.depth, header.splits)


def claims_too_much(certificate: bytes, original: bytes, table: CertifiedTable) -> bool:
    """Whether a certificate that was accepted claims more than is true."""

    def problem(data: bytes) -> list[str]:
        told = ("bound\t", "tree\t", "made by\t", "body\t")
        lines = data.partition(b"\n\n")[0].decode(errors="replace").split("\n")
        return sorted(line for line in lines if not line.startswith(told))

    bound = provetree_check.Header(certificate).bound
    if problem(certificate) == problem(original):
        return bound > table.optimum
    return bound > least_cost(certificate, table.cells)


def numbers_of(body: bytes) -> list[int]:
    """Return the numbers of a body."""
    numbers, value, shift = [], 0, 0
    for byte in body:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(value)
            value = shift = 0
    return numbers


def body_of(numbers: list[int]) -> bytes:
    """Return the bytes of numbers."""
    body = bytearray()
    for number in numbers:
        while number >= 128:
            body.append(number & 127 | 128)
            number >>= 7
        body.append(number)
    return bytes(body)


def sealed(header: list[str], body: bytes) -> bytes:
    """Return a certificate whose digest fits its body."""
    lines = [line for line in header if not line.startswith("body\t")]
    lines.append(f"body\t{len(body)}\t{hashlib.sha256(body).hexdigest()}")
    return "\n".join(lines).encode() + b"\n\n" + body


def _raise_bound(header: list[str], numbers: list[int], rng: np.random.Generator) -> None:
    """Claim one more: in the header, and often in the claims as well."""
    found = [i for i, line in enumerate(header) if re.fullmatch(r"bound\t-?\d+", line)]
    if not found:
        return  # that line was changed before
    at = found[0]
    bound = int(header[at].split("\t")[1])
    header[at] = f"bound\t{bound + 1}"
    if rng.random() < 0.3:
        header[:] = [line for line in header if not line.startswith("tree\t")]
    for i, number in enumerate(numbers):
        if number == bound and rng.random() < 0.7:
            numbers[i] = bound + 1


def _change_number(header: list[str], numbers: list[int], rng: np.random.Generator) -> None:
    for _ in range(int(rng.integers(1, 4))):
        i = int(rng.integers(len(numbers)))
        numbers[i] = int(
            rng.choice([0, 1, numbers[i] + 1, max(0, numbers[i] - 1), 2 * numbers[i], 2**61, 2**40])
        )


def _drop_numbers(header: list[str], numbers: list[int], rng: np.random.Generator) -> None:
    i = int(rng.integers(len(numbers)))
    del numbers[i : i + int(rng.integers(1, 5))]


def _swap_numbers(header: list[str], numbers: list[int], rng: np.random.Generator) -> None:
    i, j = rng.integers(len(numbers), size=2)
    numbers[i], numbers[j] = numbers[j], numbers[i]


def _change_header(header: list[str], numbers: list[int], rng: np.random.Generator) -> None:
    """Leave a line out, say it twice, or change one of its numbers."""
    i = int(rng.integers(1, len(header)))
    how = int(rng.integers(3))
    if how == 0:
        del header[i]
    elif how == 1:
        header.insert(i, header[i])
    else:
        fields = header[i].split("\t")
        at = int(rng.integers(1, len(fields))) if len(fields) > 1 else 0
        words = ["0", "1", "-1", "7", "99999999999999999999", "number", "is", "first"]
        fields[at] = str(rng.choice(words))
        header[i] = "\t".join(fields)


def _change_problem(header: list[str], numbers: list[int], rng: np.random.Generator) -> None:
    """Claim the same of other limits, another objective or other weights."""
    at = [
        i
        for i, line in enumerate(header)
        if line.startswith(("objective\t", "limits\t", "class\t", "weight\t"))
    ]
    i = at[int(rng.integers(len(at)))] if at else 0
    fields = header[i].split("\t")
    k = int(rng.integers(1, len(fields))) if len(fields) > 1 else 0
    if fields[k].isdigit():
        fields[k] = str(max(0, int(fields[k]) + int(rng.choice([-2, -1, 1, 1, 2]))))
    header[i] = "\t".join(fields)


def _drop_point(header: list[str], numbers: list[int], rng: np.random.Generator) -> None:
    """Leave out a point of a cover: three numbers, and one less before them."""
    i = int(rng.integers(len(numbers)))
    if numbers[i] > 0:
        numbers[i] -= 1
        del numbers[i + 1 : i + 4]


_MUTATIONS = (
    _change_problem,
    _drop_point,
    _raise_bound,
    _change_number,
    _drop_numbers,
    _swap_numbers,
    _change_header,
)


def mutated(data: bytes, rng: np.random.Generator, weights: list[int] | None = None) -> bytes:
    """Return a certificate that says something else; its digest fits, so that claims are looked at.

    Most claim one more than is true, because these are the ones to be refused. With the `weights`
    of the merged rows, some are about a sample of them.
    """
    text, _, body = data.partition(b"\n\n")
    header, numbers = text.decode().split("\n"), numbers_of(body)
    if rng.random() < 0.7:
        _raise_bound(header, numbers, rng)
    if weights and numbers and numbers[0] == 0 and rng.random() < 0.15:
        less = rng.random() < 0.7
        sample = [
            int(rng.integers(0, w + 1)) if less else w + (rng.random() < 0.2) for w in weights
        ]
        numbers[:1] = [1, *sample]
    for _ in range(int(rng.integers(1, 3))):
        if numbers:
            _MUTATIONS[int(rng.integers(len(_MUTATIONS)))](header, numbers, rng)
    result = sealed(header, body_of(numbers))
    if rng.random() < 0.05:
        result = result[: int(rng.integers(len(result)))]
    if rng.random() < 0.02:
        result = rng.bytes(int(rng.integers(400)))
    return result
