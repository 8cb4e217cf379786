"""The person at the terminal: lines for them, and exit statuses."""

from __future__ import annotations

import io
import sys

from deg_runtime.findings import visible
from deg_runtime.memory import is_out_of_memory
from deg_schema import DegError

__all__ = [
    "FAILED",
    "OK",
    "REFUSED",
    "STOPPED",
    "describe_failure",
    "say",
    "use_utf8",
]

OK, FAILED, REFUSED, STOPPED = 0, 1, 2, 130


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
