"""Positions: the line and column of a JSON text to which a pointer leads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from deg_schema.lazy import lazy
from deg_schema.pointer import escape_token

__all__ = ["Position", "locate", "locate_depth", "position_at"]

# a string, a bracket, a comma, or a number or word
_TOKEN = lazy(r'"(?:[^"\\]++|\\.)*+"|[\[\]{},]|[^\s\[\]{},:"]++')
_BRACKET = lazy(r'"(?:[^"\\]++|\\.)*+"|[\[\]{}]')


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a text, line and column counted from 1."""

    line: int
    column: int


def position_at(text: str, offset: int) -> Position:
    """Return the position of the character at *offset*."""
    line_start = text.rfind("\n", 0, offset) + 1
    return Position(text.count("\n", 0, offset) + 1, offset - line_start + 1)


def locate(text: str, pointers: Iterable[str]) -> dict[str, Position]:
    """Say where each pointer leads in *text*, which is JSON: to a key, or to an item of an array.

    A pointer to what is not there leads to the nearest thing around it. Of a key given twice, the
    last one is meant.
    """
    root = _Branch()
    wanted = {pointer: root.grow(pointer) for pointer in pointers}
    _mark(text, root)
    offsets = {pointer: branch.offset() for pointer, branch in wanted.items()}
    positions = dict(_positions(text, sorted(set(offsets.values()))))
    return {pointer: positions[offset] for pointer, offset in offsets.items()}


def locate_depth(text: str, depth: int) -> Position:
    """Say where *text* first opens more than *depth* containers; at its start if it never does."""
    level = 0
    for match in _BRACKET().finditer(text):
        if match[0] in "[{":
            level += 1
            if level > depth:
                return position_at(text, match.start())
        elif match[0] in "]}":
            level -= 1
    return Position(1, 1)


@dataclass(slots=True)
class _Branch:
    """One value of the document, of those that lead to a wanted one."""

    parent: _Branch | None = None
    start: int | None = None
    children: dict[str, _Branch] = field(default_factory=dict)

    def grow(self, pointer: str) -> _Branch:
        branch = self
        for token in pointer.split("/")[1:]:
            branch = branch.children.setdefault(token, _Branch(branch))
        return branch

    def offset(self) -> int:
        branch: _Branch | None = self
        while branch is not None and branch.start is None:
            branch = branch.parent
        return 0 if branch is None or branch.start is None else branch.start


@dataclass(slots=True)
class _Container:
    """An object or array that is being read; `index` is `None` in an object."""

    branch: _Branch
    index: int | None
    has_key: bool = False


def _mark(text: str, root: _Branch) -> None:
    # no recursion: the depth of the text is not ours to choose
    containers: list[_Container] = []
    branch: _Branch | None = root
    start, position = 0, 0
    while match := _TOKEN().search(text, position):
        token, position = match[0], match.end()
        inner = containers[-1] if containers else None
        if token in ("]", "}"):
            containers.pop()
        elif token == ",":
            if inner and inner.index is not None:
                inner.index += 1
        elif inner and inner.index is None and not inner.has_key:
            branch, start = inner.branch.children.get(_spell(token)), match.start()
            inner.has_key = True
        else:
            if inner and inner.index is not None:
                branch, start = inner.branch.children.get(str(inner.index)), match.start()
            elif inner:
                inner.has_key = False
            else:
                start = match.start()
            if branch is not None:
                branch.start = start
            if token in ("[", "{"):
                if branch is not None and branch.children:
                    containers.append(_Container(branch, 0 if token == "[" else None))
                else:
                    position = _end_of_container(text, position)
        if not containers:
            return


def _end_of_container(text: str, position: int) -> int:
    depth = 1
    for match in _BRACKET().finditer(text, position):
        if match[0] in "[{":
            depth += 1
        elif match[0] in "]}":
            depth -= 1
            if not depth:
                return match.end()
    return len(text)


def _spell(key: str) -> str:
    name = json.loads(key) if "\\" in key else key[1:-1]
    # as problems spell it: half of a surrogate pair cannot be printed
    return escape_token(name).encode(errors="backslashreplace").decode()


def _positions(text: str, offsets: Iterable[int]) -> Iterator[tuple[int, Position]]:
    line, line_start, done = 1, 0, 0
    for offset in offsets:
        # only what is new is looked at: a text may be one long line with many problems
        if num_breaks := text.count("\n", done, offset):
            line += num_breaks
            line_start = text.rindex("\n", done, offset) + 1
        done = offset
        yield offset, Position(line, offset - line_start + 1)
