"""What JSON can carry: the check that keeps every later step free of surprises."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from deg_schema.limits import MAX_INTEGER_BITS, MAX_NESTING, MAX_TEXT, MAX_VALUES
from deg_schema.pointer import escape_token

__all__ = ["Reporter", "RepeatedKeys", "check_json", "check_text", "clip"]

Reporter: TypeAlias = Callable[[str, str], None]

# (parent, key, depth): a pointer is only spelled where there is a problem
_Link: TypeAlias = "tuple[_Link | None, str | int, int]"


_TOO_LARGE = "remove it where it is a bound, write it as a string where it is a value"


class RepeatedKeys(dict[str, Any]):
    """An object whose text gave a key twice; `repeated` names such keys."""

    __slots__ = ("repeated",)

    def __init__(self, pairs: Iterable[tuple[str, Any]]) -> None:
        super().__init__()
        repeated: dict[str, None] = {}
        for key, value in pairs:
            if key in self:
                repeated[key] = None
            self[key] = value
        self.repeated = tuple(repeated)


def check_json(
    value: object, report: Reporter, *, loc: str = "", max_text: int | None = MAX_TEXT
) -> None:
    """Report whatever in *value* a JSON text cannot say, or says at excessive size."""
    root: _Link = (None, "", 0)
    waiting: list[tuple[Any, _Link]] = [(value, root)]
    num_values = 1
    while waiting:
        current, link = waiting.pop()
        if type(current) is str:
            # nearly every value is a short ASCII text, which needs no look inside
            if not current.isascii() or (max_text is not None and len(current) > max_text):
                _report_text(current, report, loc, link, max_text)
        elif isinstance(current, (dict, list)):
            num_values += len(current)
            if num_values > MAX_VALUES:
                report(loc, f"it holds more than {MAX_VALUES} values; split it")
                return
            if link[2] >= MAX_NESTING:
                report(_spell(loc, link), f"it nests deeper than {MAX_NESTING} levels; flatten it")
            else:
                _open(current, link, waiting, report, loc)
        elif message := _scalar_fault(current):
            report(_spell(loc, link), message)


def check_text(text: str) -> str | None:
    """Say what keeps *text* from being encoded, if anything."""
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return (
            f"{text[error.start]!r} at character {error.start} is half of a surrogate pair; "
            "send the whole character"
        )
    return None


def clip(value: object) -> str:
    """Spell *value* for a message, shortened where it is long."""
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else f"{value[:57]}...")
    if isinstance(value, (dict, list)):
        return ("an object" if isinstance(value, dict) else "an array") if value else repr(value)
    if value is None or isinstance(value, bool):
        return {True: "true", False: "false", None: "null"}[value]
    return repr(value)


def _open(
    container: dict[Any, Any] | list[Any],
    link: _Link,
    waiting: list[tuple[Any, _Link]],
    report: Reporter,
    loc: str,
) -> None:
    depth = link[2] + 1
    start = len(waiting)
    if isinstance(container, list):
        waiting += [(item, (link, index, depth)) for index, item in enumerate(container)]
    else:
        for key, item in container.items():
            if type(key) is not str:
                report(_spell(loc, link), f"the key {key!r} is no text; JSON keys are strings")
            elif not key.isascii() and (message := check_text(key)):
                report(_spell(loc, link), f"in a key, {message}")
            else:
                waiting.append((item, (link, key, depth)))
        for key in getattr(container, "repeated", ()):
            report(_spell(loc, (link, key, depth)), "the key is given twice; keep one")
    # problems come in document order
    waiting[start:] = waiting[start:][::-1]


def _report_text(text: str, report: Reporter, loc: str, link: _Link, max_text: int | None) -> None:
    if max_text is not None and len(text) > max_text:
        report(_spell(loc, link), f"the text is longer than {max_text} characters; shorten it")
    if message := check_text(text):
        report(_spell(loc, link), message)


def _scalar_fault(value: object) -> str | None:
    if value is None or isinstance(value, bool):
        return None
    if type(value) is int:
        if value.bit_length() <= MAX_INTEGER_BITS:
            return None
        return f"the integer has more than {MAX_INTEGER_BITS} bits; {_TOO_LARGE}"
    if type(value) is float:
        if math.isinf(value):
            return f"{value!r} is no JSON number, or one too large to read; {_TOO_LARGE}"
        return f"{value!r} is no JSON number; use a finite one" if math.isnan(value) else None
    return f"a Python {type(value).__name__} is no JSON value; convert it first"


def _spell(loc: str, link: _Link) -> str:
    tokens = []
    current = link
    while (parent := current[0]) is not None:
        tokens.append(escape_token(str(current[1])))
        current = parent
    # a lone surrogate cannot be printed, not even in a location
    path = "/".join(reversed(tokens)).encode(errors="backslashreplace").decode()
    return f"{loc}/{path}" if tokens else loc
