"""`deg-train generator`: texts of labelled documents to an adapter that writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from deg_model import (
    BASE_READS,
    BASES,
    DEFAULT_BASE,
    AdapterPlan,
    Generator,
    Llama,
    Tokenizer,
    load_generator,
)
from deg_runtime import Stop, load
from deg_train import text_training
from deg_train.batches import collate, pack
from deg_train.cli import main
from deg_train.fit_options import FitOptions
from deg_train.records import Record
from deg_train.text_training import text_set, token_loss
from deg_train.trainer import Trainer

NAMES = ("Ann", "Bob", "Cleo", "Dan", "Eve", "Flo", "Gil", "Hal")
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "note": {"type": "string", "x-generate": True, "x-max-tokens": 12},
    },
    "required": ["name", "note"],
}


def labelled(name: str, split: str = "train", note: str | None = None) -> dict[str, Any]:
    return {
        "context": f"{name} owes 12 euro.",
        "schema": SCHEMA,
        "value": {"name": name, "note": note or f"{name} owes"},
        "split": split,
    }


def record(name: str, note: str | None = None) -> Record:
    line = labelled(name, note=note)
    spans = {"/name": ((0, len(name)),)}
    return Record(line["context"], SCHEMA, line["value"], spans, "made")


def write(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return path


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    taught = [labelled(name) for name in NAMES[:6]]
    return write(tmp_path / "own.jsonl", taught + [labelled(name, "val") for name in NAMES[6:]])


SHORT = [
    "--steps",
    "40",
    "--every",
    "20",
    "--rank",
    "8",
    "--threads",
    "1",
    "--learning-rate",
    "0.05",
]


@pytest.fixture
def train(cache: Path, lines: Path, tmp_path: Path) -> Callable[..., int]:
    def start(*words: str, out: str = "run") -> int:
        return main(["generator", str(tmp_path / out), "--records", str(lines), *SHORT, *words])

    return start


def test_from_labelled_documents_to_written_texts(
    train: Callable[..., int], checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train() == 0
    assert "nats a token on texts held out, the base" in capsys.readouterr().err
    folder = tmp_path / "run" / "generator"
    generator = load_generator(folder)
    facts = generator.training
    assert facts["step"] in (20, 40)
    assert facts["token_loss"] < facts["base_token_loss"]
    assert (facts["documents"], facts["texts"]) == (6, 6)
    text = f"{NAMES[0]} owes 12 euro."
    base, own = (
        load(checkpoint, generate=generate).fill(text, SCHEMA)
        for generate in ("base", f"base+lora:{folder}")
    )
    assert base["meta"]["/name"] == own["meta"]["/name"]
    assert base["value"]["note"] != own["value"]["note"]


def test_the_loss_is_that_of_the_merged_base(
    train: Callable[..., int], tokenizer: Tokenizer, tmp_path: Path, make_trainer: Any
) -> None:
    assert train() == 0
    generator = load_generator(tmp_path / "run" / "generator")
    held_out = pack(text_set([record(name) for name in NAMES[6:]], tokenizer).examples, 800)
    plain: Trainer = make_trainer()
    plain.trained.backbone = generator.merged(plain.backbone)
    # the run multiplies in bf16, in which the pairs are kept too
    assert token_loss(plain, held_out) == pytest.approx(generator.training["token_loss"], rel=0.02)


def test_a_stopped_run_goes_on_to_the_same_bits(
    train: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert train(out="whole") == 0

    def killed(generator: Generator, folder: Path) -> None:
        raise KeyboardInterrupt

    # after the state is saved, before what was measured of it is
    with monkeypatch.context() as patched:
        patched.setattr(text_training, "save_generator", killed)
        assert train(out="parted") == 130
    assert train(out="parted") == 0
    whole, parted = (tmp_path / name for name in ("whole", "parted"))
    for name in ("generator/lora.safetensors", "validation.jsonl"):
        assert (whole / name).read_bytes() == (parted / name).read_bytes()
    saved = [load_file(each / "state.safetensors") for each in (whole, parted)]
    assert saved[0].keys() == saved[1].keys()
    assert all(torch.equal(tensor, saved[1][name]) for name, tensor in saved[0].items())


def test_a_signal_between_measurements_changes_nothing(
    train: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert train(out="whole") == 0
    asked = iter([False] * 6 + [True])

    class Stopped(Stop):
        status = 143

        def is_asked(self) -> bool:
            return next(asked)

    with monkeypatch.context() as patched:
        patched.setattr(text_training, "Stop", Stopped)
        assert train(out="parted") == 143
    assert train(out="parted") == 0
    for name in ("generator/generator.json", "validation.jsonl"):
        whole, parted = (tmp_path / out / name for out in ("whole", "parted"))
        assert whole.read_bytes() == parted.read_bytes()


def test_a_run_that_finds_nothing_better_ends_and_says_so(
    train: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train("--learning-rate", "30", "--every", "1", "--patience", "2") == 1
    told = capsys.readouterr().err
    assert "no step wrote better than the base" in told
    assert "lower --learning-rate" in told
    assert not (tmp_path / "run" / "generator").exists()
    marks = (tmp_path / "run" / "validation.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in marks] == [0, 1, 2]


def test_what_is_kept_is_the_best_step(
    train: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = iter([5.0, 3.0, 2.0, *[2.5] * 4])
    monkeypatch.setattr(text_training, "token_loss", lambda *_: next(losses))
    assert train("--every", "2", "--steps", "12") == 0
    assert load_generator(tmp_path / "run" / "generator").training["step"] == 4


@pytest.mark.parametrize(
    ("lines_of", "told"),
    [
        (lambda: [labelled(name) for name in NAMES], "no record with the split 'val' has a text"),
        (
            lambda: [labelled("Ann", note="Ann owes " * 20), labelled("Bob", "val")],
            "left out of train: /note: .* tokens, 'x-max-tokens' allows 12",
        ),
        (lambda: [labelled("Ann") | {"split": "all"}], "line 1"),
    ],
)
def test_records_that_cannot_be_learned_from_are_told(
    train: Callable[..., int],
    lines: Path,
    capsys: pytest.CaptureFixture[str],
    lines_of: Callable[[], list[dict[str, Any]]],
    told: str,
) -> None:
    write(lines, lines_of())
    assert train() == 2
    assert re.search(told, capsys.readouterr().err)


def test_texts_that_are_held_to_the_base_stay_nearer(
    make_trainer: Any, tokenizer: Tokenizer
) -> None:
    batches = [collate(list(text_set([record(name) for name in NAMES[:6]], tokenizer).examples))]

    def far(weight: float) -> tuple[float, dict[str, float]]:
        trainer: Trainer = make_trainer(learning_rate=0.01, lm_kl_base=weight)
        reports = [trainer.train_step(batches) for _ in range(6)]
        trainer.options = replace(trainer.options, lm_kl_base=1.0)
        with torch.no_grad():
            return float(trainer.losses(batches[0])["lm_kl"].total), reports[0].losses

    free, first = far(0.0)
    assert "lm_kl" not in first
    held, first = far(20.0)
    assert first["lm_kl"] == pytest.approx(0, abs=1e-6)
    assert held < free / 2


def test_a_whole_backbone_is_held_to_the_base_it_started_from(
    backbone: Llama, tokenizer: Tokenizer
) -> None:
    plan = AdapterPlan((), BASE_READS)
    options = FitOptions(plan=plan, warmup=1, backbone_rate=0.01, lm_kl_base=1.0)
    trainer = Trainer(backbone, BASES[DEFAULT_BASE], options)
    batches = [collate(list(text_set([record(name) for name in NAMES[:6]], tokenizer).examples))]
    reports = [trainer.train_step(batches) for _ in range(2)]
    assert reports[0].losses["lm_kl"] == pytest.approx(0, abs=1e-6)
    assert reports[1].losses["lm_kl"] > 1e-4


def test_fit_holds_nothing_to_the_base_that_adapters_do_not_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", str(tmp_path / "run"), "--lm-kl-base", "1"]) == 2
    assert "--lm-kl-base holds what --full trains to the base: add --full" in (
        capsys.readouterr().err
    )
