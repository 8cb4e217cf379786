"""Fields files: the keys of a domain, what each is called, and how one asks for it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from deg_train.generate.faults import Fault
from deg_train.generate.kinds import DECIDE_KINDS, KINDS

__all__ = ["Field", "Option", "parse_fields"]

MIN_NAMES = 5
MIN_ABOUTS = 3
MIN_VALUES = 5


@dataclass(frozen=True, slots=True)
class Option:
    """One answer of a choice field, or one level of a score field."""

    name: str
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """A key of a domain: its kind, its names, and the ways to ask for it."""

    key: str
    kind: str
    names: tuple[str, ...]
    abouts: tuple[str, ...]
    values: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    lowest: int = 0
    highest: int = 0

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that a labelled wording of a template may carry."""
        if self.kind == "yes-no":
            return ("yes", "no")
        if self.kind == "score":
            return tuple(str(level) for level in range(self.lowest, self.highest + 1))
        return tuple(option.name for option in self.options)


def parse_fields(text: str, file: str) -> tuple[dict[str, Field], list[Fault]]:
    """Read the text of a fields file into fields by key, with every fault found."""
    faults: list[Fault] = []
    drafts: list[_Draft] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line[0] not in " \t":
            drafts.append(_Draft(line.strip(), number))
        elif drafts:
            drafts[-1].lines.append((number, line.strip()))
        else:
            faults.append(Fault(file, number, "an indented line before the first field"))
    fields: dict[str, Field] = {}
    for draft in drafts:
        made, found = _build(draft)
        faults.extend(Fault(file, number, message) for number, message in found)
        if made is None:
            continue
        if made.key in fields:
            faults.append(Fault(file, draft.line, f"the key {made.key!r} is declared twice"))
        fields[made.key] = made
    return fields, faults


@dataclass(slots=True)
class _Draft:
    head: str
    line: int
    lines: list[tuple[int, str]] = field(default_factory=list)


_HEAD = re.compile(r"([a-z][a-z0-9_]*)\s*:\s*([a-z-]+(?:_[a-z]+)*)(?:\s+(-?\d+)\.\.(-?\d+))?\s*")
_PROPERTY = re.compile(r"(names|about|values)\s*:\s*(.*)")
_OPTION = re.compile(r"(option|level)\s+([^:]+?)\s*(?::\s*(.*))?")


def _build(draft: _Draft) -> tuple[Field | None, list[tuple[int, str]]]:
    head = _HEAD.fullmatch(draft.head)
    if head is None:
        return None, [(draft.line, f"{draft.head!r} is not 'key : kind' ('key : score 0..3')")]
    key, kind = head[1], head[2]
    problems: list[tuple[int, str]] = []
    if kind not in KINDS | DECIDE_KINDS:
        problems.append((draft.line, f"unknown kind {kind!r} of {key!r}"))
    lists: dict[str, list[str]] = {"names": [], "about": [], "values": []}
    options: list[Option] = []
    for number, line in draft.lines:
        if match := _PROPERTY.fullmatch(line):
            separator = "," if match[1] == "names" else "|"
            parts = (part.strip() for part in match[2].split(separator))
            lists[match[1]].extend(part for part in parts if part)
        elif match := _OPTION.fullmatch(line):
            if (match[1] == "option") != (kind == "choice"):
                problems.append((number, f"{match[1]!r} does not belong to a {kind} field"))
            options.append(Option(match[2], match[3] or None))
        else:
            problems.append((number, f"cannot read {line[:60]!r} (names, about, values, option)"))
    made = Field(
        key,
        kind,
        tuple(dict.fromkeys(lists["names"])),
        tuple(dict.fromkeys(lists["about"])),
        tuple(dict.fromkeys(lists["values"])),
        tuple(options),
        int(head[3] or 0),
        int(head[4] or 0),
    )
    problems.extend((draft.line, message) for message in _check(made))
    return made, problems


def _check(made: Field) -> list[str]:
    key = made.key
    found = []
    if len(made.names) < MIN_NAMES:
        found.append(f"{key!r} has {len(made.names)} names, {MIN_NAMES} are wanted")
    if len(made.abouts) < MIN_ABOUTS:
        found.append(f"{key!r} has {len(made.abouts)} abouts, {MIN_ABOUTS} are wanted")
    if made.kind == "text" and len(made.values) < MIN_VALUES:
        found.append(f"{key!r} is text: it needs 'values: a | b | ...', at least {MIN_VALUES}")
    names = [option.name for option in made.options]
    if len(set(names)) != len(names):
        found.append(f"{key!r} lists an option twice")
    if made.kind == "choice" and len(names) < 2:
        found.append(f"{key!r} is a choice with {len(names)} options, 2 are needed")
    if made.kind == "score":
        if not 1 <= made.highest - made.lowest <= 10:
            found.append(f"{key!r} is a score: write 'score 0..3' with 2 to 11 levels")
        stray = set(names) - set(made.labels)
        found.extend(f"{key!r} has no level {name!r}" for name in sorted(stray))
    return found
