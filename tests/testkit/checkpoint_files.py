"""Checkpoint files as plain text: what they say of each node, and files made by hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

FIRST_TITLE = "provetree-checkpoint-1"


@dataclass
class Node:
    """What a file knows of one node; the root has no way."""

    way: list[tuple[int, ...]] = field(default_factory=list)  # column, budget, rank, side
    shape: tuple[int, int] = (0, 0)
    lower: int = 0
    tried: list[tuple[int, ...]] = field(default_factory=list)
    points: list[tuple[int, ...]] = field(default_factory=list)  # column, budget, rank, bounds
    settled: int = 0
    profiles: int = 0  # sides of splits whose own splits are known
    plan: str = ""


class _Words:
    def __init__(self, text: str) -> None:
        self.words = iter(text.split())

    def number(self) -> int:
        return int(next(self.words))

    def numbers(self, count: int) -> tuple[int, ...]:
        return tuple(self.number() for _ in range(count))

    def plan(self) -> str:
        kind = next(self.words)
        if kind == "split":
            column, rank = self.numbers(2)
            return f"split {column} {rank} {self.plan()} {self.plan()}"
        return f"bottom {self.number()}" if kind == "bottom" else kind

    def node(self) -> Node:
        node = Node()
        node.way = [self.numbers(4) for _ in range(self.number())]
        depth, splits, *_, lower, _ = self.numbers(10)
        node.shape, node.lower = (depth, splits), lower
        node.plan = self.plan()
        node.tried = [self.numbers(3) for _ in range(self.number())]
        for _ in range(self.number()):
            *point, settled = self.numbers(6)
            node.points.append(tuple(point))
            node.settled += settled
            if settled:
                self.numbers(3)
                node.profiles += self.profile() + self.profile()
        return node

    def profile(self) -> int:
        """Pass by what is known of a side; 1 where there is something."""
        if not self.number():
            return 0
        self.numbers(4)
        for _ in range(self.number()):
            self.number()
            self.numbers(7 * self.number())
        for _ in range(self.number()):
            self.numbers(2)
            self.numbers(5 * self.number())
        return 1


def nodes_of(text: str) -> list[Node]:
    """All nodes of a file, the root first."""
    words = _Words(text.split("\n", 2)[2])  # after the title, the bound and the sample
    root = words.node()
    return [root, *(words.node() for _ in range(words.number()))]


def sum_of(body: str) -> int:
    value = 0xCBF29CE484222325
    for byte in body.encode():
        value = ((value ^ byte) * 0x100000001B3) % 2**64
    return value


def with_body(text: str, body: str, **changes: Any) -> str:
    """A file of the same problem with another body and the sum that belongs to it."""
    title, fingerprint, _ = text.split("\n", 1)[0].split()
    return f"{changes.get('title', title)} {fingerprint} {sum_of(body)}\n{body}"


def without_nodes_below(text: str) -> str:
    """The same file with the root alone."""
    body = text.split("\n", 1)[1]
    lines = body.split("\n")
    # Bound, steps and sample; the way; the node; splits tried; the number of points; the points.
    end = 5 + int(lines[4])
    lines[3] = "0 "
    return with_body(text, "\n".join([*lines[:end], "0", "0", ""]))


def first_version(text: str) -> str:
    """What version 1 kept of the same search: the cost, the plan, and the points of the root."""
    root = nodes_of(text)[0]
    upper = text.split("\n")[3].split()[6]
    lines = [upper, root.plan + " ", str(len(root.points))]
    lines += [" ".join(map(str, point)) for point in root.points]
    return with_body(text, "\n".join([*lines, ""]), title=FIRST_TITLE)
