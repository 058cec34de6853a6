"""Checks certificates of optimal decision trees; docs/certificate.md is the format, rule by rule.

One file, numpy alone, meant to be read. `Proof.check_claim` checks a single claim from what earlier
ones state. "checked" is said only if all claims hold. Nothing here knows how a proof was found.
"""

import argparse
import csv
import gzip
import hashlib
import io
import multiprocessing
import re
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np

MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "?")
NUMBER = re.compile(r"\s*[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|inf|infinity)\s*", re.I)
MOST_COST, MOST_WEIGHT, MOST_DEPTH, MOST_CLAIMS = 2**60, 2**50, 64, 20_000_000
FEW, MOST_CELLS = 12, 2**22  # thresholds to a column that are counted by one product; cells at once


class RefusedError(Exception):
    """The certificate does not show what it claims; the message says where and why."""


def need(holds, why):
    if not holds:
        raise RefusedError(why)


def whole(text, least=0, most=MOST_COST - 1):
    fits = re.fullmatch(r"-?[0-9]{1,19}", text) and least <= int(text) <= most
    need(fits, f"'{text[:40]}' in the header is no whole number from {least} to {most}")
    return int(text)


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
            plain = [re.sub(r"\\(.)", lambda m: letters.get(m[1], m[1]), f) for f in fields]
            self.lines.setdefault(key, []).append(plain)
        length, digest = self.one("body", 2)
        intact = len(self.body) == whole(length) and hashlib.sha256(self.body).hexdigest() == digest
        need(intact, "the certificate is cut off or damaged")
        self.target, self.table = self.one("target", 1)[0], self.one("table", 1)[0]
        self.weight = self.one("weight", 3) if "weight" in self.lines else None
        self.classes = [(f[0], whole(f[1], 1)) for f in self.all("class", 2)]
        self.features = [(f[0], f[1]) for f in self.all("feature", 2)]
        self.listed = [(whole(f[0]), *f[1:]) for f in self.all("column", 2)]
        self.left_out = {(whole(f[0]), *f[1:-1]): whole(f[-1], -1) for f in self.all("same", 3)}
        self.scale, self.penalty = map(whole, self.one("objective", 2))
        self.depth, self.splits, self.min_leaf = map(whole, self.one("limits", 3))
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


def is_missing(cell):
    return cell is None or cell != cell  # NaN is not itself


def number(cell):
    ok = not isinstance(cell, str) or NUMBER.fullmatch(cell)
    need(ok, f"'{str(cell)[:40]}' is no number")
    return float(cell)


class Table:
    """The table as the page says it is read: merged rows in their order."""

    def __init__(self, header, cells):
        weight_name = [header.weight[0]] if header.weight else []
        for name in (header.target, *weight_name, *(f[0] for f in header.features)):
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
        classes = self.classes_of(header, [str(labels[i]) for i in present])
        weights = [int(weights[i]) * header.classes[c][1] for i, c in zip(present, classes)]
        need(sum(weights) < MOST_WEIGHT and sum(weights) * header.scale < MOST_COST,
             "the weights are too large")
        columns = self.columns_of(header, cells, present)
        listed = [*header.listed, *header.left_out]
        for name in columns:
            need(name in listed, f"the certificate does not say what becomes of column {name}")
        need(len(listed) == len(columns), "the certificate has columns that the table has not")
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

    @staticmethod
    def classes_of(header, labels):
        code = {label: i for i, (label, _) in enumerate(header.classes)}
        by_number = {float(x): i for x, i in code.items() if NUMBER.fullmatch(x)}
        found = [code.get(x, by_number.get(float(x)) if NUMBER.fullmatch(x) else None)
                 for x in labels]
        need(None not in found, "the table has a label that is not in the certificate")
        return found

    @staticmethod
    def columns_of(header, cells, present):
        """Return the ranks of all ordered columns."""
        found = {}
        for f, (name, kind) in enumerate(header.features):
            values = [cells[name][i] for i in present]
            gaps = np.array([is_missing(v) for v in values])
            need(kind in ("number", "category"), f"features of kind '{kind[:20]}' are not known")
            if kind == "category":
                text = [None if gap else str(v) for v, gap in zip(values, gaps)]
                for value in dict.fromkeys(text):
                    ranks = np.array([t != value for t in text], dtype=np.int64)
                    found[(f, "empty") if value is None else (f, "is", value)] = ranks
                continue
            numbers = np.array([0.0 if gap else number(v) for v, gap in zip(values, gaps)])
            for key, end in (("first", -1), ("last", 1)) if gaps.any() else (("number", 0),):
                # A missing value comes before all numbers, or after them.
                both = np.array([gaps * end, numbers])
                found[f, key] = np.unique(both, axis=1, return_inverse=True)[1].ravel()
        return found

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
        sums = np.vstack([np.zeros_like(sums[:1]), sums])
        self.sides = np.array([sums, sums[-1] - sums])[:, :, :-1]  # by side, position and class
        self.before = self.sides[0].sum(axis=1)
        self.fits = np.minimum(sums[:, -1], sums[-1, -1] - sums[:, -1]) >= node.min_leaf


class Node:
    """The rows of a claim, and claims about them that are worked out anew."""

    def __init__(self, proof, mask):
        self.scale, self.penalty, self.min_leaf = proof.scale, proof.penalty, proof.min_leaf
        rows = np.flatnonzero(mask)
        self.n, self.ranks, self.counts = len(rows), proof.ranks[:, rows], proof.counts[rows]
        self.by_row = np.zeros((self.n, proof.n_classes), dtype=np.int64)
        self.by_row[np.arange(self.n), proof.classes[rows]] = proof.weights[rows]
        self.leaf = int(self.scale * outside(self.by_row.sum(axis=0)))
        varies = (self.ranks != self.ranks[:, :1]).any(axis=1) if self.n else []
        self.columns = [Column(int(c), self) for c in np.flatnonzero(varies)]
        self.thresholds, self.below = sum(len(c.ends) for c in self.columns), None
        if 0 < self.thresholds <= FEW * len(self.columns):  # one product of matrices counts all
            below = [self.ranks[c.number][:, None] <= c.values[:-1] for c in self.columns]
            self.below = np.hstack(below).astype(float)

    def sums(self, sets, values):
        """Return the sum of `values` over the rows of each set that each threshold sends left."""
        if self.below is not None:
            return (np.where(sets, values, 0).astype(float) @ self.below).astype(np.int64)
        kind = np.int32 if np.abs(values).sum() < 2**31 else np.int64
        given = np.where(sets, values.astype(kind), kind(0))
        parts = [given[:, c.order].cumsum(axis=1, dtype=kind)[:, c.ends - 1] for c in self.columns]
        return np.concatenate(parts, axis=1)

    def stumps(self, sets):
        """Return the least costs of trees of depth 1 on each set of rows [0] and on the rest [1].

        First without the minimum leaf size, then with it. A set is a row of truth values.
        """
        both, everything = np.array([sets, ~sets]), np.ones((1, self.n), dtype=bool)
        totals = both @ self.by_row
        weight, leaf = totals.sum(axis=2), self.scale * outside(totals)

        def on_both_sides(values):  # summed over what each threshold sends left
            of_sets = self.sums(sets, values)
            return np.array([of_sets, self.sums(everything, values) - of_sets])

        if self.by_row.shape[1] == 2 and self.min_leaf <= 1:
            # Of two classes, only the extremes of (class 1 - class 0) left of a split matter.
            left = on_both_sides(self.by_row[:, 1] - self.by_row[:, 0])
            right = np.maximum(totals[..., 1] - left.min(axis=2), totals[..., 0] + left.max(axis=2))
            cost = np.minimum(leaf, self.scale * (weight - right) + self.penalty)
            return cost, cost
        heaviest = np.zeros((2, *both.shape[:2], self.thresholds), dtype=np.int64)
        for values, total in zip(self.by_row.T, totals.transpose(2, 0, 1)):
            left = on_both_sides(values)
            heaviest = np.maximum(heaviest, [left, total[:, :, None] - left])
        cost = self.scale * (weight[:, :, None] - heaviest.sum(axis=0)) + self.penalty
        left = on_both_sides(self.counts)
        fits = np.minimum(left, (both @ self.counts)[:, :, None] - left) >= self.min_leaf
        fitting = np.where(fits, cost, 2 * MOST_COST).min(axis=2)
        return np.minimum(leaf, cost.min(axis=2)), np.minimum(leaf, fitting)

    def work_out(self, depth, splits, relaxed, lower):
        """Check a claim of depth 0, 1 or 2."""
        if depth == 0 or not self.columns:
            return
        if depth == 1:
            plain, fitting = self.stumps(np.ones((1, self.n), dtype=bool))
            need(plain[0, 0] >= relaxed and fitting[0, 0] >= lower, "a split costs less")
            return
        # By column, side and position: the cost as a leaf; at least as a stump (it has two labels),
        # without the minimum leaf size; and with it, where that was worked out (-1: not yet).
        leaves = [self.scale * outside(c.sides) for c in self.columns]
        stumps = [self.scale * outside(c.sides, 2) + self.penalty for c in self.columns]
        least = [np.minimum(leaf, stump) for leaf, stump in zip(leaves, stumps)]
        exact = [np.full_like(leaf, -1) for leaf in leaves]
        while True:
            tries = []
            for i, (column, leaf, own) in enumerate(zip(self.columns, leaves, exact)):
                plain, tried = np.array(between(*least[i], column.before, self.scale)), own[0] >= 0
                both = plain, np.where(tried, np.maximum(own, plain), plain)
                cost = [s[0] + s[1] + self.penalty for s in both]
                if splits == 2:  # one side is a leaf
                    cost = [np.minimum(leaf[0] + s[1], s[0] + leaf[1]) + self.penalty for s in both]
                is_open = (cost[0] < relaxed) | (cost[1] < lower) & column.fits
                is_open[[0, -1]] = False  # these are no splits
                need(not (is_open & tried).any(), "a tree of depth 2 costs less")
                at = np.flatnonzero(is_open)  # of what is open between two tries, the middle
                runs = np.split(at, np.flatnonzero(np.diff(np.cumsum(tried)[at])) + 1)
                tries += [(i, column, int(run[len(run) // 2])) for run in runs if len(run)]
            if not tries:
                return
            size = max(1, MOST_CELLS // max(self.n, self.thresholds))
            for batch in (tries[k : k + size] for k in range(0, len(tries), size)):
                sets = [self.ranks[c.number] <= c.values[p - 1] for _, c, p in batch]
                plain, fitting = self.stumps(np.array(sets))
                for k, (i, _, p) in enumerate(batch):
                    least[i][:, p], exact[i][:, p] = plain[:, k], fitting[:, k]


class Proof:
    """All claims of a certificate, and what is needed to check each of them."""

    def __init__(self, header, table):
        self.header, self.table, self.data, self.at = header, table, header.body, 0
        self.scale, self.penalty, self.min_leaf = header.scale, header.penalty, header.min_leaf
        self.ranks, self.classes, self.counts = table.ranks, table.classes, table.counts
        self.n_classes, self.weights, self.sampled = table.n_classes, table.weights, self.next(1)
        if self.sampled:
            self.weights = np.array([self.next(int(w)) for w in table.weights], dtype=np.int64)
        self.claims = [self.read_claim(k) for k in range(self.next(MOST_CLAIMS))]
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

    def mask(self, where):
        mask = self.weights > 0
        for column, (low, high) in where.items():
            mask &= (self.ranks[column] >= low) & (self.ranks[column] <= high)
        return mask

    def check_claim(self, k):
        """Check one claim, taking the statements of earlier ones for granted."""
        where, shape, relaxed, lower, cover = self.claims[k]
        mask = self.mask(where)
        node = Node(self, mask)
        need(lower <= node.leaf, "a single leaf costs less")
        few = max(0, node.n - 1)
        depth, splits = smallest(min(shape[0], few), min(shape[1], few))
        if cover is None:
            need(depth <= 2, "it is too deep to be worked out")
            return node.work_out(depth, splits, relaxed, lower)
        need(cover[0][0] >= depth and cover[0][1] >= splits, "its cover is of smaller trees")
        (depth, splits), all_rows, groups = cover
        most = 2 ** max(0, depth - 1) - 1
        for column in node.columns:
            for left in range(max(0, splits - 1 - most), min(most, splits - 1) + 1):
                shapes = smallest(depth - 1, left), smallest(depth - 1, splits - 1 - left)
                least, own = np.zeros((2, 2, len(column.before)), dtype=np.int64)
                ends = [(column.values[0] - 1, 0, all_rows), (column.values[-1], all_rows, 0)]
                for rank, *claims in ends + groups.get((column.number, left), []):
                    at = np.searchsorted(column.values, rank, side="right")
                    goes_left = self.ranks[column.number] <= rank
                    for side, back in enumerate(claims):
                        if back:
                            rows = mask & (goes_left if side == 0 else ~goes_left)
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
        where, (depth, splits), relaxed, lower, _ = self.claims[k]
        need(depth >= shape[0] and splits >= shape[1], f"it takes claim {k} for deeper trees")
        others = self.mask(where)
        gone = int(self.weights[others & ~rows].sum())
        return max(0, relaxed - self.scale * gone), lower if (others == rows).all() else 0

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
            label = whole(column, 0, self.n_classes - 1)
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
        by_class = np.zeros(self.n_classes, dtype=np.int64)
        np.add.at(by_class, table.classes, table.weights)
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
        h, n_rows = self.header, int(self.counts.sum())
        leaves = f" and {h.splits + 1} leaves" if h.splits < 2**h.depth - 1 else ""
        size = f" with at least {h.min_leaf} rows in each leaf" if h.min_leaf > 1 else ""
        what = f"makes fewer than {h.bound} errors"
        if h.penalty or h.scale > 1:
            each = f"{h.scale} for each error, {h.penalty} for each split"
            what = f"costs less than {h.bound} ({each})"
        elif self.table.weights.sum() != n_rows:
            what = f"gets rows of a weight below {h.bound} wrong"
        return f"no tree of depth {h.depth}{leaves}{size} {what} on these {n_rows} rows"


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
