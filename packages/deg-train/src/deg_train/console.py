"""Lines for the person at the terminal."""

from __future__ import annotations

import sys

__all__ = ["say"]


def say(line: str) -> None:
    """Write *line* to standard error at once."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()
