from __future__ import annotations

import json
from pathlib import Path

import pytest

from deg_model import DegModel
from deg_runtime import Engine
from deg_train.evaluate import evaluate, result_of, run_suite, write_json
from deg_train.suites import SUITES


def test_a_result_counts_what_was_asked(model: DegModel) -> None:
    suite = SUITES["both"]
    records = suite.read(Path(), 6)
    result = result_of(suite, *run_suite(Engine(model), suite, records))
    assert result["num_records"] == 6
    assert result["schema_valid"] == {"held": 6, "count": 6}
    assert result["slice_law"]["held"] == result["slice_law"]["count"]
    judged = sum(result["bins"]["decide"]["counts"]) + sum(result["bins"]["extract"]["counts"])
    assert judged == result["num_fields"]
    assert all(measure["count"] > 0 for measure in result["measures"].values())


@pytest.mark.usefixtures("cache")
def test_each_suite_is_written_with_its_mistakes(checkpoint: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    evaluate(checkpoint, out, sets=None, names=["names", "kinds"], scale=0.01, threads=1)
    assert sorted(path.name for path in out.iterdir()) == [
        "kinds.json",
        "kinds.mistakes.jsonl",
        "names.json",
        "names.mistakes.jsonl",
    ]
    result = json.loads((out / "names.json").read_text())
    assert (result["suite"], result["model"], result["num_records"]) == ("names", "tiny", 2)
    lines = (out / "names.mistakes.jsonl").read_text("utf-8").splitlines()
    assert all(json.loads(line)["pointer"].startswith("/") for line in lines)


def test_an_unknown_suite_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'all' is no suite: one of templates, "):
        evaluate(tmp_path, tmp_path, sets=None, names=["all"], scale=1, threads=1)


def test_a_public_suite_needs_its_sets(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="give --sets"):
        evaluate(tmp_path, tmp_path, sets=None, names=["nlupp"], scale=1, threads=1)


def test_json_is_written_whole(tmp_path: Path) -> None:
    write_json(tmp_path / "x.json", {"a": 1})
    write_json(tmp_path / "x.json", {"a": 2})
    assert json.loads((tmp_path / "x.json").read_text()) == {"a": 2}
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]
