from __future__ import annotations

from pathlib import Path

import pytest

from deg_train.generate import CHANGES, DocumentSource, ListSource
from deg_train.generate.__main__ import main
from deg_train.generate.coverage import asked, changes, material
from deg_train.generate.kinds import HELD_OUT_KINDS, KINDS

PAGE = Path(__file__).parents[3] / "docs" / "coverage.md"


def test_what_is_trained_and_what_is_held_out_make_the_whole() -> None:
    rows = {row.what: row.cells for row in material()}
    assert sum(map(int, rows["kinds of value"])) == len(KINDS)
    assert rows["kinds of value"][1] == str(len(HELD_OUT_KINDS))
    assert all(int(cell.replace(",", "")) >= 0 for cells in rows.values() for cell in cells)


def test_every_change_is_listed() -> None:
    assert [row.what for row in changes()] == list(CHANGES)


def test_questions_are_counted_by_type() -> None:
    rows = {row.what: row.cells for row in asked(DocumentSource("train"), 40)}
    assert int(rows["extract.span"][0]) > int(rows["extract.span: absent"][0]) > 0
    assert "array" not in rows
    assert "array" in {row.what for row in asked(ListSource("train"), 5)}


def test_the_command_prints_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["coverage", "--records", "3"]) == 0
    assert capsys.readouterr().out.startswith("# What is generated")


@pytest.mark.skipif(not PAGE.is_file(), reason="the page is in the repository, not in the package")
def test_the_page_says_what_there_is() -> None:
    text = PAGE.read_text("utf-8")
    for row in (*material(), *changes()):
        line = f"| {row.what} | {' | '.join(row.cells)} |"
        assert line in text, "print the page anew: python -m deg_train.generate coverage"
