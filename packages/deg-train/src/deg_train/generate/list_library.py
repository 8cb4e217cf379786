"""Sorts of lists: what their items tell, what their array is called, and what each heading says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from deg_train.generate.faults import Fault, LibraryError
from deg_train.generate.fields import Field, parse_fields
from deg_train.generate.library import ROOT

__all__ = ["ListSort", "list_sorts"]


@dataclass(frozen=True, slots=True)
class ListSort:
    """A sort of list.

    Attributes:
        array: What the array is called and how one asks for it; its values are headings.
        columns: What its items tell, first what tells them apart.
    """

    name: str
    array: Field
    columns: tuple[Field, ...]


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
            name, _, text = part.partition("\n")
            fields, found = parse_fields(text, f"lists/{path.name}:{name}")
            faults.extend(found)
            if not found:
                array, *columns = fields.values()
                sorts.append(ListSort(name, array, tuple(columns)))
    if faults:
        raise LibraryError(faults)
    return tuple(sorts)
