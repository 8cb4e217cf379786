"""How far long work is: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress as Bar, TaskID, TextColumn

__all__ = ["Progress", "spell_seconds"]

_EVERY = 10.0


class Progress:
    """Shows *unit* after *unit* on the standard error.

    Args:
        unit: What is counted, as in `records`.
        console: Where to.
        clock: What time it is, in seconds.
    """

    def __init__(
        self,
        unit: str,
        *,
        console: Console | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._unit, self._clock = unit, clock
        self._console = console or Console(stderr=True, highlight=False)
        self._bar: Bar | None = None
        self._task = TaskID(0)
        self._began: tuple[float, int] | None = None
        self._told = 0.0

    def __enter__(self) -> Progress:
        """Show nothing yet."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()

    def update(self, done: int, total: int) -> None:
        """Say that *done* of *total* are done; rate and time left count from the first call."""
        now = self._clock()
        if self._began is None:
            self._began, self._told = (now, done), now
        if self._console.is_terminal:
            self._move(now, done, total)
        elif now - self._told >= _EVERY:
            self._told = now
            self._console.print(self._line(now, done, total), soft_wrap=True)

    def _move(self, now: float, done: int, total: int) -> None:
        if self._bar is None:
            if done >= total:
                # over before there was anything to see
                return
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[pace]}"),
            )
            self._bar = Bar(*columns, console=self._console, transient=True)
            self._task = self._bar.add_task(self._unit, total=total, completed=done, pace="")
            self._bar.start()
        # a rate of the bar's own forgets what is half a minute old: a slow batch would have none
        self._bar.update(self._task, completed=done, pace=self._pace(now, done, total))

    def _line(self, now: float, done: int, total: int) -> str:
        pace = self._pace(now, done, total)
        return f"{done:,} of {total:,} {self._unit}" + (f", {pace}" if pace else "")

    def _pace(self, now: float, done: int, total: int) -> str:
        began, before = self._began or (now, done)
        if done <= before or now <= began:
            return ""
        rate = (done - before) / (now - began)
        return f"{_spell_rate(rate)}, {spell_seconds((total - done) / rate)} left"


def spell_seconds(seconds: float) -> str:
    """Spell a time in its two largest units."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    units = ((days, "d"), (hours, "h"), (minutes, "min"), (rest, "s"))
    first = next((index for index, (count, _) in enumerate(units) if count), 3)
    return " ".join(f"{count} {unit}" for count, unit in units[first : first + 2])


def _spell_rate(per_second: float) -> str:
    for seconds, unit in ((1, "a second"), (60, "a minute")):
        if per_second * seconds >= 1:
            return f"{per_second * seconds:,.1f} {unit}"
    return f"{per_second * 3600:,.1f} an hour"
