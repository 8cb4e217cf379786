"""How a training run goes, for the person at the terminal: a bar, and a line now and then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress as Bar, TextColumn

from deg_train.losses import LOSSES
from deg_train.trainer import StepReport

__all__ = ["FitProgress"]

_LINE_STEPS = 20


class FitProgress:
    """Shows the steps of a run on the standard error; the bar on a terminal alone.

    Args:
        steps: How many the run has in all.
        console: Where to.
        clock: What time it is, in seconds.
    """

    def __init__(
        self,
        steps: int,
        *,
        console: Console | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._steps, self._clock = steps, clock
        self._console = console or Console(stderr=True, highlight=False)
        columns = (
            TextColumn("step"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[pace]}"),
        )
        is_shown = self._console.is_terminal
        self._bar = Bar(*columns, console=self._console, transient=True, disable=not is_shown)
        self._task = self._bar.add_task("", total=steps, pace="")
        self._began = clock()
        self._num_seen = 0
        self._window: list[StepReport] = []

    def __enter__(self) -> FitProgress:
        """Show the bar; the time left counts from here."""
        self._began = self._clock()
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the bar away."""
        self._bar.stop()

    def add(self, report: StepReport) -> None:
        """Show one more step."""
        self._num_seen += 1
        self._window.append(report)
        left = (self._steps - report.step) * (self._clock() - self._began) / self._num_seen / 60
        self._bar.update(self._task, completed=report.step, pace=f"{left:.0f} min left")
        if len(self._window) == _LINE_STEPS or report.step == self._steps:
            self._console.print(self._line(left), soft_wrap=True)
            self._window.clear()

    def _line(self, minutes_left: float) -> str:
        rate = sum(r.tokens for r in self._window) / sum(r.seconds for r in self._window)
        parts = [
            f"step {self._window[-1].step}/{self._steps}",
            *self._means(),
            f"{rate:.0f} tokens/s",
            f"{minutes_left:.0f} min left",
        ]
        return "  ".join(parts)

    def _means(self) -> Iterator[str]:
        for name in LOSSES:
            asked = [report for report in self._window if name in report.losses]
            if asked:
                loss, right = (
                    sum(getattr(report, of)[name] for report in asked) / len(asked)
                    for of in ("losses", "right")
                )
                yield f"{name} {loss:.3f} ({right:.2f} right)"
