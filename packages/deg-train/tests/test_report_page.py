from __future__ import annotations

import json
from pathlib import Path

from deg_train.report_page import report_page

BINS = {"counts": [0, 2], "confidences": [0.0, 1.6], "rights": [0, 1]}
NONE = {"counts": [0, 0], "confidences": [0.0, 0.0], "rights": [0, 0]}
SUITE = {
    "model": "deg-<tiny>",
    "about": "what is new & odd",
    "num_records": 1200,
    "seconds": 3.5,
    "measures": {"exact_spans": {"value": 0.5, "count": 2}},
    "bins": {"decide": NONE, "extract": BINS},
}
ROW = {"what": "own: exact span", "measured": 0.5, "count": 2, "is_error": False}


def test_a_page_shows_numbers_floors_charts_and_mistakes(tmp_path: Path) -> None:
    mistake = {
        "context": "<b>Ann</b> owes 12",
        "pointer": "/who",
        "gold": "Ann",
        "answer": "<b>",
        "meta": {"span": [0, 3]},
    }
    (tmp_path / "own.mistakes.jsonl").write_text(json.dumps(mistake) + "\n")
    rows = [ROW | {"floor": 0.85, "is_met": False}, ROW | {"floor": None, "is_met": None}]
    page = report_page(rows, {"own": SUITE}, tmp_path)
    assert '<tr class="missed">' in page
    assert "0.500 ✗<td>0.85<td>2" in page
    assert page.count("<svg") == 1
    assert "1,200 records" in page
    # what a document says is text, never markup
    assert "<b>Ann" not in page
    assert "<mark>&lt;b&gt;</mark>Ann&lt;/b&gt; owes 12" in page
    assert "deg-&lt;tiny&gt; measured" in page
    assert "src=" not in page
    assert "href=" not in page


def test_a_suite_without_mistakes_has_no_list(tmp_path: Path) -> None:
    assert "First mistakes" not in report_page([], {"own": SUITE}, tmp_path)
