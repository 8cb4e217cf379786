from __future__ import annotations

import io

import pytest
from rich.console import Console

from deg_runtime.progress import Progress, spell_seconds


class Clock:
    """Goes on when it is told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_line_now_and_then_where_there_is_no_terminal() -> None:
    clock, file = Clock(), io.StringIO()
    with Progress("records", console=Console(file=file), clock=clock) as progress:
        progress.update(1_000, 5_000)
        for done in (1_010, 1_020, 1_030):
            clock.now += 6
            progress.update(done, 5_000)
    assert file.getvalue() == "1,020 of 5,000 records, 1.7 a second, 39 min 48 s left\n"


def test_work_that_is_slow_has_a_rate_too() -> None:
    clock, file = Clock(), io.StringIO()
    with Progress("records", console=Console(file=file), clock=clock) as progress:
        progress.update(0, 3)
        clock.now += 60
        progress.update(0, 3)
        clock.now += 30
        progress.update(1, 3)
        clock.now += 3_600
        progress.update(2, 3)
    assert file.getvalue().splitlines() == [
        "0 of 3 records",
        "1 of 3 records, 40.0 an hour, 3 min 0 s left",
        "2 of 3 records, 2.0 an hour, 30 min 45 s left",
    ]


def test_a_bar_on_a_terminal_shows_count_and_rate() -> None:
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=120)
    with Progress("records", console=console) as progress:
        progress.update(0, 4)
        progress.update(3, 4)
    assert "records" in file.getvalue()
    assert "3/4" in file.getvalue()


def test_work_that_is_over_at_once_shows_no_bar() -> None:
    file = io.StringIO()
    with Progress("tokens", console=Console(file=file, force_terminal=True)) as progress:
        progress.update(30, 30)
    assert file.getvalue() == ""


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (0.4, "0 s"),
        (59.6, "1 min 0 s"),
        (3_600, "1 h 0 min"),
        (90_061, "1 d 1 h"),
        (61, "1 min 1 s"),
    ],
)
def test_a_time_is_spelled_in_its_two_largest_units(seconds: float, words: str) -> None:
    assert spell_seconds(seconds) == words
