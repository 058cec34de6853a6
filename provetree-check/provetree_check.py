"""Checks certificates of optimal decision trees by docs/certificate.md: one file, to be read."""

import argparse
import csv
import hashlib
import io
import json
import os
import re
import sys
from collections import namedtuple
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from itertools import combinations
from operator import ge
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # --jobs shares the work among processes
import numpy as np  # noqa: E402

MISSING = {"", "NA", "N/A", "NaN", "nan", "NULL", "null", "?"}
NUMBER = re.compile(r"\s*[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d{1,4})?|inf|infinity)\s*", re.I | re.A)
WEIGHT = re.compile(r"\s*[+-]?[0.]*(\d\.?){0,18}[0.]*(e[+-]?\d{1,4})?\s*", re.I | re.A)
WHOLE = r"\b(?:0|[1-9]\d{0,17})\b"  # in the forms below 0 is such a number, 1 one above 0, T a text
PARTS = str.maketrans({"0": WHOLE, "1": r"\b[1-9]\d{0,17}\b", "T": r'"(?:[^"\\]|\\.)*"'})
CLAIM = r"\[\[0,0\],0,0,\[(\[0,0,0\],?)*\](,\[0,0\],\[(\[0,0,0,0,0\],?)*\])?\]".translate(PARTS)
KINDS = r'"number"|"empty"|"(category|first|last|is)"(,T)*|"sum",T,0,T,0,T'
FORMS = rf"T T null|\[T,1,1\] \[(\[T,1\],?)*\] \[(\[T,({KINDS})\],?)*\] 0 T 1 0 0 0 0 -?0"
FORMS = [*FORMS.split(), r"null|(0|[][,])+", r"null|\[(0,?)*\]"]
FIELDS = "target weight classes features rows sum scale penalty depth splits min_leaf bound tree"
Header = namedtuple("Header", f"made_by {FIELDS} sample")
HEADER = ",".join(f'"{x}":({y.translate(PARTS)})' for x, y in zip(Header._fields, FORMS))
LISTED = {"first", "last", "is", "empty"}  # features of which only some splits count
MOST_COST, MOST_WEIGHT, MOST_DEPTH = 10**18, 2**50, 64
FEW_RANKS, FEW_SPLITS, MOST_CELLS, STEP = 32, 640, 2**20, np.uint64(0x9E3779B97F4A7C15)


class RefusedError(Exception):
    """The certificate does not show what it claims; the message says where and why."""


def need(holds, why):
    if not holds:
        raise RefusedError(why)


def number(text):
    need(NUMBER.fullmatch(text or ""), f"'{(text or '')[:40]}' is no number")
    return float(text)


def read_certificate(path):
    """Return the header of a certificate, and its claims."""
    data = Path(path).read_bytes()
    content, _, digest = data.rpartition(b"\ndigest ")
    need(data.startswith(b"provetree certificate "), "this is no certificate")
    need(data.startswith(b"provetree certificate 1\n"), "its version is not known")
    is_whole = digest == hashlib.sha256(content + b"\n").hexdigest().encode() + b"\n"
    need(is_whole, "the certificate is cut off or damaged")
    lines = content.decode().split("\n")[1:]
    for k, line in enumerate(lines):
        good = re.fullmatch(CLAIM if k else rf"\{{{HEADER}\}}", line, re.A)
        need(good, f"claim {k} is not of the form" if k else "the header is not of the form")
    header, *claims = map(json.loads, lines)
    json.dumps(header, ensure_ascii=False).encode()  # fails where a text has half a character
    need(header["depth"] <= MOST_DEPTH, "the depth is out of bounds")
    return Header(**header), claims


def read_csv(path):  # cells by the name of their column; None where missing
    text = Path(path).read_bytes().decode("utf-8-sig")
    mark = max(",;\t|", key=re.sub(r'"[^"]*"', "", text.lstrip("\r\n").split("\n", 1)[0]).count)
    lines = [x for x in csv.reader(io.StringIO(text, newline=""), delimiter=mark) if x]
    need(lines and max(map(len, lines)) == len(lines[0]), "the table is empty or irregular")
    names, cells = [name.strip() or f"column {i}" for i, name in enumerate(lines[0], 1)], {}
    for i, name in enumerate(names):
        again = names[: i + 1].count(name)
        name += f" (column {again} of this name)" * (again > 1)
        cells[name] = [None if i >= len(x) or x[i] in MISSING else x[i] for x in lines[1:]]
    return cells


def ordered_columns(features, cells, present):  # ranks in all that have splits of their own
    found, known, kept, repeats = [], {}, [], set()
    for at, (name, kind, *rest) in enumerate(features):
        values, noise = [] if kind == "sum" else [cells[name][i] for i in present], 0.0
        if kind in ("category", "is", "empty"):
            choices = {"category": [*rest, None], "is": rest, "empty": [None]}[kind]
            need(kind != "category" or {*values} <= {*choices}, f"'{name}' has a new category")
            found += [np.array([x != choice for x in values]) for choice in choices]
            continue
        if kind == "sum":
            (a, b, noise), (x, y) = map(number, rest[::2]), (known[i] for i in rest[1::2])
            need(np.isfinite([a, b, noise]).all() and noise >= 0, "a sum is wrong")
            with np.errstate(over="ignore", invalid="ignore"):
                numbers, sizes = a * x + b * y, np.abs(a * x) + np.abs(b * y)
            size = np.max(sizes, initial=0, where=~np.isnan(numbers))
            need(noise <= 1e-12 * size, "sums that differ are taken for equal")
        else:
            numbers = known[at] = np.array([np.nan if x is None else number(x) for x in values])
        gaps = np.isnan(numbers)  # a rank says how many cuts are below the number
        distinct = np.unique(numbers[~gaps])
        cuts = distinct[:-1][np.diff(distinct) > noise]
        if kind in LISTED:
            cuts = np.array([number(x) for x in rest])
            need((cuts[1:] >= cuts[:-1]).all(), f"the splits of '{name}' are out of order")
        ends = [-1, len(cuts) + 1][: 1 + gaps.any()]  # missing: before all, and after all
        ends = {"first": [0], "last": [len(cuts)]}.get(kind, ends)
        found += [np.where(gaps, end, np.searchsorted(cuts, numbers)) for end in ends]
    lists_splits = any(kind in LISTED for _, kind, *_ in features)
    for ranks in (np.unique(x, return_inverse=True)[1].ravel() for x in found):
        top = int(ranks.max())
        if top > 0 and (lists_splits or ranks.tobytes() not in repeats):
            kept.append(ranks)  # others may be equal, mirrored, or a split of one of few values
            few = [(ranks > k) * 1 for k in range(top) if top < FEW_RANKS]
            repeats |= {x.tobytes() for y in (ranks, *few) for x in (y, y.max() - y)}
    return kept, lists_splits


class Table:
    """The table as the page says it is read: merged rows in their order."""

    def __init__(self, header, cells):
        name, above, below = (header.target, 1, 1) if header.weight is None else header.weight
        used = {name for name, kind, *_ in header.features if kind != "sum"}
        for column in sorted(used | {header.target, name}):
            need(column in cells, f"the table has no column '{column}'")
        self.columns = len(used), len({*cells} - {header.target, name})
        labels = [float(x) if x and NUMBER.fullmatch(x) else x for x in cells[header.target]]
        known = [float(x) if NUMBER.fullmatch(x) else x for x, _ in header.classes]
        code, weights = {x: i for i, x in enumerate(known)}, [1] * len(labels)
        if header.weight is not None:
            need(all(WEIGHT.fullmatch(x or "") for x in cells[name]), "a weight is none")
            weights = [Fraction(x.strip()) * Fraction(above, below) for x in cells[name]]
            good = all(w.denominator == 1 and 0 <= w < MOST_WEIGHT for w in weights)
            need(good, "a weight is not whole, or too large")
        need(len(code) == len(known), "two classes of the certificate are the same")
        present = [i for i, x in enumerate(labels) if weights[i] > 0 and x is not None]
        classes = [code.get(labels[i], -1) for i in present]
        need(present and min(classes) >= 0, "the table has no rows, or a label of its own")
        weights = [int(weights[i]) * header.classes[c][1] for i, c in zip(present, classes)]
        need(sum(weights) < min(MOST_WEIGHT, MOST_COST // header.scale), "too much weight")
        columns, self.lists_splits = ordered_columns(header.features, cells, present)
        rows, place = np.unique(np.array([*columns, classes]).T, axis=0, return_inverse=True)
        self.ranks, self.classes = np.ascontiguousarray(rows[:, :-1].T), rows[:, -1]
        sums = [np.bincount(place.ravel(), x) for x in (weights, None)]
        self.weights, self.counts = np.array(sums, dtype=np.int64)
        numbers = np.c_[rows, self.weights, self.counts].astype(np.uint64) + np.uint64(1)
        keys = numbers @ STEP ** np.arange(numbers.shape[1], dtype=np.uint64)
        found = len(present), str(int((keys * (keys >> np.uint64(32))).sum()))
        need(found == (header.rows, header.sum), "the certificate is about another table")


def smallest(depth, splits):  # form of a shape
    depth = min(depth, splits, MOST_DEPTH)
    return depth, min(splits, 2**depth - 1)


class Node:
    """The rows of a claim, and their splits: grids have a line for each column, by rising rank."""

    def __init__(self, proof, mask):
        self.header, self.n, rows = proof.header, int(mask.sum()), np.flatnonzero(mask)
        self.ranks, self.lines, codes = (x.take(rows, axis=1) for x in proof.by_row)
        counts = np.bincount(codes.ravel(), minlength=len(proof.rank))
        n_left = counts.cumsum() - proof.column * self.n
        kept = np.flatnonzero((counts > 0) & (n_left < self.n))
        self.column, self.rank = proof.column[kept], proof.rank[kept]
        self.ends = self.column * self.n + n_left[kept] - 1  # the last row left of each split
        self.order = (np.cumsum(mask) - 1)[proof.order[mask[proof.order]]].reshape(codes.shape)
        self.left, self.total = self.left_of(self.lines), self.lines.sum(axis=1, keepdims=True)
        self.sides = np.stack([self.left, self.total - self.left])
        self.fits = self.sides[:, -1].min(axis=0) >= self.header.min_leaf  # the counts of rows
        place = np.arange(len(kept)) - np.searchsorted(self.column, self.column)
        before = np.zeros((len(self.ranks), place.max(initial=0) + 1), dtype=np.int64)
        self.at = self.column * before.shape[1] + place  # of each split in the grids
        before.put(self.at, self.left[:-1].sum(axis=0))
        self.before = np.maximum.accumulate(before, axis=1)  # weight on the left

    def left_of(self, lines):  # sums left of all splits; a line has a number for each row
        sums = lines.take(self.order, axis=-1).cumsum(axis=-1, dtype=lines.dtype)
        return sums.reshape(*lines.shape[:-1], -1).take(self.ends, axis=-1)

    def leaves(self, lines, labels=1):  # what they cost, or trees of so many labels at least
        by_class = np.sort(lines[..., :-1, :].astype(np.int64), axis=-2)
        return self.header.scale * by_class[..., :-labels, :].sum(axis=-2)

    def stumps(self, tries):
        """Return what both sides of some splits cost as stumps: of any size, and as it must be."""
        sets = self.ranks[self.column[tries]] <= self.rank[tries][:, None]
        sides, large, far = self.sides[:, :, tries], True, int(self.total.sum()) + 1
        if self.header.min_leaf > 1:
            inner = self.left_of(sets * self.lines[-1])
            parts = np.stack([inner, self.left[-1] - inner])
            large = np.minimum(parts, sides[:, -1, :, None] - parts) >= self.header.min_leaf
        right = np.stack([sides[:, :-1].max(axis=1)] * 2)
        # A stump has two labels, i and j. With d the weight of j less that of i left of its split,
        # it gets i + d right, or j - d: the extremes of d on each side are enough.
        for i, j in combinations(np.argsort(-self.total[:-1, 0]), 2):
            if (sides[:, i] + sides[:, j] <= right).all():
                continue  # these labels are no better
            inner = self.left_of(sets * (self.lines[j] - self.lines[i]))
            parts = np.stack([inner, self.left[j] - self.left[i] - inner])
            for best, where in zip(right, (True, large)):
                up = sides[:, i] + parts.max(axis=2, where=where, initial=-far)
                down = sides[:, j] - parts.min(axis=2, where=where, initial=far)
                np.max([best, up, down], axis=0, out=best)
        wrong = (sides[:, :-1].sum(axis=1) - right).astype(np.int64)
        return np.minimum(self.header.scale * wrong + self.header.penalty, self.leaves(sides))

    def find_open(self, grids, relaxed, lower):
        """Return which splits what is known of both sides (any leaves; large ones) leaves open."""
        slack, up, back = self.header.scale * self.before, np.maximum.accumulate, np.s_[:, ::-1]
        left, right = grids[0]
        left = np.maximum(up(left, axis=1), up((left - slack)[back], axis=1)[back] + slack)
        right = np.maximum(up(right[back], axis=1)[back], up(right + slack, axis=1) - slack)
        cost = (left + right).take(self.at) + self.header.penalty
        large = np.maximum([left, right], grids[1]).sum(axis=0).take(self.at) + self.header.penalty
        return (cost < relaxed) | (large < lower) & self.fits

    def work_out(self, grids, shapes, relaxed, lower):
        """Find what both sides cost, leaves or stumps, by as few splits as close all of them."""
        deep = np.array([depth > 0 for depth, _ in shapes])[:, None]
        known, tried = grids.reshape(2, 2, -1), np.zeros(len(self.at), dtype=bool)
        leaves, least = self.leaves(self.sides), self.leaves(self.sides, 2) + self.header.penalty
        known[:, :, self.at] = np.where(deep, np.minimum(leaves, least), leaves)
        while deep.any():
            still = np.flatnonzero(self.find_open(grids, relaxed, lower))
            if not len(still) or tried[still].any():
                break
            run = (tried.cumsum() + self.column)[still]  # of those between two that were tried
            first = np.flatnonzero(np.diff(run, prepend=-1))
            tries = still[first + np.diff(first, append=len(run)) // 2]
            tried[tries] = True
            for now in np.array_split(tries, len(tries) * self.ranks.size // MOST_CELLS + 1):
                known[:, :, self.at[now]] = np.where(deep, self.stumps(now), leaves[:, now])


class Proof:
    """All claims of a certificate, and what is needed to check each of them."""

    def __init__(self, header, claims, table):
        self.header, self.claims, self.table, self.ranks = header, claims, table, table.ranks
        self.weights = np.array(table.weights if header.sample is None else header.sample)
        good = self.weights.shape == table.weights.shape and (self.weights <= table.weights).all()
        need(good, "the sample is none of the rows")
        many = table.ranks.max(axis=1, initial=-1) + 1
        self.column = np.repeat(np.arange(len(many)), many)
        self.rank = np.arange(many.sum()) - (np.cumsum(many) - many)[self.column]
        codes = table.ranks + (np.cumsum(many) - many)[:, None]  # a number for each rank
        self.order = np.argsort(table.ranks, axis=1, kind="stable")
        by_class = np.eye(len(header.classes), dtype=int)[:, table.classes] * self.weights
        lines, most = np.array([*by_class, table.counts]), max(self.weights.sum(), header.rows)
        self.by_row = self.ranks, lines.astype(np.int32 if most < 2**30 else np.int64), codes
        # Of few splits, two classes and leaves of any size, all pairs of splits are looked at.
        splits, self.by_pairs = np.flatnonzero(self.rank < (many - 1)[self.column]), None
        if 0 < len(splits) <= FEW_SPLITS and len(header.classes) == 2 > header.min_leaf:
            is_left = self.ranks[self.column[splits]] <= self.rank[splits, None]
            self.by_pairs = is_left.T.astype(float, order="C"), by_class.astype(float)

    def rows_of(self, k):  # which rows a claim is about
        rows = self.weights > 0
        for column, low, high in self.claims[k - 1][3]:
            rows &= (self.ranks[column] >= low) & (self.ranks[column] <= high)
        return rows

    def check_claim(self, k):
        """Check one claim, taking the statements of earlier ones for granted."""
        shape, relaxed, lower, _, *cover = self.claims[k - 1]
        rows = self.rows_of(k)
        if self.by_pairs is not None and not cover and smallest(*shape) == (2, 3):
            return need(relaxed <= lower <= self.least_cost(rows), "a tree of depth 2 costs less")
        node = Node(self, rows)
        need(relaxed <= lower <= node.leaves(node.total)[0], "a single leaf costs less")
        few = node.n - 1 if len(node.column) else 0  # no tree of these rows has more splits
        if relaxed == 0:
            few = min(few, int(node.total[-1, 0]) // max(1, self.header.min_leaf) - 1)
        few = min(few, -(-lower // self.header.penalty) - 1) if self.header.penalty else few
        own = smallest(*(min(x, max(0, few)) for x in shape))
        covered, points = cover or (own, [])
        depth, splits = smallest(*covered)
        need(cover or depth <= 2, "it is too deep to be worked out")
        need(all(map(ge, (depth, splits), own)), "its cover is of smaller trees")
        good = all(max(x[3:]) < k and x[0] < len(self.ranks) for x in points)
        need(good, "it refers to itself or to a later claim, or to no column")
        most = 2 ** max(0, depth - 1) - 1
        divisions = range(max(0, splits - 1 - most), min(most, splits - 1) + 1)
        need(len(divisions) <= self.header.rows, "its cover has more divisions than rows")
        for left in divisions:
            shapes = [smallest(depth - 1, x) for x in (left, splits - 1 - left)]
            grids = self.bounds_of(node, rows, shapes, [x for x in points if x[1] == left])
            if not cover:
                node.work_out(grids, shapes, relaxed, lower)
            at = np.flatnonzero(node.find_open(grids, relaxed, lower))[:1]
            need(not len(at), f"column {node.column[at]} is open at rank {node.rank[at]}")

    def least_cost(self, rows):  # of trees of depth 2; as `Node.stumps`, of all splits at once
        (is_left, lines), scale, penalty = self.by_pairs, self.header.scale, self.header.penalty
        is_left, lines = is_left[rows], lines[:, rows]
        left, total, cost = lines @ is_left, lines.sum(axis=1, keepdims=True), penalty
        inner = (is_left.T * (lines[1] - lines[0])) @ is_left
        for side, part in ((left, inner), (total - left, left[1] - left[0] - inner)):
            stump = np.maximum(side[0] + part.max(axis=1), side[1] - part.min(axis=1))
            wrong = (side.sum(axis=0) - [side.max(axis=0), stump]).astype(np.int64)
            cost = cost + np.minimum(scale * wrong[0], scale * wrong[1] + penalty)
        return min(scale * int(total.min()), int(cost.min()))

    def bounds_of(self, node, rows, shapes, points):  # grids of what earlier claims say of sides
        grids = np.zeros((2, 2, *node.before.shape), dtype=np.int64)
        for column, _, rank, *claims in points:
            low = rows & (self.ranks[column] <= rank)
            at = np.searchsorted(node.before[column], self.weights[low].sum())
            for side, part in enumerate((low, rows & ~low)):
                if claims[side] == 0 or not 0 < part.sum() < node.n:
                    continue
                shape, *bounds = self.claims[claims[side] - 1][:3]
                is_enough = all(map(ge, smallest(*shape), shapes[side]))
                need(is_enough, "it refers to a claim about smaller trees")
                own = self.rows_of(claims[side])
                bounds[1] *= not (part & ~own).any()  # has it all rows of the side?
                bounds = np.array(bounds) - self.header.scale * self.weights[own & ~part].sum()
                grids[:, side, column, at] = np.maximum(grids[:, side, column, at], bounds)
        return grids

    def tree_cost(self, node, rows, depth):  # of a label, or of [column, rank, left, right]
        table = self.table
        need(depth <= self.header.depth, "the tree is deeper than the limits")
        if type(node) is int:
            count = table.counts[rows].sum()
            need(count >= self.header.min_leaf, "a leaf of the tree is too small")
            return self.header.scale * int(table.weights[rows & (table.classes != node)].sum())
        column, rank, *sides = node
        low = self.ranks[int(column)] <= int(rank)
        parts = zip(sides, (rows & low, rows & ~low), strict=True)
        return self.header.penalty + sum(self.tree_cost(*part, depth + 1) for part in parts)

    def check_last(self):  # and the tree
        header = self.header
        if header.tree is not None:
            cost = self.tree_cost(header.tree, self.table.counts > 0, 0)
            need(str(header.tree).count("[") <= header.splits, "the tree has too many splits")
            need(header.bound <= cost, "the tree costs less than the bound")
        if header.bound > 0:
            shape, relaxed, lower, where, *_ = self.claims[-1]
            is_enough = all(map(ge, smallest(*shape), smallest(header.depth, header.splits)))
            need(is_enough and not where, "the last claim is of smaller trees or of some rows only")
            reached = (relaxed if header.sample else lower) >= header.bound
            need(reached, "the last claim does not reach the bound")

    def sentence(self):
        h, (used, n) = self.header, self.table.columns
        leaves = f" and {h.splits + 1} leaves" * (h.splits < 2**h.depth - 1)
        leaves += f" with at least {h.min_leaf} rows in each leaf" * (h.min_leaf > 1)
        text = f"no tree of depth {h.depth}{leaves}"
        text += " over the listed splits" * self.table.lists_splits
        costs = f" costs less than {h.bound} ({h.scale} an error, {h.penalty} a split)"
        is_count = (h.scale, h.penalty, self.table.weights.sum()) == (1, 0, h.rows)
        text += f" makes fewer than {h.bound} errors" if is_count else costs
        return f"{text} on these {h.rows} rows" + f" over {used} of {n} columns" * (used < n)


def check(certificate, cells, part=1, parts=1):
    """Return what is checked of a table, given as text by column; refuse whatever is in doubt."""
    try:
        where = "the certificate is refused"
        header, claims = read_certificate(certificate)
        proof = Proof(header, claims, Table(header, cells))
        proof.check_last()
        for k in range(part, len(claims) + 1, parts):
            where = f"claim {k} of {len(claims)} fails"
            proof.check_claim(k)
    except Exception as error:  # whatever is not as the page says
        raise RefusedError(f"{where}: {error}") from None
    return proof.sentence()


def main(arguments=None):
    """Check a certificate against a CSV file; exit status 0 only where it holds."""
    parser = argparse.ArgumentParser(prog="provetree-check", description=main.__doc__)
    parser.add_argument("certificate")
    parser.add_argument("table", help="CSV file")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--part", default="1/1", metavar="I/N", help="check only part I of N")
    given = parser.parse_args(arguments)
    try:
        part, parts = (int(x) for x in given.part.split("/"))
        need(1 <= part <= parts and given.jobs >= 1, "there is no such part, or no job")
        cells, jobs = read_csv(given.table), range(part, part + parts * given.jobs, parts)
        tasks = [(given.certificate, cells, job, parts * given.jobs) for job in jobs]
        with ProcessPoolExecutor(given.jobs) as pool:
            said, *_ = pool.map(check, *zip(*tasks))
    except (RefusedError, OSError, RuntimeError, ValueError, csv.Error, MemoryError) as error:
        print(f"not checked: {error}", file=sys.stderr)
        return 1
    print(f"checked: {said}" if parts == 1 else f"part {part} of {parts} holds of: {said}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
