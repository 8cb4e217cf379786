from __future__ import annotations

import json
from pathlib import Path

import pytest

from deg_train.cli import main
from deg_train.own import RecordFile, read_split

LINES = [
    {
        "context": f"{name} owes {number} euro",
        "schema": {
            "type": "object",
            "properties": {"who": {"type": "string"}, "owes": {"type": "integer"}},
        },
        "value": {"who": name, "owes": number},
        "split": split,
    }
    for name, number, split in (
        ("Ann", 12, "train"),
        ("Bob", 340, "train"),
        ("Cleo", 7, "test"),
        ("Dan", 55, "val"),
    )
]


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return path


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ("own.jsonl", RecordFile(Path("own.jsonl"))),
        ("own.jsonl:2.5", RecordFile(Path("own.jsonl"), 2.5)),
        ("C:/own.jsonl", RecordFile(Path("C:/own.jsonl"))),
    ],
)
def test_a_file_may_have_a_weight(text: str, file: RecordFile) -> None:
    assert RecordFile.parse(text) == file


def test_a_weight_that_draws_nothing_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["fit", "run", "--records", "own.jsonl:0"])
    assert "own.jsonl:0: a weight of 0 draws nothing: take one above 0" in capsys.readouterr().err


def test_a_split_is_read_alone(own: Path) -> None:
    assert [r.value["who"] for r in read_split(own, "train", on_fault="stop")] == ["Ann", "Bob"]
    assert [r.value["who"] for r in read_split(own, "test", on_fault="stop")] == ["Cleo"]


def test_a_fault_stops_or_is_told_and_passed_over(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own.write_text("{}\n" + own.read_text())
    with pytest.raises(ValueError, match="line 1: 'context' is missing"):
        read_split(own, "train", on_fault="stop")
    assert len(read_split(own, "train", on_fault="skip")) == 2
    assert "line 1: 'context' is missing" in capsys.readouterr().err


def test_without_a_record_of_the_split_nothing_is_done(own: Path) -> None:
    own.write_text(own.read_text().replace('"val"', '"train"'))
    with pytest.raises(ValueError, match="no records with the split 'val'"):
        read_split(own, "val", on_fault="stop")


def test_records_says_what_a_file_trains(
    own: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["records", str(own)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed == [
        f"{own}: 4 records in order (1 test, 2 train, 1 val)",
        "  extract  8 questions",
    ]
    leaf = {"type": "string", "x-generate": True}
    writes = {"type": "object", "properties": {"a": leaf, "b": leaf | {"x-max-tokens": 1}}}
    texts = {"context": "Ann", "schema": writes, "value": {"a": "So it is.", "b": "Two words"}}
    own.write_text(json.dumps(texts) + "\n")
    assert main(["records", str(own)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[1] == "  lm       1 text, for deg-train generator, or fit --full"
    assert printed[2].startswith("  not taught: line 1 /b: ")
    assert printed[2].endswith(" tokens, 'x-max-tokens' allows 1")
    asks = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "boolean"}}}
    far = {"context": "7! " * 200, "schema": asks, "value": {"a": ("7! " * 200).strip()}}
    own.write_text(json.dumps(far) + "\n")
    assert main(["records", str(own)]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "  not taught: line 1 /a: more than the 128 tokens that a copied value may have",
        "  not taught: line 1 /b: a decided field of which the value says nothing",
    ]
    lost = LINES[0] | {"value": {"who": "Eve", "owes": 12}}
    own.write_text(json.dumps(lost) + "\n[]\n")
    assert main(["records", str(own)]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[1:] == [
        "  extract  1 question",
        "  not taught: line 1 /who: 'Eve' stands nowhere in the context",
        "  refused: line 2: a line is an object with 'context', 'schema' and 'value'",
    ]


def test_own_documents_become_a_checkpoint_that_can_be_measured(
    own: Path, checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, out = tmp_path / "run", tmp_path / "out"
    fit = ["fit", str(run), "--records", str(own), "--init", str(checkpoint), "--rank", "4"]
    fit += ["--reload-every", "1", "--filler", "0.3", "--tokens-per-example", "900"]
    assert main([*fit, "--steps", "2", "--tokens-per-step", "200"]) == 0
    assert len((run / "readings.jsonl").read_text().splitlines()) == 2
    measure = ["evaluate", str(run / "checkpoint"), "--records", str(own), "--out", str(out)]
    assert main(measure) == 0
    assert "own: exact span" in capsys.readouterr().out
    assert json.loads((out / "own.json").read_text())["num_records"] == 1
