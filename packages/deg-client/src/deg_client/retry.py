"""Whether a call is tried again, and after which pause."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime

from deg_client.deadline import Deadline

__all__ = ["Attempts", "asked_pause", "may_retry"]

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 8.0
_SPREAD = 0.25


class Attempts:
    """Count the attempts of one call, and say how long to wait before the next."""

    def __init__(
        self, retries: int, deadline: Deadline, *, spread: Callable[[], float] = random.random
    ) -> None:
        self.made = 0
        self._retries = retries
        self._deadline = deadline
        self._spread = spread

    def pause(self, asked: float | None = None) -> float | None:
        """Return the seconds to the next attempt; `None` if there is none, or no time for it.

        Args:
            asked: The seconds that the server asked for; the pause is never shorter.
        """
        if self.made > self._retries:
            return None
        longest = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** (self.made - 1))
        spread = _SPREAD * longest * self._spread()
        pause = longest - spread if asked is None else asked + spread
        return pause if pause < self._deadline.remaining() else None


def may_retry(status: int, headers: Mapping[str, str]) -> bool:
    """Return whether another attempt may be answered otherwise than with *status*."""
    if headers.get("x-should-retry", "").lower() == "false":
        return False
    return status in (408, 429) or status >= 500


def asked_pause(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the server asks to wait, by `retry-after-ms` or `retry-after`."""
    milliseconds = _seconds(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after", "")
    seconds = _seconds(text)
    return _until(text) if seconds is None else seconds


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _until(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError):
        return None
    return max(0.0, moment - time.time())
