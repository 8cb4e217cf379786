"""What a run tells of each step: a line of JSON, and the same for TensorBoard where it is asked."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from deg_train.trainer import StepReport

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

__all__ = ["RunLog"]


class RunLog:
    """Writes `metrics.jsonl` of a run's folder, on from the step that the run goes on from.

    Args:
        path: The file.
        step: The last step that was saved; what was logged after it is dropped, as those steps are
            made again.
        events: A folder of TensorBoard's files to write too.

    Raises:
        ValueError: TensorBoard is asked for and not installed.
    """

    def __init__(self, path: Path, step: int, *, events: Path | None = None) -> None:
        self._events = None if events is None else _writer(events, step)
        _forget_after(path, step)
        self._lines = path.open("a", encoding="utf-8")

    def __enter__(self) -> RunLog:
        """Use the log until the end of the block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the files."""
        self._lines.close()
        if self._events is not None:
            self._events.close()

    def add(self, report: StepReport) -> None:
        """Write what a step measured."""
        self._lines.write(json.dumps(asdict(report)) + "\n")
        self._lines.flush()
        if self._events is not None:
            for name, number in _scalars(report).items():
                self._events.add_scalar(name, number, report.step)


def _scalars(report: StepReport) -> dict[str, float]:
    numbers = {f"loss/{name}": loss for name, loss in report.losses.items()}
    numbers |= {f"right/{name}": share for name, share in report.right.items()}
    return numbers | {
        "learning rate": report.learning_rate,
        "tokens per second": report.tokens / report.seconds,
    }


def _writer(folder: Path, step: int) -> SummaryWriter:
    try:
        # TensorBoard is no dependency: most runs are looked at by their plot
        from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415
    except ImportError as error:
        message = "--tensorboard: it is not installed; run pip install 'deg-train[tensorboard]'"
        raise ValueError(message) from error
    return SummaryWriter(str(folder), purge_step=step + 1)


def _forget_after(log: Path, step: int) -> None:
    if not log.is_file():
        return
    lines = log.read_text("utf-8").splitlines(keepends=True)
    kept = [line for line in lines if line.endswith("\n") and json.loads(line)["step"] <= step]
    part = log.with_suffix(".part")
    part.write_text("".join(kept), "utf-8")
    os.replace(part, log)
