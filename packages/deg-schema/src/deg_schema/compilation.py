"""What one run of the compiler carries from schema to schema."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, NoReturn

from deg_schema.errors import Problem
from deg_schema.json_values import clip
from deg_schema.keywords import ANNOTATIONS, annotation_fault, refusal
from deg_schema.limits import MAX_FIELDS, MAX_OPTIONS_IN_ALL, MAX_PATTERN_COST, MAX_PROBLEMS
from deg_schema.plan import ArrayPlan, FieldPlan, ObjectPlan, OnNull
from deg_schema.pointer import escape_token

__all__ = ["Compilation", "Node", "TooManyFields", "on_null_of"]


class TooManyFields(Exception):
    """The schema asks for more than we compile; the compiler stops here."""


@dataclass(frozen=True, slots=True)
class Node:
    """One schema in its place: where it is written and which value it describes.

    Args:
        loc: The pointer into the schema document.
        path: The property names that lead to the value, with `*` for each item.
        title: The title that a reference or a union around it gave; it wins.
        item_steps: The positions in `path` of each `*` that stands for an item.
        generate_loc: The `x-generate` of the array whose item this is.
        max_tokens: The `x-max-tokens` of that array.
    """

    schema: dict[str, Any]
    loc: str
    path: tuple[str, ...]
    depth: int = 0
    required: bool = False
    nullable: bool = False
    title: str | None = None
    description: str | None = None
    item_steps: tuple[int, ...] = ()
    generate_loc: str | None = None
    max_tokens: int | None = None

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
    arrays: list[ArrayPlan] = field(default_factory=list)
    definitions: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    active: set[str] = field(default_factory=set)
    visited: set[str] = field(default_factory=set)
    anchors: dict[str, dict[str, Any]] | None = None
    patterns: set[str] = field(default_factory=set)
    pattern_cost: int = 0
    num_schemas: int = 0
    num_options: int = 0

    def report(self, loc: str, msg: str) -> None:
        """Note a problem; the same one reached twice by reference counts once."""
        self.problems[Problem(loc, msg)] = None
        if len(self.problems) == MAX_PROBLEMS:
            msg = f"there may be more than these {MAX_PROBLEMS} problems; correct them first"
            self.problems[Problem("", msg)] = None
            raise TooManyFields

    def count(self) -> None:
        """Count one more schema, references expanded."""
        self.num_schemas += 1
        if self.num_schemas > MAX_FIELDS:
            self._stop("", f"the schema has more than {MAX_FIELDS} parts; split it")

    def count_options(self, number: int, loc: str) -> None:
        """Count the options of one more choice."""
        self.num_options += number
        if self.num_options > MAX_OPTIONS_IN_ALL:
            self._stop(loc, f"the schema has more than {MAX_OPTIONS_IN_ALL} options; split it")

    def spend(self, loc: str, pattern: str, cost: int) -> None:
        """Count what it takes to check one more pattern; the same one again takes nothing."""
        self.pattern_cost += 0 if pattern in self.patterns else cost
        self.patterns.add(pattern)
        if self.pattern_cost > MAX_PATTERN_COST:
            self._stop(loc, "the patterns up to this one take too long to check; split the schema")

    def _stop(self, loc: str, msg: str) -> NoReturn:
        self.report(loc, msg)
        raise TooManyFields

    def is_schema(self, schema: object, loc: str) -> bool:
        """Say whether *schema* is an object that describes a value, or report that it is not."""
        if isinstance(schema, dict):
            return True
        if isinstance(schema, bool) and self.draft > 4:
            message = f"the schema {clip(schema)} says nothing of the value; give it a 'type'"
        else:
            message = f"a schema is an object, not {clip(schema)}"
        self.report(loc, message)
        return False

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
