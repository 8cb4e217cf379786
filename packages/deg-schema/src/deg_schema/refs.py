"""Local references: the schema that a `$ref` names."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

from deg_schema.compilation import Compilation
from deg_schema.errors import InvalidPointer
from deg_schema.json_values import clip
from deg_schema.pointer import Pointer
from deg_schema.shapes import subschemas

__all__ = ["find_target"]

_BAD_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


def find_target(compilation: Compilation, reference: object, loc: str) -> tuple[Any, str] | None:
    """Return what *reference* names and where that stands, or report why it names nothing."""
    place = f"{loc}/$ref"
    if not isinstance(reference, str):
        compilation.report(place, f"'$ref' must be a string, not {clip(reference)}")
    elif not reference.startswith("#"):
        compilation.report(
            place, f"'$ref' {clip(reference)} is not local; copy its target under '$defs'"
        )
    elif _is_embedded(compilation.document, loc):
        compilation.report(
            place, "'$ref' stands in a schema with its own '$id', which moves it; remove that '$id'"
        )
    else:
        return _resolve(compilation, reference, place)
    return None


def _resolve(compilation: Compilation, reference: str, place: str) -> tuple[Any, str] | None:
    fragment = unquote(reference[1:], errors="strict") if _is_encoded(reference) else None
    if fragment is None:
        compilation.report(place, f"'$ref' {clip(reference)} is not percent-encoded UTF-8")
        return None
    if fragment and not fragment.startswith("/"):
        found = _find_anchor(compilation, fragment, place)
    else:
        found = _find_pointer(compilation.document, fragment)
    if found is None:
        compilation.report(place, f"'$ref' {clip(reference)} names nothing in this schema")
    return found


def _is_encoded(reference: str) -> bool:
    if _BAD_PERCENT.search(reference):
        return False
    try:
        unquote(reference, errors="strict")
    except UnicodeDecodeError:
        return False
    return True


def _find_pointer(document: dict[str, Any], fragment: str) -> tuple[Any, str] | None:
    try:
        pointer = Pointer.parse(fragment)
        return pointer.lookup(document), str(pointer)
    except (InvalidPointer, LookupError):
        return None


def _find_anchor(compilation: Compilation, name: str, place: str) -> tuple[Any, str] | None:
    if compilation.anchors is None:
        compilation.anchors = _anchors(compilation.document, compilation.draft)
    places = compilation.anchors.get(name, {})
    if len(places) > 1:
        first, second = sorted(places)[:2]
        compilation.report(
            place, f"'$ref' names both {first or '(root)'} and {second}; rename one of them"
        )
    return next(((schema, loc) for loc, schema in places.items()), None)


def _anchors(document: dict[str, Any], draft: int) -> dict[str, dict[str, Any]]:
    """Index the schemas that carry a name; those of an embedded document are not ours."""
    anchors: dict[str, dict[str, Any]] = {}
    for schema, loc in subschemas(document, ""):
        name = _anchor_of(schema, draft)
        if name is not None and not _is_embedded(document, loc):
            anchors.setdefault(name, {})[loc] = schema
    return anchors


def _anchor_of(schema: dict[str, Any], draft: int) -> str | None:
    if draft >= 2019:
        name = schema.get("$anchor")
        return name if isinstance(name, str) else None
    base = schema.get("id" if draft == 4 else "$id")
    # up to draft 7 a name is an identifier that only has a fragment
    return base[1:] if isinstance(base, str) and base.startswith("#") else None


def _is_embedded(document: dict[str, Any], loc: str) -> bool:
    current: Any = document
    for token in Pointer.parse(loc).tokens:
        current = Pointer((token,)).lookup(current)
        if isinstance(current, dict):
            base = current.get("$id")
            if isinstance(base, str) and not base.startswith("#"):
                return True
    return False
