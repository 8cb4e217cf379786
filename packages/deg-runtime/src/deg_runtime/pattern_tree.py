"""A pattern as a tree of what it is made of, and the characters that each part of it admits."""

from __future__ import annotations

import re
import sys
from array import array
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import regex

from deg_schema import parse_pattern

__all__ = [
    "Chars",
    "Choice",
    "Edge",
    "Look",
    "Points",
    "Repeat",
    "Series",
    "Tree",
    "UnwritablePattern",
    "read_tree",
]

Points: TypeAlias = tuple[tuple[int, int], ...]
"""Code points as ranges, each with its last."""


class UnwritablePattern(ValueError):
    """A pattern that texts can be searched for, but none can be written for."""


@dataclass(frozen=True, slots=True)
class Chars:
    """Any one of these characters."""

    points: Points


@dataclass(frozen=True, slots=True)
class Series:
    """Parts that follow each other."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Any one of these branches."""

    branches: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part as often as asked; `high` is None where nothing limits it."""

    body: Tree
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class Edge:
    """The start of the text, or its end."""

    at_end: bool


@dataclass(frozen=True, slots=True)
class Look:
    """What must, or must not, follow here or come before."""

    body: Tree
    behind: bool
    negated: bool


Tree: TypeAlias = Chars | Series | Choice | Repeat | Edge | Look

_QUANTIFIER = re.compile(r"(?:([*+?])|\{(\d+)(,?)(\d*)\})\??")
_GROUP = re.compile(r"\((?:\?(?::|=|!|<=|<!|<[A-Za-z_]\w*>))?")
_CHARS = re.compile(
    r"\[(?:\\.|[^\]\\])*\]|\\[pP]\{[^}]*\}|\\U[0-9a-f]{8}|\\x[0-9a-f]{2}|\\.|[^\\]",
    re.DOTALL,
)
_BACKREFERENCE = re.compile(r"\\[0-9]|\(\?P=")
_MEMBER = re.compile(r"\\U[0-9a-f]{8}|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|\\.|[^\\]", re.DOTALL)
_PROPERTY = re.compile(r"(?<!\\)(?:\\\\)*\\[pP]\{")
_NAMED = {r"\t": "\t", r"\n": "\n", r"\r": "\r", r"\f": "\f", r"\v": "\v"}
_END = 0x110000


def read_tree(pattern: str) -> Tree:
    """Read a pattern that `deg_schema` admits; no pattern is the empty one.

    Raises:
        UnwritablePattern: It refers back to what a group matched.
    """
    return _Reader(parse_pattern(pattern).translated).choice()


class _Reader:
    """Reads the spelling that `deg_schema` gives every pattern, in which little is left to say."""

    def __init__(self, text: str) -> None:
        self.text, self.position = text, 0

    def choice(self) -> Tree:
        branches = [self._series()]
        while self._takes("|"):
            branches.append(self._series())
        return Choice(tuple(branches)) if len(branches) > 1 else branches[0]

    def _series(self) -> Tree:
        parts = []
        while self.position < len(self.text) and self.text[self.position] not in "|)":
            parts.append(self._quantified(self._part()))
        return Series(tuple(parts))

    def _takes(self, text: str) -> bool:
        is_next = self.text.startswith(text, self.position)
        self.position += len(text) * is_next
        return is_next

    def _part(self) -> Tree:
        if _BACKREFERENCE.match(self.text, self.position):
            raise UnwritablePattern("it refers back to what a group matched")
        for anchor in (r"\A", r"\Z"):
            if self._takes(anchor):
                return Edge(at_end=anchor == r"\Z")
        if opening := _GROUP.match(self.text, self.position):
            self.position = opening.end()
            body = self.choice()
            self.position += 1
            kind = opening[0].removeprefix("(?")
            if kind in ("=", "!", "<=", "<!"):
                return Look(body, behind=kind[0] == "<", negated=kind[-1] == "!")
            return body
        found = _CHARS.match(self.text, self.position)
        assert found is not None
        self.position = found.end()
        return Chars(_points(found[0]))

    def _quantified(self, part: Tree) -> Tree:
        found = _QUANTIFIER.match(self.text, self.position)
        if found is None:
            return part
        self.position = found.end()
        if found[1]:
            return Repeat(part, int(found[1] == "+"), 1 if found[1] == "?" else None)
        low = int(found[2])
        high = int(found[4]) if found[4] else (None if found[3] else low)
        return Repeat(part, low, high)


@lru_cache(maxsize=256)
def _points(spelled: str) -> Points:
    """Return what one character, escape or class admits, as the search would see it."""
    compiled = regex.compile(f"(?:{spelled})+", regex.VERSION0)
    if _PROPERTY.search(spelled):
        return tuple((run.start(), run.end() - 1) for run in compiled.finditer(_every_character()))
    # nothing changes but at a character that is named
    named = [ord(_character(escape)) for escape in _MEMBER.findall(spelled)]
    edges = sorted({0, *named, *(number + 1 for number in named)})
    inside = [edge < _END and compiled.match(chr(edge)) is not None for edge in edges]
    return tuple(
        (edge, after - 1)
        for edge, after, is_in in zip(edges, [*edges[1:], _END], inside, strict=True)
        if is_in
    )


def _character(escape: str) -> str:
    if escape[1:2] in ("U", "u", "x") and len(escape) > 2:
        return chr(int(escape[2:], 16))
    return _NAMED.get(escape, escape[-1])


@lru_cache(maxsize=1)
def _every_character() -> str:
    encoded = array("I", range(_END)).tobytes()
    return encoded.decode(f"utf-32-{sys.byteorder[0]}e", "surrogatepass")
