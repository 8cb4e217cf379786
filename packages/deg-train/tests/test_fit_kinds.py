"""`deg-train fit` with what it trains said on the command line, up to a filled schema."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deg_model import BASE_READS, AdapterPlan, load_checkpoint
from deg_runtime import Trace, load
from deg_train.cli import main
from deg_train.fit_options import FitOptions
from deg_train.trained_arguments import add_trained, plan_of

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": ["string", "null"]},
        "topic": {"enum": ["billing", "delivery"]},
        "urgent": {"type": "boolean"},
        "note": {"type": "string", "x-generate": True, "x-max-tokens": 5},
    },
    "required": ["name", "topic", "urgent", "note"],
}
TEXT = "Ann writes about billing: Ann owes 12 euro since 1 May. " * 6
SHORT = ["--steps", "2", "--tokens-per-step", "300", "--form-steps", "0", "--threads", "1"]


@pytest.fixture
def train(cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Path]:
    def start(*words: str) -> Path:
        assert main(["fit", str(tmp_path / "run"), *SHORT, *words]) == 0
        capsys.readouterr()
        return tmp_path / "run" / "checkpoint"

    return start


def fill(folder: Path, **named: Any) -> tuple[dict[str, Any], Trace]:
    trace = Trace()
    return load(folder, **named).fill(TEXT, SCHEMA, trace=trace), trace


def test_adapters_by_kind_over_a_context_of_the_base(train: Callable[..., Path]) -> None:
    folder = train("--adapters", "decide,extract", "--lora-context", "base", "--rank", "2")
    assert load_checkpoint(folder).plan == AdapterPlan(("decide", "extract"), BASE_READS)
    response, trace = fill(folder)
    assert response["value"].keys() == SCHEMA["properties"].keys()
    # the text goes on from the document: what is read for it is less than the document
    assert 0 < trace.writing[0].context_tokens < trace.context_tokens


def test_a_whole_backbone(train: Callable[..., Path]) -> None:
    folder = train("--full", "--backbone-rate", "0.01")
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["backbone.safetensors", "deg.json", "heads.safetensors"]
    own, own_trace = fill(folder)
    beside, beside_trace = fill(folder, generate="base")
    assert own_trace.writing[0].context_tokens < own_trace.context_tokens
    assert beside_trace.writing[0].context_tokens > beside_trace.context_tokens
    # who writes changes nothing of what is asked
    for name in ("name", "topic", "urgent"):
        assert own["meta"][f"/{name}"] == beside["meta"][f"/{name}"]


def test_the_mean_of_whole_backbones_fills(train: Callable[..., Path], tmp_path: Path) -> None:
    folder = train("--full")
    assert main(["average", str(tmp_path / "mean"), str(folder), str(folder)]) == 0
    assert json.dumps(fill(tmp_path / "mean")[0]) == json.dumps(fill(folder)[0])


@pytest.mark.parametrize(
    ("words", "plan"),
    [
        ([], AdapterPlan()),
        (["--lora-context", "base"], AdapterPlan(("shared",), BASE_READS)),
        (["--adapters", "decide,extract"], AdapterPlan(("decide", "extract"), BASE_READS)),
        (
            ["--adapters", "decide,extract", "--lora-context", "decide"],
            AdapterPlan(("decide", "extract"), "decide"),
        ),
        (["--full"], AdapterPlan((), BASE_READS)),
    ],
)
def test_what_is_trained_is_said_in_words(words: list[str], plan: AdapterPlan) -> None:
    parser = argparse.ArgumentParser()
    add_trained(parser, FitOptions())
    assert plan_of(parser.parse_args(words)) == plan


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--adapters", "extract"], "no adapters 'extract': say shared or decide,extract"),
        (["--lora-context", "decide"], "no adapter 'decide' to read contexts"),
        (["--full", "--adapters", "shared"], "--full trains no adapters: leave out --adapters"),
    ],
)
def test_words_that_make_no_plan_are_refused(
    words: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", str(tmp_path / "run"), *words]) == 2
    assert re.search(told, capsys.readouterr().err)
    assert not (tmp_path / "run").exists()
