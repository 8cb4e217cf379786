"""`deg-train report`: the results of all suites in one file, and one table against the floors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

from deg_train.evaluate import write_json
from deg_train.reliability import Bins
from deg_train.report_page import report_page
from deg_train.suites import OWN, SUITES

__all__ = ["Row", "read_results", "report", "rows_of", "table"]

Results = Mapping[str, Mapping[str, Any]]

_MAX_ERROR = 0.03


@dataclass(frozen=True, slots=True)
class Row:
    """One number of a report.

    Attributes:
        what: What was measured, on what.
        measured: The number.
        count: How many fields it is over.
        floor: What it must reach; for an error, the most that it may be.
        is_error: Whether less is better.
    """

    what: str
    measured: float
    count: int
    floor: float | None = None
    is_error: bool = False

    @property
    def is_met(self) -> bool | None:
        """Whether the floor is reached, None where there is none."""
        if self.floor is None:
            return None
        return self.measured <= self.floor if self.is_error else self.measured >= self.floor


def report(folder: Path) -> str:
    """Merge the results in *folder* into `report.json` and `report.html`, and return the table.

    Raises:
        ValueError: The folder holds no results.
    """
    results = read_results(folder)
    if not results:
        raise ValueError(f"{folder} holds no results: run 'deg-train evaluate' into it first")
    rows = rows_of(results)
    listed = [asdict(row) | {"is_met": row.is_met} for row in rows]
    write_json(folder / "report.json", {"table": listed, "suites": results})
    (folder / "report.html").write_text(report_page(listed, results, folder), "utf-8")
    return table(rows)


def read_results(folder: Path) -> dict[str, dict[str, Any]]:
    """Read the result of every suite that *folder* holds, in the order of reports.

    Raises:
        ValueError: A file is damaged.
    """
    results = {}
    for name in (*SUITES, OWN.name):
        path = folder / f"{name}.json"
        if path.is_file():
            try:
                results[name] = json.loads(path.read_text("utf-8"))
            except ValueError as error:
                raise ValueError(f"{path} is damaged ({error}): run its suite again") from error
    return results


def rows_of(results: Results) -> list[Row]:
    """Return the rows of the table, first those that have a floor."""
    rows = [row for line in _LINES for row in line(results)]
    rows += [row for head in ("decide", "extract") for row in _errors(results, head)]
    return sorted(rows, key=lambda row: row.floor is None)


def table(rows: Sequence[Row]) -> str:
    """Write *rows* as text, a mark beside each floor that is not reached."""
    width = max(len(row.what) for row in rows)
    lines = [f"{'':<{width}}  measured   floor       n"]
    for row in rows:
        floor = "" if row.floor is None else f"{'<= ' if row.is_error else ''}{row.floor:.2f}"
        mark = "  below" if row.is_met is False else ""
        if row.is_error and mark:
            mark = "  above"
        lines.append(f"{row.what:<{width}}  {row.measured:8.3f}  {floor:>7}  {row.count:>6}{mark}")
    return "\n".join(lines)


def _line(
    suite: str, measure: str, key: str, what: str, count: str = "count", floor: float | None = None
) -> Callable[[Results], Iterator[Row]]:
    def rows(results: Results) -> Iterator[Row]:
        found = results.get(suite, {}).get("measures", {}).get(measure, {})
        if key in found:
            yield Row(f"{suite}: {what}", found[key], found[count], floor)

    return rows


def _error(
    suite: str, measure: str, what: str, most: float | None = None
) -> Callable[[Results], Iterator[Row]]:
    line = _line(suite, measure, "value", what, floor=most)

    def rows(results: Results) -> Iterator[Row]:
        return (replace(row, is_error=True) for row in line(results))

    return rows


def _laws(name: str, what: str) -> Callable[[Results], Iterator[Row]]:
    def rows(results: Results) -> Iterator[Row]:
        held = sum(result[name]["held"] for result in results.values())
        count = sum(result[name]["count"] for result in results.values())
        if count:
            yield Row(f"all suites: {what}", held / count, count, 1.0)

    return rows


def _errors(results: Results, head: str) -> Iterator[Row]:
    bins = {name: Bins.from_json(result["bins"][head]) for name, result in results.items()}
    asked = {name: each for name, each in bins.items() if each.calibration.count}
    if not asked:
        return
    pooled = reduce(add, asked.values()).calibration
    yield Row(f"all suites: ECE of {head}", pooled.error, pooled.count, _MAX_ERROR, True)
    for name, each in asked.items():
        own = each.calibration
        yield Row(f"{name}: ECE of {head}", own.error, own.count, None, True)


def _generated(suite: str, floor: float) -> list[Callable[[Results], Iterator[Row]]]:
    return [
        _line(suite, "exact_spans", "value", "exact span", floor=floor),
        _line(suite, "null_agreement", "precision", "null precision", "num_predicted", 0.95),
        _line(suite, "null_agreement", "recall", "null recall", "num_gold", 0.93),
    ]


_LINES: list[Callable[[Results], Iterator[Row]]] = [
    *_generated("templates", 0.92),
    *_generated("names", 0.92),
    *_generated("both", 0.88),
    _line("kinds", "exact_spans", "value", "exact span", floor=0.60),
    _line("lists", "count_exact", "value", "count exact", floor=0.80),
    _line("lists", "aligned_values", "value", "aligned values in items", floor=0.75),
    _line("lists-far", "aligned_values", "value", "aligned values in items", floor=0.60),
    _line("questions", "noul_accuracy", "value", "yes-no accuracy", floor=0.85),
    _line("negation", "noul_accuracy", "value", "yes-no accuracy", floor=0.75),
    _error("scales", "score_error", "score MAE", 0.7),
    _error("flips", "option_flips", "answers that flip", 0.03),
    _error("flips-clinc150", "option_flips", "answers that flip", 0.03),
    _line("restaurant8k", "span_agreement", "f1", "span F1", floor=0.85),
    _line("banking77", "choice_accuracy", "value", "accuracy of 77 options", floor=0.90),
    _line("nlupp", "noul_f1", "f1", "yes-no F1", floor=0.70),
    _line("clinc150", "choice_accuracy", "value", "accuracy of 10 options", floor=0.92),
    _line("clinc150-all", "choice_accuracy", "value", "accuracy of 150 options", floor=0.92),
    _laws("schema_valid", "schema-valid"),
    _laws("slice_law", "values that are their slices"),
    _line("nonsense", "exact_spans", "value", "exact span"),
    _line("nonsense", "null_agreement", "recall", "null recall", "num_gold"),
    _line("kinds", "null_agreement", "recall", "null recall", "num_gold"),
    _line("nlupp", "span_agreement", "f1", "span F1"),
    _line("lists", "positional_values", "value", "values in items in order"),
    _line("lists-far", "count_exact", "value", "count exact"),
    _line("long", "exact_spans", "value", "exact span"),
    _line("long", "aligned_values", "value", "aligned values in items"),
    _error("scales", "score_error_labelled", "score MAE, levels with words"),
    _error("scales", "score_error_bare", "score MAE, levels without words"),
    _line("flips", "choice_accuracy", "value", "choice accuracy"),
    _line(OWN.name, "exact_spans", "value", "exact span"),
    _line(OWN.name, "null_agreement", "precision", "null precision", "num_predicted"),
    _line(OWN.name, "null_agreement", "recall", "null recall", "num_gold"),
    _line(OWN.name, "count_exact", "value", "count exact"),
    _line(OWN.name, "aligned_values", "value", "aligned values in items"),
    *(
        _line(suite, measure, "value", what)
        for suite in ("templates", "names", "both", OWN.name)
        for measure, what in (
            ("token_f1", "token F1"),
            ("number_exact", "number exact"),
            ("date_exact", "date exact"),
            ("choice_accuracy", "choice accuracy"),
            ("noul_accuracy", "yes-no accuracy"),
            ("score_error", "score MAE"),
        )
    ),
]
