"""Draws critical-difference diagrams: mean ranks of methods, joined where they do not differ."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from provetree.bench.new_rows.statistics import (
    Scores,
    alike_groups,
    critical_difference,
    mean_ranks,
)
from provetree.bench.report import save_figure
from provetree.export.plot import new_figure

__all__ = ["draw_ranks"]


def draw_ranks(panels: Mapping[str, Mapping[str, Scores]], path: Path) -> Path:
    """Draw a diagram for each title with the scores of its methods by table.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from provetree.bench.new_rows.diagram import draw_ranks
    >>> scores = {"CART": {"iris": 0.5, "wine": 0.6}, "optimal": {"iris": 0.6, "wine": 0.6}}
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "ranks.svg"
    >>> draw_ranks({"at most 8 leaves": scores}, path).name
    'ranks.svg'
    """
    most = max(len(scores) for scores in panels.values())
    figure = new_figure("Drawing ranks", (8.0, (1.3 + 0.17 * most) * len(panels)))
    for ax, (title, scores) in zip(
        figure.subplots(len(panels), squeeze=False).flat, panels.items(), strict=True
    ):
        _draw(ax, title, scores)
    return save_figure(figure, path)


def _draw(ax: Any, title: str, scores: Mapping[str, Scores]) -> None:
    ranks, n_tables = mean_ranks(scores)
    order = sorted(ranks, key=lambda method: ranks[method])
    half = (len(order) + 1) // 2
    ax.set(xlim=(len(order) + 0.2, 0.8), ylim=(-1.1 - half, 1.6))  # the best rank is on the right
    ax.set_title(f"{title}: mean rank over {n_tables} tables, 1 is the best", fontsize=10)
    ax.axis("off")
    ax.plot((1, len(order)), (0, 0), color="black", linewidth=1)
    for rank in range(1, len(order) + 1):
        ax.plot((rank, rank), (0, 0.15), color="black", linewidth=1)
        ax.text(rank, 0.25, str(rank), ha="center", va="bottom", fontsize=8)
    groups = alike_groups(scores)
    for number, method in enumerate(order):
        right = number < half
        level = -0.9 - (number if right else len(order) - 1 - number) - 0.25 * bool(groups)
        end = 0.85 if right else len(order) + 0.15
        ax.plot((ranks[method],) * 2, (0, level), color="0.5", linewidth=0.8)
        ax.plot((ranks[method], end), (level, level), color="0.5", linewidth=0.8)
        text = f"{method} ({ranks[method]:.2f})"
        ax.text(end, level, text, ha="left" if right else "right", va="center", fontsize=9)
    for number, group in enumerate(groups):
        level = -0.25 - 0.6 * number / max(1, len(groups) - 1)
        ax.plot((ranks[group[0]], ranks[group[-1]]), (level, level), color="black", linewidth=3.5)
    width = critical_difference(len(order), n_tables)
    ax.plot((len(order), len(order) - width), (1.1, 1.1), color="black", linewidth=1.5)
    ax.text(len(order) - width / 2, 1.2, f"Nemenyi {width:.2f}", ha="center", fontsize=8)
