"""A schema as a grammar compiler takes it: no extra properties, no keyword that it refuses."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["acceptable", "with_single_types"]

# what only narrows a value: without it a grammar still leads to an answer of the right shape
_NARROWING = (
    "pattern",
    "format",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
)


def acceptable(
    schema: dict[str, Any], accepts: Callable[[dict[str, Any]], bool]
) -> tuple[dict[str, Any], list[str]]:
    """Return *schema* without what *accepts* refuses, and the keywords dropped for it.

    Args:
        schema: As the document's owner wrote it.
        accepts: Tells whether a schema compiles.

    Raises:
        ValueError: It is refused even without them.
    """
    schema, dropped = copy.deepcopy(schema), []
    for part in _parts(schema):
        if "properties" in part:
            part.setdefault("additionalProperties", False)
    if accepts(schema):
        return schema, dropped
    for part in _parts(schema):
        for keyword in _NARROWING:
            if keyword in part and not accepts(_alone({keyword: part[keyword]}, part)):
                del part[keyword]
                dropped.append(keyword)
    if not accepts(schema):
        # each alone would do, together they do not
        for part in _parts(schema):
            dropped += [keyword for keyword in _NARROWING if part.pop(keyword, None) is not None]
    if not accepts(schema):
        raise ValueError("the grammar refuses a keyword that cannot be dropped")
    return schema, dropped


def with_single_types(schema: dict[str, Any]) -> dict[str, Any]:
    """Return *schema* with each list of types as `anyOf`, which says the same."""
    schema = copy.deepcopy(schema)
    for part in list(_parts(schema)):
        types = part.pop("type", None)
        if isinstance(types, list) and "enum" not in part:
            narrowing = {name: part.pop(name) for name in _NARROWING if name in part}
            part["anyOf"] = [
                {"type": "null"} if kind == "null" else {"type": kind, **narrowing}
                for kind in types
            ]
        elif types is not None:
            part["type"] = types
    return schema


def _alone(keyword: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    kind = {"type": part["type"]} if "type" in part else {}
    return {"type": "object", "properties": {"x": {**kind, **keyword}}}


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(schema, dict):
        return
    yield schema
    for name in ("properties", "$defs"):
        for part in schema.get(name, {}).values():
            yield from _parts(part)
    for name in ("anyOf", "oneOf", "allOf"):
        for part in schema.get(name, ()):
            yield from _parts(part)
    yield from _parts(schema.get("items"))
