from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from deg_train.run_log import RunLog
from deg_train.trainer import StepReport


def report(step: int) -> StepReport:
    return StepReport(
        step=step,
        losses={"extract": 1.0 / step},
        right={"extract": 0.5},
        tokens=300,
        padded=320,
        seconds=2.0,
        learning_rate=1e-3,
        skipped=0,
    )


def steps_of(path: Path) -> list[int]:
    return [json.loads(line)["step"] for line in path.read_text().splitlines()]


def test_steps_that_are_made_again_are_logged_once(tmp_path: Path) -> None:
    path, events = tmp_path / "metrics.jsonl", tmp_path / "events"
    with RunLog(path, 0, events=events) as log:
        for step in (1, 2, 3):
            log.add(report(step))
    with path.open("a") as lines:
        lines.write('{"step": 4, "lo')
    with RunLog(path, 2, events=events) as log:
        log.add(report(3))
    assert steps_of(path) == [1, 2, 3]
    read = EventAccumulator(str(events))
    read.Reload()
    assert {"loss/extract", "right/extract", "learning rate"} <= set(read.Tags()["scalars"])
    speeds = [(event.step, event.value) for event in read.Scalars("tokens per second")]
    assert speeds == [(1, 150.0), (2, 150.0), (3, 150.0)]


def test_without_tensorboard_the_way_out_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(ValueError, match=r"pip install 'deg-train\[tensorboard\]'"):
        RunLog(tmp_path / "metrics.jsonl", 0, events=tmp_path / "events")
