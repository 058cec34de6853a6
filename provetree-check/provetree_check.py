"""Checks certificates of optimal decision trees; docs/certificate.md is the format, rule by rule.

One file, numpy alone, meant to be read. `Proof.check_claim` checks a single claim from what earlier
ones state. "checked" is said only if all claims hold. Nothing here knows how a proof was found.
"""

import argparse
import csv
import gzip
import hashlib
import io
import itertools
import multiprocessing
import os
import re
import sys
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # --jobs shares the work among processes
import numpy as np  # noqa: E402

MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "?")
NUMBER = re.compile(r"\s*[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|inf|infinity)\s*", re.I)
# The lines of the header: how many fields they need, and how many of them there may be.
LINES = {"made by": (0, 0, 10**6), "target": (1, 1, 1), "weight": (3, 0, 1), "class": (2, 0, 10**6),
         "feature": (2, 0, 10**6), "table": (3, 1, 1), "objective": (2, 1, 1), "limits": (3, 1, 1),
         "bound": (1, 1, 1), "tree": (2, 0, 1), "body": (2, 1, 1)}
LISTED = ("first", "last", "is", "empty")  # features of which only some splits count
MOST_COST, MOST_WEIGHT, MOST_DEPTH, MOST_CLAIMS = 2**60, 2**50, 64, 20_000_000
FEW_SPLITS, FEW_RANKS, MOST_CELLS, STEP = 16, 32, 2**20, np.uint64(0x9E3779B97F4A7C15)


class RefusedError(Exception):
    """The certificate does not show what it claims; the message says where and why."""


def need(holds, why):
    if not holds:
        raise RefusedError(why)


def whole(text, least=0, most=MOST_COST - 1):
    fits = re.fullmatch(r"-?[0-9]{1,19}", text) and least <= int(text) <= most
    need(fits, f"'{text[:40]}' is no whole number from {least} to {most}")
    return int(text)


def number(text):
    need(NUMBER.fullmatch(text or ""), f"'{(text or '')[:40]}' is no number")
    return float(text)


class Header:
    """The text lines of a certificate, and its body."""

    def __init__(self, data):
        text, _, self.body = data.partition(b"\n\n")
        first, *lines = text.decode(errors="replace").split("\n")
        need(first.startswith("provetree certificate "), "this is no certificate")
        need(first == "provetree certificate 1", "the version of the certificate is not known")
        found, letters = {key: [] for key in LINES}, {"t": "\t", "n": "\n", "r": "\r"}
        for key, *fields in (line.split("\t") for line in lines):
            need(key in LINES, f"the header has a line '{key[:40]}' that is not known")
            need(len(fields) >= LINES[key][0], f"a line '{key}' of the header is too short")
            found[key].append(
                [re.sub(r"\\(.)", lambda m: letters.get(m[1], m[1]), f) for f in fields])
        for key, (_, least, most) in LINES.items():
            need(least <= len(found[key]) <= most, f"lines '{key}' are missing, or too many")
        [[length, digest, *_]], [self.table] = found["body"], found["table"]
        intact = len(self.body) == whole(length) and hashlib.sha256(self.body).hexdigest() == digest
        need(intact, "the certificate is cut off or damaged")
        self.target, self.features = found["target"][0][0], found["feature"]
        self.weight, self.tree = found["weight"], found["tree"]
        self.classes = [(f[0], whole(f[1], 1)) for f in found["class"]]
        self.scale, self.penalty = map(whole, found["objective"][0][:2])
        self.depth, self.splits, self.min_leaf = map(whole, found["limits"][0][:3])
        need(self.scale >= 1 and self.depth <= MOST_DEPTH, "the objective or the limits are wrong")
        self.bound = whole(found["bound"][0][0], -MOST_COST)
        self.lists_splits = any(kind in LISTED for _, kind, *_ in self.features)


def read_csv(path):
    """Return the cells of a CSV file by the name of their column; None where missing."""
    data = Path(path).read_bytes()
    text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8-sig")
    first = re.sub(r'"[^"]*"', "", text.lstrip("\r\n").split("\n", 1)[0])
    separator = max(",;\t|", key=first.count)
    lines = [x for x in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if x]
    need(lines and max(map(len, lines)) == len(lines[0]), "the table is empty or irregular")
    cells, seen = {}, {}
    for i, cell in enumerate(lines[0]):
        name = cell.strip() or f"column {i + 1}"
        seen[name] = seen.get(name, 0) + 1
        name += f" (column {seen[name]} of this name)" if seen[name] > 1 else ""
        column = [line[i] if i < len(line) else "" for line in lines[1:]]
        cells[name] = [None if x in MISSING else x for x in column]
    return cells


def ordered_columns(features, cells, present):
    """Return the ranks of the rows in all ordered columns, feature by feature."""
    found, known = [], []
    for name, kind, *rest in features:
        values = [] if kind == "sum" else [cells[name][i] for i in present]
        gaps, noise = np.array([x is None for x in values], dtype=bool), 0.0
        known.append(None)
        if kind in ("category", "is", "empty"):
            need(kind != "category" or {*values} <= {*rest, None},
                 f"column '{name}' has a category that is not in the certificate")
            choices = {"category": [*rest, None], "is": rest[:1], "empty": [None]}[kind]
            found += [np.array([x != choice for x in values]) for choice in choices]
            continue
        if kind == "sum":
            numbers, gaps, noise = add_up(known, rest)
        else:
            need(kind in ("number", "first", "last"), f"a feature of kind '{kind[:20]}'")
            numbers = np.array([0.0 if x is None else number(x) for x in values])
            known[-1] = numbers, gaps
        # A rank says how many cuts are below the number.
        distinct = np.unique(numbers[~gaps])
        cuts = distinct[:-1][np.diff(distinct) > noise]
        if kind in LISTED:
            cuts = np.array([number(x) for x in rest])
            need((cuts[1:] >= cuts[:-1]).all(), f"the splits of '{name}' are out of order")
        ranks = np.searchsorted(cuts, numbers, side="left")
        # Missing values come before all numbers, and in another column after them.
        ends = [-1, len(cuts) + 1] if gaps.any() else [0]
        ends = {"first": [0], "last": [len(cuts)]}.get(kind, ends)
        found += [np.where(gaps, end, ranks) for end in ends]
    return [np.unique(ranks, return_inverse=True)[1].ravel() for ranks in found]


def add_up(known, given):
    """Return the numbers of a sum of two earlier features, its gaps, and its noise."""
    need(len(given) == 5, "a sum needs five numbers")
    a, b, noise = (number(given[i]) for i in (0, 2, 4))
    first, second = (known[whole(given[i], 0, len(known) - 1)] for i in (1, 3))
    need(first and second and noise >= 0 and np.isfinite([a, b, noise]).all(),
         "a sum is wrong")
    with np.errstate(over="ignore", invalid="ignore"):
        x, y = a * first[0], b * second[0]
        numbers = x + y
    gaps = first[1] | second[1] | np.isnan(numbers)
    size = np.max(np.abs(x) + np.abs(y), initial=0, where=~gaps)
    need(noise <= 1e-12 * size, "sums that differ are taken for equal")
    return np.where(gaps, 0, numbers), gaps, noise


def without_repeats(columns):
    """Leave out columns that split as an earlier one does: equal, mirrored, or one split of few."""
    kept, known = [], set()
    for ranks in columns:
        top = int(ranks.max())
        both_ways = [ranks.tobytes(), (top - ranks).tobytes()]
        if not known.intersection(both_ways):
            kept.append(ranks)
            known.update(both_ways)
            if 1 < top < FEW_RANKS:
                known.update(((ranks > k) * 1).tobytes() for k in range(top))
    return kept


class Table:
    """The table as the page says it is read: merged rows in their order."""

    def __init__(self, header, cells):
        used = {name for name, kind, *_ in header.features if kind != "sum"}
        for name in [header.target, *sorted(used), *(line[0] for line in header.weight)]:
            need(name in cells, f"the table has no column '{name}'")
        others = {*cells} - {header.target, *(line[0] for line in header.weight)}
        self.columns = f" over {len(used)} of {len(others)} columns" * (len(used) < len(others))
        weights = [1] * len(cells[header.target])
        for name, above, below, *_ in header.weight:
            need(all(np.isfinite(number(x)) for x in cells[name]), "a weight is no finite number")
            unit = Fraction(whole(above, 1), whole(below, 1))
            weights = [Fraction(x.strip()) * unit for x in cells[name]]
            need(all(w.denominator == 1 and w >= 0 for w in weights), "a weight is not whole")
        # Labels are the same where they are the same text or number.
        label, labels = lambda x: float(x) if NUMBER.fullmatch(x) else x, cells[header.target]
        code = {label(x): i for i, (x, _) in enumerate(header.classes)}
        need(len(code) == len(header.classes), "two classes of the certificate are the same")
        present = [i for i, x in enumerate(labels) if weights[i] > 0 and x is not None]
        classes = [code.get(label(labels[i]), -1) for i in present]
        need(present and min(classes) >= 0, "the table has no rows, or a label of its own")
        weights = [int(weights[i]) * header.classes[c][1] for i, c in zip(present, classes)]
        fits = sum(weights) < MOST_WEIGHT and sum(weights) * header.scale < MOST_COST
        need(fits, "the weights are too large")
        columns = [x for x in ordered_columns(header.features, cells, present) if x.any()]
        listed = columns if header.lists_splits else without_repeats(columns)
        rows, place = np.unique(np.array([*listed, classes]).T, axis=0, return_inverse=True)
        self.ranks, self.classes = np.ascontiguousarray(rows[:, :-1].T), rows[:, -1]
        self.weights, self.counts = np.zeros((2, len(rows)), dtype=np.int64)
        np.add.at(self.weights, place.ravel(), weights)
        np.add.at(self.counts, place.ravel(), 1)
        self.tops, self.n_rows = self.ranks.max(axis=1, initial=0), len(present)
        self.by_class = np.eye(len(code), dtype=np.int64)[:, self.classes]  # which rows have it
        keys = np.zeros(len(rows), dtype=np.uint64)
        for values in rows.T.astype(np.uint64):
            keys = keys * STEP + values + np.uint64(1)
        keys = (keys ^ keys >> np.uint64(32)) * STEP
        sums = [int((keys * x.astype(np.uint64)).sum()) for x in (self.weights, self.counts)]
        about = [str(x) for x in (len(present), *sums)]
        need(about == header.table[:3], "the certificate is about another table")


def smallest(depth, splits):
    """Return the smallest form of a shape."""
    depth = min(depth, splits)
    return depth, min(splits, 2**depth - 1)


def outside(by_class, labels=1):
    """Return the weight outside the heaviest class, or the two heaviest, along the last axis."""
    if labels >= by_class.shape[-1]:
        return np.zeros(by_class.shape[:-1], dtype=np.int64)
    return np.partition(by_class, -labels, axis=-1)[..., :-labels].sum(axis=-1)


class Node:
    """The rows of a claim, and all splits of them: column by column, by rising rank.

    A grid has a line for each column and a place for each of its splits; place 0 sends no row left,
    and the last place all rows.
    """

    def __init__(self, proof, mask):
        self.scale, self.penalty, self.min_leaf = proof.scale, proof.penalty, proof.min_leaf
        self.kind = proof.kind
        rows = np.flatnonzero(mask)
        self.ranks, self.by_class = proof.table.ranks[:, rows], proof.by_class[:, rows]
        self.counts, self.total = proof.table.counts[rows], self.by_class.sum(axis=1)
        self.n, self.leaf = len(rows), self.scale * int(outside(self.total))
        self.below, everything = None, self.total.sum()
        if proof.below is not None:
            below = proof.below[rows]
            left = (self.by_class.astype(below.dtype) @ below).T.astype(np.int64)
            gone = left.sum(axis=1)
            is_new = np.diff(gone, prepend=0) != 0  # else it is the split before
            is_new[proof.first] = True
            kept = np.flatnonzero(is_new & (gone > 0) & (gone < everything))
            self.below, self.left = below[:, kept], left[kept]
            self.column, self.rank = proof.column[kept], proof.rank[kept]
        else:
            self.order = np.argsort(self.ranks, axis=1, kind="stable")
            ordered = np.take_along_axis(self.ranks, self.order, axis=1)
            self.column, self.last = np.nonzero(ordered[:, 1:] != ordered[:, :-1])
            self.rank = ordered[self.column, self.last]
            self.left = self.left_of(self.by_class).T.astype(np.int64)  # weight by split and class
        self.fits = np.ones(len(self.column), dtype=bool)  # whether both sides have enough rows
        if self.min_leaf > 1:
            self.count = self.left_of(self.counts[None])[0]
            self.fits = np.minimum(self.count, self.counts.sum() - self.count) >= self.min_leaf
        many = np.bincount(self.column, minlength=len(self.ranks))  # splits of each column
        self.place = np.arange(len(self.column)) - (np.cumsum(many) - many)[self.column] + 1
        self.before = np.full((len(many), many.max(initial=0) + 2), everything)
        self.before[:, 0] = 0
        self.before[self.column, self.place] = self.left.sum(axis=1)

    def left_of(self, values):
        """Return sums left of all splits; a line of `values` has one for each row."""
        if self.below is not None:  # one product of matrices; its sums are whole and exact
            return values.astype(self.below.dtype) @ self.below
        kind = np.int32 if np.abs(values).sum(axis=1).max(initial=0) < 2**30 else np.int64
        sums = values.astype(kind)[:, self.order].cumsum(axis=2, dtype=kind)
        return sums[:, self.column, self.last]

    def between(self, plain, fitting):
        """Return what both sides of each split cost at least (rules 2 and 3).

        Given and returned are bounds without the minimum leaf size, and bounds with it.
        """
        slack, up, back = self.scale * self.before, np.maximum.accumulate, np.s_[..., ::-1]

        def with_fewer_rows(left, right):
            from_left = up(right + slack, axis=1) - slack
            return np.array([up((left - slack)[back], axis=1)[back] + slack, from_left])

        with_more_rows = [up(plain[0], axis=1), up(plain[1][back], axis=1)[back]]
        plain = np.maximum(with_fewer_rows(*plain), with_more_rows)
        fitting = np.maximum(with_fewer_rows(*fitting), plain) if self.min_leaf > 1 else plain
        return plain[:, self.column, self.place], fitting[:, self.column, self.place]

    def stumps(self, tries):
        """Return what both sides of some splits cost as stumps: of any size, and as it must be."""
        if self.below is not None:
            sets = self.below[:, tries].T
        else:
            sets = self.ranks[self.column[tries]] <= self.rank[tries][:, None]
        totals, sizes = np.array([self.left[tries], self.total - self.left[tries]]), [True]
        if self.min_leaf > 1:
            inner, count = self.left_of(sets * self.counts), self.count[tries][:, None]
            left = np.array([inner, self.count - inner])
            right = np.array([count, self.counts.sum() - count]) - left
            sizes.append(np.minimum(left, right) >= self.min_leaf)
        best = np.repeat(totals.max(axis=2)[None], len(sizes), axis=0)  # weight that is right
        for i, j in itertools.combinations(range(len(self.total)), 2):
            # Labels i and j: only the extremes of (class j - class i) left of a split matter.
            difference = self.by_class[j] - self.by_class[i]
            inner = self.left_of(sets * difference.astype(self.kind))
            every = (self.left[:, j] - self.left[:, i]).astype(inner.dtype)
            left = np.array([inner, every - inner])
            for k, fits in enumerate(sizes):
                low = left.min(axis=2, where=fits, initial=0).astype(np.int64)
                high = left.max(axis=2, where=fits, initial=0).astype(np.int64)
                best[k] = np.maximum(best[k], totals[..., j] - low)
                best[k] = np.maximum(best[k], totals[..., i] + high)
        costs = self.scale * (totals.sum(axis=2) - best) + self.penalty
        return np.minimum(costs, self.scale * outside(totals))[[0, -1]]

    def work_out(self, depth, splits, relaxed, lower):
        """Check a claim of depth 0, 1 or 2: depth 2 by some splits, until these close all."""
        sides = np.array([self.left, self.total - self.left])
        leaf, tried = self.scale * outside(sides), np.zeros(len(self.column), dtype=bool)
        # Grids of what sides cost: at least (a stump has two labels), and what tries have shown.
        least, exact = np.zeros((2, 2, *self.before.shape), dtype=np.int64)
        if depth == 2:
            stump = self.scale * outside(sides, 2) + self.penalty
            least[:, self.column, self.place] = np.minimum(leaf, stump)
        while depth > 0:
            found = self.between(least, exact) if depth == 2 else [leaf, leaf]
            costs = [left + right + self.penalty for left, right in found]
            if splits == 2:  # one side is a leaf
                costs = [np.minimum(leaf[0] + right, left + leaf[1]) + self.penalty
                         for left, right in found]
            is_open = (costs[0] < relaxed) | (costs[1] < lower) & self.fits
            need(not (is_open & (tried | (depth == 1))).any(), "a tree costs less")
            at = np.flatnonzero(is_open)  # of what is open between two tries, the middle
            runs = np.cumsum(tried | (self.place == 1))[at]
            _, first, many = np.unique(runs, return_index=True, return_counts=True)
            tries, size = at[first + many // 2], max(1, MOST_CELLS // self.ranks.size)
            if not len(tries):
                return
            tried[tries] = True
            for some in np.split(tries, range(size, len(tries), size)):
                places = slice(None), self.column[some], self.place[some]
                least[places], exact[places] = self.stumps(some)


class Proof:
    """All claims of a certificate, and what is needed to check each of them."""

    def __init__(self, header, table):
        self.header, self.table, self.bytes = header, table, iter(header.body)
        self.scale, self.penalty, self.min_leaf = header.scale, header.penalty, header.min_leaf
        self.weights, self.sampled = table.weights, self.next(1)
        if self.sampled:
            self.weights = np.array([self.next(int(w)) for w in table.weights], dtype=np.int64)
        self.by_class, self.below = table.by_class * self.weights, None
        self.column = np.repeat(np.arange(len(table.tops)), table.tops)  # of each threshold
        self.rank = np.concatenate([*map(np.arange, table.tops), []]).astype(np.int64)
        self.first, self.kind = np.flatnonzero(self.rank == 0), np.int64
        if 0 < len(self.rank) <= min(FEW_SPLITS * len(table.tops), 2**26 // len(self.weights)):
            # Few values: which rows each threshold sends left. Sums below 2**24 are exact floats.
            self.kind = np.float32 if max(self.weights.sum(), table.n_rows) < 2**24 else float
            self.below = (table.ranks[self.column] <= self.rank[:, None]).T.astype(self.kind)
        self.claims = []
        for k in range(self.next(MOST_CLAIMS)):
            self.claims.append(self.read_claim(k))
        need(next(self.bytes, None) is None, "bytes are left over after the last claim")

    def next(self, most=MOST_COST - 1):
        """Return the next number of the body: seven bits to a byte, the lowest first."""
        value = shift = 0
        for byte in self.bytes:
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128 or shift == 63:
                need(byte < 128 and value <= most, f"the number {value} is too large where it is")
                return value
        raise RefusedError("a number is cut off")

    def read_claim(self, k):
        """Return (conditions, shape, relaxed, lower, cover) of a claim."""
        where, tops, last = {}, self.table.tops.tolist(), len(self.table.tops) - 1
        for _ in range(self.next(last + 1)):
            column = self.next(last)
            need(column not in where, f"claim {k} has two conditions on one column")
            where[column] = self.next(tops[column]), self.next(tops[column])
        shape, relaxed = smallest(self.next(MOST_DEPTH), self.next()), self.next()
        statement = where, shape, relaxed, relaxed + self.next(MOST_COST - 1 - relaxed)
        if self.next(1) == 0:
            return *statement, None
        covered, all_rows, points = smallest(self.next(MOST_DEPTH), self.next()), self.next(k), []
        for _ in range(self.next()):
            column, left, rank = self.next(last), self.next(), -1
            for _ in range(self.next(tops[column] + 2)):
                rank += self.next(tops[column] + 1)
                points.append((column, left, rank, self.next(k), self.next(k)))
        return *statement, (covered, all_rows, points)

    def rows_of(self, k):
        """Return which rows a claim is about."""
        rows = self.weights > 0
        for column, (low, high) in self.claims[k][0].items():
            rows &= (self.table.ranks[column] >= low) & (self.table.ranks[column] <= high)
        return rows

    def check_claim(self, k):
        """Check one claim, taking the statements of earlier ones for granted."""
        _, shape, relaxed, lower, cover = self.claims[k]
        if lower == 0:
            return  # nothing is claimed
        rows = self.rows_of(k)
        node = Node(self, rows)
        need(lower <= node.leaf, "a single leaf costs less")
        few = max(0, node.n - 1)
        depth, splits = smallest(min(shape[0], few), min(shape[1], few))
        if cover is None:
            need(depth <= 2, "it is too deep to be worked out")
            return node.work_out(depth, splits, relaxed, lower)
        need(cover[0][0] >= depth and cover[0][1] >= splits, "its cover is of smaller trees")
        (depth, splits), all_rows, points = cover
        most = 2 ** max(0, depth - 1) - 1
        divisions = range(max(0, splits - 1 - most), min(most, splits - 1) + 1)
        need(len(divisions) <= self.table.n_rows, "its cover has more divisions than rows")
        for left in divisions:
            shapes = smallest(depth - 1, left), smallest(depth - 1, splits - 1 - left)
            grids = np.zeros((2, 2, *node.before.shape), dtype=np.int64)
            if all_rows and len(node.column):
                grids[0, 0, :, -1], _ = self.served(k - all_rows, shapes[0], rows)
                grids[0, 1, :, 0], _ = self.served(k - all_rows, shapes[1], rows)
            for column, _, rank, *claims in (p for p in points if p[1] == left):
                goes_left = self.table.ranks[column] <= rank
                sides = rows & goes_left, rows & ~goes_left
                place = np.searchsorted(node.before[column], self.weights[sides[0]].sum())
                for side, back in enumerate(claims):
                    if back:
                        at = (slice(None), side, column, place)
                        found = self.served(k - back, shapes[side], sides[side])
                        grids[at] = np.maximum(grids[at], found)
            costs = [sides.sum(axis=0) + self.penalty for sides in node.between(*grids)]
            is_open = (costs[0] < relaxed) | (costs[1] < lower) & node.fits
            for at in np.flatnonzero(is_open)[:1]:
                where = f"rank {node.rank[at]} with {left} splits left"
                raise RefusedError(f"column {node.column[at]} is open at {where}")

    def served(self, k, shape, rows):
        """Return what an earlier claim says of these rows: for any leaves, and as allowed."""
        _, (depth, splits), relaxed, lower, _ = self.claims[k]
        need(depth >= shape[0] and splits >= shape[1], f"it takes claim {k} for deeper trees")
        own = self.rows_of(k)
        gone = self.scale * int(self.weights[own & ~rows].sum())
        has_all = not (rows & ~own).any()
        return max(0, relaxed - gone), max(0, lower - gone) if has_all else 0

    def tree_cost(self, nodes, rows, depth):
        """Return what the tree costs whose nodes come next, in preorder."""
        table, (column, is_split, rank) = self.table, next(nodes, "nothing").partition(":")
        need(depth <= self.header.depth, "the tree is deeper than the limits")
        if is_split:
            low = table.ranks[whole(column, 0, len(table.ranks) - 1)] <= whole(rank)
            sides = [self.tree_cost(nodes, rows & x, depth + 1) for x in (low, ~low)]
            return sum(sides) + self.penalty
        need(table.counts[rows].sum() >= self.min_leaf, "a leaf of the tree is too small")
        is_wrong = table.classes[rows] != whole(column, 0, len(self.by_class) - 1)
        return self.scale * int(table.weights[rows][is_wrong].sum())

    def check_last(self):
        """Check the tree, and that the last claim is about the whole table and the limits."""
        header, table = self.header, self.table
        for cost, tree, *_ in header.tree:
            nodes = iter(tree.split(" "))
            found = self.tree_cost(nodes, np.ones(len(table.classes), dtype=bool), 0)
            need(next(nodes, None) is None and tree.count(":") <= header.splits,
                 "the tree has too many nodes")
            need(found == whole(cost), "the tree costs something else")
            need(header.bound <= found, "the tree costs less than the bound")
        if header.bound <= 0:
            return
        need(self.claims, "there is no claim")
        where, (depth, splits), relaxed, lower, _ = self.claims[-1]
        few = table.n_rows // max(1, self.min_leaf)
        most = min(header.splits, len(table.classes) - 1, few - 1) if len(table.ranks) else 0
        if self.penalty:
            leaf = self.scale * int(outside(table.by_class @ table.weights))
            most = min(most, -(-leaf // self.penalty) - 1)
        asked = smallest(header.depth, max(0, most))
        need(not where, "the last claim is not about all rows")
        need(depth >= asked[0] and splits >= asked[1], "the last claim is about smaller trees")
        reached = relaxed if self.sampled else lower
        need(reached >= header.bound, "the last claim does not reach the bound")

    def sentence(self):
        h, n_rows = self.header, self.table.n_rows
        of = f"depth {h.depth}" + f" and {h.splits + 1} leaves" * (h.splits < 2**h.depth - 1)
        of += f" with at least {h.min_leaf} rows in each leaf" * (h.min_leaf > 1)
        of += " over the listed splits" * h.lists_splits
        what = f"makes fewer than {h.bound} errors"
        if h.penalty or h.scale > 1:
            each = f"{h.scale} for each error, {h.penalty} for each split"
            what = f"costs less than {h.bound} ({each})"
        elif self.table.weights.sum() != n_rows:
            what = f"gets rows of a weight below {h.bound} wrong"
        return f"no tree of {of} {what} on these {n_rows} rows{self.table.columns}"


def check(certificate, cells, part=1, parts=1):
    """Return the sentence that is checked; raise RefusedError where anything is in doubt.

    `cells` maps names of columns to text. With several parts, only the claims of one are checked.
    """
    header = Header(Path(certificate).read_bytes())
    proof = Proof(header, Table(header, cells))
    proof.check_last()
    for k in range(part - 1, len(proof.claims), parts):
        try:
            proof.check_claim(k)
        except RefusedError as error:
            raise RefusedError(f"claim {k} of {len(proof.claims)} fails: {error}") from None
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
        part, parts = (whole(x, 1) for x in (given.part + "/1").split("/")[:2])
        need(part <= parts and given.jobs >= 1, "there is no such part, or no job")
        cells, jobs = read_csv(given.table), range(part, part + parts * given.jobs, parts)
        tasks = [(given.certificate, cells, job, parts * given.jobs) for job in jobs]
        with multiprocessing.Pool(given.jobs) if given.jobs > 1 else nullcontext() as pool:
            said, *_ = (pool.starmap if pool else itertools.starmap)(check, tasks)
    except (RefusedError, OSError, EOFError, ValueError, csv.Error, MemoryError) as error:
        print(f"not checked: {error}", file=sys.stderr)
        return 1
    print(f"checked: {said}" if parts == 1 else f"part {part} of {parts} holds of: {said}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
