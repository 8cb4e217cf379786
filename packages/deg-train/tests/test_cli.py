from __future__ import annotations

import json
from pathlib import Path

import pytest

from deg_train.cli import main

COMMANDS = ("fit", "records", "average", "calibrate", "null-margin", "evaluate", "report")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_argument_has_a_help_text(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_info:
        main([command, "--help"])
    assert exit_info.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    assert command in text
    assert "None" not in text


@pytest.mark.parametrize(
    "arguments",
    [
        ["average", "out", "nowhere"],
        ["calibrate", "nowhere"],
        ["evaluate", "nowhere", "--out", "out"],
        ["evaluate", "nowhere", "--out", "out", "--suite", "nlupp"],
        ["report", "nowhere"],
        ["fit", "run", "--sets", "nowhere"],
        ["fit", "run", "--records", "nowhere"],
        ["records", "nowhere"],
    ],
)
@pytest.mark.usefixtures("cache")
def test_a_mistake_is_one_line_and_status_2(
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("deg-train: ")
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "run", "--steps", "0"],
        ["fit", "run", "--learning-rate", "nan"],
        ["fit", "run", "--rehearse", "1"],
        ["fit", "run", "--records", "own.jsonl:0"],
        ["evaluate", "x", "--out", "y", "--scale", "-1"],
        ["evaluate", "x", "--out", "y", "--suite", "all"],
        ["evaluate", "x"],
        [],
    ],
)
def test_a_wrong_argument_is_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as exit_info:
        main(arguments)
    assert exit_info.value.code == 2


@pytest.mark.usefixtures("cache")
def test_an_evaluation_ends_with_its_table(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    suites = ["--suite", "both", "nonsense", "--scale", "0.01"]
    assert main(["evaluate", str(checkpoint), "--out", str(out), *suites]) == 0
    printed = capsys.readouterr().out
    assert "all suites: schema-valid" in printed
    assert list(json.loads((out / "report.json").read_text())["suites"]) == ["both", "nonsense"]
    assert main(["report", str(out)]) == 0
    assert capsys.readouterr().out == printed
