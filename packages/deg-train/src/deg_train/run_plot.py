"""A picture of a run: its losses, how often it was right, and its rate, over the steps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deg_train.charts import line_chart
from deg_train.losses import LOSSES

__all__ = ["plot_run"]

_SIZE = (760, 240)
_MOST_POINTS = 150


def plot_run(log: Path, out: Path) -> None:
    """Draw the run that *log* tells of, line by line of JSON, into the page *out*."""
    steps = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    charts = [
        line_chart(_lines(steps, key), title, size=_SIZE)
        for key, title in (("losses", "loss"), ("right", "share of right answers"))
    ]
    rate = [(step["step"], step["tokens"] / step["seconds"]) for step in steps]
    charts.append(line_chart({"tokens/s": _bin(rate)}, "speed", size=_SIZE))
    height = _SIZE[1]
    body = "".join(
        chart.replace("<svg ", f'<svg y="{number * height}" ', 1)
        for number, chart in enumerate(charts)
    )
    out.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_SIZE[0]} {height * len(charts)}" '
        f'style="background:#fff">{body}</svg>\n',
        "utf-8",
    )


def _lines(steps: Sequence[dict[str, Any]], key: str) -> dict[str, list[tuple[float, float]]]:
    points = {
        name: [(step["step"], step[key][name]) for step in steps if name in step[key]]
        for name in LOSSES
    }
    return {name: _bin(each) for name, each in points.items() if each}


def _bin(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the means of neighbours, so many that the line stays readable."""
    size = max(1, -(-len(points) // _MOST_POINTS))
    groups = [points[start : start + size] for start in range(0, len(points), size)]
    return [(group[-1][0], sum(y for _, y in group) / len(group)) for group in groups]
