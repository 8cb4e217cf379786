"""What one run of the compiler carries from schema to schema."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from deg_schema.errors import Problem
from deg_schema.keywords import ANNOTATIONS, annotation_fault, refusal
from deg_schema.limits import MAX_FIELDS
from deg_schema.plan import FieldPlan, ObjectPlan, OnNull
from deg_schema.pointer import escape_token

__all__ = ["Compilation", "Node", "TooManyFields", "on_null_of"]


class TooManyFields(Exception):
    """The schema asks for more than we compile; the compiler stops here."""


@dataclass(frozen=True, slots=True)
class Node:
    """One schema in its place: where it is written and which value it describes.

    Args:
        loc: The pointer into the schema document.
        path: The property names that lead to the value.
        title: The title that a reference or a union around it gave; it wins.
    """

    schema: dict[str, Any]
    loc: str
    path: tuple[str, ...]
    depth: int = 0
    required: bool = False
    nullable: bool = False
    title: str | None = None
    description: str | None = None

    def texts(self) -> tuple[str | None, str | None]:
        """Return the title and the description, the outer ones first."""
        title = self.title if self.title is not None else self.schema.get("title")
        description = self.description
        if description is None:
            description = self.schema.get("description")
        return title, description


@dataclass(slots=True)
class Compilation:
    """The document, and what was found in it so far."""

    document: dict[str, Any]
    draft: int
    problems: dict[Problem, None] = field(default_factory=dict)
    fields: list[FieldPlan] = field(default_factory=list)
    objects: list[ObjectPlan] = field(default_factory=list)
    definitions: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    active: set[str] = field(default_factory=set)
    visited: set[str] = field(default_factory=set)
    num_schemas: int = 0

    def report(self, loc: str, msg: str) -> None:
        """Note a problem; the same one reached twice by reference counts once."""
        self.problems[Problem(loc, msg)] = None

    def count(self) -> None:
        """Count one more schema, references expanded."""
        self.num_schemas += 1
        if self.num_schemas > MAX_FIELDS:
            self.report("", f"the schema has more than {MAX_FIELDS} parts; split it")
            raise TooManyFields

    def check_keywords(
        self, schema: dict[str, Any], loc: str, allowed: Collection[str], kind: str
    ) -> None:
        """Report keywords that have no place here and annotations of the wrong shape."""
        for keyword, value in schema.items():
            if keyword not in allowed:
                if message := refusal(keyword, value, kind):
                    self.report(f"{loc}/{escape_token(keyword)}", message)
            elif keyword in ANNOTATIONS and (message := annotation_fault(keyword, value)):
                self.report(f"{loc}/{keyword}", message)
            elif keyword in ("$defs", "definitions"):
                self.definitions.append((f"{loc}/{keyword}", value))


def on_null_of(*, required: bool, nullable: bool) -> OnNull:
    """Say what becomes of a field that finds nothing."""
    if nullable:
        return "null"
    return "forbid" if required else "omit"
