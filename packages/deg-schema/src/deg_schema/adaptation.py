"""What one run of `adapt` carries from schema to schema."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from deg_schema.adapt import Note
from deg_schema.compilation import Compilation, TooManyFields
from deg_schema.compile import compile_part
from deg_schema.keywords import is_number
from deg_schema.limits import MAX_DEPTH, MAX_FIELDS, MAX_PATTERN_COST
from deg_schema.patterns import SLOW_COST, SlowPattern, parse_pattern, search_pattern
from deg_schema.pointer import escape_token
from deg_schema.refs import find_target
from deg_schema.shapes import subschemas

__all__ = ["DEFINITIONS", "Adaptation", "copy_json"]

DEFINITIONS = ("$defs", "definitions")


@dataclass(slots=True)
class Adaptation:
    """The document as it was given, its definitions as adapted so far, and the notes.

    Args:
        notes: The changes made.
        obstacles: What stays as it is although the contract does not take it, and why.
        settled: The changes made in definitions, which stay whatever becomes of a reference.
        adapted: The adapted definitions by their place, `None` while one is being adapted.
        inlined: The places whose schemas are being written out.
        merged: The places whose schemas are being written out with others, and how often.
        is_recursive: Whether a reference to a schema around it was met.
    """

    document: dict[str, Any]
    draft: int
    notes: dict[Note, None] = field(default_factory=dict)
    obstacles: dict[Note, None] = field(default_factory=dict)
    settled: dict[Note, None] = field(default_factory=dict)
    adapted: dict[str, dict[str, Any] | None] = field(default_factory=dict)
    inlined: set[str] = field(default_factory=set)
    merged: Counter[str] = field(default_factory=Counter)
    is_recursive: bool = False
    num_schemas: int = 0
    num_compiled: int = 0
    num_followed: int = 0
    pattern_cost: int = 0
    patterns: set[str] = field(default_factory=set)
    _places: dict[str, str] = field(init=False)
    _anchors: dict[str, tuple[dict[str, Any], str]] = field(default_factory=dict)
    _is_local: bool = True
    _definitions: dict[str, dict[str, Any]] = field(init=False)

    def __post_init__(self) -> None:
        self._places = {
            f"/{keyword}/{escape_token(name)}": name
            for keyword in DEFINITIONS
            for name in _object(self.document.get(keyword))
        }
        self._definitions = {
            keyword: dict(self.document[keyword])
            for keyword in DEFINITIONS
            if isinstance(self.document.get(keyword), dict)
        }
        keyword = "$anchor" if self.draft >= 2019 else "id" if self.draft == 4 else "$id"
        for schema, place in subschemas(self.document, ""):
            name, base = schema.get(keyword), schema.get("$id")
            if isinstance(name, str):
                self._anchors.setdefault(name.removeprefix("#"), (schema, place))
            # an '$id' below the root moves what is local; such references stay as they are
            if place and isinstance(base, str) and not base.startswith("#"):
                self._is_local = False

    def note(self, loc: str, msg: str) -> None:
        """Say what was changed at *loc*."""
        self.notes[Note(loc, msg)] = None

    def refuse(self, loc: str, msg: str) -> None:
        """Say why what stands at *loc* stays as it is."""
        self.obstacles[Note(loc, msg)] = None

    def forget(self, num_notes: int) -> None:
        """Take back every change that was noted after the first *num_notes*."""
        while len(self.notes) > num_notes:
            self.notes.popitem()

    @contextmanager
    def definition(self, place: str) -> Iterator[None]:
        """Adapt the definition at *place*: its notes do not depend on who refers to it."""
        outer, self.notes = self.notes, {}
        self.adapted[place] = None
        try:
            yield
        finally:
            self.settled |= self.notes
            self.notes = outer

    def count(self) -> None:
        """Count one more schema, those that are written out included."""
        self.num_schemas += 1
        if self.num_schemas > MAX_FIELDS:
            raise TooManyFields

    def is_definition(self, loc: str) -> bool:
        """Say whether *loc* names a definition of the root, which references may keep naming."""
        return loc in self._places

    def target(self, reference: object) -> tuple[dict[str, Any], str] | None:
        """Return the schema that *reference* names in the document as given, and its place."""
        if not self._is_local or not isinstance(reference, str):
            return None
        if reference[:1] == "#" and reference[1:2] not in ("", "/"):
            return self._anchors.get(reference[1:])
        found = find_target(Compilation(self.document, self.draft), reference, "")
        if found is None or not isinstance(found[0], dict):
            return None
        return found

    def define(self, loc: str, schema: dict[str, Any]) -> None:
        """Put an adapted definition in its place."""
        self.adapted[loc] = schema
        self._definitions[loc.split("/")[1]][self._places[loc]] = schema

    def definitions(self) -> Mapping[str, dict[str, Any]]:
        """Return the definitions, adapted as far as they are."""
        return self._definitions

    def resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Follow the references of an adapted schema through adapted definitions."""
        for _ in range(len(self.adapted) + 1):
            found = self.target(schema["$ref"]) if "$ref" in schema else None
            following = self.adapted.get(found[1]) if found is not None else None
            if following is None:
                break
            schema = following
        return schema

    def is_around(self, place: str, loc: str) -> bool:
        """Say whether the schema at *place* is one of those that *loc* is within."""
        if place in self.inlined or f"{loc}/".startswith(f"{place}/"):
            return True
        # two parts may name the same base; one that comes a third time is within itself
        if self.merged[place] > 2:
            return True
        return place in self.adapted and self.adapted[place] is None

    def is_endless(self, schema: dict[str, Any], loc: str) -> bool:
        """Say whether every value of an adapted schema holds another of a schema around it."""
        return self.is_recursive and self._is_endless(schema, loc, {}, 0)

    def _is_endless(self, schema: object, loc: str, known: dict[str, bool], depth: int) -> bool:
        self.num_followed += 1
        if not isinstance(schema, dict) or depth > MAX_DEPTH:
            return False
        # many references into large recursive definitions would cost their product
        if self.num_followed > 4 * MAX_FIELDS:
            return False
        if "$ref" in schema and self._leads_around(schema["$ref"], loc, known, depth):
            return True
        for keyword, holds in (("allOf", any), ("anyOf", all), ("oneOf", all)):
            branches = schema.get(keyword)
            if isinstance(branches, list) and branches:
                return holds(self._is_endless(one, loc, known, depth + 1) for one in branches)
        if schema.get("type") == "array":
            least = schema.get("minItems")
            is_filled = is_number(least) and least != 0
            return is_filled and self._is_endless(schema.get("items"), loc, known, depth + 1)
        properties, required = schema.get("properties"), schema.get("required")
        if schema.get("type") != "object" or not isinstance(required, list):
            return False
        named = _object(properties)
        return any(
            self._is_endless(named.get(name), loc, known, depth + 1)
            for name in required
            if isinstance(name, str)
        )

    def _leads_around(
        self, reference: object, loc: str, known: dict[str, bool], depth: int
    ) -> bool:
        found = self.target(reference)
        if found is None:
            return False
        place = found[1]
        if self.is_around(place, loc):
            return True
        if place not in known:
            known[place] = True
            known[place] = self._is_endless(self.adapted.get(place), loc, known, depth + 1)
        return known[place]

    def finds(self, pattern: object, text: str) -> bool | None:
        """Say whether *pattern* matches in *text*, or `None` where that takes too long to tell."""
        if not isinstance(pattern, str) or self.pattern_cost > MAX_PATTERN_COST:
            return None
        try:
            cost = parse_pattern(pattern).cost
        except SlowPattern:
            self.pattern_cost += SLOW_COST
            return None
        except ValueError:
            return None
        if pattern not in self.patterns:
            self.pattern_cost += cost
            self.patterns.add(pattern)
        return search_pattern(pattern, text)

    def fits(self, schema: dict[str, Any]) -> bool:
        """Say whether the contract takes *schema* as that of a property."""
        # many unions over large definitions would cost their product
        if self.num_compiled > 4 * MAX_FIELDS or self.pattern_cost > MAX_PATTERN_COST:
            return False
        part = compile_part(schema, dict(self._definitions), draft=self.draft)
        self.num_compiled += part.num_schemas
        if part.patterns - self.patterns:
            self.pattern_cost += part.pattern_cost
            self.patterns |= part.patterns
        return not part.problems


def copy_json(value: Any) -> Any:
    """Copy a JSON value that has been checked."""
    if isinstance(value, dict):
        copied: dict[str, Any] = {}
        for key, item in value.items():
            copied[key] = copy_json(item)
        return copied
    if isinstance(value, list):
        items: list[Any] = []
        for item in value:
            # a comprehension would cost a frame more at every level
            items.append(copy_json(item))
        return items
    return value


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
