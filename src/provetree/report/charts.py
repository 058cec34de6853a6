"""Small charts as SVG, in the colours of the report's style sheet: lines, points, bars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Line", "line_chart", "sparkline"]

_WIDTH, _HEIGHT = 640, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 14, 44


@dataclass(frozen=True)
class Line:
    """One line of a chart.

    Parameters
    ----------
    name : str
        Its name in the legend.
    xs, ys : sequence of float
        Its points.
    style : str
        The class of the style sheet: "one" or "two".
    steps : bool
        Whether a value holds until the next point.
    spread : sequence of float or None
        Half the height of the bar at each point.
    hollow : sequence of bool or None
        Points that are drawn hollow.
    points : bool
        Whether points are drawn.
    """

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    style: str = "one"
    steps: bool = False
    spread: Sequence[float] | None = None
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

    def place(x: float, y: float) -> tuple[float, float]:
        across = (x - low_x) / (high_x - low_x)
        up = (y - low_y) / (high_y - low_y)
        return (
            _LEFT + across * (_WIDTH - _LEFT - _RIGHT),
            _HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM),
        )

    parts = [f"<title>{escape(summary)}</title>"]
    for y in _ticks(low_y, high_y, 5):
        _, at = place(low_x, y)
        shown = f"{100 * y:.4g} %" if percent else f"{y:.6g}"
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(f'<text class="tick" text-anchor="end" x="{_LEFT - 6}" y="{at + 4:.1f}">{shown}</text>')
    for x in _ticks(low_x, high_x, 8):
        if whole_x and x != round(x):
            continue
        at, _ = place(x, low_y)
        parts.append(
            f'<text class="tick" text-anchor="middle" x="{at:.1f}" y="{_HEIGHT - _BOTTOM + 16}">{x:.4g}</text>'
        )
    middle = (_HEIGHT - _BOTTOM + _TOP) / 2
    parts.append(
        f'<text class="axis" text-anchor="middle" x="{(_WIDTH + _LEFT) / 2:g}" y="{_HEIGHT - 8}">{escape(x_label)}</text>'
    )
    parts.append(
        f'<text class="axis" text-anchor="middle" transform="translate(14 {middle:g}) rotate(-90)">{escape(y_label)}</text>'
    )
    if mark is not None:
        at, _ = place(mark, low_y)
        parts.append(
            f'<line class="mark" x1="{at:.1f}" x2="{at:.1f}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>'
        )
        anchor = "end" if at > _WIDTH / 2 else "start"
        parts.append(
            f'<text class="tick" text-anchor="{anchor}" x="{at + (-5 if anchor == "end" else 5):.1f}" '
            f'y="{_HEIGHT - _BOTTOM - 6}">{escape(mark_label)}</text>'
        )
    for line in lines:
        parts.append(_draw(line, place))
    return (
        f'<svg class="chart" role="img" viewBox="0 0 {_WIDTH} {_HEIGHT}">{"".join(parts)}</svg>'
        f'<p class="legend" aria-hidden="true">{"".join(_key(line) for line in lines)}</p>'
    )


def _draw(line: Line, place: object) -> str:
    points = [place(x, y) for x, y in zip(line.xs, line.ys, strict=True)]  # type: ignore[operator]
    parts = []
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (_, y), (next_x, next_y) in zip(points, points[1:], strict=False):
        path += f"L{next_x:.1f} {y:.1f}" if line.steps else ""
        path += f"L{next_x:.1f} {next_y:.1f}"
    parts.append(f'<path class="line {line.style}" d="{path}"/>')
    for i, ((x, y), value) in enumerate(zip(points, line.ys, strict=True)):
        if line.spread is not None:
            _, top = place(line.xs[i], value + line.spread[i])  # type: ignore[operator]
            _, bottom = place(line.xs[i], value - line.spread[i])  # type: ignore[operator]
            parts.append(
                f'<line class="spread {line.style}" x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" y2="{bottom:.1f}"/>'
            )
        if line.points:
            hollow = " hollow" if line.hollow is not None and line.hollow[i] else ""
            parts.append(f'<circle class="point {line.style}{hollow}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>')
    return "".join(parts)


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
