from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from deg_model import load_checkpoint
from deg_train import fit as module
from deg_train.batches import Batch, pack
from deg_train.fit import fit
from deg_train.fit_options import FitOptions
from deg_train.own import OwnRecords
from deg_train.questions import Example

Draw = Callable[[int], Sequence[Batch]]
pytestmark = pytest.mark.usefixtures("cache")


@pytest.fixture
def train(
    examples: list[Example], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., int]:
    """Return a fit over a few fixed examples into `tmp_path / name`."""

    def start(
        name: str,
        *,
        steps: int,
        before: Callable[[int], None] = lambda _: None,
        init: Path | None = None,
    ) -> int:
        def draw(step: int) -> Sequence[Batch]:
            before(step)
            return pack(examples[step % 2 :: 2], 4096)

        monkeypatch.setattr(module, "drawer", lambda *_, **__: draw)
        options = FitOptions(steps=steps, rank=2, warmup=1, decay=1)
        return fit(
            tmp_path / name,
            options,
            source=OwnRecords([]),
            init=init,
            model_id="tiny",
            threads=1,
            save_every=2,
        )

    return start


def steps_logged(folder: Path) -> list[int]:
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    return [json.loads(line)["step"] for line in lines]


def trained(folder: Path) -> dict[str, Any]:
    loaded = load_checkpoint(folder / "checkpoint")
    return {**loaded.heads, **loaded.adapters}


def test_a_run_leaves_its_log_its_state_and_a_checkpoint(
    train: Callable[..., int], tmp_path: Path
) -> None:
    assert train("run", steps=3) == 0
    assert steps_logged(tmp_path / "run") == [1, 2, 3]
    names = sorted(path.name for path in (tmp_path / "run").iterdir())
    assert names == ["checkpoint", "metrics.jsonl", "plot.svg", "state.safetensors"]
    assert load_checkpoint(tmp_path / "run" / "checkpoint").model_id == "tiny"


def test_a_run_may_start_from_a_checkpoint(train: Callable[..., int], tmp_path: Path) -> None:
    train("first", steps=2)
    init = tmp_path / "first" / "checkpoint"
    assert train("second", steps=1, init=init) == 0
    first, second = trained(tmp_path / "first"), trained(tmp_path / "second")
    moved = {name for name in first if not torch.equal(first[name], second[name])}
    assert moved
    assert all(torch.allclose(first[n], second[n], atol=0.02) for n in first)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_is_saved_and_goes_on_as_if_unbroken(
    number: signal.Signals, train: Callable[..., int], tmp_path: Path
) -> None:
    def stop_at_last(step: int) -> None:
        if step == 2:
            os.kill(os.getpid(), number)

    assert train("broken", steps=5, before=stop_at_last) == 128 + number
    assert steps_logged(tmp_path / "broken") == [1, 2, 3]
    assert train("broken", steps=5) == 0
    assert train("whole", steps=5) == 0
    assert steps_logged(tmp_path / "broken") == [1, 2, 3, 4, 5]
    broken, whole = trained(tmp_path / "broken"), trained(tmp_path / "whole")
    assert all(torch.equal(broken[name], whole[name]) for name in whole)


def test_a_run_that_goes_on_otherwise_says_so(
    train: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert train("run", steps=2) == 0
    assert "unbroken" not in capsys.readouterr().err
    assert train("run", steps=3) == 0
    assert "changed are steps\n" in capsys.readouterr().err


def test_steps_after_the_saved_state_are_logged_once(
    train: Callable[..., int], tmp_path: Path
) -> None:
    def fall(step: int) -> None:
        if step == 3 and (tmp_path / "run" / "state.safetensors").is_file():
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError):
        train("run", steps=5, before=fall)
    with (tmp_path / "run" / "metrics.jsonl").open("a") as log:
        log.write('{"step": 4')
    assert train("run", steps=5) == 0
    assert steps_logged(tmp_path / "run") == [1, 2, 3, 4, 5]
