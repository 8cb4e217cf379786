from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from deg_train.reliability import Bins
from deg_train.report import Row, report, rows_of, table

NONE = asdict(Bins.of([]))


def result(**measures: Any) -> dict[str, Any]:
    judged = [(0.9, True)] * 9 + [(0.9, False)]
    return {
        "about": "what is new",
        "num_records": 10,
        "seconds": 1.5,
        "measures": measures,
        "bins": {"decide": asdict(Bins.of(judged)), "extract": NONE},
        "schema_valid": {"held": 10, "count": 10},
        "slice_law": {"held": 0, "count": 0},
    }


def row_named(rows: list[Row], what: str) -> Row:
    (row,) = [row for row in rows if row.what == what]
    return row


def test_a_floor_is_held_against_its_measure() -> None:
    rows = rows_of({"banking77": result(choice_accuracy={"value": 0.8, "count": 500})})
    row = row_named(rows, "banking77: accuracy of 77 options")
    assert (row.measured, row.floor, row.count, row.is_met) == (0.8, 0.90, 500, False)


def test_an_error_must_stay_below_its_floor() -> None:
    assert Row("x", 0.05, 1, 0.06, is_error=True).is_met
    assert not Row("x", 0.07, 1, 0.06, is_error=True).is_met
    assert Row("x", 0.07, 1).is_met is None


def test_an_error_of_a_suite_is_held_against_the_most_that_it_may_be() -> None:
    rows = rows_of({"flips": result(option_flips={"value": 0.05, "count": 100})})
    row = row_named(rows, "flips: answers that flip")
    assert (row.floor, row.is_error, row.is_met) == (0.03, True, False)


def test_calibration_is_measured_over_all_suites_together() -> None:
    rows = rows_of({"banking77": result(), "clinc150": result()})
    row = row_named(rows, "all suites: ECE of decide")
    assert row.count == 20
    assert row.measured == pytest.approx(0)
    assert not [row for row in rows if "ECE of extract" in row.what]


def test_precision_is_over_what_was_predicted() -> None:
    nulls = {"precision": 0.5, "recall": 1.0, "num_predicted": 8, "num_gold": 4, "count": 20}
    rows = rows_of({"names": result(null_agreement=nulls)})
    assert row_named(rows, "names: null precision").count == 8
    assert row_named(rows, "names: null recall").count == 4


def test_rows_with_a_floor_come_first_and_misses_are_marked() -> None:
    lines = table([Row("a", 0.5, 3, 0.6), Row("b", 0.2, 4, 0.1, is_error=True), Row("c", 1, 5)])
    assert [line.split()[-1] for line in lines.splitlines()] == ["n", "below", "above", "5"]


def test_a_report_merges_the_results_of_its_folder(tmp_path: Path) -> None:
    for name in ("clinc150", "banking77"):
        (tmp_path / f"{name}.json").write_text(json.dumps(result()))
    report(tmp_path)
    merged = json.loads((tmp_path / "report.json").read_text())
    assert list(merged["suites"]) == ["banking77", "clinc150"]
    assert {row["what"] for row in merged["table"]} >= {"all suites: schema-valid"}


def test_a_folder_without_results_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds no results"):
        report(tmp_path)


def test_a_damaged_result_is_named(tmp_path: Path) -> None:
    (tmp_path / "nlupp.json").write_text("{")
    with pytest.raises(ValueError, match=r"nlupp\.json is damaged"):
        report(tmp_path)
