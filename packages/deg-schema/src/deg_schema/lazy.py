"""Regular expressions that are compiled where they are first used: whoever imports pays nothing."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

__all__ = ["lazy"]


def lazy(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> Callable[[], re.Pattern[str]]:
    """Return a function that gives *pattern*, compiled once."""
    return functools.cache(lambda: re.compile(pattern, flags))
