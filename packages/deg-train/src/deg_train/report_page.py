"""The page of an evaluation: numbers against floors, how confidence holds, what went wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from html import escape
from importlib.resources import files
from operator import add
from pathlib import Path
from typing import Any

from deg_train.charts import reliability_chart
from deg_train.reliability import Bins

__all__ = ["report_page"]

_MOST_MISTAKES = 12
_AROUND = 60


def report_page(
    rows: Sequence[Mapping[str, Any]], suites: Mapping[str, Mapping[str, Any]], folder: Path
) -> str:
    """Return the page as HTML that loads nothing.

    Args:
        rows: The lines of the table, each with `what`, `measured`, `count`, `floor`, `is_error` and
            `is_met`.
        suites: What each suite measured.
        folder: Holds the first mistakes of each suite.
    """
    model = next((suite["model"] for suite in suites.values() if "model" in suite), "")
    style = (files("deg_train") / "report.css").read_text("utf-8")
    return (
        '<!doctype html>\n<html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(model)} measured</title><style>{style}</style>"
        f"<main><h1>{escape(model)}</h1>{_table(rows)}<h2>Confidence and truth</h2>"
        f'<div class="charts">{"".join(_charts(suites))}</div><h2>Suites</h2>'
        f"{''.join(_suite(name, suite, folder) for name, suite in suites.items())}</main></html>\n"
    )


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    head = "<tr><th>what<th>measured<th>floor<th>n</tr>"
    return f"<table><thead>{head}</thead><tbody>{''.join(map(_row, rows))}</tbody></table>"


def _row(row: Mapping[str, Any]) -> str:
    floor = "" if row["floor"] is None else f"{'≤ ' if row['is_error'] else ''}{row['floor']:.2f}"
    state = {True: "met", False: "missed", None: ""}[row["is_met"]]
    mark = {True: "✓", False: "✗", None: ""}[row["is_met"]]
    share = 0.0 if row["is_error"] else min(1.0, max(0.0, row["measured"]))
    bar = f'<span class="bar" style="--share:{share:.3f}"></span>' if share else ""
    return (
        f'<tr class="{state}"><td>{escape(row["what"])}<td>{bar}{row["measured"]:.3f} {mark}'
        f"<td>{floor}<td>{row['count']:,}</tr>"
    )


def _charts(suites: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for head in ("decide", "extract"):
        bins = {name: Bins.from_json(suite["bins"][head]) for name, suite in suites.items()}
        asked = {name: each for name, each in bins.items() if each.calibration.count}
        if len(asked) > 1:
            yield reliability_chart(reduce(add, asked.values()), f"{head}, all suites")
        for name, each in asked.items():
            yield reliability_chart(each, f"{head}, {name}")


def _suite(name: str, suite: Mapping[str, Any], folder: Path) -> str:
    measures = "".join(
        f"<tr><td>{escape(measure)}<td>{_numbers(result)}</tr>"
        for measure, result in suite["measures"].items()
    )
    found = _mistakes(folder / f"{name}.mistakes.jsonl")
    listed = "".join(f"<li>{_mistake(each)}" for each in found)
    wrong = f"<h4>First mistakes</h4><ol>{listed}</ol>" if listed else ""
    return (
        f"<details><summary><b>{escape(name)}</b> {escape(suite['about'])}, "
        f"{suite['num_records']:,} records, {suite['seconds']:,} s</summary>"
        f"<table>{measures}</table>{wrong}</details>"
    )


def _numbers(result: Mapping[str, float]) -> str:
    named = ((key.replace("_", " "), f"{value:,.3f}") for key, value in result.items())
    return ", ".join(f"{key} {number.removesuffix('.000')}" for key, number in named)


def _mistakes(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        return []
    lines = path.read_text("utf-8").splitlines()[:_MOST_MISTAKES]
    return [json.loads(line) for line in lines]


def _mistake(each: Mapping[str, Any]) -> str:
    said, right = (escape(json.dumps(each[key], ensure_ascii=False)) for key in ("answer", "gold"))
    return (
        f"<code>{escape(each['pointer'])}</code> {said}, right is {right}"
        f"<blockquote>{_excerpt(each['context'], each['meta'].get('span'))}</blockquote>"
    )


def _excerpt(context: str, span: Sequence[int] | None) -> str:
    if span is None:
        return escape(context[: 3 * _AROUND]) + ("…" if len(context) > 3 * _AROUND else "")
    start, end = span
    before, after = context[max(0, start - _AROUND) : start], context[end : end + _AROUND]
    return f"{escape(before)}<mark>{escape(context[start:end])}</mark>{escape(after)}"
