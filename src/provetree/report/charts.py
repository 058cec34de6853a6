"""Small charts as SVG, in the colours of the report's style sheet: lines, points, bars."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import TypeAlias

__all__ = ["Line", "line_chart", "scatter_chart", "sparkline"]

Point: TypeAlias = tuple[float, float]

_WIDTH, _HEIGHT = 640, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 14, 44
#: Letters of a number that fit beside the picture.
_MOST_BESIDE = 7


@dataclass(frozen=True)
class Line:
    """One line of a chart; `style` is its class in the style sheet, "one" or "two"."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    style: str = "one"
    steps: bool = False  # whether a value holds until the next point
    spread: Sequence[float] | None = None  # half the height of the bar at each point
    hollow: Sequence[bool] | None = None
    points: bool = True


def line_chart(
    lines: Sequence[Line],
    *,
    x_label: str,
    y_label: str,
    summary: str,
    percent: bool = False,
    whole_x: bool = False,
    from_zero: bool = False,
    mark: float | None = None,
    mark_label: str = "",
) -> str:
    """Return a chart of lines.

    Examples
    --------
    >>> from provetree.report.charts import Line, line_chart
    >>> svg = line_chart([Line("a", [0, 1], [1, 2])], x_label="x", y_label="y", summary="two")
    >>> svg.count("<circle")
    2
    """
    place, (low_x, high_x), (low_y, high_y) = _frame(lines, from_zero)
    parts = [f"<title>{escape(summary)}</title>"]
    parts += _axes(place, (low_x, high_x), (low_y, high_y), x_label, y_label, percent, whole_x)
    if mark is not None:
        at, _ = place(mark, low_y)
        parts.append(_line("mark", (at, _TOP), (at, _HEIGHT - _BOTTOM)))
        # The words stand on the side where there is room.
        anchor, step = ("end", -5) if at > _WIDTH / 2 else ("start", 5)
        parts.append(_text("tick", (at + step, _HEIGHT - _BOTTOM - 6), mark_label, anchor))
    for line in lines:
        parts.append(_draw(line, place))
    return _framed(parts, lines)


def scatter_chart(
    groups: Sequence[tuple[str, str, Sequence[Sequence[float]]]],
    *,
    x_label: str,
    y_label: str,
    summary: str,
) -> str:
    """Return a chart of points (x, y), with the diagonal on which both are the same.

    Each group has a name, a style ("one" or "two") and its points.

    Examples
    --------
    >>> from provetree.report.charts import scatter_chart
    >>> svg = scatter_chart([("a", "one", [(1, 2), (3, 4)])], x_label="x", y_label="y",
    ...                     summary="two points")
    >>> svg.count("<circle"), svg.count('class="mark"')
    (2, 1)
    """
    lines = [
        Line(name, [x for x, _ in points], [y for _, y in points], style)
        for name, style, points in groups
    ]
    place, across, up = _frame(lines, False)
    parts = [f"<title>{escape(summary)}</title>"]
    parts += _axes(place, across, up, x_label, y_label, False, False)
    low, high = max(across[0], up[0]), min(across[1], up[1])
    if high > low:
        parts.append(_line("mark", place(low, low), place(high, high)))
    for line in lines:
        for x, y in zip(line.xs, line.ys, strict=True):
            at = place(x, y)
            parts.append(
                f'<circle class="point {line.style} faint" cx="{at[0]:.1f}" cy="{at[1]:.1f}" '
                'r="3"/>'
            )
    return _framed(parts, lines)


def _framed(parts: Sequence[str], lines: Sequence[Line]) -> str:
    return (
        f'<svg class="chart" role="img" viewBox="0 0 {_WIDTH} {_HEIGHT}">{"".join(parts)}</svg>'
        f'<p class="legend" aria-hidden="true">{"".join(_key(line) for line in lines)}</p>'
    )


def _axes(
    place: Callable[[float, float], Point],
    across: Point,
    up: Point,
    x_label: str,
    y_label: str,
    percent: bool,
    whole_x: bool,
) -> list[str]:
    """Draw the grid, its numbers and the names of the axes."""
    (low_x, high_x), (low_y, high_y) = across, up
    parts = []
    ticks = _ticks(low_y, high_y, 5)
    for y in ticks:
        _, at = place(low_x, y)
        shown = f"{100 * y:.4g} %" if percent else f"{y:.{_digits_of(ticks, 6)}g}"
        parts.append(_line("grid", (_LEFT, at), (_WIDTH - _RIGHT, at)))
        # Long numbers stand on their line, where there is room.
        where, anchor = (_LEFT - 6, at + 4), "end"
        if len(shown) > _MOST_BESIDE:
            where, anchor = (_LEFT + 4, at - 3), "start"
        parts.append(_text("tick", where, shown, anchor))
    ticks = _ticks(low_x, high_x, 8)
    digits = _digits_of(ticks, 4)
    # Long numbers need the room of two.
    for x in ticks[:: 2 if digits > 6 else 1]:
        if whole_x and x != round(x):
            continue
        at, _ = place(x, low_y)
        parts.append(_text("tick", (at, _HEIGHT - _BOTTOM + 16), f"{x:.{digits}g}"))
    middle = (_HEIGHT - _BOTTOM + _TOP) / 2
    parts.append(_text("axis", ((_WIDTH + _LEFT) / 2, _HEIGHT - 8), x_label))
    turned = f'<g transform="translate(14 {middle:g}) rotate(-90)">'
    return [*parts, f"{turned}{_text('axis', (0, 0), y_label)}</g>"]


def _frame(
    lines: Sequence[Line], from_zero: bool
) -> tuple[Callable[[float, float], Point], Point, Point]:
    """Return what places points on the picture, and the ends of both axes."""
    xs = [x for line in lines for x in line.xs]
    ys = [y for line in lines for y in line.ys]
    for line in lines:
        ys += [y + s for y, s in zip(line.ys, line.spread or (), strict=False)]
        ys += [y - s for y, s in zip(line.ys, line.spread or (), strict=False)]
    low_x, high_x = min(xs), max(xs)
    low_y, high_y = (0.0 if from_zero else min(ys)), max(ys)
    if high_x == low_x:
        high_x = low_x + 1
    if high_y == low_y:
        low_y, high_y = low_y - 0.5 * (not from_zero), high_y + 0.5
    pad = 0.06 * (high_y - low_y)
    low_y, high_y = (low_y if from_zero else low_y - pad), high_y + pad

    def place(x: float, y: float) -> Point:
        across = (x - low_x) / (high_x - low_x)
        up = (y - low_y) / (high_y - low_y)
        return (
            _LEFT + across * (_WIDTH - _LEFT - _RIGHT),
            _HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM),
        )

    return place, (low_x, high_x), (low_y, high_y)


def _draw(line: Line, place: Callable[[float, float], Point]) -> str:
    points = [place(x, y) for x, y in zip(line.xs, line.ys, strict=True)]
    parts = []
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (_, y), (next_x, next_y) in pairwise(points):
        path += f"L{next_x:.1f} {y:.1f}" if line.steps else ""
        path += f"L{next_x:.1f} {next_y:.1f}"
    parts.append(f'<path class="line {line.style}" d="{path}"/>')
    for i, (x, y) in enumerate(points):
        if line.spread is not None:
            top = place(line.xs[i], line.ys[i] + line.spread[i])
            bottom = place(line.xs[i], line.ys[i] - line.spread[i])
            parts.append(_line(f"spread {line.style}", top, bottom))
        if line.points:
            hollow = " hollow" if line.hollow is not None and line.hollow[i] else ""
            kind = f"point {line.style}{hollow}"
            parts.append(f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>')
    return "".join(parts)


def _line(kind: str, start: Point, end: Point) -> str:
    return (
        f'<line class="{kind}" x1="{start[0]:.1f}" y1="{start[1]:.1f}" '
        f'x2="{end[0]:.1f}" y2="{end[1]:.1f}"/>'
    )


def _text(kind: str, at: Point, words: str, anchor: str = "middle") -> str:
    return (
        f'<text class="{kind}" text-anchor="{anchor}" x="{at[0]:.1f}" y="{at[1]:.1f}">'
        f"{escape(words)}</text>"
    )


def _key(line: Line) -> str:
    return f'<span class="key {line.style}"></span>{escape(line.name)} '


def _ticks(low: float, high: float, most: int) -> list[float]:
    """Return round numbers from `low` to `high`."""
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def _digits_of(ticks: Sequence[float], least: int) -> int:
    """Return the digits that tell neighbouring ticks apart, and at least so many."""
    if len(ticks) < 2:
        return least
    step, largest = ticks[1] - ticks[0], max(abs(tick) for tick in ticks)
    return min(max(least, 2 + math.floor(math.log10(largest / step))), 17) if step > 0 else least


def sparkline(counts: Sequence[int]) -> str:
    """Return a small histogram.

    Examples
    --------
    >>> from provetree.report.charts import sparkline
    >>> sparkline([1, 3]).count("<rect")
    2
    """
    highest = max(counts) or 1
    width = 100 / len(counts)
    bars = "".join(
        f'<rect x="{i * width:.2f}" y="{24 - 24 * count / highest:.2f}" '
        f'width="{width * 0.85:.2f}" height="{24 * count / highest:.2f}"/>'
        for i, count in enumerate(counts)
    )
    return f'<svg class="spark" aria-hidden="true" viewBox="0 0 100 24">{bars}</svg>'
