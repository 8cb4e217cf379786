from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from deg_client.deadline import Deadline
from deg_client.retry import Attempts, asked_pause, may_retry


def pauses(attempts: Attempts, count: int) -> list[float | None]:
    told = []
    for _ in range(count):
        attempts.made += 1
        told.append(attempts.pause())
    return told


def test_pauses_double_up_to_a_bound_and_end() -> None:
    attempts = Attempts(7, Deadline(60), spread=lambda: 0.0)
    assert pauses(attempts, 8) == [0.5, 1, 2, 4, 8, 8, 8, None]


def test_pauses_are_spread_over_a_quarter() -> None:
    assert pauses(Attempts(2, Deadline(60), spread=lambda: 1.0), 2) == [0.375, 0.75]


def test_a_pause_is_no_shorter_than_asked() -> None:
    attempts = Attempts(1, Deadline(60), spread=lambda: 1.0)
    attempts.made = 1
    assert attempts.pause(20.0) == 20.125


def test_there_is_no_pause_that_the_deadline_would_not_outlast() -> None:
    attempts = Attempts(1, Deadline(10))
    attempts.made = 1
    assert attempts.pause(11.0) is None


@pytest.mark.parametrize(
    ("status", "should", "may"),
    [(503, "", True), (429, "", True), (408, "", True), (422, "", False), (500, "FALSE", False)],
)
def test_may_retry(status: int, should: str, may: bool) -> None:
    assert may_retry(status, {"x-should-retry": should}) is may


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Wed, 21 Oct 99999 07:28:00 GMT"}, None),
        ({}, None),
    ],
)
def test_asked_pause(headers: dict[str, str], seconds: float | None) -> None:
    assert asked_pause(headers) == seconds


def test_a_date_is_asked_from_now() -> None:
    headers = {"retry-after": formatdate(time.time() + 30, usegmt=True)}
    assert asked_pause(headers) == pytest.approx(30, abs=2)
