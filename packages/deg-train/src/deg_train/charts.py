"""Small SVG charts: lines over steps, and how often answers of a confidence are right."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from html import escape

from deg_train.reliability import Bins

__all__ = ["line_chart", "reliability_chart"]

Points = Sequence[tuple[float, float]]

# told apart by those who see few colours too (Okabe and Ito, 2008)
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_FONT = 'font-family="system-ui, sans-serif" font-size="11" fill="#444"'


def line_chart(series: Mapping[str, Points], title: str, *, size: tuple[int, int]) -> str:
    """Draw each series as a line, from zero up, with its name and last value beside it."""
    width, height = size
    left, top, right, bottom = 44, 26, 120, 26
    points = [point for each in series.values() for point in each]
    if not points:
        return _svg(width, height, _text(left, 16, title))
    low, high = min(x for x, _ in points), max(x for x, _ in points)
    most = _round_up(max(y for _, y in points))

    def place(x: float, y: float) -> tuple[float, float]:
        across = (x - low) / (high - low) if high > low else 0.5
        return (
            left + across * (width - left - right),
            height - bottom - y / most * (height - top - bottom),
        )

    parts = [_text(left, 16, title, weight="600")]
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        _, y = place(low, share * most)
        parts.append(_line((left, y), (width - right, y), "#e4e4e4"))
        parts.append(_text(left - 6, y + 4, f"{share * most:g}", anchor="end"))
    for x in (low, high):
        parts.append(_text(place(x, 0)[0], height - 8, f"{x:g}", anchor="middle"))
    taken: list[float] = []
    for number, (name, each) in enumerate(series.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in each))
        stroke = f'fill="none" stroke="{colour}" stroke-width="1.6"'
        parts.append(f'<polyline points="{path}" {stroke}/>')
        label = f"{name} {each[-1][1]:.3g}"
        y = _free(place(*each[-1])[1], taken)
        parts.append(_text(width - right + 6, y + 4, label, fill=colour))
    return _svg(width, height, *parts)


def reliability_chart(bins: Bins, title: str, *, size: int = 220) -> str:
    """Draw the share of right answers over their confidence; on the diagonal they agree.

    A dot is a bin, the larger the more answers it has.
    """
    left, top = 34, 40
    side = size - left - 10
    calibration = bins.calibration

    def place(x: float, y: float) -> tuple[float, float]:
        return left + x * side, top + (1 - y) * side

    parts = [
        _text(left, 14, title, weight="600"),
        _text(left, 30, f"ECE {calibration.error:.3f}, n {calibration.count:,}"),
        f'<rect x="{left}" y="{top}" width="{side}" height="{side}" fill="none" stroke="#ccc"/>',
        _line(place(0, 0), place(1, 1), "#bbb", dashes="4 3"),
    ]
    most = max(bins.counts, default=0)
    for count, confidence, right in zip(bins.counts, bins.confidences, bins.rights, strict=True):
        if count:
            x, y = place(confidence / count, right / count)
            radius = 2 + 6 * math.sqrt(count / most)
            parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{_COLOURS[0]}" '
                f'fill-opacity="0.6"><title>{right} of {count} right</title></circle>'
            )
    for share in (0, 0.5, 1):
        parts.append(_text(place(share, 0)[0], top + side + 14, f"{share:g}", anchor="middle"))
        parts.append(_text(left - 5, place(0, share)[1] + 4, f"{share:g}", anchor="end"))
    return _svg(size, top + side + 20, *parts)


def _round_up(number: float) -> float:
    """Return the next number of 1, 2 or 5 with noughts that is not below *number*."""
    # nothing, or as good as: of what is smaller still, powers of ten are not exact
    if number < sys.float_info.min:
        return 1.0
    unit: float = 10.0 ** math.floor(math.log10(number))
    return next(step * unit for step in (1, 2, 5, 10) if step * unit >= number)


def _free(wanted: float, taken: list[float], gap: float = 13) -> float:
    """Return the place nearest to *wanted* at which no label stands yet, and take it."""
    steps = (offset * sign for offset in range(200) for sign in (1, -1))
    y = next(wanted + s for s in steps if all(abs(wanted + s - other) >= gap for other in taken))
    taken.append(y)
    return y


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", weight: str = "400", fill: str = "#444"
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}" '
        f'fill="{fill}">{escape(text)}</text>'
    )


def _line(
    start: tuple[float, float], end: tuple[float, float], colour: str, *, dashes: str = "none"
) -> str:
    (x1, y1), (x2, y2) = start, end
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-dasharray="{dashes}"/>'
    )


def _svg(width: int, height: float, *parts: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:g}" '
        f'width="{width}" height="{height:g}" role="img" {_FONT}>{"".join(parts)}</svg>\n'
    )
