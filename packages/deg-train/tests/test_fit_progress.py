from __future__ import annotations

import io

from rich.console import Console

from deg_train.fit_progress import FitProgress
from deg_train.trainer import StepReport


class Clock:
    """Goes on when it is told."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def report(step: int, **losses: float) -> StepReport:
    return StepReport(
        step=step,
        losses=losses,
        right=dict.fromkeys(losses, 0.5),
        tokens=300,
        padded=320,
        seconds=2.0,
        learning_rate=1e-3,
        skipped=0,
    )


def shown(steps: range, total: int, *, terminal: bool = False) -> str:
    clock, file = Clock(), io.StringIO()
    console = Console(file=file, force_terminal=terminal, width=120)
    with FitProgress(total, console=console, clock=clock) as progress:
        for step in steps:
            clock.now += 30
            losses = {"extract": 2.0} if step % 2 else {"extract": 1.0, "decide": 0.25}
            progress.add(report(step, **losses))
    return file.getvalue()


def test_a_line_every_twenty_steps_and_at_the_end() -> None:
    first, last = shown(range(81, 103), 102).splitlines()
    assert first == (
        "step 100/102  decide 0.250 (0.50 right)  extract 1.500 (0.50 right)  "
        "150 tokens/s  1 min left"
    )
    assert last.startswith("step 102/102  ")
    assert last.endswith("0 min left")


def test_a_bar_on_a_terminal() -> None:
    written = shown(range(1, 7), 240, terminal=True)
    assert "6/240" in written
    assert "117 min left" in written
    assert "tokens/s" not in written
