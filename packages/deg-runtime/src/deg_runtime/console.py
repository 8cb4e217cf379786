"""The person at the terminal: lines for them, exit statuses, and their wish to stop."""

from __future__ import annotations

import io
import signal
import sys
from types import FrameType

from deg_runtime.findings import visible
from deg_runtime.memory import is_out_of_memory
from deg_schema import DegError

__all__ = [
    "FAILED",
    "OK",
    "REFUSED",
    "STOPPED",
    "Stop",
    "describe_failure",
    "say",
    "use_utf8",
]

OK, FAILED, REFUSED, STOPPED = 0, 1, 2, 130

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def say(message: str) -> None:
    """Write *message* to the standard error as one line, at once."""
    sys.stderr.write(visible(" ".join(message.splitlines())) + "\n")
    sys.stderr.flush()


def use_utf8() -> None:
    """Print UTF-8 whatever the locale is: JSON has no other encoding."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def describe_failure(error: Exception) -> str | None:
    """Word a failure in one line, or return `None` for what only a mistake of ours can cause."""
    if isinstance(error, DegError):
        return str(error)
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror or error}"
    if is_out_of_memory(error):
        return "there is not enough memory for this document; split it and fill the parts"
    return None


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
        self.__exit__()
        say("stopping after this batch; once more to stop at once")
