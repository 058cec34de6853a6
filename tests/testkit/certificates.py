"""Random tables with certificates, and certificates that say something else than they did."""

from __future__ import annotations

import hashlib
import json
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
    kinds: tuple[str, ...] = ()  # what is special about it

    @property
    def optimum(self) -> int:
        """What its tree costs, in the whole units of the certificate."""
        header, claims = provetree_check.read_certificate(self.path)
        table = provetree_check.Table(header, self.cells)
        proof = provetree_check.Proof(header, claims, table)
        cost: int = proof.tree_cost(header.tree, table.counts > 0, 0)
        return cost

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


def certified_table(
    seed: int, folder: Path, *, most_rows: int = 40, all_kinds: bool = False
) -> CertifiedTable:
    """Return a small random table of any kind, solved and certified.

    With `all_kinds`, some searches have two threads, some are cut off, and some tables are large
    enough to be proven on a sample of their rows.
    """
    rng = np.random.default_rng(seed)
    if seed % 10 == 7:
        return _of_another_engine(seed, rng, folder, most_rows)
    if all_kinds and seed % 50 == 13:
        return _of_many_rows(seed, rng, folder)
    if all_kinds and seed % 100 == 29:
        return _cut_off(seed, rng, folder)
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
    if all_kinds and seed % 9 == 5:
        limits["n_jobs"] = 2
    model = OptimalTreeClassifier(max_depth=depth, **limits)
    model.certify(table, y, path, weight, weight=None if weight is None else "w")
    kinds = [
        *limits,
        *(["weights"] if weight is not None else []),
        *(["missing values"] if np.isnan(X).any() else []),
        *(["categories"] if table is not X else []),
        *(["several classes"] if n_classes > 2 else []),
        f"depth {depth}",
        "few values" if max(map(_n_values, X.T)) <= 10 else "many values",
    ]
    return CertifiedTable(as_text(cells), model, path, tuple(kinds))


def structured_table(seed: int, folder: Path, *, many_rows: bool = False) -> CertifiedTable:
    """Return a solved and certified table whose labels are those of a small tree, but for some.

    Its several classes are bounded by counting them, which small tables have too few rows for. With
    `many_rows`, bounds are also handed on from sets of rows to parts of them.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1050, 1400) if many_rows else rng.integers(130, 500))
    n_classes, n_columns = int(rng.integers(3, 8)), int(rng.integers(3, 6))
    X = rng.integers(0, int(rng.integers(3, 9)), (n, n_columns)).astype(float)
    X[:, 0] = rng.integers(0, 60, n) if many_rows else rng.permutation(n)
    y = np.zeros(n, dtype=int)
    _label(rng, X, y, np.arange(n), int(rng.integers(2, 4)), n_classes)
    wrong = rng.random(n) < rng.choice([0.01, 0.03, 0.1, 0.2])
    y[wrong] = rng.integers(0, n_classes, int(wrong.sum()))
    path = folder / f"{seed}.ptc"
    model = OptimalTreeClassifier(max_depth=3).certify(X, y, path)
    cells = {f"x{i}": X[:, i].tolist() for i in range(n_columns)} | {"y": y.tolist()}
    return CertifiedTable(as_text(cells), model, path, ("structured",))


def _label(
    rng: np.random.Generator, X: np.ndarray, y: np.ndarray, rows: np.ndarray, depth: int, many: int
) -> None:
    """Give rows the labels of a random tree, of so many classes."""
    values = X[rows, int(rng.integers(X.shape[1]))]
    distinct = np.unique(values)
    if depth == 0 or len(distinct) < 2:
        y[rows] = rng.integers(0, many)
        return
    is_left = values <= rng.choice(distinct[:-1])
    for part in (rows[is_left], rows[~is_left]):
        _label(rng, X, y, part, depth - 1, many)


def _of_many_rows(seed: int, rng: np.random.Generator, folder: Path) -> CertifiedTable:
    """Return a table of few errors that is large enough to be searched on a sample of its rows."""
    n = int(rng.integers(1500, 1800))
    X = rng.normal(size=(n, int(rng.integers(2, 4)))).round(int(rng.integers(1, 3)))
    wrong = rng.random(n) < 0.03
    y = ((X[:, 0] > 0.3) & (X[:, 1] < 0.9) | (X[:, 1] < -0.8)) ^ wrong
    path, depth = folder / f"{seed}.ptc", int(rng.choice([2, 3]))
    model = OptimalTreeClassifier(max_depth=depth).certify(X, y.astype(int), path)
    cells = {f"x{i}": X[:, i].tolist() for i in range(X.shape[1])} | {"y": y.astype(int).tolist()}
    rows = model.counters_.get("sampled_rows", n)
    kinds = ("lazy rows" if rows < n else "many rows", f"depth {depth}")
    return CertifiedTable(as_text(cells), model, path, kinds)


def _n_values(column: np.ndarray) -> int:
    return len(np.unique(column))


def _cut_off(seed: int, rng: np.random.Generator, folder: Path) -> CertifiedTable:
    """Return a table whose search may end before its proof."""
    X = rng.normal(size=(int(rng.integers(100, 250)), 3)).round(1)
    y, path = rng.integers(0, 2, len(X)), folder / f"{seed}.ptc"
    work = int(10 ** rng.uniform(4, 7))
    model = OptimalTreeClassifier(max_depth=int(rng.integers(3, 5)), max_work=work)
    model.certify(X, y, path)
    cells = {f"x{i}": X[:, i].tolist() for i in range(3)} | {"y": y.tolist()}
    return CertifiedTable(as_text(cells), model, path, ("limited work", model.status_))


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
        kind = "DL8.5"
        model = DL85Classifier(max_depth=depth, min_support=int(rng.integers(1, 3)))
    else:
        X = rng.integers(0, 9, (n, n_columns)).astype(float)
        kind = "listed candidates"
        model = ColumnGenerationClassifier(
            max_depth=int(rng.integers(1, 3)),
            candidates=("quantiles", "all")[int(rng.integers(2))],
            quantiles=int(rng.integers(1, 4)),
        )
    model.certify(X, y, path)
    cells = {f"x{i}": X[:, i].tolist() for i in range(n_columns)} | {"y": y.tolist()}
    return CertifiedTable(as_text(cells), model, path, (kind,))


def least_cost(certificate: bytes, cells: dict[str, list[str | None]]) -> int:
    """Return what the best tree costs for which a certificate is, by trying all trees."""
    header = provetree_check.Header(**parts_of(certificate)[0])
    table = provetree_check.Table(header, cells)
    ranks, rows = table.ranks.tolist(), range(len(table.classes))
    splits = {
        sum(1 << row for row in rows if column[row] <= k)
        for column in ranks
        for k in range(max(column))
    }
    known: dict[tuple[int, int, int], int] = {}

    alike: dict[tuple[int, int, int], int] = {}  # rows of a class, a weight and a count
    for row, what in enumerate(zip(table.classes, table.weights, table.counts, strict=True)):
        one = tuple(map(int, what))
        alike[one] = alike.get(one, 0) | 1 << row

    def leaf(mask: int) -> int:
        by_class, n_rows = [0] * len(header.classes), 0
        for (label, weight, count), group in alike.items():
            inside = (mask & group).bit_count()
            by_class[label] += weight * inside
            n_rows += count * inside
        return 2**62 if n_rows < header.min_leaf else header.scale * (sum(by_class) - max(by_class))

    def best(mask: int, depth: int, budget: int) -> int:
        few = mask.bit_count() - 1
        depth, budget = min(depth, few), min(budget, few)
        budget = min(budget, 2 ** min(depth, 60) - 1)
        if (mask, depth, budget) not in known:
            cost = leaf(mask)
            for left in {mask & split for split in splits} - {0, mask} if budget > 0 else ():
                for on_left in range(budget):
                    side = best(left, depth - 1, on_left) + header.penalty
                    if side < cost:
                        right = best(mask & ~left, depth - 1, budget - 1 - on_left)
                        cost = min(cost, side + right)
            known[mask, depth, budget] = cost
        return known[mask, depth, budget]

    return best(2 ** len(rows) - 1, header.depth, header.splits)


def claims_too_much(certificate: bytes, original: bytes, table: CertifiedTable) -> bool:
    """Whether a certificate that was accepted claims more than is true."""
    told = ("bound", "tree", "made_by", "sample")
    header, was = parts_of(certificate)[0], parts_of(original)[0]
    if all(header[key] == was[key] for key in was if key not in told):
        return bool(header["bound"] > table.optimum)
    return bool(header["bound"] > least_cost(certificate, table.cells))


def parts_of(data: bytes) -> tuple[dict[str, Any], list[Any]]:
    """Return the header of a certificate, and its claims."""
    header, *claims = map(json.loads, data.decode().split("\n")[1:-2])
    return header, claims


def sealed(header: dict[str, Any], claims: list[Any]) -> bytes:
    """Return a certificate whose digest fits."""
    told = [json.dumps(line, separators=(",", ":")) for line in (header, *claims)]
    return with_digest("\n".join(["provetree certificate 1", *told, ""]).encode())


def with_digest(content: bytes) -> bytes:
    """Return a certificate of such lines."""
    return content + f"digest {hashlib.sha256(content).hexdigest()}\n".encode()


def respelled(data: bytes, rng: np.random.Generator) -> bytes:
    """Return a certificate whose text has more or other characters in places; its digest fits."""
    content = data[: data.rindex(b"digest ")]
    for _ in range(int(rng.integers(1, 3))):
        at = int(rng.integers(content.index(b"\n") + 1, len(content)))
        more = _SPELLINGS[int(rng.integers(len(_SPELLINGS)))]
        content = content[:at] + more + content[at + int(rng.integers(2)) :]
    return with_digest(content)


#: What looks like a number or a text, and may not be one where it stands.
_SPELLINGS = [
    b" ",
    b"\t",
    b"\r",
    b"\n",
    b"0",
    b"00",
    b"-",
    b"+",
    b".0",
    b"e0",
    b"1" * 18,
    b"null",
    b"true",
]
_SPELLINGS += [
    b"",
    b",",
    b'"',
    b"[",
    b"]",
    b"{}",
    b"[1]",
    b"\\",
    b"\\u0031",
    b"\\ud83d",
    b"\\ude00",
]
_SPELLINGS += [
    b"\x00",
    b"\x01",
    b"\x7f",
    b"\xc3\xa9",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xd9\xa1",
    b"\xe2\x80\xa8",
]


def _numbers(claims: list[Any]) -> list[tuple[list[Any], int]]:
    """Return where the numbers of the claims are: a list and a place in it."""
    found: list[tuple[list[Any], int]] = []
    for i, one in enumerate(claims):
        found += _numbers(one) if isinstance(one, list) else [(claims, i)]
    return found


def _raise_bound(header: dict[str, Any], claims: list[Any], rng: np.random.Generator) -> None:
    """Claim one more: in the header, and often in the claims as well."""
    bound = header.get("bound")
    if not isinstance(bound, int):
        return  # it was changed before
    header["bound"] = bound + 1
    if rng.random() < 0.3:
        header["tree"] = None
    for numbers, i in _numbers(claims):
        if numbers[i] == bound and rng.random() < 0.7:
            numbers[i] = bound + 1


def _change_number(header: dict[str, Any], claims: list[Any], rng: np.random.Generator) -> None:
    """Numbers may be one more, far too large, or no numbers."""
    places = _numbers(claims)
    for _ in range(int(rng.integers(1, 4)) if places else 0):
        numbers, i = places[int(rng.integers(len(places)))]
        now = numbers[i]
        more = [now + 1, now - 1, 2 * now] if isinstance(now, int) else []
        words = [None, "1", True, 0.5, float("nan"), float("inf"), [], [0], {}, -1, 10**30]
        others = [0, 1, *more, *more, 2**61, 2**40, words[int(rng.integers(len(words)))]]
        numbers[i] = others[int(rng.integers(len(others)))]


def _change_reference(header: dict[str, Any], claims: list[Any], rng: np.random.Generator) -> None:
    """Refer to the claim itself, or to any other one."""
    covers = [(k, x) for k, x in enumerate(claims, 1) if isinstance(x, list) and len(x) == 6]
    if covers:
        k, claim = covers[int(rng.integers(len(covers)))]
        points = [x for x in claim[5] if isinstance(x, list)] if isinstance(claim[5], list) else []
        for point in points if rng.random() < 0.3 else points[:1]:
            point[-1 if rng.random() < 0.5 else -2 :] = [int(rng.integers(k, len(claims) + 2))]


def _drop_numbers(header: dict[str, Any], claims: list[Any], rng: np.random.Generator) -> None:
    places = _numbers(claims)
    if places:
        numbers, i = places[int(rng.integers(len(places)))]
        del numbers[i : i + int(rng.integers(1, 5))]


def _swap_numbers(header: dict[str, Any], claims: list[Any], rng: np.random.Generator) -> None:
    places = _numbers(claims)
    if places:
        (x, i), (y, j) = (places[int(rng.integers(len(places)))] for _ in range(2))
        x[i], y[j] = y[j], x[i]


def _drop_claim(header: dict[str, Any], claims: list[Any], rng: np.random.Generator) -> None:
    """Leave a claim out, say it twice, or let two change places."""
    if not claims:
        return
    i, j = (int(rng.integers(len(claims))) for _ in range(2))
    how = int(rng.integers(3))
    if how == 0:
        del claims[i]
    elif how == 1:
        claims.insert(i, claims[j])
    else:
        claims[i], claims[j] = claims[j], claims[i]


def _drop_point(header: dict[str, Any], claims: list[Any], rng: np.random.Generator) -> None:
    """Leave out a condition or a point of a cover."""
    lists = [x for claim in claims if isinstance(claim, list) for x in claim]
    lists = [x for x in lists if isinstance(x, list) and x and isinstance(x[0], list)]
    if lists:
        some = lists[int(rng.integers(len(lists)))]
        del some[int(rng.integers(len(some)))]


def _change_header(header: dict[str, Any], claims: list[Any], rng: np.random.Generator) -> None:
    """Leave a field out, add one, or make it something else."""
    keys = list(header)
    key = keys[int(rng.integers(len(keys)))]
    how = int(rng.integers(4))
    if how == 0:
        del header[key]
    elif how == 1:
        header[key + "s"] = header[key]
    else:
        words: list[Any] = [0, 1, -1, 7, 10**20, 2**62, "number", None, [], {}, [1], 0.5, True]
        header[key] = words[int(rng.integers(len(words)))]


def _change_tree(header: dict[str, Any], claims: list[Any], rng: np.random.Generator) -> None:
    places = _numbers([header.get("tree")])
    numbers, i = places[int(rng.integers(len(places)))] if places else ([0], 0)
    numbers[i] = [0, 1, 2, -1, [0, 0, 1, 0]][int(rng.integers(5))]


def _change_problem(header: dict[str, Any], claims: list[Any], rng: np.random.Generator) -> None:
    """Claim the same of other limits, another objective, other weights or other columns."""
    key = str(rng.choice(["scale", "penalty", "depth", "splits", "min_leaf", "classes", "weight"]))
    by = int(rng.choice([-2, -1, 1, 1, 2]))
    now = header.get(key)
    if isinstance(now, int):
        header[key] = now + by
        return
    lists = [x for x in (now or []) if isinstance(x, list)] if key == "classes" else [now]
    some = [x for x in lists if isinstance(x, list) and x and isinstance(x[-1], int)]
    if some:
        some[int(rng.integers(len(some)))][-1] += by


_MUTATIONS = (
    _change_problem,
    _drop_point,
    _drop_claim,
    _raise_bound,
    _change_number,
    _change_reference,
    _drop_numbers,
    _swap_numbers,
    _change_header,
    _change_tree,
)


def mutated(
    data: bytes,
    rng: np.random.Generator,
    weights: list[int] | None = None,
    done: list[str] | None = None,
) -> bytes:
    """Return a certificate that says something else; its digest fits, so that claims are looked at.

    Most claim one more than is true, because these are the ones to be refused. With the `weights`
    of the merged rows, some are about a sample of them. What was changed is noted in `done`.
    """
    done = [] if done is None else done
    header, claims = parts_of(data)
    if rng.random() < 0.7:
        _raise_bound(header, claims, rng)
        done.append("raise bound")
    if weights and header["sample"] is None and rng.random() < 0.15:
        less = rng.random() < 0.7
        header["sample"] = [
            int(rng.integers(0, w + 1)) if less else int(w + (rng.random() < 0.2)) for w in weights
        ]
        done.append("sample of rows")
    for _ in range(int(rng.integers(1, 3))):
        change = _MUTATIONS[int(rng.integers(len(_MUTATIONS)))]
        change(header, claims, rng)
        done.append(change.__name__[1:].replace("_", " "))
    result = sealed(header, claims)
    if rng.random() < 0.1:
        result = respelled(result, rng)
        done.append("respelled")
    if rng.random() < 0.05:
        result = result[: int(rng.integers(len(result)))]
        done.append("cut off")
    if rng.random() < 0.02:
        result = rng.bytes(int(rng.integers(400)))
        done[:] = ["foreign file"]
    return result
