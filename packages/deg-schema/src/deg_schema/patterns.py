"""ECMA-262 patterns: checked, searched within a time limit, and the lengths that they allow."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from deg_schema.limits import MAX_PATTERN_DEPTH, MAX_PATTERN_LENGTH, MAX_PATTERN_SIZE

if TYPE_CHECKING:
    import regex

__all__ = ["Pattern", "SlowPattern", "parse_pattern", "search_pattern"]

# of processor time
SEARCH_SECONDS = 0.1
PUMP_SECONDS = 0.05
_COST_OF_A_SECOND = 100_000
SLOW_COST = int(PUMP_SECONDS * _COST_OF_A_SECOND)
_PUMPED_LENGTH = 60
_MAX_PUMPS = 16

_QUANTIFIER = re.compile(r"(?:[*+?]|\{(\d+)(,?)(\d*)\})")
_GROUP_OPENING = re.compile(r"\((?:\?(?::|=|!|<=|<!|<[A-Za-z_$][\w$]*>))?")
_HEX_ESCAPE = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}")
_PROPERTY_ESCAPE = re.compile(r"[pP]\{[A-Za-z_0-9=]+\}")
_MAX_REPEAT = 65_535

# what \s adds to the ASCII blanks, and the classes as they stand inside brackets
_BLANKS = r" \t\n\r\f\v\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_CLASSES = {"d": "0-9", "w": "A-Za-z0-9_", "s": _BLANKS}
_CLASS_ESCAPES = (r"\d", r"\w", r"\s", r"\D", r"\W", r"\S")
_WORD_EDGE = r"(?:(?<![A-Za-z0-9_])(?=[A-Za-z0-9_])|(?<=[A-Za-z0-9_])(?![A-Za-z0-9_]))"
_NO_WORD_EDGE = _WORD_EDGE.replace("(?:", "(?!", 1)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern that is valid: what it means in Python and how long its matches are.

    Args:
        translated: The same pattern for the `regex` library.
        min_length: The fewest characters a text that matches has.
        max_length: The most, infinite where the pattern does not bound the whole text.
        cost: How many terms it has, what is repeated counted as often as it must be there; more
            where its searches take time.
    """

    translated: str
    min_length: int
    max_length: float
    cost: int


class SlowPattern(ValueError):
    """The search for a pattern does not end on some texts."""


def parse_pattern(text: str) -> Pattern:
    """Check a pattern and measure it.

    Raises:
        ValueError: It is not a pattern that we can search; the message says why.
    """
    read = _read(text)
    if isinstance(read, ValueError):
        raise type(read)(*read.args)
    return read


def search_pattern(pattern: str, text: str) -> bool:
    """Say whether *pattern* matches somewhere in *text*; a search that takes too long does not."""
    compiled = _compiled(parse_pattern(pattern).translated)
    try:
        return compiled.search(text, timeout=SEARCH_SECONDS) is not None
    except TimeoutError:
        return False


# what is wrong is remembered too: a slow pattern is expensive to find out
@lru_cache(maxsize=1024)
def _read(text: str) -> Pattern | ValueError:
    try:
        if len(text) > MAX_PATTERN_LENGTH:
            raise ValueError(f"it is longer than {MAX_PATTERN_LENGTH} characters")
        parser = _Parser(text)
        pattern = parser.parse()
        return replace(pattern, cost=pattern.cost + _pump(pattern, parser))
    except ValueError as error:
        return error.with_traceback(None)


def _pump(pattern: Pattern, parser: _Parser) -> int:
    """Search texts that repeat what the pattern repeats, and return what that cost.

    Raises:
        SlowPattern: A search did not end in time.
    """
    compiled = _compiled(pattern.translated)
    seconds = 0.0
    for prefix, word in list(parser.pumps)[:_MAX_PUMPS]:
        # a match that stands further on keeps the search from giving up at a glance
        text = prefix + word * (_PUMPED_LENGTH // len(word)) + "\0" + parser.groups[0].samples[0]
        began = time.process_time()
        try:
            compiled.search(text, timeout=PUMP_SECONDS - seconds)
        except TimeoutError:
            seconds = PUMP_SECONDS
        seconds += time.process_time() - began
        if seconds >= PUMP_SECONDS:
            raise SlowPattern(
                f"a text such as {word * 3 + '...'!r} can be read in too many ways, and the search "
                "does not end; let what repeats start or end with what stands nowhere else in it"
            )
    return int(seconds * _COST_OF_A_SECOND)


# a compiled pattern takes up to a megabyte
@lru_cache(maxsize=256)
def _compiled(translated: str) -> regex.Pattern[str]:
    # a schema without patterns never pays for the library
    import regex  # noqa: PLC0415

    try:
        return regex.compile(translated, regex.VERSION0, cache_pattern=False)
    except (regex.error, RecursionError, OverflowError) as error:
        raise ValueError(str(error)) from None


@dataclass(slots=True)
class _Group:
    """An open group: the lengths of its finished branches and of the one being read."""

    is_lookaround: bool
    branches: list[tuple[int, float]] = field(default_factory=list)
    samples: list[str] = field(default_factory=list)
    shortest: int = 0
    longest: float = 0
    size: int = 1
    sample: str = ""
    opens: bool = False
    closes: bool = False

    def add(self, shortest: int, longest: float, size: int, sample: str) -> None:
        self.shortest += shortest
        self.longest += longest
        self.size += size
        # only its beginning is ever tried
        self.sample = (self.sample + sample)[:_PUMPED_LENGTH]
        self.closes = False
        if self.size > MAX_PATTERN_SIZE:
            raise ValueError(f"its repetitions ask for more than {MAX_PATTERN_SIZE} characters")

    def end_branch(self, *, is_root: bool) -> None:
        is_whole = not is_root or (self.opens and self.closes)
        self.branches.append((self.shortest, self.longest if is_whole else math.inf))
        self.samples.append(self.sample)
        self.shortest, self.longest, self.opens, self.closes = 0, 0, False, False
        self.sample = ""

    def lengths(self) -> tuple[int, float]:
        if self.is_lookaround:
            return 0, 0
        return min(low for low, _ in self.branches), max(high for _, high in self.branches)


class _Parser:
    """One pass over a pattern, with its open groups on a stack."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.output: list[str] = []
        self.groups = [_Group(is_lookaround=False)]
        self.pumps: dict[tuple[str, str], None] = {}

    def parse(self) -> Pattern:
        while self.position < len(self.text):
            self._read_term()
        if len(self.groups) > 1:
            raise ValueError("a '(' is never closed")
        root = self.groups[0]
        root.end_branch(is_root=True)
        return Pattern("".join(self.output), *root.lengths(), root.size)

    def _read_term(self) -> None:
        group = self.groups[-1]
        character = self.text[self.position]
        if character == "(":
            self._open_group()
        elif character == "|":
            self._emit("|", 1)
            group.end_branch(is_root=len(self.groups) == 1)
        elif character == "^":
            self._emit(r"\A", 1)
            group.opens = group.opens or group.longest == 0
        elif character == "$":
            self._emit(r"\Z", 1)
            group.closes = True
        elif character == ")":
            self._close_group()
        elif character == "\\":
            self._quantify_escape()
        elif character == "[":
            start = len(self.output)
            self._read_class()
            self._quantify(1, 1, [_member("".join(self.output[start:]))])
        else:
            self._read_literal(character)
            self._quantify(1, 1, ["a" if character == "." else character])

    def _emit(self, translated: str, num_characters: int) -> None:
        self.output.append(translated)
        self.position += num_characters

    def _open_group(self) -> None:
        opening = _GROUP_OPENING.match(self.text, self.position)
        if opening is None or self.text.startswith("?", opening.end()):
            raise ValueError(f"unknown group at position {self.position}")
        if len(self.groups) > MAX_PATTERN_DEPTH:
            raise ValueError(f"its groups nest deeper than {MAX_PATTERN_DEPTH}")
        is_lookaround = opening[0] in ("(?=", "(?!", "(?<=", "(?<!")
        self.groups.append(_Group(is_lookaround))
        self._emit(opening[0].replace("$", "_"), len(opening[0]))

    def _close_group(self) -> None:
        if len(self.groups) == 1:
            raise ValueError(f"the ')' at position {self.position} was never opened")
        group = self.groups.pop()
        group.end_branch(is_root=False)
        self._emit(")", 1)
        samples = [""] if group.is_lookaround else group.samples
        self._quantify(*group.lengths(), samples, group.size)

    def _read_literal(self, character: str) -> None:
        if _QUANTIFIER.match(self.text, self.position):
            raise ValueError(f"nothing to repeat at position {self.position}")
        if character == ".":
            self._emit(r"[^\n\r\u2028\u2029]", 1)
        else:
            self._emit(re.escape(character), 1)

    def _quantify(
        self, shortest: int, longest: float, samples: Sequence[str], size: int = 1
    ) -> None:
        found = _QUANTIFIER.match(self.text, self.position)
        if found is None:
            self.groups[-1].add(shortest, longest, size, samples[0])
            return
        low, high = _repeats(found)
        self._emit(found[0], len(found[0]))
        if self.text.startswith("?", self.position):
            self._emit("?", 1)
        prefix = "".join(group.sample for group in self.groups)
        self.pumps.update(((prefix, sample), None) for sample in samples if sample)
        most = 0 if longest == 0 or high == 0 else longest * high
        self.groups[-1].add(shortest * low, most, size * max(low, 1), samples[0] * min(low, 60))

    def _quantify_escape(self) -> None:
        start = len(self.output)
        shortest, longest = self._read_escape()
        sample = _member(self.output[start]) if longest == 1 else ""
        self._quantify(shortest, longest, [sample])

    def _read_escape(self) -> tuple[int, float]:
        name = self.text[self.position + 1 : self.position + 2]
        if name in ("b", "B"):
            self._emit(_WORD_EDGE if name == "b" else _NO_WORD_EDGE, 2)
            return 0, 0
        if name in "123456789" and name:
            found = re.compile(r"[0-9]+").match(self.text, self.position + 1)
            assert found is not None
            self._emit(rf"(?:\{found[0]})", 1 + len(found[0]))
            return 0, math.inf
        if name == "k":
            found = re.compile(r"k<([A-Za-z_]\w*)>").match(self.text, self.position + 1)
            if found is None:
                raise ValueError(f"'\\k' without a name at position {self.position}")
            self._emit(f"(?P={found[1]})", 1 + len(found[0]))
            return 0, math.inf
        if name.lower() in _CLASSES and name:
            negation = "^" if name.isupper() else ""
            self._emit(f"[{negation}{_CLASSES[name.lower()]}]", 2)
        else:
            self._emit(*self._character_escape())
        return 1, 1

    def _character_escape(self) -> tuple[str, int]:
        start = self.position + 1
        if found := _HEX_ESCAPE.match(self.text, start):
            return _code_point(int(found[found.lastindex or 0], 16)), 1 + len(found[0])
        if found := _PROPERTY_ESCAPE.match(self.text, start):
            return f"\\{found[0]}", 1 + len(found[0])
        name = self.text[start : start + 1]
        if name and name in "tnrfv0":
            return {"0": r"\x00"}.get(name, f"\\{name}"), 2
        if not name or (name.isascii() and name.isalnum()):
            raise ValueError(f"unknown escape '\\{name}' at position {self.position}")
        return re.escape(name), 2

    def _read_class(self) -> None:
        start = self.position
        self._emit("[", 1)
        if self.text.startswith("^", self.position):
            self._emit("^", 1)
        if self.text.startswith("]", self.position):
            raise ValueError(f"the '[' at position {start} holds nothing")
        while not self.text.startswith("]", self.position):
            if self.position >= len(self.text):
                raise ValueError(f"the '[' at position {start} is never closed")
            self._read_class_member()
        self._emit("]", 1)

    def _read_class_member(self) -> None:
        """Read one character, escape or dash between brackets."""
        character = self.text[self.position]
        name = self.text[self.position + 1 : self.position + 2]
        if character == "-":
            # after a class the dash is itself; once the class is spelled out it would make a range
            is_literal = self.text[self.position - 2 : self.position] in _CLASS_ESCAPES
            self._emit(r"\-" if is_literal else "-", 1)
        elif character != "\\":
            self._emit(re.escape(character), 1)
        elif name and name in "dws":
            self._emit(_CLASSES[name], 2)
        elif name and name in "DWS":
            self._emit(_negated_class(name), 2)
        elif name == "b":
            self._emit(r"\x08", 2)
        else:
            self._emit(*self._character_escape())


@lru_cache(maxsize=1024)
def _member(translated: str) -> str:
    """Return a character that the class or escape *translated* admits, or no text."""
    compiled = _compiled(translated)
    return next(
        (character for character in "aA0 -_.é" + translated if compiled.fullmatch(character)), ""
    )


def _repeats(found: re.Match[str]) -> tuple[int, float]:
    if found[1] is None:
        return (1 if found[0] == "+" else 0), (1 if found[0] == "?" else math.inf)
    low = int(found[1][:9])
    high = int(found[3][:9]) if found[3] else (math.inf if found[2] else low)
    if low > _MAX_REPEAT or (high != math.inf and high > _MAX_REPEAT):
        raise ValueError(f"{found[0]!r} repeats more than {_MAX_REPEAT} times")
    if low > high:
        raise ValueError(f"{found[0]!r} asks for more than it allows")
    return low, high


def _code_point(number: int) -> str:
    if number > 0x10FFFF:
        raise ValueError(f"U+{number:X} is no character")
    return f"\\U{number:08x}"


def _negated_class(name: str) -> str:
    # a class inside brackets can only be named, not spelled, when it is negated
    return {
        "D": r"\x00-/:-\U0010ffff",
        "W": r"\x00-/:-@\[-\^`\{-\U0010ffff",
        "S": r"\x00-\x08\x0e-\x1f!-\x9f\xa1-\u167f\u1681-\u1fff\u200b-\u2027"
        r"\u202a-\u202e\u2030-\u205e\u2060-\u2fff\u3001-\ufefe\uff00-\U0010ffff",
    }[name]
