"""The person at the terminal: lines for them, and their wish to stop."""

from __future__ import annotations

import signal
import sys
from types import FrameType

__all__ = ["Stop", "say"]


def say(line: str) -> None:
    """Write *line* to standard error at once."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


class Stop:
    """Turns Ctrl-C and a termination into a wish that long work asks for between two steps.

    A second signal has its usual effect. Signals reach the main thread alone, so that is where it
    is entered.
    """

    def __init__(self) -> None:
        self._signal: int | None = None
        self._usual = {number: signal.getsignal(number) for number in _SIGNALS}

    def __enter__(self) -> Stop:
        """Start to listen."""
        for number in _SIGNALS:
            signal.signal(number, self._ask)
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the signals as they were."""
        for number, handler in self._usual.items():
            signal.signal(number, handler)

    def is_asked(self) -> bool:
        """Say whether a signal has come."""
        return self._signal is not None

    @property
    def status(self) -> int:
        """The exit status of a command that the signal ended, 0 where none has come."""
        return 0 if self._signal is None else 128 + self._signal

    def _ask(self, number: int, _frame: FrameType | None) -> None:
        self._signal = number
        say("stopping after this step; once more to stop at once")
        self.__exit__()


_SIGNALS = (signal.SIGINT, signal.SIGTERM)
