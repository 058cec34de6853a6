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
import re
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np

MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "?")
NUMBER = re.compile(r"\s*[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|inf|infinity)\s*", re.I)
KEYS = ("made by", "target", "weight", "class", "feature", "splits", "column", "same", "table",
        "objective", "limits", "bound", "tree", "body")
MOST_COST, MOST_WEIGHT, MOST_DEPTH, MOST_CLAIMS = 2**60, 2**50, 64, 20_000_000
FEW, MOST_CELLS = 16, 2**22  # thresholds to a column that are counted by one product; cells at once
FAR = 2**30  # sums of 32 bits are nearer


class RefusedError(Exception):
    """The certificate does not show what it claims; the message says where and why."""


def need(holds, why):
    if not holds:
        raise RefusedError(why)


def whole(text, least=0, most=MOST_COST - 1):
    fits = re.fullmatch(r"-?[0-9]{1,19}", text) and least <= int(text) <= most
    need(fits, f"'{text[:40]}' in the header is no whole number from {least} to {most}")
    return int(text)


def number(cell):
    ok = not isinstance(cell, str) or NUMBER.fullmatch(cell)
    need(ok, f"'{str(cell)[:40]}' is no number")
    return float(cell)


def is_missing(cell):
    return cell is None or cell != cell  # NaN is not itself


class Header:
    """The text lines of a certificate, and its body."""

    def __init__(self, data):
        text, _, self.body = data.partition(b"\n\n")
        first, *lines = text.decode(errors="replace").split("\n")
        need(first.startswith("provetree certificate "), "this is no certificate")
        need(first == "provetree certificate 1", "the version of the certificate is not known")
        self.lines, letters = {}, {"t": "\t", "n": "\n", "r": "\r"}
        for line in lines:
            key, *fields = line.split("\t")
            need(key in KEYS, f"the header has a line '{key[:40]}' that is not known")
            plain = [re.sub(r"\\(.)", lambda m: letters.get(m[1], m[1]), f) for f in fields]
            self.lines.setdefault(key, []).append(plain)
        length, digest, *_ = self.one("body", 2)
        intact = len(self.body) == whole(length) and hashlib.sha256(self.body).hexdigest() == digest
        need(intact, "the certificate is cut off or damaged")
        self.target, self.table = self.one("target", 1)[0], self.one("table", 1)[0]
        self.weight = self.one("weight", 3) if "weight" in self.lines else None
        self.classes = [(f[0], whole(f[1], 1)) for f in self.all("class", 2)]
        self.features = self.all("feature", 2)
        # Where only some splits count, a column ends with their thresholds.
        self.some = "splits" in self.lines
        need(not self.some or self.one("splits", 1)[0] == "listed", "such splits are not known")
        listed = [(whole(f[0]), *f[1:]) for f in self.all("column", 2)]
        size = [len(name) if not self.some else 3 if name[1] == "is" else 2 for name in listed]
        self.listed = [name[:n] for name, n in zip(listed, size)]
        self.thresholds = {c[:n]: [number(x) for x in c[n:]] for c, n in zip(listed, size)}
        sorted_all = all(x == sorted(x) for x in self.thresholds.values())
        need(sorted_all, "the splits of a column are out of order")
        self.left_out = {(whole(f[0]), *f[1:-1]): whole(f[-1], -1) for f in self.all("same", 3)}
        self.scale, self.penalty = map(whole, self.one("objective", 2)[:2])
        self.depth, self.splits, self.min_leaf = map(whole, self.one("limits", 3)[:3])
        need(self.scale >= 1 and self.depth <= MOST_DEPTH, "the objective or the limits are wrong")
        self.bound = whole(self.one("bound", 1)[0], -MOST_COST)
        self.tree = self.one("tree", 2) if "tree" in self.lines else None

    def all(self, key, least):
        found = self.lines.get(key, [])
        need(all(len(f) >= least for f in found), f"a line '{key}' of the header is too short")
        return found

    def one(self, key, least):
        need(len(self.all(key, least)) == 1, f"the header needs one line '{key}'")
        return self.lines[key][0]


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


class Table:
    """The table as the page says it is read: merged rows in their order."""

    def __init__(self, header, cells):
        names = [header.target, *(f[0] for f in header.features if f[1] != "sum")]
        for name in names + (header.weight or [])[:1]:
            need(name in cells, f"the table has no column '{name}'")
        labels = cells[header.target]
        weights = [1] * len(labels)
        if header.weight:
            scale = Fraction(whole(header.weight[1], 1), whole(header.weight[2], 1))
            given = [str(cell).strip() for cell in cells[header.weight[0]]]
            need(all(np.isfinite(number(w)) for w in given), "a weight is no finite number")
            weights = [Fraction(w) * scale for w in given]
            need(all(w.denominator == 1 and w >= 0 for w in weights), "a weight is not whole")
        present = [i for i, x in enumerate(labels) if weights[i] > 0 and not is_missing(x)]
        need(present, "the table has no rows")
        code = {label: i for i, (label, _) in enumerate(header.classes)}
        by_number = {float(x): i for x, i in code.items() if NUMBER.fullmatch(x)}
        names = [str(labels[i]) for i in present]
        known = {x: code.get(x, by_number.get(float(x)) if NUMBER.fullmatch(x) else None)
                 for x in set(names)}
        need(None not in known.values(), "the table has a label that is not in the certificate")
        classes = [known[x] for x in names]
        weights = [int(weights[i]) * header.classes[c][1] for i, c in zip(present, classes)]
        fits = sum(weights) < MOST_WEIGHT and sum(weights) * header.scale < MOST_COST
        need(fits, "the weights are too large")
        columns = self.columns_of(header, cells, present)
        named = [*header.listed, *header.left_out]
        need(len(set(named)) == len(named) and set(named) == set(columns),
             "the columns of the certificate are not those of the table")
        for name, witness in header.left_out.items():
            self.check_left_out(columns, name, header.listed, witness)
        rows = np.array([*(columns[name] for name in header.listed), classes], dtype=np.int64).T
        unique, place = np.unique(rows, axis=0, return_inverse=True)
        self.ranks, self.classes = np.ascontiguousarray(unique[:, :-1].T), unique[:, -1]
        self.weights, self.counts = np.zeros((2, len(unique)), dtype=np.int64)
        np.add.at(self.weights, place.ravel(), weights)
        np.add.at(self.counts, place.ravel(), 1)
        self.tops, self.n_classes = self.ranks.max(axis=1, initial=0), len(header.classes)
        shape = np.array([len(unique), len(header.listed), self.n_classes], dtype="<i8")
        table = np.column_stack([unique, self.weights, self.counts]).astype("<i8")
        digest = hashlib.sha256(shape.tobytes() + table.tobytes()).hexdigest()
        need(digest == header.table, "the certificate is about another table")

    @classmethod
    def columns_of(cls, header, cells, present):
        """Return the ranks of all ordered columns."""
        found, known = {}, []
        for f, (name, kind, *rest) in enumerate(header.features):
            need(kind in ("number", "category", "sum"), f"a feature of kind '{kind[:20]}'")
            values = [cells[name][i] for i in present] if kind != "sum" else []
            gaps = np.array([is_missing(v) for v in values], dtype=bool)
            known.append((np.zeros(0), gaps))
            if kind == "category":
                text = [None if gap else str(v) for v, gap in zip(values, gaps)]
                for value in dict.fromkeys(text):
                    ranks = np.array([t != value for t in text], dtype=np.int64)
                    found[(f, "empty") if value is None else (f, "is", value)] = ranks
                continue
            if kind == "sum":
                numbers, gaps = cls.sums(header.features, known[:f], rest)
            else:
                numbers = np.array([0.0 if gap else number(v) for v, gap in zip(values, gaps)])
            known[f] = numbers, gaps
            for key, end in (("first", -1), ("last", 1)) if gaps.any() else (("number", 0),):
                # A missing value comes before all numbers, or after them.
                both = np.array([gaps * end, np.where(gaps, 0, numbers)])
                if header.some:  # how many of the thresholds that count are below the number
                    cuts = np.array(header.thresholds.get((f, key), []))
                    below = np.searchsorted(cuts, numbers, side="left")
                    both = np.where(gaps, len(cuts) * (end > 0), below)[None]
                found[f, key] = np.unique(both, axis=1, return_inverse=True)[1].ravel()
        return {c: r for c, r in found.items() if not header.some or c in header.thresholds}

    @staticmethod
    def sums(features, known, given):
        """Return the numbers of a feature that is a sum of two earlier ones, and its gaps."""
        need(len(given) == 5, "a sum needs five numbers")
        (a, b, noise), last = (number(given[i]) for i in (0, 2, 4)), len(known) - 1
        first, second = (whole(given[i], 0, last) for i in (1, 3))
        good = {features[first][1], features[second][1]} == {"number"} and noise >= 0
        need(good and np.isfinite([a, b]).all(), "a sum of two features is wrong")
        with np.errstate(over="ignore", invalid="ignore"):
            x, y = a * known[first][0], b * known[second][0]
            numbers = x + y
        gaps = known[first][1] | known[second][1] | np.isnan(numbers)
        size = np.max(np.abs(x) + np.abs(y), initial=0, where=~gaps)
        need(noise <= 1e-12 * size, "sums that differ are taken for equal")
        # Sums that are closer to the next one than the noise are equal: the highest of them.
        ordered = np.unique(numbers[~gaps])
        ends = np.append(np.diff(ordered) > noise, True)[: len(ordered)]
        place = np.searchsorted(ordered, numbers[~gaps])
        numbers[~gaps] = ordered[ends][(np.cumsum(ends) - ends)[place]]
        return np.where(gaps, 0, numbers), gaps

    @staticmethod
    def check_left_out(columns, name, listed, witness):
        ranks = columns[name]
        if ranks.min() == ranks.max():
            return  # it splits nothing
        need(0 <= witness < len(listed), f"column {name} is left out without a reason")
        like = columns[listed[witness]]
        steps = [np.diff(s * ranks[np.lexsort((s * ranks, like))]) for s in (1, -1)]
        need(any((s >= 0).all() for s in steps), f"column {name} has splits of its own")


def smallest(depth, splits):
    """Return the smallest form of a shape."""
    depth = min(depth, splits)
    return depth, min(splits, 2**depth - 1)


def between(left, right, before, scale):
    """Return what the sides of every split cost at least (rule 3), by the number of values left."""
    slack, up, down = scale * before, np.maximum.accumulate, slice(None, None, -1)
    left = np.maximum(up(left), up((left - slack)[down])[down] + slack)
    right = np.maximum(up(right[down])[down], up(right + slack) - slack)
    return left, right


def outside(by_class, labels=1):
    """Return the weight outside the heaviest class, or the two heaviest, along the last axis."""
    if labels >= by_class.shape[-1]:
        return np.zeros(by_class.shape[:-1], dtype=np.int64)
    return np.partition(by_class, -labels, axis=-1)[..., :-labels].sum(axis=-1)


class Column:
    """A listed column within a claim's rows. Position p has the rows of its first p values left."""

    def __init__(self, number, node):
        self.number, ranks = number, node.ranks[number]
        self.order = np.argsort(ranks, kind="stable")
        groups = np.flatnonzero(np.diff(ranks[self.order], prepend=-1))
        self.ends, self.values = groups[1:], ranks[self.order][groups]
        sums = np.add.reduceat(np.c_[node.by_row, node.counts][self.order], groups).cumsum(axis=0)
        sums = np.vstack([np.zeros_like(sums[:1]), sums]).astype(np.int64)
        self.sides = np.array([sums, sums[-1] - sums])[:, :, :-1]  # by side, position and class
        self.before = self.sides[0].sum(axis=1)
        self.fits = np.minimum(sums[:, -1], sums[-1, -1] - sums[:, -1]) >= node.min_leaf


class Node:
    """The rows of a claim, and claims about them that are worked out anew."""

    def __init__(self, proof, mask):
        self.scale, self.penalty, self.min_leaf = proof.scale, proof.penalty, proof.min_leaf
        self.rows, self.proof, self.made = np.flatnonzero(mask), proof, None
        self.n, self.counts = len(self.rows), proof.table.counts[self.rows]
        self.by_row = proof.by_row[self.rows]
        self.leaf = self.scale * int(outside(self.by_row.sum(axis=0)))
        self.below = None if proof.below is None else proof.below[self.rows]

    @property
    def columns(self):
        """The columns that have two values or more among the rows."""
        if self.made is None:
            self.ranks = self.proof.ranks[:, self.rows]
            varies = (self.ranks != self.ranks[:, :1]).any(axis=1) if self.n else []
            self.made = [Column(int(c), self) for c in np.flatnonzero(varies)]
        return self.made

    def sums(self, sets, values):
        """Return the sums of `values` that thresholds send left, in each set [0] and the rest [1].

        By side, set and threshold; then the largest number that the sums can be told from.
        """
        if self.below is not None:  # one product of matrices; its sums are whole and exact
            of_sets = (sets * values.astype(self.below.dtype)) @ self.below
            of_all = values.astype(self.below.dtype) @ self.below
        else:
            kind = np.int32 if np.abs(values).sum() < FAR else np.int64
            given = np.vstack([np.where(sets, values.astype(kind), kind(0)), values.astype(kind)])
            parts = [given[:, c.order].cumsum(axis=1, dtype=kind)[:, c.ends - 1]
                     for c in self.columns]
            of_sets = np.concatenate(parts, axis=1)
            of_sets, of_all = of_sets[:-1], of_sets[-1]
        return np.array([of_sets, of_all - of_sets]), FAR if of_sets.itemsize == 4 else MOST_COST

    def stumps(self, sets):
        """Return what each set of rows [0] and the rest [1] cost as leaves, and as stumps.

        Stumps without the minimum leaf size, then with it. A set is a row of truth values.
        """
        of_sets = sets @ self.by_row  # floats, exact: weights are below 2**50 in all
        totals = np.array([of_sets, self.by_row.sum(axis=0) - of_sets]).astype(np.int64)
        leaf, sizes = self.scale * outside(totals), [True]
        if self.min_leaf > 1:
            left, count = self.sums(sets, self.counts)[0], sets @ self.counts
            count = np.array([count, self.counts.sum() - count])[:, :, None]
            sizes.append(np.minimum(left, count - left) >= self.min_leaf)
        right = np.zeros((len(sizes), *totals.shape[:2]), dtype=np.int64)
        for i, j in itertools.combinations(range(totals.shape[2]), 2):
            # Labels i and j: only the extremes of (class j - class i) left of a split matter.
            left, far = self.sums(sets, self.by_row[:, j] - self.by_row[:, i])
            for k, fits in enumerate(sizes):
                low = left.min(axis=2, where=fits, initial=far).astype(np.int64)
                high = left.max(axis=2, where=fits, initial=-far).astype(np.int64)
                best = np.maximum(totals[..., j] - low, totals[..., i] + high)
                right[k] = np.maximum(right[k], best)
        stump = np.minimum(leaf, self.scale * (totals.sum(axis=2) - right) + self.penalty)
        return leaf, stump[0], stump[-1]

    def work_out(self, depth, splits, relaxed, lower):
        """Check a claim of depth 0, 1 or 2."""
        if depth == 0 or self.below is None and not self.columns:
            return
        if depth == 1:
            _, plain, fitting = self.stumps(np.ones((1, self.n), dtype=bool))
            need(plain[0, 0] >= relaxed and fitting[0, 0] >= lower, "a split costs less")
        elif self.below is not None:
            sets = self.below.T > 0
            leaf, *costs = self.stumps(sets)
            plain, fitting = (self.joined(leaf, cost, splits) for cost in costs)
            need((plain >= relaxed).all(), "a tree of depth 2 costs less")
            if self.min_leaf > 1:
                left = sets @ self.counts
                fitting = fitting[np.minimum(left, self.counts.sum() - left) >= self.min_leaf]
            need((fitting >= lower).all(), "a tree of depth 2 costs less")
        else:
            self.work_out_some(splits, relaxed, lower)

    def joined(self, leaf, stump, splits):
        """Return what both sides cost together: two stumps, or a leaf and a stump."""
        if splits == 2:
            return np.minimum(leaf[0] + stump[1], stump[0] + leaf[1]) + self.penalty
        return stump[0] + stump[1] + self.penalty

    def work_out_some(self, splits, relaxed, lower):
        """Check a claim of depth 2: some splits, until these close all others."""
        # By column, side and position: the cost as a leaf; at least as a stump (it has two labels),
        # without the minimum leaf size; and with it, where that was worked out (-1: not yet).
        leaves = [self.scale * outside(c.sides) for c in self.columns]
        stumps = [self.scale * outside(c.sides, 2) + self.penalty for c in self.columns]
        least = [np.minimum(leaf, stump) for leaf, stump in zip(leaves, stumps)]
        exact = [np.full_like(leaf, -1) for leaf in leaves]
        size = max(1, MOST_CELLS // max(self.n, sum(len(c.ends) for c in self.columns)))
        while True:
            tries = []
            for i, (column, leaf, own) in enumerate(zip(self.columns, leaves, exact)):
                plain, tried = np.array(between(*least[i], column.before, self.scale)), own[0] >= 0
                fitting = np.where(tried, np.maximum(own, plain), plain)
                is_open = self.joined(leaf, plain, splits) < relaxed
                is_open |= (self.joined(leaf, fitting, splits) < lower) & column.fits
                is_open[[0, -1]] = False  # these are no splits
                need(not (is_open & tried).any(), "a tree of depth 2 costs less")
                at = np.flatnonzero(is_open)  # of what is open between two tries, the middle
                runs = np.split(at, np.flatnonzero(np.diff(np.cumsum(tried)[at])) + 1)
                tries += [(i, column, int(run[len(run) // 2])) for run in runs if len(run)]
            if not tries:
                return
            for batch in (tries[k : k + size] for k in range(0, len(tries), size)):
                sets = [self.ranks[c.number] <= c.values[p - 1] for _, c, p in batch]
                _, plain, fitting = self.stumps(np.array(sets))
                for k, (i, _, p) in enumerate(batch):
                    least[i][:, p], exact[i][:, p] = plain[:, k], fitting[:, k]


class Proof:
    """All claims of a certificate, and what is needed to check each of them."""

    def __init__(self, header, table):
        self.header, self.table, self.data, self.at = header, table, header.body, 0
        self.scale, self.penalty, self.min_leaf = header.scale, header.penalty, header.min_leaf
        self.ranks, self.weights, self.sampled = table.ranks, table.weights, self.next(1)
        if self.sampled:
            self.weights = np.array([self.next(int(w)) for w in table.weights], dtype=np.int64)
        self.by_row = np.eye(table.n_classes)[table.classes] * self.weights[:, None]
        self.below, n_splits = None, int(table.tops.sum())
        if 0 < n_splits <= min(FEW * len(self.ranks), 16 * MOST_CELLS // len(self.weights)):
            # Few values: which rows each threshold sends left. Sums below 2**24 are exact floats.
            kind = np.float32 if max(self.weights.sum(), table.counts.sum()) < 2**24 else float
            below = [r[:, None] <= np.arange(top) for r, top in zip(self.ranks, table.tops)]
            self.below = np.hstack(below).astype(kind)
        self.claims, self.masks = [], {}
        for k in range(self.next(MOST_CLAIMS)):
            self.claims.append(self.read_claim(k))
        need(self.at == len(self.data), "bytes are left over after the last claim")

    def next(self, most=MOST_COST - 1):
        """Return the next number of the body."""
        value = shift = 0
        while True:
            need(self.at < len(self.data) and shift < 63, "a number is cut off or too long")
            byte, self.at = self.data[self.at], self.at + 1
            value, shift = value | (byte & 127) << shift, shift + 7
            if byte < 128:
                need(value <= most, f"the number {value} is too large where it stands")
                return value

    def read_claim(self, k):
        """Return (conditions, shape, relaxed, lower, cover) of a claim."""
        where, last = {}, len(self.ranks) - 1
        for _ in range(self.next(len(self.ranks))):
            column = self.next(last)
            need(column not in where, f"claim {k} has two conditions on one column")
            top = int(self.table.tops[column])
            where[column] = self.next(top), self.next(top)
        shape = smallest(self.next(MOST_DEPTH), self.next())
        relaxed = self.next()
        lower = relaxed + self.next(MOST_COST - 1 - relaxed)
        if self.next(1) == 0:
            return where, shape, relaxed, lower, None
        covered = smallest(self.next(MOST_DEPTH), self.next())
        all_rows, groups = self.next(k), {}
        for _ in range(self.next()):
            column, left = self.next(last), self.next()
            points, top = groups.setdefault((column, left), []), int(self.table.tops[column])
            for _ in range(self.next(top + 2)):
                rank = self.next(top + 1) + (points[-1][0] if points else -1)
                points.append((rank, self.next(k), self.next(k)))
        return where, shape, relaxed, lower, (covered, all_rows, groups)

    def mask(self, k):
        """Return which rows a claim is about."""
        if k not in self.masks:
            if len(self.masks) * len(self.weights) > 16 * MOST_CELLS:
                self.masks.clear()
            mask = self.weights > 0
            for column, (low, high) in self.claims[k][0].items():
                mask &= (self.ranks[column] >= low) & (self.ranks[column] <= high)
            self.masks[k] = mask
        return self.masks[k]

    def check_claim(self, k):
        """Check one claim, taking the statements of earlier ones for granted."""
        _, shape, relaxed, lower, cover = self.claims[k]
        if lower == 0:
            return  # nothing is claimed
        node = Node(self, self.mask(k))
        need(lower <= node.leaf, "a single leaf costs less")
        few = max(0, node.n - 1)
        depth, splits = smallest(min(shape[0], few), min(shape[1], few))
        if cover is None:
            need(depth <= 2, "it is too deep to be worked out")
            return node.work_out(depth, splits, relaxed, lower)
        need(cover[0][0] >= depth and cover[0][1] >= splits, "its cover is of smaller trees")
        (depth, splits), all_rows, groups = cover
        most = 2 ** max(0, depth - 1) - 1
        divisions = range(max(0, splits - 1 - most), min(most, splits - 1) + 1)
        need(len(divisions) <= self.table.counts.sum(), "its cover has more divisions than rows")
        for column in node.columns:
            for left in divisions:
                shapes = smallest(depth - 1, left), smallest(depth - 1, splits - 1 - left)
                least, own = np.zeros((2, 2, len(column.before)), dtype=np.int64)
                ends = [(column.values[0] - 1, 0, all_rows), (column.values[-1], all_rows, 0)]
                for rank, *claims in ends + groups.get((column.number, left), []):
                    at = np.searchsorted(column.values, rank, side="right")
                    goes_left = self.ranks[column.number] <= rank
                    for side, back in enumerate(claims):
                        if back:
                            rows = self.mask(k) & (goes_left if side == 0 else ~goes_left)
                            bounds = self.served(k - back, shapes[side], rows)
                            least[side, at] = max(least[side, at], bounds[0])
                            own[side, at] = max(own[side, at], bounds[1])
                cost = np.sum(between(*least, column.before, self.scale), axis=0) + self.penalty
                best = np.maximum(cost, own.sum(axis=0) + self.penalty)
                wrong = np.flatnonzero(((cost < relaxed) | (best < lower) & column.fits)[1:-1])
                at = f"rank {column.values[wrong[0]]} with {left} splits left" if len(wrong) else ""
                need(not at, f"column {column.number} is open at {at}")

    def served(self, k, shape, rows):
        """Return what an earlier claim says of these rows: relaxed, and with the minimum leaf."""
        _, (depth, splits), relaxed, lower, _ = self.claims[k]
        need(depth >= shape[0] and splits >= shape[1], f"it takes claim {k} for deeper trees")
        gone = int(self.weights[self.mask(k) & ~rows].sum())
        same = gone == 0 and (self.mask(k) == rows).all()
        return max(0, relaxed - self.scale * gone), lower if same else 0

    def check_tree(self, cost, nodes):
        table, nodes, splits, wrong = self.table, nodes.split(" ")[::-1], 0, 0
        waiting = [(np.ones(len(table.classes), dtype=bool), 0)]
        while waiting:
            rows, depth = waiting.pop()
            column, is_split, rank = nodes.pop().partition(":") if nodes else ("nothing", "", "")
            if is_split:
                left = table.ranks[whole(column, 0, len(table.ranks) - 1)] <= whole(rank)
                waiting += [(rows & ~left, depth + 1), (rows & left, depth + 1)]
                splits += 1
                continue
            need(depth <= self.header.depth, "the tree is deeper than the limits")
            need(table.counts[rows].sum() >= self.min_leaf, "a leaf of the tree is too small")
            label = whole(column, 0, table.n_classes - 1)
            wrong += int(table.weights[rows & (table.classes != label)].sum())
        need(not nodes and splits <= self.header.splits, "the tree has too many nodes")
        need(wrong * self.scale + splits * self.penalty == cost, "the tree costs something else")
        need(self.header.bound <= cost, "the tree costs less than the bound")

    def check_last(self):
        """Check the tree, and that the last claim is about the whole table and the limits."""
        header, table = self.header, self.table
        if header.tree is not None:
            self.check_tree(whole(header.tree[0]), header.tree[1])
        if header.bound <= 0:
            return
        need(self.claims, "there is no claim")
        where, (depth, splits), relaxed, lower, _ = self.claims[-1]
        few = int(table.counts.sum()) // max(1, self.min_leaf)
        most = min(header.splits, len(table.classes) - 1, few - 1) if len(table.ranks) else 0
        by_class = np.bincount(table.classes, table.weights, table.n_classes).astype(np.int64)
        if self.penalty:
            most = min(most, -(-self.scale * int(outside(by_class)) // self.penalty) - 1)
        asked = smallest(header.depth, max(0, most))
        need(not where, "the last claim is not about all rows")
        need(depth >= asked[0] and splits >= asked[1], "the last claim is about smaller trees")
        reached = relaxed if self.sampled else lower
        need(reached >= header.bound, "the last claim does not reach the bound")

    def failure(self, part, parts):
        """Return why one of the claims part, part + parts, ... fails; None where all hold."""
        for k in range(part, len(self.claims), parts):
            try:
                self.check_claim(k)
            except RefusedError as error:
                return f"claim {k} of {len(self.claims)} fails: {error}"
        return None

    def sentence(self):
        h, n_rows = self.header, int(self.table.counts.sum())
        leaves = f" and {h.splits + 1} leaves" if h.splits < 2**h.depth - 1 else ""
        size = f" with at least {h.min_leaf} rows in each leaf" if h.min_leaf > 1 else ""
        listed = " over the listed splits" if h.some else ""
        what = f"makes fewer than {h.bound} errors"
        if h.penalty or h.scale > 1:
            each = f"{h.scale} for each error, {h.penalty} for each split"
            what = f"costs less than {h.bound} ({each})"
        elif self.table.weights.sum() != n_rows:
            what = f"gets rows of a weight below {h.bound} wrong"
        return f"no tree of depth {h.depth}{leaves}{size}{listed} {what} on these {n_rows} rows"


def check(certificate, cells, part=1, parts=1, jobs=1):
    """Return the sentence that is checked; raise RefusedError where anything is in doubt.

    `cells` maps names of columns to values. With several parts, only the claims of one are checked.
    """
    header = Header(Path(certificate).read_bytes())
    proof = Proof(header, Table(header, cells))
    proof.check_last()
    tasks = [(part - 1 + parts * job, parts * jobs) for job in range(jobs)]
    if jobs == 1:
        failures = [proof.failure(*tasks[0])]
    else:
        with multiprocessing.Pool(jobs) as pool:
            failures = pool.starmap(proof.failure, tasks)
    for failure in failures:
        need(failure is None, failure)
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
        said = check(given.certificate, read_csv(given.table), part, parts, given.jobs)
    except (RefusedError, OSError, EOFError, ValueError, csv.Error, MemoryError) as error:
        print(f"not checked: {error}", file=sys.stderr)
        return 1
    print(f"checked: {said}" if parts == 1 else f"part {part} of {parts} holds of: {said}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
