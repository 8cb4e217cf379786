from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, strategies as st

from deg_train.charts import line_chart, reliability_chart
from deg_train.reliability import Bins
from deg_train.run_plot import plot_run

NUMBERS = st.floats(0, 1e6)
SERIES = st.dictionaries(
    st.text(st.characters(categories=["L", "P"]), min_size=1, max_size=8),
    st.lists(st.tuples(st.floats(1, 1e4), NUMBERS), min_size=1, max_size=9),
    max_size=5,
)


@given(SERIES)
def test_any_series_are_drawn_inside_the_chart(
    series: dict[str, list[tuple[float, float]]],
) -> None:
    root = ElementTree.fromstring(line_chart(series, "a < b", size=(400, 200)))
    lines = [each.get("points", "") for each in root if each.tag.endswith("polyline")]
    assert len(lines) == len(series)
    for x, y in (map(float, point.split(",")) for line in lines for point in line.split()):
        assert 0 <= x <= 400
        assert 0 <= y <= 200


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40))
def test_each_bin_with_answers_is_a_dot(judged: list[tuple[float, bool]]) -> None:
    bins = Bins.of(judged)
    root = ElementTree.fromstring(reliability_chart(bins, "extract"))
    dots = [each for each in root if each.tag.endswith("circle")]
    assert len(dots) == sum(count > 0 for count in bins.counts)


@pytest.mark.parametrize("num_steps", [1, 2, 700])
def test_a_run_is_drawn_from_its_log(num_steps: int, tmp_path: Path) -> None:
    steps = [
        {
            "step": step,
            "losses": {"extract": 3 / step} | ({"count": 1.0} if step % 2 else {}),
            "right": {"extract": 0.5},
            "tokens": 100,
            "seconds": 2.0,
        }
        for step in range(1, num_steps + 1)
    ]
    log = tmp_path / "metrics.jsonl"
    log.write_text("".join(json.dumps(step) + "\n" for step in steps))
    plot_run(log, tmp_path / "plot.svg")
    text = (tmp_path / "plot.svg").read_text()
    ElementTree.fromstring(text)
    assert "tokens/s 50" in text
    assert len(text) < 30_000
