"""Sorts of lists: what their items tell, what their array is called, and what each heading says."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from deg_train.generate.faults import Fault, LibraryError
from deg_train.generate.fields import Field, parse_fields
from deg_train.generate.library import ROOT
from deg_train.generate.list_layouts import is_kept
from deg_train.generate.template import Labelled, Node, Slot, parse_templates, walk

__all__ = ["Frame", "ListSort", "key_of", "list_sorts"]


@dataclass(frozen=True, slots=True)
class Frame:
    """A sentence that tells an item.

    Attributes:
        held_out: It is kept from training.
    """

    nodes: tuple[Node, ...]
    held_out: bool

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the columns that it tells, in its order."""
        return tuple(dict.fromkeys(key_of(node) for node in walk(self.nodes)))


@dataclass(frozen=True, slots=True)
class ListSort:
    """A sort of list.

    Attributes:
        name: What other sorts call it.
        array: What the array is called and how one asks for it; its values are headings.
        columns: What its items tell, first what tells them apart.
        frames: Sentences that tell an item.
        domains: Whose fields may stand above such a list.
        holds: The sorts whose lists its items may have inside.
    """

    name: str
    array: Field
    columns: tuple[Field, ...]
    frames: tuple[Frame, ...] = ()
    domains: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()


@cache
def list_sorts() -> tuple[ListSort, ...]:
    """Return the package's own sorts of lists, read once.

    Raises:
        LibraryError: something is wrong in a file; it lists every fault of every file.
    """
    sorts: list[ListSort] = []
    faults: list[Fault] = []
    for path in sorted((ROOT / "lists").glob("*.txt")):
        for part in re.split(r"^=== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            sort, found = _read_sort(part, path)
            faults.extend(found)
            if sort is not None:
                sorts.append(sort)
    names = {sort.name for sort in sorts}
    faults.extend(
        Fault("lists", 1, f"{sort.name!r} holds {name!r}, which is no sort")
        for sort in sorts
        for name in sort.holds
        if name not in names
    )
    if faults:
        raise LibraryError(faults)
    return tuple(sorts)


def key_of(node: Slot | Labelled) -> str:
    """Return the key of the column that a node of a frame tells."""
    return node.key if isinstance(node, Labelled) else node.name


_HEAD = re.compile(r"(with|holds|frame|trained):\s*(.*)\n?", re.MULTILINE)


def _read_sort(part: str, path: Path) -> tuple[ListSort | None, list[Fault]]:
    name, _, text = part.partition("\n")
    file = f"lists/{path.name}:{name}"
    heads: dict[str, list[str]] = defaultdict(list)
    for match in re.finditer(rf"^{_HEAD.pattern}", text, re.MULTILINE):
        heads[match[1]].append(match[2])
    fields, faults = parse_fields(re.sub(rf"^{_HEAD.pattern}", "", text, flags=re.M), file)
    frames: list[Frame] = []
    for head in ("frame", "trained"):
        for frame in heads[head]:
            (template,), found = parse_templates(f"=== {name}\n{frame}\n", file)
            faults.extend(found)
            held_out = head == "frame" and is_kept(frame)
            frames.extend(Frame(line.nodes, held_out) for line in template.lines)
    if faults:
        return None, faults
    array, *columns = fields.values()
    keys = {spec.key for spec in columns}
    for each in frames:
        told = set(each.keys)
        if columns[0].key not in told or not told <= keys:
            faults.append(Fault(file, 1, f"a frame tells {sorted(told)}, not of {sorted(keys)}"))
    domains, holds = (_split(heads[key]) for key in ("with", "holds"))
    return ListSort(name, array, tuple(columns), tuple(frames), domains, holds), faults


def _split(texts: list[str]) -> tuple[str, ...]:
    return tuple(part.strip() for text in texts for part in text.split(","))
