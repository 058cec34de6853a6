"""Checks certificates of optimal decision trees; docs/certificate.md is the format, rule by rule.

One file, numpy alone, to be read: `Proof.check_claim` checks one claim by what earlier ones state.
"""

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
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # --jobs shares the work among processes
import numpy as np  # noqa: E402

MISSING = {"", "NA", "N/A", "NaN", "nan", "NULL", "null", "?"}
NUMBER = re.compile(r"\s*[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d{1,4})?|inf|infinity)\s*", re.I | re.A)
WHOLE = "rows scale penalty depth splits min_leaf bound"  # numbers of the header
Header = namedtuple("Header", f"{WHOLE} made_by target weight classes features sum tree sample")
LISTED = {"first", "last", "is", "empty"}  # features of which only some splits count
MOST_COST, MOST_WEIGHT, MOST_DEPTH = 2**60, 2**50, 64
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
    content, _, digest = data.rpartition(b"digest ")
    need(data.startswith(b"provetree certificate "), "this is no certificate")
    need(data.startswith(b"provetree certificate 1\n"), "its version is not known")
    is_whole = digest == hashlib.sha256(content).hexdigest().encode() + b"\n"
    need(is_whole, "the certificate is cut off or damaged")
    first, *claims = map(json.loads, content.decode().split("\n")[1:-1])
    header = Header(**first)
    need(header.depth <= MOST_DEPTH, "the depth is out of bounds")
    for key in WHOLE.split():
        least, most = (1 - MOST_COST if key == "bound" else key == "scale"), MOST_COST - 1
        need(type(first[key]) is int and least <= first[key] <= most, f"'{key}' is out of bounds")
    return header, claims


def read_csv(path):
    """Return the cells of a CSV file by the name of their column; None where missing."""
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


def ordered_columns(features, cells, present):
    """Return the ranks of the rows in all ordered columns that have splits of their own."""
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
            need(kind in ("number", "first", "last"), f"a feature of kind '{kind[:20]}'")
            numbers = known[at] = np.array([np.nan if x is None else number(x) for x in values])
        gaps = np.isnan(numbers)  # a rank says how many cuts are below the number
        distinct = np.unique(numbers[~gaps])
        cuts = distinct[:-1][np.diff(distinct) > noise]
        if kind in LISTED:
            cuts = np.array([number(x) for x in rest])
            need((cuts[1:] >= cuts[:-1]).all(), f"the splits of '{name}' are out of order")
        ends = [-1, len(cuts) + 1] if gaps.any() else [0]  # missing: before all, and after all
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
        # Labels are the same where they are the same text or number.
        labels = [float(x) if x and NUMBER.fullmatch(x) else x for x in cells[header.target]]
        known = [float(x) if NUMBER.fullmatch(x) else x for x, _ in header.classes]
        code, weights = {x: i for i, x in enumerate(known)}, [1] * len(labels)
        if header.weight is not None:
            need(all(abs(number(x)) < MOST_WEIGHT for x in cells[name]), "a weight is too large")
            weights = [Fraction(x.strip()) * Fraction(above, below) for x in cells[name]]
            need(all(w.denominator == 1 and w >= 0 for w in weights), "a weight is not whole")
        need(len(code) == len(known), "two classes of the certificate are the same")
        present = [i for i, x in enumerate(labels) if weights[i] > 0 and x is not None]
        classes = [code.get(labels[i], -1) for i in present]
        need(present and min(classes) >= 0, "the table has no rows, or a label of its own")
        weights = [int(weights[i]) * header.classes[c][1] for i, c in zip(present, classes)]
        is_small = sum(weights) < min(MOST_WEIGHT, MOST_COST // header.scale)
        need(min(weights) > 0 and is_small, "the weights are too large, or not above zero")
        columns, self.lists_splits = ordered_columns(header.features, cells, present)
        rows, place = np.unique(np.array([*columns, classes]).T, axis=0, return_inverse=True)
        self.ranks, self.classes = np.ascontiguousarray(rows[:, :-1].T), rows[:, -1]
        sums = (np.bincount(place.ravel(), x) for x in (weights, None))
        self.weights, self.counts = (x.astype(np.int64) for x in sums)
        numbers = np.c_[rows, self.weights, self.counts].astype(np.uint64) + np.uint64(1)
        keys = numbers @ STEP ** np.arange(numbers.shape[1], dtype=np.uint64)
        found = len(present), str(int((keys * (keys >> np.uint64(32))).sum()))
        need(found == (header.rows, header.sum), "the certificate is about another table")


def smallest(depth, splits):
    """Return the smallest form of a shape."""
    depth = min(depth, splits, MOST_DEPTH)
    return depth, min(splits, 2**depth - 1)


def serves(shape, other):
    """Return whether what is claimed of trees of a shape holds for another one."""
    return all(x >= y for x, y in zip(smallest(*shape), smallest(*other)))


class Node:
    """The rows of a claim, and their splits: grids have a line for each column, by rising rank."""

    def __init__(self, proof, mask):
        self.header, self.n, self.rows = proof.header, int(mask.sum()), np.flatnonzero(mask)
        self.classes = slice(len(proof.header.classes))  # of the lines: counts come after them
        self.ranks, self.lines, codes = (x.take(self.rows, axis=1) for x in proof.by_row)
        counts = np.bincount(codes.ravel(), minlength=len(proof.rank))
        n_left = counts.cumsum() - proof.column * self.n
        kept = np.flatnonzero((counts > 0) & (n_left < self.n))
        self.column, self.rank, self.n_left = proof.column[kept], proof.rank[kept], n_left[kept]
        self.order = (np.cumsum(mask) - 1)[proof.order[mask[proof.order]]].reshape(codes.shape)
        self.left, self.total = self.left_of(self.lines), self.lines.sum(axis=1, keepdims=True)
        self.sides = self.left, self.total - self.left
        many = np.bincount(self.column, minlength=len(self.ranks))  # splits of each column
        self.place = np.arange(len(kept)) - (np.cumsum(many) - many)[self.column]
        before = np.zeros((len(many), many.max(initial=1)), dtype=np.int64)  # weight on the left
        before[self.column, self.place] = self.left[self.classes].sum(axis=0)
        self.before = np.maximum.accumulate(before, axis=1)

    def left_of(self, lines):
        """Return sums left of all splits; a line has a number for each row."""
        sums = lines.take(self.order, axis=-1).cumsum(axis=-1).reshape(*lines.shape[:-1], -1)
        return sums.take(self.column * self.n + self.n_left - 1, axis=-1)

    def leaves(self, lines):
        """Return what leaves of such lines cost."""
        by_class = lines[self.classes].astype(np.int64)
        return self.header.scale * (by_class.sum(axis=0) - by_class.max(axis=0))

    def stumps(self, tries):
        """Return what both sides of some splits cost as stumps: of any size, and as it must be."""
        sets, found = self.ranks[self.column[tries]] <= self.rank[tries][:, None], []
        inner = self.left_of(sets * self.lines[:, None])  # by line, try and split
        for side, part in zip(self.sides, (inner, self.left[:, None] - inner)):
            side, rest = side[:, tries], side[:, tries, None] - part
            good = part[self.classes].max(axis=0) + rest[self.classes].max(axis=0)
            fits = self.header.min_leaf < 2 or np.minimum(part, rest)[-1] >= self.header.min_leaf
            wrong = side[self.classes].sum(axis=0) - [good.max(axis=1), (good * fits).max(axis=1)]
            cost = self.header.scale * wrong.astype(np.int64) + self.header.penalty
            found.append(np.minimum(cost, self.leaves(side)))
        return np.stack(found, axis=1)

    def find_open(self, grids, relaxed, lower):
        """Return which splits what is known of both sides (any leaves; large ones) leaves open."""
        slack, up, back = self.header.scale * self.before, np.maximum.accumulate, np.s_[:, ::-1]
        left, right = grids[0]
        left = np.maximum(up(left, axis=1), up((left - slack)[back], axis=1)[back] + slack)
        right = np.maximum(up(right[back], axis=1)[back], up(right + slack, axis=1) - slack)
        cost = (left + right)[self.column, self.place] + self.header.penalty
        large = np.maximum([left, right], grids[1]).sum(axis=0)[self.column, self.place]
        fits = self.header.min_leaf < 2 or np.minimum(*self.sides)[-1] >= self.header.min_leaf
        return (cost < relaxed) | (large + self.header.penalty < lower) & fits

    def work_out(self, splits, relaxed, lower):
        """Return grids of what both sides cost, leaves or stumps, by as few as close all splits."""
        grids, on = np.zeros((2, 2, *self.before.shape), dtype=np.int64), np.flatnonzero(splits)
        for side, lines in enumerate(self.sides):
            grids[:, side, self.column, self.place] = self.leaves(lines) * (splits[side] == 0)
        for power in range((self.before.shape[1] - 1).bit_length() if any(splits) else -1, -1, -1):
            is_open = self.find_open(grids, relaxed, lower)  # finer and finer
            tries = np.flatnonzero(is_open & (self.place % 2**power == 0))
            pieces = len(tries) * self.ranks.size // MOST_CELLS + 1
            for now in np.array_split(tries, pieces) if len(tries) else ():
                grids[:, on[:, None], self.column[now], self.place[now]] = self.stumps(now)[:, on]
        return grids


class Proof:
    """All claims of a certificate, and what is needed to check each of them."""

    def __init__(self, header, claims, table):
        self.header, self.claims, self.table, self.ranks = header, claims, table, table.ranks
        sample = table.weights if header.sample is None else header.sample
        self.weights = np.array(sample, dtype=np.int64)
        good = len(sample) == len(table.weights) and (self.weights <= table.weights).all()
        need(good and (self.weights >= 0).all(), "the sample is none of the rows")
        many = table.ranks.max(axis=1, initial=-1) + 1
        self.column = np.repeat(np.arange(len(many)), many)
        self.rank = np.arange(many.sum()) - (np.cumsum(many) - many)[self.column]
        codes = table.ranks + (np.cumsum(many) - many)[:, None]  # a number for each rank
        self.order = np.argsort(table.ranks, axis=1, kind="stable")
        # Weights below 2**24 have exact sums in single floats, all others in double ones.
        self.kind = np.float32 if max(self.weights.sum(), header.rows) < 2**24 else float
        by_class = np.eye(len(header.classes))[:, table.classes] * self.weights
        counts = [table.counts] * (header.min_leaf > 1)
        self.by_row = self.ranks, np.array([*by_class, *counts], dtype=self.kind), codes
        # Of few splits, two classes and leaves of any size, all pairs of splits are looked at.
        splits, self.by_pairs = np.flatnonzero(self.rank < (many - 1)[self.column]), None
        if 0 < len(splits) <= FEW_SPLITS and len(header.classes) == 2 > header.min_leaf:
            is_left = self.ranks[self.column[splits]] <= self.rank[splits, None]
            self.by_pairs = np.ascontiguousarray(is_left.T, dtype=self.kind)

    def rows_of(self, k):
        """Return which rows a claim is about."""
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
        if relaxed == 0 and self.header.min_leaf > 1:
            few = min(few, int(node.total[-1, 0]) // self.header.min_leaf - 1)
        few = min(few, -(-lower // self.header.penalty) - 1) if self.header.penalty else few
        own = smallest(*(min(x, max(0, few)) for x in shape))
        covered, points = cover or (own, [])
        depth, splits = smallest(*covered)
        need(cover or depth <= 2, "it is too deep to be worked out")
        need(serves(covered, own), "its cover is of smaller trees")
        most = 2 ** max(0, depth - 1) - 1
        divisions = range(max(0, splits - 1 - most), min(most, splits - 1) + 1)
        need(len(divisions) <= self.header.rows, "its cover has more divisions than rows")
        for left in divisions:
            if cover:
                shapes = smallest(depth - 1, left), smallest(depth - 1, splits - 1 - left)
                grids = self.bounds_of(k, node, rows, shapes, [x for x in points if x[1] == left])
            else:
                grids = node.work_out((left, splits - 1 - left), relaxed, lower)
            at = np.flatnonzero(node.find_open(grids, relaxed, lower))[:1]
            need(not len(at), f"column {node.column[at]} is open at rank {node.rank[at]}")

    def least_cost(self, rows):
        """Return what the best tree of depth 2 costs; d is the weight of class 1 less class 0.

        A split into x and d - x makes |x| + |d - x| of |d|: the largest of |d|, 2x - d and d - 2x.
        """
        is_left, lines = self.by_pairs[rows], self.by_row[1][:, rows]
        left, total, signs = lines @ is_left, lines.sum(axis=1, keepdims=True), lines[1] - lines[0]
        inner, scale, cost = (is_left.T * signs) @ is_left, self.header.scale, self.header.penalty
        for side, x in ((left, inner), (total - left, left[1] - left[0] - inner)):
            extremes = [side[1] - side[0], side.sum(axis=0), x.max(axis=1), x.min(axis=1)]
            d, weight, most, least = np.array(extremes).astype(np.int64)
            right = np.max([abs(d), 2 * most - d, d - 2 * least], axis=0)
            leaf, stump = scale * ((weight - [abs(d), right]) // 2)
            cost = cost + np.minimum(leaf, stump + self.header.penalty)
        return min(scale * int(total.min()), int(cost.min()))

    def bounds_of(self, k, node, rows, shapes, points):
        """Return grids of what earlier claims say of both sides of the splits of a cover."""
        grids = np.zeros((2, 2, *node.before.shape), dtype=np.int64)
        for column, _, rank, *claims in points:
            low = rows & (self.ranks[column] <= rank)
            at = np.searchsorted(node.before[column], self.weights[low].sum())
            for side, part in enumerate((low, rows & ~low)):
                if claims[side] == 0 or not 0 < part.sum() < node.n:
                    continue
                need(0 < claims[side] < k, "it refers to itself or to a later claim")
                shape, *bounds = self.claims[claims[side] - 1][:3]
                need(serves(shape, shapes[side]), "it refers to a claim about smaller trees")
                own = self.rows_of(claims[side])
                bounds[1] *= not (part & ~own).any()  # has it all rows of the side?
                bounds = np.array(bounds) - self.header.scale * self.weights[own & ~part].sum()
                grids[:, side, column, at] = np.maximum(grids[:, side, column, at], bounds)
        return grids

    def tree_cost(self, node, rows, depth):
        """Return what a tree costs: a label, or [column, rank, tree on the left, on the right]."""
        header, table = self.header, self.table
        need(depth <= header.depth, "the tree is deeper than the limits")
        if type(node) is int:
            need(table.counts[rows].sum() >= header.min_leaf, "a leaf of the tree is too small")
            return header.scale * int(table.weights[rows & (table.classes != node)].sum())
        column, rank, *sides = node
        low = self.ranks[column] <= rank
        parts = zip(sides, (rows & low, rows & ~low), strict=True)
        return header.penalty + sum(self.tree_cost(*part, depth + 1) for part in parts)

    def check_last(self):
        """Check the tree, and that the last claim is about the whole table and the limits."""
        header = self.header
        if header.tree is not None:
            cost = self.tree_cost(header.tree, self.table.counts > 0, 0)
            need(str(header.tree).count("[") <= header.splits, "the tree has too many splits")
            need(header.bound <= cost, "the tree costs less than the bound")
        if header.bound > 0:
            shape, relaxed, lower, where, *_ = self.claims[-1]
            is_enough = serves(shape, (header.depth, header.splits))
            need(is_enough and not where, "the last claim is of smaller trees or of some rows only")
            reached = lower if header.sample is None else relaxed
            need(reached >= header.bound, "the last claim does not reach the bound")

    def sentence(self):
        h, (used, n) = self.header, self.table.columns
        text = f"no tree of depth {h.depth}"
        text += f" and {h.splits + 1} leaves" * (h.splits < 2**h.depth - 1)
        text += f" with at least {h.min_leaf} rows in each leaf" * (h.min_leaf > 1)
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
