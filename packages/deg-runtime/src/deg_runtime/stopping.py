"""The wish to stop of the person at the terminal."""

from __future__ import annotations

import signal
from types import FrameType

from deg_runtime.console import say

__all__ = ["Stop"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """Turns Ctrl-C and a termination into a wish that long work asks for between two steps.

    A second signal has its usual effect. Signals reach the main thread alone, so that is where it
    is entered.

    Args:
        step: What the work does one after another, in words.
    """

    def __init__(self, step: str) -> None:
        self._step = step
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
        self.__exit__()
        say(f"stopping after this {self._step}; once more to stop at once")
