"""What JSON can carry: the check that keeps every later step free of surprises."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from deg_schema.limits import (
    MAX_INTEGER_BITS,
    MAX_NESTING,
    MAX_PROBLEMS,
    MAX_TEXT,
    MAX_VALUES,
)
from deg_schema.pointer import escape_token

__all__ = ["Reporter", "RepeatedKeys", "check_json", "check_text", "clip"]

Reporter: TypeAlias = Callable[[str, str], None]

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
    check = _Check(report, loc, max_text)
    # no recursion: how deep a value nests is not ours to choose
    open_containers: list[Iterator[tuple[Any, Any]]] = [iter([("", value)])]
    num_values = 1
    while open_containers:
        for key, item in open_containers[-1]:
            if type(item) is str:
                # nearly every value is a short ASCII text, which needs no look inside
                if not item.isascii() or (max_text is not None and len(item) > max_text):
                    check.text(item, key)
            elif isinstance(item, (dict, list)):
                num_values += len(item)
                if num_values > MAX_VALUES:
                    report(loc, f"it holds more than {MAX_VALUES} values; split it")
                    return
                if len(open_containers) > MAX_NESTING:
                    check.fault(f"it nests deeper than {MAX_NESTING} levels; flatten it", key)
                else:
                    check.path.append(key)
                    open_containers.append(check.members(item))
                    break
            elif message := _scalar_fault(item):
                check.fault(message, key)
        else:
            open_containers.pop()
            if check.path:
                check.path.pop()


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
    if isinstance(value, int) and value.bit_length() > MAX_INTEGER_BITS:
        # Python spells no integer of more than 4300 digits
        return f"an integer of {value.bit_length()} bits"
    return repr(value) if isinstance(value, (int, float)) else f"a Python {type(value).__name__}"


class _Check:
    """What a walk has reported, and the keys that lead to where it is."""

    def __init__(self, report: Reporter, loc: str, max_text: int | None) -> None:
        self.report = report
        self.loc = loc
        self.max_text = max_text
        self.path: list[str | int] = []
        self.num_problems = 0

    def fault(self, message: str, *key: str | int) -> None:
        self.num_problems += 1
        if self.num_problems > MAX_PROBLEMS:
            return
        # the first key is that of the whole value, which has no name
        tokens = [escape_token(str(token)) for token in (*self.path, *key)[1:]]
        # a lone surrogate cannot be printed, not even in a location
        path = "/".join(tokens).encode(errors="backslashreplace").decode()
        self.report(f"{self.loc}/{path}" if tokens else self.loc, message)
        if self.num_problems == MAX_PROBLEMS:
            message = f"there may be more than these {MAX_PROBLEMS} problems; correct them first"
            self.report(self.loc, message)

    def text(self, text: str, key: str | int) -> None:
        if self.max_text is not None and len(text) > self.max_text:
            self.fault(f"the text is longer than {self.max_text} characters; shorten it", key)
        if message := check_text(text):
            self.fault(message, key)

    def members(self, container: dict[Any, Any] | list[Any]) -> Iterator[tuple[Any, Any]]:
        """Walk the members; what stands under a key that is no text is left out."""
        if isinstance(container, list):
            return iter(enumerate(container))
        repeated = getattr(container, "repeated", ())
        if not repeated and all(map(self._is_plain, container)):
            return iter(container.items())
        named = [(key, item) for key, item in container.items() if self._is_name(key)]
        for key in repeated:
            self.fault("the key is given twice; keep one", key)
        return iter(named)

    def _is_plain(self, key: object) -> bool:
        if type(key) is not str or not key.isascii():
            return False
        return self.max_text is None or len(key) <= self.max_text

    def _is_name(self, key: object) -> bool:
        if type(key) is not str:
            self.fault(f"the key {clip(key)} is no text; JSON keys are strings")
        elif message := check_text(key):
            self.fault(f"in a key, {message}")
        elif self.max_text is not None and len(key) > self.max_text:
            self.fault(f"a key is longer than {self.max_text} characters; shorten it")
        else:
            return True
        return False


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
