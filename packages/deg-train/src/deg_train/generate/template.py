"""Templates: the shape of a document, with slots, free wordings and labelled wordings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from deg_train.generate.faults import Fault

__all__ = [
    "Labelled",
    "Line",
    "Node",
    "Slot",
    "Template",
    "Wording",
    "parse_templates",
    "walk",
]


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for a value: of the field `name`, or of the kind `name` for a decoy."""

    name: str
    decoy: bool = False


@dataclass(frozen=True, slots=True)
class Wording:
    """Ways to say the same; one is drawn."""

    ways: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True, slots=True)
class Labelled:
    """Texts that answer the field `key`; the drawn one's label is the answer."""

    key: str
    ways: tuple[tuple[str, tuple[Node, ...]], ...]


Node: TypeAlias = "str | Slot | Wording | Labelled"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a template; an optional one may be left out of a document."""

    nodes: tuple[Node, ...]
    number: int
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Template:
    """A document with its values left open.

    `labels` says for each labelled key which labels all of its wordings have.
    """

    id: str
    lines: tuple[Line, ...]
    number: int
    labels: dict[str, tuple[str, ...]] = field(compare=False)


def walk(nodes: tuple[Node, ...]) -> Iterator[Slot | Labelled]:
    """Yield every slot and labelled wording in the nodes, the inner ones too."""
    for node in nodes:
        if isinstance(node, Slot):
            yield node
        elif isinstance(node, Wording):
            for way in node.ways:
                yield from walk(way)
        elif isinstance(node, Labelled):
            yield node
            for _, way in node.ways:
                yield from walk(way)


def parse_templates(text: str, file: str) -> tuple[list[Template], list[Fault]]:
    """Read the text of a templates file, with every fault found."""
    faults: list[Fault] = []
    templates: list[Template] = []
    for number, name, rows in _sections(text, file, faults):
        if not _ID.fullmatch(name):
            faults.append(Fault(file, number, f"bad id {name!r}: lower case words with dots"))
        lines = []
        for row, line in _joined(rows):
            try:
                lines.append(_parse_line(line, row))
            except _Malformed as error:
                faults.append(Fault(file, row, str(error)))
        if not lines:
            faults.append(Fault(file, number, f"the template {name!r} is empty"))
        templates.append(Template(name, tuple(lines), number, _common_labels(lines)))
    return templates, faults


def _common_labels(lines: list[Line]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in lines:
        for node in walk(line.nodes):
            if isinstance(node, Labelled):
                labels = [label for label, _ in node.ways]
                known = found.get(node.key, tuple(labels))
                found[node.key] = tuple(label for label in known if label in labels)
    return found


_HEADING = re.compile(r"===\s+([^\s=]+)")
_ID = re.compile(r"[a-z0-9][a-z0-9_-]*(\.[a-z0-9_-]+)*")
_SLOT = re.compile(r"\{(_?)([a-z][a-z0-9_]*)\}")
_NEAR_SLOT = re.compile(r"\{[A-Za-z_ -][A-Za-z0-9_ -]*\}")
_OPENING = re.compile(r"<([a-z][a-z0-9_]*):\s")
_LABEL = re.compile(r"\s*([^=\[\]{}<>]+?)\s*=\s*(.*?)\s*", re.DOTALL)


class _Malformed(ValueError):
    pass


def _sections(
    text: str, file: str, faults: list[Fault]
) -> Iterator[tuple[int, str, list[tuple[int, str]]]]:
    name, start = "", 0
    rows: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if heading := _HEADING.fullmatch(line.rstrip()):
            if start:
                yield start, name, _trimmed(rows)
            name, start, rows = heading[1], number, []
        elif start:
            rows.append((number, line.rstrip()))
        elif line.strip() and not line.startswith("#"):
            faults.append(Fault(file, number, "text before the first '=== id'"))
    if start:
        yield start, name, _trimmed(rows)


def _trimmed(rows: list[tuple[int, str]]) -> list[tuple[int, str]]:
    while rows and not rows[-1][1]:
        rows.pop()
    while rows and not rows[0][1]:
        rows.pop(0)
    return rows


def _joined(rows: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    # a labelled wording may run over several rows: they make one line
    index = 0
    while index < len(rows):
        number, line = rows[index]
        index += 1
        while index < len(rows) and rows[index][1] and _is_open(line):
            line += "\n" + rows[index][1]
            index += 1
        yield number, line


def _is_open(line: str) -> bool:
    openings = list(_OPENING.finditer(line))
    return bool(openings) and ">" not in line[openings[-1].end() :]


def _parse_line(line: str, number: int) -> Line:
    optional = line.startswith("? ")
    return Line(_parse(line[2:] if optional else line), number, optional)


def _parse(text: str, *, inside: str = "") -> tuple[Node, ...]:
    nodes: list[Node] = []
    plain = ""
    position = 0
    while position < len(text):
        rest = text[position:]
        node: Node
        if match := _SLOT.match(rest):
            node, length = Slot(match[2], bool(match[1])), match.end()
        elif match := _OPENING.match(rest):
            if inside:
                raise _Malformed(f"a labelled wording inside {inside}")
            end = rest.find(">")
            if end < 0:
                raise _Malformed(f"'<{match[1]}:' is never closed by '>'")
            node, length = Labelled(match[1], _labels(rest[match.end() : end])), end + 1
        elif rest[0] == "[":
            end = rest.find("]")
            if end < 0 or "[" in rest[1:end] or inside == "a wording":
                raise _Malformed("'[' is nested or never closed by ']' on its line")
            node, length = _wording(rest[1:end]), end + 1
        elif match := _NEAR_SLOT.match(rest):
            raise _Malformed(f"{match[0]!r} is no slot: {{key}} or {{_kind}}, lower case")
        elif rest[0] == "]":
            raise _Malformed("']' without '['")
        else:
            plain += rest[0]
            position += 1
            continue
        if plain:
            nodes.append(plain)
        plain = ""
        nodes.append(node)
        position += length
    return (*nodes, plain) if plain else tuple(nodes)


def _wording(text: str) -> Wording:
    if "|" not in text:
        raise _Malformed(f"'[{text[:40]}]' has no '|' (print literal brackets as parentheses)")
    return Wording(tuple(_parse(way, inside="a wording") for way in text.split("|")))


def _labels(text: str) -> tuple[tuple[str, tuple[Node, ...]], ...]:
    ways = []
    for part in _split(text):
        match = _LABEL.fullmatch(part)
        if match is None:
            raise _Malformed(f"{part.strip()[:60]!r} is not 'label = text'")
        ways.append((match[1], _parse(match[2], inside="a labelled wording")))
    if len(ways) < 2:
        raise _Malformed("a labelled wording needs at least two labels")
    return tuple(ways)


def _split(text: str) -> list[str]:
    # the bars between labels, not those of a wording inside one of them
    parts, depth = [""], 0
    for letter in text:
        depth += {"[": 1, "]": -1}.get(letter, 0)
        if letter == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
