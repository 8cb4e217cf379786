"""What one run of `adapt` carries from schema to schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from deg_schema.compilation import Compilation, TooManyFields
from deg_schema.compile import compile_part
from deg_schema.limits import MAX_FIELDS
from deg_schema.pointer import escape_token
from deg_schema.refs import find_target
from deg_schema.shapes import subschemas

__all__ = ["DEFINITIONS", "Adaptation", "Note", "copy_json"]

DEFINITIONS = ("$defs", "definitions")


@dataclass(frozen=True, slots=True)
class Note:
    """One change that `adapt` made, or could not make: `loc` is an RFC 6901 pointer."""

    loc: str
    msg: str

    def __str__(self) -> str:
        return f"{self.loc or '(root)'}: {self.msg}"


@dataclass(slots=True)
class Adaptation:
    """The document as it was given, its definitions as adapted so far, and the notes.

    Args:
        adapted: The adapted definitions by their place, `None` while one is being adapted.
        inlined: The places whose schemas are being written out.
    """

    document: dict[str, Any]
    draft: int
    notes: dict[Note, None] = field(default_factory=dict)
    adapted: dict[str, dict[str, Any] | None] = field(default_factory=dict)
    inlined: set[str] = field(default_factory=set)
    num_schemas: int = 0
    num_compiled: int = 0
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

    def fits(self, schema: dict[str, Any]) -> bool:
        """Say whether the contract takes *schema* as that of a property."""
        # many unions over large definitions would cost their product
        if self.num_compiled > 4 * MAX_FIELDS:
            return False
        part = compile_part(schema, dict(self._definitions), draft=self.draft)
        self.num_compiled += part.num_schemas
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
