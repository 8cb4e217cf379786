from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from deg_model import WeightsError
from deg_runtime.demo import main

SCHEMA = {"type": "object", "properties": {"order": {"type": "string"}}}


def _examples(folder: Path, *names: str) -> str:
    for name in names:
        (folder / name).mkdir()
        (folder / name / "document.txt").write_text("Order A-1047 is late.")
        (folder / name / "schema.json").write_text(json.dumps(SCHEMA))
    return str(folder)


def _run(words: list[str], engine: Any) -> tuple[int, str]:
    console = Console(file=io.StringIO(), width=100)
    status = main(words, load=engine, console=console)
    assert isinstance(console.file, io.StringIO)
    return status, console.file.getvalue()


def test_each_example_is_shown(tmp_path: Path, fake_engine: Any) -> None:
    words = [_examples(tmp_path, "second", "first")]
    status, shown = _run(words, fake_engine({"/order": "A-1047"}))
    assert status == 0
    assert shown.index("first") < shown.index("second")
    assert shown.count("»A-1047«") == 2
    assert "1 fields in" in shown
    assert shown.rstrip().endswith("--html page.html")


def test_an_example_that_fails_does_not_stop_the_others(tmp_path: Path, fake_engine: Any) -> None:
    words = [_examples(tmp_path, "first", "second")]
    (tmp_path / "first" / "document.txt").write_bytes(b"\xff")
    status, shown = _run(words, fake_engine({"/order": "A-1047"}))
    assert status == 1
    assert "not UTF-8" in shown
    assert "»A-1047«" in shown


def test_missing_weights_are_told_in_a_line(tmp_path: Path) -> None:
    def load(*_: Any, **__: Any) -> Any:
        raise WeightsError("no weights: connect once")

    assert _run([_examples(tmp_path, "first")], load) == (1, "no weights: connect once\n")


@pytest.mark.parametrize("words", [[], ["-x"], ["a", "b"]])
def test_other_words_get_the_usage(words: list[str], fake_engine: Any) -> None:
    status, shown = _run(words, fake_engine({}))
    assert (status, shown) == (2, "usage: python -m deg_runtime.demo FOLDER\n")


def test_a_folder_without_examples_is_refused(tmp_path: Path, fake_engine: Any) -> None:
    status, shown = _run([str(tmp_path)], fake_engine({}))
    assert status == 2
    assert "holds no folder" in shown


def test_stopping_it_is_no_failure_of_ours(tmp_path: Path, fake_engine: Any) -> None:
    engine = fake_engine({}, KeyboardInterrupt())
    assert _run([_examples(tmp_path, "first")], engine)[0] == 130
